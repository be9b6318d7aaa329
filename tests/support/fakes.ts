import type {
  Clock,
  Evidence,
  Ids,
  Log,
  Outgoing,
  Sent,
  SentIds,
  Stopwatch,
  Timer,
  TopicMade,
  Transport,
} from '../../src/app/ports.ts';

/** A clock that moves only when told. Timers fire in order while it moves; the wall clock can be set apart from it. */
export interface ManualTime extends Clock, Stopwatch, Timer {
  /** Moves both clocks and fires what is due on the way; yields between timers so that their work can go on. */
  advance(ms: number): Promise<void>;
  /** Sets the wall clock alone, as an administrator or a wrong NTP server would. */
  setWall(now: number): void;
}

export function manualTime(start: number): ManualTime {
  let wall = start;
  let mono = 0;
  let order = 0;
  const timers = new Map<number, { readonly at: number; readonly call: () => void }>();
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
  const nextBefore = (end: number) =>
    [...timers].filter(([, { at }]) => at <= end).sort(([a, x], [b, y]) => x.at - y.at || a - b)[0];
  return {
    now: () => wall,
    elapsed: () => mono,
    after: (ms, call) => {
      const id = (order += 1);
      timers.set(id, { at: mono + Math.max(ms, 0), call });
      return () => timers.delete(id);
    },
    yield: turn,
    advance: async (ms) => {
      const end = mono + ms;
      for (let due = nextBefore(end); due !== undefined; due = nextBefore(end)) {
        const [id, { at, call }] = due;
        timers.delete(id);
        wall += at - mono;
        mono = at;
        call();
        await turn();
      }
      wall += end - mono;
      mono = end;
      await turn();
    },
    setWall: (now) => {
      wall = now;
    },
  };
}

/** Ids that count up, and a chance that is always in the middle. */
export function countingIds(prefix = 'id'): Ids {
  let last = 0;
  return { next: () => `${prefix}-${String((last += 1)).padStart(8, '0')}`, chance: () => 0.5 };
}

export interface MemoryLog extends Log {
  readonly lines: readonly {
    readonly level: string;
    readonly event: string;
    readonly facts: Readonly<Record<string, unknown>>;
  }[];
}

