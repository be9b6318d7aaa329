import type { ServerStatus, UsageStore } from '../../app/operations/status.ts';
import type { ChatFacts } from '../../app/ports/chat-facts.ts';
import type { Chat, ChatStore, DraftChange } from '../../app/ports/chats.ts';
import type { Clock, Ids, Log } from '../../app/ports/outside.ts';
import type { AckStore, QuestionStore } from '../../app/ports/questions.ts';
import type { Quota, TaskStore } from '../../app/ports/tasks.ts';
import type { UpkeepStore } from '../../app/ports/upkeep.ts';
import type { Bulk } from '../../app/tasks/bulk.ts';
import type { Preview } from '../../app/tasks/preview.ts';
import type { Tasks } from '../../app/tasks/tasks.ts';
import type { Acks } from '../../app/use-cases/acks.ts';
import type { Approvals } from '../../app/use-cases/approvals.ts';
import type { Truth } from '../../app/why/truth.ts';
import type { Actor } from '../../domain/access.ts';
import type { Schedule } from '../../domain/schedule/schedule.ts';
import type { Drawn, Media } from '../../domain/shown.ts';
import type { Task } from '../../domain/task.ts';

/**
 * How a word of a person travels: an update becomes what was `Said` or `Pressed`, with everything about the place and the
 * person that a handler needs; the handler does its work through the use cases and answers with replies; replies and "the
 * update is done" commit together. A handler that is run again for the same update must come to the same end, so whatever
 * it changes carries `key` as its Idempotency-Key.
 */
export interface Place {
  readonly chat: Chat;
  /** The topic in which it was said; null for the base thread. */
  readonly topic: number | null;
  /** The task whose own topic that is. */
  readonly topicTask: Task | null;
  /** The zone in which this chat speaks of time, and whether somebody has ever confirmed it. */
  readonly timezone: string;
  readonly isZoneConfirmed: boolean;
  /** Whether the chat can have topics, as far as is known. */
  readonly isForum: boolean;
}

export interface Person {
  readonly id: number;
  readonly actor: Actor;
  readonly name: string;
  readonly isOwner: boolean;
  /** In this chat; an owner counts as an admin. In their own private chat everybody is one. */
  readonly isAdmin: boolean;
}

export interface Said {
  readonly updateId: number;
  /** `telegram:update:<id>`: for each thing that is changed, followed by what it is when there are several. */
  readonly key: string;
  readonly place: Place;
  readonly person: Person;
  readonly messageId: number;
  /** When it was written, or written anew. It may be handled later. */
  readonly date: number;
  /** Without the slash and the bot's name; null for plain text. */
  readonly command: string | null;
  /** What follows the command, over all lines, or the whole text. */
  readonly args: string;
  /** The message that it answers, whoever wrote that. */
  readonly repliedTo: Replied | null;
  /** A picture or another file that came with it. */
  readonly media: Media | null;
  /** Of several files that were sent at once: what they have in common. */
  readonly album?: string;
  /** It calls the bot by its name, so that it is meant for us wherever it is said. */
  readonly isAddressed?: boolean;
}

export interface Replied {
  readonly messageId: number;
  /** Who wrote it, or who wrote what was forwarded there; absent where the platform does not tell. */
  readonly author?: { readonly id: number; readonly name: string };
  readonly isOurs: boolean;
  readonly text: string | null;
  readonly media: Media | null;
}

export interface Pressed {
  readonly updateId: number;
  readonly key: string;
  readonly place: Place;
  readonly person: Person;
  /** When it came in. It may be handled later; what was in time then is in time. */
  readonly date: number;
  /** The message that carries the button. */
  readonly messageId: number;
  /** What that message shows, without its buttons; null when the platform does not tell. */
  readonly shown: Drawn | null;
  /** The message is seen by this person alone, and is changed by this number instead of its own. */
  readonly ephemeralId: number | null;
  /** The callback data, already checked; null when it is of no form that is known. */
  readonly press: Press | null;
}

/** What a button says: `v1:<verb>:<argument>...`, at most 64 bytes. See buttons.ts for all of them. */
export interface Press {
  readonly verb: string;
  readonly args: readonly string[];
}

export type Reply =
  /** A new message where it was said, or in the base thread of the chat. */
  | {
      readonly is: 'message';
      readonly shown: Drawn;
      /** In a group nobody else needs to read it, where the platform can show it to one person alone. */
      readonly isForAsker?: true;
      readonly inBase?: true;
      /** Of the row in which it is kept, for whoever wants to find it again. */
      readonly id?: string;
    }
  /** One of our messages is changed. */
  | { readonly is: 'edit'; readonly messageId: number; readonly shown: Drawn }
  /** One of our messages goes. */
  | { readonly is: 'remove'; readonly messageId: number }
  /** A topic goes, with everything in it. */
  | { readonly is: 'removeTopic'; readonly topic: number };

/** A sign at the message of a person; the platform knows no others for it. */
export type Reaction = '👀' | '👍' | '💔';

export interface Answer {
  readonly replies: readonly Reply[];
  readonly draft?: DraftChange | null;
  /** For a press: the words in the toast, or in a window that must be closed. */
  readonly toast?: { readonly text: string; readonly isAlert: boolean } | null;
  /** For what was said: the sign that it is put under. It is lost without harm. */
  readonly reaction?: Reaction;
}

/** What follows `/start` in the place of the code by which somebody has just become the owner. */
export const claimedArg = 'claimed';

/** What follows `/start` when somebody came by the link that adds the bot to a group; it is no secret. */
export const setupArg = 'setup';

export type SaidHandler = (said: Said, rooms: ConversationRooms) => Promise<Answer>;
export type PressedHandler = (pressed: Pressed, rooms: ConversationRooms) => Promise<Answer>;

/** A command: how it is called, what the menus and the help say about it, who may, and what it does. */
export interface Command {
  readonly name: string;
  /** For the menu of the platform: at most 256 characters. */
  readonly description: string;
  /** For whom the menu shows it. */
  readonly menu: 'everybody' | 'admins' | 'owners' | 'nobody';
  /** It only reads, so that in a group nobody but the asker need see the word and its answer. */
  readonly isReading?: true;
  readonly handle: SaidHandler;
}

/** What the platform says about the bot in a chat; null where it could not be asked. */
export interface SetUp {
  readonly isPrivate: boolean;
  /** In a group: topics are switched on. */
  readonly isForum: boolean;
  /** In a private chat: the bot has topics switched on. */
  readonly topicsEnabled: boolean | null;
  readonly canManageTopics: boolean | null;
  readonly canPin: boolean | null;
  /** The bot sees every message of a group, and not only commands and replies. */
  readonly readsEverything: boolean | null;
}

export interface ConversationRooms {
  readonly tasks: Tasks;
  readonly bulk: Bulk;
  readonly truth: Truth;
  readonly acks: Acks;
  readonly approvals: Approvals;
  readonly store: ChatStore &
    ChatFacts &
    UsageStore &
    Pick<TaskStore, 'readTask'> &
    Pick<AckStore, 'readAck'> &
    Pick<QuestionStore, 'lastAnswer'> &
    Pick<UpkeepStore, 'readNote' | 'writeNote'>;
  /** How the server stands: for owners. */
  readonly status: () => Promise<ServerStatus>;
  readonly quota: Quota;
  /** Asks the platform how the bot stands in the chat, unless it has answered a moment ago and nobody asks to look anew. */
  readonly setUp: (place: Place, look?: 'anew') => Promise<SetUp>;
  readonly preview: (schedule: Schedule) => Preview;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly defaultTimezone: string;
  readonly botUsername: () => string;
}
