import type { Chat } from '../../../app/ports/chats.ts';
import { settingsOf } from '../../../domain/chat-settings.ts';
import type { Drawn } from '../../../domain/shown.ts';
import type { Answer, ChatContext, ChatDeps, Place, Reply, SetUp } from '../context.ts';
import {} from '../kit/card.ts';
import { clockIn } from '../kit/clock.ts';
import { button, dataOf, type Rows, markFor } from '../kit/press.ts';
import { blocks, type Rich, drawn, lines } from '../kit/rich.ts';
import { texts } from '../texts.ts';

/** How things stand in a chat, and what to do next: what `/start` shows, and what is kept up to date in a group. */

interface Words {
  readonly words: Rich;
  readonly rows: Rows;
}

export async function startWords(ctx: ChatContext): Promise<Words> {
  const { place, clock, bot } = ctx;
  const facts = { setUp: await ctx.setUp(place), ...place, now: clock.now(), mark: markFor(ctx), bot };
  return place.chat.kind === 'private' ? privateWords(facts) : groupWords(facts);
}

/** Facts that a list of this kind is drawn from. */
interface ListFacts {
  readonly setUp: SetUp;
  readonly chat: Pick<Chat, 'state' | 'timezone' | 'settings'>;
  readonly timezone: string;
  readonly isZoneConfirmed: boolean;
  readonly now: number;
  /** Tells this drawing from every other one, so that a second press of its button sends no second test. */
  readonly mark: string;
  readonly bot: string;
}

function privateWords(facts: ListFacts): Words {
  const { setUp, isZoneConfirmed, timezone, now, bot, chat } = facts;
  const clock = clockIn(timezone, now);
  const { setup } = texts;
  return {
    words: blocks(
      chat.state === 'approved' ? null : texts.chat.notApproved,
      privateText(setUp, `@${bot}`, chat),
      isZoneConfirmed ? texts.chat.zoneIs(timezone, clock) : texts.chat.zoneAsk(timezone, clock),
      texts.chat.tryNew(true),
      texts.chat.seeHelp,
    ),
    rows: [
      isZoneConfirmed ? [] : zoneCheckRow(),
      isReady(setUp) ? [] : [button(texts.button.checkAgain, dataOf('setup'))],
      [{ text: setup.addToGroup, url: addLink(bot) }],
    ],
  };
}

/** Adds the bot to a group with the rights that it needs ticked already. */
export function addLink(bot: string): string {
  return `https://t.me/${bot}?startgroup=setup&admin=manage_topics+pin_messages`;
}

function groupWords(facts: ListFacts): Words {
  const { setUp, chat, isZoneConfirmed, mark } = facts;
  const { setup, button: labels } = texts;
  return {
    words: blocks(checklist(facts), texts.chat.tryNew(false), texts.chat.seeHelp),
    rows: [
      isZoneConfirmed ? [] : zoneCheckRow(),
      [
        button(labels.checkAgain, dataOf('setup')),
        isReady(setUp) && chat.state === 'approved' ? button(setup.sendTest, dataOf('test', mark)) : null,
      ],
    ],
  };
}

export function zoneCheckRow() {
  return [button(texts.button.yes, dataOf('zoneyes')), button(texts.button.noChange, dataOf('zones'))];
}

/** The list of a group, without anybody having asked for it. */
export function checklistDrawn(facts: ListFacts, isHello: boolean): Drawn {
  const { words, rows } = groupWords(facts);
  return drawn(isHello ? blocks(texts.chat.helloGroup, words) : words, rows);
}

/* ---- the last list of a group, which is kept up to date ---- */

/**
 * The place and the facts of the last list; its message is known by its delivery, until it was changed once. The number of a message
 * holds at the address at which it was given: a supergroup counts anew, and has other messages of that number.
 */
export type LastList = { readonly at: number; readonly isForum: boolean; readonly address?: string } & Where;

/** `by`: the update that brought it about, which is no news for it. */
type Where = ({ readonly delivery: string } | { readonly message: number }) & { readonly by?: number };

function noteOf(chatId: string): string {
  return `checklist:${chatId}`;
}

