import type { Formatted } from '../bot-api/texts.ts';
import { messageJson, userJson } from '../bot-api/wire.ts';
import { bot, botKey, people } from './first-world.ts';
import type { ChatRow, EphemeralRow, MessageRow, ServiceRow, TopicRow, UpdateKind } from './rows.ts';
import { messageLine, onlyWords, placeName, speaker } from './shown.ts';
import type { State } from './state.ts';
import type { EntityShown } from './world.ts';

/** Updates wait for the bot for a day; a callback is of no use after two and a half minutes. */
const updateLifeSeconds = 86_400;
const callbackUpdateLifeSeconds = 150;

/** The kinds that a bot must ask for by name. */
const unasked: ReadonlySet<UpdateKind> = new Set<UpdateKind>(['chat_member']);

/** For whom alone a message is. */
export type Secrecy = Pick<EphemeralRow, 'person' | 'replaces' | 'replyTo'>;

type Chosen = Omit<MessageRow, 'chatId' | 'from' | 'messageId' | 'replyRoot' | 'date' | 'ephemeral'>;

/** A message before it has its id. */
interface Draft extends Pick<MessageRow, 'chatId' | 'from'>, Partial<Chosen> {
  readonly ephemeral?: Secrecy | null;
}

const blank = {
  threadId: null,
  text: '',
  entities: [],
  keyboard: null,
  hasReplyKeyboard: false,
  editDate: null,
  replyTo: null,
  isPinned: false,
  isSilent: false,
  service: null,
  document: null,
  album: null,
  reactions: [],
  isHidden: false,
} satisfies Chosen;

/** Events in the chats, whoever caused them: ids are given, the other side is told, the transcript is written. */
export class Platform {
  readonly state: State;
  /** Called when updates were added and are written. */
  onUpdate: () => void = () => {};

  constructor(state: State) {
    this.state = state;
  }

  post(draft: Draft): MessageRow {
    const { chatId, from } = draft;
    const row: MessageRow = {
      ...blank,
      ...draft,
      ...this.#idsOf(draft),
      replyRoot: this.#rootOf(draft),
      date: this.state.seconds(),
    };
    const stored = this.state.messages.put({ ...row, isHidden: !this.#isHeard(row) });
    if (!stored.isHidden) this.#reveal(stored);
    this.state.addLine(chatId, messageLine(this.state, stored));
    this.state.tell('message', chatId);
    if (!stored.isHidden && (from !== botKey || row.service !== null)) {
      this.addUpdate('message', chatId, messageJson(this.state, stored));
    }
    return stored;
  }

  /** Puts the changed row and writes down that it was edited. */
  edited(row: MessageRow): MessageRow {
    const stored = this.state.messages.put({ ...row, editDate: this.state.seconds() });
    const words = stored.service === null ? messageLine(this.state, stored, 'edits') : '';
    this.state.addLine(row.chatId, words);
    this.state.tell('edit', row.chatId);
    return stored;
  }

  remove(row: MessageRow, by: string): void {
    this.state.removeMessage(row);
    // The bot removes words of a person when nobody may read them any more, such as a key.
    if (by === botKey && row.from !== botKey) {
      const said = (['says', 'edits'] as const).map((verb) => messageLine(this.state, row, verb));
      const blank = messageLine(this.state, { ...row, text: '(deleted)', keyboard: null });
      this.state.forget(row.chatId, said, blank);
    }
    this.note(row.chatId, row.threadId, `${speaker(by)} deletes a message${onlyWords(row.ephemeral)}`);
    this.state.tell('delete', row.chatId);
  }

  note(chatId: number, threadId: number | null, words: string): void {
    this.state.addLine(chatId, `${placeName(this.state, chatId, threadId)} ${words}`);
  }

  addTopic(
    place: { readonly chat: number; readonly by: string },
    { name, iconColor }: Pick<TopicRow, 'name' | 'iconColor'>,
  ): TopicRow {
    // The id of a topic is the id of the message that tells of it, which stands inside of it.
    const threadId = this.#peekId(place.chat);
    const topic = this.state.topics.put({
      chatId: place.chat,
      threadId,
      name,
      iconColor,
      isClosed: false,
      isDeleted: false,
      createdBy: place.by,
    });
    const value = { name, icon_color: iconColor };
    this.post({ chatId: place.chat, from: place.by, threadId, service: { field: 'forum_topic_created', value } });
    this.state.tell('topic', place.chat);
    return topic;
  }

  /** A deleted topic takes its messages along, and no one is told: the Bot API has no update for it. */
  deleteTopic(topic: TopicRow, by: string): void {
    this.note(topic.chatId, topic.threadId, `${speaker(by)} deletes the topic`);
    for (const row of this.state.messages.all()) {
      if (row.chatId === topic.chatId && row.threadId === topic.threadId) this.state.removeMessage(row);
    }
    this.state.topics.put({ ...topic, isDeleted: true });
    this.state.tell('topic', topic.chatId);
  }

  changeTopic(topic: TopicRow, by: string, service: ServiceRow): void {
    this.state.topics.put(topic);
    this.post({ chatId: topic.chatId, from: by, threadId: topic.threadId, service });
    this.state.tell('topic', topic.chatId);
  }

  addUpdate(kind: UpdateKind, from: number | string, content: unknown): void {
    if (!this.isAllowed(kind)) return;
    const updateId = this.state.count('lastUpdate');
    const life = kind === 'callback_query' ? callbackUpdateLifeSeconds : updateLifeSeconds;
    this.state.updates.put({
      updateId,
      kind,
      expires: this.state.seconds() + life,
      queue: String(from),
      body: { update_id: updateId, [kind]: content },
    });
    this.state.afterwards(this.onUpdate);
  }

  isAllowed(kind: UpdateKind): boolean {
    const { allowedUpdates } = this.state.settings;
    return allowedUpdates === null ? !unasked.has(kind) : allowedUpdates.includes(kind);
  }

  /** The body of my_chat_member and chat_member. */
  memberChange(
    chat: Readonly<Record<string, unknown>>,
    by: string,
    members: { readonly before: unknown; readonly after: unknown },
  ): Readonly<Record<string, unknown>> {
    return {
      chat,
      from: userJson(by),
      date: this.state.seconds(),
      old_chat_member: members.before,
      new_chat_member: members.after,
    };
  }

  isIn(chat: ChatRow): boolean {
    return chat.botStatus === 'member' || chat.botStatus === 'administrator';
  }

  /**
   * Privacy mode: in a group a plain member hears of commands, of answers to itself, of its own name, and of service
   * messages. An administrator hears everything.
   */
  #isHeard(row: MessageRow): boolean {
    const chat = this.state.chat(row.chatId);
    if (row.from === botKey) return true;
    if (chat === undefined || !this.isIn(chat)) return false;
    if (chat.kind === 'private' || chat.botStatus === 'administrator' || row.service !== null) return true;
    if (row.ephemeral !== null || !this.state.settings.isPrivacyOn) return true;
    return this.#isMeantForMe(row);
  }

  #isMeantForMe(row: MessageRow): boolean {
    const answered = row.replyTo === null ? undefined : this.state.message(row.chatId, row.replyTo);
    return answered?.from === botKey || isCommandForMe(row) || isAboutMe(row);
  }

