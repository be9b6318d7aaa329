import type { Rates } from '../../domain/pacing/pace.ts';
import type { OutboxBatch, OutboxPart } from './outbox.ts';

/** The pace of calls as several processes share it: every look at what may be called is one transaction. */

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
  /** So many could have been claimed; 0 where none may be called now. */
  readonly room: number;
  readonly parts: readonly OutboxPart[];
  /** Chats in which no call may start now. */
  readonly held: readonly string[];
  /** When something may be called that could not be now; null when only the end of a call changes that. */
  readonly freeAt: number | null;
}

export interface CallWanted extends PacedChat {
  readonly now: number;
  /** As many as it becomes. */
  readonly messages: number;
  /** The call of the chat before this one; null where it is over already. */
  readonly before: EndedCall | null;
  /** Whether it is made as soon as it may be; then others leave room for it until it is, or `giveUpCall` says that it is not. */
  readonly isMeant: boolean;
}

export interface CallAnswer {
  /** It is set aside, and may leave at once. */
  readonly isTaken: boolean;
  /** When it may leave; null while that hangs on the end of another one. */
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
  /** Those that wait. */
  readonly wanted: number;
  /** Until when Telegram wants none; 0 where it has said nothing. */
  readonly heldUntil: number;
}

export interface AsidesGranted {
  readonly granted: number;
  /** When the next one of those that still wait may leave; null while that hangs on the end of another one. */
  readonly freeAt: number | null;
}

export interface PaceStore {
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
