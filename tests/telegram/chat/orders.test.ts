import { describe, expect, test } from 'vitest';
import { labels, tasksIn, withTask } from './talk.ts';

const privately = { kind: 'private' } as const;

describe('words without a slash in a private chat', () => {
  test.each(['list', 'my tasks', 'show me all my tasks', 'Tasks?'])('%s lists the tasks', async (words) => {
    const talk = await withTask('every day at 12 swim', privately);
    expect(await talk.tells(words)).toContain('#1 swim');
    expect(await tasksIn(talk)).toHaveLength(1);
  });

  test.each(['whats next?', 'next', 'what do i have tomorrow', "what's on this week"])(
    '%s tells what is coming',
    async (words) => {
      const talk = await withTask('every day at 12 swim', privately);
      expect(await talk.tells(words)).toContain('12:00');
      expect((await talk.again()).draft ?? null).toBeNull();
    },
  );

  test.each([
    ['pause swim', 'paused'],
    ['please pause swim until friday', 'paused'],
    ['delete swim', 'deleted'],
    ['Delete #1', 'deleted'],
  ])('%s is done', async (words, state) => {
    const talk = await withTask('every day at 12 swim', privately);
    await talk.ask(words);
    expect((await tasksIn(talk)).filter((task) => task.state === state)).toHaveLength(state === 'paused' ? 1 : 0);
    if (state === 'paused') return;
    expect((await tasksIn(talk)).map((task) => task.state)).not.toContain('active');
  });

  test.each(['pause everything', 'pause all', 'pause all my reminders', 'Pause all until monday.'])(
    '%s pauses every task',
    async (words) => {
      const talk = await withTask('every day at 12 swim', privately);
      await talk.make('every day at 13 tea');
      await talk.ask(words);
      const until = words.includes('monday') ? Date.UTC(2026, 10, 23) : null;
      const paused = { state: 'paused', resumeAt: until };
      expect(await tasksIn(talk)).toMatchObject([paused, paused]);
      await talk.ask(words.startsWith('Pause') ? 'unpause everything' : 'resume all');
      expect(await tasksIn(talk)).toMatchObject([{ state: 'active' }, { state: 'active' }]);
    },
  );

  test.each(['when is swim', 'When does the swim come?', "when's my swim due"])(
    '%s tells when it comes',
    async (words) => {
      const talk = await withTask('every day at 12 swim', privately);
      expect(await talk.tells(words)).toBe(await talk.tells('/next swim'));
      expect(await tasksIn(talk)).toHaveLength(1);
    },
  );

  test.each(['digest weekdays 7:30', 'Digest every weekday at 7:30'])('%s sets the digest', async (words) => {
    const talk = await withTask('every day at 12 swim', privately);
    await talk.ask(words);
    expect((await tasksIn(talk)).map(({ action }) => action.kind)).toEqual(['message', 'digest']);
  });

  test.each(['create it', 'create the task', 'Create this!'])('%s presses the preview', async (words) => {
    const talk = await withTask('every day at 12 swim', privately);
    await talk.ask('tomorrow at 9 tea');
    await talk.say(words);
    expect(await tasksIn(talk)).toMatchObject([{ title: 'swim' }, { title: 'tea' }]);
  });

  test.each(['what have i got on tomorrow', 'what have we got today?'])('%s tells what is coming', async (words) => {
    const talk = await withTask('every day at 12 swim', privately);
    expect(await talk.tells(words)).toContain('12:00');
    expect((await talk.again()).draft ?? null).toBeNull();
  });

  test.each(['why did swim not come yesterday', "why didn't the swim run yesterday?", 'Why no swim yesterday'])(
    '%s asks for the truth about the task',
    async (words) => {
      const talk = await withTask('every day at 12 swim', privately);
      expect(await talk.tells(words)).toBe(await talk.tells('/why #1 yesterday'));
    },
  );

  test.each([
    ['swim also saturdays at 11', /Saturdays at 11:00/],
    ['swim not on mondays', /Tuesday to Sunday/],
    ['swim except 24 december', /24 Dec/],
  ])('%s changes the task, and tells how', async (words, told) => {
    const talk = await withTask('every day at 12 swim', privately);
    const answer = await talk.tells(words);
    expect(answer).toMatch(/^Changed: #1 swim/);
    expect(answer).toMatch(told);
    expect(await tasksIn(talk)).toHaveLength(1);
  });

  test('what names a task in part is snoozed, and not made anew', async () => {
    const talk = await withTask('every day at 12 Ring grandma', privately);
    expect(await talk.tells('snooze grandma 2 hrs')).toContain('#1 Ring grandma comes Wed 18 Nov 11:00');
    expect(await tasksIn(talk)).toHaveLength(1);
  });

  test.each([
    ['skip the next swim', /^Skipped: #1 swim/],
    ['delete swim pls', /^Deleted #1 swim/],
    ['stop swim', /\/pause #1 stops a task/],
    ['how do i snooze', /\/snooze/],
  ])('%s means the command', async (words, told) => {
    const talk = await withTask('every day at 12 swim', privately);
    expect(await talk.tells(words)).toMatch(told);
  });

  test.each([
    'why worry tomorrow at 9',
    'how do magnets work tomorrow at 9',
    'swimming also saturdays at 11',
    'stop smoking tomorrow at 9',
  ])('%s is a new task', async (words) => {
    const talk = await withTask('every day at 12 swim', privately);
    expect(await talk.tells(words)).toMatch(/^New task/);
  });

  test('undo takes the last change back', async () => {
    const talk = await withTask('every day at 12 swim', privately);
    await talk.ask('pause swim');
    await talk.ask('undo');
    expect(await tasksIn(talk)).toMatchObject([{ state: 'active' }]);
  });

  test.each(['move swim to 8', 'reschedule my swim to every day at 8:00', 'change swim to 8am'])(
    '%s offers the change',
    async (words) => {
      const talk = await withTask('every day at 12 swim', privately);
      expect(await talk.tells(words)).toMatch(/12:00[^]*08:00/);
      expect(await tasksIn(talk)).toHaveLength(1);
    },
  );

  test('rename changes the title', async () => {
    const talk = await withTask('every day at 12 swim', privately);
    await talk.ask('rename swim to walk to the park');
    expect(await tasksIn(talk)).toMatchObject([{ title: 'walk to the park' }]);
  });

  test.each(['what can you do?', 'help me', 'how does this work'])('%s is answered by the help', async (words) => {
    const talk = await withTask('every day at 12 swim', privately);
    expect(await talk.tells(words)).toBe(await talk.tells('/help'));
  });

  test.each([
    'move the car tomorrow at 8',
    'pause swim club membership',
    'delete old mails friday',
    'run 5k tomorrow at 7',
    'list of presents',
    'pause all machines in the hall',
    'when is easter',
    'digest the book tomorrow at 9',
  ])('%s is another task', async (words) => {
    const talk = await withTask('every day at 12 swim', privately);
    expect(await talk.tells(words)).toMatch(/^(?:When should I send it\?|New task:)/);
  });

  test('means nothing in a group', async () => {
    const talk = await withTask('every day at 12 swim');
    expect(await talk.say('pause swim')).toBeNull();
  });
});

describe('the zone in words', () => {
  test.each([
    ['madrid', 'Europe/Madrid'],
    ['new york', 'America/New_York'],
    ['Paris time', 'Europe/Paris'],
  ])('%s answers the question for it', async (words, zone) => {
    const talk = await withTask('every day at 12 swim', privately);
    expect(await talk.tells(words)).toMatch(/^When should I send it\?/);
    await talk.ask('/tz');
    expect(await talk.tells(words)).toContain(zone);
    expect((await talk.chat()).timezone).toBe(zone);
  });

  test.each(['use paris time', "I'm in Paris", 'set timezone to Paris', 'change my time zone to Paris'])(
    '%s sets it',
    async (words) => {
      const talk = await withTask('every day at 12 swim', privately);
      expect(await talk.tells(words)).toContain('Europe/Paris');
    },
  );

  test('a clock offers the places where it shows that', async () => {
    const talk = await withTask('every day at 12 swim', privately);
    expect(labels(await talk.ask('no, it is 10:00 here')).flat()).toContain('Berlin');
  });
});

test('a paused task is told as paused, and offered what it still can do', async () => {
  const talk = await withTask('every day at 12 swim', privately);
  await talk.ask('/pause 1');
  expect(await talk.tells('/skip 1')).toContain('Resume it first');
  expect(await talk.tells('/snooze 1 2h')).toContain('It is paused');
});
