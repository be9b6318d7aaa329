import type { DeliveryKind, DeliveryStatus } from '../../domain/delivery.ts';
import type { Rates } from '../../domain/pacing/pace.ts';
import type { UnknownPolicy } from '../../domain/policy.ts';
import type { BlockedCause } from '../../domain/shown.ts';
import type { Thread } from '../../domain/thread.ts';
import type { NewMessage } from './chats.ts';
import type { Part, SentIds } from './outside.ts';
import type { Batch } from './pipeline.ts';

/** The store as the deliverer sees it: parts that are ready to go out, and their ends. */

export interface OutboxPart extends Part {
  readonly id: string;
  readonly fence: number;
  readonly status: DeliveryStatus;
  /** The request that asked for its run; null where a schedule did, and for what has no run. */
  readonly traceId: string | null;
  readonly chatId: string;
  readonly part: number;
  readonly sends: number;
  /** How often it was put off without having left. */
  readonly putOffs: number;
  readonly settles: number;
  readonly createdAt: number;
  readonly sentAt: number | null;
  readonly expiresAt: number | null;
  readonly unknown: UnknownPolicy;
  readonly kind: DeliveryKind;
  /** An earlier send of it got no answer, and no evidence has settled what became of it. */
  readonly isResent: boolean;
  /** When the oldest of those sends left; null when there is none. */
  readonly doubtSince: number | null;
  readonly topic: TopicView | null;
  /** One of many deeds, of which one word tells in the end. */
  readonly isOneOfMany: boolean;
  /** Where the task was asked for, for words about its topic; null when it has no task. */
  readonly home: Thread | null;
  /** Whether it may go there in the place of a topic that cannot be had, or does so; null when its task does not want that. */
  readonly fallback: 'allowed' | 'taken' | null;
}

/** The topic of the part's task, when it has one to be made. */
export interface TopicView {
  readonly taskId: string;
  readonly name: string;
  readonly state: 'none' | 'creating' | 'ready' | 'blocked';
  readonly id: number | null;
  readonly askedAt: number | null;
  /** When it was last given up to be made again. */
  readonly lostAt: number | null;
  /** Its card, which is there when anything of ours was ever seen in it. */
  readonly cardId: number | null;
  /** The name under which its creation was asked for; the task may be called otherwise by now. */
  readonly askedName: string | null;
  /** Why it is blocked. */
  readonly cause: BlockedCause | null;
  /** It is the one that the one-offs of the chat share: whichever of them needs it first makes it. */
  readonly isShared: boolean;
}

/** How the topic stands that the one-offs of a chat share: there, or the one of them that makes it is to be seen to. */
export type SharedTopic =
  | { readonly is: 'ready'; readonly id: number; readonly lostAt: number | null }
  | { readonly is: 'wanted'; readonly maker: TopicView };

/** A topic was deleted by a person, or Telegram does not show in it what is sent there. */
export const topicLosses = { gone: 1, astray: 2 } as const;
export type TopicLoss = (typeof topicLosses)[keyof typeof topicLosses];

/** The end of one send or of one look for evidence, guarded by the fence of its claim. */
export type PartEnd = {
  readonly id: string;
  readonly fence: number;
  readonly taskId?: string | null;
  /** It went, or was to go, where its task was asked for. */
  readonly fallback?: true;
} & (
  | {
      readonly status: 'delivered';
      readonly ids: SentIds;
      readonly at: number;
      readonly evidence: string | null;
      /** For a new card: the id of the delivery that pins it. The task remembers the card as its own. */
      readonly pinId: string | null;
      /** Of what it shows, where that tells how something stands. */
      readonly print?: string;
    }
  | {
      readonly status: 'pending';
      /** Nothing of it has left since it was claimed, so a send that was begun does not count. */
      readonly unsent: boolean;
      /** The send before got no answer and may have arrived: the next one `isResent`. False settles what was in doubt. */
      readonly inDoubt: boolean;
      /** From the moment on at which it is written. */
      readonly afterMs: number;
      readonly error: string | null;
      readonly evidence: string | null;
      /** From now on it goes to this thread of its chat, under a line that is said once for each cause. */
      readonly reroute?: { readonly topic: number | null; readonly cause: BlockedCause };
    }
  | {
      readonly status: 'blocked';
      readonly afterMs: number;
      readonly cause: BlockedCause;
      readonly error: string;
      /** Told in the thread where the task was asked for, once while the cause lasts. */
      readonly guidance: NewMessage | null;
    }
  | {
      readonly status: 'unknown';
      /** Null leaves it to a person. */
      readonly afterMs: number | null;
      /** Nothing could be looked at, so that was no look. */
      readonly isNoLook?: true;
      readonly error: string;
      readonly evidence: string;
      /** The question to a person, where the task was asked for. */
      readonly guidance: NewMessage | null;
    }
  | {
      readonly status: 'failed';
      readonly error: string;
      /** Absent where the cause for which it was blocked before stays true, or there is no word for it. */
      readonly cause?: 'max_age' | 'misrouted' | 'topic_gone';
      readonly evidence: string | null;
      /** Said once in the topic, or where the task was asked for. */
      readonly guidance?: NewMessage | null;
      /** The message that was to be changed is not there any more: the next change of a card makes a new one. */
      readonly messageGone?: number | null;
    }
);

export type TopicEnd = { readonly taskId: string } & (
  | {
      readonly state: 'ready';
      readonly id: number;
      /** The delivery of its card, and the one that says that it was made again if it was deleted before. */
      readonly cardId: string;
      readonly remadeId: string;
      readonly at: number;
      /** The part that needed it first, if it may leave now: it is claimed to be sent there with the same commit. */
      readonly first?: { readonly id: string; readonly fence: number };
    }
  /** `lost` when it was there and is no good any more; null when it was not made yet. */
  | { readonly state: 'none'; readonly lost: TopicLoss | null; readonly at: number }
  | { readonly state: 'blocked'; readonly cause: BlockedCause }
);

