import type { Chat, User } from './chats.ts';

/** Sums over a chat, and over the whole server, for those who ask how things stand. They decide nothing. */

export interface ChatUsage {
  readonly runs: number;
  readonly failures: number;
  readonly messages: number;
  /** There are more than were counted. */
  readonly isCapped: boolean;
  /** Consumption of the runs, by kind. */
  readonly spent: readonly { readonly kind: string; readonly quantity: number }[];
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
  readonly succeeded: readonly (Named & { readonly count: number; readonly done: number })[];
  readonly snoozed: readonly (Named & { readonly at: number })[];
  readonly paused: readonly (Named & { readonly at: number | null })[];
  readonly waiting: readonly (Named & { readonly for: 'done' | 'approval'; readonly count: number })[];
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
  readonly databaseBytes: number;
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
  /** How its admins are called, as far as somebody has told: whoever approved the chat first. */
  adminNames(chatId: string, limit: number): Promise<readonly string[]>;
  /** Where a message of ours arrived; null when it has not, or nobody remembers. */
  sentMessage(deliveryId: string): Promise<SentMessage | null>;
  /** All but the sums over all tasks, which are counted a page at a time. */
  serverFacts(now: number): Promise<Omit<ServerFacts, keyof TaskCounts>>;
}
