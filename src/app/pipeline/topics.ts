import * as limits from '../../domain/limits.ts';
import { beginningOf, isBlank } from '../../domain/task.ts';
import { createRecent } from '../operations/recent.ts';
import type { ChatStore } from '../ports/chats.ts';
import type { OutboxPart, OutboxStore, PartEnd, TopicLoss, TopicView } from '../ports/outbox.ts';
import type { CallFault, Transport, World } from '../ports/outside.ts';

/** The topic is there. `mayLeave` says whether the part that waited for it is claimed to be sent there. */
export type TopicReady =
  | { readonly is: 'ready'; readonly id: number; readonly lostAt: number | null; readonly mayLeave: boolean }
  | CallFault;

interface TopicDeps extends Pick<World, 'clock' | 'ids'> {
  readonly store: Pick<OutboxStore, 'beginTopic' | 'endTopic' | 'joinTopic'>;
  readonly transport: Pick<Transport, 'createTopic' | 'findTopic'>;
  readonly bootId: string;
  /** The first part that needs it. */
  readonly part: Pick<OutboxPart, 'id' | 'fence' | 'route'>;
  /** Whether the part may leave as soon as its topic is there. */
  readonly mayFollow: () => boolean | Promise<boolean>;
  /** Told just before Telegram is asked to make one. */
  readonly spend: () => void;
}

/** The one cause that no re-check mends: making a second topic would be a guess. */
const inDoubt: CallFault = {
  is: 'blocked',
  cause: 'topic_in_doubt',
  error: 'nobody knows whether its topic was made; say whether to make one',
};

/**
 * Makes a task's topic when its first result needs one. Of tasks that share one the first that needs it makes it, and while
 * nobody knows whether it is there the others see to that one.
 */
export async function prepareTopic(deps: TopicDeps, topic: TopicView): Promise<TopicReady> {
  if (!topic.isShared) return makeTopic(deps, topic);
  const shared = await deps.store.joinTopic(topic.taskId);
  if (shared.is === 'ready') return isThere(deps, { ...topic, lostAt: shared.lostAt }, shared.id);
  return makeTopic(deps, shared.maker);
}

/**
 * A topic is never created blindly: while an earlier creation is in doubt it is looked for, and after a minute without a
 * trace a person is asked.
 */
async function makeTopic(deps: TopicDeps, topic: TopicView): Promise<TopicReady> {
  const { store, transport, clock, bootId, part } = deps;
  // The updates may have been late, and then even who says to make another one does not know that it is there.
  const found = await look(deps, topic);
  if (found !== null) return isThere(deps, topic, found);
  // One creation is in flight per chat, so whoever finds it `creating` finds one whose answer was lost.
  if (topic.state === 'creating') return waitForTrace(deps, topic);
  if (topic.cause === 'topic_in_doubt') return inDoubt;
  const name = topicName(topic.name);
  if (!(await store.beginTopic({ ...topic, name }, bootId, clock.now())))
    return { is: 'unreached', error: 'its topic is being made' };
  deps.spend();
  const made = await transport.createTopic(part.route, name);
  if (made.is === 'made') return isThere(deps, topic, made.topicId);
  const { taskId } = topic;
  if (made.is === 'blocked') await store.endTopic({ taskId, state: 'blocked', cause: made.cause });
  else if (made.is !== 'lost') await store.endTopic({ taskId, state: 'none', lost: null, at: clock.now() });
  return made;
}

async function look({ transport, part }: TopicDeps, { askedAt, askedName, name }: TopicView) {
  return askedAt === null ? null : transport.findTopic(part.route, askedName ?? topicName(name), askedAt);
}

async function waitForTrace({ store, clock }: TopicDeps, { taskId, askedAt }: TopicView): Promise<CallFault> {
  const now = clock.now();
  if (now - (askedAt ?? now) < limits.topicAdoptionMs)
    return { is: 'lost', error: 'the answer to the creation of its topic was lost; looking for it' };
  await store.endTopic({ taskId, state: 'blocked', cause: 'topic_in_doubt' });
  return inDoubt;
}

