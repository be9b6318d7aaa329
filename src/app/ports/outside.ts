import type { Actor } from '../../domain/access.ts';
import type { DeliveryDeed } from '../../domain/delivery.ts';
import type { BlockedCause, Shown, View } from '../../domain/shown.ts';
import type { Task } from '../../domain/task.ts';
import type { Thread } from '../../domain/thread.ts';
import type { OnlyFor } from './chats.ts';

/** The wall clock, for instants that mean something to people and survive a restart. */
export interface Clock {
  now(): number;
}

/** The monotonic clock, for timeouts and pacing: it never jumps, and means nothing across processes. */
export interface Stopwatch {
  elapsed(): number;
}

export interface Timer {
  /** Calls back once after `ms`; the returned function calls it off. */
  after(ms: number, call: () => void): () => void;
  /** Gives other work of the process a turn. */
  yield(): Promise<void>;
}

export interface Ids {
  /** Unique, and counting up with time, so that ids of one table sort by age. */
  next(): string;
  /** A number in [0, 1). */
  chance(): number;
}

export interface Digest {
  /** A collision-free short form of a text. */
  of(text: string): string;
  /** The SHA-256 of bytes that are given piece by piece. */
  ofBytes(): { add(bytes: Uint8Array): void; hex(): string };
}

type Facts = Readonly<Record<string, unknown>>;

/** One event name per meaning, ids as facts; texts of people never go to the log. */
export interface Log {
  debug(event: string, facts?: Facts): void;
  info(event: string, facts?: Facts): void;
  warn(event: string, facts?: Facts): void;
  error(event: string, facts?: Facts): void;
}

/** A text of a person that is evaluated, where it stands in the task, and by example the variables that a run gives it. */
export interface WrittenText {
  readonly language: 'liquid' | 'jsonata';
  /** Such as `instructions` or `action.url`: a refusal names it. */
  readonly field: string;
  readonly text: string;
  readonly variables: Facts;
}

/** Evaluates templates elsewhere, at the expense of the person who owns them. */
export interface Templates {
  /**
   * Tries it with variables of the shape that a run gives it. Throws `invalid_template` with the place of the fault, for a
   * setting of an action `invalid_action`, or `quota_exceeded` when it cannot be done now.
   */
  check(template: Omit<WrittenText, 'language'>, owner: Actor): Promise<void>;
  render(text: string, owner: Actor, variables: Facts): Promise<Rendered>;
}

export type LoopName = 'scheduler' | 'runner' | 'deliverer' | 'acks' | 'housekeeper';
export type Rendered = { readonly is: 'done'; readonly text: string } | Unevaluated;

export type Unevaluated =
  | { readonly is: 'retry'; readonly error: string; readonly afterMs: number; readonly isFree: true }
  /** `fault` is the bare fault, for whoever tells where the text stands; `isHarmful` when to try it again would harm the work of others. */
  | { readonly is: 'giveUp'; readonly error: string; readonly fault: string; readonly isHarmful?: true };

/** Evaluates expressions elsewhere, at the expense of the person who owns them. */
export interface Expressions {
  /** Looks whether it can be read. Throws `invalid_action` with the place of the fault, or `quota_exceeded` when that cannot be done now. */
  check(expression: Pick<WrittenText, 'field' | 'text'>, owner: Actor): Promise<void>;
  /** The value that a JSONata expression chooses; null where it finds nothing. */
  select(expression: string, owner: Actor, input: unknown): Promise<Selected>;
  /** The lines in which two texts differ, for people; null where that cannot be told now, or is too much to be read. */
  difference(before: string, after: string, owner: Actor): Promise<string | null>;
}

export type Selected = { readonly is: 'done'; readonly value: unknown } | Unevaluated;

/** Rings when a committed row is ready for a loop. Only a hint: a lost ring costs time, never work. */
export interface Bell {
  ring(loop: LoopName): void;
}

/** Copies of the whole database. Both throw when the disk does not do what it should. */
export interface Backups {
  /** Makes a copy and proves that it can be read; when it fails nothing of it is left. */
  make(now: number): Promise<{ readonly file: string; readonly bytes: number }>;
  /** Removes all but the newest copies, and answers how many. */
  prune(keep: number): Promise<number>;
  /** Reads every page; what is wrong keeps the product from being ready until a later check finds nothing. */
  check(): Promise<string | null>;
}

/* ---- the chat: what a delivery needs of it ---- */

export interface SentIds {
  readonly chatId: string;
  readonly threadId: number | null;
  /** 0 for a message that one person alone sees. */
  readonly messageId: number;
  /** Its number instead, for that person. */
  readonly ephemeralId?: number;
  /** Of an album, the numbers of the messages after the first. */
  readonly more?: readonly number[];
}

/** The task of a result, as far as the buttons below it need that, as it stood when the part was claimed. */
export interface ResultTask extends Pick<Task, 'id' | 'state' | 'number' | 'title' | 'isTopicShared'> {
  readonly action: { readonly kind: string };
  readonly policies: { readonly ack?: unknown };
}

/** One part: the content, and where it must arrive. */
export interface Part {
  readonly taskId: string | null;
  readonly runId: string | null;
  readonly route: Thread;
  readonly shown: Shown;
  /** The message of ours that it changes or removes; null for a new one. */
  readonly edits: number | null;
  /** Without a sound. */
  readonly silent: boolean;
  /** The one person who sees it, where Telegram can do that. */
  readonly onlyFor: OnlyFor | null;
  /** Null for what is no result of a task. */
  readonly resultOf: ResultTask | null;
}

