import type { Actor } from '../../domain/access.ts';
import type { DeedVerb } from '../../domain/event.ts';
import type { Shown, Word } from '../../domain/shown.ts';
import type { Task } from '../../domain/task.ts';
import type { Thread } from '../../domain/thread.ts';
import type { Planned } from './why.ts';

/** The store as the conversation with people sees it: updates, chats, people, drafts, and what was shown where. */

/** An update of Telegram as it is stored, before the next one is asked for. */
export interface NewUpdate {
  readonly id: number;
  /** JSON as it came. */
  readonly payload: string;
  /** The chat and message it tells of, when it does: that message needs no other explanation. */
  readonly address: string | null;
  readonly messageId: number | null;
  /** Updates of one lane are handled one after the other; one without a lane waits for nothing. */
  readonly lane: string | null;
}

export interface StoredUpdate {
  readonly id: number;
  readonly payload: string;
  readonly attempts: number;
  readonly receivedAt: number;
}

/** The one person who sees a message in a group, where Telegram can do that; where it cannot, all see it. */
export interface OnlyFor {
  readonly userId: number;
  /** The callback that it answers. */
  readonly callbackId?: string;
  /** The message of this kind that is changed. */
  readonly ephemeralId?: number;
  /** Telegram allows it only so long after the message or the callback of the person; later all see it. */
  readonly until: number;
}

/** A task that was made in a message, whose card that goes on showing; or one that it says was started, with the way to its topic. */
export interface StandsFor {
  readonly as: 'made' | 'started' | 'pressed';
  readonly taskId: string;
}

/**
 * A message of ours that belongs to no run: an answer to a person, a notice, guidance; or the removal of a message, which
 * `edits` names, or of the topic of `thread`.
 */
export interface NewMessage {
  readonly id: string;
  readonly kind: 'answer' | 'notice' | 'remove' | 'removeTopic';
  readonly thread: Thread;
  readonly taskId: string | null;
  readonly shown: Shown;
  /** The message of ours that is changed instead of sending a new one. */
  readonly edits: number | null;
  /** From then on the answer comes too late to be of use. */
  readonly expiresAt: number | null;
  readonly onlyFor?: OnlyFor;
  /** When it goes out; at once without it. */
  readonly readyAt?: number;
  /** Without a sound. */
  readonly silent?: true;
  /** It keeps nobody waiting, and yields to all else. */
  readonly isTidying?: true;
  readonly stands?: StandsFor;
}

/** A new message to a thread that belongs to no task and is never too late. */
export function noticeTo(thread: Thread, { id, shown }: Pick<NewMessage, 'id' | 'shown'>): NewMessage {
  return { id, kind: 'notice', thread, taskId: null, shown, edits: null, expiresAt: null };
}

/** The outcome of handling an update: it commits together with the update being done. */
export interface UpdateEnd {
  readonly id: number;
  readonly status: 'done' | 'failed';
  readonly error: string | null;
  readonly messages: readonly NewMessage[];
  readonly draft: DraftChange | null;
  readonly at: number;
  /** The process that has begun it; absent where nobody has. */
  readonly bootId?: string;
}

export type DraftChange =
  /** `drops` is the draft whose place it takes: that one's buttons are over. */
  | { readonly is: 'put'; readonly draft: Draft; readonly drops?: string | undefined }
  | { readonly is: 'drop'; readonly draftId: string };

/** A task being made. A person may have several; the newest of a thread is given their next words. */
export interface Draft {
  readonly id: string;
  readonly chatId: string;
  readonly userId: Actor;
  readonly topic: number | null;
  /** The message of the person that began it; null where a button did. */
  readonly messageId: number | null;
  readonly step: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly expiresAt: number;
}

/** `new` is not approved yet; `gone` can be reached no more. */
export type ChatState = 'new' | 'approved' | 'refused' | 'gone';

export interface Chat {
  /** Our own id. */
  readonly id: string;
  readonly address: string;
  readonly title: string | null;
  /** `private`, `group`, `supergroup`. */
  readonly kind: string | null;
  readonly state: ChatState;
  readonly timezone: string | null;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly approvedBy: Actor | null;
}

