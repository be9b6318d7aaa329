import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Clock, Log, Stopwatch, Timer } from '../app/ports/outside.ts';
import { addFault, BotServer, type BotApi } from './bot-api/bot-api.ts';
import { openUpdates, Polling } from './bot-api/polling.ts';
import { Rates, type SandboxLimits } from './bot-api/rates.ts';
import { Webhook } from './bot-api/webhook.ts';
import { bot, people } from './world/first-world.ts';
import { People } from './world/people.ts';
import { Places } from './world/places.ts';
import { Platform } from './world/platform.ts';
import {
  callsShown,
  chatShown,
  messageShown,
  messagesShown,
  offeredCommands,
  topicShown,
  transcriptOf,
} from './world/shown.ts';
import { State } from './world/state.ts';
import type { World } from './world/world.ts';

export interface SandboxDeps {
  readonly clock: Clock;
  readonly stopwatch: Stopwatch;
  readonly timer: Timer;
  readonly log: Log;
  /** A path, or `:memory:`. */
  readonly file: string;
  /** The only bot token that is known. */
  readonly token: string;
  readonly limits: SandboxLimits;
  /** Groups of a new world in addition to those that every world has; none by default. */
  readonly moreForums?: number;
}

export interface Sandbox {
  readonly botApi: BotApi;
  readonly world: World;
  /** Ends waiting polls, stops the webhook, closes the file. */
  close(): Promise<void>;
}

const callsDefault = 200;

export function openSandbox(deps: SandboxDeps): Sandbox {
  const { stopwatch, timer, log, token, limits } = deps;
  const state = new State(deps);
  const platform = new Platform(state);
  const rates = new Rates(limits, stopwatch);
  const polling = new Polling({ state, timer, stopwatch });
  const webhook = new Webhook({ state, timer, stopwatch, log });
  const server = new BotServer({ api: { state, platform, rates }, polling, webhook, timer, log, token });
  platform.onUpdate = () => {
    polling.wake();
    webhook.wake();
  };
  webhook.wake();
  return {
    botApi: server.handle,
    world: worldOf(platform, () => {
      rates.forgetAll();
      webhook.stop();
    }),
    close: async () => {
      polling.close();
      webhook.close();
      server.close();
      state.close();
    },
  };
}

/** Each deed is one transaction. */
function worldOf(platform: Platform, onReset: () => void): World {
  const { state } = platform;
  const persons = new People(platform);
  const places = new Places(platform);
  const act = <T>(deed: () => T): T => state.transact(deed);
  return {
    people,
    bot,
    commands: () => offeredCommands(state),
    chats: () => state.chats.all().map(chatShown),
    topics: (chat) =>
      state.topics
        .all()
        .filter(({ chatId }) => chatId === chat)
        .map(topicShown),
    messages: (chat, page = {}) => messagesShown(state, chat, page),
    say: (what) => act(() => messageShown(persons.say(what))),
    press: (what) => act(() => persons.press(what)),
    callbackAnswer: (id) => state.callbacks.get(id)?.answer ?? null,
    edit: (what) => act(() => persons.edit(what)),
    file: (id) => state.file(id),
    createTopic: (chat, as, name) => act(() => persons.createTopic(chat, as, name)),
    deleteTopic: (chat, thread) => act(() => persons.deleteTopic(chat, thread)),
    closeTopic: (chat, thread, as) => act(() => persons.setTopicClosed({ chat, thread, as }, true)),
    reopenTopic: (chat, thread, as) => act(() => persons.setTopicClosed({ chat, thread, as }, false)),
    setForum: (chat, on) => act(() => places.setForum(chat, on)),
    setBotRights: (chat, rights) => act(() => places.setBotRights(chat, rights)),
    setBotStatus: (chat, status, by) => act(() => places.setBotStatus(chat, status, by)),
    setMember: (chat, key, status) => act(() => places.setMember(chat, key, status)),
    migrate: (chat) => act(() => places.migrate(chat)),
    features: () => ({ isEphemeralOn: state.settings.isEphemeralOn, isPrivacyOn: state.settings.isPrivacyOn }),
    setFeatures: (change) => act(() => places.setFeatures(change)),
    fault: (fault) => act(() => addFault(state, fault)),
    clearFault: (id) =>
      act(() => {
        for (const fault of state.faults.all()) if (id === undefined || fault.id === id) state.faults.remove(fault.id);
        state.tell('fault', null);
      }),
    faults: () => state.faults.all().map(({ seen: _seen, ...fault }) => fault),
    calls: (after = 0, limit = callsDefault) => callsShown(state, after, limit),
    transcript: (chat) => transcriptOf(state, chat),
    watch: (listener) => state.watch(listener),
    hasOpenUpdates: () => openUpdates(state).length > 0,
    reset: () => {
      state.reset();
      onReset();
    },
  };
}

interface ServedSandbox {
  readonly port: number;
  /** The address that grammY takes as its apiRoot. */
  readonly apiRoot: string;
  close(): Promise<void>;
}

/** The Bot API alone, on the loopback interface as a rule; port 0 takes a free one. */
export async function serveSandbox(sandbox: Sandbox, port: number, host = '127.0.0.1'): Promise<ServedSandbox> {
  const server = createServer((incoming, outgoing) => sandbox.botApi(incoming, outgoing, incoming.url ?? '/'));
  server.listen({ host, port });
  await once(server, 'listening');
  const address = server.address();
  const bound = typeof address === 'object' && address !== null ? address.port : port;
  return {
    port: bound,
    apiRoot: `http://${host}:${bound}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
