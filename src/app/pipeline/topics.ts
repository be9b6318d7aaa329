import * as limits from '../../domain/limits.ts';
import type { BlockedCause } from '../../domain/shown.ts';
import { isBlank } from '../../domain/task.ts';
import type { OutboxStore, TopicView } from '../ports/outbox.ts';
import type { Clock, Ids, Route, TopicMade, Transport } from '../ports/outside.ts';

/** Whether a part can go to its topic now. */
export type TopicReady =
  | { readonly is: 'ready' }
  | { readonly is: 'later'; readonly afterMs: number; readonly error: string }
  /** The platform said when to come back. */
  | { readonly is: 'held'; readonly afterMs: number; readonly error: string }
  | { readonly is: 'moved'; readonly address: string; readonly error: string }
  | { readonly is: 'blocked'; readonly cause: BlockedCause; readonly error: string };

interface Needs {
  readonly store: Pick<OutboxStore, 'beginTopic' | 'endTopic'>;
  readonly transport: Pick<Transport, 'createTopic' | 'findTopic'>;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly bootId: string;
  /** Told just before the platform is asked to make one. */
  readonly spend: () => void;
}

/** How often a topic whose creation got no answer is looked for. */
const lookAgainMs = 5000;

/** The one cause that no re-check mends: making a second topic would be a guess. */
const inDoubt = 'topic_in_doubt';
const inDoubtText = 'nobody knows whether its topic was made; say whether to make one';

/**
 * Makes a task's topic when its first result needs one. A topic is never created blindly: while an earlier creation is in
 * doubt it is looked for, and after a minute without a trace a person is asked.
 */
export async function prepareTopic(needs: Needs, topic: TopicView, route: Route): Promise<TopicReady> {
  // One creation is in flight per chat, so whoever finds it `creating` finds one whose answer was lost.
  if (topic.state === 'creating') return adopt(needs, topic, route);
  // The updates may have been late, and then even who says to make another one does not know that it is there.
  const late = topic.askedAt === null ? null : await look(needs, topic, { route, since: topic.askedAt });
  if (late !== null) return isThere(needs, topic, late);
  if (topic.cause === inDoubt) return { is: 'blocked', cause: inDoubt, error: inDoubtText };
  const name = topicName(topic.name);
  const begun = await needs.store.beginTopic({ ...topic, name }, needs.bootId, needs.clock.now());
  if (!begun) return { is: 'later', afterMs: lookAgainMs, error: 'its topic is being made' };
  needs.spend();
  return conclude(needs, topic, await needs.transport.createTopic(route, name));
}

async function adopt(needs: Needs, topic: TopicView, route: Route): Promise<TopicReady> {
  const { store, clock } = needs;
  const askedAt = topic.askedAt ?? clock.now();
  const found = await look(needs, topic, { route, since: askedAt });
  if (found !== null) return isThere(needs, topic, found);
  if (clock.now() - askedAt < limits.topicAdoptionMs) {
    return {
      is: 'later',
      afterMs: lookAgainMs,
      error: 'the answer to the creation of its topic was lost; looking for it',
    };
  }
  await store.endTopic({ taskId: topic.taskId, state: 'blocked', cause: inDoubt });
  return { is: 'blocked', cause: inDoubt, error: inDoubtText };
}

function look({ transport }: Needs, topic: TopicView, { route, since }: { route: Route; since: number }) {
  return transport.findTopic(route, topic.askedName ?? topicName(topic.name), since);
}

async function isThere({ store, ids, clock }: Needs, { taskId }: TopicView, id: number): Promise<TopicReady> {
  await store.endTopic({ taskId, state: 'ready', id, cardId: ids.next(), remadeId: ids.next(), at: clock.now() });
  return { is: 'ready' };
}

async function conclude(needs: Needs, topic: TopicView, made: TopicMade): Promise<TopicReady> {
  const { store } = needs;
  const { taskId } = topic;
  switch (made.is) {
    case 'made':
      return isThere(needs, topic, made.topicId);
    case 'notMade':
      await store.endTopic({ taskId, state: 'none', lost: false });
      if (made.retryAfterMs !== null) return { is: 'held', afterMs: made.retryAfterMs, error: made.error };
      return { is: 'later', afterMs: lookAgainMs, error: made.error };
    case 'moved':
      await store.endTopic({ taskId, state: 'none', lost: false });
      return { is: 'moved', address: made.address, error: made.error };
    case 'blocked':
      await store.endTopic({ taskId, state: 'blocked', cause: made.cause });
      return { is: 'blocked', cause: made.cause, error: made.error };
    case 'unknown':
      return { is: 'later', afterMs: lookAgainMs, error: made.error };
  }
}

/** A topic's name is the title, 1 to 128 characters; a surrogate pair at the end is not torn. */
export function topicName(title: string): string {
  const name = [...title.trim()].slice(0, 128).join('');
  return isBlank(name) ? 'task' : name;
}
