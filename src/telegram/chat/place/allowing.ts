import type { Chat } from '../../../app/ports/chats.ts';
import type { Actor } from '../../../domain/access.ts';
import type { Answer, ChatContext } from '../context.ts';
import { answer, redrawn, Refused } from '../kit/answers.ts';
import { onChat, threadOf } from '../kit/guards.ts';
import { arg, button, dataOf, type Rows } from '../kit/press.ts';
import { blocks, lines, type Rich, drawn } from '../kit/rich.ts';
import { texts } from '../texts.ts';
import { keepList, startWords } from './checklist.ts';

/** `/allow`: lets a group in, or a person, and takes that back. For owners. */

/** Buttons of one message; more would not be read. */
const waitingShown = 8;
const addressForm = /^-?[1-9]\d{0,15}$/;

export const allowCommand = onChat('approve', async (ctx) => {
  const words = ctx.args.trim();
  const off = /^off(?=\s|$)\s*(.*)$/is.exec(words);
  if (off !== null) return revoked(ctx, (off[1] ?? '').trim());
  if (words !== '') return named(ctx, words);
  if (ctx.repliedTo !== null && !ctx.repliedTo.isOurs) return allowAuthor(ctx);
  return ctx.place.chat.kind === 'private' ? answer(...(await waitingView(ctx))) : allowGroup(ctx);
});

/** Lets in the one that the words name by id, or by a name that is known. */
async function named(ctx: ChatContext, words: string): Promise<Answer> {
  const { allow } = texts;
  if (addressForm.test(words)) return answer(await letIn(ctx, words, null));
  if (words.startsWith('@')) return answer(allow.username);
  if (/^[-+]?\d/.test(words)) return answer(texts.chat.allowNotHere);
  const people = await ctx.store.usersNamed(words, waitingShown);
  const [first, ...others] = people;
  if (first === undefined) return answer(allow.nobodyCalled(words));
  if (others.length === 0) return answer(await letIn(ctx, addressOf(first.id), first.name));
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

async function allowAuthor(ctx: ChatContext): Promise<Answer> {
  const author = ctx.repliedTo?.author ?? null;
  if (author === null) return answer(texts.allow.hidden);
  return answer(await letIn(ctx, String(author.id), author.name));
}

async function allowGroup(ctx: ChatContext): Promise<Answer> {
  const here = ctx.place.chat;
  if (here.state === 'approved') return answer(texts.chat.allowedBefore);
  await ctx.store.changeChat(here.id, { state: 'approved', approvedBy: ctx.person.actor }, ctx.clock.now());
  const approved: ChatContext = { ...ctx, place: { ...ctx.place, chat: { ...here, state: 'approved' } } };
  const { words, rows } = await startWords(approved);
  const id = ctx.ids.next();
  await keepList(ctx, ctx.place, { delivery: id });
  return { replies: [{ is: 'message', shown: drawn(blocks(texts.chat.allowedGroup, words), rows), id }] };
}

/** Telling it again changes nothing. The name is null where only the id is known. */
async function letIn(ctx: ChatContext, address: string, name: string | null): Promise<string> {
  const { store, clock, ids, person } = ctx;
  const { chat, allow } = texts;
  const now = clock.now();
  const known = await store.findChat(address);
  if (known?.state === 'approved') return chat.allowedBefore;
  const kind = address.startsWith('-') ? 'supergroup' : 'private';
  const made = known ?? (await store.noteChat({ newId: ids.next(), address, title: name, kind, at: now }));
  await store.changeChat(made.id, { state: 'approved', approvedBy: person.actor }, now);
  if (kind === 'supergroup') return chat.allowed(address);
  return name === null ? chat.allowedUser(address) : allow.person(name);
}

/** Chats that wait for a yes, and how else one is given. */
async function waitingView({ store }: ChatContext): Promise<readonly [Rich, Rows]> {
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

/** The tasks of the chat are paused: what nobody may change any more must not go on by itself. */
async function revoked(ctx: ChatContext, words: string): Promise<Answer> {
  const { place, person } = ctx;
  const { allow } = texts;
  const isHere = words === '' && place.chat.kind !== 'private';
  if (!isHere && !addressForm.test(words)) return answer(allow.how());
  const chat = isHere ? place.chat : await ctx.store.findChat(words);
  if (chat?.state !== 'approved') return answer(allow.notApproved);
  const owner = chat.kind === 'private' ? await ctx.store.readUser(actorAt(chat.address)) : null;
  if (owner?.role === 'owner') return answer(allow.ownChat);
  const { changed } = await ctx.bulk.pause({ thread: threadOf({ chat }) }, { actor: person.actor }, null);
  await ctx.store.changeChat(chat.id, { state: 'refused', approvedBy: null }, ctx.clock.now());
  ctx.log.info('chat_approval_ended', { chat_id: chat.id, address: chat.address, by: person.actor });
  return answer(allow.revoked(chat.title ?? chat.address, changed));
}

/** The list goes on without whoever was let in. */
export const allowPressed = onChat('approve', async (ctx) => {
  const address = arg(ctx, 0);
  if (!addressForm.test(address)) throw new Refused(texts.chat.oldButton);
  await letIn(ctx, address, null);
  return redrawn(ctx, drawn(...(await waitingView(ctx))), texts.allow.allowedWord);
});
