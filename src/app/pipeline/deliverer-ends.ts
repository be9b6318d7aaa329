import { deliveryCode } from '../../domain/delivery.ts';
import * as limits from '../../domain/limits.ts';
import type { BlockedCause, View } from '../../domain/shown.ts';
import type { NewMessage } from '../ports/chats.ts';
import type { OutboxPart, PartEnd } from '../ports/outbox.ts';
import type { CallFault, SentIds, Log, Outgoing, Transport, World } from '../ports/outside.ts';

/** Ends of a part, as the store is told of them. */

type EndDeps = Pick<World, 'clock' | 'ids'>;

/** In these the chat itself cannot be written to, so a word in it would only wait beside the result. */
export const speechless: ReadonlySet<BlockedCause> = new Set(['chat_gone', 'no_write_right']);

const ended = ({ id, fence, taskId, fallback }: OutboxPart) => ({
  id,
  fence,
  taskId,
  ...(fallback === 'taken' ? { fallback: true as const } : {}),
});

/** Decoration of a topic that is there: never a reason to make one, and never a question to anybody. */
export function isDecoration({ kind }: Pick<OutboxPart, 'kind'>): boolean {
  return kind === 'card' || kind === 'pin' || kind === 'close' || kind === 'open' || kind === 'rename';
}

/**
 * Done twice it is the same as done once, or does no harm, so what became of it need not be found out first. What is gone is
 * gone; and what one person alone sees, for a while, stands in no chat where it could be looked for.
 */
export function isRepeatable(part: Pick<OutboxPart, 'kind' | 'edits' | 'onlyFor'>): boolean {
  return part.edits !== null || part.kind === 'removeTopic' || part.onlyFor !== null || isDecoration(part);
}

/** The word for programs about an end that is none, or is a bad one. A cause that an earlier end has left is not known here. */
export function codeOf(end: PartEnd): string | null {
  if (end.status !== 'blocked' && end.status !== 'failed') return null;
  return deliveryCode({ status: end.status, cause: end.cause ?? null, error: end.error });
}

/** A new card is pinned; the task remembers it as its own. */
export function delivered(
  { clock, ids }: EndDeps,
  part: OutboxPart,
  is: { readonly ids: SentIds; readonly evidence: string | null },
): PartEnd {
  const pinId = part.kind === 'card' && part.edits === null ? ids.next() : null;
  // A message that one person alone sees has no number in its chat, so its own one is what proves it.
  const { ephemeralId } = is.ids;
  const evidence = ephemeralId === undefined ? is.evidence : JSON.stringify({ ephemeral_message_id: ephemeralId });
  return { ...ended(part), ids: is.ids, evidence, status: 'delivered', at: clock.now(), pinId };
}

type Failed = Extract<PartEnd, { readonly status: 'failed' }>;

export function failed(part: OutboxPart, error: string, evidence: string | null = null): Failed {
  return { ...ended(part), status: 'failed', error, evidence };
}

/** The card stays where it is, unpinned; that is told once, beside it. */
export function notPinned(deps: EndDeps, part: OutboxPart, error: string): PartEnd {
  return { ...failed(part, error), guidance: wordOf(deps, part, { shown: { view: 'notPinned' }, thread: part.route }) };
}

export type Why = Pick<Extract<CallFault, { is: 'blocked' }>, 'cause' | 'error'>;

/** Named again until it succeeds, its title changes, or it is too old; its topic is told once why it is not called so yet. */
export function notRenamed(deps: EndDeps, part: OutboxPart, { cause, error }: Why): PartEnd {
  const guidance = wordOf(deps, part, { shown: { view: 'notRenamed', cause, error }, thread: part.route });
  const isSpeechless = speechless.has(cause) || cause === 'topics_off';
  const told = isSpeechless ? null : guidance;
  return { ...ended(part), status: 'blocked', afterMs: limits.blockedRecheckMs, cause, error, guidance: told };
}

/** The topic stays, and the chat is told what is missing. */
export function topicNotRemoved(deps: EndDeps, part: OutboxPart, { cause, error }: Why): PartEnd {
  const thread = { ...part.route, topic: null };
  const shown: View = { view: 'topicNotRemoved', cause, error };
  const isTold = !part.isOneOfMany && !speechless.has(cause);
  return { ...failed(part, error), guidance: !isTold ? null : wordOf(deps, part, { shown, thread }) };
}

/** A word for a thread that is not there any more is said in the chat itself; an answer belongs where it was asked for. */
export function threadGone(deps: EndDeps, part: OutboxPart, error: string): PartEnd {
  const { kind, route, shown, silent, expiresAt } = part;
  const gone = { ...failed(part, error), cause: 'topic_gone' } as const;
  if (kind !== 'notice' || route.topic === null) return gone;
  const word = { ...wordOf(deps, part, { shown, thread: { ...route, topic: null } }), expiresAt };
  return { ...gone, guidance: silent ? { ...word, silent } : word };
}

interface Later {
  readonly error: string | null;
  readonly afterMs: number;
  readonly evidence?: string | null;
  /** Whether an earlier send arrived is known. */
  readonly settled?: boolean;
}

/** The part waits without having left. */
export function putOff(part: OutboxPart, { error, afterMs, evidence = null }: Later): PartEnd {
  return { ...ended(part), status: 'pending', unsent: true, inDoubt: part.isResent, afterMs, error, evidence };
}

