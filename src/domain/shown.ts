import type { Actor } from './access.ts';
import type { CheckName } from './audit.ts';
import type { Obstacle } from './occurrence.ts';
import type { BudgetKind, BudgetPeriod, BudgetScope } from './spending/usage.ts';

/**
 * A message shows this. Words that stand are `Drawn`; a `View` is drawn when it is sent, from what is true by then or from
 * the facts that were kept, so that the layers below need no texts and a card never shows an old state.
 */
export type Shown = Drawn | View;

export interface Drawn {
  readonly text: string;
  readonly entities?: readonly Entity[];
  readonly buttons?: readonly (readonly Button[])[];
  /** The message that it answers. */
  readonly replyTo?: number;
  /** A picture, a voice or another file; the text stands below it. */
  readonly media?: Media | Upload;
  /** Files that stand together as one album, in the place of the text: it is no message but several, and bears no buttons. */
  readonly album?: Album;
  /** Of what tells how something stands: the same while it tells the same. */
  readonly print?: string;
}

/** A file that a person sent to the bot, by the name under which Telegram keeps it. */
export interface Media {
  readonly kind: MediaKind;
  readonly fileId: string;
}

/** A file whose bytes are in the store, with the chat in which it is shown. */
export interface Upload {
  readonly kind: MediaKind;
  readonly sha256: string;
  readonly name: string;
  readonly mime: string;
  readonly size: number;
}

/** Two to ten files of kinds that stand together; each is a message of its own, with its own words. */
export type Album = readonly AlbumItem[];
export type AlbumItem = (Media | Upload) & { readonly caption: string };

export const mediaKinds = ['photo', 'document', 'video', 'audio', 'voice', 'animation'] as const;
export type MediaKind = (typeof mediaKinds)[number];

/** Offsets and lengths count UTF-16 units. */
export interface Entity {
  readonly type: 'bold' | 'italic' | 'code' | 'pre' | 'text_link' | 'strikethrough' | 'blockquote';
  readonly offset: number;
  readonly length: number;
  readonly url?: string;
  readonly language?: string;
}

/** A button does something here, or opens a page. */
export type Button = { readonly text: string; readonly data: string } | { readonly text: string; readonly url: string };

