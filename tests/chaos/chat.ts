import type { Evidence, Look, Outgoing, Sent, SentIds, TopicMade, Transport } from '../../src/app/ports/outside.ts';
import type { Thread } from '../../src/domain/thread.ts';
import type { Chance } from '../support/chance.ts';
import { textOf, type ManualTime } from '../support/fakes.ts';
import { openSiege, type Siege } from './siege.ts';

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
  /** A fault that meets every call. */
  readonly siege: Siege<LastingFault>;
  /** Until it is mended, the chat refuses everything for a reason that a person must mend. */
  block(chatId: string): void;
  mend(): void;
  /** A person deletes a topic, and the messages in it. */
  deleteTopic(id: number): void;
  /** The group is moved to another address, with all that is in it. */
  move(chatId: string): string;
  /** Where what had that address is now. */
  whereIs(chatId: string): string;
  isOnItsWay(deliveryId: string): boolean;
  /** Messages that were pinned, in order. */
  readonly pins: readonly number[];
}

export interface Message {
  readonly deliveryId: string;
  readonly chatId: string;
  readonly topic: number | null;
  readonly messageId: number;
  text: string;
  readonly isCard: boolean;
  gone: 'removed' | 'with its topic' | null;
}

export interface Topic {
  readonly id: number;
  chatId: string;
  name: string;
  readonly order: number;
  readonly madeAt: number;
  deleted: boolean;
  closed: boolean;
}

export interface Call {
  readonly is: 'send' | 'pin' | 'door' | 'look' | 'topic' | 'find' | 'remove';
  /** The delivery, or the name of the topic. */
  readonly of: string;
  readonly order: number;
  /** `in flight` until the chat has answered. */
  answer: string;
  /** The message that a send became, whether or not anybody was told so. */
  messageId: number | null;
}

interface ChatDeps {
  readonly time: ManualTime;
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
  { fault: 'chatGone', weight: 0.3 },
] as const;

const topicFaults = [
  { fault: 'lost', weight: 1 },
  { fault: 'dropped', weight: 1 },
  { fault: 'notMade', weight: 2 },
  { fault: 'blocked', weight: 1 },
  { fault: 'throws', weight: 1 },
] as const;

type SendFault = (typeof sendFaults)[number]['fault'];
type TopicFault = (typeof topicFaults)[number]['fault'] | 'rateLimited';

/** Faults that go on, by what becomes of a send and of a new topic; no look finds anything while they do, but for `astray`. */
const lastingFaults = {
  /** Out of reach, in trouble of its own, or a token that is refused. */
  away: ['notSent', 'notMade'],
  flooded: ['rateLimited', 'rateLimited'],
  /** A gateway answers with pages of its own. */
  cut: ['dropped', 'dropped'],
  /** What is asked for is done, and every answer is lost or cannot be read. */
  unheard: ['lost', 'lost'],
  astray: ['misrouted', null],
  broken: ['throwsLate', 'throws'],
} as const;

export type LastingFault = keyof typeof lastingFaults;
export const allLastingFaults = Object.keys(lastingFaults) as LastingFault[];

/** The state of the chats, and how calls go in it; see `Chat`. */
class Place {
  readonly messages: Message[] = [];
  readonly topics: Topic[] = [];
  readonly calls: Call[] = [];
  readonly pins: number[] = [];
  /** Why a chat refuses everything. */
  readonly blocked = new Map<string, 'no_write_right' | 'no_topic_right' | 'chat_gone'>();
  readonly moved = new Map<string, string>();
  readonly inFlight = new Map<string, number>();
  rate = 0;
  readonly siege: Siege<LastingFault>;
  lastId = 1000;
  readonly needs: ChatDeps;

  constructor(needs: ChatDeps) {
    this.needs = needs;
    this.siege = openSiege(() => needs.time.elapsed());
  }

  get chance(): Chance {
    return this.needs.chance;
  }

  sendFault(): SendFault | null {
    const lasting = this.siege.fault;
    if (lasting !== null) return lastingFaults[lasting][0];
    return this.chance.is(this.rate) ? this.chance.weigh(sendFaults).fault : null;
  }

  topicFault(): TopicFault | null {
    const lasting = this.siege.fault;
    if (lasting !== null) return lastingFaults[lasting][1];
    return this.chance.is(this.rate) ? this.chance.weigh(topicFaults).fault : null;
  }

