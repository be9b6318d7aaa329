import { execFileSync } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { stopBots } from '../e2e/bot.ts';
import { aFolder } from '../support/place.ts';
import { aPlace, type Place } from './place.ts';

afterEach(stopBots);

let folder = '';
beforeEach(() => {
  folder = aFolder();
});

interface Planned {
  readonly action: string;
  readonly title: string;
  readonly changes: readonly string[];
}

async function planned(place: Place, words: string): Promise<readonly Planned[]> {
  return (await place.well(`${words} --json`)).json['plan'] as readonly Planned[];
}

/** Tasks of every kind, with everything that a task may have. */
async function someTasks({ well }: Place): Promise<void> {
  await well('task create --cron "0 9 * * 1-5" --timezone Europe/Madrid --tag a --tag b --subject s "Stand up"');
  await well(
    'task create --every 2h --timezone UTC --policy grace=5m --policy retry=4 --policy quiet=22:00-07:00 --policy keep.days=30 --policy skip_if_unchanged=silent Drink',
  );
  await well(
    'task create --rrule "FREQ=MONTHLY;BYDAY=-1FR;BYHOUR=17;BYMINUTE=0" --timezone UTC --until 2028-01-01T00:00:00Z Report',
  );
  await well('task create --once-at 2027-01-31T09:00 --timezone Europe/Madrid "First line\nand more: # no comment"');
  await well('task create --cron "0 9 * * *" --timezone UTC --thread-key cli:other Elsewhere');
  await well('task pause 2');
}

const file = () => join(folder, 'tasks.yaml');

