import { afterEach, expect, it } from 'vitest';
import { outboxRanks } from '../../src/domain/delivery.ts';
import type { MessageShown } from '../../src/sandbox/world/world.ts';
import { ada, lab, minute, stopBots, type Bot } from './bot.ts';
import { mark, select } from './deliveries.ts';
import { aTalkingBot, made, madeWithTopic } from './dialogue.ts';

afterEach(stopBots);

/** The words of a person, a reply to the result of task #1, or a button: of the message that was there last with such a one. */
type Step = readonly ['say' | 'reply' | 'press', string];

const say = (...all: readonly string[]): Step[] => all.map((text) => ['say', text]);
const press = (...all: readonly string[]): Step[] => all.map((text) => ['press', text]);
const reply = (...all: readonly string[]): Step[] => all.map((text) => ['reply', text]);

/** One after the other, so that each finds what the one before has left. */
const steps: readonly Step[] = [
  ...say('/start', '/help', '/help snooze', '/status', '/usage', '/tz', '/tz Madrid'),
  ...say('/settings'),
  ...press('22–7', 'Without sound', 'Quiet: off', 'Dates', 'Digits'),
  ...say('/settings create admins', '/settings create members', '/settings nonsense'),
  ...say('/new'),
  ...press('Every week', 'Mon', 'Next', '18:00', '18:30', 'Cancel'),
  ...say('/new Call mum'),
  ...press('Tomorrow 09:00', 'Cancel'),
  ...say('/new every day at 8 Sync'),
  ...press('Create'),
  ...say('/new every day at 9 Ping', '/new whenever it rains', '/cancel'),
  ...say('/new every day at 9 Ping'),
  ...press('Change time'),
  ...say('/cancel'),
  ...say('/tasks', '/tasks lunch'),
  ...press('Active', 'Mine'),
  ...say('/task #1'),
  ...press('Pause', 'Resume', 'Edit', 'More', 'Missed', 'Ask', 'Undo'),
  ...say('/task #1'),
  ...press('Skip next', 'History', 'Back'),
  ...say('/edit #1 every day at 11', '/undo', '/edit #1 titel Supper', '/edit #1 text Eat', '/edit #1 title Supper'),
  ...say('/snooze #1'),
  ...press('Pick…', 'Tomorrow'),
  ...say('/snooze #1 2 hours', '/skip #1 2', '/undo', '/pause #1', '/resume #1'),
  ...say('/history #1', '/why #1', '/why #1 yesterday', '/next #1', '/next'),
  ...reply('2 hours', 'why?', 'skip', 'what a lunch', 'done'),
  ...press('Not done yet', 'Done'),
  ...say('/run #1'),
  ...say('/digest', '/digest daily 8:00', '/digest off'),
  ...say('/allow', '/puase'),
  ...say('/edit #1 title Dinner'),
  ...press('Undo'),
  ...say('/edit #1 8:30', '/skip #1 friday', '/explain #1', '/done #1'),
  ...say('/delete #2', '/undo', '/delete #1'),
  ...press('Undo'),
  ...say('/task #1'),
  ...press('Delete', 'Undo'),
  ...say('/topic delete #1'),
  ...press('Keep'),
  ...say('/purge'),
  ...press('Keep'),
];

interface Scene {
  readonly bot: Bot;
  readonly chat: number;
  /** Where things are said. */
  readonly place: { readonly thread?: number };
  readonly result: MessageShown;
}

async function done({ bot, chat, place, result }: Scene, [kind, words]: Step): Promise<void> {
  if (kind === 'say') await bot.say('ada', chat, words, place);
  else if (kind === 'reply') {
    await bot.say('ada', chat, words, { thread: result.threadId ?? 0, replyTo: result.messageId });
  } else {
    const message = bot.world
      .messages(chat, { limit: 500, as: 'ada' })
      .findLast(({ from, buttons }) => from === 'bot' && buttons.flat().some(({ text }) => text === words));
    if (message === undefined) throw new Error(`there is no button ${words}`);
    await bot.press('ada', message, words);
  }
}

const redraws = `select message_id id from deliveries where rank = ${outboxRanks.redraw} and status = 'delivered' order by delivered_at, id`;

