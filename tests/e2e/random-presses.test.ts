import { afterEach, describe, expect, it } from 'vitest';
import type { FaultKind, MessageShown } from '../../src/sandbox/world/world.ts';
import { chanceFrom, type Chance } from '../support/chance.ts';
import { ada, hour, lab, minute, second, stopBots, type Bot } from './bot.ts';
import { aTask, select, threadOf } from './deliveries.ts';
import { aTalkingBot } from './dialogue.ts';

afterEach(stopBots);

const pills = ['Red pill', 'Blue pill'] as const;

interface Scene {
  bot: Bot;
  readonly chat: number;
  readonly random: Chance;
  readonly told: string[];
  /** Presses whose answer is still to be seen. */
  readonly pressed: { readonly bot: Bot; readonly id: string }[];
}

async function aScene(seed: number, chat: number): Promise<Scene> {
  const bot = await aTalkingBot({ TELEGRAM_CHATS: String(lab) });
  await bot.say('ada', chat, '/tz UTC');
  for (const text of pills) {
    const more = { policies: { ack: { nag_every: 'PT5M', nag_limit: 3 } } };
    await aTask(bot, { text, thread: threadOf(chat), cron: '0,30 * * * *', more });
  }
  return { bot, chat, random: chanceFrom(seed), told: [], pressed: [] };
}

const live = ({ bot, chat }: Scene): MessageShown[] =>
  bot.world.messages(chat, { limit: 500 }).filter(({ from, service }) => from === 'bot' && service === null);

/** One, two or three fingers press at once, on what may be one message or several. */
async function press(scene: Scene): Promise<string> {
  const { bot, chat, random } = scene;
  const label = random.pick([
    'Done',
    'Done',
    'Done',
    'Snooze',
    'Not done yet',
    '1 h',
    'Run now',
    'Undo',
    'Delete the topic',
  ]);
  const found = live(scene).filter(({ buttons }) => buttons.flat().some(({ text }) => text === label));
  if (found.length === 0) return `no ${label}`;
  const count = random.between(1, 3);
  for (let times = 0; times < count; times += 1) {
    const { messageId, ephemeralId } = random.pick(found.slice(-3));
    const as = chat === ada ? 'ada' : random.pick(['ada', 'ben']);
    const which = ephemeralId === null ? {} : { ephemeralId };
    try {
      scene.pressed.push({ bot, id: bot.world.press({ as, chat, messageId, ...which, button: label }).callbackId });
    } catch (error) {
      return `${label} cannot be pressed: ${String(error)}`;
    }
  }
  await bot.pass(random.pick([0, 2 * second, minute]));
  return `${label} by ${count}`;
}

async function word(scene: Scene): Promise<string> {
  const { bot, chat, random } = scene;
  const number = random.between(1, 2);
  const words = random.pick(['/pause', '/resume', '/delete', '/undo', '/run', '/snooze', '/topic delete', '/edit']);
  const rest =
    { '/snooze': ' 10 min', '/edit': random.pick([' ack off', ' ack every 5 minutes', ' title Pill']) }[words] ?? '';
  await bot.say('ada', chat, `${words} #${number}${rest}`);
  return `${words} #${number}${rest}`;
}

/** Answers to presses are tried, and their loss is nobody’s fault; so they are left in peace. */
async function fault({ bot, random }: Scene): Promise<string> {
  const kind: FaultKind = random.pick([
    '429',
    '500',
    'reset_before',
    'reset_after',
    'answer_lost',
    'bad_gateway_html',
  ] as FaultKind[]);
  const method = random.pick([
    'deleteMessage',
    'sendMessage',
    'editMessageText',
    'editMessageReplyMarkup',
    'createForumTopic',
    'setMessageReaction',
  ]);
  bot.world.fault({ kind, method, count: random.between(1, 3), retryAfter: 5 });
  return `${kind} ${method}`;
}

async function pass({ bot, random }: Scene): Promise<string> {
  const ms = random.pick([minute, 5 * minute, 7 * minute, 31 * minute]);
  for (let passed = 0; passed < ms; passed += minute) await bot.pass(minute);
  return `${ms / minute} min`;
}

async function restart(scene: Scene): Promise<string> {
  scene.bot = await scene.bot.restart({ awayMs: scene.random.pick([0, minute, 40 * minute]) });
  await scene.bot.pass(minute);
  return 'restart';
}

const deeds = [press, press, press, word, fault, pass, pass, restart];

/** The reminders that stand there, and those that may. */
function standing(scene: Scene): string[] {
  const { bot, chat } = scene;
  const wanted = select<{ message_id: number | null }>(
    bot,
    `select d.message_id from acks a join deliveries d on d.id = a.nag_delivery_id where a.status = 'open'`,
  ).map(({ message_id: id }) => id);
  return bot.world
    .messages(chat, { limit: 500 })
    .filter(({ text, messageId }) => text.startsWith('Not done yet') && !wanted.includes(messageId))
    .map(({ text }) => text);
}

describe('reminders', () => {
  it.each([
    [lab, 1],
    [ada, 2],
  ])('in chat %i stay true whatever people press, and whatever Telegram does (seed %i)', async (chat, seed) => {
    const scene = await aScene(seed, chat);
    await scene.bot.pass(30 * minute);
    for (let left = 30; left > 0; left -= 1) {
      const deed = scene.random.pick(deeds);
      scene.told.push(`${deed.name}: ${await deed(scene)}`);
    }
    const { bot } = scene;
    bot.world.clearFault();
    for (const number of [1, 2]) await bot.say('ada', chat, `/pause #${number}`);
    for (let passed = 0; passed < 2 * hour; passed += minute) await bot.pass(minute);
    const context = scene.told.join('\n');
    const errors = bot.log.lines.filter(({ level }) => level === 'error');
    expect([errors, context]).toEqual([[], context]);
    expect([standing(scene), context]).toEqual([[], context]);
    const open = `select id, kind, status, error, cause from deliveries where status not in ('delivered', 'failed')
      and coalesce(cause, '') <> 'topic_in_doubt'`;
    expect([select(bot, open), context]).toEqual([[], context]);
    expect([select(bot, `select * from acks where status = 'open'`), context]).toEqual([[], context]);
    expect(select(bot, `select error from inbox where status <> 'done'`)).toEqual([]);
    // Presses on the living server have their answers.
    const unanswered = scene.pressed.filter(
      ({ bot: then, id }) => then === bot && bot.world.callbackAnswer(id) === null,
    );
    expect([unanswered.length, context]).toEqual([0, context]);
    const doubles = select<{ n: number }>(
      bot,
      `select count(*) as n from deliveries where kind = 'result' and status = 'delivered' group by message_id having n > 1`,
    );
    expect(doubles).toEqual([]);
  });
});
