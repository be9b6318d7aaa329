import { Composer } from 'grammy';
import { onTestFinished } from 'vitest';
import type { LoopName } from '../../../src/app/ports/outside.ts';
import { createAccess } from '../../../src/app/use-cases/membership.ts';
import { createChats } from '../../../src/app/use-cases/reachable-chats.ts';
import { sha256 } from '../../../src/system/ids.ts';
import { createTelegramApi, type TelegramApi } from '../../../src/telegram/api.ts';
import type { Answer, BotContext, ChatContext, ChatDeps, Command, Place } from '../../../src/telegram/chat/context.ts';
import type { Conversation, InSettings, TelegramInDeps } from '../../../src/telegram/intake/deps.ts';
import { createTelegramIn, type TelegramIn } from '../../../src/telegram/intake/inbound.ts';
import { createPlatform } from '../../../src/telegram/platform.ts';
import { countingIds, manualTime, memoryLog, type ManualTime, type MemoryLog } from '../../support/fakes.ts';
import { patienceMs } from '../../support/patience.ts';
import { aSandbox, sandboxStart, type ServedWorld, lab, plain } from '../../support/sandbox.ts';
import { worldsOf, type World as StoreWorld } from '../../support/store-worlds.ts';

export { lab, plain };

/** The chats and people of the first world of the sandbox. */
export const [ada, ben, mallory] = [1001, 1002, 1003];

type Query = StoreWorld['query'];

/** Handlers of a test: what they answer is by default what they were told. */
export interface Acting {
  readonly said?: (said: ChatContext) => Promise<Answer> | Answer;
  readonly pressed?: (pressed: ChatContext) => Promise<Answer> | Answer;
}

export interface DoorwayOptions extends Acting {
  /** The database, when it is to be shared. */
  readonly world?: StoreWorld;
  readonly settings?: Partial<InSettings>;
  readonly needs?: Partial<TelegramInDeps>;
  /** The other end, when it is to be shared with a process before. */
  readonly served?: ServedWorld;
  /** The clock of both ends; otherwise the other end has one of its own, which stands still. */
  readonly time?: ManualTime;
  readonly isStarted?: boolean;
}

/** Telegram in over a real connection to a sandbox and a real store; what answers people is a stand-in. */
export interface Doorway {
  readonly served: ServedWorld;
  readonly inbound: TelegramIn;
  readonly api: TelegramApi;
  readonly time: ManualTime;
  readonly log: MemoryLog;
  readonly saids: readonly ChatContext[];
  readonly presses: readonly ChatContext[];
  readonly claims: readonly string[];
  readonly rings: readonly LoopName[];
  /** As a handler is given it. */
  readonly setUp: ChatDeps['setUp'];
  /** The texts in the outbox, in order. */
  words(): Promise<readonly string[]>;
  /** Says something, in the lab if nowhere else, and waits until it is done. */
  says(as: string, text: string, chat?: number): Promise<void>;
  /** Everything that was said is taken, stored and done. */
  readonly settled: () => Promise<void>;
  /** Where it was not started, it starts and is settled. */
  starts(): Promise<void>;
  readonly query: Query;
}

const open = worldsOf('sqlite');

export async function aDoorway(options: DoorwayOptions = {}): Promise<Doorway> {
  const world = options.world ?? (await open());
  const time = options.time ?? manualTime(sandboxStart);
  const served = options.served ?? (await aSandbox(options.time === undefined ? {} : { time }));
  if (options.served === undefined) onTestFinished(() => served.close());
  const log = memoryLog();
  const api = createTelegramApi({ token: served.token, apiRoot: served.apiRoot, timer: time });
  const acting = createActors(options);
  const claims: string[] = [];
  const rings: LoopName[] = [];
  const bell = { ring: (room: LoopName) => void rings.push(room) };
  const ids = countingIds(`id${claimCount()}`);
  const shared = { clock: time, stopwatch: time, timer: time, ids, log, bell, store: world.store };
  const inbound = createTelegramIn({
    ...shared,
    bootId: ids.next(),
    others: null,
    api,
    aside: api,
    platform: createPlatform(api, { clock: time, defaultTimezone: 'UTC' }),
    digest: sha256,
    secret: () => `secret-code-${claims.length + 1}`,
    printClaim: (code) => void claims.push(code),
    people: createChats(shared),
    access: createAccess(shared),
    secretQuestions: { sealed: async () => null, expect: async () => {}, begin: async () => null },
    // The stand-ins use none of the rooms.
    chatDeps: { ...shared, defaultTimezone: 'UTC' } as unknown as TelegramInDeps['chatDeps'],
    conversation: acting.conversation,
    settings: { owners: [ada], chats: [String(lab)], webhook: null, ...options.settings },
    ...options.needs,
  });
  onTestFinished(async () => {
    await stopped(inbound, time);
    api.close();
  });
  if (options.isStarted !== false) inbound.start();
  const settled = async () => {
    await until(() => log.lines.some(({ event }) => event === 'telegram_connected'));
    await until(() => !served.world.hasOpenUpdates());
    await inbound.idle();
  };
  return {
    served,
    inbound,
    api,
    time,
    log,
    claims,
    rings,
    saids: acting.saids,
    presses: acting.presses,
    setUp: (place, look) => acting.setUp(place, look),
    words: () => wordsOf(world),
    says: async (as, text, chat = lab) => {
      served.world.say({ as, chat, text });
      await settled();
    },
    settled,
    starts: async () => {
      inbound.start();
      await settled();
    },
    query: (text, ...values) => world.query(text, ...values),
  };
}

