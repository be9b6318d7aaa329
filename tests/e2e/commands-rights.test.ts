import { afterEach, describe, expect, it } from 'vitest';
import { ada, ben, lab, minute, noRights, plain, second, stopBots, type Bot } from './bot.ts';
import { aTask, mark, methodsSince, select } from './deliveries.ts';
import { ask, askText, aTalkingBot, dataOf, expectSilence, forge, labels, made, madeWithTopic } from './dialogue.ts';

afterEach(stopBots);

const asAda = ['ada', lab] as const;
const asBen = ['ben', lab] as const;
const onlyAda = 'Only Ada or an admin may do that.';

function aLab(env: Readonly<Record<string, string>> = {}): Promise<Bot> {
  return aTalkingBot({ TELEGRAM_CHATS: `${lab},${noRights},${ben}`, ...env });
}

function tasks(bot: Bot): unknown[] {
  return select(bot, 'select number, title, state, version, updated_at from tasks order by id');
}

describe('a member', () => {
  it('reads everything, and changes nothing of somebody else’s by a command', async () => {
    const bot = await aLab();
    await made(bot, asAda, 'every day at 12 Lunch');
    const before = tasks(bot);
    for (const words of ['task 1', 'history 1', 'why 1', 'next 1', 'tasks']) {
      expect(await askText(bot, asBen, `/${words}`)).toContain('#1 Lunch');
    }
    // More than a dozen words in a minute are too many for a member.
    await bot.pass(minute);
    const changes = ['run 1', 'pause #1', 'pause 1 until friday at 9', 'resume 1', 'skip 1', 'snooze 1 10 min'];
    for (const words of [...changes, 'edit 1', 'edit 1 title Mine', 'edit 1 every day at 9', 'delete 1', 'cancel 1']) {
      expect(await askText(bot, asBen, `/${words}`)).toBe(onlyAda);
    }
    expect(await askText(bot, asBen, '/pause all')).toBe('There is nothing to pause here.');
    expect(tasks(bot)).toEqual(before);
    expect(select(bot, 'select id from occurrences')).toEqual([]);
  });

  it('nor by a button', async () => {
    const bot = await aLab();
    const card = await made(bot, asAda, 'every day at 12 Lunch');
    const before = tasks(bot);
    for (const button of ['Run now', 'Pause', 'Edit', 'Skip next', 'Delete']) {
      expect(await bot.press('ben', card, button)).toEqual({ text: onlyAda, alert: true });
    }
    expect(bot.now(card).text).toBe(card.text);
    const deleted = await ask(bot, asAda, '/delete 1');
    expect(await bot.press('ben', deleted, 'Undo')).toEqual({ text: onlyAda, alert: true });
    await bot.press('ada', deleted, 'Undo');
    const paused = await ask(bot, asAda, '/pause 1');
    for (const button of labels(paused).flat()) {
      expect(await bot.press('ben', paused, button)).toEqual({ text: onlyAda, alert: true });
    }
    await bot.press('ada', paused, 'Resume');
    expect(tasks(bot)).toMatchObject([{ title: 'Lunch', state: 'active' }]);
    expect(before).toHaveLength(1);
    expect(await bot.press('ben', card, 'History')).toMatchObject({ alert: false });
    expect(bot.now(card).text).toContain('History of #1 Lunch');
  });

  it('manages their own, and an admin manages theirs', async () => {
    const bot = await aLab();
    const card = await made(bot, asBen, 'every day at 12 Lunch');
    expect(await bot.press('ben', card, 'Pause')).toMatchObject({ text: 'Paused' });
    expect(await bot.press('ada', bot.now(card), 'Resume')).toMatchObject({ text: 'Resumed' });
    expect(await askText(bot, asBen, '/edit 1 title Mine')).toContain('now: Mine');
    expect(await askText(bot, asAda, '/edit 1 title Hers')).toContain('now: Hers');
    expect(bot.now(card).text).toContain('Made by Ben');
  });

  it('who becomes an admin may from then on, and no longer when that ends', async () => {
    const bot = await aLab();
    await made(bot, asAda, 'every day at 12 Lunch');
    expect(await askText(bot, asBen, '/pause 1')).toBe(onlyAda);
    bot.world.setMember(lab, 'ben', 'administrator');
    await bot.pass(second);
    expect(await askText(bot, asBen, '/pause 1')).toBe('Paused #1 Lunch.');
    bot.world.setMember(lab, 'ben', 'member');
    await bot.pass(second);
    expect(await askText(bot, asBen, '/resume 1')).toBe(onlyAda);
  });

  it('of no approved chat is nobody, though a member of the group', async () => {
    const bot = await aTalkingBot({ TELEGRAM_CHATS: String(lab) });
    bot.world.setMember(lab, 'mallory', 'member');
    await bot.pass(second);
    expect(await askText(bot, ['mallory', lab], '/tasks')).toContain('No tasks here yet.');
    expect(await askText(bot, ['mallory', 1003], '/tasks')).toContain('private bot');
    expect(await askText(bot, ['mallory', lab], '/tz Madrid')).toContain('Only an admin of this chat may change that.');
  });

  it('is named in a refusal also when a token made the task', async () => {
    const bot = await aLab();
    await aTask(bot, { text: 'By token', cron: '0 12 * * *' });
    expect(await askText(bot, asBen, '/pause 1')).toMatch(/^Only .+ or an admin may do that\.$/);
    expect(await askText(bot, asAda, '/pause 1')).toBe('Paused #1 By token.');
  });
});

