import { topicHealEveryMs } from '../../src/domain/limits.ts';
import type { Account } from '../invariants/account.ts';
import { isOpen, isResult, isWord, textOf, toThread, type Part } from '../invariants/deliveries.ts';
import { groupBy, repeated, tell, type Breach } from '../invariants/rows.ts';
import type { Seen, SeenMessage } from './telegram.ts';

/**
 * "Delivered" means delivered: each part that counts as delivered stands in the chat, in its own topic and under the id
 * that its row says. Nothing stands there twice or elsewhere, unless a row says that nobody could know. The chats
 * themselves are the witness.
 */
export function proveDeliveries(account: Account, seen: Seen): Breach[] {
  const { rows } = account;
  const scene: Scene = {
    ...account,
    seen,
    messages: new Map(seen.messages.map((message) => [keyOf(message.chatId, message.messageId), message])),
    delivered: rows.deliveries.filter((part) => part.status === 'delivered' && isMessage(part)),
  };
  return [
    nothingIsGivenUp,
    deliveredMeansShown,
    placesAreRight,
    nothingElseIsShown,
    cardsAreRight,
    nothingHangs,
    paceIsKept,
  ].flatMap((prove) => prove(scene));
}

interface Scene extends Account {
  readonly seen: Seen;
  /** By chat and id. */
  readonly messages: ReadonlyMap<string, SeenMessage>;
  /** Parts that became a message of their own. */
  readonly delivered: readonly Part[];
}

const keyOf = (chat: number | string | null, message: number | null) => `${chat}:${message}`;
const isMessage = (part: Part) => isWord(part) || (part.kind === 'card' && part.edits === null);
const isCertain = ({ evidence, decision, sends }: Part) => evidence === null && decision === null && sends === 1;

function nothingIsGivenUp({ rows, tasks }: Scene): Breach[] {
  const lost = rows.deliveries.filter((part) => {
    if (!isResult(part) || part.status !== 'failed') return false;
    return tasks.get(part.task_id ?? '')?.state !== 'deleted' || part.error !== 'the task was deleted';
  });
  return tell('a part was given up', lost);
}

function deliveredMeansShown({ delivered, messages }: Scene): Breach[] {
  const unshown = delivered.filter((part) => {
    const message = messages.get(keyOf(part.platform_chat_id, part.message_id));
    if (message?.from !== 'bot' || message.service !== null) return true;
    return message.threadId !== part.message_thread_id || (isResult(part) && message.text !== textOf(part).trim());
  });
  return tell('a part counts as delivered and was not shown', unshown);
}

/** What is a task's goes to a topic of that task, of which there is one at a time; a word for a thread goes there. */
function placesAreRight({ delivered, seen, tasks, address }: Scene): Breach[] {
  const names = new Map(seen.topics.map(({ chatId, threadId, name }) => [keyOf(chatId, threadId), name]));
  const misplaced = delivered.filter((part) => {
    if (part.platform_chat_id !== address.get(part.chat_id)) return true;
    if (toThread(part)) return part.message_thread_id !== part.to_topic;
    const name = names.get(keyOf(part.platform_chat_id, part.message_thread_id));
    return name === undefined || name !== tasks.get(part.task_id ?? '')?.title;
  });
  const standing = seen.topics.filter(({ isDeleted, createdBy }) => !isDeleted && createdBy === 'bot');
  const healed = groupBy(
    [...tasks.values()].filter(({ topic_lost_at: at }) => at !== null),
    ({ chat_id: chat, title }) => `${address.get(chat)} ${title}`,
  );
  const doubled = repeated(standing, ({ chatId, name }) => `${chatId} ${name}`).filter((own) => {
    const [task] = healed.get(`${own[0]?.chatId} ${own[0]?.name}`) ?? [];
    // A topic that led astray stands there still, and is made anew once an hour at most.
    return task === undefined || own.length > 2 + ((task.topic_lost_at ?? 0) - task.created_at) / topicHealEveryMs;
  });
  return [
    ...tell('a part landed in another place than asked for', misplaced),
    ...tell('a task has two topics', doubled),
  ];
}

/**
 * What stands there and is no delivered part's own message. A part that nobody knows the fate of may be one, and so may
 * an earlier send of a part where the record says that the search for it could not decide, or whose topic was deleted.
 */