export interface NewChat extends Pick<Chat, 'address' | 'title'> {
  readonly newId: string;
  readonly kind: string;
  readonly at: number;
}

export interface ChatChange extends Partial<Pick<Chat, 'state' | 'timezone' | 'settings' | 'approvedBy'>> {
  readonly approvedAt?: number | null;
  readonly title?: string;
  readonly kind?: string;
}

export interface User {
  readonly id: Actor;
  readonly name: string | null;
  readonly role: 'owner' | 'user' | 'system';
  readonly timezone: string | null;
}

/** The last word of Telegram about a person in a chat. */
export interface Member {
  readonly chatId: string;
  readonly userId: Actor;
  readonly status: 'admin' | 'member' | 'out';
  readonly checkedAt: number;
}

/** An owner whose task is due soon, and of whom it is not known for sure that they are still there. */
export interface StaleMember extends Pick<Member, 'chatId' | 'userId'> {
  readonly address: string;
}

export interface ChatTasks {
  readonly tasks: readonly Task[];
  readonly total: number;
}

export interface OpenSnooze {
  readonly at: number;
  /** A pause that came after it has to end before it, or it does not come. */
  readonly isHeld: boolean;
}

export type Titled = Pick<Task, 'id' | 'number' | 'title' | 'state'>;

export interface TitlesQuery {
  readonly chatId: string;
  /** Tasks that were deleted since then are among them; null for none. */
  readonly deletedSince: number | null;
  readonly limit: number;
}

export interface ChatTasksQuery {
  readonly chatId: string;
  /** `all` leaves out what was deleted; `open`: active or paused. */
  readonly filter: 'all' | 'open' | 'active' | 'paused' | 'failing' | 'completed';
  readonly ownerId: Actor | null;
  readonly text: string | null;
  /** Absent where it does not matter what they are about. */
  readonly subjects?: readonly string[] | null;
  readonly offset: number;
  readonly limit: number;
}

/** Asks for the latest change that somebody made in a chat and that can be taken back. */
export interface LastChangeQuery {
  readonly chatId: string;
  readonly actor: Actor;
  readonly verbs: readonly DeedVerb[];
  readonly since: number;
  /** The change that was taken back under this key is the answer itself: handling the same word again finds the same change. */
  readonly key: string;
}

export interface LastChange {
  readonly taskId: string;
  readonly entryId: string;
}

export type LastDeed = LastChange & { readonly verb: DeedVerb };

/** A chat that can be reached no more. */
export interface ChatGone {
  readonly chatId: string;
  readonly cause: string;
  readonly at: number;
  /** The word to each owner whose private chat is known: one row for each, made only if the chat was not gone before. */
  readonly wordTo: (owner: Chat, gone: Chat, paused: number) => NewMessage;
}

/** A chat that can be reached again. */
export interface ChatBack {
  readonly chatId: string;
  readonly at: number;
  /** The word in the chat itself, made only if it was gone; `paused` counts the tasks that its absence has paused. Null for none. */
  readonly word: (chat: Chat, paused: number) => NewMessage | null;
}

export interface WaitingResults {
  readonly count: number;
  readonly oldestAt: number;
  /** The base thread of the chat. */
  readonly thread: Thread;
}

/** Results of a task in quiet hours. */
export interface HeldTask {
  readonly number: number;
  readonly title: string;
  readonly count: number;
  /** Where the first of it stands; null while it is on its way. */
  readonly topic: number | null;
  readonly messageId: number | null;
}

/** The subject of one of our messages. */
export interface MessageAbout {
  readonly deliveryId: string;
  readonly taskId: string | null;
  readonly runId: string | null;
  readonly occurrenceId: string | null;
}

