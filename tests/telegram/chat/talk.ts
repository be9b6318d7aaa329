import { Api, Context } from 'grammy';
import type { Update, UserFromGetMe } from 'grammy/types';
import { createStatus } from '../../../src/app/operations/status.ts';
import type { Chat } from '../../../src/app/ports/chats.ts';
import { previewOf } from '../../../src/app/tasks/preview.ts';
import { isZoneConfirmed } from '../../../src/domain/chat-settings.ts';
import type { Drawn, Media } from '../../../src/domain/shown.ts';
import { sha256 } from '../../../src/system/ids.ts';
import { createChat } from '../../../src/telegram/chat/chat.ts';
import type {
  Answer,
  BotContext,
  ChatContext,
  ChatDeps,
  Person,
  Place,
  SetUp,
  Replied,
} from '../../../src/telegram/chat/context.ts';
import { parsePress } from '../../../src/telegram/chat/kit/press.ts';
import { countingIds } from '../../support/fakes.ts';
import { aPipeline, minute, type Pipeline, type PipelineOptions } from '../../support/pipeline.ts';

/** People and the bot in one chat: what is said and pressed goes through the real handlers onto a real database. */
export interface Talk {
  readonly pipeline: Pipeline;
  readonly chat: () => Promise<Chat>;
  /** Says something, and answers with the message that the bot writes back; null when it is silent. */
  say(text: string, by?: Partial<By>): Promise<Message | null>;
  /** Edits the last words of somebody, and answers with what the bot writes below or makes of its own message. */
  edit(text: string, by?: Partial<By>): Promise<Message | null>;
  /** The same, where an answer is expected. */
  ask(text: string, by?: Partial<By>): Promise<Message>;
  /** The words of that answer. */
  tells(text: string, by?: Partial<By>): Promise<string>;
  /** Makes a task by `/new` and [Create]. */
  make(text: string, by?: Partial<By>): Promise<void>;
  /** Presses the button with that label. */
  press(message: Message, label: string, by?: Partial<By>): Promise<Pressing>;
  /** Sends callback data, as a client of one's own can. */
  send(message: Message, data: string, by?: Partial<By>): Promise<Pressing>;
  /** The reaction to what was said last; null when there was none. */
  reaction(): string | null;
  /** The message that it changed; null when it changed none. */
  changed(): Message | null;
  /** Does the same update once more, as after a crash before it was done. */
  again(): Promise<Answer>;
  /** Another process on the same database. */
  restart(): Talk;
}

export interface By {
  readonly person: Person;
  readonly topic: number | null;
  readonly repliesTo: number | null;
  /** A message of somebody else that it answers. */
  readonly about: Partial<Replied> | null;
  /** A file that comes with the words. */
  readonly media: Media | null;
  readonly album: string;
  /** The bot is called by its name. */
  readonly isAddressed: boolean;
  /** Somebody else wrote the words. */
  readonly isOfAnother: boolean;
  /** The platform tells what a pressed message shows, unless it is too old. */
  readonly isOld: boolean;
}

export interface Message {
  readonly id: number;
  readonly topic: number | null;
  shown: Drawn;
  /** The text that it shows now, without its buttons. */
  readonly text: string;
  /** In a group it is shown to the person alone who asked. */
  readonly isForAsker: boolean;
}

export function aMessage(id: number, topic: number | null, shown: Drawn, isForAsker = false): Message {
  return {
    id,
    topic,
    shown,
    isForAsker,
    get text() {
      return this.shown.text;
    },
  };
}

export interface Pressing {
  readonly toast: string | null;
  readonly isAlert: boolean;
  /** New messages that the press brought. */
  readonly messages: readonly Message[];
}

export const ada: Person = { id: 1001, actor: 'telegram:user:1001', name: 'Ada', isOwner: false, isAdmin: true };
export const bob: Person = { id: 1002, actor: 'telegram:user:1002', name: 'Bob', isOwner: false, isAdmin: false };
export const root: Person = { id: 1003, actor: 'telegram:user:1003', name: 'Root', isOwner: true, isAdmin: true };

export interface TalkOptions extends PipelineOptions {
  readonly kind?: 'private' | 'supergroup';
  readonly isForum?: boolean;
  readonly setUp?: Partial<SetUp>;
  readonly timezone?: string | null;
}

