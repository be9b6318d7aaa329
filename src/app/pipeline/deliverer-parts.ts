import { errorText } from '../../domain/errors.ts';
import * as limits from '../../domain/limits.ts';
import { messagesIn } from '../../domain/shown.ts';
import type { Pacer, Turn } from '../pacing/pacer.ts';
import type { ChatStore } from '../ports/chats.ts';
import { topicLosses, type OutboxPart, type OutboxStore, type PartEnd } from '../ports/outbox.ts';
import type { CallFault, Outgoing, Sent, SentIds, Transport, World } from '../ports/outside.ts';
import {
  askAbout,
  blocked,
  delivered,
  doubt,
  failed,
  fallBack,
  isDecoration,
  isRepeatable,
  notPinned,
  notRenamed,
  putOff,
  speechless,
  sendAgain,
  threadGone,
  topicNotRemoved,
  tryAgain,
  takeBackDoubles,
  type Why,
} from './deliverer-ends.ts';
import { giveUpTopic, prepareTopic } from './topics.ts';

export interface PartDeps extends Pick<World, 'clock' | 'ids' | 'log'> {
  readonly store: Pick<OutboxStore, 'beginTopic' | 'endTopic' | 'joinTopic' | 'isOwnerThere'> &
    Pick<ChatStore, 'moveChat'>;
  readonly transport: Transport;
  readonly pacer: Pick<Pacer, 'holdChat' | 'isFreeSoon' | 'take'>;
  readonly bootId: string;
  /** The bot can reach a chat no more. Told again as long as that lasts, and does something the first time only. */
  readonly chatGone: (chatId: string, cause: string) => Promise<void>;
}

/** One part in its chat's turn. */
export interface Serving extends PartDeps {
  readonly part: OutboxPart;
  readonly turn: Turn;
}

/** Does the next thing for a part: its topic, its send, or a look for what became of an earlier send. Never throws. */
export async function servePart(serving: Serving): Promise<PartEnd> {
  const { part, clock } = serving;
  if (isTooOld(part, clock.now()))
    return { ...failed(part, 'too old: not delivered within max_age'), cause: 'max_age' };
  if (part.status === 'unknown') return safely(serving, settle);
  return safely(serving, part.topic !== null && part.topic.state !== 'ready' ? toTopic : call);
}

async function safely(serving: Serving, does: (serving: Serving) => Promise<PartEnd>): Promise<PartEnd> {
  const { part, log } = serving;
  try {
    return await does(serving);
  } catch (thrown) {
    // The transport translates what Telegram does, so this is a fault of ours; whether the part left is not known.
    const error = 'a fault on our side: the log tells which';
    log.error('delivery_threw', { delivery_id: part.id, error: errorText(thrown) });
    if (part.status === 'sending') return lost(serving, error);
    if (part.status === 'unknown') return lookLater(serving, error);
    return putOff(part, { error, afterMs: limits.partPauseMaxMs });
  }
}

/** A part that has left may have arrived, so only one that is still here can be too old. */
function isTooOld(part: OutboxPart, now: number): boolean {
  return part.status !== 'unknown' && part.expiresAt !== null && part.expiresAt <= now;
}

function outgoing(part: OutboxPart): Outgoing {
  const { id, chatId, taskId, runId, route, shown, edits, silent, onlyFor, resultOf } = part;
  const wasSent = part.isResent || part.status === 'unknown';
  return { deliveryId: id, chatId, taskId, runId, route, shown, edits, silent, onlyFor, resultOf, wasSent };
}

/* ---- the topic ---- */

/** How often a topic whose creation got no answer is looked for. */
const lookAgainMs = 5000;

