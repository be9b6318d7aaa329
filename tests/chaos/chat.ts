import type { Evidence, Outgoing, Route, Sent, SentIds, TopicMade, Transport } from '../../src/app/ports.ts';
import type { Chance } from './chance.ts';
import type { SimulatedTime } from './time.ts';

/**
 * The world outside: chats with their topics and messages. It outlives every process, and what is on its way to it when a
 * process dies arrives all the same, or does not. It never lies: a look for evidence tells what is so, or that it does not
 * know, because no program could do right by a platform that says "absent" of a message that is there.
 */
export interface Chat {
  readonly transport: Transport;
  readonly messages: readonly Message[];
  readonly topics: readonly Topic[];
  /** What was asked of the chat and what it answered, in order. */
  readonly calls: readonly Call[];
  /** How often things go wrong, from 0 to 1. */
  weather(rate: number): void;
  /** Until it is mended, the chat refuses everything for a reason that a person must mend. */
  block(chatId: string): void;
  mend(): void;
  /** A person deletes a topic, and the messages in it. */
  deleteTopic(id: number): void;
}

export interface Message {
  readonly deliveryId: string;
  readonly chatId: string;
  readonly topic: number | null;
  readonly messageId: number;
  readonly text: string;
  gone: 'removed' | 'with its topic' | null;
}

export interface Topic {
  readonly id: number;
  readonly chatId: string;
  readonly name: string;
  readonly order: number;
  deleted: boolean;
}

export interface Call {
  readonly is: 'send' | 'look' | 'topic' | 'find' | 'remove';
  /** The delivery, or the name of the topic. */
  readonly of: string;
  readonly order: number;
  /** `in flight` until the chat has answered. */
  answer: string;
  /** The message that a send became, whether or not anybody was told so. */
  messageId: number | null;
}

interface Needs {
  readonly time: SimulatedTime;
  readonly chance: Chance;
  readonly tell: (line: string) => void;
}

const sendFaults = [
  { fault: 'lost', weight: 3 },
  { fault: 'dropped', weight: 3 },
  { fault: 'notSent', weight: 2 },
  { fault: 'rateLimited', weight: 2 },
  { fault: 'refused', weight: 0.5 },
  { fault: 'blocked', weight: 1 },
  { fault: 'misrouted', weight: 1 },
  { fault: 'throws', weight: 1 },
  { fault: 'throwsLate', weight: 1 },
] as const;

const topicFaults = [
  { fault: 'lost', weight: 1 },
  { fault: 'dropped', weight: 1 },
  { fault: 'notMade', weight: 2 },
  { fault: 'blocked', weight: 1 },
  { fault: 'throws', weight: 1 },
] as const;

/** The state of the chats, and how calls go in it; see `Chat`. */
class Place {
  readonly messages: Message[] = [];
  readonly topics: Topic[] = [];
  readonly calls: Call[] = [];
  readonly blocked = new Set<string>();
  readonly inFlight = new Map<string, number>();
  rate = 0;
  lastId = 1000;
  readonly needs: Needs;

  constructor(needs: Needs) {
    this.needs = needs;
  }

  get chance(): Chance {
    return this.needs.chance;
  }

  fails(): boolean {
    return this.chance.is(this.rate);
  }

  /** Notes the call, and its answer when it comes. */
  async noted<T extends { readonly is: string }>(
    is: Call['is'],
    of: string,
    answer: (call: Call) => Promise<T>,
  ): Promise<T> {
    const call: Call = { is, of, order: this.calls.length, answer: 'in flight', messageId: null };
    this.calls.push(call);
    try {
      const told = await answer(call);
      call.answer = told.is;
      return told;
    } catch (error) {
      call.answer = 'threw';
      throw error;
    } finally {
      this.needs.tell(`  chat: ${is} ${of} -> ${call.answer}`);
    }
  }

  wait(ms: number): Promise<void> {
    return ms === 0 ? Promise.resolve() : new Promise((resolve) => this.needs.time.after(ms, resolve));
  }

  /** How long a call is on its way, and how long its answer. */
  latency(): readonly [number, number] {
    if (!this.chance.is(0.15)) return [0, 0];
    const most = this.chance.is(0.1) ? 45_000 : 4000;
    return [this.chance.between(0, most), this.chance.between(0, most)];
  }

  show({ deliveryId, route, text }: Outgoing, topic: number | null): SentIds {
    this.lastId += 1;
    const place = { chatId: route.address, topic };
    this.messages.push({ ...place, deliveryId, messageId: this.lastId, text, gone: null });
    return { chatId: route.address, threadId: topic, messageId: this.lastId };
  }

  isGone(topic: number | null): boolean {
    return topic !== null && !this.topics.some(({ id, deleted }) => id === topic && !deleted);
  }
}

