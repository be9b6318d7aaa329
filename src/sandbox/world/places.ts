import { chatJson, memberJson, userJson } from '../bot-api/wire.ts';
import { allRights, bot, botKey } from './first-world.ts';
import { ownerOf, person, refused } from './people.ts';
import { isPresent, type Platform } from './platform.ts';
import type { ChatRow } from './rows.ts';
import { speaker } from './shown.ts';
import type { State } from './state.ts';
import type { BotRights, BotStatus, Features, MemberStatus } from './world.ts';

/** Far from the ids of the first world, which no migration may meet. */
const migratedIdsFrom = -1_001_000_100_000;

/** Changes of members, of rights and of the kind of a chat. */
export class Places {
  readonly #platform: Platform;
  readonly #state: State;

  constructor(platform: Platform) {
    this.#platform = platform;
    this.#state = platform.state;
  }

  setForum(chatId: number, on: boolean): void {
    const chat = this.#chat(chatId);
    if (chat.kind === 'group') throw refused('bad_input', 'A plain group has no topics; make it a supergroup first.');
    if (chat.isForum === on) return;
    this.#state.chats.put({ ...chat, isForum: on });
    this.#platform.note(chatId, null, `topics are switched ${on ? 'on' : 'off'}`);
    this.#state.tell('chat', chatId);
  }

  /** A right that is given to a plain member makes it an administrator, as in Telegram. */
  setBotRights(chatId: number, rights: Partial<BotRights>): void {
    const chat = this.#chat(chatId);
    if (chat.kind === 'private') throw refused('bad_input', 'Nobody has rights in a private chat.');
    if (!this.#platform.isIn(chat)) throw refused('not_allowed', `${bot.name} is not in ${chat.title}.`);
    const botRights = { ...chat.botRights, ...rights };
    const isGiven = Object.values(botRights).some(Boolean);
    const botStatus = isGiven ? 'administrator' : chat.botStatus;
    const words = Object.entries(rights).map(([right, on]) => `${right} ${on ? 'on' : 'off'}`);
    this.#changeBot(chat, { botStatus, botRights }, { by: ownerOf(chat), words: `sets rights: ${words.join(', ')}` });
  }

  setBotStatus(chatId: number, status: BotStatus, by: string): void {
    const chat = this.#chat(chatId);
    const { key } = person(by);
    if (chat.kind === 'private') checkBlocking(chat, status, key);
    if (chat.botStatus === status && chat.isStarted) return;
    const wasIn = this.#platform.isIn(chat);
    const change = { botStatus: status, isStarted: true, botRights: rightsFor(chat, status) };
    const after = this.#changeBot(chat, change, { by: key, words: `makes ${bot.name} ${status}` });
    if (chat.kind !== 'private' && !wasIn && this.#platform.isIn(after)) {
      const service = { field: 'new_chat_members', value: [userJson(botKey)] };
      this.#platform.post({ chatId, from: key, service });
    }
  }

  setMember(chatId: number, key: string, status: MemberStatus): void {
    const chat = this.#chat(chatId);
    const { firstName } = person(key);
    if (chat.kind === 'private') throw refused('bad_input', 'A private chat has its person, and nobody else.');
    const before = chat.members[key] ?? 'left';
    if (before === status) return;
    const after = this.#state.chats.put({ ...chat, members: { ...chat.members, [key]: status } });
    this.#platform.note(chatId, null, `${firstName} becomes ${status}`);
    this.#tellMember(after, key, { before, after: status });
    this.#tellComing(after, key, { before, after: status });
    this.#state.tell('chat', chatId);
  }

  /** Features of Telegram, on which no one in the chats decides, and of which no one is told. */
  setFeatures(change: Partial<Features>): void {
    this.#state.set(change);
    this.#state.tell('chat', null);
  }

  migrate(chatId: number): number {
    const chat = this.#chat(chatId);
    if (chat.kind !== 'group') throw refused('bad_input', 'Only a plain group becomes a supergroup.');
    if (chat.migratedTo !== null) throw refused('not_allowed', `It is chat ${chat.migratedTo} already.`);
    const id = migratedIdsFrom - this.#state.count('lastMigration');
    const by = ownerOf(chat);
    this.#state.chats.put({ ...chat, id, kind: 'supergroup', isForum: false, lastMessageId: 0 });
    this.#platform.post({ chatId, from: by, service: { field: 'migrate_to_chat_id', value: id } });
    this.#platform.post({ chatId: id, from: by, service: { field: 'migrate_from_chat_id', value: chatId } });
    this.#state.chats.put({ ...chat, migratedTo: id });
    this.#state.tell('chat', chatId);
    return id;
  }

  #changeBot(
    chat: ChatRow,
    change: Partial<ChatRow>,
    { by, words }: { readonly by: string; readonly words: string },
  ): ChatRow {
    const after = this.#state.chats.put({ ...chat, ...change });
    this.#platform.note(chat.id, null, `${speaker(by)} ${words}`);
    const members = {
      before: memberJson(botKey, chat.botStatus, chat.botRights),
      after: memberJson(botKey, after.botStatus, after.botRights),
    };
    if (JSON.stringify(members.before) !== JSON.stringify(members.after)) {
      this.#platform.addUpdate('my_chat_member', chat.id, this.#platform.memberChange(chatJson(after), by, members));
    }
    this.#state.tell('chat', chat.id);
    return after;
  }

  /** Only an administrator hears of other members. */
  #tellMember(chat: ChatRow, key: string, change: { before: MemberStatus; after: MemberStatus }): void {
    if (chat.botStatus !== 'administrator') return;
    const members = {
      before: memberJson(key, change.before, allRights),
      after: memberJson(key, change.after, allRights),
    };
    const by = change.after === 'left' ? key : ownerOf(chat);
    this.#platform.addUpdate('chat_member', `member ${key}`, this.#platform.memberChange(chatJson(chat), by, members));
  }

  #tellComing(chat: ChatRow, key: string, change: { before: MemberStatus; after: MemberStatus }): void {
    const [wasIn, isIn] = [isPresent(change.before), isPresent(change.after)];
    if (wasIn === isIn) return;
    const service = isIn
      ? { field: 'new_chat_members', value: [userJson(key)] }
      : { field: 'left_chat_member', value: userJson(key) };
    this.#platform.post({ chatId: chat.id, from: key, service });
  }

  #chat(chatId: number): ChatRow {
    const chat = this.#state.chat(chatId);
    if (chat === undefined) throw refused('no_chat', `There is no chat ${chatId}.`);
    if (chat.migratedTo !== null && chat.kind === 'group') {
      throw refused('not_allowed', `It is chat ${chat.migratedTo} now.`);
    }
    return chat;
  }
}

function checkBlocking(chat: ChatRow, status: BotStatus, key: string): void {
  if (status !== 'member' && status !== 'kicked') {
    throw refused('bad_input', 'In a private chat the bot is started or blocked, nothing else.');
  }
  if (chat.person !== key) throw refused('not_a_member', 'This is the chat of another.');
}

/** A new administrator has the rights that it had there before, or else all of them. */
function rightsFor({ botRights }: ChatRow, status: BotStatus): BotRights {
  const hasSome = Object.values(botRights).some(Boolean);
  return status === 'administrator' && !hasSome ? allRights : botRights;
}
