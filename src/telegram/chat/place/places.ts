import { claimedArg, setupArg, type Answer, type ChatContext, type Place } from '../conversation.ts';
import { answer, answerWith, forAsker, Refused, silence } from '../kit/answers.ts';
import { clockIn } from '../kit/clock.ts';
import { button, dataOf, type Rows } from '../kit/press.ts';
import { blocks, lines, type Rich, drawn } from '../kit/rich.ts';
import { adminsOf, mayManage } from '../kit/rights.ts';
import { likelyZones, readZone } from '../kit/zones.ts';
import { proposalDrawn, readAgain } from '../new-task/preview.ts';
import { texts } from '../texts.ts';
import { keepList, lastList, startWords, zoneCheckRow } from './checklist.ts';

/** The chat as a whole: its set-up and its zone. */

/** The link that adds the bot leads here, most likely just after a greeting. */
const justGreetedMs = 120_000;

export async function startCommand(ctx: ChatContext): Promise<Answer> {
  const { args, person, place } = ctx;
  const isGroup = place.chat.kind !== 'private';
  if (isGroup && args === setupArg && (await wasJustGreeted(ctx))) return silence;
  const { words, rows } = await startWords(ctx);
  const claimed = args === claimedArg && person.isOwner ? texts.chat.claimed : null;
  const shown = drawn(blocks(texts.chat.greeting(person.name), claimed, words), rows);
  if (!isGroup) return answerWith(shown);
  const id = ctx.ids.next();
  await keepList(ctx, place, { delivery: id });
  return { replies: [{ is: 'message', shown, id }] };
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
    return forAsker(answer(isAdmin ? blocks(words, texts.chat.zonePick()) : words, rows));
  }
  if (!isAdmin) {
    throw new Refused(lines(texts.settings.adminsOnly(await adminsOf(place, ctx)), texts.settings.ownZone()));
  }
  const word = readZone(args, now);
  const { chat } = texts;
  switch (word.is) {
    case 'zone':
      return setZone(ctx, word.zone);
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

function zoneWords(here: Pick<ChatContext, 'place' | 'person'>, now: number): Rich | string {
  const { chat } = texts;
  const { timezone, isZoneConfirmed } = here.place;
  const clock = clockIn(timezone, now);
  if (isZoneConfirmed) return chat.zoneIs(timezone, clock);
  return mayManage(here) ? chat.zoneAsk(timezone, clock) : chat.zoneAdmin(timezone);
}

/** Three in a row fit on a phone; the button says the city, because that is what people look for. */
export function zoneRows(zones: readonly string[]): Rows {
  const all = zones.map((zone) => button(zone.replace(/^.*\//, '').replaceAll('_', ' '), dataOf('zone', zone)));
  return [all.slice(0, 3), all.slice(3, 6), all.slice(6, 9)];
}

/** A task that is being made meanwhile is read again on the new clocks. */
export async function zoneChanged(ctx: ChatContext, zone: string) {
  const now = ctx.clock.now();
  await ctx.store.changeChat(ctx.place.chat.id, { timezone: zone }, now);
  const here = { ...ctx, place: inZone(ctx.place, zone) };
  return { words: zoneSetWords(zone, now), here, again: await readAgain(here) };
}

async function setZone(ctx: ChatContext, zone: string): Promise<Answer> {
  const { words, here, again } = await zoneChanged(ctx, zone);
  if (again === null) return answer(words, zoneSetRows());
  return { ...answerWith(await proposalDrawn(here, { ...again.proposing, before: words })), draft: again.draft };
}

export function inZone(place: Place, timezone: string): Place {
  return { ...place, timezone, isZoneConfirmed: true };
}

function zoneSetWords(zone: string, now: number): Rich {
  return blocks(texts.chat.zoneSet(zone, clockIn(zone, now)), texts.chat.zoneKept);
}

export function zoneSetRows(): Rows {
  return [[button(texts.button.noChange, dataOf('zones'))]];
}
