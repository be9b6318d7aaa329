/** Deeds of people in the chats, and views of them: the side of the sandbox that is not the Bot API. */
export interface World {
  readonly people: readonly Person[];
  readonly bot: BotShown;
  /** The longest menu of commands that the bot offers in no particular language. */
  commands(): readonly BotCommand[];
  chats(): readonly ChatShown[];
  topics(chatId: number): readonly TopicShown[];
  /** The newest last. `thread: null` is what stands outside of every topic; without `thread`, all of the chat. */
  messages(chatId: number, page?: MessagePage): readonly MessageShown[];
  say(what: Saying): MessageShown;
  press(what: Pressing): { readonly callbackId: string };
  /** The bot's answer to the callback; null while there is none. */
  callbackAnswer(callbackId: string): CallbackAnswer | null;
  edit(what: Editing): void;
  /** The bytes of a file that was sent, by its `fileId`; null when there is none. */
  file(fileId: string): FileShown | null;

  createTopic(chat: number, as: string, name: string): number;
  deleteTopic(chat: number, thread: number): void;
  closeTopic(chat: number, thread: number, as?: string): void;
  reopenTopic(chat: number, thread: number, as?: string): void;
  setForum(chat: number, on: boolean): void;
  setBotRights(chat: number, rights: Partial<BotRights>): void;
  /** A private chat knows `member` (started, unblocked) and `kicked` (blocked) only. Sends my_chat_member. */
  setBotStatus(chat: number, status: BotStatus, by: string): void;
  /** Sends chat_member where the bot has asked for it and is an administrator. */
  setMember(chat: number, person: string, status: MemberStatus): void;
  /** A plain group becomes a supergroup; answers its new id. */
  migrate(chat: number): number;

  features(): Features;
  /** Features that are not named stay as they are. */
  setFeatures(change: Partial<Features>): void;

  fault(fault: Fault): string;
  /** Without an id: all of them. */
  clearFault(id?: string): void;
  faults(): readonly Fault[];

  /** Calls of the bot after that sequence number, the oldest first. */
  calls(after?: number, limit?: number): readonly Call[];
  /** All that was said, edited, pressed and answered, as plain text in order; equal input gives equal text. */
  transcript(chatId?: number): string;
  watch(listener: (change: Change) => void): () => void;
  /** True while an update is not confirmed by the bot: by an offset, or by the 2xx of its webhook. */
  hasOpenUpdates(): boolean;
  /** Back to the first world. */
  reset(): void;
}

export interface Person {
  readonly key: string;
  readonly id: number;
  readonly firstName: string;
  readonly username: string;
}

export interface BotShown {
  readonly id: number;
  readonly name: string;
  readonly username: string;
}

export interface BotCommand {
  readonly command: string;
  readonly description: string;
  /** Set where the command is said to the bot alone. */
  readonly is_ephemeral?: true;
}

export type ChatKind = 'private' | 'supergroup' | 'group';
export type MemberStatus = 'creator' | 'administrator' | 'member' | 'left' | 'kicked';
export type BotStatus = 'member' | 'administrator' | 'kicked' | 'left';

export interface BotRights {
  readonly can_manage_topics: boolean;
  readonly can_pin_messages: boolean;
  readonly can_delete_messages: boolean;
}

/** Features that Telegram itself offers here, beyond the chats and their rights. */
export interface Features {
  /** Messages for one person alone; without them the parameter that asks for one is refused. */
  readonly isEphemeralOn: boolean;
  /** Privacy mode: in groups the bot hears only what is meant for it, unless it is an administrator. */
  readonly isPrivacyOn: boolean;
}

export interface ChatShown {
  readonly id: number;
  readonly kind: ChatKind;
  readonly title: string;
  readonly isForum: boolean;
  /** People who are in, or were thrown out; those who left are not listed. */
  readonly members: readonly { readonly key: string; readonly status: MemberStatus }[];
  readonly bot: { readonly status: BotStatus; readonly rights: BotRights };
  /** The person of a private chat. */
  readonly person: string | null;
  /** False for a private chat in which the person has not written yet. */
  readonly isStarted: boolean;
  /** Set on a group that became a supergroup: nobody can write there any more. */
  readonly migratedTo: number | null;
}

export interface TopicShown {
  readonly threadId: number;
  readonly name: string;
  readonly isClosed: boolean;
  readonly isDeleted: boolean;
  /** The key of a person, or `bot`. */
  readonly createdBy: string;
}

export interface MessagePage {
  readonly thread?: number | null;
  /** Only messages with a smaller id. */
  readonly before?: number;
  /** The key of a person: only what this one can see. */
  readonly as?: string;
  readonly limit?: number;
}

export interface EntityShown {
  readonly type: string;
  readonly offset: number;
  readonly length: number;
  readonly url?: string;
  readonly language?: string;
}

export interface ButtonShown {
  readonly text: string;
  readonly data?: string;
  readonly url?: string;
}

export const mediaKinds = ['photo', 'document', 'video', 'audio', 'voice', 'animation'] as const;
export type MediaKind = (typeof mediaKinds)[number];

/** A file of any kind that a message carries. */
export interface DocumentShown {
  readonly fileId: string;
  readonly kind: MediaKind;
  readonly name: string;
  readonly mimeType: string;
  readonly size: number;
}