/** The part that waited is on its way from the moment on at which its topic is known to be there. */
async function isThere(deps: TopicDeps, { taskId, lostAt }: TopicView, id: number): Promise<TopicReady> {
  const { store, ids, clock, part, mayFollow } = deps;
  const at = clock.now();
  const ready = { taskId, state: 'ready', id, cardId: ids.next(), remadeId: ids.next(), at } as const;
  const mayLeave = await store.endTopic(
    (await mayFollow()) ? { ...ready, first: { id: part.id, fence: part.fence } } : ready,
  );
  return { is: 'ready', id, lostAt, mayLeave };
}

const topicNameMax = 128;

/** A topic's name is the title, 1 to 128 code points; what people see as one character is not torn. */
export function topicName(title: string): string {
  const name = beginningOf(title.trim(), topicNameMax, [...title.trim()].slice(0, topicNameMax).join('').length);
  return isBlank(name) ? 'task' : name;
}

/* ---- topics that are no good any more, and parts that wait until they are ---- */

/**
 * The topic is made again by whatever needs it next. False when that was done within the last hour: whoever takes topics away
 * goes on, and would be given new ones without end.
 */
export async function giveUpTopic(
  { store, clock }: Pick<World, 'clock'> & { readonly store: Pick<OutboxStore, 'endTopic'> },
  { lostAt, taskId }: TopicView,
  lost: TopicLoss,
): Promise<boolean> {
  const at = clock.now();
  if (lostAt !== null && lostAt <= at && at - lostAt < limits.topicHealEveryMs) return false;
  await store.endTopic({ taskId, state: 'none', lost, at });
  return true;
}

interface LookDeps extends Pick<World, 'clock' | 'stopwatch' | 'bell'> {
  readonly store: Pick<ChatStore, 'retryBlocked'>;
}

/** Chats of which the last look is remembered; one that is forgotten is looked at once more. */
const lookedAtMax = 10_000;

/**
 * Parts that wait for something to be mended go at once where there is a sign of that, at most so often in each chat; a
 * clear hint always counts.
 */
export function createSecondLook({ store, clock, stopwatch, bell }: LookDeps, everyMs: number) {
  const lookedAt = createRecent<true>(lookedAtMax, { ms: everyMs, stopwatch });
  return async (key: string, chatIdOf: () => Promise<string | null>, isHint = false): Promise<void> => {
    if (!isHint && lookedAt.has(key)) return;
    lookedAt.put(key, true);
    const chatId = await chatIdOf();
    if (chatId === null) return;
    const waiting = await store.retryBlocked({ chatId, taskId: null, inDoubt: false }, clock.now());
    if (waiting > 0) bell.ring('deliverer');
  };
}

/** A part as it has ended. */
export interface Ended {
  readonly chatId: string;
  readonly end: PartEnd;
}

/** A first look is worth it so soon; each later one comes when the trouble has lasted twice as long. */
const scoutMinMs = 30_000;

/**
 * Of the parts of a chat that were led astray one is the scout: it is sent again after as long as the trouble has lasted so
 * far, and when it lands the others go, which would only have been taken back as well. Where another part lands in its topic
 * they may go too, once an hour, because it may be one topic alone that leads astray.
 */
export function createLedAstray(deps: LookDeps) {
  const scouts = new Map<string, { readonly id: string; readonly since: number; readonly due: number }>();
  const lookAgain = createSecondLook(deps, limits.topicHealEveryMs);
  const scouted = (one: Ended): Ended => {
    const { chatId, end } = one;
    if (end.status !== 'blocked' || end.cause !== 'topic_astray') return one;
    const now = deps.stopwatch.elapsed();
    const { id = end.id, since = now, due = now } = scouts.get(chatId) ?? {};
    // A scout that did not come back is no more.
    if (id !== end.id && due + scoutMinMs > now) return one;
    // A stopwatch counts parts of milliseconds, which no column of instants takes.
    const afterMs = Math.min(Math.max(Math.ceil(now - since), scoutMinMs), end.afterMs);
    scouts.set(chatId, { id: end.id, since, due: now + afterMs });
    return { chatId, end: { ...end, afterMs } };
  };
  return async (batch: readonly Ended[]): Promise<readonly Ended[]> => {
    for (const { chatId, end } of batch) {
      const scout = scouts.get(chatId);
      if (scout === undefined || end.status !== 'delivered' || end.ids.threadId === null) continue;
      const isBack = scout.id === end.id;
      if (isBack) scouts.delete(chatId);
      await lookAgain(chatId, async () => chatId, isBack);
    }
    return batch.map(scouted);
  };
}
