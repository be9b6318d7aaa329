import { afterEach, describe, expect, it } from 'vitest';
import { day, lab, minute, start, stopBots } from '../e2e/bot.ts';
import { aPlace, aPlaceAfter } from './place.ts';
import { widest } from './terminal.ts';

afterEach(stopBots);

interface WireTask {
  readonly task_id: string;
  readonly number: number;
  readonly title: string;
  readonly instructions: string;
  readonly enabled: boolean;
  readonly schedule: Record<string, unknown>;
  readonly policies: Record<string, unknown>;
  readonly tags: readonly string[];
  readonly subject: string | null;
}
const taskIn = ({ json }: { json: Record<string, unknown> }) => json['task'] as WireTask;

describe('a task on the command line', () => {
  it('is told of in words, whatever is done to it', async () => {
    const { well } = await aPlaceAfter('task create --cron "0 9 * * 1-5" --timezone Europe/Madrid "Stand up"');
    expect((await well('task update 1 --when "every day at 8:30"')).out).toContain(
      'every weekday at 09:00 (Europe/Madrid) -> every day at 08:30',
    );
    expect((await well('task cancel 1')).out).toContain('Nothing is running of #1 Stand up.');
    expect((await well('task history 1')).out).toBe('#1 Stand up has not run yet.\n');
    await well('task run 1 --wait');
    expect((await well('task history 1 --status failed')).out).toBe('No run of #1 Stand up has the status failed.\n');
  });

  it('that repeats ends with a single moment only where that is said', async () => {
    const { well, type } = await aPlaceAfter('task create --cron "0 9 * * *" --timezone UTC chai');
    const refused = await type('task update 1 --when "friday 10:00"');
    expect(refused.code).not.toBe(0);
    expect(refused.err).toContain('#1 chai repeats: every day at 09:00.');
    expect(refused.err).toContain('  cronogram task update 1 --when "friday 10:00" --once\n');
    expect(refused.err).toContain('  cronogram task update 1 --when "every friday at 10:00"');
    expect((await well('task get 1')).out).toContain('every day at 09:00');
    expect((await type('task update 1 --once --title x')).err).toContain('--once goes with --when');
    expect((await well('task update 1 --when "friday 10:00" --once')).out).toContain('once on Fri 20 Nov 10:00');
    await well('task update 1 --when "saturday 10:00"');
  });

  it('is made in plain words, listed, shown, changed, paused, run and deleted', async () => {
    const { well, type } = await aPlace();
    const made = await well('task create --when "every weekday at 9:30" --timezone Europe/Madrid "Stand up"');
    expect(made.out).toContain('Created #1 Stand up.');
    expect(made.out).toMatch(/schedule +every weekday at 09:30 \(Europe\/Madrid\)/);
    expect((await well('task list')).out).toMatch(/Stand up +every weekday at 09:30 .*Wed 18 Nov 09:30|Stand up/);
    expect((await well('task get 1')).out).toContain('cli:default');
    const changed = await well('task update 1 --title Daily --policy grace=5m');
    expect(changed.out).toMatch(/title +Stand up -> Daily/);
    expect((await well('task pause 1 --until "monday 9:00"')).out).toMatch(
      /paused +until Mon 23 Nov 09:00 \(Europe\/Madrid\)/,
    );
    expect((await well("task resume '#1'")).out).toContain('Resumed #1 Daily.');
    expect((await well('task run 1 --wait')).out).toContain('#1 Daily succeeded');
    expect((await well('task history 1')).out).toContain('succeeded');
    const deleted = await well('task delete 1');
    expect(deleted.out).toBe('Deleted #1 Daily.\n');
    expect((await type('task get 1')).code).toBe(3);
    const [, id = ''] = /task restore (\S+)/.exec(deleted.err) ?? [];
    expect((await well(`task restore ${id}`)).out).toContain('Restored #1 Daily.');
  });

  it('that was deleted is found by its number and the beginning of its id, where it can be brought back or told of', async () => {
    const { well, type } = await aPlaceAfter('task create --every 1h --timezone UTC "Stand up"');
    const { task_id: id } = taskIn(await well('task get 1 --json'));
    await well('task delete 1');
    expect((await well('task list --state deleted')).out).toContain('Stand up');
    expect((await well('task why 1')).out).toContain('created the');
    for (const verb of ['task restore 1', `task restore ${id.slice(0, 13)}`, "task undo '#1'"]) {
      expect((await well(verb)).out, verb).toMatch(/(?:Restored|Took back "delete" of) #1 Stand up\./);
      await well('task delete 1');
    }
    for (const verb of ['task get 1', 'task run 1', 'task skip 1']) expect((await type(verb)).code, verb).toBe(3);
    expect((await type('task restore 7')).err).toContain('There is no task #7 in cli:default.');
  });

  it.each([
    ['--cron "0 9 * * 1-5" --timezone Europe/Madrid', { kind: 'cron', cron: '0 9 * * 1-5', timezone: 'Europe/Madrid' }],
    ['--rrule FREQ=DAILY;BYHOUR=9;BYMINUTE=0 --timezone UTC', { kind: 'rrule', timezone: 'UTC' }],
    ['--once-at 2027-01-31T09:00 --timezone Europe/Madrid', { kind: 'once', once_at: '2027-01-31T08:00:00.000Z' }],
    ['--every 15m --timezone UTC', { kind: 'interval', interval: 'PT15M' }],
    ['--every 2d --timezone UTC --from completion', { kind: 'interval', interval: 'P2D', from: 'completion' }],
    [
      '--every P1M --start-at 2027-01-31T09:00:00Z --timezone UTC',
      { interval: 'P1M', start_at: '2027-01-31T09:00:00.000Z' },
    ],
    ['--when "in 20 minutes"', { kind: 'once', once_at: '2026-11-18T09:20:00.000Z' }],
  ])('takes its schedule from %s', async (flags, schedule) => {
    const { well } = await aPlace();
    expect(taskIn(await well(`task create ${flags} Hello --json`)).schedule).toMatchObject(schedule);
  });

  it('is made of one sentence, which may come from the input or have its text beside it', async () => {
    const { well } = await aPlaceAfter('task create "every day at 9 hello"');
    expect((await well('task get hello')).out).toMatch(/schedule +every day at 09:00/);
    await well('task create -', { input: 'every day at 10 good evening\n' });
    await well('task create "every day at 11" --text "good night"');
    await well('task create "@ben every weekday at 12 until done: keys"');
    const { tasks } = (await well('task list --json')).json as { tasks: WireTask[] };
    const told = tasks.map(({ instructions, policies }) => [instructions, Object.keys(policies)]);
    expect(told).toEqual([
      ['@ben: keys', ['ack']],
      ['good night', []],
      ['good evening', []],
      ['hello', []],
    ]);
  });

  it('takes every field that the API takes', async () => {
    const { well } = await aPlace();
    const flags =
      '--title T --tag a --tag b --subject s --missed once --overlap queue --timeout 8s --max-runs 5 --until 2028-01-01T00:00:00Z --policy retry.attempts=2 --policy retry.base=1m --policy quiet=22:00-07:00 --policy ack=on --policy refresh_after=P1D --policy priority=3 --policy keep=10 --policy keep.days=30 --policy skip-if-unchanged=skip';
    const task = taskIn(await well(`task create --cron "0 9 * * *" --timezone UTC ${flags} Hello --json`));
    expect(task).toMatchObject({ title: 'T', instructions: 'Hello', tags: ['a', 'b'], subject: 's' });
    expect(task.policies).toMatchObject({
      missed: 'once',
      overlap: 'queue',
      timeout: 'PT8S',
      max_runs: 5,
      until: '2028-01-01T00:00:00.000Z',
      retry: { attempts: 2, base: 'PT1M' },
      quiet: { from: '22:00', to: '07:00', mode: 'hold' },
      priority: 3,
      keep: { runs: 10, days: 30 },
      skip_if_unchanged: 'skip',
      refresh_after: 'P1D',
    });
  });

  it('reads its text from the input, and from behind the when', async () => {
    const { well } = await aPlace();
    const piped = await well('task create --when "every day at 9" --timezone UTC - --json', { input: 'one\ntwo\n' });
    expect(taskIn(piped).instructions).toBe('one\ntwo');
    const behind = await well('task create --when "every day at 9 water the plants" --timezone UTC --json');
    expect(taskIn(behind).instructions).toBe('water the plants');
    for (const words of ['"every day at 8 until done take the pill"', '"every day at 8, until done" "take the pill"']) {
      const asked = await well(`task create --when ${words} --timezone UTC --json`);
      expect(taskIn(asked)).toMatchObject({ instructions: 'take the pill', policies: { ack: { nag_every: 'PT10M' } } });
    }
  });

  it('tells what would be made, and makes nothing, on a dry run', async () => {
    const { well } = await aPlace();
    const dry = await well('task create --cron "0 9 * * 1-5" --timezone UTC Hello --dry-run');
    expect(dry.out).toContain('Nothing is made.');
    expect(dry.out).toMatch(/next +Thu 19 Nov 09:00 \(UTC\)/);
    expect((await well('task list --json')).json).toEqual({ tasks: [], next_cursor: null });
  });

  it('has one effect for one idempotency key', async () => {
    const { well, type } = await aPlace();
    const words = 'task create --cron "0 9 * * *" --timezone UTC Hello --idempotency-key k1 --json';
    expect(taskIn(await well(words)).task_id).toBe(taskIn(await well(words)).task_id);
    const other = await type(words.replace('Hello', 'Other'));
    expect(other.code).toBe(4);
    expect(other.json).toMatchObject({ error: { code: 'idempotency_mismatch' } });
  });

  it('is told of by the clock of the server, which may be days ahead of this computer', async () => {
    const { bot, well } = await aPlaceAfter('task create --cron "0 9 * * *" --timezone UTC Hello');
    const clock = { now: () => start };
    await bot.pass(6 * day);
    expect((await well('task next 1 --count 1', { clock })).out).toBe('Wed 25 Nov 09:00 (UTC), in 24 h\n');
    expect((await well('task pause 1 --until 2h', { clock })).out).toContain('until Tue 24 Nov 11:00 (UTC), in 2 h');
    expect((await well('schedule preview "in 3 hours" --timezone UTC', { clock })).out).toContain(
      'Tue 24 Nov 12:00 (UTC), in 3 h',
    );
    expect((await well('status', { clock })).out).toContain('6 days ahead of this computer');
  });

  it('is changed only in what is named, and says what that was', async () => {
    const { well } = await aPlaceAfter(
      'task create --cron "0 9 * * *" --timezone Europe/Madrid --tag a --subject s --policy grace=1m Hello',
    );
    const moved = taskIn(await well('task update 1 --cron "30 8 * * *" --json'));
    expect(moved.schedule).toMatchObject({ cron: '30 8 * * *', timezone: 'Europe/Madrid' });
    const cleared = taskIn(await well('task update 1 --clear-tags --clear-subject --policy grace= --disable --json'));
    expect(cleared).toMatchObject({ tags: [], subject: null, policies: {}, enabled: false });
    expect((await well('task update 1 --disable')).out).toContain('is like that already');
    expect(taskIn(await well('task enable 1 --json')).enabled).toBe(true);
  });

  it('is skipped, snoozed, answered for, undone and asked about', async () => {
    const { well, type } = await aPlaceAfter('task create --cron "0 9 * * *" --timezone UTC Hello');
    expect((await well('task skip 1 --count 2')).out).toMatch(/next +Sat 21 Nov 09:00/);
    expect((await well('task unskip 1')).out).toMatch(/next +Thu 19 Nov 09:00/);
    expect((await well('task snooze 1 10m')).out).toMatch(/^Snoozed #1 Hello until Wed 18 Nov 09:1\d/);
    expect((await well('task snooze 1 "tomorrow 8:00"')).out).toContain('until Thu 19 Nov 08:00');
    await well('task update 1 --title Other');
    expect((await well('task undo 1')).out).toContain('Took back "edit" of #1 Hello.');
    const why = await well('task why 1');
    expect(why.out).toContain('nothing was due');
    expect(why.out).toMatch(/^Thu 19 Nov 09:00: planned\./m);
    expect((await well('task versions 1')).out).toMatch(/version +\d/);
    const next = (await well('task next 1 --count 3')).out.split('\n');
    expect(next).toHaveLength(4);
    expect(next[0]).toMatch(/^Thu 19 Nov 08:00 .*, snoozed$/);
    const nothing = await type('task answer 1 --run all');
    expect(nothing.code).toBe(4);
  });

  it('that has run for the last time and is snoozed still comes', async () => {
    const { bot, well } = await aPlaceAfter('task create --when "in 1 minute" --timezone UTC Haircut');
    await bot.pass(2 * minute);
    await well('task snooze 1 "tomorrow 10:00"');
    expect((await well('task next 1')).out).toMatch(/^Thu 19 Nov 10:00 \(UTC\), in 25 h, snoozed\n$/);
    expect((await well('task get 1')).out).toMatch(/next +Thu 19 Nov 10:00 \(UTC\), in 25 h, snoozed\n/);
    const list = await well('task list');
    expect(list.out).toMatch(/Haircut .*Thu 19 Nov 10:00, snoozed +completed/);
    expect(list.err).not.toContain('ended');
  });

  it('is paused, resumed and called off together with all of its tag or subject', async () => {
    const { well, type } = await aPlace();
    for (const name of ['One', 'Two']) await well(`task create --cron "0 9 * * *" --timezone UTC --tag team ${name}`);
    await well('task create --cron "0 9 * * *" --timezone UTC --subject backup Three');
    expect((await well('task pause --tag team --dry-run')).out).toBe('2 tasks would be paused.\n');
    expect((await well('task pause --tag team')).out).toBe('2 tasks paused.\n');
    expect((await well('task list --state disabled --json')).json['tasks']).toHaveLength(2);
    expect((await well('task resume --tag team')).out).toBe('2 tasks resumed.\n');
    expect((await well('task pause --subject backup')).out).toBe('1 task paused.\n');
    expect((await type('task pause 1 --tag team')).code).toBe(2);
    expect((await type('task pause')).err).toContain("3, or '#3' in quotes");
  });
});

describe('a list of tasks', () => {
  it('fits the terminal, whatever the titles are', async () => {
    const { well } = await aPlace();
    const titles = [
      'Water the plants of the whole office and those of the neighbours',
      '毎朝のスタンドアップ会議を忘れないでください',
      '👩‍👩‍👧‍👦 family',
    ];
    for (const title of titles)
      await well(`task create --when "every weekday at 9:00" --timezone Europe/Madrid "${title}"`);
    for (const columns of [60, 80, 120]) {
      expect(widest((await well('task list', { columns })).out)).toBeLessThanOrEqual(columns);
      expect(widest((await well('task history 1', { columns })).out)).toBeLessThanOrEqual(columns);
    }
  });

  it('counts what has ended, and shows it to whoever asks and to programs', async () => {
    const { bot, well } = await aPlaceAfter('task create --every 1h --timezone UTC Lasting');
    await well('task create --when "in 5 minutes" --timezone UTC Passing');
    await bot.pass(10 * minute);
    const said = await well('task list');
    expect(said.out).toContain('Lasting');
    expect(said.out).not.toContain('Passing');
    expect(said.err).toContain('And 1 task that has ended: cronogram task list --state completed');
    expect((await well('task list --state completed')).out).toContain('Passing');
    expect((await well('task list --limit 5')).out).toContain('Passing');
    expect((await well('task list --json')).json['tasks']).toHaveLength(2);
  });

  it('names tasks by their numbers below their thread, and tells ids, zones and days where there is room for them', async () => {
    const { well } = await aPlaceAfter('task create --cron "0 9 * * *" --timezone Asia/Tokyo One');
    const ids = /01a\w{5}-\w{4}/;
    const [title, row] = (await well('task list')).out.split('\n');
    expect(title).toMatch(/^# {2}TITLE {2}WHEN .* NEXT \(Asia\/Tokyo\) +STATE {3}ID$/);
    expect(row).toMatch(/^1 {2}One .* Thu 19 Nov 09:00 /);
    await well('task create --every P2D --start-at 2026-11-25T09:00 --timezone Europe/Madrid --thread-key cli:b Two');
    const narrow = (await well('task list', { columns: 70 })).out;
    expect(narrow.split('\n').filter((line) => line.startsWith('cli:'))).toEqual(['cli:b', 'cli:default']);
    expect(narrow).toMatch(/starting Wed\n? +.*25 Nov|starting Wed 25 Nov/);
    expect(narrow).not.toMatch(ids);
    expect((await well('task list', { columns: 140 })).out).toMatch(ids);
    expect((await well('task list --thread-key cli:b')).out).not.toContain('cli:b');
  });

  it('has colours for somebody who looks, and none with NO_COLOR or in a pipe', async () => {
    const { well } = await aPlaceAfter('task create --when "every day at 9" --timezone UTC Hello');
    expect((await well('task list', { hasColours: true })).out).toContain('\u001B[');
    expect((await well('task list', { hasColours: true, environment: { NO_COLOR: '1' } })).out).not.toContain('\u001B');
    expect((await well('task list')).out).not.toContain('\u001B');
  });

  it('never lets a text steer the terminal', async () => {
    const { well } = await aPlace();
    const made = await well('task create --when "every day at 9" --timezone UTC -', {
      input: 'a\u001B]0;owned\u0007b\u202Ec',
    });
    for (const said of [made, await well('task list'), await well('task get 1'), await well('task run 1 --wait')]) {
      expect(['\u001B', '\u0007', '\u202E'].filter((mark) => (said.out + said.err).includes(mark))).toEqual([]);
    }
  });

  it('is turned page by page, and told as a whole with --all', async () => {
    const { well } = await aPlace();
    for (const name of ['One', 'Two', 'Three']) await well(`task create --cron "0 9 * * *" --timezone UTC ${name}`);
    const first = await well('task list --limit 2 --json');
    expect(first.json['tasks']).toHaveLength(2);
    const rest = await well(`task list --limit 2 --cursor ${String(first.json['next_cursor'])} --json`);
    expect(rest.json).toMatchObject({ next_cursor: null, tasks: [{ title: 'One' }] });
    expect((await well('task list --limit 2 --all --json')).json['tasks']).toHaveLength(3);
    expect((await well('task list --limit 2')).err).toContain('--cursor');
  });

  it('is narrowed by its flags', async () => {
    const { well } = await aPlaceAfter('task create --cron "0 9 * * *" --timezone UTC --tag a --subject s One');
    await well('task create --cron "0 9 * * *" --timezone UTC --thread-key cli:other Two');
    const titles = async (flags: string) =>
      ((await well(`task list ${flags} --json`)).json['tasks'] as WireTask[]).map(({ title }) => title);
    expect(await titles('--tag a')).toEqual(['One']);
    expect(await titles('--subject s')).toEqual(['One']);
    expect(await titles('-q Tw')).toEqual(['Two']);
    expect(await titles('--thread-key cli:other')).toEqual(['Two']);
    expect(await titles('')).toEqual(['Two', 'One']);
  });
});

describe('a sentence on the command line', () => {
  it('is made of words without quotes, as well as of a quoted sentence', async () => {
    const { bot, well, type } = await aPlaceAfter('task create every day at 9 hello --title Greeting');
    expect((await well('task get greeting --json')).json).toMatchObject({ task: { instructions: 'hello' } });
    await well('task create --cron "0 9 * * *" --timezone UTC stand up, all of you');
    expect((await well('task get 2')).out).toContain('stand up, all of you');
    expect((await well('schedule preview every day at 9')).out).toContain('every day at 09:00');
    expect((await well('task snooze 1 tomorrow at 10')).out).toContain('10:00');
    for (const words of ['yesterday', 'last friday 9:00', 'tomorrow 9:00'])
      expect((await well(`task why 1 ${words}`)).out).toMatch(/^\w{3} \d+ Nov|^Until /);
    expect((await type('task why 1 soonish')).err).toContain('"soonish" is no moment that can be read.');
    const day = bot.time.now() - 86_400_000;
    expect((await well(`task why 1 ${new Date(day).toISOString().slice(0, 10)} 09:00`)).out).toContain('09:00');
  });

  it('is read in the zone of the chat that is named, else in that of this computer, and says so', async () => {
    const { bot, well, type } = await aPlace({ TELEGRAM_OWNERS: '1001' });
    await bot.say('ada', lab, '/allow');
    const here = new Intl.DateTimeFormat('en-US').resolvedOptions().timeZone;
    const words = 'every day at 9 hello';
    /** On one line, however long the zone of this computer is. */
    const told = async (line: string) => (await well(line)).err.replaceAll('\n', ' ');
    const own = `Read in ${here}, the zone of this computer; --timezone names another.`;
    expect(await told(`task create ${words} --thread-key lab`)).toContain(own);
    await bot.say('ada', lab, '/tz Madrid');
    const chat = 'Read in Europe/Madrid, the zone of The Lab; --timezone names another.';
    const made = await well(`task create ${words} --thread-key lab`);
    expect(made.out).toContain('09:00 (Europe/Madrid)');
    expect(made.err.replaceAll('\n', ' ')).toContain(chat);
    expect(await told(`task create ${words} --thread-key telegram:chat:${lab}:topic:7 --dry-run`)).toContain(chat);
    expect(await told('schedule preview every day at 9 --thread-key lab')).toContain(chat);
    expect(await told('schedule preview every day at 9')).toContain(own);
    // A zone that was named needs no word.
    expect((await well(`task create ${words} --thread-key lab --timezone Asia/Tokyo`)).err).not.toContain('Read in');
    expect((await well('task create every day at 9 Tokyo time hello --thread-key lab')).err).not.toContain('Read in');
    const fields = await type('task create --cron "0 9 * * *" --thread-key lab hello');
    expect(fields.err).toContain('--timezone Europe/Madrid, or another');
    const paused = await well('thread pause lab --until "2027-01-31 9:00" --json');
    expect(paused.json).toMatchObject({ changed: 4 });
    expect((await well('task get 1 --thread-key lab --json')).json).toMatchObject({
      task: { resume_at: '2027-01-31T08:00:00.000Z' },
    });
  });
});
