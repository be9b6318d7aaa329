import type { Clock, Log } from '../../app/ports/outside.ts';
import { fileIdOf } from '../bot-api/media.ts';
import { firstChats, firstSettings } from './first-world.ts';
import type {
  CallbackRow,
  ChatRow,
  Counters,
  FaultRow,
  LineRow,
  MessageRow,
  SettingsRow,
  TopicRow,
  UpdateRow,
} from './rows.ts';
import { openStorage, type NewFile, type Storage, Table, type RowChange } from './storage.ts';
import type { Call, Change, FileShown } from './world.ts';

/** Rows of the past that are kept: enough for a long day of play, and little enough to hold in memory. */
const kept = { messages: 20_000, updates: 10_000, callbacks: 1000, lines: 20_000, calls: 2000 };

interface StateDeps {
  readonly file: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Groups of a new world in addition to those that every world has. */
  readonly moreForums?: number;
}

/** The whole world in memory, written through to a file. One `transact` is kept or lost as a whole. */
export class State {
  readonly clock: Clock;
  readonly #log: Log;
  readonly #storage: Storage;
  readonly #changes: RowChange[] = [];
  readonly #files: NewFile[] = [];
  readonly #told: Change[] = [];
  readonly #listeners = new Set<(change: Change) => void>();
  readonly #later = new Set<() => void>();
  readonly #moreForums: number;
  #isBusy = false;
  /** Words were blanked, and may still stand in what the file has kept of before. */
  #forgets = false;

  readonly #tables = new Map<string, { clear(): void; load(row: unknown): void }>();

  readonly chats = this.#table<ChatRow>('chat', ({ id }) => String(id));
  readonly topics = this.#table<TopicRow>('topic', ({ chatId, threadId }) => `${chatId}:${threadId}`);
  readonly messages = this.#table<MessageRow>('message', messageKey);
  readonly updates = this.#table<UpdateRow>('update', ({ updateId }) => String(updateId));
  readonly callbacks = this.#table<CallbackRow>('callback', ({ id }) => id);
  readonly lines = this.#table<LineRow>('line', ({ seq }) => String(seq));
  readonly calls = this.#table<Call>('call', ({ seq }) => String(seq));
  readonly faults = this.#table<FaultRow>('fault', ({ id }) => id);
  readonly #settings = this.#table<SettingsRow>('settings', () => 'all');

