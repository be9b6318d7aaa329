import type { z } from 'zod';
import type { Wire } from '../../api/wire.ts';
import type {
  BotCommand,
  BotShown,
  Call,
  CallbackAnswer,
  Change,
  ChatShown,
  DocumentShown,
  Fault,
  MessageShown,
  Person,
  TopicShown,
} from '../world/world.ts';
import type * as bodies from './bodies.ts';

/** The types of this file are the JSON of the control API, as the server writes it and as the chat page reads it. */
export interface StateJson {
  readonly bot: BotShown & { readonly commands: readonly BotCommand[] };
  readonly people: readonly PersonJson[];
  readonly chats: readonly ChatJson[];
  readonly platform: PlatformJson;
  readonly clock: { readonly now: string; readonly next_at: string | null; readonly can_jump: boolean };
  readonly faults: readonly FaultJson[];
  /** Links lead to other places of the product, and stand below the list of chats. */
  readonly links: readonly PageLink[];
  /** Starters are texts that are worth saying first, for an empty chat. */
  readonly starters: readonly string[];
}

export type PersonJson = Wire<Person>;

export interface PageLink {
  readonly title: string;
  readonly href: string;
}

export interface PlatformJson {
  readonly ephemeral: boolean;
  readonly privacy: boolean;
}

export interface ChatJson extends Wire<Omit<ChatShown, 'id'>> {
  readonly chat_id: number;
  readonly key: string;
  readonly last: Pick<MessageJson, 'from' | 'text' | 'date'> | null;
  readonly general_last_message_id: number | null;
  readonly topics: readonly TopicJson[];
}

export interface TopicJson extends Wire<TopicShown> {
  readonly last_message_id: number | null;
}

export interface MessageJson extends Wire<Omit<MessageShown, 'document'>> {
  readonly document: DocumentJson | null;
}

export interface DocumentJson extends Wire<DocumentShown> {
  readonly is_photo: boolean;
}

export interface FaultJson extends Wire<Omit<Fault, 'chat'>> {
  readonly chat: number | null;
}

export type CallJson = Wire<Call>;

/** A change is one entry of the stream of events. */
export interface ChangeJson {
  readonly kind: Change['kind'] | 'clock';
  readonly chat_id: number | null;
}

export interface MessagesJson {
  readonly chat_id: number;
  readonly messages: readonly MessageJson[];
  readonly has_older: boolean;
}

export interface PressedJson {
  readonly callback_id: string;
  readonly message_id: number;
  readonly ephemeral_id: number | null;
  /** The callback is the answer of the bot, and null while it has given none. */
  readonly callback: CallbackAnswer | null;
  readonly answers: readonly MessageJson[];
}

export interface JumpedJson {
  readonly now: string;
  readonly visited: number;
  readonly next_at: string | null;
}

/** The answer to a request that is refused or fails. */
export interface FaultedJson {
  readonly error: { readonly code: string; readonly message: string };
}

/** Views are the answers that the page reads, by the name of the GET. */
export interface Views {
  readonly state: StateJson;
  readonly messages: MessagesJson;
  readonly calls: { readonly calls: readonly CallJson[] };
}

/** Bodies are what the page sends, by the name of the POST. */
export interface Bodies {
  readonly say: z.input<typeof bodies.sayBody>;
  readonly press: z.input<typeof bodies.pressBody>;
  readonly edit: z.input<typeof bodies.editBody>;
  readonly topic: z.input<typeof bodies.topicBody>;
  readonly forum: z.input<typeof bodies.forumBody>;
  readonly migrate: z.input<typeof bodies.migrateBody>;
  readonly member: z.input<typeof bodies.memberBody>;
  readonly rights: z.input<typeof bodies.rightsBody>;
  readonly bot: z.input<typeof bodies.botBody>;
  readonly platform: z.input<typeof bodies.platformBody>;
  readonly fault: z.input<typeof bodies.faultBody>;
  readonly jump: z.input<typeof bodies.jumpBody>;
  readonly reset: z.input<typeof bodies.resetBody>;
}

/** Answers are those to a POST of which the page reads more than that it succeeded. */
export interface Answers {
  readonly press: PressedJson;
  readonly jump: JumpedJson;
}