interface Notes {
  readonly store: Pick<ChatDeps['store'], 'readNote' | 'writeNote'>;
  readonly clock: ChatDeps['clock'];
}

export async function keepList(
  { store, clock }: Notes,
  { chat, isForum }: Pick<Place, 'chat' | 'isForum'>,
  where: Where,
): Promise<void> {
  const at = clock.now();
  await store.writeNote(
    noteOf(chat.id),
    JSON.stringify({ ...where, at, isForum, address: chat.address } satisfies LastList),
    at,
  );
}

/** Null where there is none at the address that the chat has by now. */
export async function lastList({ store }: Pick<Notes, 'store'>, chat: Listed): Promise<LastList | null> {
  const note = await store.readNote(noteOf(chat.id));
  const last = note === null ? null : (JSON.parse(note) as LastList);
  return (last?.address ?? chat.address) === chat.address ? last : null;
}

type Listed = Pick<Chat, 'id' | 'address'>;

/** A list that has not arrived yet shows an older state, until the next change or a callback. */
export async function listMessage(
  store: Pick<ChatDeps['store'], 'sentMessage'>,
  { address }: Listed,
  last: LastList,
): Promise<number | null> {
  if ('message' in last) return last.message;
  const sent = await store.sentMessage(last.delivery);
  return sent?.address === address ? sent.messageId : null;
}

/** A new list takes the place of the last one, whose message goes: what it says would not be kept up to date any more. */
export async function listShown(ctx: ChatContext, shown: Drawn): Promise<Answer> {
  const { chat } = ctx.place;
  const last = await lastList(ctx, chat);
  const before = last === null ? null : await listMessage(ctx.store, chat, last);
  const id = ctx.ids.next();
  await keepList(ctx, ctx.place, { delivery: id });
  const gone: readonly Reply[] = before === null ? [] : [{ is: 'remove', messageId: before }];
  return { replies: [{ is: 'message', shown, id }, ...gone] };
}

/** How the bot stands in a private chat, and what there is to switch on. */
export function privateText({ topicsEnabled }: SetUp, bot: string, { settings }: Pick<Chat, 'settings'>): Rich {
  const { setup } = texts;
  if (topicsEnabled === null) return lines(setup.unknown);
  if (!topicsEnabled) return lines(setup.topicsOffPrivate(bot));
  return lines(settingsOf(settings).oneOffs === 'together' ? setup.topicsShared : setup.topicsOnPrivate);
}

/** How the bot stands in a group, as a list of what is as it should be and what is not. */
export function checklist(facts: Omit<ListFacts, 'mark' | 'bot'>): Rich {
  const { setup } = texts;
  const { setUp, chat, isZoneConfirmed, timezone, now } = facts;
  const { isForum, canManageTopics, readsEverything } = setUp;
  const isApproved = chat.state === 'approved';
  const isComplete = isReady(setUp) && setUp.canPin === true && isApproved && isZoneConfirmed;
  const clock = clockIn(timezone, now);
  return lines(
    setup.title(),
    isForum ? setup.topicsOnGroup : setup.topicsOffGroup,
    ...(canManageTopics === null ? [setup.unknown] : rightLines(setUp)),
    readsEverything === null ? null : readsEverything ? setup.privacyOff : setup.privacyOn,
    isApproved ? setup.approved : setup.notApproved,
    isZoneConfirmed
      ? setup.zoneOk(timezone, clock)
      : chat.timezone === null
        ? setup.zoneOpen(timezone, clock)
        : setup.zoneTaken(timezone, clock),
    isComplete ? setup.allSet : null,
  );
}

function rightLines({ canManageTopics, canPin }: SetUp) {
  const { setup } = texts;
  return [
    canManageTopics === true ? setup.rightOk : setup.rightMissing,
    canPin === true ? setup.pinOk : setup.pinMissing,
  ];
}

/** Whether a first result would find its topic. */
export function isReady({ isPrivate, isForum, topicsEnabled, canManageTopics }: SetUp): boolean {
  return isPrivate ? topicsEnabled === true : isForum && canManageTopics === true;
}
