import { afterEach, describe, expect, it } from 'vitest';
import type { MessageShown } from '../../src/sandbox/world/world.ts';
import { ada, ben, hour, lab, minute, plain, second, stopBots, type Bot } from './bot.ts';
import { mark, methodsSince, select } from './deliveries.ts';
import { ask, askText, aTalkingBot, dataOf, expectSilence, labels, made, madeWithTopic } from './dialogue.ts';

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
  // It is Wednesday the 18th of November 2026, just after nine in the morning, in UTC.
  it.each([
    ['in 20 minutes', /^Once on Wed 18 Nov at 09:20:\d\d$/, 'Wed 18 Nov 09:20'],
    ['tomorrow 8am', /^Once on Thu 19 Nov at 08:00$/, 'Thu 19 Nov 08:00'],
    ['2027-01-31 09:00', /^Once on Sun 31 Jan 2027 at 09:00$/, 'Sun 31 Jan 2027 09:00'],
    ['every day at 9', /^Every day at 09:00$/, 'Thu 19 Nov 09:00, Fri 20 Nov 09:00, Sat 21 Nov 09:00'],
    ['every weekday at 9:00', /^Every weekday at 09:00$/, 'Thu 19 Nov 09:00, Fri 20 Nov 09:00, Mon 23 Nov 09:00'],
    [
      'every monday and thursday 18:30',
      /^Every Monday and Thursday at 18:30$/,
      'Thu 19 Nov 18:30, Mon 23 Nov 18:30, Thu 26 Nov 18:30',
    ],
    ['every 2 weeks on monday 10:00', /^Every 2 weeks on Monday at 10:00/, 'Mon 23 Nov 10:00, Mon 7 Dec 10:00'],
    ['every month on the 1st at 9', /1st/, 'Tue 1 Dec 09:00, Fri 1 Jan 2027 09:00'],
    ['last friday of the month at 17:00', /last Friday/, 'Fri 27 Nov 17:00, Fri 25 Dec 17:00, Fri 29 Jan 2027 17:00'],
    ['every 15 minutes', /^Every 15 minutes, starting Wed 18 Nov 09:/, 'Wed 18 Nov 09:15'],
    ['every 2h from 8 to 18', /hours/, 'Wed 18 Nov 10:00, Wed 18 Nov 12:00, Wed 18 Nov 14:00'],
    ['30 6 * * 1-5', /06:30/, 'Thu 19 Nov 06:30, Fri 20 Nov 06:30, Mon 23 Nov 06:30'],
    ['FREQ=WEEKLY;BYDAY=SA;BYHOUR=10;BYMINUTE=0', /Saturday/, 'Sat 21 Nov 10:00'],
    ['P1M', /month/, 'Fri 18 Dec 09:00'],
    ['every day at 9 in Europe/Madrid', /^Every day at 09:00$/, 'Thu 19 Nov 09:00'],
  ])('reads %s, and makes the task of it', async (when, words, next) => {
    const bot = await aBotIn(lab);
    const preview = await ask(bot, inLab, `/new ${when}: Water the plants`);
    const [title, schedule, zone, coming] = preview.text.split('\n');
    expect(title).toBe('New task: Water the plants');
    expect(schedule).toMatch(words);
    expect(zone).toBe(`Zone: ${when.includes('Madrid') ? 'Europe/Madrid' : 'UTC'}`);
    expect(coming).toContain(`Next: ${next}`);
    expect(labels(preview)).toEqual([['Create', 'Change time', 'Cancel'], ['Change text']]);
    expect(bot.world.topics(lab)).toEqual([]);
    expect(await bot.press('ada', preview, 'Create')).toEqual({ text: 'Created as #1', alert: false });
    const card = bot.now(preview);
    expect(card.text).toMatch(/^#1 Water the plants\nActive\n/);
    expect(labels(card)).toEqual([
      ['Run now', 'Pause', 'Edit'],
      ['Skip next', 'History', 'Delete'],
    ]);
    expect(tasks(bot)).toMatchObject([{ number: 1, title: 'Water the plants', owner_id: 'telegram:user:1001' }]);
  });

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

  it('keeps a title short, and the text whole', async () => {
    const bot = await aBotIn(ada);
    const long = `${'A reminder that goes on and on '.repeat(8)}.`;
    const card = await made(bot, inPrivate, `tomorrow at 8am ${long}`);
    expect(card.text.split('\n')[0]?.length).toBeLessThanOrEqual('#1 '.length + 60);
    expect(tasks(bot)[0]?.instructions).toBe(long.trim());
  });

  it('asks for the text when it is missing, and takes the answer as it', async () => {
    const bot = await aBotIn(lab);
    const question = await ask(bot, inLab, '/new every day at 9');
    expect(question.text).toBe(
      'Every day at 09:00 (UTC). What should I say?\n\nReply to this message with the text, or a picture or another file.',
    );
    await expectSilence(bot, ['ben', lab], 'I am only talking');
    await expectSilence(bot, inLab, 'every day at 10 is too late');
    const preview = await ask(bot, inLab, 'every day at 10 is too late', { replyTo: question.messageId });
    expect(preview.text).toContain('New task: every day at 10 is too late\nEvery day at 09:00');
  });

  it('asks for everything when all is missing, and for what can be read when it cannot', async () => {
    const bot = await aBotIn(lab);
    const question = await ask(bot, inLab, '/new');
    expect(question.text).toContain('Choose, or reply to this message with when and what');
    expect(labels(question).flat()).toEqual(expect.arrayContaining(['Every day', 'Once', 'Cancel']));
    await expectSilence(bot, inLab, 'now and then call mum');
    const again = await ask(bot, inLab, 'now and then call mum', { replyTo: question.messageId });
    expect(again.text).toContain('Reply to this message with both in one message');
    expect(await askText(bot, inLab, 'tomorrow at 8 call mum')).toContain('New task: call mum');
  });

  it.each([
    'next blue moon Call mum',
    'soon Call mum',
    'every 5 parsecs Call mum',
    '99:99 Call mum',
    '* * * * * * * x',
  ])('refuses %s with a sentence and three examples that work', async (words) => {
    const bot = await aBotIn(lab);
    const refusal = await ask(bot, inLab, `/new ${words}`);
    const examples = /These can be read:\n([\s\S]+?)\n\n/.exec(refusal.text)?.[1]?.split('\n') ?? [];
    expect(examples).toHaveLength(3);
    for (const example of examples) {
      expect(await askText(bot, inLab, `/new ${example}\nCall mum`)).toMatch(/New task: [Cc]all mum|New task: /);
    }
    expect(tasks(bot)).toEqual([]);
  });

  it('refuses what is over', async () => {
    const bot = await aBotIn(ada);
    expect(await askText(bot, inPrivate, '/new 2020-01-01 09:00 Party')).toMatch(
      /^2020-01-01 09:00 in UTC is in the past; write a moment to come\./,
    );
    const preview = await ask(bot, inPrivate, '/new today at 9:01 Party');
    await bot.pass(5 * minute);
    await bot.press('ada', preview, 'Create');
    expect(bot.now(preview).text).toMatch(
      /It cannot be created like this\. .* is over\. Choose a time in the future\./,
    );
    expect(labels(bot.now(preview))).toEqual([['Change time', 'Cancel'], ['Change text']]);
    expect(tasks(bot)).toEqual([]);
  });

  it('refuses what is too dense, before anybody presses Create', async () => {
    const bot = await aBotIn(ada);
    const preview = await ask(bot, inPrivate, '/new every 10 seconds Ping');
    expect(preview.text).toContain('It cannot be created like this. It would run 10 seconds apart');
    expect(labels(preview)).toEqual([['Change time', 'Cancel'], ['Change text']]);
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

  it('offers to send as plain text what looks like a faulty template', async () => {
    const bot = await aBotIn(lab);
    const preview = await ask(bot, inLab, '/new in 5 minutes Rent is {{ due');
    await bot.press('ada', preview, 'Create');
    expect(bot.now(preview).text).toContain('looks like a template');
    expect(labels(bot.now(preview))).toEqual([['Send as plain text'], ['Change time', 'Cancel'], ['Change text']]);
    expect(await bot.press('ada', bot.now(preview), 'Send as plain text')).toMatchObject({ text: 'Created as #1' });
    await bot.pass(6 * minute);
    const [topic] = bot.world.topics(lab);
    expect(bot.texts(lab, topic?.threadId ?? 0)).toContain('Rent is {{ due');
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

  it('is dropped by Cancel and by /cancel, and its buttons are over then', async () => {
    const bot = await aBotIn(lab);
    const one = await ask(bot, inLab, '/new every day at 9 Ping');
    await bot.press('ada', one, 'Cancel');
    expect(bot.now(one).text).toBe('Cancelled. Nothing was made.');
    const two = await ask(bot, inLab, '/new every day at 9 Pong');
    expect(await askText(bot, inLab, '/cancel')).toBe('Cancelled. Nothing was made.');
    expect(await bot.press('ada', two, 'Create')).toEqual({
      text: 'This draft is over. Send /new to begin again.',
      alert: true,
    });
    expect(await askText(bot, inLab, '/cancel')).toContain('There is nothing to cancel here');
    expect(tasks(bot)).toEqual([]);
  });

  it('gets another time by Change time, also after one that cannot be read', async () => {
    const bot = await aBotIn(lab);
    const preview = await ask(bot, inLab, '/new every day at 9 Ping');
    await bot.press('ada', preview, 'Change time');
    expect(bot.now(preview).text).toContain('Send the new time for Ping.');
    const reply = { replyTo: preview.messageId };
    const unread = await ask(bot, inLab, 'hm', reply);
    expect(unread.text).toContain('Reply to this message with the time, or press Cancel.');
    const doubtful = await ask(bot, inLab, 'every day at 10 and more', { replyTo: unread.messageId });
    expect(doubtful.text).toMatch(/belongs to the time\. Send the time alone\.[\s\S]*every day at 9\n/);
    // People may be talking to each other meanwhile.
    await expectSilence(bot, inLab, 'every day at 10 Ping');
    const again = { replyTo: doubtful.messageId };
    expect(await askText(bot, inLab, 'every day at 10 Ping', again)).toContain('what follows it: Ping. Send the time');
    const better = await ask(bot, inLab, 'every day at 10');
    expect(better.text).toContain('New task: Ping\nEvery day at 10:00');
    expect(await bot.press('ada', better, 'Create')).toMatchObject({ text: 'Created as #1' });
  });

  it('is over after half an hour', async () => {
    const bot = await aBotIn(lab);
    const preview = await ask(bot, inLab, '/new every day at 9 Ping');
    await bot.pass(31 * minute);
    await bot.press('ada', preview, 'Create');
    expect(bot.now(preview).text).toBe(
      'This draft has waited for more than 30 minutes and is over. Send /new to begin again.',
    );
    expect(labels(bot.now(preview))).toEqual([]);
    const question = await ask(bot, inLab, '/new every day at 9');
    await bot.pass(31 * minute);
    await expectSilence(bot, inLab, 'too late');
    expect(labels(question)).toEqual([['Cancel']]);
    expect(tasks(bot)).toEqual([]);
  });

  it('survives a restart, at every step', async () => {
    let bot = await aBotIn(lab);
    const question = await ask(bot, inLab, '/new every day at 9');
    bot = await bot.restart({ awayMs: minute });
    const preview = await ask(bot, inLab, 'Ping', { replyTo: question.messageId });
    bot = await bot.restart({ awayMs: minute });
    await bot.press('ada', preview, 'Change time');
    bot = await bot.restart({ awayMs: minute });
    const better = await ask(bot, inLab, 'every day at 11');
    bot = await bot.restart({ awayMs: minute });
    expect(await bot.press('ada', better, 'Create')).toMatchObject({ text: 'Created as #1' });
    expect(bot.now(better).text).toMatch(/^#1 Ping\nActive\nEvery day at 11:00/);
  });

  it('belongs to the one who began it, while another one drafts beside', async () => {
    const bot = await aBotIn(lab);
    const inTheLab = ['ben', lab] as const;
    const herQuestion = await ask(bot, inLab, '/new every day at 9');
    const hisQuestion = await ask(bot, inTheLab, '/new every day at 10');
    const his = await ask(bot, inTheLab, 'Of Ben', { replyTo: hisQuestion.messageId });
    const hers = await ask(bot, inLab, 'Of Ada', { replyTo: herQuestion.messageId });
    expect(his.text).toContain('New task: Of Ben\nEvery day at 10:00');
    expect(hers.text).toContain('New task: Of Ada\nEvery day at 09:00');
    for (const button of ['Create', 'Change time', 'Cancel']) {
      expect(await bot.press('ben', hers, button)).toEqual({
        text: 'Only the person who began this task may press here.',
        alert: true,
      });
    }
    await bot.press('ben', his, 'Create');
    await bot.press('ada', hers, 'Create');
    expect(tasks(bot).map(({ title, owner_id: owner }) => [title, owner])).toEqual([
      ['Of Ben', 'telegram:user:1002'],
      ['Of Ada', 'telegram:user:1001'],
    ]);
  });

  it('begun in a topic is gone on with there, and not elsewhere', async () => {
    const bot = await aBotIn(lab);
    const topic = await madeWithTopic(bot, inLab, 'every day at 10 Stand up');
    const question = await ask(bot, inLab, '/new every day at 9', { thread: topic });
    await expectSilence(bot, inLab, 'Somewhere else');
    const preview = await ask(bot, inLab, 'In here', { thread: topic, replyTo: question.messageId });
    expect(preview.text).toContain('New task: In here');
    expect(preview.threadId).toBe(topic);
    expect(await bot.press('ada', preview, 'Create')).toMatchObject({ text: 'Created as #2' });
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

describe('in a private chat', () => {
  it('no command is needed where a text begins with a time', async () => {
    const bot = await aBotIn(ada);
    const preview = await ask(bot, inPrivate, 'tomorrow at 8 call mum');
    expect(preview.text).toContain('New task: call mum');
    await bot.press('ada', preview, 'Create');
    expect(bot.now(preview).text).toMatch(/^#1 call mum/);
    for (const chatter of ['hello', 'what can you do?', '42', 'remind me of something']) {
      expect(await askText(bot, inPrivate, chatter)).toContain('I did not find a time in that. Try /new');
    }
  });

  it('the zone is asked for once, and the preview is read again on the new clocks', async () => {
    const bot = await aTalkingBot();
    const preview = await ask(bot, inPrivate, '/new every day at 9 Ping');
    expect(preview.text).toContain('Is it 09:00 for you now?');
    await bot.press('ada', preview, 'No, change');
    const zones = bot.last(ada);
    expect(zones.text).toContain('Which time zone is right for this chat?');
    await bot.press('ada', zones, 'New York');
    const again = bot.now(zones);
    expect(again.text).toContain('New task: Ping\nEvery day at 09:00\nZone: America/New_York');
    expect(await bot.press('ada', preview, 'Create')).toMatchObject({ alert: true });
    expect(await bot.press('ada', again, 'Create')).toMatchObject({ text: 'Created as #1' });
    expect(await askText(bot, inPrivate, '/new every day at 9 Pong')).not.toContain('for you now?');
  });

  it('Yes keeps the zone and the preview', async () => {
    const bot = await aTalkingBot({ DEFAULT_TIMEZONE: 'Europe/Madrid' });
    const preview = await ask(bot, inPrivate, '/new every day at 9 Ping');
    expect(preview.text).toContain('Is it 10:00 for you now?');
    expect(await bot.press('ada', preview, 'Yes')).toEqual({ text: 'Good: Europe/Madrid', alert: false });
    expect(bot.now(preview).text).not.toContain('for you now?');
    expect(await bot.press('ada', bot.now(preview), 'Create')).toMatchObject({ text: 'Created as #1' });
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
