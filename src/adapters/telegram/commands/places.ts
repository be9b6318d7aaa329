import { button, dataOf, type Rows } from '../buttons/press.ts';
import {
  claimedArg,
  type Answer,
  type ConversationRooms,
  type Person,
  type Place,
  type Said,
  type SetUp,
} from '../conversation.ts';
import type { Drawn } from '../../../domain/shown.ts';
import { clockIn } from '../views/clock.ts';
import { drawn } from '../views/drawing.ts';
import { blocks, type Rich } from '../views/rich.ts';
import { proposalDrawn } from '../views/preview.ts';
import { setupText, isReady } from '../views/setup.ts';
import { texts } from '../views/texts.ts';
import { answer, answerWith } from './answers.ts';
import { inZone, readAgain } from './making.ts';
import { mayManage, refusal } from './rights.ts';
import { likelyZones, readZone } from './zones.ts';

/** What concerns the chat as a whole: its set-up, its zone, who is let in. */

export async function startCommand(said: Said, rooms: ConversationRooms): Promise<Answer> {
  const { args, person } = said;
  const { words, rows } = await startWords(said, rooms);
  const claimed = args === claimedArg && person.isOwner ? texts.chat.claimed : null;
  return answer(blocks(texts.chat.greeting(person.name), claimed, words), rows);
}

interface Here {
  readonly place: Place;
  readonly person: Person;
}

/** How things stand here, and what to do next. */
export async function startWords(
  here: Here,
  rooms: ConversationRooms,
): Promise<{ readonly words: Rich; readonly rows: Rows }> {
  const { place } = here;
  const setUp = await rooms.setUp(place);
  const asksZone = !place.isZoneConfirmed && mayManage(here);
  return {
    words: blocks(
      place.chat.state === 'approved' ? null : texts.chat.notApproved,
      setupText(setUp, `@${rooms.botUsername()}`),
      zoneWords(here, rooms.clock.now()),
      texts.chat.tryNew(),
      texts.chat.seeHelp,
    ),
    rows: [asksZone ? zoneCheckRow() : [], isReady(setUp) ? [] : [button(texts.button.checkAgain, dataOf('setup'))]],
  };
}

/** The first word in a group that was just approved. */
export function hello(setUp: SetUp, botUsername: string): Drawn {
  const { chat } = texts;
  return drawn(
    blocks(chat.helloGroup, setupText(setUp, `@${botUsername}`), chat.tryNew(), chat.seeHelp),
    isReady(setUp) ? [] : [[button(texts.button.checkAgain, dataOf('setup'))]],
  );
}

function zoneWords({ place, person }: Here, now: number): Rich | string {
  const { chat } = texts;
  const clock = clockIn(place.timezone, now);
  if (place.isZoneConfirmed) return chat.zoneIs(place.timezone, clock);
  return mayManage({ place, person }) ? chat.zoneAsk(place.timezone, clock) : chat.zoneAdmin(place.timezone);
}

function zoneCheckRow() {
  return [button(texts.button.yes, dataOf('zoneyes')), button(texts.button.noChange, dataOf('zones'))];
}

export async function helpCommand({ person }: Said): Promise<Answer> {
  return answer(texts.help.help(person.isOwner));
}

/** `/tz` tells and offers; with a city, a zone or the time on the wall it sets. */
export async function zoneCommand(said: Said, rooms: ConversationRooms): Promise<Answer> {
  const { place, args } = said;
  const now = rooms.clock.now();
  const isAdmin = mayManage(said);
  if (args.trim() === '') {
    const rows = isAdmin
      ? [...(place.isZoneConfirmed ? [] : [zoneCheckRow()]), ...zoneRows(likelyZones(place.timezone, now))]
      : [];
    return answer(isAdmin ? blocks(zoneWords(said, now), texts.chat.zonePick()) : zoneWords(said, now), rows);
  }
  const refused = await refusal(said, 'manage', { task: null, rooms });
  if (refused !== null) return answer(refused);
  const word = readZone(args, now);
  const { chat } = texts;
  switch (word.is) {
    case 'zone':
      return setZone(said, rooms, word.zone);
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

/** Three in a row fit on a phone; the button says the city, because that is what people look for. */
export function zoneRows(zones: readonly string[]): Rows {
  const all = zones.map((zone) => button(zone.replace(/^.*\//, '').replaceAll('_', ' '), dataOf('zone', zone)));
  return [all.slice(0, 3), all.slice(3, 6), all.slice(6, 9)];
}

async function setZone(said: Said, rooms: ConversationRooms, zone: string): Promise<Answer> {
  const now = rooms.clock.now();
  await rooms.store.changeChat(said.place.chat.id, { timezone: zone }, now);
  const words = zoneSetWords(zone, now);
  const again = await readAgain({ ...said, place: inZone(said.place, zone) }, rooms);
  if (again === null) return answer(words, zoneSetRows());
  return { ...answerWith(proposalDrawn({ ...again.proposal, before: words })), draft: again.draft };
}

export function zoneSetWords(zone: string, now: number): Rich {
  return blocks(texts.chat.zoneSet(zone, clockIn(zone, now)), texts.chat.zoneKept);
}

export function zoneSetRows(): Rows {
  return [[button(texts.button.noChange, dataOf('zones'))]];
}

/** Lets this group in, or the person with an id; telling it again changes nothing. */
export async function allowCommand(said: Said, rooms: ConversationRooms): Promise<Answer> {
  const refused = await refusal(said, 'approve', { task: null, rooms });
  if (refused !== null) return answer(refused);
  const { store, clock } = rooms;
  const words = said.args.trim();
  const { chat } = texts;
  const now = clock.now();
  const here = said.place.chat;
  if (words === '' && here.kind !== 'private') {
    if (here.state === 'approved') return answer(chat.allowedBefore);
    await store.changeChat(here.id, { state: 'approved', approvedBy: said.person.actor }, now);
    const approved: Said = { ...said, place: { ...said.place, chat: { ...here, state: 'approved' } } };
    const { words: next, rows } = await startWords(approved, rooms);
    return answer(blocks(chat.allowedGroup, next), rows);
  }
  if (words === '') return answer(chat.allowHow());
  if (!/^-?[1-9]\d{0,15}$/.test(words)) return answer(chat.allowNotHere);
  const known = await store.findChat(words);
  if (known?.state === 'approved') return answer(chat.allowedBefore);
  const kind = words.startsWith('-') ? 'supergroup' : 'private';
  const made = known ?? (await store.noteChat({ newId: rooms.ids.next(), address: words, title: null, kind, at: now }));
  await store.changeChat(made.id, { state: 'approved', approvedBy: said.person.actor }, now);
  return answer(kind === 'private' ? chat.allowedUser(words) : chat.allowed(words));
}