/** The part that needs a topic first goes there in the same hand, with a call of its own, unless the chat must wait for long. */
async function toTopic(serving: Serving): Promise<PartEnd> {
  const { part, turn, clock, pacer } = serving;
  // A topic that is made brings a card of its own.
  if (part.topic === null || isDecoration(part)) return failed(part, 'its topic is not there');
  const mayFollow = () => pacer.isFreeSoon(part.route.address);
  const ready = await prepareTopic({ ...serving, mayFollow, spend: () => turn.spend() }, part.topic);
  if (ready.is === 'lost' || ready.is === 'unreached')
    return putOff(part, { error: ready.error, afterMs: lookAgainMs });
  if (ready.is !== 'ready') return afterFault(serving, ready);
  if (!ready.mayLeave) return putOff(part, { error: null, afterMs: 0 });
  const { id, lostAt } = ready;
  const sending = {
    ...part,
    status: 'sending',
    sends: part.sends + 1,
    sentAt: clock.now(),
    route: { ...part.route, topic: id },
    topic: { ...part.topic, state: 'ready', id, lostAt },
  } as const;
  const next = { ...serving, part: sending };
  if (await pacer.take(part.route.address)) return safely(next, call);
  return putOff(sending, { error: null, afterMs: 0 });
}

/* ---- the call ---- */

async function call(serving: Serving): Promise<PartEnd> {
  const sent = await ask(serving);
  if (sent.is !== 'sent') return afterFault(serving, sent);
  const end = await arrived(serving, sent.ids);
  return end.status === 'delivered' && sent.print !== undefined ? { ...end, print: sent.print } : end;
}

async function ask({ transport, part, turn, pacer }: Serving): Promise<Sent> {
  const messages = messagesIn(part.shown);
  if (messages === 1) turn.spend();
  else if (!(await pacer.take(part.route.address, messages))) return tooManyMessages;
  const out = outgoing(part);
  const { kind } = part;
  const isMessage = kind === 'answer' || kind === 'result' || kind === 'notice' || kind === 'card';
  return isMessage ? transport.send(out) : transport.act(out, kind);
}

const tooManyMessages: Sent = { is: 'unreached', error: 'the chat must be left alone before it can take an album' };

function afterFault(serving: Serving, fault: CallFault): PartEnd | Promise<PartEnd> {
  const { part } = serving;
  const { error } = fault;
  switch (fault.is) {
    case 'lost':
      return lost(serving, error);
    case 'topicGone':
      return topicGone(serving, error);
    case 'moved':
      return moved(serving, fault.address, error);
    case 'moot':
      return { ...failed(part, error), messageGone: part.edits };
    case 'blocked':
      return afterBlocked(serving, fault);
    case 'refused':
      return refused(serving, error);
    case 'wait':
      return waitAsTold(serving, fault.ms, error);
    case 'unreached':
      return putOff(part, { error, afterMs: pauseOf(part) });
  }
}

/** A message or a topic that cannot be removed stays; nothing waits for that, but somebody should know. */
function refused(serving: Serving, error: string): PartEnd {
  const { part, log } = serving;
  if (part.kind === 'pin') return notPinned(serving, part, error);
  if (part.kind === 'rename') return notRenamed(serving, part, { cause: 'other', error });
  if (part.kind !== 'remove' && part.kind !== 'removeTopic') return failed(part, error);
  log.warn('not_removed', { delivery_id: part.id, kind: part.kind, error });
  return part.kind === 'removeTopic' ? topicNotRemoved(serving, part, { cause: 'other', error }) : failed(part, error);
}

/** Being told to wait is no failure of the part, however often it happens, and binds everything else in its chat. */
async function waitAsTold(serving: Serving, afterMs: number, error: string): Promise<PartEnd> {
  const { pacer, part } = serving;
  await pacer.holdChat({ chatId: part.chatId, address: part.route.address }, afterMs);
  return putOff(part, { error, afterMs });
}

function pauseOf({ putOffs }: OutboxPart): number {
  return limits.backoffMs(putOffs + 2, undefined, limits.partPauseMaxMs);
}

function lost(serving: Serving, error: string): PartEnd {
  const { part } = serving;
  const afterMs = limits.settleDelaysMs[0] ?? 0;
  if (part.kind === 'rename') return putOff(part, { error, afterMs: pauseOf(part) });
  return isRepeatable(part) ? tryAgain(part, { error, afterMs }) : doubt(part, { error, afterMs });
}

