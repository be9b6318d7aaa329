import type { Context } from 'grammy';
import type { Kinds } from '../../app/actions/kinds.ts';
import type { Alarms } from '../../app/housekeeping/alarms.ts';
import type { KindPauses } from '../../app/operations/kind-pauses.ts';
import type { ServerStatus, UsageStore } from '../../app/operations/status.ts';
import type { BlobStore } from '../../app/ports/blobs.ts';
import type { ChatFacts } from '../../app/ports/chat-facts.ts';
import type { Chat, ChatStore, Draft, DraftChange, OnlyFor, StandsFor } from '../../app/ports/chats.ts';
import type { World } from '../../app/ports/outside.ts';
import type { AckStore, QuestionStore } from '../../app/ports/questions.ts';
import type { GrantStore, Quota, TaskStore } from '../../app/ports/tasks.ts';
import type { UpkeepStore } from '../../app/ports/upkeep.ts';
import type { TruthStore } from '../../app/ports/why.ts';
import type { Bulk } from '../../app/tasks/bulk.ts';
import type { Preview } from '../../app/tasks/preview.ts';
import type { Tasks } from '../../app/tasks/tasks.ts';
import type { Acks, Approvals } from '../../app/use-cases/acks.ts';
import type { Access } from '../../app/use-cases/membership.ts';
import type { SecretQuestions } from '../../app/use-cases/secret-questions.ts';
import type { Secrets } from '../../app/use-cases/secrets.ts';
import type { Spending } from '../../app/use-cases/spending.ts';
import type { TestRuns } from '../../app/use-cases/test-runs.ts';
import type { Truth } from '../../app/why/truth.ts';
import type { Actor } from '../../domain/access.ts';
import type { AdviceWords } from '../../domain/schedule/advice.ts';
import type { Schedule } from '../../domain/schedule/schedule.ts';
import type { Drawn, Media } from '../../domain/shown.ts';
import type { Task } from '../../domain/task.ts';

/**
 * Handlers answer updates: grammY's Context is given who speaks where (`ChatContext`); a handler does its work through the
 * use cases and returns an `Answer`, which commits together with "the update is done". A handler that is run again for
 * the same update must come to the same end, so everything it changes carries `key` as its Idempotency-Key.
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

/** All that a handler knows of one update, and may use for it: who says or presses what, and where. */
export interface ChatContext extends ChatDeps {
  readonly updateId: number;
  /** `telegram:update:<id>`: for each thing that is changed, followed by what it is when there are several. */
  readonly key: string;
  readonly place: Place;
  readonly person: Person;
  /** A button was pressed, rather than something written. */
  readonly isPress: boolean;
  /** The message with the words, or the one that carries the button. */
  readonly messageId: number;
  /** When it was written, or written anew, or pressed. It may be handled later; what was in time then is in time. */
  readonly date: number;
  /** Without the slash and the bot's name; null for plain text. */
  readonly command: string | null;
  /** The words after the command, over all lines, or the whole text. */
  readonly args: string;
  /** The message that it answers, whoever wrote that. */
  readonly repliedTo: Replied | null;
  /** A picture or another file that came with it. */
  readonly media: Media | null;
  /** Of several files that were sent at once: what they have in common. */
  readonly album?: string;
  /** The draft that the words go on with: its place is taken by what comes of them. */
  readonly answers?: Draft;
  /** The draft that the same message began, before the person edited it: its message shows what comes of the new words. */
  readonly mends?: Draft;
  /** The words call the bot by its name, so that it is meant for us wherever it is said. */
  readonly isAddressed?: boolean;
  /** The words are those of somebody else, which this person handed on: they can be scheduled, but order nothing. */
  readonly isOfAnother?: boolean;
  /** The data of the button, already checked; null when it is of no form that is known. */
  readonly press: Press | null;
  /** The message with the button, without its buttons; null when Telegram does not tell. */
  readonly shown: Drawn | null;
  /** The message is seen by this person alone, and is changed by this number instead of its own. */
  readonly ephemeralId: number | null;
  /** In a group: how this person alone is told what comes of it; absent in a private chat. */
  readonly asker?: OnlyFor;
}

/** grammY's Context with ours; `answer` is what handling the update came to. */
export type BotContext = Context & ChatContext & { answer: Answer };

export type Handler = (ctx: ChatContext) => Promise<Answer>;

/** The buttons of a story by their verbs. A verb is never reused, because old messages keep their buttons. */
export type Buttons = Readonly<Record<string, Handler>>;

export interface Replied {
  readonly messageId: number;
  /** The one who wrote it, or wrote what was forwarded there; absent where Telegram does not tell. */
  readonly author?: { readonly id: number; readonly name: string };
  readonly isOurs: boolean;
  readonly text: string | null;
  readonly media: Media | null;
}

