import { keepFile, newAlbum, sampleFile } from '../bot-api/media.ts';
import { captionMax, cleaned, textMax, type Formatted } from '../bot-api/texts.ts';
import { messageJson, userJson, commandsFor } from '../bot-api/wire.ts';
import { topicName, iconColors } from '../methods/topics.ts';
import { bot, people } from './first-world.ts';
import { isCommandForMe, isPresent, type Platform, type Secrecy } from './platform.ts';
import type { ChatRow, MessageRow, TopicRow } from './rows.ts';
import { onlyWords, speaker } from './shown.ts';
import type { State } from './state.ts';
import { SandboxRefusal, type Editing, type Person, type Pressing, type SaidFile, type Saying } from './world.ts';

interface TopicNamed {
  readonly chat: number;
  readonly thread: number;
  /** The owner of the chat where nobody is named. */
  readonly as: string | undefined;
}

/** Deeds of people in the chats; a sentence refuses what Telegram would not let them do. */
export class People {
  readonly #platform: Platform;
  readonly #state: State;

  constructor(platform: Platform) {
    this.#platform = platform;
    this.#state = platform.state;
  }

  say(saying: Saying): MessageRow {
    const { as, chat: chatId, thread, text, replyTo } = saying;
    const chat = this.#placeOf(as, chatId);
    const files = filesOf(saying);
    const content = readable(text, files.length > 0);
    const target = replyTo === undefined ? null : this.#message(chatId, replyTo);
    const place = thread ?? (thread === undefined && chat.isForum ? (target?.threadId ?? null) : null);
    this.#checkTopic(chat, place, as);
    const ephemeral = this.#secrecyOf(chat, saying, content);
    if (!chat.isStarted) this.#state.chats.put({ ...chat, isStarted: true });
    const draft = { chatId, from: as, threadId: place, replyTo: target?.messageId ?? null, ephemeral };
    const album = files.length > 1 ? newAlbum(this.#state) : null;
    const [first, ...others] = files.map((file) => keepFile(this.#state, { ...sampleFile(file.kind), ...file }));
    const row = this.#platform.post({ ...draft, ...content, document: first ?? null, album });
    // Each is a message, and an update, of its own; the words stand below the first.
    for (const document of others) this.#platform.post({ ...draft, document, album });
    return row;
  }

  /**
   * A message of a person in a group is for the bot alone when it answers an ephemeral message, or is a command that the bot
   * has marked so: Telegram's apps send it that way.
   */
  #secrecyOf(chat: ChatRow, { as, media, replyToEphemeral, isEphemeral }: Saying, content: Formatted): Secrecy | null {
    if (replyToEphemeral !== undefined) {
      this.#ephemeral(chat.id, replyToEphemeral, as);
      return { person: as, replaces: null, replyTo: replyToEphemeral };
    }
    const isPossible = chat.kind !== 'private' && this.#state.settings.isEphemeralOn && this.#platform.isIn(chat);
    if (!isPossible || media !== undefined || isEphemeral === false || !isCommandForMe(content)) return null;
    const [, name] = /^\/(\w+)/.exec(content.text) ?? [];
    const command = commandsFor(this.#state, chat, as).find((each) => each.command === name?.toLowerCase());
    return command?.is_ephemeral === true ? { person: as, replaces: null, replyTo: null } : null;
  }

  edit({ as, chat: chatId, messageId, text }: Editing): void {
    this.#placeOf(as, chatId);
    const row = this.#message(chatId, messageId);
    if (row.from !== as || row.service !== null) throw refused('not_allowed', 'People edit their own messages only.');
    const content = readable(text, row.document !== null);
    const edited = this.#platform.edited({ ...row, ...content });
    if (!edited.isHidden) this.#platform.addUpdate('edited_message', chatId, messageJson(this.#state, edited));
  }

  press({ as, chat: chatId, messageId, ephemeralId, button }: Pressing): { readonly callbackId: string } {
    const chat = this.#placeOf(as, chatId);
    const row = ephemeralId === undefined ? this.#message(chatId, messageId) : this.#ephemeral(chatId, ephemeralId, as);
    const buttons = (row.keyboard ?? []).flat().filter(({ callback_data: data }) => typeof data === 'string');
    const pressed =
      buttons.find(({ callback_data: data }) => data === button) ?? buttons.find(({ text }) => text === button);
    const data = pressed?.['callback_data'];
    if (typeof data !== 'string') {
      const names = buttons.map(({ text }) => `"${text}"`).join(', ');
      const choice = names === '' ? 'It has none to press.' : `It has ${names}.`;
      throw refused('no_button', `The message has no button "${button}". ${choice}`);
    }
    const id = String(4_000_000_000_000_000 + this.#state.count('lastCallback'));
    const at = this.#state.clock.now();
    const ids = { messageId: row.messageId, ephemeralId: row.ephemeral?.id ?? null };
    this.#state.callbacks.put({ id, chatId, ...ids, person: as, data, at, answer: null });
    const words = `${speaker(as)} presses [${pressed?.text ?? ''}]${onlyWords(row.ephemeral)}`;
    this.#platform.note(chatId, row.threadId, words);
    this.#state.tell('callback', chatId);
    if (this.#platform.isIn(chat)) {
      const message = messageJson(this.#state, row);
      const query = { id, from: userJson(as), message, chat_instance: String(chatId), data };
      this.#platform.addUpdate('callback_query', `${as} presses`, query);
    }
    return { callbackId: id };
  }

  createTopic(chatId: number, as: string, name: string): number {
    const chat = this.#placeOf(as, chatId);
    if (!chat.isForum) throw refused('not_allowed', `${chat.title} has no topics.`);
    if (chat.kind !== 'private' && !mayManage(chat, as))
      throw refused('not_allowed', 'Only administrators make topics.');
    const shown = topicName(name);
    if (shown === '') throw refused('bad_text', 'A topic needs a name.');
    if (!chat.isStarted) this.#state.chats.put({ ...chat, isStarted: true });
    const iconColor = iconColors[0] ?? 0;
    return this.#platform.addTopic({ chat: chatId, by: as }, { name: shown, iconColor }).threadId;
  }

  deleteTopic(chatId: number, threadId: number): void {
    const chat = this.#chat(chatId);
    this.#platform.deleteTopic(this.#topic(chatId, threadId), ownerOf(chat));
  }

  setTopicClosed({ chat: chatId, thread, as }: TopicNamed, on: boolean): void {
    const chat = this.#chat(chatId);
    if (chat.kind === 'private') throw refused('not_allowed', 'Topics of a private chat cannot be closed.');
    const by = as === undefined ? ownerOf(chat) : person(as).key;
    const row = this.#topic(chatId, thread);
    if (row.isClosed === on) throw refused('not_allowed', `The topic is ${on ? 'closed' : 'open'} already.`);
    if (!mayManage(chat, by) && row.createdBy !== by) {
      throw refused('not_allowed', 'Only administrators and the maker of a topic close or reopen it.');
    }
    const field = on ? 'forum_topic_closed' : 'forum_topic_reopened';
    this.#platform.changeTopic({ ...row, isClosed: on }, by, { field, value: {} });
  }

  #chat(chatId: number): ChatRow {
    const chat = this.#state.chat(chatId);
    if (chat === undefined) throw refused('no_chat', `There is no chat ${chatId}.`);
    return chat;
  }

  /** The chat, if this person can write there at all. */
  #placeOf(as: string, chatId: number): ChatRow {
    const { key, firstName } = person(as);
    const chat = this.#chat(chatId);
    if (chat.migratedTo !== null) {
      throw refused('not_allowed', `${chat.title} is a supergroup now: chat ${chat.migratedTo}.`);
    }
    if (!isPresent(chat.members[key])) throw refused('not_a_member', `${firstName} is not in ${chat.title}.`);
    if (chat.kind === 'private' && chat.botStatus === 'kicked') {
      throw refused('not_allowed', `${firstName} has blocked ${bot.name}.`);
    }
    return chat;
  }

  #message(chatId: number, messageId: number): MessageRow {
    const row = this.#state.message(chatId, messageId);
    if (row === undefined) throw refused('no_message', `There is no message ${messageId} in this chat.`);
    return row;
  }

  /** For everybody but its person it does not exist. */
  #ephemeral(chatId: number, id: number, as: string): MessageRow {
    const row = this.#state.ephemeral(chatId, id);
    if (row?.ephemeral?.person === as) return row;
    throw refused('no_message', `There is no ephemeral message ${id} for ${person(as).firstName} in this chat.`);
  }

  #topic(chatId: number, threadId: number): TopicRow {
    const topic = this.#state.topic(chatId, threadId);
    if (topic === undefined) throw refused('no_topic', `There is no topic ${threadId} in this chat.`);
    return topic;
  }