/** The part has left in vain, and leaves again unless that has happened too often. */
export function tryAgain(part: OutboxPart, { error, afterMs, evidence = null, settled = false }: Later): PartEnd {
  if (part.sends >= limits.deliveryAttemptsMax) return failed(part, error ?? 'it was sent too often', evidence);
  const inDoubt = part.isResent && !settled;
  return { ...ended(part), status: 'pending', unsent: false, inDoubt, afterMs, error, evidence };
}

/** No trace was found in time, so it is sent once more, and what is found then tells about both. */
export function sendAgain(part: OutboxPart, told: Later): PartEnd {
  const end = tryAgain(part, told);
  return end.status === 'pending' ? { ...end, inDoubt: true } : end;
}

/** Its arrival is in doubt; evidence is looked for after a while. */
export function doubt(
  part: OutboxPart,
  { error, afterMs, evidence }: Later,
): Extract<PartEnd, { readonly status: 'unknown' }> {
  const found = evidence ?? JSON.stringify({ lost: error });
  return { ...ended(part), status: 'unknown', afterMs, error: error ?? 'no answer', evidence: found, guidance: null };
}

/** A person must say whether it arrived. */
export function askAbout(deps: EndDeps, part: OutboxPart, evidence: string): PartEnd {
  const sentAt = part.doubtSince ?? part.sentAt ?? deps.clock.now();
  const shown: View = { view: 'inDoubt', deliveryId: part.id, sentAt };
  const guidance = part.home === null ? null : wordOf(deps, part, { shown, thread: part.home });
  const error = 'no answer, and no trace of it';
  return { ...ended(part), status: 'unknown', afterMs: null, error, evidence, guidance };
}

/** The part waits for a person to mend the cause, who is told where the task was asked for, and is looked at again by itself. */
export function blocked(deps: EndDeps, part: OutboxPart, { cause, error }: Why): PartEnd {
  const { home, topic } = part;
  const isTold = topic !== null && home !== null && !speechless.has(cause);
  const shown: View = { view: 'blocked', cause, error };
  const guidance = isTold ? wordOf(deps, part, { shown, thread: home }) : null;
  return { ...ended(part), status: 'blocked', afterMs: limits.blockedRecheckMs, cause, error, guidance };
}

/** Nothing of it stands anywhere, and it goes where its task was asked for. Where topics are off, that is the chat itself. */
export function fallBack(part: OutboxPart, { cause, error }: Why, evidence: string | null): PartEnd {
  const topic = cause === 'topics_off' || part.fallback === 'taken' ? null : (part.home?.topic ?? null);
  const end = putOff(part, { error, afterMs: 0, evidence });
  return end.status === 'pending' ? { ...end, fallback: true, reroute: { topic, cause } } : end;
}

type Word = Pick<NewMessage, 'shown' | 'thread'>;

function wordOf({ clock, ids }: EndDeps, { taskId }: OutboxPart, word: Word): NewMessage {
  const expiresAt = clock.now() + limits.guidanceExpiryMs;
  return { id: ids.next(), kind: 'notice', taskId, ...word, edits: null, expiresAt };
}

interface Arrived {
  readonly out: Outgoing;
  /** The message that the part is known to have become. */
  readonly ids: SentIds;
  /** Whether that is the answer to its latest send, so that every other one stands before it. */
  readonly isAnswer: boolean;
  /** The evidence that told of it, if it was looked for. */
  readonly evidence: string | null;
}

/**
 * A part was sent more than once, because nobody knew what had become of it, and now one message of it is known. What else
 * it became is looked for: of two that stand in the same place the younger is taken back, and one that strayed always. The
 * part has arrived in any case, so nothing that goes wrong here can undo that.
 */
export async function takeBackDoubles(
  { transport, log }: { readonly transport: Pick<Transport, 'settle' | 'remove'>; readonly log: Log },
  part: OutboxPart,
  { out, ids, isAnswer, evidence }: Arrived,
): Promise<{ readonly ids: SentIds; readonly evidence: string }> {
  const sentAt = part.doubtSince ?? part.sentAt ?? 0;
  const looks: object[] = [];
  let kept = ids;
  try {
    for (let sends = part.sends; sends > 0; sends -= 1) {
      const found = await transport.settle(out, { sentAt, resentAs: isAnswer ? ids : null, besides: kept });
      looks.push({ is: found.is, evidence: found.evidence });
      if (found.is !== 'arrived' || found.ids.messageId === kept.messageId) break;
      const isFirst = isSamePlace(found.ids, kept) && found.ids.messageId < kept.messageId;
      const taken = isFirst ? kept : found.ids;
      if (isFirst) kept = found.ids;
      await transport.remove(taken);
      looks.push({ taken_back: taken.messageId });
      log.info('double_taken_back', { delivery_id: part.id, kept: kept.messageId, taken: taken.messageId });
    }
  } catch (error) {
    log.error('look_for_double_threw', { delivery_id: part.id, error: String(error) });
    looks.push({ threw: String(error) });
  }
  return { ids: kept, evidence: JSON.stringify({ known_as: ids.messageId, evidence, doubles: looks }) };
}

function isSamePlace(one: SentIds, other: SentIds): boolean {
  return one.chatId === other.chatId && one.threadId === other.threadId;
}
