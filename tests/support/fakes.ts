import type {
  Budget,
  Clock,
  Evidence,
  Expressions,
  Ids,
  Log,
  Outgoing,
  Sent,
  SentIds,
  Stopwatch,
  Templates,
  Timer,
  TopicMade,
  Transport,
} from '../../src/app/ports/outside.ts';
import type { BlockedCause, Shown as Content } from '../../src/domain/shown.ts';
import { difference } from '../../src/system/expressions/difference.ts';
import { createExpressions } from '../../src/system/expressions/expressions.ts';
import { select } from '../../src/system/expressions/jsonata.ts';
import type { DifferenceAsk, Kind, SelectionAsk } from '../../src/system/pool/child.ts';
import type { Pool, Work } from '../../src/system/pool/pool.ts';
import { evaluate } from '../../src/system/templates/liquid.ts';
import { createTemplates } from '../../src/system/templates/templates.ts';

export const second = 1000;
export const minute = 60 * second;
export const hour = 60 * minute;
export const day = 24 * hour;
/** A Wednesday, nine in the morning UTC. */
export const start = Date.UTC(2026, 10, 18, 9, 0, 0);

/** A clock that moves only when told. Timers fire in order while it moves; the wall clock can be set apart from it. */
export interface ManualTime extends Clock, Stopwatch, Timer {
  /** Moves both clocks and fires what is due on the way; yields between timers so that their work can go on. */
  advance(ms: number): Promise<void>;
  /** Sets the wall clock alone, as an administrator or a wrong NTP server would. */
  setWall(now: number): void;
  /** How long until the next timer fires, or null. */
  untilTimer(): number | null;
}

/** A patient clock goes on when nothing waits for a turn any more, so that nothing is left half done when it has moved. */
export function manualTime(from: number, { isPatient = false } = {}): ManualTime {
  let [wall, mono, order, yielding] = [from, 0, 0, 0];
  const timers = new Map<number, { readonly at: number; readonly call: () => void }>();
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
  const rest = async () => {
    do await turn();
    while (isPatient && yielding > 0);
  };
  const earliest = () => {
    let found: readonly [number, { readonly at: number; readonly call: () => void }] | undefined;
    // Ids count up, so of two timers for one instant the one that was set first stays.
    for (const entry of timers) if (found === undefined || entry[1].at < found[1].at) found = entry;
    return found;
  };
  return {
    now: () => wall,
    elapsed: () => mono,
    after: (ms, call) => {
      const id = (order += 1);
      timers.set(id, { at: mono + Math.max(ms, 0), call });
      return () => timers.delete(id);
    },
    yield: async () => {
      yielding += 1;
      await turn();
      yielding -= 1;
    },
    advance: async (ms) => {
      const end = mono + ms;
      for (let due = earliest(); due !== undefined && due[1].at <= end; due = earliest()) {
        const [id, { at, call }] = due;
        timers.delete(id);
        wall += at - mono;
        mono = at;
        call();
        await rest();
      }
      wall += end - mono;
      mono = end;
      await rest();
    },
    setWall: (now) => {
      wall = now;
    },
    untilTimer: () => {
      const due = earliest();
      return due === undefined ? null : due[1].at - mono;
    },
  };
}

/** Templates as the pool evaluates them, but at once and in this process: a clock by hand does not wait for children. */
export function promptTemplates(): Templates {
  return createTemplates(async ({ ask }) => ({ is: 'done', answer: evaluate(ask) }));
}

/** Expressions as the pool evaluates them, but at once and in this process. */
export function promptExpressions(): Expressions {
  const answered = async ({ kind, ask }: Work<Kind>) => ({
    is: 'done',
    answer: kind === 'selection' ? select(ask as SelectionAsk) : difference(ask as DifferenceAsk),
  });
  return createExpressions(answered as Pool['run']);
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
  /** What a view shows stands in brackets: the words are drawn by the adapter of a real platform. */
  text: string;
}