  /** The message that a heard one answers comes along with it, and can be passed on from then on. */
  #reveal({ chatId, replyTo }: MessageRow): void {
    const target = replyTo === null ? undefined : this.state.message(chatId, replyTo);
    if (target?.isHidden === true) this.state.messages.put({ ...target, isHidden: false });
  }

  #idsOf({ chatId, ephemeral = null }: Draft): Pick<MessageRow, 'messageId' | 'ephemeral'> {
    if (ephemeral === null) return { messageId: this.#nextId(chatId), ephemeral };
    const after = this.#peekId(chatId) - 1;
    const chat = this.state.chat(chatId);
    const id = (chat?.lastEphemeralId ?? 0) + 1;
    if (chat !== undefined) this.state.chats.put({ ...chat, lastEphemeralId: id });
    return { messageId: 0, ephemeral: { id, after, ...ephemeral } };
  }

  #rootOf({ chatId, threadId = null, replyTo = null }: Draft): number | null {
    if (threadId !== null || replyTo === null || this.state.chat(chatId)?.kind !== 'supergroup') return null;
    return this.state.message(chatId, replyTo)?.replyRoot ?? replyTo;
  }

  #nextId(chatId: number): number {
    const chat = this.state.chat(chatId);
    if (chat?.kind !== 'supergroup') return this.state.count('mailbox');
    const lastMessageId = chat.lastMessageId + 1;
    this.state.chats.put({ ...chat, lastMessageId });
    return lastMessageId;
  }

  #peekId(chatId: number): number {
    const chat = this.state.chat(chatId);
    return (chat?.kind === 'supergroup' ? chat.lastMessageId : this.state.settings.mailbox) + 1;
  }
}

/** A command at the very beginning that names no other bot. */
export function isCommandForMe(content: Formatted): boolean {
  return content.entities.some((entity) => {
    const name = nameIn(content, entity);
    return entity.type === 'bot_command' && entity.offset === 0 && (name === undefined || isMe(name));
  });
}

function isAboutMe(content: Formatted): boolean {
  return content.entities.some((entity) => entity.type === 'mention' && isMe(nameIn(content, entity)));
}

function nameIn({ text }: Formatted, { offset, length }: EntityShown): string | undefined {
  return text.slice(offset, offset + length).split('@')[1];
}

function isMe(username: string | undefined): boolean {
  return username?.toLowerCase() === bot.username;
}

/** Ids of people that the bot has met: it shares a group with them, or they have written to it. */
export function hasMet(state: State, userId: number): boolean {
  const person = people.find(({ id }) => id === userId);
  if (person === undefined) return false;
  return state.chats.all().some((chat) => {
    if (chat.kind === 'private') return chat.person === person.key && chat.isStarted;
    const status = chat.members[person.key];
    return (chat.botStatus === 'member' || chat.botStatus === 'administrator') && isPresent(status);
  });
}

export function isPresent(status: string | undefined): boolean {
  return status === 'creator' || status === 'administrator' || status === 'member';
}
