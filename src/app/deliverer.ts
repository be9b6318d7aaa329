import * as limits from '../domain/limits.ts';
import { createCollector, within } from './collector.ts';
import { createClaimCount, type Holding } from './holding.ts';
import type { Bell, Clock, Log, Outgoing, Sent, SentIds, Timer, Transport } from './ports.ts';
import type { Counts, OutboxPart, OutboxStore, PartEnd } from './store.ts';
import { prepareTopic } from './topics.ts';

/**
 * Brings results to their threads: one call in flight per chat, parts of a thread in order, chats in turn. A part counts
 * as delivered only when the platform returned its ids and they are the ones that were asked for.
 */
export interface Deliverer {
  step(now: number, limit: number): Promise<Counts>;
  nextAt(now: number): Promise<number | null>;
  readonly holding: Holding;
  idle(): Promise<void>;
  stop(graceMs: number): Promise<void>;
}

export interface DelivererNeeds {
  readonly store: OutboxStore;
  readonly transport: Transport;
  readonly clock: Clock;
  readonly timer: Timer;
  readonly log: Log;
  readonly bell: Bell;
  readonly bootId: string;
  /** Chats that may be served at the same time. */
  readonly concurrency: number;
  readonly batchMax: number;
}

export function createDeliverer(needs: DelivererNeeds): Deliverer {
  const { store, bell } = needs;
  const busy = new Map<string, { readonly partId: string; readonly done: Promise<void> }>();
  const claims = createClaimCount();
  let after = '';
  let stopping = false;

  const ends = createCollector<EndedPart>(needs, needs.batchMax, {
    write: async (batch) => {
      const now = needs.clock.now();
      await store.endParts(
        batch.map((one) => inTimeOf(now, one)),
        now,
      );
      // The chat is free only now: its next part must find this one ended.
      for (const { chatId } of batch) busy.delete(chatId);
      bell.ring('deliverer');
    },
    instead: ({ end, ...rest }, error) => ({ ...rest, end: unwritable(end, error) }),
  });

  const serve = (part: OutboxPart) => {
    const { chatId } = part;
    const done = handle(needs, part).then((end) => ends.add({ chatId, end, at: needs.clock.now() }));
    busy.set(chatId, { partId: part.id, done });
  };

  const allDone = () => Promise.all([...busy.values()].map(({ done }) => done));

  return {
    step: async (now, limit) => {
      const free = Math.min(limit, needs.concurrency - busy.size);
      if (stopping || free <= 0) return { taken: 0, more: false };
      const claimed = await claims.during(async () => {
        const answer = await store.claimParts({ now, limit: free, after }, needs.bootId, new Set(busy.keys()));
        for (const part of answer) serve(part);
        return answer;
      });
      after = claimed.length === free ? (claimed.at(-1)?.chatId ?? '') : '';
      return { taken: claimed.length, more: claimed.length === free && busy.size < needs.concurrency };
    },
    nextAt: (now) => (busy.size >= needs.concurrency ? Promise.resolve(null) : store.nextPartAt(now)),
    holding: { ...claims, has: (id) => [...busy.values()].some(({ partId }) => partId === id) },
    idle: async () => {
      while (busy.size > 0) {
        await allDone();
        await ends.idle();
      }
    },
    stop: async (graceMs) => {
      stopping = true;
      // A call that hangs, or a store that is away, is not waited for: the next process looks for evidence.
      await within(
        needs.timer,
        graceMs,
        allDone().then(() => ends.idle()),
      );
    },
  };
}

interface EndedPart {
  readonly chatId: string;
  readonly end: PartEnd;
  /** What the clock said when the end was known. */
  readonly at: number;
}

/** While an end waited to be written the clock may have been set back, and its pause with it. */
function inTimeOf(now: number, { end, at }: EndedPart): PartEnd {
  if (now >= at || !('readyAt' in end) || end.readyAt === null) return end;
  return { ...end, readyAt: end.readyAt - (at - now) };
}

function unwritable({ id, fence, taskId = null }: PartEnd, reason: string): PartEnd {
  const error = `what became of it could not be written: ${reason}`;
  return { id, fence, taskId, status: 'failed', error, evidence: null };
}

