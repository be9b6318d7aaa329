import { iso } from '../../../domain/schedule/time/calendar.ts';
import { zoneName } from '../../../domain/schedule/time/zone-name.ts';
import type { Drawn } from '../../../domain/shown.ts';
import { threadKeyOf } from '../../../domain/thread.ts';
import { type Answer, type Buttons, type ChatContext, claimedArg, setupArg, type Place } from '../context.ts';
import { answer, redrawn, Refused, answerWith, forAsker, silence, toasted, toastOf } from '../kit/answers.ts';
import { clockIn } from '../kit/clock.ts';
import { draftOf } from '../kit/drafts.ts';
import { onChat, onTask, threadOf } from '../kit/guards.ts';
import { arg, button, dataOf, type Rows } from '../kit/press.ts';
import { blocks, drawn, lines, type Rich } from '../kit/rich.ts';
import { adminsOf, mayManage } from '../kit/rights.ts';
import { likelyZones, readZone } from '../kit/zones.ts';
import { proposalDrawn, readAgain } from '../new-task/preview.ts';
import { texts } from '../texts.ts';
import { allowPressed, denyPressed } from './allowing.ts';
import { keepList, listShown, startWords, lastList, zoneCheckRow } from './checklist.ts';
import { moveBackPressed, moveOffered, movePressed } from './moving.ts';
import { cleanPressed, purgePressed, topicDeletePressed } from './removals.ts';

/** The chat as a whole: its set-up and its zone, by commands and by buttons. */

/** The link that adds the bot leads here, most likely just after a greeting. */
const justGreetedMs = 120_000;

export async function startCommand(ctx: ChatContext): Promise<Answer> {
  const { args, person, place } = ctx;
  const isGroup = place.chat.kind !== 'private';
  if (isGroup && args === setupArg && (await wasJustGreeted(ctx))) return silence;
  const { words, rows } = await startWords(ctx);
  const claimed = args === claimedArg && person.isOwner ? texts.chat.claimed : null;
  const shown = drawn(blocks(texts.chat.greeting(person.name), claimed, words), rows);
  return isGroup ? listShown(ctx, shown) : answerWith(shown);
}

async function wasJustGreeted(ctx: ChatContext): Promise<boolean> {
  const last = await lastList(ctx, ctx.place.chat);
  return last !== null && Math.abs(ctx.clock.now() - last.at) < justGreetedMs;
}

/** `/tz` tells and offers; with a city, a zone or the time on the wall it sets. */
export async function zoneCommand(ctx: ChatContext): Promise<Answer> {
  const { place, args } = ctx;
  const now = ctx.clock.now();
  const isAdmin = mayManage(ctx);
  if (args.trim() === '') {
    const rows = isAdmin
      ? [...(place.isZoneConfirmed ? [] : [zoneCheckRow()]), ...zoneRows(likelyZones(place.timezone, now))]
      : [];
    const words = zoneWords(ctx, now);
    if (isAdmin) await askZone(ctx);
    return forAsker(answer(isAdmin ? blocks(words, texts.chat.zonePick()) : words, rows));
  }
  if (!isAdmin) {
    throw new Refused(lines(texts.settings.adminsOnly(await adminsOf(place, ctx)), texts.settings.ownZone()));
  }
  const word = readZone(args, now);
  const { chat } = texts;
  switch (word.is) {
    case 'zone':
      return zoneChanged(ctx, word.zone);
    case 'several':
      return answer(chat.zoneSeveral(args.trim()), zoneRows(word.zones));
    case 'clock':
      return word.zones.length === 0
        ? answer(chat.zoneNoClock(word.clock))
        : answer(chat.zoneByClock(word.clock), zoneRows(word.zones));
    case 'offset':
      return answer(chat.zoneOffset(), zoneRows(likelyZones(place.timezone, now)));
    case 'unknown':
      return answer(chat.zoneUnknown(args.trim()), zoneRows(likelyZones(place.timezone, now)));
  }
}

/** The question is answered in words as well, for so long. */
const askedMs = 10 * 60_000;
const askedNote = (chatId: string) => `zone_asked:${chatId}`;

