import { alerted, answer, redrawn } from '../commands/answers.ts';
import { draftOf } from '../commands/drafts.ts';
import { inZone, proposalFor, readAgain } from '../commands/making.ts';
import { startWords, zoneRows, zoneSetRows, zoneSetWords } from '../commands/places.ts';
import { refusal } from '../commands/rights.ts';
import { likelyZones } from '../commands/zones.ts';
import type { Answer, ConversationRooms, Pressed } from '../conversation.ts';
import { zoneName } from '../../../domain/schedule/zone-name.ts';
import { drawn } from '../views/drawing.ts';
import { proposalDrawn } from '../views/preview.ts';
import { texts } from '../views/texts.ts';
import { arg } from './presser.ts';

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
    const { words, rows } = await startWords(confirmed, rooms);
    return redrawn(pressed, drawn(words, rows), toast);
  }
  const found = await draftOf(pressed, short, rooms);
  if (found.is !== 'open' || found.draft.step.step !== 'preview') {
    return { replies: [], toast: { text: toast, isAlert: false } };
  }
  const { row, step } = found.draft;
  const preview = rooms.preview({ schedule: step.when.schedule, after: now, count: 3 });
  const proposal = proposalFor(confirmed, rooms, { draftId: row.id, text: step.text, preview });
  return redrawn(pressed, proposalDrawn(proposal), toast);
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
  const again = await readAgain({ ...pressed, place: inZone(pressed.place, zone) }, rooms);
  if (again === null) return redrawn(pressed, drawn(zoneSetWords(zone, now), zoneSetRows()), toast);
  return { ...redrawn(pressed, proposalDrawn(again.proposal), toast), draft: again.draft };
}

export async function setupPressed(pressed: Pressed, rooms: ConversationRooms): Promise<Answer> {
  const refused = await refusal(pressed, 'read', { task: null, rooms });
  if (refused !== null) return alerted(refused);
  const { words, rows } = await startWords(pressed, rooms);
  return redrawn(pressed, drawn(words, rows));
}