type Ended = { readonly id: string; readonly fence: number; readonly taskId: string | null };

async function handle(needs: DelivererNeeds, part: OutboxPart): Promise<PartEnd> {
  const ended = { id: part.id, fence: part.fence, taskId: part.taskId };
  try {
    if (isTooOld(part, needs.clock.now())) {
      return { ...ended, status: 'failed', error: 'too old: not delivered within max_age', evidence: null };
    }
    if (part.status === 'unknown') return await lookForEvidence(needs, part, ended);
    if (part.topic !== null && part.topic.state !== 'ready') return await waitForTopic(needs, part, ended);
    return await send(needs, part, ended);
  } catch (error) {
    // The transport translates what the platform does, so this is a fault of ours; whether the part left is not known.
    needs.log.error('delivery_threw', { delivery_id: part.id, error: String(error) });
    if (part.status === 'sending') return doubt(needs, ended, String(error));
    return part.status === 'unknown' ? lookLater(needs, ended, String(error)) : putOff(needs, ended, String(error));
  }
}

/** What has left may have arrived, so only a part that is still here can be too old. */
function isTooOld(part: OutboxPart, now: number): boolean {
  return part.status !== 'unknown' && part.expiresAt !== null && part.expiresAt <= now;
}

function outgoing(part: OutboxPart): Outgoing {
  return { deliveryId: part.id, route: part.route, text: part.text };
}

async function waitForTopic(needs: DelivererNeeds, part: OutboxPart, ended: Ended): Promise<PartEnd> {
  const { clock } = needs;
  const ready = part.topic === null ? { is: 'ready' as const } : await prepareTopic(needs, part.topic, part.route);
  const now = clock.now();
  switch (ready.is) {
    case 'ready':
      return { ...ended, status: 'pending', unsent: false, readyAt: now, error: null, evidence: null };
    case 'later':
      return {
        ...ended,
        status: 'pending',
        unsent: false,
        readyAt: now + ready.afterMs,
        error: ready.error,
        evidence: null,
      };
    case 'blocked':
      return {
        ...ended,
        status: 'blocked',
        unsent: false,
        readyAt: now + limits.blockedRecheckMs,
        cause: ready.cause,
        error: ready.error,
      };
  }
}

async function send(needs: DelivererNeeds, part: OutboxPart, ended: Ended): Promise<PartEnd> {
  const sent = await needs.transport.send(outgoing(part));
  const now = needs.clock.now();
  switch (sent.is) {
    case 'sent':
      return verify(needs, part, { ...ended, ids: sent.ids });
    case 'unknown':
      return doubt(needs, ended, sent.error);
    case 'topicGone':
      if (part.topic !== null) await needs.store.endTopic({ taskId: part.topic.taskId, state: 'none' });
      return tryAgain(part, ended, { error: sent.error, readyAt: now });
    case 'blocked':
      return {
        ...ended,
        status: 'blocked',
        unsent: true,
        readyAt: now + limits.blockedRecheckMs,
        cause: sent.cause,
        error: sent.error,
      };
    case 'refused':
      return { ...ended, status: 'failed', error: sent.error, evidence: null };
    case 'notSent':
      return afterNotSent(part, ended, { sent, now });
  }
}

type NotSent = { readonly sent: Extract<Sent, { is: 'notSent' }>; readonly now: number };

/** Being told to wait is no failure of the part, however often it happens. */
function afterNotSent(part: OutboxPart, ended: Ended, { sent, now }: NotSent): PartEnd {
  if (sent.retryAfterMs !== null) {
    return {
      ...ended,
      status: 'pending',
      unsent: true,
      readyAt: now + sent.retryAfterMs,
      error: sent.error,
      evidence: null,
    };
  }
  const pause = Math.min(limits.stepBackoffMs * 2 ** (part.putOffs + 1), limits.stepBackoffMaxMs);
  return { ...ended, status: 'pending', unsent: true, readyAt: now + pause, error: sent.error, evidence: null };
}

interface Retrying {
  readonly error: string;
  readonly readyAt: number;
  readonly evidence?: string | null;
}