function nothingElseIsShown(scene: Scene): Breach[] {
  const { rows, delivered, seen, address } = scene;
  const own = new Set(delivered.map((part) => keyOf(part.platform_chat_id, part.message_id)));
  const extra = seen.messages.filter(
    ({ from, service, chatId, messageId }) => from === 'bot' && service === null && !own.has(keyOf(chatId, messageId)),
  );
  const results = groupBy(
    rows.deliveries.filter(isResult),
    (part) => `${address.get(part.chat_id)} ${textOf(part).trim()}`,
  );
  const unexplained = [...groupBy(extra, ({ chatId, text }) => `${chatId} ${text}`)].flatMap(([key, messages]) => {
    const parts = results.get(key);
    const isExplained =
      parts === undefined ? messages.every((one) => isRepeated(scene, one)) : areDoubted(parts, messages);
    return isExplained ? [] : [{ messages, parts }];
  });
  return tell('something is shown that nothing accounts for', unexplained);
}

function areDoubted(parts: readonly Part[], messages: readonly SeenMessage[]): boolean {
  const most = parts.reduce((sum, part) => sum + inDoubt(part), 0);
  const standing = messages.filter(({ isGone }) => !isGone);
  return standing.length <= most && messages.every(({ threadId }) => threadId !== null);
}

/** How many messages may stand there besides the one that the row names. */
function inDoubt(part: Part): number {
  if (isOpen(part)) return part.status === 'unknown' || part.doubted_at !== null ? part.sends : 0;
  return part.evidence?.includes('undecided') === true ? part.sends - 1 : 0;
}

/** Cards and words about a task are sent again rather than searched for. */
function isRepeated({ rows, seen, address, tasks }: Scene, { chatId, threadId }: SeenMessage): boolean {
  const topic = seen.topics.find((one) => one.chatId === chatId && one.threadId === threadId);
  return rows.deliveries.some((part) => {
    if (isResult(part) || !isMessage(part) || address.get(part.chat_id) !== String(chatId)) return false;
    const isThere = toThread(part) ? part.to_topic === threadId : tasks.get(part.task_id ?? '')?.title === topic?.name;
    return isThere && (part.sends > 1 || (part.status !== 'delivered' && part.sends > 0));
  });
}

/** Of two clocks the wall clock may be set back, and the one of the ids is not exact for a card. */
function isEarlier(part: Part, card: Part): boolean {
  return part.id < card.id && part.created_at < card.created_at;
}

function isBelow(part: Part, card: Part): boolean {
  return (part.message_id ?? 0) > (card.message_id ?? 0);
}

/**
 * A card is not the first that is said in a topic where there was something to say before it, and nothing else is pinned. Of what comes
 * later either may be first: what is made in a transaction that had to be repeated is older than what others have sent meanwhile.
 */
function cardsAreRight({ seen, delivered }: Scene): Breach[] {
  const said = groupBy(
    delivered.filter((part) => isWord(part) && !toThread(part) && isCertain(part)),
    (part) => keyOf(part.platform_chat_id, part.message_thread_id),
  );
  const cards = delivered.filter(({ kind }) => kind === 'card');
  const hasty = cards.filter((card) => {
    const own = said.get(keyOf(card.platform_chat_id, card.message_thread_id)) ?? [];
    return own.some((part) => isEarlier(part, card)) && own.every((part) => isBelow(part, card));
  });
  const known = new Set(cards.map((card) => keyOf(card.platform_chat_id, card.message_id)));
  const strange = seen.messages.filter(
    ({ isPinned, isGone, chatId, messageId }) => isPinned && !isGone && !known.has(keyOf(chatId, messageId)),
  );
  return [...tell('a card came before the result', hasty), ...tell('something is pinned that is no card', strange)];
}

/** After a clean stop nothing is on its way, and nothing waits for a person without a reason. */
function nothingHangs({ rows, seen, tasks }: Scene): Breach[] {
  const sending = rows.deliveries.filter(({ status }) => status === 'sending');
  const names = new Set(seen.topics.map(({ name }) => name));
  const stuck = rows.deliveries.filter((part) => {
    const isLost = part.cause === 'topic_in_doubt' && !names.has(tasks.get(part.task_id ?? '')?.title ?? '');
    // Owners who have never written to the bot cannot be told anything in private.
    const isToStranger = part.kind === 'notice' && part.cause === 'chat_gone';
    return part.status === 'blocked' && !isLost && !isToStranger;
  });
  return [
    ...tell('a part is on its way after a clean stop', sending),
    ...tell('a part waits for a person although nothing is in its way', stuck),
  ];
}

/** To be told to wait is a fault of the one who asked too fast, but for the times when Telegram was made to say so. */
function paceIsKept({ seen }: Scene): Breach[] {
  return tell(
    'a call was made too fast',
    seen.calls.filter(({ status, fault }) => status === 429 && fault === null),
  );
}
