import { zoneName } from '../../../domain/schedule/time/zone-name.ts';
import { threadKeyOf } from '../../../domain/thread.ts';
import type { Answer, Buttons, ChatContext } from '../conversation.ts';
import { answer, redrawn, Refused } from '../kit/answers.ts';
import { clockIn } from '../kit/clock.ts';
import { draftOf } from '../kit/drafts.ts';
import { onChat, onTask, threadOf } from '../kit/guards.ts';
import { arg } from '../kit/press.ts';
import { blocks, drawn } from '../kit/rich.ts';
import { likelyZones } from '../kit/zones.ts';
import { proposalDrawn } from '../new-task/preview.ts';
import { texts } from '../texts.ts';
import { allowPressed } from './allowing.ts';
import { keepList, startWords } from './checklist.ts';
import { inZone, zoneChanged, zoneRows, zoneSetRows } from './places.ts';
import { purgePressed, topicDeletePressed } from './removals.ts';

/** Buttons about the chat: is this your time, and how do things stand here. */

/** "Yes, it is 14:05 for me": from then on nobody is asked again. */
const zoneYesPressed = onChat('manage', async (ctx) => {
  const { place } = ctx;
  const now = ctx.clock.now();
  if (!place.isZoneConfirmed) await ctx.store.changeChat(place.chat.id, { timezone: place.timezone }, now);
  const confirmed = { ...ctx, place: inZone(place, place.timezone) };
  const toast = texts.chat.zoneYes(place.timezone);
  const short = arg(ctx, 0);
  if (short === '') {
    return { ...(await listAgain(confirmed)), toast: { text: toast, isAlert: false } };
  }
  const found = await draftOf(ctx, short);
  if (found.is !== 'open' || found.draft.step.step !== 'preview') {
    return { replies: [], toast: { text: toast, isAlert: false } };
  }
  const { row, step } = found.draft;
  return redrawn(ctx, await proposalDrawn(confirmed, { draftId: row.id, step }), toast);
});

const zonesPressed = onChat('manage', async (ctx) => {
  return answer(texts.chat.zonePick(), zoneRows(likelyZones(ctx.place.timezone, ctx.clock.now())));
});

const zonePressed = onChat('manage', async (ctx) => {
  const zone = zoneName(arg(ctx, 0));
  if (zone === null) throw new Refused(texts.chat.oldButton);
  const { words, here, again } = await zoneChanged(ctx, zone);
  const toast = texts.chat.zoneYes(zone);
  if (again === null) return redrawn(ctx, drawn(words, zoneSetRows()), toast);
  return { ...redrawn(ctx, await proposalDrawn(here, again.proposing), toast), draft: again.draft };
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
      schedule: { kind: 'once', once_at: new Date(now + testInMs).toISOString(), timezone: place.timezone },
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
  purge: purgePressed,
  topicdelete: onTask('change', topicDeletePressed, { deleted: 'handled' }),
  keep: async (ctx: ChatContext) => redrawn(ctx, drawn(texts.topic.kept)),
} satisfies Buttons;
