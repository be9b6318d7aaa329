import { afterEach, describe, expect, it } from 'vitest';
import type { MessageShown } from '../../src/sandbox/world/world.ts';
import { ada, ben, hour, lab, plain, second, stopBots, type Bot } from './bot.ts';
import { mark, methodsSince, select } from './deliveries.ts';
import { ask, askText, aTalkingBot, dataOf, labels, made } from './dialogue.ts';

afterEach(stopBots);

function tasks(bot: Bot): { number: number; title: string; instructions: string; owner_id: string; state: string }[] {
  return select(bot, 'select number, title, instructions, owner_id, state from tasks order by number');
}

const inLab = ['ada', lab] as const;
const inPrivate = ['ada', ada] as const;

/** Both places where a task can be made, with a zone that somebody has confirmed. */
async function aBotIn(chat: number, env: Readonly<Record<string, string>> = {}): Promise<Bot> {
  const bot = await aTalkingBot({ TELEGRAM_CHATS: String(lab), ...env });
  await bot.say('ada', chat, '/tz UTC');
  return bot;
}

describe('/new <when> <what>', () => {
  it('takes a text of many lines, and makes its first line the title', async () => {
    const bot = await aBotIn(lab);
    const text = 'Stand up, in the kitchen\n\n- who speaks first?\n  - *nobody* <b>knows</b> & cares';
    const card = await made(bot, inLab, `every weekday at 9:00\n${text}`);
    expect(card.text).toContain(text);
    expect(tasks(bot)).toMatchObject([{ title: 'Stand up, in the kitchen', instructions: text }]);
    await bot.press('ada', card, 'Run now');
    const [topic] = bot.world.topics(lab);
    expect(bot.texts(lab, topic?.threadId ?? 0)[1]).toBe(text);
  });

  it('refuses more tasks than the quota allows, in words for people, and makes it when one is deleted', async () => {
    const bot = await aBotIn(lab, { QUOTA_PER_USER: '1' });
    await made(bot, inLab, 'every day at 9 one');
    const preview = await ask(bot, inLab, '/new every day at 10 two');
    await bot.press('ada', preview, 'Create');
    expect(bot.now(preview).text).toContain('You have 1 task that can still run, and that is the limit.');
    expect(bot.now(preview).text).not.toContain('QUOTA');
    await ask(bot, inLab, '/delete 1');
    expect(await bot.press('ada', bot.now(preview), 'Create')).toMatchObject({ text: 'Created as #2' });
  });
});

describe('a preview', () => {
  it('makes one task, however often Create is pressed', async () => {
    const bot = await aBotIn(lab);
    const preview = await ask(bot, inLab, '/new every day at 9 Ping');
    const data = dataOf(preview, 'Create');
    const pressing = { as: 'ada', chat: lab, messageId: preview.messageId, button: data };
    const presses = [bot.world.press(pressing), bot.world.press(pressing)];
    await bot.pass(2 * second);
    expect(presses.map(({ callbackId }) => bot.world.callbackAnswer(callbackId)?.text)).toEqual([
      'Created as #1',
      'It is there already: #1',
    ]);
    expect(tasks(bot)).toHaveLength(1);
    expect(bot.now(preview).text).toMatch(/^#1 Ping/);
  });

  it('follows the message with which it began when that is edited', async () => {
    const bot = await aBotIn(lab);
    await ask(bot, inLab, '/new every day at 9 Pnig');
    const mine = bot.world.messages(lab, { limit: 500 }).findLast(({ from }) => from === 'ada') as MessageShown;
    const edit = async (text: string) => {
      bot.world.edit({ as: 'ada', chat: lab, messageId: mine.messageId, text });
      await bot.pass(2 * second);
    };
    await edit('/new every day at 9 Ping');
    expect(bot.last(lab).text).toContain('New task: Ping');
    await bot.press('ada', bot.last(lab), 'Create');
    const before = mark(bot);
    await edit('/new every day at 9 Pong');
    expect(methodsSince(bot, before)).toEqual([]);
    expect(tasks(bot)).toMatchObject([{ title: 'Ping' }]);
  });

  it('says where topics are off that results will wait', async () => {
    const bot = await aTalkingBot({ TELEGRAM_CHATS: `${plain},${ben}` });
    expect(await askText(bot, ['ada', plain], '/new every day at 9 Ping')).toContain('topics are off in this group');
    const card = await made(bot, ['ben', plain], 'every day at 9 Ping');
    expect(card.text).toContain('They wait until you switch them on: see /start.');
  });
});

describe('/tz', () => {
  it.each([
    ['Madrid', 'Europe/Madrid'],
    ['new york', 'America/New_York'],
    ['europe/lisbon', 'Europe/Lisbon'],
    ['UTC', 'UTC'],
    ['Mumbai', 'Asia/Kolkata'],
  ])('sets %s', async (words, zone) => {
    const bot = await aTalkingBot();
    expect(await askText(bot, inPrivate, `/tz ${words}`)).toContain(`Times in this chat are in ${zone} now.`);
    expect(await askText(bot, inPrivate, '/new every day at 9 Ping')).toContain(`Zone: ${zone}`);
  });

  it('offers what an offset, a clock time and nonsense could mean, and sets nothing by itself', async () => {
    const bot = await aTalkingBot();
    for (const offset of ['+2', 'UTC+2', 'GMT-5', '-03:00']) {
      const answer = await ask(bot, inPrivate, `/tz ${offset}`);
      expect(answer.text).toContain('is not a time zone, because clocks change in summer');
      expect(labels(answer).flat()).toContain('Berlin');
    }
    expect(await askText(bot, inPrivate, '/tz Atlantis <b>')).toContain(
      'I do not know a time zone called Atlantis <b>.',
    );
    const clock = await ask(bot, inPrivate, '/tz 10:00');
    expect(labels(clock)).toEqual([['Berlin']]);
    expect(await askText(bot, inPrivate, '/tz')).toContain('Times here are in UTC.');
    expect(await bot.press('ada', clock, 'Berlin')).toEqual({ text: 'Good: Europe/Berlin', alert: false });
    expect(await askText(bot, inPrivate, '/tz')).toContain('Times here are in Europe/Berlin, where it is 10:');
  });

  it('in a group is for admins, by word and by button', async () => {
    const bot = await aTalkingBot({ TELEGRAM_CHATS: String(lab) });
    bot.world.setFeatures({ isEphemeralOn: false });
    const menu = await ask(bot, inLab, '/tz');
    expect(labels(await ask(bot, ['ben', lab], '/tz'))).toEqual([]);
    expect(await askText(bot, ['ben', lab], '/tz Madrid')).toContain('Only an admin of this chat may change that');
    const refused = { text: 'Only an admin of this chat may do that (Ada).', alert: true };
    for (const button of ['Yes', 'No, change', 'Berlin']) expect(await bot.press('ben', menu, button)).toEqual(refused);
    bot.world.setMember(lab, 'ben', 'administrator');
    await bot.pass(second);
    expect(await askText(bot, ['ben', lab], '/tz Madrid')).toContain('Europe/Madrid');
  });

  it('leaves tasks that exist in their own zone', async () => {
    const bot = await aBotIn(lab);
    await made(bot, inLab, 'every day at 12 Lunch');
    await ask(bot, inLab, '/tz Madrid');
    expect(await askText(bot, inLab, '/task 1')).toContain('Every day at 12:00 (UTC)');
    await bot.pass(4 * hour);
    expect(bot.world.topics(lab)).toHaveLength(1);
  });
});