/** Callback data: `v1:<verb>:<argument>...`, at most 64 bytes. The verbs stand in `chat.ts`. */
export interface Press {
  readonly verb: string;
  readonly args: readonly string[];
}

export type Reply =
  /** A new message where it was said, or in the base thread of the chat. */
  | {
      readonly is: 'message';
      readonly shown: Drawn;
      /** In a group nobody else needs to read it, where Telegram can show it to one person alone. */
      readonly isForAsker?: true;
      readonly inBase?: true;
      /** Of the row in which it is kept, for whoever wants to find it again. */
      readonly id?: string;
      readonly stands?: StandsFor;
    }
  /** One of our messages is changed. */
  | {
      readonly is: 'edit';
      readonly messageId: number;
      readonly shown: Drawn;
      readonly stands?: StandsFor;
    }
  /** One of our messages goes. */
  | { readonly is: 'remove'; readonly messageId: number }
  /** A topic goes, with everything in it. */
  | { readonly is: 'removeTopic'; readonly topic: number };

/** A reaction to the message of a person, of those that Telegram knows. */
export type Reaction = '👀' | '👍' | '💔';

export interface Answer {
  readonly replies: readonly Reply[];
  readonly draft?: DraftChange | null;
  /** For a callback: the words in the toast, or in a window that must be closed. */
  readonly toast?: { readonly text: string; readonly isAlert: boolean } | null;
  /** For words: the reaction to them. It is lost without harm. */
  readonly reaction?: Reaction;
  /** The run of which the reaction tells: at its end it becomes 👍 or 💔. */
  readonly follows?: string;
}

/** Stands behind `/start` in the place of the code by which somebody has just become the owner. */
export const claimedArg = 'claimed';

/** Stands behind `/start` when somebody came by the link that adds the bot to a group; it is no secret. */
export const setupArg = 'setup';

/** Stands behind `/start` when somebody came from a group to be asked for a secret; it is none itself. */
export const secretArg = 'secret';

/** A command: how it is called, what the menus and the help say about it, who may, and what it does. */
export interface Command {
  readonly name: string;
  /** For the menu of Telegram, in the language that is spoken: at most 256 characters. */
  readonly description: () => string;
  /** For whom the menu shows it. */
  readonly menu: 'everybody' | 'admins' | 'owners' | 'nobody';
  /** The command only reads, so that in a group nobody but the asker need see the word and its answer. */
  readonly isReading?: true;
  readonly handle: Handler;
}

/** The bot's standing in a chat, as Telegram says; null where it could not be asked. */
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

/** Use cases, and all else that handlers may use. */
export interface ChatDeps extends Pick<World, 'clock' | 'ids' | 'log' | 'digest'> {
  readonly tasks: Tasks;
  readonly bulk: Bulk;
  readonly truth: Truth;
  readonly acks: Acks;
  readonly approvals: Approvals;
  /** Actions of tasks besides sending a text, and calls that try them out. */
  readonly kinds: Kinds;
  readonly testRuns: TestRuns;
  /** Usage and budgets. */
  readonly spending: Spending;
  readonly access: Access;
  readonly secrets: Secrets;
  readonly secretQuestions: SecretQuestions;
  /** Keeps a file that a message shows. */
  readonly blobs: Pick<BlobStore, 'putBlob'>;
  /** Deletes a message of a person; false where it is still there. */
  readonly deleteSaid: (address: string, messageId: number) => Promise<boolean>;
  readonly store: ChatStore &
    ChatFacts &
    UsageStore &
    Pick<TaskStore, 'readTask' | 'listTaskRuns' | 'readRun'> &
    Pick<GrantStore, 'readGrant'> &
    Pick<TruthStore, 'readPlanned'> &
    Pick<AckStore, 'readAck' | 'openResults'> &
    Pick<QuestionStore, 'lastAnswer'> &
    Pick<UpkeepStore, 'readNote' | 'writeNote'>;
  /** Where an owner hears of trouble. */
  readonly alarms: Pick<Alarms, 'placeOf' | 'setPlace'>;
  /** Kinds of actions that are paused on the whole server, and what keeps runs from beginning. */
  readonly kindPauses: Pick<KindPauses, 'pause' | 'resume' | 'isKnown' | 'standstill'>;
  /** How the server stands: for owners. */
  readonly status: () => Promise<ServerStatus>;
  readonly quota: Quota;
  /** Asks Telegram how the bot stands in the chat, unless it has answered a moment ago and nobody asks to look anew. */
  readonly setUp: (place: Place, look?: 'anew') => Promise<SetUp>;
  readonly preview: (schedule: Schedule, words: AdviceWords) => Preview;
  readonly defaultTimezone: string;
  /** The name of the bot, without its sign. */
  readonly bot: string;
}