  isBlind(): boolean {
    const lasting = this.siege.fault;
    return lasting === null ? this.chance.is(this.rate) : lasting !== 'astray';
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

  show({ deliveryId, route, shown }: Outgoing, topic: number | null): SentIds {
    this.lastId += 1;
    const place = { chatId: route.address, topic };
    const isCard = 'view' in shown && shown.view === 'card';
    this.messages.push({ ...place, deliveryId, messageId: this.lastId, text: textOf(shown), isCard, gone: null });
    return { chatId: route.address, threadId: topic, messageId: this.lastId };
  }

  whereIs(chatId: string): string {
    const next = this.moved.get(chatId);
    return next === undefined ? chatId : this.whereIs(next);
  }

  refusal(chatId: string): Extract<Sent, { is: 'blocked' | 'moved' }> | null {
    const address = this.whereIs(chatId);
    if (address !== chatId) return { is: 'moved', address, error: 'group chat was upgraded to a supergroup chat' };
    const cause = this.blocked.get(chatId);
    return cause === undefined ? null : { is: 'blocked', cause, error: `refused: ${cause}` };
  }

  deleteTopic(id: number | null): void {
    for (const topic of this.topics) if (topic.id === id) topic.deleted = true;
    for (const message of this.messages) if (message.topic === id) message.gone ??= 'with its topic';
  }

  isGone(topic: number | null): boolean {
    return topic !== null && !this.topics.some(({ id, deleted }) => id === topic && !deleted);
  }
}

type Effect = (place: Place, part: Outgoing, fault: string | null) => Sent;

async function send(place: Place, part: Outgoing, { call, effect }: { call: Call; effect: Effect }): Promise<Sent> {
  const [there, back] = place.latency();
  const fault = place.sendFault();
  if (fault === 'notSent') return { is: 'unreached', error: 'connection refused' };
  place.inFlight.set(part.deliveryId, (place.inFlight.get(part.deliveryId) ?? 0) + 1);
  await place.wait(there);
  place.inFlight.set(part.deliveryId, (place.inFlight.get(part.deliveryId) ?? 1) - 1);
  const before = place.messages.length;
  const sent = arrive(place, part, { fault, effect });
  call.messageId = place.messages[before]?.messageId ?? null;
  await place.wait(back);
  if (fault === 'throws' || fault === 'throwsLate') throw new Error('a fault in the adapter');
  return sent;
}

function arrive(place: Place, part: Outgoing, { fault, effect }: { fault: string | null; effect: Effect }): Sent {
  const { address, topic } = part.route;
  if (fault === 'dropped' || fault === 'throws') return { is: 'lost', error: 'socket hang up' };
  if (fault === 'blocked') place.blocked.set(place.whereIs(address), 'no_write_right');
  if (fault === 'chatGone') place.blocked.set(place.whereIs(address), 'chat_gone');
  const refusal = place.refusal(address);
  if (refusal !== null) return refusal;
  if (fault === 'rateLimited') return { is: 'wait', error: 'Too Many Requests', ms: 7000 };
  if (fault === 'refused') return { is: 'refused', error: 'message is too long' };
  if (effect !== removes && effect !== removesTopic && place.isGone(topic))
    return { is: 'topicGone', error: 'message thread not found' };
  const sent = effect(place, part, fault);
  return fault === 'lost' ? { is: 'lost', error: 'socket hang up' } : sent;
}

const shows: Effect = (place, part, fault) => {
  const { edits, route, shown } = part;
  if (edits === null) return { is: 'sent', ids: place.show(part, fault === 'misrouted' ? null : route.topic) };
  const message = place.messages.find(({ messageId, gone }) => messageId === edits && gone === null);
  if (message === undefined) return { is: 'moot', error: 'message to edit not found' };
  message.text = textOf(shown);
  return { is: 'sent', ids: { chatId: route.address, threadId: message.topic, messageId: edits } };
};

const pins: Effect = (place, { edits, route }) => {
  const message = place.messages.find(({ messageId, gone }) => messageId === edits && gone === null);
  if (message === undefined) return { is: 'moot', error: 'message to pin not found' };
  place.pins.push(message.messageId);
  return { is: 'sent', ids: { chatId: route.address, threadId: message.topic, messageId: message.messageId } };
};

const turns =
  (open: boolean): Effect =>
  (place, { route }) => {
    const topic = place.topics.find(({ id }) => id === route.topic);
    if (topic !== undefined) topic.closed = !open;
    return { is: 'sent', ids: { chatId: route.address, threadId: route.topic, messageId: route.topic ?? 0 } };
  };

/** What is gone already is as good as removed. */
const removes: Effect = (place, { edits, route }) => {
  const message = place.messages.find(({ messageId }) => messageId === edits);
  if (message !== undefined) message.gone ??= 'removed';
  return { is: 'sent', ids: { chatId: route.address, threadId: route.topic, messageId: edits ?? 0 } };
};

const renames: Effect = (place, { route, shown }) => {
  const topic = place.topics.find(({ id, deleted }) => id === route.topic && !deleted);
  if (topic === undefined) return { is: 'topicGone', error: 'message thread not found' };
  topic.name = textOf(shown);
  return { is: 'sent', ids: { chatId: route.address, threadId: topic.id, messageId: topic.id } };
};

const removesTopic: Effect = (place, { route }) => {
  place.deleteTopic(route.topic);
  return { is: 'sent', ids: { chatId: route.address, threadId: route.topic, messageId: route.topic ?? 0 } };
};

async function look(place: Place, { deliveryId, route }: Outgoing, { resentAs, besides }: Look): Promise<Evidence> {
  if (place.isBlind()) {
    if (place.chance.is(0.3)) throw new Error('a fault in the look');
    const blind = { is: 'undecided', evidence: 'looked' } as const;
    return place.chance.is(0.5) ? { ...blind, isAway: true } : blind;
  }
  // At the old address of a chat nothing can be looked for.
  if (place.whereIs(route.address) !== route.address) return { is: 'undecided', evidence: 'moved' };
  const shown = place.messages.filter(
    (message) => message.deliveryId === deliveryId && message.messageId !== (besides ?? resentAs)?.messageId,
  );
  const there = shown.find(({ gone }) => gone === null);
  if (there !== undefined) {
    const { topic, messageId } = there;
    const ids = { chatId: place.whereIs(there.chatId), threadId: topic, messageId };
    return { is: 'arrived', ids, evidence: 'seen in the chat' };
  }
  // What was shown and is gone with its topic leaves no trace, and what is on its way may still arrive.
  const unsure = shown.some(({ gone }) => gone === 'with its topic') || (place.inFlight.get(deliveryId) ?? 0) > 0;
  return { is: unsure ? 'undecided' : 'absent', evidence: 'looked' };
}

async function createTopic(place: Place, route: Thread, name: string): Promise<TopicMade> {
  const [there, back] = place.latency();
  const fault = place.topicFault();
  await place.wait(there);
  const made = makeTopic(place, route, { name, fault });
  await place.wait(back);
  if (fault === 'throws') throw new Error('a fault in the adapter');
  return made;
}

function makeTopic(
  place: Place,
  route: Thread,
  { name, fault }: { name: string; fault: TopicFault | null },
): TopicMade {
  if (fault === 'notMade') return { is: 'unreached', error: 'connection refused' };
  if (fault === 'blocked') place.blocked.set(place.whereIs(route.address), 'no_topic_right');
  const refusal = place.refusal(route.address);
  if (refusal !== null) return refusal;
  if (fault === 'rateLimited') return { is: 'wait', error: 'Too Many Requests', ms: 7000 };
  if (fault === 'dropped') return { is: 'lost', error: 'socket hang up' };
  place.lastId += 1;
  const [order, madeAt] = [place.calls.length, place.needs.time.now()];
  place.topics.push({ id: place.lastId, chatId: route.address, name, order, madeAt, deleted: false, closed: false });
  return fault === 'lost' ? { is: 'lost', error: 'socket hang up' } : { is: 'made', topicId: place.lastId };
}

function findTopic(place: Place, route: Thread, name: string): number | null {
  if (place.isBlind()) return null;
  const alive = place.topics.filter(
    (topic) => !topic.deleted && topic.chatId === place.whereIs(route.address) && topic.name === name,
  );
  return alive.at(-1)?.id ?? null;
}

const effects = {
  pin: pins,
  close: turns(false),
  open: turns(true),
  rename: renames,
  remove: removes,
  removeTopic: removesTopic,
};

export function openChat(needs: ChatDeps): Chat {
  const place = new Place(needs);
  const transport: Transport = {
    send: (part) => place.noted('send', part.deliveryId, (call) => send(place, part, { call, effect: shows })),
    act: (part, deed) =>
      place.noted(deed === 'pin' ? 'pin' : 'door', part.deliveryId, (call) =>
        send(place, part, { call, effect: effects[deed] }),
      ),
    settle: (part, told) => place.noted('look', part.deliveryId, () => look(place, part, told)),
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
    pins: place.pins,
    isOnItsWay: (deliveryId) => (place.inFlight.get(deliveryId) ?? 0) > 0,
    whereIs: (chatId) => place.whereIs(chatId),
    move: (chatId) => {
      const address = `${place.whereIs(chatId)}7`;
      place.moved.set(place.whereIs(chatId), address);
      for (const topic of place.topics) topic.chatId = place.whereIs(topic.chatId);
      return address;
    },
    weather: (rate) => {
      place.rate = rate;
    },
    siege: place.siege,
    block: (chatId) => {
      place.blocked.set(chatId, 'no_write_right');
    },
    mend: () => place.blocked.clear(),
    deleteTopic: (id) => place.deleteTopic(id),
  };
}