export type View =
  /** The last part of a result: it carries the buttons. */
  | { readonly view: 'result'; readonly text: string; readonly occurrenceId: string; readonly media?: Media | Upload }
  /** A run failed for good. */
  | {
      readonly view: 'failed';
      readonly runId: string;
      readonly slotAt: number | null;
      readonly attempts: number;
      readonly error: string;
    }
  /** Above what came of trying an action out: how that ended. */
  | {
      readonly view: 'tested';
      readonly title: string;
      readonly status: number | null;
      readonly durationMs: number;
      readonly error: string | null;
      /** Nothing follows it. */
      readonly isEmpty: boolean;
    }
  /** The task works again, after a failure that was told. */
  | { readonly view: 'recovered'; readonly since: number; readonly failures: number }
  | { readonly view: 'autoPaused'; readonly reason: string; readonly failures: number; readonly error: string | null }
  /** The last run that the task was to make has ended. */
  | { readonly view: 'completed'; readonly runs: number }
  /** A run left a context of that many bytes, and its task keeps another: it is too large, or a person changed theirs. */
  | { readonly view: 'contextLeft'; readonly size: number }
  /** Results wait for something that a person must mend. */
  | { readonly view: 'blocked'; readonly cause: BlockedCause; readonly error: string }
  /** Above results that come where their task was asked for, because their topic cannot be had. */
  | { readonly view: 'fallback'; readonly cause: BlockedCause }
  /** The topic was made again: a person deleted it, or Telegram did not show in it what was sent there. */
  | { readonly view: 'topicRemade'; readonly isAstray?: boolean }
  /** The answer to whoever has started a run of the task. */
  | { readonly view: 'started' }
  | { readonly view: 'notPinned' }
  /** The end of topics that were to be closed or removed together. */
  | { readonly view: 'cleaned'; readonly cleaning: string; readonly deed: 'close' | 'removeTopic' }
  /** So many topics of one-offs are over: they could share one from now on. */
  | { readonly view: 'oneOffs'; readonly topics: number }
  /** The topic bears its old name yet, and is named again and again. */
  | { readonly view: 'notRenamed'; readonly cause: BlockedCause; readonly error: string }
  /** A topic that was to be removed is still there. */
  | { readonly view: 'topicNotRemoved'; readonly cause: BlockedCause; readonly error: string }
  /** A part may or may not have arrived. */
  | { readonly view: 'inDoubt'; readonly deliveryId: string; readonly sentAt: number }
  | {
      readonly view: 'downtime';
      readonly from: number;
      readonly to: number;
      readonly cause?: DowntimeCause;
      readonly missed: number;
      readonly late: number;
      readonly asked: number;
      readonly skipped: number;
      readonly tasks: readonly { readonly number: number; readonly title: string }[];
      readonly moreTasks: number;
    }
  /** Results that wait because Telegram lets only so many through. */
  | { readonly view: 'backlog'; readonly waiting: number; readonly oldestAt: number }
  /** To an owner: the bot can reach a chat no more. */
  | {
      readonly view: 'chatGone';
      readonly title: string;
      readonly paused: number;
      readonly cause: string;
      /** Its address, as words of older versions do not name it. */
      readonly address?: string;
    }
  /** To an owner: trouble of the product itself, which lasts until it is over. */
  | { readonly view: 'alarm'; readonly since: number; readonly over: number | null; readonly facts: AlarmFacts }
  /** In the chat itself, when it can be reached again; `paused` counts the tasks that its absence has paused. */
  | { readonly view: 'chatBack'; readonly paused: number }
  /** The task cannot run any more, so its runs are left out. */
  | {
      readonly view: 'mayNotRun';
      readonly reason: Obstacle;
      /** The grant under which it was found; absent in words of older versions, as is the error of the run that found it. */
      readonly grantId?: string;
      readonly error?: string;
    }
  /** A budget is nearly or wholly used up, so that runs are left out. */
  | {
      readonly view: 'budget';
      readonly is: 'near' | 'spent';
      readonly scope: BudgetScope;
      readonly account: string;
      readonly kind: BudgetKind;
      readonly per: BudgetPeriod;
      readonly quantity: number;
      readonly currency: string | null;
      /** When the next period begins. */
      readonly until: number;
      /** Of a person, where it is known. */
      readonly name?: string;
    }
  /** The right of the task to run ends soon. */
  | { readonly view: 'grantEnds'; readonly expiresAt: number }
  /** A person is gone from the chat, and the tasks that they own there wait for them. */
  | { readonly view: 'ownerGone'; readonly ownerId: Actor; readonly name: string | null; readonly tasks: number }
  /** Slots were missed, and the task asks what becomes of them. */
  | {
      readonly view: 'missed';
      readonly from: number;
      readonly to: number;
      readonly count: number;
      readonly decideBy: number;
      /** Its time passed without an answer. */
      readonly isOver?: true;
    }
  /** A reminder of what nobody has said yet to be done. */
  | {
      readonly view: 'nag';
      readonly occurrenceId: string;
      readonly text: string;
      readonly dueAt: number;
      readonly number: number;
    }
  /** To an admin: it was asked for again and again, and nobody has said that it is done. */
  | {
      readonly view: 'escalated';
      readonly occurrenceId: string;
      readonly dueAt: number;
      readonly nags: number;
      /** The name of the admin who was told; absent where the chat itself was. */
      readonly told?: string;
    }
  /** A result that is shown only when somebody approves it. */
  | {
      readonly view: 'approval';
      readonly runId: string;
      readonly text: string;
      /** The file that stands above the text. */
      readonly mediaKind?: MediaKind;
      /** The text is what would be done, and not a result that is there already. */
      readonly isEffect?: true;
      readonly decideBy: number;
      /** Its time passed without a decision. */
      readonly isOver?: true;
    }
  /** Results that came in the quiet hours that have just ended: one word for all of it. */
  | { readonly view: 'bundle'; readonly chatId: string; readonly until: number }
  /** The pinned card of a task, as the task stands when it is drawn. */
  | { readonly view: 'card' };

/**
 * Words that may be over one day: they are then edited to say so. Every other word tells of what was, in the past, or is kept
 * true by itself: cards and reminders are drawn anew, and an alarm has its own end.
 */
