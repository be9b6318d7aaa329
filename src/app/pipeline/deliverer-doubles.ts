import type { Log, Outgoing, SentIds, Transport } from '../ports/outside.ts';
import type { OutboxPart } from '../ports/outbox.ts';

interface Needs {
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
  { transport, log }: Needs,
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
