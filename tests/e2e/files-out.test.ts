import { afterEach, describe, expect, it } from 'vitest';
import type { MessageShown } from '../../src/sandbox/world/world.ts';
import { gif, mp4, png } from '../support/files.ts';
import { lab, minute, second, stopBots, type Bot } from './bot.ts';
import {
  aBotIn,
  aTask,
  callsSince,
  mark,
  methodsSince,
  ownFloods,
  rowsOf,
  runNow,
  select,
  topicNamed,
  unhurried,
} from './deliveries.ts';

afterEach(stopBots);

const echoing = { ...unhurried, ECHO_ACTION: '1' };
const yearly = '0 0 1 1 *';

interface Given {
  readonly name: string;
  readonly head?: Buffer;
  readonly size?: number;
}

const photo = (name: string): Given => ({ name, head: png(8, 6) });
const photos = (count: number) => Array.from({ length: count }, (_, index) => photo(`p${index + 1}.png`));

/** A task whose run brings these files, with its first run over, so that its topic is there. */
async function bringing(files: readonly Given[], { text = 'Here they are.', env = {}, policies = {} } = {}) {
  const bot = await aBotIn(lab, { ...echoing, ...env });
  const given = files.map(({ name, head, size = 200 }) => ({
    name,
    size,
    ...(head && { head: head.toString('hex') }),
  }));
  const action = { kind: 'echo', files: given };
  const id = await aTask(bot, { title: 'Charts', text, cron: yearly, more: { action, policies } });
  return { bot, id };
}

/** Messages of the bot in the topic of the task, without its card. */
function results(bot: Bot): readonly MessageShown[] {
  const topic = topicNamed(bot, lab, 'Charts');
  return bot.world
    .messages(lab, { thread: topic, limit: 500 })
    .filter(({ from, service, isPinned }) => from === 'bot' && service === null && !isPinned);
}

const told = (bot: Bot) => results(bot).map(({ text, document }) => `${document?.kind ?? 'text'}: ${text}`);
const buttons = ({ buttons: rows }: MessageShown) => rows.flat().map(({ text }) => text);

async function ran(bot: Bot, id: string, ms = minute): Promise<void> {
  await runNow(bot, id);
  await bot.pass(ms);
}

describe('a result with files', () => {
  it('brings photos as an album, then the rest in the order of kinds, and its words with the buttons where they can stand', async () => {
    const { bot, id } = await bringing([
      { name: 'report.pdf', head: Buffer.from('%PDF-1.7') },
      { name: 'song.m4a', head: mp4('M4A ') },
      photo('a.png'),
      { name: 'film.mp4', head: mp4('isom') },
      { name: 'loop.gif', head: gif },
      photo('b.png'),
    ]);
    await ran(bot, id);
    expect(told(bot)).toEqual([
      'text: Here they are.',
      'photo: a.png',
      'photo: b.png',
      'animation: loop.gif',
      'video: film.mp4',
      'audio: song.m4a',
      'document: report.pdf',
    ]);
    expect(results(bot).map(buttons)).toEqual([[], [], [], [], [], [], ['Run again']]);
    const [, first, second, third] = results(bot);
    expect(first?.album).not.toBeNull();
    expect([second?.album, third?.album]).toEqual([first?.album, null]);
    expect(rowsOf(bot, 'result').map(({ status }) => status)).toEqual(Array.from({ length: 6 }, () => 'delivered'));
    expect(
      bot.world
        .file(results(bot).at(-1)?.document?.fileId ?? '')
        ?.bytes.subarray(0, 8)
        .toString(),
    ).toBe('%PDF-1.7');
  });

  it('has its words below the only file, with the buttons', async () => {
    const { bot, id } = await bringing([photo('a.png')]);
    await ran(bot, id);
    expect(told(bot)).toEqual(['photo: Here they are.']);
    expect(results(bot).map(buttons)).toEqual([['Run again']]);
    await bot.press('ada', results(bot)[0] as MessageShown, 'Run again');
    await bot.pass(minute);
    expect(told(bot)).toHaveLength(2);
  });

  it('of fifty photos is five albums, at the pace of a group, and Telegram never has to say so', async () => {
    const rates = { TELEGRAM_RATE_GLOBAL: '30', TELEGRAM_RATE_CHAT: '1', TELEGRAM_RATE_GROUP: '20' };
    const { bot, id } = await bringing(photos(50), { env: rates });
    await ran(bot, id, 5 * minute);
    expect(results(bot).map(({ text }) => text)).toEqual([...photos(50).map(({ name }) => name), 'Here they are.']);
    expect(new Set(results(bot).map(({ album }) => album)).size).toBe(6);
    expect(ownFloods(bot)).toEqual([]);
    const kept = select<{ n: number }>(bot, 'select count(*) as n from album_messages');
    expect(kept).toEqual([{ n: 45 }]);
  });

  it('takes a long text along as a file below its beginning', async () => {
    const { bot, id } = await bringing([], { text: `The head of it.\n\n${'many words '.repeat(600)}` });
    await ran(bot, id);
    const [only, ...more] = results(bot);
    expect(more).toEqual([]);
    expect(only).toMatchObject({ document: { kind: 'document', name: 'result.txt' } });
    expect(only?.text).toMatch(/^The head of it\.\n\n.*All of it is in the file \(6\.5 kB\)\.$/s);
    expect(bot.world.file(only?.document?.fileId ?? '')?.bytes.byteLength).toBe(6617 - 'x'.length + 1);
  });

  it('tells which of its files are missing and why, and brings the others', async () => {
    const { bot, id } = await bringing([
      photo('good.png'),
      { name: 'huge.zip', size: 51 * 1_048_576 },
      { name: 'empty.txt', size: 0 },
    ]);
    await ran(bot, id);
    expect(told(bot)).toEqual([
      'text: Here they are.\n\n(huge.zip, 51 MB, is missing: a file has 50 MB at most.)',
      'photo: good.png',
      'text: (empty.txt, 0 bytes, is missing: Telegram refused it (file must be non-empty).)',
    ]);
    expect(rowsOf(bot, 'result').map(({ status }) => status)).toEqual(['delivered', 'delivered', 'delivered']);
  });

  it('shows a picture that is too wide for a photo as a document', async () => {
    const { bot, id } = await bringing([photo('a.png'), { name: 'wide.png', head: png(9000, 2000) }, photo('b.png')]);
    await ran(bot, id);
    expect(told(bot)).toEqual(['text: Here they are.', 'photo: a.png', 'photo: b.png', 'document: wide.png']);
  });
});