const allOn: SetUp = {
  isPrivate: false,
  isForum: true,
  topicsEnabled: null,
  canManageTopics: true,
  canPin: true,
  readsEverything: false,
};

export async function aTalk(options: TalkOptions = {}): Promise<Talk> {
  const pipeline = await aPipeline(options);
  const { store, time } = pipeline;
  const kind = options.kind ?? 'supergroup';
  const address = kind === 'private' ? '1001' : '-1001234';
  const made = await store.noteChat({ newId: 'chat-1', address, title: 'Team', kind, at: time.now() });
  const timezone = options.timezone === undefined ? 'UTC' : options.timezone;
  await store.changeChat(made.id, { state: 'approved', timezone }, time.now());
  for (const { actor, name } of [ada, bob, root]) await store.noteUser({ id: actor, name }, time.now());
  return talkIn(pipeline, { ...options, address, ids: { update: 0, message: 5000 } });
}

const nothingTold = {
  isPress: false,
  command: null,
  args: '',
  repliedTo: null,
  media: null,
  press: null,
  shown: null,
  ephemeralId: null,
} as const;

const api = new Api('1:none');
const me = { id: 1, is_bot: true, first_name: 'Cronogram', username: 'cronogram_bot' } as UserFromGetMe;

interface Given extends TalkOptions {
  readonly address: string;
  readonly ids: { update: number; message: number };
}

function statusOf({ store, time, rooms }: Pipeline): ChatDeps['status'] {
  return createStatus({
    ...rooms,
    clock: time,
    stopwatch: time,
    timer: time,
    version: '0.0.0',
    ready: async () => ({ ok: true }),
    loops: ['scheduler', 'runner'].map((name) => ({ name, health: () => ({ ok: true, idleMs: minute }) })),
  })(store);
}