/** A chat that does what a platform does, and fails as it is told: each fault is used up by one call. */
export interface FaultyTransport extends Transport {
  /** The same chat, with what its looks may spend. */
  within(budget: Budget): Transport;
  /** What people see, in order, but for the cards of tasks. */
  readonly shown: readonly Shown[];
  readonly cards: readonly Shown[];
  readonly pins: readonly number[];
  readonly closed: ReadonlySet<number>;
  readonly topics: readonly { readonly chatId: string; readonly id: number; readonly name: string }[];
  readonly calls: readonly string[];
  /** How the next sends go. `lost` arrives, but its answer does not; `dropped` does not arrive, and nobody says so. */
  failSends(...faults: SendFault[]): void;
  /** The same for the card, its pinning, and the door of a topic. */
  failDecoration(...faults: SendFault[]): void;
  /** The same for the naming of a topic. */
  failNames(...faults: SendFault[]): void;
  failTopics(...faults: TopicFault[]): void;
  /** That many looks for evidence throw. */
  failLooks(count: number): void;
  /** Each look for evidence spends so many calls. */
  probes(count: number): void;
  /** What a look for evidence says, instead of the truth. */
  evidence(...answers: (Evidence['is'] | 'asks' | 'away')[]): void;
  deleteTopic(id: number): void;
  /** Sends wait until the returned function is called. */
  hold(): () => void;
}

const sent = (ids: SentIds): Sent => ({ is: 'sent', ids });
const blocked = (cause: BlockedCause, error: string): Sent => ({ is: 'blocked', cause, error });

/** What goes wrong before anything is shown. */
const refusals = {
  dropped: { is: 'lost', error: 'socket hang up' },
  notSent: { is: 'unreached', error: 'connection refused' },
  rateLimited: { is: 'wait', error: 'Too Many Requests', ms: 7000 },
  refused: { is: 'refused', error: 'message is too long' },
  moot: { is: 'moot', error: 'message to edit not found' },
  topicGone: { is: 'topicGone', error: 'message thread not found' },
  moved: { is: 'moved', address: '-1009999', error: 'group chat was upgraded to a supergroup chat' },
  blocked: blocked('no_write_right', 'not enough rights to send text messages to the chat'),
  closed: blocked('topic_closed', 'TOPIC_CLOSED'),
  chatGone: blocked('chat_gone', 'bot was kicked from the supergroup chat'),
} as const satisfies Record<string, Sent>;

export type SendFault = keyof typeof refusals | 'lost' | 'misrouted' | 'throws' | 'ok';
export type TopicFault = 'lost' | 'dropped' | 'notMade' | 'rateLimited' | 'moved' | 'blocked' | 'ok';

const topicRefusals: Record<Exclude<TopicFault, 'ok' | 'lost'>, TopicMade> = {
  dropped: { is: 'lost', error: 'socket hang up' },
  notMade: { is: 'unreached', error: 'connection refused' },
  rateLimited: { is: 'wait', error: 'Too Many Requests', ms: 7000 },
  moved: { is: 'moved', address: '-1009999', error: 'group chat was upgraded to a supergroup chat' },
  blocked: { is: 'blocked', cause: 'no_topic_right', error: 'not enough rights to create a topic' },
};

export function textOf(shown: Content): string {
  if ('text' in shown) return shown.text;
  return `[${shown.view}]`;
}

/** The messages and topics of all chats, as the platform keeps them. */
class Place {
  readonly shown: Shown[] = [];
  readonly cards: Shown[] = [];
  readonly pins: number[] = [];
  readonly closed = new Set<number>();
  readonly topics: { chatId: string; id: number; name: string }[] = [];
  /** The delivery that each message came from. */
  readonly sources = new Map<number, string>();
  lastId = 1000;
  /** Cards count by themselves, so that the ids of what people wait for do not hang on them. */
  lastCardId = 900_000;

