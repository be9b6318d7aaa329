import type { AccessEntry } from '../../../app/ports/chat-facts.ts';
import type { Chat, User } from '../../../app/ports/chats.ts';
import { actorAt, addressIn, addressOf, isGroup } from '../../../app/use-cases/membership.ts';
import type { Drawn } from '../../../domain/shown.ts';
import type { Answer, ChatContext } from '../context.ts';
import { answer, answerWith, redrawn, Refused } from '../kit/answers.ts';
import { settingHere } from '../kit/card.ts';
import { aboutMoment } from '../kit/clock.ts';
import { onChat } from '../kit/guards.ts';
import { arg, button, dataOf, type Rows } from '../kit/press.ts';
import { blocks, lines, type Rich, drawn } from '../kit/rich.ts';
import { calledOf, nameOf } from '../kit/rights.ts';
import { texts } from '../texts.ts';
import { listShown, startWords } from './checklist.ts';

/** `/allow`: lets a group in, or a person, takes that back, and lists who is let in. For owners. */

/** Lines of one message; more would not be read. */
const shownMax = 8;

export const allowCommand = onChat('approve', async (ctx) => {
  const words = ctx.args.trim();
  const off = /^off(?=\s|$)\s*(.*)$/is.exec(words);
  const { kind, address } = ctx.place.chat;
  if (off !== null) {
    const named = (off[1] ?? '').trim();
    if (named === '' && kind === 'private') return answer(texts.allow.how());
    return answerWith(await denied(ctx, named === '' ? address : (await meant(ctx, named, denying)).address));
  }
  if (words !== '') return answer(await letIn(ctx, await meant(ctx, words, allowing)));
  if (ctx.repliedTo !== null && !ctx.repliedTo.isOurs) return allowAuthor(ctx);
  return kind === 'private' ? answer(...(await listView(ctx))) : allowGroup(ctx);
});

/** The deed that the one who is chosen among several of a name is for. */
interface Choice {
  readonly verb: 'allow' | 'deny';
  readonly label: (title: string) => string;
}

const allowing: Choice = { verb: 'allow', label: (title) => texts.allow.allow(title) };
const denying: Choice = { verb: 'deny', label: (title) => texts.allow.deny(title) };

interface Meant {
  readonly address: string;
  /** Null where only the id is known. */
  readonly name: string | null;
}

/** The one that the words name by id, or by a name that is known; throws the question where that is nobody, or several. */
async function meant(ctx: ChatContext, words: string, { verb, label }: Choice): Promise<Meant> {
  const { allow } = texts;
  const address = addressIn(words);
  if (address !== null) return { address, name: null };
  if (words.startsWith('@')) throw new Refused(answer(allow.username));
  if (/^[-+]?\d/.test(words)) throw new Refused(answer(texts.chat.allowNotHere));
  const people = (await peopleCalled(ctx, words)).map(({ id, name }) => ({ address: addressOf(id), name }));
  const [first, ...others] = people;
  if (first === undefined) throw new Refused(answer(allow.nobodyCalled(words)));
  if (others.length === 0) return first;
  const rows = people.map((one) => [
    button(label(allow.chat(one.name ?? words, one.address)), dataOf(verb, one.address)),
  ]);
  throw new Refused(answer(allow.several(words), rows));
}

/** People by their id, or by a name that is known. */
export async function peopleCalled({ store }: Pick<ChatContext, 'store'>, words: string): Promise<readonly User[]> {
  const address = addressIn(words);
  if (address === null || isGroup(address)) return store.usersNamed(words, shownMax);
  const known = await store.readUser(actorAt(address));
  return known === null ? [] : [known];
}

async function allowAuthor(ctx: ChatContext): Promise<Answer> {
  const author = ctx.repliedTo?.author ?? null;
  if (author === null) return answer(texts.allow.hidden);
  return answer(await letIn(ctx, { address: String(author.id), name: author.name }));
}

async function allowGroup(ctx: ChatContext): Promise<Answer> {
  const { address } = ctx.place.chat;
  const { chat, entryId } = await ctx.access.allow({ address, by: ctx.person.actor });
  if (entryId === null) return answer(texts.chat.allowedBefore);
  const approved: ChatContext = {
    ...ctx,
    place: { ...ctx.place, chat, timezone: chat.timezone ?? ctx.place.timezone },
  };
  const { words, rows } = await startWords(approved);
  return listShown(approved, drawn(blocks(texts.chat.allowedGroup, words), rows));
}

/** Telling it again changes nothing. */
async function letIn(ctx: ChatContext, { address, name }: Meant): Promise<string> {
  const { chat, allow } = texts;
  const { entryId } = await ctx.access.allow({ address, title: name, by: ctx.person.actor });
  if (entryId === null) return chat.allowedBefore;
  if (isGroup(address)) return chat.allowed(address);
  return name === null ? chat.allowedUser(address) : allow.person(name);
}

/** Those who wait for a yes, those who are let in, and how else that is changed. */
async function listView(ctx: ChatContext): Promise<readonly [Rich, Rows]> {
  const { allow } = texts;
  const waiting = await ctx.store.waitingChats(shownMax);
  const { items, next } = await ctx.access.list({ limit: shownMax, cursor: null });
  const titleOf = ({ title, address }: Chat) => title ?? address;
  const setting = settingHere(ctx);
  const lineOf = async ({ name, address, role, by, since }: AccessEntry) =>
    allow.entry({
      title: allow.chat(name ?? address, address),
      role,
      by: by === null || by === actorAt(address) ? null : await calledOf(ctx, by),
      since: since === null ? null : aboutMoment(since, setting),
    });
  return [
    blocks(
      waiting.length === 0
        ? allow.nobody
        : lines(allow.waiting(), ...waiting.map((one) => allow.chat(titleOf(one), one.address))),
      lines(allow.listed(), ...(await Promise.all(items.map(lineOf))), next === null ? null : allow.more()),
      allow.how(),
    ),
    [
      ...waiting.map((one) => [button(allow.allow(titleOf(one)), dataOf('allow', one.address))]),
      ...items
        .filter(({ role }) => role !== 'owner')
        .map(({ name, address }) => [button(allow.deny(name ?? address), dataOf('deny', address))]),
    ],
  ];
}

async function denied(ctx: ChatContext, address: string): Promise<Drawn> {
  const { allow } = texts;
  const { chat, entryId, paused } = await ctx.access.deny({ address, by: ctx.person.actor });
  if (entryId === null) return drawn(allow.notApproved);
  const name = isGroup(address) ? null : await nameOf(ctx, actorAt(address));
  const title = name ?? chat.title ?? address;
  return drawn(allow.revoked(title, paused), [[button(allow.allow(title), dataOf('allow', address))]]);
}

/** The list goes on with whoever was let in. */
export const allowPressed = onChat('approve', async (ctx) => {
  await letIn(ctx, { address: pressedAddress(ctx), name: null });
  return redrawn(ctx, drawn(...(await listView(ctx))), texts.allow.allowedWord);
});

export const denyPressed = onChat('approve', async (ctx) =>
  redrawn(ctx, await denied(ctx, pressedAddress(ctx)), texts.allow.deniedWord),
);

function pressedAddress(ctx: ChatContext): string {
  const address = addressIn(arg(ctx, 0));
  if (address === null) throw new Refused(texts.chat.oldButton);
  return address;
}
