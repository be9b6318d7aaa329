import type { z } from 'zod';
import type {
  BotRights,
  BotShown,
  BotStatus,
  ButtonShown,
  Call,
  CallbackAnswer,
  Change,
  ChatKind,
  EntityShown,
  FaultKind,
  MediaKind,
  MemberStatus,
} from '../world/world.ts';
import type * as bodies from './bodies.ts';
import type { BotCommand } from './calls.ts';

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

export interface PersonJson {
  readonly key: string;
  readonly id: number;
  readonly first_name: string;
  readonly username: string;
}

export interface PageLink {
  readonly title: string;
  readonly href: string;
}

export interface PlatformJson {
  readonly ephemeral: boolean;
  readonly privacy: boolean;
}

export interface ChatJson {
  readonly chat_id: number;
  readonly key: string;
  readonly kind: ChatKind;
  readonly title: string;
  readonly is_forum: boolean;
  readonly is_started: boolean;
  readonly migrated_to: number | null;
  readonly person: string | null;
  readonly members: readonly { readonly key: string; readonly status: MemberStatus }[];
  readonly bot: { readonly status: BotStatus; readonly rights: BotRights };
  readonly last: { readonly from: string; readonly text: string; readonly date: number } | null;
  readonly general_last_message_id: number | null;
  readonly topics: readonly TopicJson[];
}

export interface TopicJson {
  readonly thread_id: number;
  readonly name: string;
  readonly is_closed: boolean;
  readonly is_deleted: boolean;
  readonly created_by: string;
  readonly last_message_id: number | null;
}

export interface MessageJson {
  readonly chat_id: number;
  readonly message_id: number;
  readonly ephemeral_id: number | null;
  readonly only_for: string | null;
  readonly replaces: number | null;
  readonly thread_id: number | null;
  readonly from: string;
  readonly date: number;
  readonly edit_date: number | null;
  readonly text: string;
  readonly entities: readonly EntityShown[];
  readonly buttons: readonly (readonly ButtonShown[])[];
  readonly reply_to: number | null;
  readonly is_pinned: boolean;
  readonly is_silent: boolean;
  readonly service: string | null;
  readonly document: DocumentJson | null;
  readonly reactions: readonly string[];
}

export interface DocumentJson {
  readonly file_id: string;
  readonly kind: MediaKind;
  readonly name: string;
  readonly mime_type: string;
  readonly size: number;
  readonly is_photo: boolean;
}

export interface FaultJson {
  readonly id: string | undefined;
  readonly kind: FaultKind;
  readonly method: string;
  readonly chat: number | null;
  readonly count: number;
  readonly retry_after: number | undefined;
  readonly delay_ms: number | undefined;
  readonly chance: number | undefined;
}

export type CallJson = Omit<Call, 'at'> & { readonly at: string };

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

/** A request that is refused or fails is answered so. */
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
