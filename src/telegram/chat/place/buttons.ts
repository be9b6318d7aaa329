import { zoneName } from '../../../domain/schedule/time/zone-name.ts';
import { threadKeyOf } from '../../../domain/thread.ts';
import type { Answer, ConversationRooms, Pressed } from '../conversation.ts';
import { alerted, answer, redrawn, sentenceOf, triedTo } from '../kit/answers.ts';
import { markFor } from '../kit/card.ts';
import { clockIn } from '../kit/clock.ts';
import { draftOf } from '../kit/drafts.ts';
import { inZone } from '../kit/reading.ts';
import { blocks, drawn } from '../kit/rich.ts';
import { refusal, arg } from '../kit/rights.ts';
import { likelyZones } from '../kit/zones.ts';
import { proposalDrawn, readAgain } from '../new-task/preview.ts';
import { texts } from '../texts.ts';
import { keepList, startWords } from './checklist.ts';
import { zoneRows, zoneSetRows, zoneSetWords } from './places.ts';

/** Buttons about the chat: is this your time, and how do things stand here. */

/** "Yes, it is 14:05 for me": from then on nobody is asked again. */
export async function zoneYesPressed(pressed: Pressed, rooms: ConversationRooms): Promise<Answer> {
  const refused = await refusal(pressed, 'manage', { task: null, rooms });
  if (refused !== null) return alerted(refused);
  const { place } = pressed;
  const now = rooms.clock.now();
  if (!place.isZoneConfirmed) await rooms.store.changeChat(place.chat.id, { timezone: place.timezone }, now);
  const confirmed = { ...pressed, place: inZone(place, place.timezone) };
  const toast = texts.chat.zoneYes(place.timezone);
  const short = arg(pressed, 0);
  if (short === '') {
    return { ...(await listAgain(confirmed, rooms)), toast: { text: toast, isAlert: false } };
  }
  const found = await draftOf(pressed, short, rooms);
  if (found.is !== 'open' || found.draft.step.step !== 'preview') {
    return { replies: [], toast: { text: toast, isAlert: false } };
  }
  const { row, step } = found.draft;
  return redrawn(pressed, await proposalDrawn(confirmed, rooms, { draftId: row.id, step }), toast);
}

export async function zonesPressed(pressed: Pressed, rooms: ConversationRooms): Promise<Answer> {
  const refused = await refusal(pressed, 'manage', { task: null, rooms });
  if (refused !== null) return alerted(refused);
  return answer(texts.chat.zonePick(), zoneRows(likelyZones(pressed.place.timezone, rooms.clock.now())));
}

/** A task that is being made meanwhile is read again on the new clocks. */
export async function zonePressed(pressed: Pressed, rooms: ConversationRooms): Promise<Answer> {
  const refused = await refusal(pressed, 'manage', { task: null, rooms });
  if (refused !== null) return alerted(refused);
  const zone = zoneName(arg(pressed, 0));
  if (zone === null) return alerted(texts.chat.oldButton);
  const now = rooms.clock.now();
  await rooms.store.changeChat(pressed.place.chat.id, { timezone: zone }, now);
  const toast = texts.chat.zoneYes(zone);
  const here = { ...pressed, place: inZone(pressed.place, zone) };
  const again = await readAgain(here, rooms);
  if (again === null) return redrawn(pressed, drawn(zoneSetWords(zone, now), zoneSetRows()), toast);
  return { ...redrawn(pressed, await proposalDrawn(here, rooms, again.proposing), toast), draft: again.draft };
}

export async function setupPressed(pressed: Pressed, rooms: ConversationRooms): Promise<Answer> {
  const refused = await refusal(pressed, 'read', { task: null, rooms });
  if (refused !== null) return alerted(refused);
  await rooms.setUp(pressed.place, 'anew');
  return listAgain(pressed, rooms);
}

/** How things stand now, in the place of how they stood; from now on this message is kept up to date. */
async function listAgain(pressed: Pressed, rooms: ConversationRooms): Promise<Answer> {
  const { chat } = pressed.place;
  const { words, rows } = await startWords(pressed, rooms, markFor(pressed));
  // What one person alone sees cannot be changed later.
  if (chat.kind !== 'private' && pressed.ephemeralId === null)
    await keepList(rooms, pressed.place, { message: pressed.messageId });
  return redrawn(pressed, drawn(words, rows));
}

/** Long enough to lay the phone aside, and short enough to wait for. */
const testInMs = 60_000;

/** A real task that runs once. The mark of the drawing is its key: two presses of one button make one test. */
export async function testPressed(pressed: Pressed, rooms: ConversationRooms): Promise<Answer> {
  const refused = await refusal(pressed, 'create', { task: null, rooms });
  if (refused !== null) return alerted(refused);
  const { place, person } = pressed;
  const { setup } = texts;
  const [now, mark] = [rooms.clock.now(), arg(pressed, 0)];
  const tried = await triedTo(() =>
    rooms.tasks.create({
      threadKey: threadKeyOf({ provider: 'telegram', address: place.chat.address, topic: null }),
      actor: person.actor,
      idempotencyKey: `telegram:test:${place.chat.id}:${mark}`,
      input: {
        title: setup.testTitle,
        instructions: setup.testText,
        schedule: { kind: 'once', once_at: new Date(now + testInMs).toISOString(), timezone: place.timezone },
      },
    }),
  );
  if ('refusal' in tried) return alerted(sentenceOf(tried.refusal) ?? tried.refusal.message);
  const { number, nextAt } = tried.made.task;
  const { words, rows } = await startWords(pressed, rooms, markFor(pressed));
  const comes = nextAt === null ? null : setup.testComes(number, clockIn(place.timezone, nextAt));
  return redrawn(pressed, drawn(blocks(words, comes), rows), setup.testMade(number));
}