function talkIn(pipeline: Pipeline, given: Given): Talk {
  const { store, time, rooms } = pipeline;
  const chatOf = createChat(rooms.kinds.forms).middleware();
  const counters = given.ids;
  const messages = new Map<number, Message>();
  /** Our messages by the ids of their rows, and what was said last. */
  const rows = new Map<string, number>();
  let lastSaid = 0;
  let [reaction, changed] = [null, null] as [string | null, Message | null];
  let last: () => Promise<Answer> = () => Promise.reject(new Error('nothing was said yet'));

  const chat = async (): Promise<Chat> => {
    const found = await store.findChat(given.address);
    if (found === null) throw new Error('there is no chat');
    return found;
  };
  const chatDeps: ChatDeps = {
    ...rooms,
    deleteSaid: async () => true,
    digest: sha256,
    alarms: rooms.alarms,
    store: {
      ...store,
      sentMessage: async (id) => {
        const messageId = rows.get(id);
        return messageId === undefined ? store.sentMessage(id) : { messageId, address: given.address, topic: null };
      },
      messageAt: async (address, messageId) => {
        const [deliveryId] = [...rows].find(([, each]) => each === messageId) ?? [];
        if (deliveryId === undefined) return store.messageAt(address, messageId);
        return { deliveryId, taskId: null, runId: null, occurrenceId: null };
      },
    },
    setUp: async () => ({ ...allOn, isPrivate: given.kind === 'private', ...given.setUp }),
    preview: (schedule, words) => previewOf(schedule, { after: time.now(), minIntervalMs: minute, words }),
    clock: time,
    ids: countingIds(`d${counters.update}`),
    log: pipeline.log,
    status: statusOf(pipeline),
    quota: { chat: 500, user: 500 },
    defaultTimezone: 'UTC',
    bot: 'cronogram_bot',
  };
  const placeOf = async (topic: number | null): Promise<Place> => {
    const here = await chat();
    return {
      chat: here,
      topic,
      topicTask: topic === null ? null : await store.taskByTopic(here.id, topic),
      timezone: here.timezone ?? 'UTC',
      isZoneConfirmed: isZoneConfirmed(here),
      isForum: given.isForum ?? true,
    };
  };
  const show = (shown: Drawn, topic: number | null, isForAsker: boolean): Message => {
    const message = aMessage((counters.message += 1), topic, shown, isForAsker);
    messages.set(message.id, message);
    return message;
  };
  const delivered = (messageId: number): Message | undefined => {
    const message = deliveredBy(pipeline, messageId);
    if (message !== undefined) messages.set(messageId, message);
    return message;
  };
  const commit = async (updateId: number, answer: Answer, topic: number | null): Promise<readonly Message[]> => {
    const at = time.now();
    await store.endUpdate({
      id: updateId,
      status: 'done',
      error: null,
      messages: [],
      draft: answer.draft ?? null,
      at,
      bootId: 'boot',
    });
    return answer.replies.flatMap((reply) => {
      if (reply.is === 'message') {
        const made = show(reply.shown, reply.inBase === true ? null : topic, reply.isForAsker === true);
        if (reply.id !== undefined) rows.set(reply.id, made.id);
        return [made];
      }
      if (reply.is === 'removeTopic') return [];
      const message = messages.get(reply.messageId) ?? delivered(reply.messageId);
      if (reply.is === 'remove') {
        messages.delete(reply.messageId);
        return [];
      }
      if (message === undefined) throw new Error('a message was changed that is not there');
      message.shown = reply.shown;
      changed = message;
      return [];
    });
  };
  const next = async (): Promise<number> => {
    counters.update += 1;
    const update = { id: counters.update, payload: '{}', address: null, messageId: null, lane: null };
    await store.receiveUpdates([update], time.now());
    await store.beginUpdate(counters.update, 'boot');
    return counters.update;
  };

  const toldOf = async (updateId: number, person: Person, topic: number | null) => ({
    updateId,
    key: `telegram:update:${updateId}`,
    place: await placeOf(topic),
    person,
    date: time.now(),
    ...nothingTold,
  });
  const answerTo = async (update: Update, told: Omit<ChatContext, keyof ChatDeps>): Promise<Answer> => {
    const ctx: BotContext = Object.assign(new Context(update, api, me), chatDeps, told, { answer: { replies: [] } });
    await chatOf(ctx, async () => {});
    return ctx.answer;
  };

  /** New words, or the last ones as they are edited. */
  const spoken = async (text: string, by: Partial<By>, isEdit: boolean): Promise<readonly Message[]> => {
    const { person = ada, topic = null } = by;
    const updateId = await next();
    const command = /^\/(\w+)/.exec(text)?.[1] ?? null;
    const messageId = isEdit ? lastSaid : (counters.message += 1);
    lastSaid = messageId;
    const mends = isEdit ? await store.draftOfWords((await chat()).id, person.actor, messageId) : null;
    if (isEdit && mends === null) return [];
    const told = {
      ...(await toldOf(updateId, person, topic)),
      ...(mends === null ? {} : { mends }),
      messageId,
      command,
      args: command === null ? text : text.slice(command.length + 1).trim(),
      ...alongWith(by, messages),
    };
    const from = { id: person.id, is_bot: false, first_name: person.name };
    const message = {
      message_id: messageId,
      date: 0,
      chat: { id: 1, type: 'private', first_name: 'Ada' },
      from,
      text,
    } as const;
    const update = isEdit ? { edited_message: { ...message, edit_date: 1 } } : { message };
    last = () => answerTo({ update_id: updateId, ...update }, told);
    const answer = await last();
    [reaction, changed] = [answer.reaction ?? null, null];
    const shown = await commit(updateId, answer, topic);
    const edited = answer.replies.flatMap((reply) =>
      reply.is === 'edit' ? (messages.get(reply.messageId) ?? []) : [],
    );
    return isEdit ? [...shown, ...edited] : shown;
  };
  const talk: Talk = {
    pipeline,
    chat,
    say: async (text, by = {}) => {
      const shown = await spoken(text, by, false);
      if (shown.length > 1) throw new Error('one word brought several answers');
      return shown[0] ?? null;
    },
    edit: async (text, by = {}) => (await spoken(text, by, true))[0] ?? null,
    ask: async (text, by) => {
      const message = await talk.say(text, by);
      if (message === null) throw new Error(`the bot was silent: ${text}`);
      return message;
    },
    tells: async (text, by) => (await talk.ask(text, by)).text,
    make: async (text, by) => {
      await talk.press(await talk.ask(`/new ${text}`, by), 'Create', by);
    },
    press: (message, label, by) => {
      const all = (message.shown.buttons ?? []).flat();
      const found = all.find(({ text }) => text === label);
      if (found === undefined || !('data' in found)) {
        throw new Error(`there is no button ${label} but ${all.map(({ text }) => text).join(', ')}`);
      }
      return talk.send(message, found.data, by);
    },
    send: async (message, data, { person = ada, isOld = false } = {}) => {
      const updateId = await next();
      const { text, entities } = message.shown;
      const told = {
        ...(await toldOf(updateId, person, message.topic)),
        isPress: true,
        messageId: message.id,
        shown: isOld ? null : { text, ...(entities === undefined ? {} : { entities }) },
        press: parsePress(data),
        ...(given.kind === 'private'
          ? {}
          : { asker: { userId: person.id, callbackId: 'c', until: time.now() + 15_000 } }),
      };
      const from = { id: person.id, is_bot: false, first_name: person.name };
      const callback_query = { id: 'c', from, chat_instance: 'i', data };
      messages.set(message.id, message);
      last = () => answerTo({ update_id: updateId, callback_query }, told);
      const answer = await last();
      const shown = await commit(updateId, answer, message.topic);
      return { toast: answer.toast?.text ?? null, isAlert: answer.toast?.isAlert ?? false, messages: shown };
    },
    reaction: () => reaction,
    changed: () => changed,
    again: () => last(),
    restart: () => talkIn(pipeline.restart(), given),
  };
  return talk;
}