async function send(place: Place, part: Outgoing, call: Call): Promise<Sent> {
  const [there, back] = place.latency();
  const fault = place.fails() ? place.chance.weigh(sendFaults).fault : null;
  if (fault === 'notSent') return { is: 'notSent', error: 'connection refused', retryAfterMs: null };
  place.inFlight.set(part.deliveryId, (place.inFlight.get(part.deliveryId) ?? 0) + 1);
  await place.wait(there);
  place.inFlight.set(part.deliveryId, (place.inFlight.get(part.deliveryId) ?? 1) - 1);
  const before = place.messages.length;
  const sent = arrive(place, part, fault);
  call.messageId = place.messages[before]?.messageId ?? null;
  await place.wait(back);
  if (fault === 'throws' || fault === 'throwsLate') throw new Error('a fault in the adapter');
  return sent;
}

function arrive(place: Place, part: Outgoing, fault: string | null): Sent {
  if (fault === 'dropped' || fault === 'throws') return { is: 'unknown', error: 'socket hang up' };
  if (fault === 'blocked') place.blocked.add(part.route.address);
  if (place.blocked.has(part.route.address))
    return { is: 'blocked', cause: 'bot_blocked', error: 'bot was blocked by the user' };
  if (fault === 'rateLimited') return { is: 'notSent', error: 'Too Many Requests', retryAfterMs: 7000 };
  if (fault === 'refused') return { is: 'refused', error: 'message is too long' };
  if (place.isGone(part.route.topic)) return { is: 'topicGone', error: 'message thread not found' };
  const ids = place.show(part, fault === 'misrouted' ? null : part.route.topic);
  return fault === 'lost' ? { is: 'unknown', error: 'socket hang up' } : { is: 'sent', ids };
}

async function look(place: Place, { deliveryId }: Outgoing): Promise<Evidence> {
  if (place.fails()) {
    if (place.chance.is(0.3)) throw new Error('a fault in the look');
    return { is: 'undecided', evidence: 'looked' };
  }
  const shown = place.messages.filter((message) => message.deliveryId === deliveryId);
  const there = shown.find(({ gone }) => gone === null);
  if (there !== undefined) {
    const { chatId, topic, messageId } = there;
    return { is: 'arrived', ids: { chatId, threadId: topic, messageId }, evidence: 'seen in the chat' };
  }
  // What was shown and is gone with its topic leaves no trace, and what is on its way may still arrive.
  const unsure = shown.some(({ gone }) => gone === 'with its topic') || (place.inFlight.get(deliveryId) ?? 0) > 0;
  return { is: unsure ? 'undecided' : 'absent', evidence: 'looked' };
}

async function createTopic(place: Place, route: Route, name: string): Promise<TopicMade> {
  const [there, back] = place.latency();
  const fault = place.fails() ? place.chance.weigh(topicFaults).fault : null;
  await place.wait(there);
  const made = makeTopic(place, route, { name, fault });
  await place.wait(back);
  if (fault === 'throws') throw new Error('a fault in the adapter');
  return made;
}

function makeTopic(place: Place, route: Route, { name, fault }: { name: string; fault: string | null }): TopicMade {
  if (fault === 'notMade') return { is: 'notMade', error: 'connection refused', retryAfterMs: null };
  if (fault === 'blocked') place.blocked.add(route.address);
  if (place.blocked.has(route.address)) return { is: 'blocked', cause: 'no_right', error: 'not enough rights' };
  if (fault === 'dropped') return { is: 'unknown', error: 'socket hang up' };
  place.lastId += 1;
  const order = place.calls.length;
  place.topics.push({ id: place.lastId, chatId: route.address, name, order, deleted: false });
  return fault === 'lost' ? { is: 'unknown', error: 'socket hang up' } : { is: 'made', topicId: place.lastId };
}

function findTopic(place: Place, route: Route, name: string): number | null {
  if (place.fails()) return null;
  const alive = place.topics.filter((topic) => !topic.deleted && topic.chatId === route.address && topic.name === name);
  return alive.at(-1)?.id ?? null;
}

export function openChat(needs: Needs): Chat {
  const place = new Place(needs);
  const transport: Transport = {
    send: (part) => place.noted('send', part.deliveryId, (call) => send(place, part, call)),
    settle: (part) => place.noted('look', part.deliveryId, () => look(place, part)),
    createTopic: (route, name) => place.noted('topic', name, () => createTopic(place, route, name)),
    findTopic: async (route, name) => {
      const found = findTopic(place, route, name);
      await place.noted('find', name, () => Promise.resolve({ is: found === null ? 'nothing' : 'found' }));
      return found;
    },
    remove: async ({ messageId }) => {
      await place.noted('remove', String(messageId), () => Promise.resolve({ is: 'removed' }));
      const message = place.messages.find((one) => one.messageId === messageId);
      if (message !== undefined) message.gone = 'removed';
    },
  };
  return {
    transport,
    messages: place.messages,
    topics: place.topics,
    calls: place.calls,
    weather: (rate) => {
      place.rate = rate;
    },
    block: (chatId) => {
      place.blocked.add(chatId);
    },
    mend: () => place.blocked.clear(),
    deleteTopic: (id) => {
      for (const topic of place.topics) if (topic.id === id) topic.deleted = true;
      for (const message of place.messages) if (message.topic === id) message.gone ??= 'with its topic';
    },
  };
}