/** Words in a private chat that say which zone is right: "it is 14:05 here", "use Paris time", and a city alone where it was asked for. */
export async function zoneSaid(ctx: ChatContext): Promise<Answer | null> {
  const { place, clock, store, repliedTo } = ctx;
  if (place.chat.kind !== 'private' || place.topicTask !== null || repliedTo !== null) return null;
  const words = ctx.args
    .trim()
    .replace(/^no[,.!\s]+/i, '')
    .replace(/[.!\s]+$/, '');
  const told =
    /^(?:it(?:['’]s| is)(?: now)?|my clock (?:says|shows)) (\d{1,2}[:.]\d\d)(?: (?:here|now|for me))*$/i.exec(
      words,
    )?.[1];
  if (told !== undefined) return zoneCommand({ ...ctx, args: told });
  const named =
    /^(?:use|my (?:time ?)?zone is|(?:(?:set|change)(?: the| my)? )?time ?zone(?: to)?|i(?:['’]m| am) in) (.+?)(?: time)?$/i.exec(
      words,
    )?.[1];
  const zone = named ?? words.replace(/\s+time$/i, '');
  if (readZone(zone, clock.now()).is !== 'zone') return null;
  const asked = named === undefined ? await store.readNote(askedNote(place.chat.id)) : null;
  const isAsked = named !== undefined || (asked !== null && clock.now() - Number(asked) <= askedMs);
  return isAsked ? zoneCommand({ ...ctx, args: zone }) : null;
}

async function askZone({ store, place, clock }: ChatContext): Promise<void> {
  await store.writeNote(askedNote(place.chat.id), String(clock.now()), clock.now());
}

function zoneWords(here: Pick<ChatContext, 'place' | 'person'>, now: number): Rich | string {
  const { chat } = texts;
  const { timezone, isZoneConfirmed } = here.place;
  const clock = clockIn(timezone, now);
  if (isZoneConfirmed) return chat.zoneIs(timezone, clock);
  return mayManage(here) ? chat.zoneAsk(timezone, clock) : chat.zoneAdmin(timezone);
}

/** Three in a row fit on a phone; the button says the city, because that is what people look for. */
function zoneRows(zones: readonly string[]): Rows {
  const all = zones.map((zone) => button(zone.replace(/^.*\//, '').replaceAll('_', ' '), dataOf('zone', zone)));
  return [all.slice(0, 3), all.slice(3, 6), all.slice(6, 9)];
}

/**
 * A task that is being made meanwhile is read again on the new clocks. Its preview comes in the place of the word about the
 * zone; where that offers to move tasks, both stay.
 */
async function zoneChanged(ctx: ChatContext, zone: string): Promise<Answer> {
  const now = ctx.clock.now();
  const { place } = ctx;
  await ctx.store.changeChat(place.chat.id, { timezone: zone, ...asked(place) }, now);
  const here = { ...ctx, place: inZone(place, zone) };
  const words = texts.chat.zoneSet(zone, clockIn(zone, now));
  const { left, rows } = await moveOffered(here, place.timezone);
  const told = shownHere(ctx, drawn(lines(words, left), rows));
  const again = await readAgain(here, left !== null);
  if (again === null) return told;
  const { proposing, shownIn, draft } = again;
  if (left !== null && shownIn !== null) {
    const shown = await proposalDrawn(here, proposing);
    return { ...told, replies: [...told.replies, { is: 'edit', messageId: shownIn, shown }], draft };
  }
  const shown = await proposalDrawn(here, { ...proposing, before: ctx.isPress ? null : words });
  const { replies } = shownHere(ctx, shown, proposing.draftId);
  const gone = shownIn === null ? [] : [{ is: 'remove', messageId: shownIn } as const];
  return { replies: [...replies, ...gone], draft };
}

/** In the message that was pressed, or in a new one. */
function shownHere(ctx: ChatContext, shown: Drawn, id?: string): Answer {
  return ctx.isPress
    ? redrawn(ctx, shown)
    : { replies: [{ is: 'message', shown, ...(id === undefined ? {} : { id }) }] };
}

function inZone(place: Place, timezone: string): Place {
  return { ...place, timezone, isZoneConfirmed: true };
}

/** The zone that was taken from a person is asked about no more, once somebody has said which one is right. */
function asked({ chat: { settings } }: Place) {
  const { zoneOf, ...others } = settings;
  return zoneOf === undefined ? {} : { settings: others };
}

/** "Yes, it is 14:05 for me": from then on nobody is asked again. */
const zoneYesPressed = onChat('manage', async (ctx) => {
  const { place } = ctx;
  const now = ctx.clock.now();
  if (!place.isZoneConfirmed)
    await ctx.store.changeChat(place.chat.id, { timezone: place.timezone, ...asked(place) }, now);
  const confirmed = { ...ctx, place: inZone(place, place.timezone) };
  const toast = texts.chat.zoneYes(place.timezone);
  const short = arg(ctx, 0);
  if (short === '') return { ...(await listAgain(confirmed)), ...toastOf(toast) };
  const found = await draftOf(ctx, short);
  if (found.is !== 'open' || found.draft.step.step !== 'preview') return toasted(toast);
  const { row, step } = found.draft;
  return redrawn(ctx, await proposalDrawn(confirmed, { draftId: row.id, step }), toast);
});

const zonesPressed = onChat('manage', async (ctx) => {
  await askZone(ctx);
  return answer(texts.chat.zonePick(), zoneRows(likelyZones(ctx.place.timezone, ctx.clock.now())));
});

const zonePressed = onChat('manage', async (ctx) => {
  const zone = zoneName(arg(ctx, 0));
  if (zone === null) throw new Refused(texts.chat.oldButton);
  return { ...(await zoneChanged(ctx, zone)), ...toastOf(texts.chat.zoneYes(zone)) };
});

const setupPressed = onChat('read', async (ctx) => {
  await ctx.setUp(ctx.place, 'anew');
  return listAgain(ctx);
});

/** How things stand now, in the place of how they stood; from now on this message is kept up to date. */
async function listAgain(ctx: ChatContext): Promise<Answer> {
  const { chat } = ctx.place;
  const { words, rows } = await startWords(ctx);
  // A message that one person alone sees cannot be changed later.
  if (chat.kind !== 'private' && ctx.ephemeralId === null) await keepList(ctx, ctx.place, { message: ctx.messageId });
  return redrawn(ctx, drawn(words, rows));
}

/** Long enough to lay the phone aside, and short enough to wait for. */
const testInMs = 60_000;

/** A real task that runs once. The mark of the drawing is its key: two presses of one button make one test. */
const testPressed = onChat('create', async (ctx) => {
  const { place, person } = ctx;
  const { setup } = texts;
  const [now, mark] = [ctx.clock.now(), arg(ctx, 0)];
  const { task } = await ctx.tasks.create({
    threadKey: threadKeyOf(threadOf(place)),
    actor: person.actor,
    idempotencyKey: `telegram:test:${place.chat.id}:${mark}`,
    input: {
      title: setup.testTitle,
      instructions: setup.testText,
      schedule: { kind: 'once', once_at: iso(now + testInMs), timezone: place.timezone },
    },
  });
  const { number, nextAt } = task;
  const { words, rows } = await startWords(ctx);
  const comes = nextAt === null ? null : setup.testComes(number, clockIn(place.timezone, nextAt));
  return redrawn(ctx, drawn(blocks(words, comes), rows), setup.testMade(number));
});

export const placeButtons = {
  zoneyes: zoneYesPressed,
  zones: zonesPressed,
  zone: zonePressed,
  setup: setupPressed,
  test: testPressed,
  allow: allowPressed,
  deny: denyPressed,
  purge: purgePressed,
  clean: cleanPressed,
  zonemove: movePressed,
  zoneback: moveBackPressed,
  topicdelete: onTask('change', topicDeletePressed, { deleted: 'handled' }),
  keep: onChat('read', async (ctx) => redrawn(ctx, drawn(texts.topic.kept))),
} satisfies Buttons;