export interface OutboxBatch extends Batch {
  /** The chat served last: the others have their turn before it comes again. */
  readonly after: string;
  /** Chats that were sent so many answers in a row that a result has its turn before the next one. */
  readonly resultsFirst?: ReadonlySet<string>;
  /** Chats that a job has named: of these alone. */
  readonly only?: readonly string[];
}

export interface OutboxStore {
  /** Claims at most one part for each chat that is not busy or held: the most urgent one that nothing holds back. */
  claimParts(at: OutboxBatch, bootId: string, busyChats: ReadonlySet<string>): Promise<readonly OutboxPart[]>;
  /** With the calls that were made of them, where several processes share the pace of those. */
  endParts(ends: readonly PartEnd[], now: number, paced?: EndedCalls | null): Promise<number>;
  /** Marks the topic as being made, if nobody else makes it; false means that somebody does. */
  beginTopic(topic: Pick<TopicView, 'taskId' | 'name'>, bootId: string, now: number): Promise<boolean>;
  /**
   * From now on the task shares the topic of the one-offs of its chat. Where that is there the task has it; where nobody
   * knows whether it is, the task that has asked for it is told, and else the task itself is to make it.
   */
  joinTopic(taskId: string): Promise<SharedTopic>;
  /** The naming of a task's topic that is still to be done, and what went wrong with it so far; null when none is. */
  topicNaming(taskId: string): Promise<{ readonly error: string | null } | null>;
  /** Answers whether the part that waited for the topic is claimed to be sent there. */
  endTopic(end: TopicEnd): Promise<boolean>;
  /** Whether the owner of a task may read and write where it was asked for. */
  isOwnerThere(taskId: string): Promise<boolean>;
  nextPartAt(now: number): Promise<number | null>;
}

/* ---- the pace of calls, as several processes share it: every look at what may be called is one transaction ---- */

export interface PacedChat {
  readonly chatId: string;
  readonly address: string;
}

export interface PartsAsked extends OutboxBatch {
  /** Chats that have a part in the hands of this process. */
  readonly busy: ReadonlySet<string>;
}

/** A call that was set aside for a chat, or made there; null where it was never made. */
export interface EndedCall extends PacedChat {
  readonly endedAt: number | null;
}

/** Whose calls they are, and how many there may be. */
export interface Paced {
  readonly bootId: string;
  readonly rates: Rates;
}

/** The calls of parts that have ended. */
export interface EndedCalls extends Paced {
  readonly calls: readonly EndedCall[];
}

export interface PacedClaim {
  /** Parts that could have been claimed; 0 where nobody may be called now. */
  readonly room: number;
  readonly parts: readonly OutboxPart[];
  /** Chats in which no call may start now. */
  readonly held: readonly string[];
  /** The instant at which a chat may be called that could not be now; null when only the end of a call changes that. */
  readonly freeAt: number | null;
}

export interface CallWanted extends PacedChat {
  readonly now: number;
  /** Messages that the call becomes. */
  readonly messages: number;
  /** The call of the chat before this one; null where it is over already. */
  readonly before: EndedCall | null;
  /** Whether it is made as soon as it may be; then others leave room for it until it is, or `giveUpCall` says that it is not. */
  readonly isMeant: boolean;
}

export interface CallAnswer {
  /** Whether the call is set aside, and may leave at once. */
  readonly isTaken: boolean;
  /** The instant at which it may leave; null while that hangs on the end of another call. */
  readonly freeAt: number | null;
  /** Until when Telegram wants no call there. */
  readonly heldUntil: number;
}

/** Calls beside the outbox of one process, which tells of all of them at once. */
export interface AsidesWanted {
  readonly now: number;
  /** On their way. */
  readonly open: number;
  /** Ends that were not told yet. */
  readonly ended: readonly number[];
  /** Calls that wait. */
  readonly wanted: number;
  /** Until when Telegram wants none; 0 where it has said nothing. */
  readonly heldUntil: number;
}

export interface AsidesGranted {
  readonly granted: number;
  /** The instant at which the next call that waits may leave; null while that hangs on the end of another one. */
  readonly freeAt: number | null;
}

export interface PaceStore {
  /** Telegram said when to come back; null stands for all chats. */
  readHolds(now: number): Promise<readonly { readonly chatId: string | null; readonly until: number }[]>;
  writeHold(chatId: string | null, until: number, now: number): Promise<void>;
  /** Sends, edits and topic creations per chat of the last minute, for a budget that a restart does not forget. */
  sentSince(since: number): Promise<readonly SentCall[]>;
  /** Notes what was sent lately, and who must wait, where no process has paced calls for a while. */
  openPace(paced: Paced, now: number): Promise<void>;
  /** Claims parts as `claimParts` does, none of a chat that another process has in hand, and sets their calls aside. */
  claimPaced(asked: PartsAsked, paced: Paced): Promise<PacedClaim>;
  /** The next call of a chat in the course of its turn. */
  askCall(wanted: CallWanted, paced: Paced): Promise<CallAnswer>;
  /** The chat waits for its next call no more. */
  giveUpCall(chatId: string): Promise<void>;
  /** Telegram has told a chat to wait. Answers for how long all chats must, because several were told to; null where they need not. */
  holdPace(chat: PacedChat, ms: number, now: number): Promise<number | null>;
  paceAsides(wanted: AsidesWanted, paced: Paced): Promise<AsidesGranted>;
}

export interface SentCall {
  readonly chatId: string;
  readonly address: string;
  readonly at: number;
  /** An album is several. */
  readonly messages: number;
}
