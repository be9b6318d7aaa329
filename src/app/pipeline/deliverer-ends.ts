import * as limits from '../../domain/limits.ts';
import type { BlockedCause, View } from '../../domain/shown.ts';
import type { Thread } from '../../domain/thread.ts';
import type { NewMessage } from '../ports/chats.ts';
import type { OutboxPart, PartEnd } from '../ports/outbox.ts';
import type { Clock, Ids, SentIds, Log, Outgoing, Transport } from '../ports/outside.ts';

/** What may become of a part, as the store is told. */

interface Needs {
  readonly clock: Clock;
  readonly ids: Ids;
}

/** In these the chat itself cannot be written to, so a word in it would only wait beside the result. */
const speechless: ReadonlySet<BlockedCause> = new Set(['chat_gone', 'no_write_right']);

const ended = ({ id, fence, taskId }: OutboxPart) => ({ id, fence, taskId });

/** What hangs on a topic that is there: it is never a reason to make one, and nobody is asked about it. */
export function isDecoration({ kind }: Pick<OutboxPart, 'kind'>): boolean {
  return kind === 'card' || kind === 'pin' || kind === 'close' || kind === 'open';
}

/**
 * Done twice it is the same as done once, or does no harm, so what became of it need not be found out first. What is gone is
 * gone; and what one person alone sees, for a while, stands in no chat where it could be looked for.
 */
export function isRepeatable(part: Pick<OutboxPart, 'kind' | 'edits' | 'onlyFor'>): boolean {
  return part.edits !== null || part.kind === 'removeTopic' || part.onlyFor !== null || isDecoration(part);
}

/** A new card is pinned; the task remembers it as its own. */
export function delivered(
  { clock, ids }: Needs,
  part: OutboxPart,
  is: { readonly ids: SentIds; readonly evidence: string | null },
): PartEnd {
  const pinId = part.kind === 'card' && part.edits === null ? ids.next() : null;
  // A message that one person alone sees has no number in its chat, so its own one is what proves it.
  const { ephemeralId } = is.ids;
  const evidence = ephemeralId === undefined ? is.evidence : JSON.stringify({ ephemeral_message_id: ephemeralId });
  return { ...ended(part), ids: is.ids, evidence, status: 'delivered', at: clock.now(), pinId };
}

export function failed(part: OutboxPart, error: string, evidence: string | null = null): PartEnd {
  return { ...ended(part), status: 'failed', error, evidence };
}

/** The card stays where it is, unpinned; that is told once, beside it. */
export function notPinned({ clock, ids }: Needs, part: OutboxPart, error: string): PartEnd {
  const { route, taskId } = part;
  const guidance = wordOf({ view: 'notPinned' }, { id: ids.next(), thread: route, taskId, now: clock.now() });
  return { ...ended(part), status: 'failed', error, evidence: null, guidance };
}

/** The topic stays, and the chat is told what is missing. */
export function topicNotRemoved(
  { clock, ids }: Needs,
  part: OutboxPart,
  { cause, error }: { readonly cause: BlockedCause; readonly error: string },
): PartEnd {
  const { route, taskId } = part;
  const thread = { ...route, topic: null };
  const guidance = speechless.has(cause)
    ? null
    : wordOf({ view: 'topicNotRemoved', cause, error }, { id: ids.next(), thread, taskId, now: clock.now() });
  return { ...ended(part), status: 'failed', error, evidence: null, guidance };
}

/** A word for a thread that is not there any more is said in the chat itself; an answer belongs where it was asked for. */
export function threadGone({ ids }: Pick<Needs, 'ids'>, part: OutboxPart, error: string): PartEnd {
  const { kind, route, taskId, shown, silent, expiresAt } = part;
  if (kind !== 'notice' || route.topic === null) return failed(part, error);
  const thread = { ...route, topic: null };
  const word: NewMessage = { id: ids.next(), kind, thread, taskId, shown, edits: null, expiresAt };
  const guidance = silent ? { ...word, silent } : word;
  return { ...ended(part), status: 'failed', error, evidence: null, guidance };
}

interface Later {
  readonly error: string | null;
  readonly afterMs: number;
  readonly evidence?: string | null;
  /** It is known whether an earlier send arrived. */
  readonly settled?: boolean;
}