  show({ deliveryId, route, shown }: Outgoing, topic = route.topic): SentIds {
    const isCard = 'view' in shown && shown.view === 'card';
    const messageId = isCard ? (this.lastCardId += 1) : (this.lastId += 1);
    const place = isCard ? this.cards : this.shown;
    place.push({ chatId: route.address, topic, messageId, text: textOf(shown) });
    this.sources.set(messageId, deliveryId);
    return { chatId: route.address, threadId: topic, messageId };
  }

  find(messageId: number): Shown | undefined {
    return [...this.shown, ...this.cards].find((message) => message.messageId === messageId);
  }

  /** The oldest message that a delivery became, but for the one given. */
  first(deliveryId: string, except: number | null): SentIds | null {
    const found = [...this.shown, ...this.cards].find(
      ({ messageId }) => this.sources.get(messageId) === deliveryId && messageId !== except,
    );
    return found === undefined ? null : { chatId: found.chatId, threadId: found.topic, messageId: found.messageId };
  }

  send(part: Outgoing): Sent {
    if (part.edits === null) return sent(this.show(part));
    const message = this.find(part.edits);
    if (message === undefined) return refusals.moot;
    message.text = textOf(part.shown);
    return sent({ chatId: message.chatId, threadId: message.topic, messageId: message.messageId });
  }

  pin({ route, edits }: Outgoing): Sent {
    if (edits === null || this.find(edits) === undefined) return refusals.moot;
    this.pins.push(edits);
    return sent({ chatId: route.address, threadId: route.topic, messageId: edits });
  }

  door({ route }: Outgoing, open: boolean): Sent {
    const topic = route.topic ?? 0;
    if (open) this.closed.delete(topic);
    else this.closed.add(topic);
    return sent({ chatId: route.address, threadId: route.topic, messageId: topic });
  }

  /** What is gone already is as good as removed. */
  takeAway({ route, edits }: Outgoing): Sent {
    this.remove(edits ?? 0);
    return sent({ chatId: route.address, threadId: route.topic, messageId: edits ?? 0 });
  }

  rename({ route, shown }: Outgoing): Sent {
    const topic = this.topics.find(({ id }) => id === route.topic);
    if (topic === undefined) return refusals.topicGone;
    topic.name = textOf(shown);
    return sent({ chatId: route.address, threadId: route.topic, messageId: topic.id });
  }

  removeTopic({ route }: Outgoing): Sent {
    const topic = route.topic ?? 0;
    const at = this.topics.findIndex(({ id }) => id === topic);
    if (at >= 0) this.topics.splice(at, 1);
    return sent({ chatId: route.address, threadId: route.topic, messageId: topic });
  }

  isGone(topic: number | null): boolean {
    return topic !== null && !this.topics.some(({ id }) => id === topic);
  }

  remove(messageId: number): void {
    for (const list of [this.shown, this.cards]) {
      const index = list.findIndex((message) => message.messageId === messageId);
      if (index >= 0) list.splice(index, 1);
    }
  }
}

interface Faulty {
  readonly fault: SendFault;
  /** It goes wrong where the topic is gone. */
  readonly needsTopic: boolean;
  readonly does: () => Sent;
}

function afterFault(place: Place, part: Outgoing, { fault, needsTopic, does }: Faulty): Sent {
  if (fault === 'throws') throw new Error('a fault in the adapter');
  if (fault === 'misrouted') return sent(place.show(part, null));
  if (fault === 'ok') return needsTopic && place.isGone(part.route.topic) ? refusals.topicGone : does();
  if (fault !== 'lost') return refusals[fault];
  does();
  return refusals.dropped;
}