export interface MessageShown {
  readonly chatId: number;
  /** 0 for an ephemeral message. */
  readonly messageId: number;
  /** Set on an ephemeral message, which has no other id. */
  readonly ephemeralId: number | null;
  /** The key of the only person who sees it; null when everybody does. */
  readonly onlyFor: string | null;
  /** The message in whose place that person sees it. */
  readonly replaces: number | null;
  readonly threadId: number | null;
  /** The key of a person, or `bot`. */
  readonly from: string;
  /** Seconds. */
  readonly date: number;
  readonly editDate: number | null;
  /** The text, or the caption of a file; of a service message, its words for people. */
  readonly text: string;
  readonly entities: readonly EntityShown[];
  readonly buttons: readonly (readonly ButtonShown[])[];
  readonly replyTo: number | null;
  readonly isPinned: boolean;
  /** True for a message that came without a sound. */
  readonly isSilent: boolean;
  /** The field of the Bot API that makes it a service message, such as `forum_topic_created`. */
  readonly service: string | null;
  readonly document: DocumentShown | null;
  /** The album of which it is one message, as they have it in common; null for a message alone. */
  readonly album: string | null;
  /** The emoji with which the bot reacted. */
  readonly reactions: readonly string[];
}

export interface SaidFile {
  readonly kind: MediaKind;
  readonly name?: string;
  readonly mimeType?: string;
  /** A sample of the kind when absent. */
  readonly bytes?: Uint8Array;
}

export interface Saying {
  readonly as: string;
  readonly chat: number;
  readonly thread?: number | null;
  /** With `media`, the caption, which may be empty; of an album, that of its first message. */
  readonly text: string;
  /** A file, or those of an album. */
  readonly media?: SaidFile | readonly SaidFile[];
  readonly replyTo?: number;
  /** An answer to an ephemeral message of the bot, which is one itself. */
  readonly replyToEphemeral?: number;
  /** False: a command that the bot has marked `is_ephemeral` is said aloud all the same. */
  readonly isEphemeral?: boolean;
}

export interface Pressing {
  readonly as: string;
  readonly chat: number;
  /** 0 when `ephemeralId` names the message. */
  readonly messageId: number;
  readonly ephemeralId?: number;
  /** The text or the data of the button. */
  readonly button: string;
}

export interface Editing {
  readonly as: string;
  readonly chat: number;
  readonly messageId: number;
  readonly text: string;
}

export interface CallbackAnswer {
  readonly text: string | null;
  readonly alert: boolean;
}

export interface FileShown {
  readonly name: string;
  readonly mimeType: string;
  readonly bytes: Uint8Array;
}

/**
 * 429 and 500 are errors in JSON, bad_gateway_html an error page: the call is not processed. hang: never answered, not
 * processed. reset_before and reset_after: the connection breaks before or after the call is processed. answer_lost:
 * processed and never answered. late: the connection breaks, and the call is processed `delayMs` later. misroute:
 * processed, but outside of the topic, as a faulty server did. wrong_topic: processed in the oldest other topic of the chat,
 * and a creation is answered with that one and not processed. wrong_shape: processed, and answered with an empty object
 * for its result.
 */
export const faultKinds = [
  '429',
  '500',
  'bad_gateway_html',
  'hang',
  'reset_before',
  'reset_after',
  'answer_lost',
  'late',
  'misroute',
  'wrong_topic',
  'wrong_shape',
] as const;
export type FaultKind = (typeof faultKinds)[number];

export interface Fault {
  readonly id?: string;
  readonly kind: FaultKind;
  /** The name of a method, `*` for any, or `send` for every method that sends a message. */
  readonly method: string;
  readonly chat?: number;
  /** Calls that it still meets. */
  readonly count: number;
  /** Seconds, for 429; 5 without it. */
  readonly retryAfter?: number;
  /** For late; 1,000 without it. */
  readonly delayMs?: number;
  /** The share of the calls that it meets, from 0 to 1; all without it. Spread evenly, so that runs are alike. */
  readonly chance?: number;
}

export interface Call {
  readonly seq: number;
  /** Milliseconds of the wall clock. */
  readonly at: number;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** The HTTP status; 0 when nothing was answered. */
  readonly status: number;
  /** The error text, or what came of it in a few words. */
  readonly answer: string;
  readonly fault: FaultKind | null;
}

export interface Change {
  readonly kind: 'message' | 'edit' | 'delete' | 'topic' | 'chat' | 'call' | 'callback' | 'fault';
  readonly chatId: number | null;
}

export type RefusalCode =
  | 'no_person'
  | 'no_chat'
  | 'no_topic'
  | 'no_message'
  | 'no_button'
  | 'not_a_member'
  | 'not_allowed'
  | 'topic_closed'
  | 'bad_text'
  | 'bad_input';

/** A deed that no one could do in these chats. The message is a sentence for the caller. */
export class SandboxRefusal extends Error {
  override readonly name = 'SandboxRefusal';
  readonly code: RefusalCode;

  constructor(code: RefusalCode, message: string) {
    super(message);
    this.code = code;
  }
}

export type JumpTarget = { readonly at: number } | { readonly byMs: number } | 'next';

/**
 * The clock of the sandbox as people move it. A jump visits each due slot on its way, waits until nothing is left to do,
 * and never goes back: a target in the past is refused with `too_late`.
 */
export interface Travel {
  now(): number;
  /** The instant of the next run; null while nothing is planned. */
  nextAt(): Promise<number | null>;
  jump(to: JumpTarget): Promise<{ readonly now: number; readonly visited: number }>;
}