/** A part on its way. */
export interface Outgoing extends Part {
  readonly deliveryId: string;
  /** Our own id of its chat, under which its files are kept. */
  readonly chatId: string;
  /** An earlier send of it may have arrived, so somebody may have answered it. */
  readonly wasSent: boolean;
}

/** Why a call did not bring what it was made for, by what helps. Of all but `lost` it is known that nothing was done. */
export type CallFault = { readonly error: string } &
  /** Telegram said how long to leave the chat alone. */
  (
    | { readonly is: 'wait'; readonly ms: number }
    /** The chat has another address now. */
    | { readonly is: 'moved'; readonly address: string }
    /** A person must mend it. */
    | { readonly is: 'blocked'; readonly cause: BlockedCause }
    /** The topic is gone: it is made again, once an hour at most, and the part sent there. */
    | { readonly is: 'topicGone' }
    /** There is nothing left to show, or the message to change is gone. */
    | { readonly is: 'moot' }
    /** A call that would be refused again. The code is Telegram's own. */
    | { readonly is: 'refused'; readonly code?: number }
    /** A call that left and got no answer. */
    | { readonly is: 'lost' }
    /** A call that never left, or that met Telegram in trouble of its own. */
    | { readonly is: 'unreached' }
  );

/** `print` is that of what it shows, where that tells how something stands. */
export type Sent = { readonly is: 'sent'; readonly ids: SentIds; readonly print?: string } | CallFault;

export type Evidence =
  | { readonly is: 'arrived'; readonly ids: SentIds; readonly evidence: string }
  | { readonly is: 'absent'; readonly evidence: string }
  /**
   * `asks` when no later send could tell either, so that a person must say, whatever the task's policy is. `isAway` when
   * nothing was found out because Telegram did not answer.
   */
  | { readonly is: 'undecided'; readonly evidence: string; readonly asks?: true; readonly isAway?: true };

export type TopicMade = { readonly is: 'made'; readonly topicId: number } | CallFault;

/** A look for a part whose send got no answer. */
export interface Look {
  readonly sentAt: number;
  /** The message that a later send of the same part became: what is older and the same is the first one. */
  readonly resentAs: SentIds | null;
  /** A message of the part that is known already: another one is looked for. */
  readonly besides?: SentIds;
}

/**
 * The calls that Telegram allows, for those that a transport makes of its own: looks, a second try in another form, and what
 * is taken back. The first call of `send`, `act` and `createTopic` is paid for before it is asked for.
 */
export interface Budget {
  /**
   * Waits until the chat may be called once more. That call counts as on its way until the next one of the chat is asked
   * for, or until the work ends in whose course it was made. False means that the chat must be left alone for so long that
   * nobody should wait: then the call is not made. An album counts as as many calls as it becomes messages.
   */
  take(address: string, messages?: number): Promise<boolean>;
  /** Telegram said within such a call how long to leave the chat alone. */
  hold(address: string, ms: number): Promise<void>;
  /**
   * Makes a call that is no message of a chat's turn: a question, a toast, a reaction, a refusal. It waits for its place in the
   * budget of all chats, of which asides get half at most; told to wait, all of them do.
   */
  aside<T>(call: () => Promise<T | CallFault>): Promise<T | CallFault>;
}

/** Telegram as the pipeline sees it. No fault of Telegram or of the network throws. */
export interface Transport {
  /** Sends a new message, or changes one of ours. */
  send(part: Outgoing): Promise<Sent>;
  /** Pins or removes the message that `edits` names, or closes, opens or removes the topic of the route. */
  act(part: Outgoing, deed: DeliveryDeed): Promise<Sent>;
  /** Looks for traces of a part whose send got no answer. */
  settle(part: Outgoing, look: Look): Promise<Evidence>;
  createTopic(route: Thread, name: string): Promise<TopicMade>;
  /** Looks for a topic whose creation got no answer; null while there is no trace of it. */
  findTopic(route: Thread, name: string, askedAt: number): Promise<number | null>;
  /** Takes back a message, or all of an album, that landed in the wrong place. */
  remove(ids: SentIds): Promise<void>;
}

/** The word of Telegram about a person in a chat. `out` is also a person who was never there. After a fault the last word holds. */
export type Membership = { readonly is: 'known'; readonly status: 'admin' | 'member' | 'out' } | CallFault;

/** Telegram beside the outbox. No fault of Telegram or of the network throws. */
export interface Platform {
  member(address: string, userId: Actor): Promise<Membership>;
  /** Says something without a row, or changes a message that was said so. */
  tell(place: Place, shown: Extract<View, { view: 'alarm' }>, edits: number | null): Promise<Told>;
}

/** A thread, and the zone in which its chat speaks of time; null where it has chosen none. */
export interface Place {
  readonly thread: Thread;
  readonly timezone: string | null;
}

export type Told = { readonly is: 'sent'; readonly messageId: number } | CallFault;

/** A few words beside the database, for what must be kept while nothing can be written there. */
export interface Notepad {
  read(): string | null;
  write(text: string): void;
}

/** The world around the rooms, of which each takes what it needs. */
export interface World {
  readonly clock: Clock;
  readonly stopwatch: Stopwatch;
  readonly timer: Timer;
  readonly ids: Ids;
  readonly digest: Digest;
  readonly log: Log;
  readonly bell: Bell;
}
