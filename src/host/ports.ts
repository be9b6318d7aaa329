import type { Clock, Stopwatch, Timer } from '../app/ports/outside.ts';

/** What the verbs of this computer need from the rest; compose puts it together. */
export interface HostPorts {
  readonly version: string;
  readonly clock: Clock;
  readonly stopwatch: Stopwatch;
  readonly timer: Timer;
  /** The configuration, out of the environment and the `.env` of the working folder. */
  readonly settings: () => SettingsRead;
  readonly data: Data;
  readonly telegram: Telegram;
  readonly system: System;
  readonly asking: Asking;
}

export interface Settings {
  readonly token: string | null;
  readonly apiRoot: string;
  readonly webhookUrl: string | null;
  readonly owners: readonly string[];
  readonly isSandboxed: boolean;
  readonly timezone: string;
  /** Null where the database is a Postgres server. */
  readonly databaseFile: string | null;
  readonly dataFolder: string;
  readonly host: string;
  readonly port: number;
  /** Null where the token of the API is made at the first start, in `tokenFile`. */
  readonly apiToken: string | null;
  readonly tokenFile: string;
  readonly retentionDays: number;
  readonly retentionDaysMin: number;
  readonly backupsKept: number;
}

export interface SettingsFault {
  readonly variable: string;
  readonly problem: string;
  readonly example: string;
}

/** What is wrong counts as absent, so that the rest can be looked at all the same. */
export interface SettingsRead {
  readonly settings: Settings;
  readonly faults: readonly SettingsFault[];
  /** Variables that nobody reads, and the one that was probably meant. */
  readonly strays: readonly { readonly variable: string; readonly nearest: string | null }[];
  /** What must never be shown. */
  readonly secrets: readonly string[];
}

/* ---- the database ---- */

export interface DataFacts {
  readonly bytes: number;
  readonly missing: readonly string[];
  readonly newer: readonly string[];
  readonly zoneRules: string | null;
  readonly tasks: number;
  readonly activeTasks: number;
  readonly lastSlotAt: number | null;
  readonly aliveAt: number | null;
  readonly chats: readonly { readonly address: string; readonly title: string | null; readonly kind: string | null }[];
}

export type Inspected =
  | { readonly is: 'sound'; readonly facts: DataFacts }
  | { readonly is: 'absent' }
  | { readonly is: 'foreign' | 'damaged' | 'unreadable'; readonly reason: string };

export interface Holder {
  readonly pid: number;
  readonly host: string;
  readonly since: number | null;
}

export type Held =
  | { readonly is: 'free' }
  | { readonly is: 'held'; readonly by: Holder | null }
  | { readonly is: 'unknown'; readonly reason: string };

export interface Copy {
  readonly file: string;
  readonly bytes: number;
  readonly at: number;
}

export interface RestoreRequest {
  readonly copy: string;
  readonly reached: (step: string) => void;
  readonly approve: (choice: { readonly copy: DataFacts; readonly present: Inspected }) => Promise<boolean>;
}

/** The database of the configuration. */
export interface Data {
  /** Proves that the driver can be loaded; throws what it says. */
  loadDriver(): string;
  inspect(): Promise<{ readonly inspected: Inspected; readonly held: Held; readonly server: string | null }>;
  inspectFile(file: string): Inspected;
  /** The copies in the folder beside the database, the newest first. */
  copies(): readonly Copy[];
  /** Copies that were set aside before an upgrade or a restore. */
  setAside(): readonly Copy[];
  /** Null for the folder beside the database. */
  copy(target: string | null, now: number): Promise<Copy>;
  prune(keep: number): Promise<number>;
  /** Null when it was not approved. Throws `AppError`. */
  restore(request: RestoreRequest): Promise<{ readonly facts: DataFacts; readonly kept: string | null } | null>;
  /** Files of the product in its data folder, the database among them. */
  files(): readonly string[];
}

/* ---- Telegram ---- */