  constructor({ file, clock, log, moreForums = 0 }: StateDeps) {
    this.#moreForums = moreForums;
    this.clock = clock;
    this.#log = log;
    this.#storage = openStorage(file);
    this.#reload();
    if (this.#storage.isCurrent()) return;
    if (!this.chats.isEmpty()) log.info('sandbox.begins_anew', { because: 'an earlier version wrote its file' });
    this.reset();
  }

  get settings(): SettingsRow {
    return this.#settings.get('all') ?? firstSettings;
  }

  set(change: Partial<SettingsRow>): void {
    this.#settings.put({ ...this.settings, ...change });
  }

  /** The next number of a counter. */
  count(name: keyof Counters): number {
    const next = this.settings[name] + 1;
    this.set({ [name]: next });
    return next;
  }

  /** Wall time in seconds, as the Bot API tells it. */
  seconds(): number {
    return Math.floor(this.clock.now() / 1000);
  }

  chat(id: number): ChatRow | undefined {
    return this.chats.get(id);
  }

  message(chatId: number, messageId: number): MessageRow | undefined {
    return this.messages.get(`${chatId}:${messageId}`);
  }

  /** Ephemeral messages have ids of their own, which no other method takes. */
  ephemeral(chatId: number, id: number): MessageRow | undefined {
    return this.messages.get(`${chatId}:e${id}`);
  }

  topic(chatId: number, threadId: number): TopicRow | undefined {
    const topic = this.topics.get(`${chatId}:${threadId}`);
    return topic?.isDeleted === false ? topic : undefined;
  }

  removeMessage(row: MessageRow): void {
    this.messages.remove(messageKey(row));
  }

  addFile(file: NewFile): void {
    this.#files.push(file);
  }

  file(id: string): FileShown | null {
    return this.#storage.file(fileIdOf(id));
  }

  addLine(chatId: number, text: string): void {
    this.lines.put({ seq: this.count('lastLine'), chatId, text });
  }

  /** Blanks lines of the transcript, and sees to it that nothing of them stays in the file. */
  forget(chatId: number, said: readonly string[], blank: string): void {
    const lines = this.lines.all().filter((line) => line.chatId === chatId && said.includes(line.text));
    for (const line of lines) this.lines.put({ ...line, text: blank });
    this.#forgets = true;
  }

  addCall(call: Omit<Call, 'seq'>): void {
    this.calls.put({ seq: this.count('lastCall'), ...call });
  }

  /** Listeners hear of it once it is written. */
  tell(kind: Change['kind'], chatId: number | null): void {
    this.#told.push({ kind, chatId });
  }

  watch(listener: (change: Change) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Calls back once when the transaction is written; the same function is called once however often it was given. */
  afterwards(call: () => void): void {
    this.#later.add(call);
  }

  transact<T>(work: () => T): T {
    if (this.#isBusy) return work();
    this.#isBusy = true;
    try {
      const result = work();
      this.#prune();
      if (this.#changes.length > 0) this.#storage.save(this.#changes, this.#files);
      this.#changes.length = 0;
      if (this.#forgets) this.#forget();
      return result;
    } catch (error) {
      // Nothing of it is written: memory goes back to what the file says.
      if (this.#changes.length > 0) this.#reload();
      this.#told.length = 0;
      this.#later.clear();
      throw error;
    } finally {
      this.#files.length = 0;
      this.#isBusy = false;
      this.#speak();
    }
  }

  /** Numbers go on counting: a bot that remembers an id of the world before must not meet another thing under it. */
  reset(): void {
    const { settings } = this;
    const before = new Map(this.chats.all().map((chat) => [chat.id, chat]));
    this.#storage.wipe();
    this.#reload();
    this.transact(() => {
      for (const chat of firstChats(this.#moreForums)) {
        const { lastMessageId = chat.lastMessageId, lastEphemeralId = 0 } = before.get(chat.id) ?? {};
        this.chats.put({ ...chat, lastMessageId, lastEphemeralId });
      }
      const { allowedUpdates, webhook, commands, isEphemeralOn, isPrivacyOn } = firstSettings;
      const counted = { ...firstSettings, ...settings };
      this.#settings.put({ ...counted, allowedUpdates, webhook, commands, isEphemeralOn, isPrivacyOn });
      this.tell('chat', null);
    });
  }

  close(): void {
    this.#listeners.clear();
    this.#storage.close();
  }

  /** The update that told of the words goes when the bot has asked for the next one. */
  #forget(): void {
    this.#storage.forget();
    this.#forgets = this.updates.all().length > 0;
  }

  #prune(): void {
    this.messages.keep(kept.messages);
    this.updates.keep(kept.updates);
    this.callbacks.keep(kept.callbacks);
    this.lines.keep(kept.lines);
    this.calls.keep(kept.calls);
  }

  #speak(): void {
    const told = this.#told.splice(0);
    const later = [...this.#later];
    this.#later.clear();
    for (const call of later) call();
    for (const change of told) {
      for (const listener of this.#listeners) {
        try {
          listener(change);
        } catch (error) {
          this.#log.error('sandbox.listener_failed', { change: change.kind, error: String(error) });
        }
      }
    }
  }

  #reload(): void {
    for (const table of this.#tables.values()) table.clear();
    this.#storage.load((kind, row) => this.#tables.get(kind)?.load(row));
    this.#changes.length = 0;
  }

  #table<Row extends object>(kind: string, keyOf: (row: Row) => string): Table<Row> {
    const table = new Table(kind, keyOf, (change) => this.#changes.push(change));
    this.#tables.set(kind, table);
    return table;
  }
}

function messageKey({ chatId, messageId, ephemeral }: MessageRow): string {
  return ephemeral === null ? `${chatId}:${messageId}` : `${chatId}:e${ephemeral.id}`;
}