/**
 * Every call on the wire, but for the poll that is always open, and for messages that are drawn anew when nobody waits for
 * anything: those are bounded for each message and each chat, whatever people do.
 */
async function callsOf(bot: Bot, act: () => Promise<void>): Promise<string[]> {
  const before = mark(bot);
  const drawnBefore = select(bot, redraws).length;
  await act();
  const drawn = select<{ id: number }>(bot, redraws).slice(drawnBefore);
  const calls = bot.world.calls(before, 100_000).filter(({ method }) => method !== 'getUpdates');
  for (const { id } of drawn) {
    const at = calls.findIndex((call) => call.method.startsWith('edit') && Number(call.params['message_id']) === id);
    if (at >= 0) calls.splice(at, 1);
  }
  return calls.map(({ method }) => method);
}

const short: Readonly<Record<string, string>> = {
  answerCallbackQuery: 'toast',
  sendMessage: 'send',
  editMessageText: 'edit',
  editEphemeralMessageText: 'edit',
  editMessageCaption: 'edit',
  editMessageReplyMarkup: 'edit',
  deleteMessage: 'remove',
  setMessageReaction: 'react',
  getChat: 'look',
  getChatMember: 'look',
  editForumTopic: 'rename',
  closeForumTopic: 'close',
  reopenForumTopic: 'open',
};

async function costs(chat: number, isInside: boolean): Promise<string[]> {
  const bot = await aTalkingBot({ TELEGRAM_CHATS: String(lab) });
  await bot.say('ada', chat, '/tz UTC');
  const topic = await madeWithTopic(bot, ['ada', chat], 'every day at 12 Lunch');
  await made(bot, ['ada', chat], 'every day at 13 Tea');
  const result = bot.world.messages(chat, { thread: topic }).find(({ text }) => text === 'Lunch');
  if (result === undefined) throw new Error('there is no result');
  const scene = { bot, chat, result, place: isInside ? { thread: topic } : {} };
  const told: string[] = [];
  for (const step of steps) {
    // Facts about the chat that were known a moment ago are not known any more.
    await bot.pass(2 * minute);
    const calls = await callsOf(bot, () => done(scene, step));
    const isRun = step[1].startsWith('/run');
    // Calls of a run are counted for the run and not for the word that asked for it.
    const mine = isRun ? calls.slice(0, 1) : calls;
    expect([step.join(' '), mine.length >= 1 && mine.length <= 3], calls.join()).toEqual([step.join(' '), true]);
    told.push(mine.map((method) => short[method] ?? method).join(' + '));
  }
  expect(bot.log.lines.filter(({ level }) => level === 'error')).toEqual([]);
  return told;
}

interface Place {
  readonly name: string;
  readonly chat: number;
  readonly isInside: boolean;
}

const places: readonly Place[] = [
  { name: 'in a group', chat: lab, isInside: false },
  { name: 'in a private chat', chat: ada, isInside: false },
  { name: 'inside a topic', chat: lab, isInside: true },
];

const measured = new Map<string, Promise<readonly string[]>>();

/** Each place is measured once, for its own test and for the page. */
function costsIn({ name, chat, isInside }: Place): Promise<readonly string[]> {
  const told = measured.get(name) ?? costs(chat, isInside);
  measured.set(name, told);
  return told;
}

it.each(places)(
  'no interaction $name costs more than three calls, whatever is looked up and answered with it',
  async (place) => {
    expect(await costsIn(place)).toHaveLength(steps.length);
  },
);

/** The page is the measurement: `npx vitest run tests/e2e/costs.test.ts -u` renews it. */
it('the page of the costs is up to date', async () => {
  const [group = [], own = [], inside = []] = await Promise.all(places.map(costsIn));
  const rows = steps.map(([kind, words], index) => {
    const name = kind === 'say' ? words : kind === 'reply' ? `${words} (a reply)` : `[${words}]`;
    return [name, group[index] ?? '', own[index] ?? '', inside[index] ?? ''];
  });
  const head = ['what a person does', ...places.map(({ name }) => name)];
  const all = [head, ...rows];
  const widths = head.map((_name, column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  const lines = all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('../../fixtures/costs.txt');
});