export const mayBeOver: Readonly<Record<View['view'], boolean>> = {
  failed: true,
  autoPaused: true,
  blocked: true,
  fallback: true,
  notPinned: true,
  notRenamed: true,
  inDoubt: true,
  oneOffs: true,
  backlog: true,
  chatGone: true,
  mayNotRun: true,
  budget: false,
  grantEnds: true,
  ownerGone: true,
  missed: true,
  escalated: true,
  approval: true,
  result: false,
  recovered: false,
  completed: false,
  contextLeft: false,
  topicRemade: false,
  started: false,
  cleaned: false,
  tested: false,
  topicNotRemoved: false,
  downtime: false,
  alarm: false,
  chatBack: false,
  nag: false,
  bundle: false,
  card: false,
};

/** The reason for a downtime: nothing could be written. Without one no process was there. */
export type DowntimeCause = 'database';

/** Trouble of the product itself, of which its owners are told, by its cause and with what is known of it. */
export type AlarmFacts =
  /** Nothing can be written, or nothing should be: a server that is away, a file that is lost or damaged. */
  | { readonly cause: 'database'; readonly error: string }
  | { readonly cause: 'disk'; readonly error: string }
  /** The clock of the computer was set back to that instant, and tasks were planned again. */
  | { readonly cause: 'clock'; readonly byMs: number; readonly to: number; readonly moved: number }
  | {
      readonly cause: 'downtime';
      readonly why: DowntimeCause | null;
      readonly to: number;
      readonly missed: number;
      readonly late: number;
      readonly asked: number;
      readonly skipped: number;
    }
  | { readonly cause: 'audit'; readonly check: CheckName; readonly count: number }
  /** Tasks that have failed too often in a row, and stand still since. */
  | { readonly cause: 'auto_pause'; readonly tasks: readonly StoppedTask[] }
  /** Another program computes other next slots for a task. */
  | {
      readonly cause: 'second_opinion';
      readonly taskId: string;
      readonly number: number;
      readonly title: string;
      readonly timezone: string;
      readonly library: string;
      readonly ours: readonly number[];
      readonly theirs: readonly number[];
    };

export interface StoppedTask {
  readonly id: string;
  readonly number: number;
  readonly title: string;
  readonly pausedAt: number;
  /** Of its chat, where its pause was told. */
  readonly address: string;
}

export type AlarmCause = AlarmFacts['cause'];

/** The cause for which a part waits for a person. */
export type BlockedCause =
  /** Topics are switched off in the chat, or for the bot in private chats. */
  | 'topics_off'
  /** The bot has no right to manage topics. */
  | 'no_topic_right'
  /** The topic is closed, and the bot may not write there. */
  | 'topic_closed'
  /** The bot may not write in the chat. */
  | 'no_write_right'
  /** The bot was removed, blocked, or the chat is gone. */
  | 'chat_gone'
  /** The answer to the creation of the topic was lost, and no trace of it was found. */
  | 'topic_in_doubt'
  | 'topic_gone'
  | 'topic_astray'
  /** Another refusal of Telegram, which a person may mend. */
  | 'other';

/** A word that is said once in a chat, and what it is about there. */
export type Word =
  | { readonly word: 'blocked'; readonly reason: BlockedCause; readonly taskId?: string; readonly about?: string }
  | { readonly word: 'fallback'; readonly reason: BlockedCause; readonly taskId: string }
  | { readonly word: 'failed'; readonly about: string }
  | { readonly word: 'not_pinned' }
  | { readonly word: 'one_offs' }
  | { readonly word: 'not_renamed'; readonly about: string }
  | {
      readonly word: 'context_left';
      readonly reason: 'size' | 'changed';
      readonly taskId: string;
      readonly about: string;
    }
  | { readonly word: 'grant_ends'; readonly taskId: string; readonly about: string }
  | { readonly word: 'may_not_run'; readonly reason: Obstacle; readonly taskId: string; readonly about: string }
  | { readonly word: 'budget'; readonly reason: 'near' | 'spent'; readonly about: string }
  | { readonly word: 'owner_gone'; readonly about: Actor };

/** A message that tells how something stands, drawn anew: only where that looks otherwise than what has this print. */
export function printIn(shown: Shown): string | null {
  return 'unless' in shown && typeof shown.unless === 'string' ? shown.unless : null;
}

/** Messages of Telegram that it becomes. */
export function messagesIn(shown: Shown): number {
  return 'album' in shown ? (shown.album?.length ?? 1) : 1;
}

export function isView(shown: Shown): shown is View {
  return 'view' in shown;
}
