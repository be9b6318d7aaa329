import type { Actor } from '../../domain/access.ts';
import type { Sum } from '../../domain/spending/usage.ts';
import type { Thread } from '../../domain/thread.ts';
import type { Chat, User } from './chats.ts';
import type { Page, PageQuery } from './runs.ts';

/** Sums over a chat, and over the whole server, for those who ask how things stand. They decide nothing. */

export interface ChatUsage {
  readonly runs: number;
  readonly failures: number;
  readonly messages: number;
  /** There are more than were counted. */
  readonly isCapped: boolean;
  /** Consumption of the runs, by kind. */
  readonly spent: readonly Sum[];
}

export interface NewsQuery {
  readonly chatId: string;
  readonly since: number;
  /** The task that asks says nothing of itself. */
  readonly except: string;
  /** Rows of each kind. */
  readonly limit: number;
}

interface Named {
  readonly number: number;
  readonly title: string;
}

/** News of the tasks of a chat since an instant, and those of them that wait. */
export interface ChatNews {
  readonly failed: readonly (Named & { readonly count: number; readonly error: string | null })[];
  /** Slots that asked for Done, and to which nobody has said it. */
  readonly notDone: readonly (Named & { readonly at: number })[];
  readonly succeeded: readonly (Named & { readonly count: number; readonly done: number; readonly notDone: number })[];
  readonly snoozed: readonly (Named & { readonly at: number })[];
  readonly paused: readonly (Named & { readonly at: number | null })[];
  readonly waiting: readonly (Named & { readonly for: 'done' | 'approval'; readonly count: number })[];
}

/** Topics of tasks that are completed or deleted; `open` counts those that nobody has closed. */
export interface FinishedTopics {
  readonly all: number;
  readonly open: number;
}

/** Closes, or removes, as many topics of finished tasks as somebody was told of; the oldest first. */
export interface Cleaning {
  /** Names it: the same again changes nothing more. */
  readonly id: string;
  readonly chatId: string;
  readonly deed: 'close' | 'removeTopic';
  readonly expected: number;
  readonly limit: number;
  readonly actor: Actor;
  readonly at: number;
  /** Where it is told what became of it. */
  readonly thread: { readonly topic: number | null };
}

export interface CleanedTopics {
  readonly done: number;
  readonly failed: readonly { readonly name: string; readonly error: string | null }[];
}

export interface TaskCounts {
  readonly tasks: number;
  readonly active: number;
  readonly paused: number;
  readonly completed: number;
}

export interface ServerFacts extends TaskCounts {
  /** Active tasks whose slot has come and was not taken up yet, and the oldest such slot. */
  readonly due: number;
  readonly dueSince: number | null;
  /** When the next slot of any task is due. */
  readonly nextDueAt: number | null;
  readonly running: number;
  /** Runs that wait for their turn, or for another try. */
  readonly queued: number;
  readonly pending: number;
  readonly blocked: number;
  readonly unknown: number;
  readonly chats: number;
  /** Null for a caller of some chats. */
  readonly databaseBytes: number | null;
  /** When the oldest run was made that is still remembered. */
  readonly oldestRunAt: number | null;
}

export interface SentMessage {
  readonly messageId: number;
  readonly address: string;
  readonly topic: number | null;
}

export interface ChatFacts {
  chatNews(query: NewsQuery): Promise<ChatNews>;
  /** Choices of its admins; none for a chat that is not known. */
  chatSettings(chatId: string): Promise<Readonly<Record<string, unknown>>>;
  /** Chats in which somebody has asked for something and that nobody has approved, the newest first. */
  waitingChats(limit: number): Promise<readonly Chat[]>;
  /** People who are known by that name, whatever its case. */
  usersNamed(name: string, limit: number): Promise<readonly User[]>;
  /** Subjects of its tasks, each as it is spelled. */
  subjectsIn(chatId: string): Promise<readonly string[]>;
  /** How its admins are called, as far as somebody has told: whoever approved the chat first. */
  adminNames(chatId: string, limit: number): Promise<readonly string[]>;
  /** Where a message of ours arrived; null when it has not, or nobody remembers. */
  sentMessage(deliveryId: string): Promise<SentMessage | null>;
  finishedTopics(chatId: string): Promise<FinishedTopics>;
  /** False where there are not as many as were expected: then nothing is done. */
  cleanTopics(cleaning: Cleaning): Promise<boolean>;
  cleanedTopics(id: string): Promise<CleanedTopics>;
  /** All but the sums over all tasks, which are counted a page at a time. */
  serverFacts(now: number): Promise<Omit<ServerFacts, keyof TaskCounts>>;
}

/* ---- who is let in ---- */

/** A person or a group that is let in. */
export interface AccessEntry {
  readonly id: string;
  readonly address: string;
  readonly name: string | null;
  readonly role: 'owner' | 'user' | 'group';
  /** The one who let them in, and when, as far as that was noted. */
  readonly by: Actor | null;
  readonly since: number | null;
}

export interface AccessChange {
  /** As it stands now. */
  readonly chat: Chat;
  /** The row of the audit; null when nothing changed. */
  readonly entryId: string | null;
}

interface Admitting {
  readonly address: string;
  readonly by: Actor;
  /** A new id for the chat, used when it is seen for the first time. */
  readonly newId: string;
  readonly at: number;
  readonly traceId?: string | null | undefined;
}

export interface LettingIn extends Admitting {
  readonly title: string | null;
  /** Null where it stays as it is. */
  readonly role: 'owner' | 'user' | null;
}

export interface ShuttingOut extends Admitting {
  /** `refused` by somebody; `new` where nobody names them any more. */
  readonly to: 'refused' | 'new';
}

export interface LetIn extends AccessChange {
  readonly entry: AccessEntry;
}

export interface ShutOut extends AccessChange {
  /** Tasks of the chat that went on until then. */
  readonly paused: number;
}

/** A chat as those know it who ask for it by its title. */
export interface KnownThread extends Pick<Chat, 'title' | 'state' | 'timezone'> {
  readonly thread: Thread;
}

export interface ThreadQuery extends PageQuery {
  /** Only the chat of this thread. */
  readonly of: Thread | null;
}

export interface AccessStore {
  /** Chats of people and groups, whatever their standing, newest first. */
  listThreads(query: ThreadQuery): Promise<Page<KnownThread>>;
  listAccess(query: PageQuery): Promise<Page<AccessEntry>>;
  letIn(request: LettingIn): Promise<LetIn>;
  shutOut(request: ShuttingOut): Promise<ShutOut>;
}