/** The rows of the old address belong to the new one, and the part goes there at once; twice is a mistake, and no reason to spin. */
async function moved(serving: Serving, address: string, error: string): Promise<PartEnd> {
  const { part, store, clock } = serving;
  const isNews = address !== part.route.address && part.putOffs === 0;
  if (address !== part.route.address) await store.moveChat(part.route.address, address, clock.now());
  return putOff(part, { error, afterMs: isNews ? 0 : pauseOf(part) });
}

async function topicGone(serving: Serving, error: string): Promise<PartEnd> {
  const { part } = serving;
  // Decoration comes anew with the topic.
  if (isDecoration(part)) return failed(part, error);
  // The thread where its task was asked for is gone as well, and then it is said in the chat itself.
  if (part.fallback === 'taken' && part.kind === 'result') return fallBack(part, { cause: 'topic_gone', error }, null);
  if (part.topic === null) return threadGone(serving, part, error);
  // In a topic that nothing of ours was ever seen in, there was nothing to delete: Telegram told a wrong number.
  const loss = part.topic.cardId === null && !part.topic.isShared ? 'astray' : 'gone';
  if (await giveUpTopic(serving, part.topic, topicLosses[loss])) return tryAgain(part, { error, afterMs: 0 });
  return withoutTopic(serving, { cause: `topic_${loss}`, error });
}

async function afterBlocked(
  serving: Serving,
  { cause, error }: Extract<CallFault, { is: 'blocked' }>,
): Promise<PartEnd> {
  const { part, log } = serving;
  if (cause === 'chat_gone') await tellChatGone(serving, error);
  else if (part.kind === 'pin') return notPinned(serving, part, error);
  if (part.kind === 'rename') return notRenamed(serving, part, { cause, error });
  if (part.kind === 'remove') return refused(serving, error);
  if (part.kind === 'removeTopic') {
    log.warn('not_removed', { delivery_id: part.id, kind: part.kind, error });
    return topicNotRemoved(serving, part, { cause, error });
  }
  // An answer that comes when the cause is mended is of no use, and a topic that cannot be closed stays open.
  if (part.kind === 'answer' || part.kind === 'close' || part.kind === 'open') return failed(part, error);
  return withoutTopic(serving, { cause, error });
}

/** Words in a task's topic that cannot be had wait for it, or go where the task was asked for, if it says so. */
async function withoutTopic(serving: Serving, why: Why, evidence: string | null = null): Promise<PartEnd> {
  const { part, store } = serving;
  const mayGo = part.topic !== null && part.fallback === 'allowed' && !speechless.has(why.cause);
  if (mayGo && (await store.isOwnerThere(part.topic.taskId))) return fallBack(part, why, evidence);
  return blocked(serving, part, why);
}

/** The next look at the part tells it again, so a failure to tell it is no loss. */
async function tellChatGone({ chatGone, part, log }: Serving, cause: string): Promise<void> {
  try {
    await chatGone(part.chatId, cause);
  } catch (error) {
    log.error('chat_gone_not_told', { chat_id: part.chatId, error: String(error) });
  }
}

/* ---- what was sent ---- */

/** Green must not mean "somewhere": a message in the wrong place is taken back, and its topic is made again. */
async function arrived(serving: Serving, ids: SentIds): Promise<PartEnd> {
  const { part } = serving;
  if (isAsked(part, ids)) {
    if (!part.isResent || isRepeatable(part)) return delivered(serving, part, { ids, evidence: null });
    return delivered(serving, part, await alone(serving, { ids, isAnswer: true, evidence: null }));
  }
  if (part.edits !== null || isOfTopic(part)) {
    return failed(part, 'Telegram answered for another message than the one that was asked for');
  }
  const { error, evidence } = await takeBack(serving, ids);
  const misrouted = { ...failed(part, error, evidence), cause: 'misrouted' } as const;
  if (part.topic === null) return misrouted;
  const isHealed = await giveUpTopic(serving, part.topic, topicLosses.astray);
  // A topic that is made again brings a card of its own.
  if (part.kind === 'card') return misrouted;
  if (isHealed) return tryAgain(part, { error, afterMs: 0, evidence });
  return withoutTopic(serving, { cause: 'topic_astray', error }, evidence);
}