export type Told<T> =
  | { readonly is: 'ok'; readonly value: T }
  /** The platform does not know this token. */
  | { readonly is: 'token' }
  /** Updates are fetched by somebody else, or go to a webhook. */
  | { readonly is: 'conflict' | 'webhook' }
  | { readonly is: 'refused' | 'away'; readonly error: string };

export interface BotFacts {
  readonly id: number;
  readonly name: string;
  readonly username: string;
  readonly hasTopics: boolean;
  readonly readsEverything: boolean;
}

export interface WebhookFacts {
  readonly url: string;
  readonly pending: number;
  readonly lastError: string | null;
  readonly lastErrorAt: number | null;
}

/** A text that somebody wrote to the bot in a private chat. */
export interface Heard {
  readonly updateId: number;
  readonly userId: number;
  readonly name: string;
  readonly text: string;
}

/** What waits for the bot. */
export interface Waiting {
  readonly texts: readonly Heard[];
  /** Nothing more waits behind these. */
  readonly isAll: boolean;
}

export interface ChatStanding {
  readonly isForum: boolean;
  readonly isAdmin: boolean;
  readonly isMember: boolean;
  readonly canManageTopics: boolean;
  readonly canPin: boolean;
}

/** Questions that change nothing at the other end. */
export interface Bot {
  me(): Promise<Told<BotFacts>>;
  webhook(): Promise<Told<WebhookFacts>>;
  /** What waits for the bot, without taking it away: whoever asks next gets it all the same. */
  heard(waitSeconds: number): Promise<Told<Waiting>>;
  standing(address: string, botId: number): Promise<Told<ChatStanding>>;
  close(): void;
}

export interface Telegram {
  bot(token: string, apiRoot: string): Bot;
  /** The clock of the other end, between two looks at our own. */
  time(apiRoot: string): Promise<Told<{ readonly theirs: number; readonly from: number; readonly to: number }>>;
  /** Adds the bot to a group, with the rights that it needs ticked. */
  groupLink(username: string): string;
  /** A code that nobody can guess. */
  code(): string;
}

/* ---- the operating system ---- */

export type Ran =
  | { readonly is: 'ran'; readonly code: number; readonly out: string; readonly err: string }
  | { readonly is: 'absent' };

export interface System {
  /** The working folder: the home of `.env`, and of everything that is named relatively. */
  readonly folder: string;
  /** The folder of the program. */
  readonly program: string;
  readonly node: { readonly path: string; readonly version: string; readonly zoneRules: string };
  readonly host: string;
  /** Where units of the user are kept. */
  readonly userUnits: string;
  readonly systemUnits: string;
  readonly userName: string;
  isRunning(pid: number): boolean;
  /** False where this computer was not started by systemd. */
  hasSystemd(): boolean;
  run(command: string, args: readonly string[]): Promise<Ran>;
  /** What the `.env` of the working folder says by itself; null when there is none. */
  envFile(): SettingsRead | null;
  /** Gives what root made to whoever owns `like`. */
  giveTo(like: string, path: string): void;
  giveToUser(user: string, path: string): void;
  /** Whose a file or a folder is: a name, or a number where there is no name. */
  ownerName(path: string): string;
  readonly zoneGuess: string;
}

/* ---- questions to a person ---- */

export interface Option<T extends string> {
  readonly value: T;
  readonly label: string;
  readonly hint?: string;
}

/** Questions to whoever sits there. Each throws `cancelled` when that person leaves. */
export interface Asking {
  intro(title: string): void;
  outro(text: string): void;
  say(text: string): void;
  good(text: string): void;
  warn(text: string): void;
  secret(question: string, fault: (text: string) => string | undefined): Promise<string>;
  text(
    question: string,
    given: { readonly initial?: string; readonly fault: (text: string) => string | undefined },
  ): Promise<string>;
  confirm(question: string, initial: boolean): Promise<boolean>;
  /** Null when `until` was over before there was an answer. */
  choose<T extends string>(question: string, options: readonly Option<T>[], until?: AbortSignal): Promise<T | null>;
}