  #checkTopic(chat: ChatRow, threadId: number | null, as: string): void {
    if (threadId === null) return;
    if (!chat.isForum) throw refused('no_topic', `${chat.title} has no topics.`);
    const topic = this.#topic(chat.id, threadId);
    if (topic.isClosed && !mayManage(chat, as) && topic.createdBy !== as) {
      throw refused('topic_closed', `The topic "${topic.name}" is closed.`);
    }
  }
}

/** Telegram's apps send so many in one album, and no album of one. */
const albumMax = 10;

function filesOf({ media = [] }: Saying): readonly SaidFile[] {
  const files = Array.isArray(media) ? (media as readonly SaidFile[]) : [media as SaidFile];
  if (files.length > albumMax) throw refused('bad_input', `An album has at most ${albumMax} files.`);
  return files;
}

export function person(key: string): Person {
  const found = people.find((each) => each.key === key);
  if (found !== undefined) return found;
  const keys = people.map((each) => each.key).join(', ');
  throw refused('no_person', `There is no "${key}" here; there are ${keys}.`);
}

export function refused(code: SandboxRefusal['code'], text: string): SandboxRefusal {
  return new SandboxRefusal(code, text);
}

export function ownerOf(chat: ChatRow): string {
  return chat.person ?? people.find(({ key }) => chat.members[key] === 'creator')?.key ?? 'ada';
}

function mayManage(chat: ChatRow, key: string): boolean {
  return chat.members[key] === 'creator' || chat.members[key] === 'administrator';
}

function readable(text: string, isCaption: boolean): Formatted {
  const shown = cleaned({ text, entities: [] });
  const [name, max] = isCaption ? ['caption', captionMax] : ['message', textMax];
  if (shown.text === '' && !isCaption) throw refused('bad_text', 'There is nothing to say in this text.');
  if (shown.text.length > max) throw refused('bad_text', `A ${name} has at most ${max} characters.`);
  return shown;
}
