import * as limits from '../domain/limits.ts';
import type { Clock, Route, TopicMade, Transport } from './ports.ts';
import type { OutboxStore, TopicView } from './store.ts';

/** Whether a part can go to its topic now. */
export type TopicReady =
  | { readonly is: 'ready' }
  | { readonly is: 'later'; readonly afterMs: number; readonly error: string }
  | { readonly is: 'blocked'; readonly cause: string; readonly error: string };

interface Needs {
  readonly store: Pick<OutboxStore, 'beginTopic' | 'endTopic'>;
  readonly transport: Pick<Transport, 'createTopic' | 'findTopic'>;
  readonly clock: Clock;
  readonly bootId: string;
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
  if (topic.cause === inDoubt) return { is: 'blocked', cause: inDoubt, error: inDoubtText };
  const begun = await needs.store.beginTopic(
    { ...topic, name: topicName(topic.name) },
    needs.bootId,
    needs.clock.now(),
  );
  if (!begun) return { is: 'later', afterMs: lookAgainMs, error: 'its topic is being made' };
  return conclude(needs, topic, await needs.transport.createTopic(route, topicName(topic.name)));
}

async function adopt({ store, transport, clock }: Needs, topic: TopicView, route: Route): Promise<TopicReady> {
  const askedAt = topic.askedAt ?? clock.now();
  const found = await transport.findTopic(route, topic.askedName ?? topicName(topic.name), askedAt);
  if (found !== null) {
    await store.endTopic({ taskId: topic.taskId, state: 'ready', id: found });
    return { is: 'ready' };
  }
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

async function conclude({ store }: Needs, topic: TopicView, made: TopicMade): Promise<TopicReady> {
  const { taskId } = topic;
  switch (made.is) {
    case 'made':
      await store.endTopic({ taskId, state: 'ready', id: made.topicId });
      return { is: 'ready' };
    case 'notMade':
      await store.endTopic({ taskId, state: 'none' });
      return { is: 'later', afterMs: made.retryAfterMs ?? lookAgainMs, error: made.error };
    case 'blocked':
      await store.endTopic({ taskId, state: 'blocked', cause: made.cause });
      return { is: 'blocked', cause: made.cause, error: made.error };
    case 'unknown':
      return { is: 'later', afterMs: lookAgainMs, error: made.error };
  }
}

/** A topic's name is the title, 1 to 128 characters; a surrogate pair at the end is not torn. */
function topicName(title: string): string {
  const name = [...title.trim()].slice(0, 128).join('');
  return name === '' ? 'task' : name;
}
