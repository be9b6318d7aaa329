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
}

type Facts = Readonly<Record<string, unknown>>;

/** One event name per meaning, ids as facts; texts of people never go to the log. */
export interface Log {
  debug(event: string, facts?: Facts): void;
  info(event: string, facts?: Facts): void;
  warn(event: string, facts?: Facts): void;
  error(event: string, facts?: Facts): void;
}

export interface Templates {
  /** Throws `invalid_template` with the place of the fault. */
  check(text: string): void;
  render(text: string, variables: Facts): string;
}

export type Room = 'scheduler' | 'runner' | 'deliverer' | 'housekeeper';

/** Rings when a committed row is ready for a room. Only a hint: a lost ring costs time, never work. */
export interface Bell {
  ring(room: Room): void;
}

/** Copies of the whole database. Both throw when the disk does not do what it should. */
export interface Backups {
  /** Makes a copy and proves that it can be read; when it fails nothing of it is left. */
  make(now: number): Promise<{ readonly file: string; readonly bytes: number }>;
  /** Removes all but the newest copies, and answers how many. */
  prune(keep: number): Promise<number>;
}

/* ---- the chat: what a delivery needs of it ---- */

export interface Route {
  readonly provider: string;
  readonly address: string;
  readonly topic: number | null;
}

export interface SentIds {
  readonly chatId: string;
  readonly threadId: number | null;
  readonly messageId: number;
}

/** One part on its way: the content, and where it must arrive. */
export interface Outgoing {
  readonly deliveryId: string;
  readonly route: Route;
  readonly text: string;
}

/**
 * What became of a send. `notSent` is known not to have arrived: refused before connecting, or answered with an error.
 * `unknown` left and got no answer. `blocked` is a refusal that a person must mend.
 */
export type Sent =
  | { readonly is: 'sent'; readonly ids: SentIds }
  | { readonly is: 'notSent'; readonly error: string; readonly retryAfterMs: number | null }
  | { readonly is: 'refused'; readonly error: string }
  | { readonly is: 'blocked'; readonly cause: string; readonly error: string }
  /** The topic is gone: it is made again, once, and the part sent there. */
  | { readonly is: 'topicGone'; readonly error: string }
  | { readonly is: 'unknown'; readonly error: string };

export type Evidence =
  | { readonly is: 'arrived'; readonly ids: SentIds; readonly evidence: string }
  | { readonly is: 'absent'; readonly evidence: string }
  | { readonly is: 'undecided'; readonly evidence: string };

export type TopicMade =
  | { readonly is: 'made'; readonly topicId: number }
  | { readonly is: 'notMade'; readonly error: string; readonly retryAfterMs: number | null }
  | { readonly is: 'blocked'; readonly cause: string; readonly error: string }
  | { readonly is: 'unknown'; readonly error: string };

/** A chat platform, one call each. Nothing throws for what the platform or the network does. */
export interface Transport {
  send(part: Outgoing): Promise<Sent>;
  /** Looks for traces of a part whose send got no answer. */
  settle(part: Outgoing, sentAt: number): Promise<Evidence>;
  createTopic(route: Route, name: string): Promise<TopicMade>;
  /** Looks for a topic whose creation got no answer; null while there is no trace of it. */
  findTopic(route: Route, name: string, askedAt: number): Promise<number | null>;
  /** Takes back a message that landed in the wrong place. */
  remove(ids: SentIds): Promise<void>;
}