/** A callback of a button below a result: its message has arrived, whatever is known of its send. */
export interface FoundByPress {
  readonly address: string;
  readonly topic: number | null;
  readonly messageId: number;
  /** The task of the button, of which the person may see the results. */
  readonly taskId: string;
  readonly occurrenceId: string;
  /** The text of the message, as its part may have it. */
  readonly texts: readonly string[];
  readonly at: number;
}

export interface UnknownPart {
  readonly deliveryId: string;
  readonly topic: number | null;
  readonly shown: Shown;
  readonly taskId: string | null;
  readonly sentAt: number;
}

export interface ChatStore {
  /* ---- updates ---- */
  /** Stores what is new of them; repeats are harmless. Answers how many were new. */
  receiveUpdates(updates: readonly NewUpdate[], now: number): Promise<number>;
  /** Updates that are not done, oldest first, after the id. */
  openUpdates(after: number, limit: number): Promise<readonly StoredUpdate[]>;
  /**
   * Counts an attempt before it is made, so that an update that takes the process down with it ends as failed. From then on it is
   * this process that handles it. `waits` for one that comes behind another one of its lane, unless it is next all the same; 0
   * for one that is done, or that another process has begun.
   */
  beginUpdate(id: number, bootId: string, isNext?: boolean): Promise<number | 'waits'>;
  /** False when it was done before, or is another process's by now; then nothing is written. */
  endUpdate(end: UpdateEnd): Promise<boolean>;
  /** Puts messages into the outbox, without an update. */
  addMessages(messages: readonly NewMessage[], at: number): Promise<void>;
  /** Puts a message there once per chat and word, until that is forgotten: true when it was put there now. */
  tellOnce(word: Word, message: NewMessage, at: number): Promise<boolean>;
  /** Whether that was said in the chat and is not over yet. */
  isTold(chatId: string, word: Word['word'], reason: string, taskId?: string): Promise<boolean>;

  /* ---- chats and people ---- */
  /** By its address or one it had before. */
  findChat(address: string): Promise<Chat | null>;
  /** Makes the chat if it is not known, and keeps title and kind up to date. */
  noteChat(chat: NewChat): Promise<Chat>;
  changeChat(chatId: string, change: ChatChange, at: number): Promise<void>;
  /** A group became a supergroup: everything of the old address belongs to the new one. Idempotent. */
  moveChat(from: string, to: string, at: number): Promise<void>;
  /**
   * Marks it gone, pauses its active tasks (`paused_reason` "chat_gone"), tells the owners. Answers how many tasks it
   * paused, or null, without writing anything, when it was gone before.
   */
  chatGone(gone: ChatGone): Promise<number | null>;
  /**
   * A chat that can be reached again has the state from before; its tasks stay paused for a person to resume. Answers how
   * many its absence has paused and nobody has resumed, or null, without writing anything, when it was not gone.
   */
  chatBack(back: ChatBack): Promise<number | null>;
  /** The bot may pin there by now: cards that it had told of are pinned, and the word about that is over. True where there was one. */
  pinAgain(chatId: string, at: number): Promise<boolean>;
  noteUser(user: Pick<User, 'id' | 'name'>, at: number): Promise<User>;
  changeUser(id: Actor, change: Partial<Pick<User, 'role' | 'timezone'>>, at: number): Promise<void>;
  readUser(id: Actor): Promise<User | null>;
  listOwners(): Promise<readonly User[]>;
  readMember(chatId: string, userId: Actor): Promise<Member | null>;
  /**
   * Someone who is out of a chat loses the grants of the tasks owned there (`revoked_by` "system:left"), and gets them back on
   * return; a grant that was revoked otherwise stays so. True when tasks that waited for that are about to go on.
   */
  noteMember(member: Member): Promise<boolean>;
  /** Whether tasks in the chat may not run before this person is back, or somebody else has taken them over. */
  isAwaited(chatId: string, userId: Actor): Promise<boolean>;
  /** Owners of tasks in group chats, due before `until` or waiting for them, whose membership was last checked before `staleAt`. */
  staleMembers(until: number, staleAt: number, limit: number): Promise<readonly StaleMember[]>;