describe('callback data of somebody’s own making', () => {
  it('does nothing to a task of another chat, not for an owner either', async () => {
    const bot = await aLab();
    const secret = await made(bot, ['ada', ada], 'every day at 12 Secret');
    const here = await made(bot, asBen, 'every day at 13 Tea');
    const before = tasks(bot);
    for (const label of ['Run now', 'Pause', 'Edit', 'Skip next', 'History', 'Delete']) {
      const forged = await forge(bot, here, dataOf(secret, label));
      for (const as of ['ben', 'ada']) {
        expect(await bot.press(as, forged, 'forged')).toEqual({ text: 'There is no such task here.', alert: true });
      }
    }
    const hello = await ask(bot, ['ada', ada], '/new every day at 9 Also secret');
    const foreign = await forge(bot, here, dataOf(hello, 'Create'));
    expect(await bot.press('ada', foreign, 'forged')).toMatchObject({ alert: true });
    expect(tasks(bot)).toEqual(before);
    expect(bot.world.transcript(lab)).not.toContain('Secret');
  });

  it.each([
    ['x'.repeat(64)],
    ['🙈'.repeat(16)],
    ['v1:'],
    ['v1:run'],
    ['v1:run::::::'],
    ['v1:frobnicate:1'],
    ['v2:run:1'],
    [`v1:run:${'A'.repeat(22)}:m`],
    ["v1:task:' or 1=1 --"],
    ['v1:zone:Not/AZone'],
    ['v1:zone:../../etc'],
    ['v1:list:all:99999:%'],
    ['v1:list:nothing:-1:'],
    ['v1:create:none'],
    ['v1:later:none:never'],
    ['v1:retry:none'],
    ['v1:arrived:none'],
    ['v1:resend:none'],
    ['v1:unblock:none'],
    ['v1:undo:none:none'],
    ['v1:skip:none:zzzz'],
    ['v1:__proto__:1'],
    ['v1:constructor:1'],
  ])('%s is answered, does nothing, and breaks nothing', async (data) => {
    const bot = await aLab();
    const card = await made(bot, asAda, 'every day at 12 Lunch');
    const before = tasks(bot);
    const forged = await forge(bot, card, data);
    for (const as of ['ben', 'ada']) {
      const toast = await bot.press(as, forged, 'forged').catch(() => ({ text: 'the button is gone' }));
      expect(toast?.text ?? '').not.toContain('Something went wrong');
      expect(toast).not.toBeNull();
    }
    expect(tasks(bot)).toEqual(before);
    expect(bot.log.lines.filter(({ level }) => level === 'error')).toEqual([]);
  });

  it('that nobody knows shows how things stand, below and not instead', async () => {
    const bot = await aLab();
    const topic = await madeWithTopic(bot, asAda, 'every day at 12 Lunch');
    const [result] = bot.world.messages(lab, { thread: topic }).filter(({ text }) => text === 'Lunch');
    if (result === undefined) throw new Error('there is no result');
    const forged = await forge(bot, result, 'v1:frobnicate');
    expect(await bot.press('ada', forged, 'forged')).toEqual({
      text: 'This button is from another time. Here is how things stand now.',
      alert: false,
    });
    expect(bot.now(result).text).toBe('Lunch');
    expect(bot.last(lab, topic).text).toMatch(/^#1 Lunch\nActive/);
  });
});

describe('unknown commands', () => {
  it('are answered in a private chat, with the nearest', async () => {
    const bot = await aLab();
    const here = ['ben', ben] as const;
    expect(await askText(bot, here, '/taks')).toBe('I do not know /taks. Did you mean /tasks?');
    expect(await askText(bot, here, '/hist')).toBe('I do not know /hist. Did you mean /history?');
    expect(await askText(bot, here, '/frobnicate')).toBe('I do not know /frobnicate. /help shows what I know.');
    expect(await askText(bot, here, '/alow')).not.toContain('/allow');
    expect(await askText(bot, ['ada', ada], '/alow')).toContain('Did you mean /allow?');
    await expectSilence(bot, here, '/frobnicate@other_bot');
  });

  it('are answered in a group when they are near or meant for the bot, and left to other bots otherwise', async () => {
    const bot = await aLab();
    expect(await askText(bot, asBen, '/puase 1')).toBe('I do not know /puase. Did you mean /pause?');
    expect(await askText(bot, asBen, '/frobnicate@cronogram_bot')).toContain('I do not know /frobnicate.');
    for (const other of ['/frobnicate', '/hist', '/weather Berlin', '/pause@other_bot', '/nwe@other_bot', '/alow']) {
      await expectSilence(bot, asBen, other);
    }
  });
});

describe('words that people take for commands', () => {
  it('have the same answer each time, wherever in a group they are said, for whoever said it alone', async () => {
    const bot = await aLab();
    const topic = await madeWithTopic(bot, asAda, 'every day at 12 Lunch');
    for (const words of ['/puase #1', '/stop #1', '/quiet', '/restore #1']) {
      const first = await ask(bot, asBen, words);
      expect([words, first.onlyFor]).toEqual([words, 'ben']);
      expect([words, await askText(bot, asBen, words)]).toEqual([words, first.text]);
      expect([words, await askText(bot, asBen, words, { thread: topic })]).toEqual([words, first.text]);
      await expectSilence(bot, asBen, words.replace(/^\/\w+/, '$&@other_bot'));
    }
  });
});

describe('what waits because of the chat', () => {
  it('goes out at once when Retry is pressed', async () => {
    const bot = await aLab();
    const card = await made(bot, asAda, 'every day at 12 Lunch');
    bot.world.setForum(lab, false);
    await bot.press('ada', card, 'Run now');
    const word = bot.last(lab);
    expect(word.text).toMatch(/^A result waits: #1 Lunch cannot be shown, because topics are switched off here\./);
    expect(await bot.press('ben', word, 'Retry')).toEqual({ text: onlyAda, alert: true });
    bot.world.setForum(lab, true);
    const before = mark(bot);
    expect(await bot.press('ada', word, 'Retry')).toMatchObject({ text: 'Looking again now' });
    expect(methodsSince(bot, before).slice(0, 3)).toContain('createForumTopic');
    expect(bot.world.topics(lab).map(({ name }) => name)).toEqual(['Lunch']);
  });

  it('is explained where topics are off', async () => {
    const bot = await aLab({ TELEGRAM_CHATS: String(plain) });
    const card = await made(bot, ['ben', plain], 'every day at 12 Lunch');
    await bot.press('ben', card, 'Run now');
    expect(bot.last(plain).text).toContain('Open the group’s settings and switch Topics on.');
    expect(bot.last(plain).text).not.toContain('BotFather');
  });
});
