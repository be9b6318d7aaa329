import type {
  BotCommand,
  BotRights,
  BotStatus,
  CallbackAnswer,
  ChatShown,
  Fault,
  Features,
  MemberStatus,
  MessageShown,
  TopicShown,
} from './world.ts';

/** Rows are replaced, never changed, so that an action that fails can be taken back. */
export interface ChatRow extends Omit<ChatShown, 'members' | 'bot'> {
  readonly members: Readonly<Record<string, MemberStatus>>;
  readonly botStatus: BotStatus;
  readonly botRights: BotRights;
  /** Supergroups count their messages themselves; all other chats share the mailbox of the bot. */
  readonly lastMessageId: number;
  readonly lastEphemeralId: number;
}

export interface TopicRow extends TopicShown {
  readonly chatId: number;
  readonly iconColor: number;
}

export type ButtonRow = Readonly<Record<string, unknown>> & { readonly text: string };
export type Keyboard = readonly (readonly ButtonRow[])[];

export interface ServiceRow {
  readonly field: string;
  /** As in the Bot API; a `pinned_message` is kept as the id of the message. */
  readonly value: unknown;
}

/** The part of a message that makes it one for a single person and the bot. */
export interface EphemeralRow {
  readonly id: number;
  /** The one who sees it, whether it is from this person or from the bot. */
  readonly person: string;
  /** The newest ordinary id of the chat at that time: it stands behind that message. */
  readonly after: number;
  readonly replaces: number | null;
  /** The ephemeral message that it answers. */
  readonly replyTo: number | null;
}

/** A message with what only the server needs. The text of a service message is empty. */
export interface MessageRow extends Omit<MessageShown, 'ephemeralId' | 'onlyFor' | 'replaces' | 'buttons' | 'service'> {
  /** The first message of a chain of replies outside of every topic. */
  readonly replyRoot: number | null;
  readonly keyboard: Keyboard | null;
  /** Sent with a keyboard that is none of buttons below it: such a message cannot be edited. */
  readonly hasReplyKeyboard: boolean;
  readonly ephemeral: EphemeralRow | null;
  readonly service: ServiceRow | null;
  /** The bot has not seen it, and can do nothing with it: privacy mode, or it was not in the chat. */
  readonly isHidden: boolean;
}

export const updateKinds = ['message', 'edited_message', 'callback_query', 'my_chat_member', 'chat_member'] as const;
export type UpdateKind = (typeof updateKinds)[number];

export interface UpdateRow {
  readonly updateId: number;
  readonly kind: UpdateKind;
  /** Seconds after which it is not delivered any more. */
  readonly expires: number;
  /** Updates of one queue are pushed one after the other. */
  readonly queue: string;
  readonly body: unknown;
}

export interface CallbackRow {
  readonly id: string;
  readonly chatId: number;
  readonly messageId: number;
  readonly ephemeralId: number | null;
  readonly person: string;
  readonly data: string;
  /** Milliseconds of the wall clock. */
  readonly at: number;
  readonly answer: CallbackAnswer | null;
}

export interface WebhookRow {
  readonly url: string;
  readonly secret: string;
  readonly maxConnections: number;
  readonly ipAddress: string | null;
  readonly lastErrorDate: number | null;
  readonly lastErrorMessage: string | null;
}

/** Numbers that only ever grow, so that nothing is named like something before it. */
export interface Counters {
  readonly mailbox: number;
  readonly lastUpdate: number;
  readonly lastCallback: number;
  readonly lastFile: number;
  readonly lastAlbum: number;
  readonly lastFault: number;
  readonly lastLine: number;
  readonly lastCall: number;
  readonly lastMigration: number;
}

/** One row holds what the bot has set for itself. */
export interface SettingsRow extends Counters, Features {
  /** Null while the bot has not chosen. */
  readonly allowedUpdates: readonly string[] | null;
  readonly webhook: WebhookRow | null;
  readonly commands: Readonly<Record<string, readonly BotCommand[]>>;
}

export interface LineRow {
  readonly seq: number;
  readonly chatId: number;
  readonly text: string;
}

export interface FaultRow extends Fault {
  readonly id: string;
  /** Calls that it could have met, for the even spreading of `chance`. */
  readonly seen: number;
}