export function faultyTransport(): FaultyTransport {
  const place = new Place();
  const calls: string[] = [];
  const sendFaults: SendFault[] = [];
  const decorationFaults: SendFault[] = [];
  const nameFaults: SendFault[] = [];
  const topicFaults: TopicFault[] = [];
  const answers: (Evidence['is'] | 'asks' | 'away')[] = [];
  let [failingLooks, probesPerLook] = [0, 0];
  let budget: Budget | null = null;
  let gate: Promise<void> = Promise.resolve();

  const call = async (name: string, part: Outgoing, does: () => Sent): Promise<Sent> => {
    calls.push(`${name} ${part.deliveryId}`);
    await gate;
    const isCard = 'view' in part.shown && part.shown.view === 'card';
    const words = name !== 'send' || isCard ? decorationFaults : sendFaults;
    const faults = name === 'rename' ? nameFaults : words;
    return afterFault(place, part, { fault: faults.shift() ?? 'ok', needsTopic: !name.startsWith('remove'), does });
  };
  const chat: FaultyTransport = {
    ...place,
    calls,
    within: (given) => {
      budget = given;
      return chat;
    },
    failSends: (...faults) => sendFaults.push(...faults),
    failDecoration: (...faults) => decorationFaults.push(...faults),
    failNames: (...faults) => nameFaults.push(...faults),
    failTopics: (...faults) => topicFaults.push(...faults),
    failLooks: (count) => {
      failingLooks = count;
    },
    probes: (count) => {
      probesPerLook = count;
    },
    evidence: (...more) => answers.push(...more),
    deleteTopic: (id) => {
      place.topics.splice(0, place.topics.length, ...place.topics.filter((topic) => topic.id !== id));
    },
    hold: () => {
      let open = () => {};
      gate = new Promise((resolve) => {
        open = resolve;
      });
      return open;
    },
    send: (part) => call('send', part, () => place.send(part)),
    act: (part, deed) =>
      call(deed, part, () => {
        if (deed === 'pin') return place.pin(part);
        if (deed === 'rename') return place.rename(part);
        if (deed === 'remove') return place.takeAway(part);
        return deed === 'removeTopic' ? place.removeTopic(part) : place.door(part, deed === 'open');
      }),
    settle: async ({ deliveryId, route }, { resentAs, besides }) => {
      calls.push(`settle ${deliveryId}`);
      for (let probe = 0; probe < probesPerLook; probe += 1) {
        if (await budget?.take(route.address)) calls.push(`probe ${deliveryId}`);
      }
      if (failingLooks > 0) {
        failingLooks -= 1;
        throw new Error('a fault in the look');
      }
      return evidenceOf(answers.shift() ?? null, place.first(deliveryId, (besides ?? resentAs)?.messageId ?? null));
    },
    createTopic: async (route, name): Promise<TopicMade> => {
      calls.push(`createTopic ${name}`);
      const fault = topicFaults.shift() ?? 'ok';
      if (fault !== 'ok' && fault !== 'lost') return topicRefusals[fault];
      const id = (place.lastId += 1);
      place.topics.push({ chatId: route.address, id, name });
      return fault === 'lost' ? topicRefusals.dropped : { is: 'made', topicId: id };
    },
    findTopic: async (route, name) => {
      calls.push(`findTopic ${name}`);
      return place.topics.find((topic) => topic.chatId === route.address && topic.name === name)?.id ?? null;
    },
    remove: async ({ messageId }) => {
      calls.push(`remove ${messageId}`);
      place.remove(messageId);
    },
  };
  return chat;
}

function evidenceOf(told: Evidence['is'] | 'asks' | 'away' | null, first: SentIds | null): Evidence {
  const is = told ?? (first === null ? 'absent' : 'arrived');
  if (is === 'arrived' && first !== null) return { is, ids: first, evidence: 'seen in the chat' };
  if (is === 'away') return { is: 'undecided', evidence: 'no answer', isAway: true };
  if (is === 'asks') return { is: 'undecided', evidence: 'too many candidates', asks: true };
  return { is: is === 'arrived' ? 'undecided' : is, evidence: 'looked' };
}