/** It waits without having left. */
export function putOff(
  { clock }: Pick<Needs, 'clock'>,
  part: OutboxPart,
  { error, afterMs, evidence = null }: Later,
): PartEnd {
  const readyAt = clock.now() + afterMs;
  return { ...ended(part), status: 'pending', unsent: true, inDoubt: part.isResent, readyAt, error, evidence };
}

/** It has left in vain, and leaves again unless that has happened too often. */
export function tryAgain(
  { clock }: Pick<Needs, 'clock'>,
  part: OutboxPart,
  { error, afterMs, evidence = null, settled = false }: Later,
): PartEnd {
  if (part.sends >= limits.deliveryAttemptsMax) return failed(part, error ?? 'it was sent too often', evidence);
  const readyAt = clock.now() + afterMs;
  const inDoubt = part.isResent && !settled;
  return { ...ended(part), status: 'pending', unsent: false, inDoubt, readyAt, error, evidence };
}

/** No trace was found in time, so it is sent once more, and what is found then tells about both. */
export function sendAgain(needs: Pick<Needs, 'clock'>, part: OutboxPart, told: Later): PartEnd {
  const end = tryAgain(needs, part, told);
  return end.status === 'pending' ? { ...end, inDoubt: true } : end;
}

/** Nobody knows whether it has arrived; evidence is looked for after a while. */
export function doubt({ clock }: Pick<Needs, 'clock'>, part: OutboxPart, told: Later): PartEnd {
  const { error, afterMs, evidence = null } = told;
  return {
    ...ended(part),
    status: 'unknown',
    readyAt: clock.now() + afterMs,
    error: error ?? 'no answer',
    evidence: evidence ?? JSON.stringify({ lost: error }),
    guidance: null,
  };
}

/** A person must say whether it arrived. */
export function askAbout({ clock, ids }: Needs, part: OutboxPart, evidence: string): PartEnd {
  const sentAt = part.doubtSince ?? part.sentAt ?? clock.now();
  const { home, taskId } = part;
  const view: View = { view: 'inDoubt', deliveryId: part.id, sentAt };
  const guidance = home === null ? null : wordOf(view, { id: ids.next(), thread: home, taskId, now: clock.now() });
  const error = 'no answer, and no trace of it';
  return { ...ended(part), status: 'unknown', readyAt: null, error, evidence, guidance };
}

/** It waits for a person to mend the cause, who is told where the task was asked for, and is looked at again by itself. */
export function blocked(
  { clock, ids }: Needs,
  part: OutboxPart,
  why: { readonly cause: BlockedCause; readonly error: string },
): PartEnd {
  const { cause, error } = why;
  const { home, taskId } = part;
  const now = clock.now();
  const isTold = part.topic !== null && home !== null && !speechless.has(cause);
  const guidance = isTold
    ? wordOf({ view: 'blocked', cause, error }, { id: ids.next(), thread: home, taskId, now })
    : null;
  return { ...ended(part), status: 'blocked', readyAt: now + limits.blockedRecheckMs, cause, error, guidance };
}

interface Word {
  readonly id: string;
  readonly thread: Thread;
  readonly taskId: string | null;
  readonly now: number;
}

function wordOf(shown: View, { id, thread, taskId, now }: Word): NewMessage {
  return { id, kind: 'notice', thread, taskId, shown, edits: null, expiresAt: now + limits.guidanceExpiryMs };
}

interface DelivererDoublesNeeds {
  readonly transport: Pick<Transport, 'settle' | 'remove'>;
  readonly log: Log;
}

interface Found {
  readonly out: Outgoing;
  /** The message that the part is known to have become. */
  readonly ids: SentIds;
  /** Whether that is the answer to its latest send, so that every other one stands before it. */
  readonly isAnswer: boolean;
  /** What told of it, if it was looked for. */
  readonly evidence: string | null;
}

/**
 * A part was sent more than once, because nobody knew what had become of it, and now one message of it is known. What else
 * it became is looked for: of two that stand in the same place the younger is taken back, and one that strayed always. The
 * part has arrived in any case, so nothing that goes wrong here can undo that.
 */
export async function withoutDoubles(
  { transport, log }: DelivererDoublesNeeds,
  part: OutboxPart,
  { out, ids, isAnswer, evidence }: Found,
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