describe('tasks in a file', () => {
  it('change nothing where they came from', async () => {
    const place = await aPlace();
    await someTasks(place);
    expect((await place.well(`export -o ${file()}`)).out).toContain('5 tasks written');
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    expect((await place.well(`import ${file()}`)).out).toBe('0 to create, 0 to update, 5 as they should be.\n');
  });

  it('are the same in another place, and change nothing when they are read in again', async () => {
    const [from, to] = [await aPlace(), await aPlace()];
    await someTasks(from);
    await from.well(`export -o ${file()}`);
    expect((await planned(to, `import ${file()} --dry-run`)).map(({ action }) => action)).toEqual(
      Array(5).fill('create'),
    );
    expect((await to.well(`import ${file()} --yes`)).out).toBe('5 created, 0 updated, 0 left as they are.\n');
    expect((await to.well(`import ${file()} --yes`)).out).toBe('0 to create, 0 to update, 5 as they should be.\n');
    const told = async ({ well }: Place) =>
      ((await well('export --json')).json['tasks'] as readonly Record<string, unknown>[]).map(
        ({ task_id: _id, ...rest }) => rest,
      );
    expect(await told(to)).toEqual(await told(from));
  });

  it('show how far it is to somebody who watches', async () => {
    const [from, to] = [await aPlace(), await aPlace()];
    await someTasks(from);
    await from.well(`export -o ${file()}`);
    const { err } = await to.well(`import ${file()} --yes`, { showsProgress: true });
    expect(err).toMatch(/Comparing 5 tasks with those that there are .*Task 1 of 5 /s);
    expect(err.endsWith('\r\u001B[K')).toBe(true);
  });

  it('that are called alike are matched one by one', async () => {
    const [from, to] = [await aPlace(), await aPlace()];
    for (const hour of [7, 8, 9])
      await from.well(`task create --cron "0 ${hour} * * *" --timezone UTC --on-existing add Same`);
    await from.well(`export -o ${file()}`);
    await to.well(`import ${file()} --yes`);
    expect((await planned(to, `import ${file()} --dry-run`)).map(({ action }) => action)).toEqual([
      'skip',
      'skip',
      'skip',
    ]);
    expect((await to.well('task list --json')).json['tasks']).toHaveLength(3);
  });

  it('take back what was changed meanwhile, and leave what they do not name', async () => {
    const place = await aPlace();
    await someTasks(place);
    await place.well(`export --thread-key cli:default -o ${file()}`);
    await place.well('task update 1 --title Changed --clear-tags');
    await place.well('task update 2 --policy priority=1 --enable');
    await place.well('task create --cron "0 9 * * *" --timezone UTC New');
    const plan = await planned(place, `import ${file()} --dry-run`);
    expect(plan.filter(({ action }) => action === 'update')).toMatchObject([
      { title: 'Stand up', changes: ['title', 'tags'] },
      { title: 'Drink', changes: ['policies', 'enabled'] },
    ]);
    expect((await place.well(`import ${file()}`, { answers: ['y'] })).out).toContain(
      '0 created, 2 updated, 2 left as they are.',
    );
    expect((await place.well(`import ${file()}`)).out).toContain('0 to create, 0 to update');
    expect((await place.well('task get 5')).out).toContain('New');
  });

  it('are made anew in the thread that is named', async () => {
    const place = await aPlace();
    await someTasks(place);
    await place.well(`export --thread-key cli:default -o ${file()}`);
    expect((await place.well(`import ${file()} --thread-key cli:copy --yes`)).out).toContain('4 created');
    expect((await place.well(`import ${file()} --thread-key cli:copy --yes`)).out).toContain('0 to create');
    expect((await place.well('task list --thread-key cli:copy --json')).json['tasks']).toHaveLength(4);
  });

  it('are not touched when nobody says yes', async () => {
    const place = await aPlace();
    writeFileSync(file(), yaml('title: One'));
    expect(await place.type(`import ${file()}`)).toMatchObject({ code: 2 });
    const no = await place.type(`import ${file()}`, { answers: ['no'] });
    expect(no).toMatchObject({ code: 1, out: '' });
    expect(no.err).toContain('create');
    expect((await place.well('task list --json')).json['tasks']).toEqual([]);
  });

  it('are read from the input as well, and may leave out what has a default', async () => {
    const place = await aPlace();
    expect((await place.well('import - --yes', { input: yaml('title: One') })).out).toContain('1 created');
    expect((await place.well('import - --yes', { input: yaml('title: One') })).out).toContain('0 to create');
    expect((await place.well('import - --yes', { input: yaml('tags: []') })).out).toContain('as they should be');
  });

  it('are not read from a pipe with a name, for whose other end nobody waits', async () => {
    const place = await aPlace();
    execFileSync('mkfifo', [file()]);
    const said = await place.type(`import ${file()} --yes`);
    expect([said.code, said.err]).toEqual([2, expect.stringContaining('Write it to a file first')]);
  });

  it('are done as far as they can be, and the refused ones are told', async () => {
    const place = await aPlace();
    const past = 'once_at: 2020-01-01T00:00:00Z';
    const text = `${yaml('title: Good')}  - instructions: Bad\n    schedule: {kind: once, ${past}, timezone: UTC}\n`;
    const said = await place.type('import - --yes', { input: text });
    expect(said.code).toBe(1);
    expect(said.out).toContain('Not done: Bad (create)');
    expect(said.out).toContain('1 created, 0 updated, 0 left as they are, 1 refused.');
  });

  it('that have run for good are left out', async () => {
    const place = await aPlace();
    await place.well('task create --when "in 5 minutes" --timezone UTC Once');
    await place.bot.pass(6 * 60_000);
    const said = await place.well('export');
    expect(said.out).not.toContain('Once');
    expect(said.err).toContain('1 task that will not run again is not included.');
  });

  it.each([
    ['is no YAML', 'cronogram: 1\ntasks:\n  - title: "open\n', 4],
    ['is of another kind', 'services:\n  web: {}\n', 1],
    ['is of another version', 'cronogram: 2\ntasks: []\n', 1],
    ['has a field that is not known', yaml('titel: One'), 5],
    ['has a field of another type', yaml('tags: team'), 5],
    ['has a policy that there is not', yaml('policies:\n      graze: PT1M'), 6],
    ['lacks a field', 'cronogram: 1\ntasks:\n  - instructions: x\n', 3],
    [
      'is full of aliases',
      `cronogram: 1\na: &a [x,x,x]\n${'bcdefgh'
        .split('')
        .map((name, at) => `${name}: &${name} [${Array(9).fill(`*${'abcdefgh'[at]}`).join(',')}]`)
        .join('\n')}\ntasks: []\n`,
      1,
    ],
  ])('are refused with the line when the file %s', async (_what, text, line) => {
    const place = await aPlace();
    writeFileSync(file(), text);
    const said = await place.type(`import ${file()} --yes --json`);
    expect(said.code).toBe(2);
    expect(said.json).toMatchObject({ error: { code: 'bad_file', details: { line } } });
  });

  it('that cannot be read or written are told with the reason', async () => {
    const place = await aPlace();
    expect(await place.type(`import ${folder}/none.yaml`)).toMatchObject({ code: 2 });
    expect(await place.type(`export -o ${folder}/none/tasks.yaml`)).toMatchObject({ code: 2 });
    expect(() => readFileSync(`${folder}/none/tasks.yaml`)).toThrow('ENOENT');
  });
});

/** A file with one task, and one field more. */
function yaml(field: string): string {
  return `cronogram: 1\ntasks:\n  - instructions: One\n    schedule: {kind: cron, cron: "0 9 * * mon-fri", timezone: europe/madrid}\n    ${field}\n`;
}