it('the API tells the numbers of all messages of an album', async () => {
  const { bot, id } = await bringing(photos(2));
  await ran(bot, id);
  const { body } = await bot.api('GET', `/v1/tasks/${id}/runs`);
  const [run] = body['task_runs'] as { deliveries: { message_id: number; message_ids?: number[] }[] }[];
  const [first, second, words] = results(bot).map(({ messageId }) => messageId);
  expect(run?.deliveries).toMatchObject([{ message_id: first, message_ids: [first, second] }, { message_id: words }]);
  expect(run?.deliveries[1]).not.toHaveProperty('message_ids');
});

describe('a reply to any photo of an album', () => {
  it('is about the task', async () => {
    const { bot, id } = await bringing(photos(3));
    await ran(bot, id);
    const last = results(bot)
      .filter(({ album }) => album !== null)
      .at(-1);
    const [answer] = await bot.say('ada', lab, '/history', {
      thread: topicNamed(bot, lab, 'Charts'),
      replyTo: last?.messageId ?? 0,
    });
    expect(answer?.text).toContain('Charts');
  });
});

/** Past the wait for an answer that does not come, and then past every look for evidence. */
async function untilSettled(bot: Bot): Promise<void> {
  await bot.drift(27 * second);
  await bot.pass(3 * minute);
}

describe.each([
  ['one photo', [photo('a.png')], 'sendPhoto', ['photo: Here they are.']],
  ['a document', [{ name: 'a.pdf', head: Buffer.from('%PDF') }], 'sendDocument', ['document: Here they are.']],
  [
    'an album',
    photos(3),
    'sendMediaGroup',
    ['photo: p1.png', 'photo: p2.png', 'photo: p3.png', 'text: Here they are.'],
  ],
] as const)('%s', (_name, files, method, expected) => {
  it.each([
    'answer_lost',
    'reset_after',
    'reset_before',
    'hang',
    'late',
    'wrong_shape',
    '429',
    '500',
    'bad_gateway_html',
  ] as const)('that meets "%s" stands in its topic once, whole and in order', async (kind) => {
    const { bot, id } = await bringing(files);
    const before = mark(bot);
    bot.world.fault({ kind, method, chat: lab, count: 1 });
    await runNow(bot, id);
    await untilSettled(bot);
    expect(bot.world.faults()).toEqual([]);
    expect(told(bot)).toEqual(expected);
    expect(new Set(rowsOf(bot, 'result').map(({ status }) => status))).toEqual(new Set(['delivered']));
    expect(results(bot).at(-1)?.buttons.flat()).toHaveLength(1);
    const strays = bot.world.messages(lab, { thread: null }).filter(({ document }) => document !== null);
    expect(strays).toEqual([]);
    expect(methodsSince(bot, before).filter((each) => each === method).length).toBeLessThanOrEqual(2);
  });

  it('that Telegram shows outside of its topic is taken back whole, and stands in a topic that is made anew', async () => {
    const { bot, id } = await bringing(files);
    bot.world.fault({ kind: 'misroute', method, chat: lab, count: 1 });
    await runNow(bot, id);
    await bot.pass(3 * minute);
    const strays = bot.world.messages(lab, { thread: null }).filter(({ document }) => document !== null);
    expect(strays).toEqual([]);
    const topic = bot.world.topics(lab).at(-1)?.threadId ?? 0;
    const shown = bot.world.messages(lab, { thread: topic }).filter(({ document }) => document !== null);
    expect(shown.map(({ document }) => document?.name)).toEqual(files.map(({ name }) => name));
  });

  it('is found by the next process when this one dies while it is sent', async () => {
    const { bot, id } = await bringing(files);
    bot.world.fault({ kind: 'answer_lost', method, chat: lab, count: 1 });
    await runNow(bot, id);
    await bot.drift(2 * second);
    const next = await bot.restart({ awayMs: second });
    await untilSettled(next);
    expect(told(next)).toEqual(expected);
    expect(callsSince(next).filter((call) => call.method === method)).toHaveLength(1);
    expect(new Set(rowsOf(next, 'result').map(({ status }) => status))).toEqual(new Set(['delivered']));
  });
});