export async function aSettledDoorway(options: DoorwayOptions = {}): Promise<Doorway> {
  const doorway = await aDoorway(options);
  await doorway.settled();
  return doorway;
}

let made = 0;
function claimCount(): number {
  return (made += 1);
}

function createActors({ said, pressed }: Acting) {
  const saids: ChatContext[] = [];
  const presses: ChatContext[] = [];
  const echo = (text: string): Answer => ({ replies: [{ is: 'message', shown: { text } }] });
  let setUp: ChatDeps['setUp'] = () => Promise.reject(new Error('Nobody has spoken yet.'));
  const hear = async (words: ChatContext): Promise<Answer> => {
    saids.push(words);
    setUp = words.setUp;
    return said === undefined ? echo(`${words.command ?? 'plain'}: ${words.args}`) : said(words);
  };
  const take = async (press: ChatContext): Promise<Answer> => {
    presses.push(press);
    if (press.press?.verb !== 'run') {
      return { ...echo('the newest view'), toast: { text: 'That button is old.', isAlert: false } };
    }
    return pressed === undefined ? { replies: [], toast: { text: 'pressed', isAlert: false } } : pressed(press);
  };
  const command = (name: string, menu: Command['menu'] = 'everybody'): Command => ({
    name,
    description: () => `What ${name} does.`,
    menu,
    handle: hear,
  });
  const commands = [
    command('start'),
    command('new'),
    command('tasks'),
    command('purge', 'admins'),
    command('allow', 'owners'),
  ];
  const chat = new Composer<BotContext>();
  chat.on(['message', 'edited_message'], async (ctx) => {
    const isKnown = ctx.command === null || commands.some(({ name }) => name === ctx.command);
    ctx.answer = isKnown ? await hear(ctx) : echo(`unknown: ${ctx.command}`);
  });
  chat.on('callback_query', async (ctx) => {
    ctx.answer = await take(ctx);
  });
  const nearCommand = (word: string) => (word === 'nwe' ? 'new' : null);
  const conversation: Conversation = { commands, nearCommand, chat };
  return { saids, presses, conversation, setUp: (place: Place, look?: 'anew') => setUp(place, look) };
}

async function wordsOf(world: StoreWorld): Promise<readonly string[]> {
  const rows = await world.query<{ content: string }>('select content from deliveries order by created_at, id');
  return rows
    .map(({ content }) => JSON.parse(content) as { text?: string; view?: string })
    .map(({ text, view }) => text ?? `[${view}]`);
}

/** Ends with what is in hand; a call that is not answered is given up when the time has passed. */
async function stopped(inbound: TelegramIn, time: ManualTime): Promise<void> {
  let isDone = false;
  const stop = inbound.stop(60_000).finally(() => {
    isDone = true;
  });
  for (let turn = 0; !isDone; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    if (turn > 200) await time.advance(1000);
  }
  await stop;
}

/** Waits for something that another connection brings about. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + patienceMs;
  while (performance.now() < end) {
    if (await condition()) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
  throw new Error('It never came true.');
}

/** The same, while the time passes. */
export async function untilLater(time: ManualTime, condition: () => boolean | Promise<boolean>): Promise<void> {
  let turn = 0;
  await until(async () => {
    if (await condition()) return true;
    turn += 1;
    if (turn % 50 === 0) await time.advance(500);
    return false;
  });
}
