import { afterEach, describe, expect, it } from 'vitest';
import { ada, ben, day, hour, lab, minute, second, stopBots, type Bot } from './bot.ts';
import { aTask, driftUntil, select, threadOf } from './deliveries.ts';
import { ask, askText, aTalkingBot, dataOf, forge, hear, labels, made, madeWithTopic } from './dialogue.ts';

afterEach(stopBots);

const inLab = ['ada', lab] as const;

async function aLab(env: Readonly<Record<string, string>> = {}): Promise<Bot> {
  const bot = await aTalkingBot({ TELEGRAM_CHATS: `${lab},${ben}`, ...env });
  await bot.say('ada', lab, '/tz UTC');
  return bot;
}

function runs(bot: Bot): { source: string; status: string }[] {
  return select(bot, 'select source, status from occurrences order by created_at, id');
}

const failing = { retry: { attempts: 1 } };

describe('/tasks', () => {
  it('shows twenty tasks on pages of eight, those that fail first, and filters them', async () => {
    const bot = await aLab({ ECHO_ACTION: '1' });
    for (let count = 1; count <= 18; count += 1) await aTask(bot, { text: `Task ${count}`, cron: `${count} 12 * * *` });
    const action = { kind: 'echo', fail_attempts: 1000, error: 'final' };
    await aTask(bot, { text: 'Broken', cron: '1 9 * * *', more: { action, policies: failing } });
    await made(bot, ['ben', lab], 'every day at 13 Tea');
    await bot.pass(3 * minute);
    await ask(bot, inLab, '/pause 2');
    const list = await ask(bot, inLab, '/tasks');
    expect(list.text).toMatch(
      /^Tasks in this chat: 20\n\n#19 Broken: failing \(1 in a row\), next in 23 h, Thu 19 Nov 09:01\n/,
    );
    expect(labels(list)).toContainEqual(['1/3', '›']);
    expect(list.text.match(/^#\d+/gm)).toHaveLength(8);
    const seen = new Set(list.text.match(/^#\d+/gm));
    for (const page of [2, 3]) {
      await bot.press('ada', bot.now(list), '›');
      expect(labels(bot.now(list)).flat()).toContain(`${page}/3`);
      for (const number of bot.now(list).text.match(/^#\d+/gm) ?? []) seen.add(number);
    }
    expect(seen.size).toBe(20);
    expect(labels(bot.now(list)).flat()).not.toContain('›');
    await bot.press('ada', bot.now(list), '‹');
    expect(labels(bot.now(list)).flat()).toContain('2/3');
    await bot.press('ada', bot.now(list), 'Failing');
    expect(bot.now(list).text).toMatch(/^Failing tasks: 1\n\n#19 Broken/);
    await bot.press('ada', bot.now(list), 'Paused');
    expect(bot.now(list).text).toContain('#2 Task 2: paused, every day at 12:02');
    // What Ada asked for is seen by her alone.
    const own = await ask(bot, ['ben', lab], '/tasks');
    await bot.press('ben', own, 'Mine');
    expect(bot.now(own).text).toMatch(/^Your tasks: 1\n\n#20 Tea/);
    await bot.press('ben', bot.now(own), '#20 Tea');
    expect(bot.now(own).text).toMatch(/^#20 Tea\nActive\n/);
  });

  it.each([
    ['failing', 'Failing tasks: 0'],
    ['PAUSED', 'Paused tasks: 0'],
    ['mine', 'Your tasks: 1'],
    ['completed', 'Completed tasks: 0'],
    ['plants', 'Tasks with “plants”: 1'],
    ['the  PLANTS', 'Tasks with “the PLANTS”: 1'],
    ['%', 'Tasks with “%”: 0'],
    [`'; drop table tasks`, `Tasks with “'; drop table tasks”: 0`],
    ['x'.repeat(300), 'Tasks with “xxxxxxx'],
  ])('takes %s behind it', async (words, heading) => {
    const bot = await aLab();
    await made(bot, inLab, 'every day at 12 Water the plants');
    expect((await askText(bot, inLab, `/tasks ${words}`)).startsWith(heading)).toBe(true);
    expect(await askText(bot, inLab, `/tasks@cronogram_bot ${words}`)).toContain(heading);
  });

  it('says what to do where there are none, and no more', async () => {
    const bot = await aLab();
    const list = await ask(bot, ['ben', lab], '/tasks');
    expect(list.text).toBe('No tasks here yet. Make the first one: /new every weekday at 9 Stand up');
    expect(labels(list)).toEqual([['New']]);
  });

  it('shows each chat its own', async () => {
    const bot = await aLab();
    await made(bot, inLab, 'every day at 12 Secret of the lab');
    await made(bot, ['ada', ada], 'every day at 12 Secret of Ada');
    expect(await askText(bot, ['ada', ada], '/tasks')).not.toContain('lab');
    expect(await askText(bot, inLab, '/tasks')).not.toContain('Ada');
    expect(await askText(bot, ['ben', ben], '/tasks')).toContain('No tasks here yet.');
    expect(await askText(bot, ['ben', ben], '/task #1')).toContain('There is no task #1 in this chat.');
  });
});

describe('the card of a task', () => {
  it('runs it now, once for each time that the button is drawn', async () => {
    const bot = await aLab();
    const card = await made(bot, inLab, 'every day at 12 Lunch');
    const pressing = { as: 'ada', chat: lab, messageId: card.messageId, button: dataOf(card, 'Run now') };
    const [one, two] = [bot.world.press(pressing), bot.world.press(pressing)];
    await bot.pass(2 * second);
    expect([one, two].map(({ callbackId }) => bot.world.callbackAnswer(callbackId)?.text)).toEqual([
      'Started',
      'Started',
    ]);
    expect(runs(bot)).toEqual([{ source: 'run_now', status: 'succeeded' }]);
    expect(bot.now(card).text).toContain('; the result comes in its topic');
    await bot.press('ada', bot.now(card), 'Run now');
    expect(runs(bot)).toHaveLength(2);
  });

  it('pauses and resumes it', async () => {
    const bot = await aLab();
    const card = await made(bot, inLab, 'every day at 12 Lunch');
    expect(await bot.press('ada', card, 'Pause')).toEqual({ text: 'Paused', alert: false });
    expect(bot.now(card).text).toMatch(/^#1 Lunch\nPaused by Ada on Wed 18 Nov 09:00\n/);
    expect(labels(bot.now(card))).toEqual([
      ['Run now', 'Resume', 'Edit'],
      ['History', 'Delete'],
    ]);
    await bot.pass(day);
    expect(bot.world.topics(lab)).toEqual([]);
    expect(await bot.press('ada', bot.now(card), 'Resume')).toEqual({ text: 'Resumed', alert: false });
    expect(bot.now(card).text).toContain('Active\n');
    await bot.pass(day);
    expect(bot.world.topics(lab)).toHaveLength(1);
  });

  it('edits its time, text and title, each with a word of what is different and the way back', async () => {
    const bot = await aLab();
    const card = await made(bot, inLab, 'every day at 12 Lunch');
    const edit = async (what: string, words: string) => {
      const shown = await ask(bot, inLab, '/task 1');
      await bot.press('ada', shown, 'Edit');
      expect(bot.now(shown).text).toContain('What shall be changed?');
      await bot.press('ada', bot.now(shown), what);
      expect(labels(bot.now(shown))).toEqual([['Cancel']]);
      return ask(bot, inLab, words);
    };
    const time = await edit('Time', 'every day at 13');
    expect(time.text).toContain('Time:\n  before: every day at 12:00 (UTC)\n  now: every day at 13:00 (UTC)');
    expect((await edit('Text', 'Eat')).text).toContain('Text:\n  before: Lunch\n  now: Eat');
    expect((await edit('Title', 'Meal')).text).toContain('Title:\n  before: Eat\n  now: Meal');
    await bot.press('ada', time, 'Undo');
    expect(bot.now(time).text).toContain('Undone: the change of the time of #1 by Ada at 09:0');
    await bot.press('ada', card, 'Edit');
    await bot.press('ada', bot.now(card), 'Back');
    expect(bot.now(card).text).toMatch(/^#1 Meal\nActive\nEvery day at 12:00/);
    expect(bot.now(card).text).toContain('\nEat');
  });

  it('drops an edit by Cancel, and refuses a text that is none', async () => {
    const bot = await aLab();
    const card = await made(bot, inLab, 'every day at 12 Lunch');
    await bot.press('ada', card, 'Edit');
    await bot.press('ada', bot.now(card), 'Text');
    expect(await askText(bot, inLab, 'Hello {{ you')).toContain('looks like a template');
    expect(await askText(bot, inLab, `${'x'.repeat(4000)}`)).toContain('Changed');
    await bot.press('ada', card, 'Title').catch(() => null);
    const again = await ask(bot, inLab, '/edit 1');
    await bot.press('ada', again, 'Title');
    await bot.press('ada', bot.now(again), 'Cancel');
    expect(bot.now(again).text).toBe('Cancelled. Nothing was changed.');
    expect(await bot.say('ada', lab, 'Not a title')).toEqual([]);
  });

  it('skips the next run, each press another one', async () => {
    const bot = await aLab();
    const card = await made(bot, inLab, 'every day at 12 Lunch');
    const data = dataOf(card, 'Skip next');
    expect(await bot.press('ada', card, 'Skip next')).toEqual({
      text: expect.stringMatching(/^Left out: /) as string,
      alert: false,
    });
    expect(bot.now(card).text).toContain('Next: Thu 19 Nov 12:00');
    const forged = await forge(bot, bot.now(card), data);
    expect(await bot.press('ada', forged, 'forged')).toEqual({ text: 'That run was skipped already', alert: false });
    expect(bot.now(card).text).toContain('Next: Thu 19 Nov 12:00');
    await bot.press('ada', bot.now(card), 'Skip next');
    expect(bot.now(card).text).toContain('Next: Fri 20 Nov 12:00');
    await bot.pass(2 * day);
    expect(runs(bot).map(({ status }) => status)).toEqual(['skipped', 'skipped']);
  });

  it('shows the history and leads back', async () => {
    const bot = await aLab();
    const card = await made(bot, inLab, 'every day at 12 Lunch');
    await bot.press('ada', card, 'History');
    expect(bot.now(card).text).toBe('History of #1 Lunch\n\nIt has not run yet.');
    await bot.pass(4 * hour);
    await bot.press('ada', bot.now(card), 'Back');
    await bot.press('ada', bot.now(card), 'History');
    expect(bot.now(card).text).toContain('Wed 18 Nov 12:00: ok, delivered');
  });

  it('deletes it, and Undo brings it back as it was', async () => {
    const bot = await aLab();
    const card = await made(bot, inLab, 'every day at 12 Lunch');
    expect(await bot.press('ada', card, 'Delete')).toEqual({ text: 'Deleted', alert: false });
    expect(bot.now(card).text).toBe('Deleted #1 Lunch. It can be brought back within 24 hours.');
    expect(await askText(bot, inLab, '/tasks')).toContain('No tasks here yet.');
    expect(await askText(bot, inLab, '/run 1')).toBe('#1 Lunch is deleted. It can still be brought back.');
    await bot.pass(4 * hour);
    expect(bot.world.topics(lab)).toEqual([]);
    expect(await bot.press('ada', bot.now(card), 'Undo')).toEqual({ text: 'Brought back', alert: false });
    expect(bot.now(card).text).toMatch(/^#1 Lunch\nActive\n/);
    await bot.pass(day);
    expect(bot.world.topics(lab)).toHaveLength(1);
  });

  it('cannot be brought back after a day', async () => {
    const bot = await aLab();
    const card = await made(bot, inLab, 'every day at 12 Lunch');
    await bot.press('ada', card, 'Delete');
    await bot.pass(25 * hour);
    const toast = await bot.press('ada', bot.now(card), 'Undo');
    expect(toast?.alert).toBe(true);
    expect(await askText(bot, inLab, '/task 1')).toContain('There is no task #1 in this chat.');
  });

  it('is still good after thirty days', async () => {
    const bot = await aLab();
    const card = await made(bot, inLab, 'every month on the 1st at 9 Rent');
    await bot.pass(30 * day);
    expect(await bot.press('ada', card, 'Pause')).toEqual({ text: 'Paused', alert: false });
    expect(await bot.press('ada', bot.now(card), 'Resume')).toEqual({ text: 'Resumed', alert: false });
    expect(await bot.press('ada', bot.now(card), 'Run now')).toEqual({ text: 'Started', alert: false });
    expect(await bot.press('ada', bot.now(card), 'History')).toMatchObject({ alert: false });
    expect(bot.now(card).text).toContain('by hand');
  });
});

describe('a result', () => {
  it('is done by whoever presses first, and says so in itself', async () => {
    const bot = await aLab();
    const topic = await madeWithTopic(bot, inLab, 'every day at 12 Lunch');
    const [result] = bot.world.messages(lab, { thread: topic }).filter(({ text }) => text === 'Lunch');
    if (result === undefined) throw new Error('there is no result');
    expect(await bot.press('ben', result, 'Snooze')).toEqual({
      text: 'Only Ada or an admin may do that.',
      alert: true,
    });
    expect(await bot.press('ben', result, 'Done')).toEqual({ text: 'Done', alert: false });
    expect(bot.now(result).text).toMatch(/^Lunch\n\n— Done by Ben, 09:\d\d$/);
    expect(labels(bot.now(result))).toEqual([['Not done yet']]);
  });

  it('is put off by Snooze, and comes again then', async () => {
    const bot = await aLab();
    const topic = await madeWithTopic(bot, inLab, 'every day at 12 Lunch');
    const lunches = () => bot.world.messages(lab, { thread: topic }).filter(({ text }) => text.startsWith('Lunch'));
    const [result] = lunches();
    if (result === undefined) throw new Error('there is no result');
    await bot.press('ada', result, 'Snooze');
    expect(labels(bot.now(result))).toEqual([['10 min', '1 h'], ['Tonight', 'Tomorrow', 'Pick…'], ['Back']]);
    await bot.press('ada', bot.now(result), 'Back');
    expect(labels(bot.now(result))).toEqual([['Done', 'Snooze']]);
    await bot.press('ada', bot.now(result), 'Snooze');
    await bot.press('ada', bot.now(result), '10 min');
    expect(bot.now(result).text).toMatch(/^Lunch\n\n— Snoozed by Ada: comes again Wed 18 Nov 09:1\d \(UTC\)$/);
    expect(await askText(bot, inLab, '/next 1')).toMatch(/\n\nWed 18 Nov 09:1\d, snoozed to then\nWed 18 Nov 12:00\n/);
    await bot.pass(11 * minute);
    expect(lunches()).toHaveLength(2);
  });
});

describe('commands outside of a topic', () => {
  it.each(['run', 'pause', 'resume', 'skip', 'snooze', 'edit', 'history', 'why', 'delete', 'task'])(
    '/%s asks which task is meant, and its buttons do it',
    async (command) => {
      const bot = await aLab();
      expect(await askText(bot, inLab, `/${command}`)).toBe('There are no tasks in this chat yet. /new makes one.');
      await made(bot, inLab, 'every day at 12 Lunch');
      await made(bot, inLab, 'every day at 13 Tea');
      const list = await ask(bot, inLab, `/${command}`);
      expect(list.text).toBe(`Which task? Press one, or name it: /${command} #1`);
      expect((await bot.press('ada', list, '#1 Lunch'))?.alert).toBe(false);
      expect(bot.now(list).text).toContain('#1 Lunch');
      for (const number of ['7', '#7', '# 7']) {
        const unknown = await ask(bot, inLab, `/${command} ${number}`);
        expect(unknown.text).toContain('There is no task #7 in this chat.');
      }
    },
  );

  it.each(['run', 'resume', 'history', 'next', 'delete', 'task', 'cancel'])(
    '/%s does nothing when words follow that could mean another task',
    async (command) => {
      const bot = await aLab();
      await made(bot, inLab, 'every day at 12 Lunch');
      expect(await askText(bot, inLab, `/${command} #1 2`)).toBe(
        `I do not understand “2” there, so I have done nothing.\nWrite the number alone: /${command} #1`,
      );
      expect(runs(bot)).toEqual([]);
      expect(await askText(bot, inLab, '/tasks')).toContain('#1 Lunch: active, next');
    },
  );

  it('/pause takes an end, and a task goes on by itself then', async () => {
    const bot = await aLab();
    await made(bot, inLab, 'every day at 12 Lunch');
    expect(await askText(bot, inLab, '/pause 1 until friday at 9')).toBe(
      'Paused #1 Lunch until Fri 20 Nov 09:00 (UTC).',
    );
    expect(await askText(bot, inLab, '/task 1')).toContain('Paused until Fri 20 Nov 09:00');
    expect(await askText(bot, inLab, '/pause 1 until pigs fly')).toContain('I cannot read until when.');
    expect(await askText(bot, inLab, '/pause #1 for 2 hours')).toMatch(/until Wed 18 Nov 11:0\d \(UTC\)\.$/);
    await bot.pass(4 * hour);
    expect(bot.world.topics(lab)).toHaveLength(1);
  });

  it('/pause all and /resume all mean everything for admins, and their own for others', async () => {
    const bot = await aLab();
    expect(await askText(bot, inLab, '/pause all')).toBe('There is nothing to pause here.');
    await made(bot, inLab, 'every day at 12 Lunch');
    await made(bot, ['ben', lab], 'every day at 12 Tea');
    expect(await askText(bot, ['ben', lab], '/pause all')).toBe('Paused 1 task.');
    expect(await askText(bot, inLab, '/pause ALL until tomorrow at 9')).toBe(
      'Paused 1 task until Thu 19 Nov 09:00 (UTC).',
    );
    expect(await askText(bot, inLab, '/tasks')).toMatch(
      /#1 Lunch: paused, every day at 12:00\n#2 Tea: paused, every day at 12:00/,
    );
    expect(await askText(bot, ['ben', lab], '/resume all')).toBe('Resumed 1 task.');
    expect(await askText(bot, inLab, '/resume all')).toBe('Resumed 1 task.');
    expect(await askText(bot, inLab, '/resume all')).toBe('There is nothing to resume here.');
    expect(await askText(bot, inLab, '/pause all until never')).toContain('I cannot read until when.');
  });

  it('/skip, /snooze, /edit and /why take what they need, and say how when it is wrong', async () => {
    const bot = await aLab();
    await made(bot, inLab, 'every day at 12 Lunch');
    expect(await askText(bot, inLab, '/skip 1 2')).toContain(
      'Left out of #1 Lunch: Wed 18 Nov 12:00, Thu 19 Nov 12:00 (UTC).\nNext: Fri 20 Nov',
    );
    for (const wrong of ['0', '-1', 'two', '1000000']) {
      expect(await askText(bot, inLab, `/skip 1 ${wrong}`)).toContain('a number from 1 to');
    }
    expect(await askText(bot, inLab, '/snooze 1 1 hour')).toMatch(/^Snoozed: #1 Lunch comes again Wed 18 Nov 10:0\d/);
    expect(await askText(bot, inLab, '/snooze 1 a while')).toContain('I cannot read that as a moment.');
    expect(await askText(bot, inLab, '/snooze 1 2020-01-01 09:00')).toContain('I cannot read that as a moment.');
    expect(await askText(bot, inLab, '/why 1 2026-11-18 12:00')).toContain(
      'will be left out, as Ada skipped it at 09:',
    );
    expect(await askText(bot, inLab, '/edit 1 zone Madrid')).toContain('now: every day at 12:00 (Europe/Madrid)');
    expect(await askText(bot, inLab, '/edit 1 zone Atlantis')).toContain('is not a time zone that I know');
    expect(await askText(bot, inLab, '/edit 1 title')).toContain('/edit #1 title Water the plants');
    expect(await askText(bot, inLab, '/edit 1 whenever')).toContain('These can be read:');
    expect(await askText(bot, inLab, '/edit 1 title Lunch')).toBe('Nothing to change: #1 Lunch is like that already.');
    expect(await askText(bot, inLab, '/why 1 today')).toMatch(/^Why, for #1 Lunch\n\n[\s\S]*Zone: Europe\/Madrid$/);
    expect(await askText(bot, inLab, '/why 1 yesterday')).toContain('created the task only on');
    expect(await askText(bot, inLab, '/why 1 last week')).toContain('I cannot read that moment.');
  });

  it('/run tells when the task runs already, and /cancel stops it', async () => {
    const bot = await aLab({ ECHO_ACTION: '1' });
    await aTask(bot, {
      text: 'Slow',
      thread: threadOf(lab),
      cron: '0 0 1 1 *',
      more: { action: { kind: 'echo', delay_ms: 25_000 } },
    });
    await hear(bot, inLab, { text: '/run 1', answer: 'Started #1 Slow. The result comes in its topic.' });
    const running = 'This task is running now. Wait for that run to end, or cancel it.';
    await hear(bot, inLab, { text: '/run 1', answer: running });
    await hear(bot, inLab, { text: '/cancel 1', answer: 'Stopping what #1 Slow runs now.' });
    await driftUntil(bot, () => runs(bot)[0]?.status === 'cancelled');
    expect(await askText(bot, inLab, '/cancel 1')).toBe('Nothing of #1 Slow runs at the moment.');
    expect(await askText(bot, inLab, '/history 1')).toContain('cancelled, by hand');
    expect(bot.world.topics(lab)).toEqual([]);
  });
});