export function memoryLog(): MemoryLog {
  const lines: MemoryLog['lines'][number][] = [];
  const at =
    (level: string) =>
    (event: string, facts: Readonly<Record<string, unknown>> = {}) => {
      lines.push({ level, event, facts });
    };
  return { lines, debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

export interface Shown {
  readonly chatId: string;
  readonly topic: number | null;
  readonly messageId: number;
  readonly text: string;
}

/** A chat that does what a platform does, and fails as it is told: each fault is used up by one call. */
export interface FaultyTransport extends Transport {
  /** What people see, in order. */
  readonly shown: readonly Shown[];
  readonly topics: readonly { readonly chatId: string; readonly id: number; readonly name: string }[];
  readonly calls: readonly string[];
  /** How the next sends go. `lost` arrives, but its answer does not; `dropped` does not arrive, and nobody says so. */
  failSends(...faults: SendFault[]): void;
  failTopics(...faults: TopicFault[]): void;
  /** That many looks for evidence throw. */
  failLooks(count: number): void;
  /** What a look for evidence says, instead of the truth. */
  evidence(...answers: Evidence['is'][]): void;
  deleteTopic(id: number): void;
  /** Sends wait until the returned function is called. */
  hold(): () => void;
}

export type SendFault =
  | 'lost'
  | 'dropped'
  | 'notSent'
  | 'rateLimited'
  | 'refused'
  | 'blocked'
  | 'misrouted'
  | 'throws'
  | 'ok';
export type TopicFault = 'lost' | 'dropped' | 'notMade' | 'blocked' | 'ok';

export function faultyTransport(): FaultyTransport {
  const shown: Shown[] = [];
  const topics: { chatId: string; id: number; name: string }[] = [];
  const calls: string[] = [];
  const sendFaults: SendFault[] = [];
  const topicFaults: TopicFault[] = [];
  const answers: Evidence['is'][] = [];
  const arrived = new Map<string, SentIds>();
  let lastId = 1000;
  let failingLooks = 0;
  let gate: Promise<void> = Promise.resolve();

  const show = ({ deliveryId, route, text }: Outgoing, topic = route.topic): SentIds => {
    lastId += 1;
    shown.push({ chatId: route.address, topic, messageId: lastId, text });
    const ids = { chatId: route.address, threadId: topic, messageId: lastId };
    arrived.set(deliveryId, ids);
    return ids;
  };
  const outcomes: Record<SendFault, (part: Outgoing) => Sent> = {
    ok: (part) => ({ is: 'sent', ids: show(part) }),
    lost: (part) => {
      show(part);
      return { is: 'unknown', error: 'socket hang up' };
    },
    dropped: () => ({ is: 'unknown', error: 'socket hang up' }),
    notSent: () => ({ is: 'notSent', error: 'connection refused', retryAfterMs: null }),
    rateLimited: () => ({ is: 'notSent', error: 'Too Many Requests', retryAfterMs: 7000 }),
    refused: () => ({ is: 'refused', error: 'message is too long' }),
    blocked: () => ({ is: 'blocked', cause: 'bot_blocked', error: 'bot was blocked by the user' }),
    misrouted: (part) => ({ is: 'sent', ids: show(part, null) }),
    throws: () => {
      throw new Error('a fault in the adapter');
    },
  };
  return {
    shown,
    topics,
    calls,
    failSends: (...faults) => sendFaults.push(...faults),
    failTopics: (...faults) => topicFaults.push(...faults),
    failLooks: (count) => {
      failingLooks = count;
    },
    evidence: (...more) => answers.push(...more),
    deleteTopic: (id) => {
      topics.splice(0, topics.length, ...topics.filter((topic) => topic.id !== id));
    },
    hold: () => {
      let open = () => {};
      gate = new Promise((resolve) => {
        open = resolve;
      });
      return open;
    },
    send: async (part) => {
      calls.push(`send ${part.deliveryId}`);
      await gate;
      const topic = part.route.topic;
      if (topic !== null && !topics.some(({ id }) => id === topic))
        return { is: 'topicGone', error: 'message thread not found' };
      return outcomes[sendFaults.shift() ?? 'ok'](part);
    },
    settle: async (part) => {
      calls.push(`settle ${part.deliveryId}`);
      if (failingLooks > 0) {
        failingLooks -= 1;
        throw new Error('a fault in the look');
      }
      const ids = arrived.get(part.deliveryId);
      const told = answers.shift() ?? (ids === undefined ? 'absent' : 'arrived');
      if (told === 'arrived' && ids !== undefined) return { is: 'arrived', ids, evidence: 'seen in the chat' };
      return { is: told === 'arrived' ? 'undecided' : told, evidence: 'looked' };
    },
    createTopic: async (route, name): Promise<TopicMade> => {
      calls.push(`createTopic ${name}`);
      const fault = topicFaults.shift() ?? 'ok';
      if (fault === 'notMade') return { is: 'notMade', error: 'connection refused', retryAfterMs: null };
      if (fault === 'blocked')
        return { is: 'blocked', cause: 'no_right', error: 'not enough rights to create a topic' };
      if (fault === 'dropped') return { is: 'unknown', error: 'socket hang up' };
      lastId += 1;
      topics.push({ chatId: route.address, id: lastId, name });
      return fault === 'lost' ? { is: 'unknown', error: 'socket hang up' } : { is: 'made', topicId: lastId };
    },
    findTopic: async (route, name) => {
      calls.push(`findTopic ${name}`);
      return topics.find((topic) => topic.chatId === route.address && topic.name === name)?.id ?? null;
    },
    remove: async ({ messageId }) => {
      calls.push(`remove ${messageId}`);
      const index = shown.findIndex((message) => message.messageId === messageId);
      if (index >= 0) shown.splice(index, 1);
    },
  };
}
