import type { Clock, Log } from '../../app/ports/outside.ts';
import { fileIdOf, kindOf } from '../bot-api/media.ts';
import { firstChats, firstSettings } from './first-world.ts';
import type { CallbackRow, ChatRow, FaultRow, LineRow, MessageRow, SettingsRow, TopicRow, UpdateRow } from './rows.ts';
import { openStorage, type NewFile, type Storage, Table, type RowChange, type RowKind } from './storage.ts';
import type { Call, Change, FileShown } from './world.ts';

/** How much of the past is kept, in rows: enough for a long day of play, and little enough to hold in memory. */
const kept = { messages: 20_000, updates: 10_000, callbacks: 1000, lines: 20_000, calls: 2000 };

interface StateNeeds {
  readonly file: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Groups of a new world in addition to those that every world has. */
  readonly moreForums?: number;
}

/** The whole world in memory, written through to a file. Whatever happens inside one `transact` is kept or lost as one. */
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

  readonly chats = this.#table<ChatRow>('chat', { keyOf: ({ id }) => String(id), complete: completeChat });
  readonly topics = this.#table<TopicRow>('topic', { keyOf: ({ chatId, threadId }) => `${chatId}:${threadId}` });
  readonly messages = this.#table<MessageRow>('message', { keyOf: messageKey, complete: completeMessage });
  readonly updates = this.#table<UpdateRow>('update', { keyOf: ({ updateId }) => String(updateId) });
  readonly callbacks = this.#table<CallbackRow>('callback', { keyOf: ({ id }) => id, complete: completeCallback });
  readonly lines = this.#table<LineRow>('line', { keyOf: ({ seq }) => String(seq) });
  readonly calls = this.#table<Call>('call', { keyOf: ({ seq }) => String(seq) });
  readonly faults = this.#table<FaultRow>('fault', { keyOf: ({ id }) => id });
  readonly #settings = this.#table<SettingsRow>('settings', { keyOf: () => 'all', complete: completeSettings });

  constructor({ file, clock, log, moreForums = 0 }: StateNeeds) {
    this.#moreForums = moreForums;
    this.clock = clock;
    this.#log = log;
    this.#storage = openStorage(file);
    this.#reload();
    if (this.chats.isEmpty()) this.transact(() => this.#begin());
  }

  get settings(): SettingsRow {
    return this.#settings.get('all') ?? firstSettings;
  }

  set(change: Partial<SettingsRow>): void {
    this.#settings.put({ ...this.settings, ...change });
  }

  /** The next number of a counter. */
  count(name: 'mailbox' | 'lastUpdate' | 'lastCallback' | 'lastFile' | 'lastFault' | 'lastMigration'): number {
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
    const seq = this.settings.lastLine + 1;
    this.set({ lastLine: seq });
    this.lines.put({ seq, chatId, text });
  }

  addCall(call: Omit<Call, 'seq'>): void {
    const seq = this.settings.lastCall + 1;
    this.set({ lastCall: seq });
    this.calls.put({ seq, ...call });
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

  /** Numbers go on counting: whoever remembers an id of the world before must not meet another thing under it. */
  reset(): void {
    const { settings } = this;
    const counted = new Map(
      this.chats.all().map(({ id, lastMessageId, lastEphemeralId }) => [id, { lastMessageId, lastEphemeralId }]),
    );
    this.#storage.wipe();
    this.#reload();
    this.transact(() => {
      this.#begin();
      const none = { lastMessageId: 0, lastEphemeralId: 0 };
      for (const chat of this.chats.all()) this.chats.put({ ...chat, ...(counted.get(chat.id) ?? none) });
      const { allowedUpdates, webhook, commands, isEphemeralOn, isPrivacyOn } = firstSettings;
      this.#settings.put({ ...settings, allowedUpdates, webhook, commands, isEphemeralOn, isPrivacyOn });
      this.tell('chat', null);
    });
  }

  close(): void {
    this.#listeners.clear();
    this.#storage.close();
  }

  #begin(): void {
    for (const chat of firstChats(this.#moreForums)) this.chats.put(chat);
    this.#settings.put(firstSettings);
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
    const tables = this.#tables();
    for (const table of tables.values()) table.clear();
    this.#storage.load((kind, row) => tables.get(kind)?.load(row));
    this.#changes.length = 0;
  }

  #tables(): ReadonlyMap<string, { clear(): void; load(row: unknown): void }> {
    const all = [
      this.chats,
      this.topics,
      this.messages,
      this.updates,
      this.callbacks,
      this.lines,
      this.calls,
      this.faults,
      this.#settings,
    ];
    return new Map(all.map((table) => [table.kind, table]));
  }

  #table<Row extends object>(kind: string, facts: RowKind<Row>): Table<Row> {
    return new Table(kind, facts, (change) => this.#changes.push(change));
  }
}

function messageKey({ chatId, messageId, ephemeral }: MessageRow): string {
  return ephemeral === null ? `${chatId}:${messageId}` : `${chatId}:e${ephemeral.id}`;
}

/** The file outlives the program: rows that an earlier version wrote get what they do not have yet. */
const newOfChat = { lastEphemeralId: 0 } satisfies Partial<ChatRow>;
const newOfMessage = { isSilent: false, ephemeral: null } satisfies Partial<MessageRow>;
const newOfCallback = { ephemeralId: null } satisfies Partial<CallbackRow>;

function completeChat(row: ChatRow): ChatRow {
  return { ...newOfChat, ...row };
}

function completeMessage(row: MessageRow): MessageRow {
  const { document } = row;
  // The id of a file has always told its kind.
  const whole = document === null ? null : { ...document, kind: kindOf(document.fileId) };
  return { ...newOfMessage, ...row, document: whole };
}

function completeCallback(row: CallbackRow): CallbackRow {
  return { ...newOfCallback, ...row };
}

function completeSettings(row: SettingsRow): SettingsRow {
  return { ...firstSettings, ...row };
}
