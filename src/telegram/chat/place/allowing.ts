import type { Chat } from '../../../app/ports/chats.ts';
import type { Actor } from '../../../domain/access.ts';
import type { Answer, ConversationRooms, Person, Said, Pressed } from '../conversation.ts';
import { answer, turnedDown, alerted, redrawn } from '../kit/answers.ts';
import { markFor } from '../kit/card.ts';
import { button, dataOf, type Rows } from '../kit/press.ts';
import { blocks, lines, type Rich, drawn } from '../kit/rich.ts';
import { refusal, arg } from '../kit/rights.ts';
import { texts } from '../texts.ts';
import { keepList, startWords } from './checklist.ts';
import { threadOf } from './removals.ts';

/** `/allow`: lets a group in, or a person, and takes that back. For owners. */

/** Buttons of one message; more would not be read. */
const waitingShown = 8;
const addressForm = /^-?[1-9]\d{0,15}$/;

export async function allowCommand(said: Said, rooms: ConversationRooms): Promise<Answer> {
  const refused = await refusal(said, 'approve', { task: null, rooms });
  if (refused !== null) return turnedDown(refused);
  const words = said.args.trim();
  const off = /^off(?=\s|$)\s*(.*)$/is.exec(words);
  if (off !== null) return revoked(said, rooms, (off[1] ?? '').trim());
  if (words !== '') return named(said, rooms, words);
  if (said.repliedTo !== null && !said.repliedTo.isOurs) return allowAuthor(said, rooms);
  return said.place.chat.kind === 'private' ? answer(...(await waitingView(rooms))) : allowGroup(said, rooms);
}

/** Everybody whom the message names, or that is known by the name. */
async function named(said: Said, rooms: ConversationRooms, words: string): Promise<Answer> {
  const { allow } = texts;
  if (addressForm.test(words)) return answer(await letIn(rooms, said.person, { address: words, name: null }));
  if (words.startsWith('@')) return answer(allow.username);
  if (/^[-+]?\d/.test(words)) return answer(texts.chat.allowNotHere);
  const people = await rooms.store.usersNamed(words, waitingShown);
  const [first, ...others] = people;
  if (first === undefined) return answer(allow.nobodyCalled(words));
  if (others.length === 0)
    return answer(await letIn(rooms, said.person, { address: addressOf(first.id), name: first.name }));
  return answer(
    allow.several(words),
    people.map(({ id, name }) => {
      const address = addressOf(id);
      return [button(allow.allow(allow.chat(name ?? words, address)), dataOf('allow', address))];
    }),
  );
}

function addressOf(actor: Actor): string {
  return actor.replace(/^telegram:user:/, '');
}

async function allowAuthor({ repliedTo, person }: Said, rooms: ConversationRooms): Promise<Answer> {
  const author = repliedTo?.author ?? null;
  if (author === null) return answer(texts.allow.hidden);
  return answer(await letIn(rooms, person, { address: String(author.id), name: author.name }));
}

async function allowGroup(said: Said, rooms: ConversationRooms): Promise<Answer> {
  const here = said.place.chat;
  if (here.state === 'approved') return answer(texts.chat.allowedBefore);
  await rooms.store.changeChat(here.id, { state: 'approved', approvedBy: said.person.actor }, rooms.clock.now());
  const approved: Said = { ...said, place: { ...said.place, chat: { ...here, state: 'approved' } } };
  const { words, rows } = await startWords(approved, rooms, markFor(said));
  const id = rooms.ids.next();
  await keepList(rooms, said.place, { delivery: id });
  return { replies: [{ is: 'message', shown: drawn(blocks(texts.chat.allowedGroup, words), rows), id }] };
}

interface Whom {
  readonly address: string;
  /** Null where only the id is known. */
  readonly name: string | null;
}

/** Telling it again changes nothing. */
async function letIn(rooms: ConversationRooms, by: Person, { address, name }: Whom): Promise<string> {
  const { store, clock, ids } = rooms;
  const { chat, allow } = texts;
  const now = clock.now();
  const known = await store.findChat(address);
  if (known?.state === 'approved') return chat.allowedBefore;
  const kind = address.startsWith('-') ? 'supergroup' : 'private';
  const made = known ?? (await store.noteChat({ newId: ids.next(), address, title: name, kind, at: now }));
  await store.changeChat(made.id, { state: 'approved', approvedBy: by.actor }, now);
  if (kind === 'supergroup') return chat.allowed(address);
  return name === null ? chat.allowedUser(address) : allow.person(name);
}

/** Who waits for a yes, and how else one is given. */
async function waitingView({ store }: ConversationRooms): Promise<readonly [Rich, Rows]> {
  const { allow } = texts;
  const waiting = await store.waitingChats(waitingShown);
  const titleOf = ({ title, address }: Chat) => title ?? address;
  return [
    blocks(
      waiting.length === 0
        ? allow.nobody
        : lines(allow.waiting(), ...waiting.map((one) => allow.chat(titleOf(one), one.address))),
      allow.how(),
    ),
    waiting.map((one) => [button(allow.allow(titleOf(one)), dataOf('allow', one.address))]),
  ];
}

/** The address of somebody's private chat is their own number. */
function actorAt(address: string): Actor {
  return `telegram:user:${Number(address)}`;
}

/** Its tasks are paused: what nobody may change any more must not go on by itself. */
async function revoked({ place, person }: Said, rooms: ConversationRooms, words: string): Promise<Answer> {
  const { allow } = texts;
  const isHere = words === '' && place.chat.kind !== 'private';
  if (!isHere && !addressForm.test(words)) return answer(allow.how());
  const chat = isHere ? place.chat : await rooms.store.findChat(words);
  if (chat?.state !== 'approved') return answer(allow.notApproved);
  const owner = chat.kind === 'private' ? await rooms.store.readUser(actorAt(chat.address)) : null;
  if (owner?.role === 'owner') return answer(allow.ownChat);
  const { changed } = await rooms.bulk.pause({ thread: threadOf({ chat }) }, { actor: person.actor }, null);
  await rooms.store.changeChat(chat.id, { state: 'refused', approvedBy: null }, rooms.clock.now());
  rooms.log.info('chat_approval_ended', { chat_id: chat.id, address: chat.address, by: person.actor });
  return answer(allow.revoked(chat.title ?? chat.address, changed));
}

/** The list goes on without whoever was let in. */
export async function allowPressed(pressed: Pressed, rooms: ConversationRooms): Promise<Answer> {
  const refused = await refusal(pressed, 'approve', { task: null, rooms });
  if (refused !== null) return alerted(refused);
  const address = arg(pressed, 0);
  if (!/^-?[1-9]\d{0,15}$/.test(address)) return alerted(texts.chat.oldButton);
  await letIn(rooms, pressed.person, { address, name: null });
  return redrawn(pressed, drawn(...(await waitingView(rooms))), texts.allow.allowedWord);
}