function alone(serving: Serving, found: Omit<Parameters<typeof takeBackDoubles>[2], 'out'>) {
  return takeBackDoubles(serving, serving.part, { ...found, out: outgoing(serving.part) });
}

function isAsked({ route, edits, kind }: OutboxPart, ids: SentIds): boolean {
  if (ids.chatId !== route.address) return false;
  // One person alone sees it, so it can stand in nobody's way.
  if (ids.ephemeralId !== undefined) return true;
  if (isOfTopic({ kind }) || edits === null) return ids.threadId === route.topic;
  return ids.messageId === edits;
}

/** Deeds done to a topic itself, which show nothing in it. */
function isOfTopic({ kind }: Pick<OutboxPart, 'kind'>): boolean {
  return kind === 'close' || kind === 'open' || kind === 'rename' || kind === 'removeTopic';
}

async function takeBack({ log, transport, part }: Serving, ids: SentIds) {
  log.warn('delivery_misrouted', { delivery_id: part.id, chat_id: ids.chatId, topic: ids.threadId });
  await transport.remove(ids);
  const error = `misrouted: it landed in chat ${ids.chatId}, topic ${ids.threadId ?? 'none'}`;
  return { error, evidence: JSON.stringify({ misrouted: ids }) };
}

/* ---- what nobody knows ---- */

/** Evidence decides. When none turns up in time, the task's policy does: send again, or leave it to a person. */
async function settle(serving: Serving): Promise<PartEnd> {
  const { part, transport, clock } = serving;
  // A process died over it; doing it again is all that evidence could bring about.
  if (isRepeatable(part)) return tryAgain(part, { error: part.kind, afterMs: 0 });
  const look = { sentAt: part.doubtSince ?? part.sentAt ?? 0, resentAs: null };
  const found = await transport.settle(outgoing(part), look);
  const { evidence } = found;
  if (found.is === 'arrived') return foundThere(serving, found.ids, evidence);
  if (found.is === 'absent') {
    return tryAgain(part, { error: 'it did not arrive', afterMs: 0, evidence, settled: true });
  }
  // A clock that was set back may have left it in the future, and the looks are counted from the send.
  const now = clock.now();
  const sentAt = Math.min(part.sentAt ?? now, now);
  // Sending it again into an outage would only make another one of which nobody knows.
  if (found.isAway === true && now - sentAt < limits.unknownHoldMs) {
    const error = 'no answer, and Telegram cannot be asked for a trace of it';
    return { ...doubt(part, { error, afterMs: lookAgainMs, evidence }), isNoLook: true };
  }
  const next = limits.settleDelaysMs[part.settles + 1];
  if (next !== undefined) {
    const afterMs = Math.max(sentAt + next - now, 0);
    return doubt(part, { error: 'no answer, and no trace of it yet', afterMs, evidence });
  }
  const mayAsk = part.home !== null && part.kind !== 'answer';
  if (mayAsk && (part.unknown === 'ask' || found.asks === true)) return askAbout(serving, part, evidence);
  return sendAgain(part, { error: 'no answer, and no trace of it', afterMs: 0, evidence });
}

/**
 * A part that turned up long after its send. The topic may have been made anew since then, so the one it stands in may have
 * been the right one; what stands outside of any topic is astray, and sending it again shows whether the topic is well.
 */
async function foundThere(serving: Serving, ids: SentIds, evidence: string): Promise<PartEnd> {
  const { part } = serving;
  const { route, topic } = part;
  const isOutside = ids.threadId === null && (topic !== null || route.topic !== null);
  const isAstray = ids.chatId !== route.address || isOutside;
  if (!isAstray) {
    if (part.sends <= 1) return delivered(serving, part, { ids, evidence });
    return delivered(serving, part, await alone(serving, { ids, isAnswer: false, evidence }));
  }
  const { error } = await takeBack(serving, ids);
  return tryAgain(part, { error, afterMs: 0, evidence });
}

/** A look that failed says nothing about the part, so it stays in doubt; nothing is sent again for that. */
function lookLater(serving: Serving, error: string): PartEnd {
  const evidence = JSON.stringify({ look: error });
  return doubt(serving.part, { error, afterMs: limits.partPauseMaxMs, evidence });
}