/** Results and notices come from the pipeline. */
function deliveredBy({ chat }: Pipeline, messageId: number): Message | undefined {
  const found = chat.shown.find((one) => one.messageId === messageId);
  return found === undefined ? undefined : aMessage(messageId, found.topic, { text: found.text });
}

/** Only what the bot said is answered here. */
function replied(message: Message | undefined, messageId: number): Replied {
  return { messageId, isOurs: true, text: message?.shown.text ?? null, media: null };
}

/** Facts that comes with the words. */
function alongWith(
  { repliesTo = null, about = null, media = null, album, isAddressed = false, isOfAnother = false }: Partial<By>,
  messages: ReadonlyMap<number, Message>,
) {
  const repliedTo = repliesTo === null ? foreign(about) : replied(messages.get(repliesTo), repliesTo);
  return { repliedTo, media, isAddressed, isOfAnother, ...(album === undefined ? {} : { album }) };
}

function foreign(about: Partial<Replied> | null): Replied | null {
  return about === null ? null : { messageId: 4000, isOurs: false, text: null, media: null, ...about };
}

/** Words of answers to what was not understood, or could not be done. */
export const refused =
  /cannot (?:be )?read|did not understand|should I skip|I do not know|can be read|no such|Write how many|nothing to (?!change)|You made no change|^Which task|no help/i;

/** Labels of the buttons, row by row. */
export function labels({ shown }: Message): readonly (readonly string[])[] {
  return (shown.buttons ?? []).map((row) => row.map(({ text }) => text));
}

/** The data behind a label. */
export function dataBehind({ shown }: Message, label: string): string {
  const found = (shown.buttons ?? []).flat().find(({ text }) => text === label);
  return found !== undefined && 'data' in found ? found.data : '';
}

/** A talk in which one word was said, and what came of it. */
export async function afterAsking(text: string, by: Partial<By> = {}, options: TalkOptions = {}) {
  const talk = await aTalk(options);
  return { talk, message: await talk.ask(text, by) };
}

/** A talk in which there is a task. */
export async function withTask(text = 'every day at 12 Lunch', options: TalkOptions = {}): Promise<Talk> {
  const talk = await aTalk(options);
  await talk.make(text);
  return talk;
}

export async function taskIn(talk: Talk, number = 1) {
  const task = (await tasksIn(talk)).find((one) => one.number === number);
  if (task === undefined) throw new Error('there is no task');
  return task;
}

export async function tasksIn({ pipeline, chat }: Talk) {
  const { id } = await chat();
  const query = { chatId: id, filter: 'all', ownerId: null, text: null, offset: 0, limit: 100 } as const;
  return (await pipeline.store.chatTasks(query)).tasks;
}