  /* ---- drafts and tasks, as a chat sees them ---- */
  readDraft(id: string): Promise<Draft | null>;
  /** The newest draft of the person in the thread, unless it has expired. */
  openDraft(chatId: string, userId: Actor, topic: number | null, now: number): Promise<Draft | null>;
  /** The draft that the message of the person began, expired or not. */
  draftOfWords(chatId: string, userId: Actor, messageId: number): Promise<Draft | null>;
  taskByNumber(chatId: string, number: number): Promise<Task | null>;
  /** The task whose own topic it is; also a deleted one. */
  taskByTopic(chatId: string, topic: number): Promise<Task | null>;
  /** A task of the chat that may still run and is called so, whatever its case and its spaces; the oldest of several. */
  taskByTitle(chatId: string, title: string): Promise<Task | null>;
  /** Titles by number: of tasks that may still run, and then of the newest of the others. */
  titlesIn(query: TitlesQuery): Promise<readonly Titled[]>;
  /** Failing first, then by the next slot; what has ended comes last, the newest first. */
  chatTasks(query: ChatTasksQuery): Promise<ChatTasks>;
  /** Open snoozes of tasks, soonest first, by the id of the task; tasks without one are left out. */
  snoozesOf(taskIds: readonly string[]): Promise<ReadonlyMap<string, readonly OpenSnooze[]>>;
  /** Tasks of the chat that may run before the instant, soonest first, with what decides when. */
  plannedBefore(chatId: string, until: number, limit: number): Promise<readonly Planned[]>;
  /** Tasks of the chat that are snoozed to an instant before that one, soonest first, without those that a pause holds. */
  snoozedBefore(
    chatId: string,
    until: number,
    limit: number,
  ): Promise<readonly { readonly task: Task; readonly at: number }[]>;
  lastChange(query: LastChangeQuery): Promise<LastDeed | null>;
  /** Changes that one word has made to several tasks of the chat, by one of them, which is among them. */
  changesWith(chatId: string, change: LastChange): Promise<readonly LastChange[]>;

  /* ---- what is known of the messages of a chat ---- */
  /** The subject of a message; null when it is none of ours, or no longer known. */
  messageAt(address: string, messageId: number): Promise<MessageAbout | null>;
  /**
   * The highest message id known to have existed before that instant, by an update or a send of ours; null when none is.
   * Only where nothing older is known, one of the same instant counts.
   */
  lastMessageBefore(address: string, at: number): Promise<number | null>;
  /** Message ids above it that an update or a delivered part of ours explains, ascending. */
  explainedAfter(address: string, messageId: number, limit: number): Promise<readonly number[]>;
  /** Other parts of the chat whose fate is unknown, oldest send first. */
  unknownParts(address: string, except: string): Promise<readonly UnknownPart[]>;
  /** Topics of the chat that our own service updates tell of since the instant, and that belong to no task: newest last. */
  orphanTopics(
    address: string,
    name: string,
    since: number,
  ): Promise<readonly { readonly topicId: number; readonly at: number }[]>;
  isTopicTaken(address: string, topicId: number): Promise<boolean>;
  /** A callback from the message settles it; false when there was nothing to settle, or it is another message. */
  foundByPress(found: FoundByPress): Promise<boolean>;
  /** A person settles what nobody knows: it arrived, or it is sent again. False when it is settled already. */
  settleByHand(deliveryId: string, arrived: boolean, at: number): Promise<boolean>;
  /** Looks now at all that waits for a person in this chat (null: in all); `inDoubt` also makes topics that may exist. */
  retryBlocked(
    filter: { readonly chatId: string | null; readonly taskId: string | null; readonly inDoubt: boolean },
    at: number,
  ): Promise<number>;

  /** Results of the chat that wait since before the instant, as far as they are counted; null when none do. */
  waitingResults(chatId: string, before: number): Promise<WaitingResults | null>;

  /** Results that waited in the chat for quiet hours that end then, by task, oldest first; without those that were dropped. */
  heldParts(chatId: string, until: number): Promise<readonly HeldTask[]>;
}