function tryAgain(part: OutboxPart, ended: Ended, { error, readyAt, evidence = null }: Retrying): PartEnd {
  if (part.sends >= limits.deliveryAttemptsMax) return { ...ended, status: 'failed', error, evidence };
  return { ...ended, status: 'pending', unsent: false, readyAt, error, evidence };
}

/** A message in the wrong place is taken back, and its topic is made again: green must not mean "somewhere". */
async function verify(
  needs: DelivererNeeds,
  part: OutboxPart,
  { ids, ...ended }: Ended & { ids: SentIds },
): Promise<PartEnd> {
  const { route } = part;
  const now = needs.clock.now();
  if (ids.chatId === route.address && ids.threadId === route.topic) {
    return { ...ended, status: 'delivered', ids, at: now, evidence: null };
  }
  const error = await takeBack(needs, part, ids);
  if (part.topic !== null) await needs.store.endTopic({ taskId: part.topic.taskId, state: 'none' });
  return tryAgain(part, ended, { error, readyAt: now });
}

async function takeBack({ log, transport }: DelivererNeeds, part: OutboxPart, ids: SentIds): Promise<string> {
  log.warn('delivery_misrouted', { delivery_id: part.id, chat_id: ids.chatId, topic: ids.threadId });
  await transport.remove(ids);
  return `misrouted: it landed in chat ${ids.chatId}, topic ${ids.threadId ?? 'none'}`;
}

/**
 * A part that turned up long after its send. The topic may have been made anew since then, so the one it stands in may have
 * been the right one; what stands outside of any topic is astray, and sending it again shows whether the topic is well.
 */
async function foundThere(
  needs: DelivererNeeds,
  part: OutboxPart,
  { ids, evidence, ...ended }: Ended & { ids: SentIds; evidence: string },
): Promise<PartEnd> {
  const now = needs.clock.now();
  const isAstray = ids.chatId !== part.route.address || (ids.threadId === null && part.topic !== null);
  if (!isAstray) return { ...ended, status: 'delivered', ids, at: now, evidence };
  return tryAgain(part, ended, { error: await takeBack(needs, part, ids), readyAt: now, evidence });
}

function doubt({ clock }: DelivererNeeds, ended: Ended, error: string): PartEnd {
  const readyAt = clock.now() + (limits.settleDelaysMs[0] ?? 0);
  return { ...ended, status: 'unknown', readyAt, error, evidence: JSON.stringify({ lost: error }) };
}

/** A look that failed says nothing about the part, so it stays in doubt; nothing is sent again for that. */
function lookLater({ clock }: DelivererNeeds, ended: Ended, error: string): PartEnd {
  const readyAt = clock.now() + limits.stepBackoffMaxMs;
  return { ...ended, status: 'unknown', readyAt, error, evidence: JSON.stringify({ look: error }) };
}

function putOff({ clock }: DelivererNeeds, ended: Ended, error: string): PartEnd {
  const readyAt = clock.now() + limits.stepBackoffMaxMs;
  return { ...ended, status: 'pending', unsent: false, readyAt, error, evidence: null };
}

/** Evidence decides. When none turns up in time, the task's policy does: send again, or leave it to a person. */
async function lookForEvidence(needs: DelivererNeeds, part: OutboxPart, ended: Ended): Promise<PartEnd> {
  const found = await needs.transport.settle(outgoing(part), part.sentAt ?? 0);
  const now = needs.clock.now();
  const { evidence } = found;
  if (found.is === 'arrived') return foundThere(needs, part, { ...ended, ids: found.ids, evidence });
  if (found.is === 'absent') return tryAgain(part, ended, { error: 'it did not arrive', readyAt: now, evidence });
  const error = 'no answer, and no trace of it yet';
  const next = limits.settleDelaysMs[part.settles + 1];
  // A clock that was set back may have left it in the future, and the looks are counted from the send.
  const sentAt = Math.min(part.sentAt ?? now, now);
  if (next !== undefined)
    return { ...ended, status: 'unknown', readyAt: Math.max(now, sentAt + next), error, evidence };
  if (part.unknown === 'ask')
    return { ...ended, status: 'unknown', readyAt: null, error: 'no answer, and no trace of it', evidence };
  return tryAgain(part, ended, { error: 'no answer, and no trace of it', readyAt: now });
}
