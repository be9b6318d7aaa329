import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openSqlite } from '../../src/store/engine/sqlite.ts';
import type { RestoreStep } from '../../src/store/files/restoration.ts';
import { killHard, storeChild } from '../support/child.ts';
import { sourceFlags } from '../support/sources.ts';
import { databaseAt, expectRefused, hostPlace, openedAt, type HostPlace } from './place.ts';

function tasksIn(file: string): number {
  const connection = new Database(file, { readonly: true });
  try {
    expect(connection.pragma('integrity_check', { simple: true })).toBe('ok');
    return connection.prepare('select count(*) from tasks').pluck().get() as number;
  } finally {
    connection.close();
  }
}

/** A copy with two tasks, and a database that has three more since. */
async function aPlace(options: Parameters<typeof hostPlace>[0] = {}): Promise<HostPlace & { copy: string }> {
  const place = hostPlace(options);
  await databaseAt(place.database, 2);
  const { file: copy } = await place.json<{ file: string }>('backup');
  await moreTasks(place.database);
  return { ...place, copy };
}

async function moreTasks(database: string): Promise<void> {
  const other = `${database}.other`;
  await databaseAt(other, 5);
  const connection = openSqlite(database);
  connection.prepare('attach ? as other').run(other);
  for (const table of ['chats', 'users', 'grants', 'tasks'])
    connection.exec(`insert or ignore into ${table} select * from other.${table}`);
  connection.close();
  expect(tasksIn(database)).toBe(5);
}

interface Restored {
  readonly kept: string | null;
}

describe('restore', () => {
  it('puts the copy in the place of the database, keeps that one aside, and leaves nothing else', async () => {
    const { copy, database, json } = await aPlace();
    const done = await json<Restored>('restore', 'latest', '--yes');
    expect(done).toMatchObject({ restored: copy, database, tasks: 2, last_slot_at: null });
    expect([tasksIn(database), tasksIn(done.kept ?? '')]).toEqual([2, 5]);
    expect(basename(done.kept ?? '')).toMatch(/^cronogram\.db\.before-restore-\d{8}-\d{6}$/);
    expect([database, done.kept ?? ''].map((file) => statSync(file).mode & 0o777)).toEqual([0o600, 0o600]);
    expect(readdirSync(dirname(database)).filter((name) => /restoring|-wal$|-shm$/.test(name))).toEqual([]);
    expect(tasksIn(copy)).toBe(2);
  });

  it('is taken up by the next start as if nothing had happened', async () => {
    const { database, type } = await aPlace();
    await type('restore', 'latest', '--yes');
    const opened = await openedAt(database, 0);
    onTestFinished(() => opened.close());
    expect(opened.migrated.applied).toEqual([]);
  });

  it('keeps what a killed server had in its log: it goes aside with the database', async () => {
    const { database, json } = await aPlace();
    const child = storeChild('hold', `file:${database}`);
    expect(await child.line()).toBe('held');
    const writer = openSqlite(database);
    writer.pragma('wal_autocheckpoint = 0');
    writer.exec(`update tasks set title = 'only in the log'`);
    const log = readFileSync(`${database}-wal`);
    const main = readFileSync(database);
    writer.close();
    await killHard(child);
    // As it stands after a power cut: the log is there, and nobody has the database open.
    writeFileSync(database, main);
    writeFileSync(`${database}-wal`, log);
    const { kept } = await json<Restored>('restore', 'latest', '--yes');
    const old = new Database(kept ?? '', { readonly: true });
    onTestFinished(() => void old.close());
    expect(old.prepare('select distinct title from tasks').pluck().all()).toEqual(['only in the log']);
    expect(tasksIn(database)).toBe(2);
  });

  it('takes the log of a copy with it, and leaves both as they are', async () => {
    const { database, folder, json } = await aPlace();
    const other = join(folder, 'elsewhere.db');
    await databaseAt(other, 3);
    const writer = openSqlite(other);
    writer.pragma('wal_autocheckpoint = 0');
    writer.exec(`update tasks set title = 'in the log'`);
    const [copy, copyLog] = [join(folder, 'usb.db'), join(folder, 'usb.db-wal')];
    copyFileSync(other, copy);
    copyFileSync(`${other}-wal`, copyLog);
    writer.close();
    const before = [readFileSync(copy), readFileSync(copyLog)];
    await json('restore', copy, '--yes');
    const restored = new Database(database, { readonly: true });
    onTestFinished(() => void restored.close());
    expect(restored.prepare('select distinct title from tasks').pluck().all()).toEqual(['in the log']);
    expect([readFileSync(copy), readFileSync(copyLog)]).toEqual(before);
  });

  it('works where there is no database yet', async () => {
    const { copy } = await aPlace();
    const empty = hostPlace();
    const done = await empty.json<Restored>('restore', copy, '--yes');
    expect([done.kept, tasksIn(empty.database)]).toEqual([null, 2]);
  });

  it('follows a link to where the database is', async () => {
    const { database, folder, json } = await aPlace();
    const real = join(folder, 'disk', 'real.db');
    mkdirSync(dirname(real));
    copyFileSync(database, real);
    const linked = hostPlace({ environment: { DATABASE_URL: `file:${join(folder, 'link.db')}` } });
    symlinkSync(real, join(folder, 'link.db'));
    const { file } = await json<{ file: string }>('backup', join(folder, 'copy.db'));
    await linked.json('restore', file, '--yes');
    expect(readdirSync(dirname(real)).toSorted()).toEqual([
      'real.db',
      expect.stringMatching(/^real\.db\.before-restore-/) as string,
      'real.db.lock',
    ]);
  });

  it('puts a database aside that is too damaged to be opened, with its log', async () => {
    const { database, json } = await aPlace();
    writeFileSync(database, 'x'.repeat(20_000));
    writeFileSync(`${database}-wal`, 'the log of it');
    const { kept } = await json<Restored>('restore', 'latest', '--yes');
    expect(tasksIn(database)).toBe(2);
    expect(readFileSync(kept ?? '', 'utf8')).toBe('x'.repeat(20_000));
    expect(readFileSync(`${kept}-wal`, 'utf8')).toBe('the log of it');
    expect(existsSync(`${database}-wal`)).toBe(false);
  });

  it('does it twice within a second', async () => {
    const { json } = await aPlace();
    const kept = [
      await json<Restored>('restore', 'latest', '--yes'),
      await json<Restored>('restore', 'latest', '--yes'),
    ];
    expect(new Set(kept.map((done) => done.kept)).size).toBe(2);
  });
});

describe('restore is refused', () => {
  it('while a server has the database, and names it', async () => {
    const { database, type } = await aPlace();
    const child = storeChild('hold', `file:${database}`);
    expect(await child.line()).toBe('held');
    const { fault } = await type('restore', 'latest', '--yes');
    expect(fault).toMatchObject({ exitCode: 4 });
    expect(fault?.message).toContain(`held by process ${child.process.pid} on child`);
    await killHard(child);
    expect(tasksIn(database)).toBe(5);
    expect((await type('restore', 'latest', '--yes')).exitCode).toBe(0);
  });

  it('while another program has the database open', async () => {
    const { database, type } = await aPlace();
    const reader = new Database(database);
    onTestFinished(() => void reader.close());
    reader.exec('begin; select * from tasks');
    reader.prepare('select count(*) from tasks').get();
    const { fault } = await type('restore', 'latest', '--yes');
    expect(fault).toMatchObject({ exitCode: 4, message: expect.stringContaining('Another program has') as string });
    expect(readdirSync(dirname(database)).filter((name) => name.includes('before-restore'))).toEqual([]);
  });

  it.each([
    [
      'no database',
      (file: string) => writeFileSync(file, 'hello'.repeat(1000)),
      'it is not a SQLite file|not a database',
    ],
    ['an empty file', (file: string) => writeFileSync(file, ''), 'it is not a SQLite file'],
    [
      'the database of another program',
      (file: string) => {
        writeFileSync(file, '');
        new Database(file).exec('create table t (a)').close();
      },
      'another program',
    ],
    [
      'a damaged copy',
      (file: string) => {
        const whole = readFileSync(file);
        writeFileSync(file, whole.fill(7, 4096, whole.length - 4096));
      },
      'cannot be restored',
    ],
    [
      'a copy that was cut off',
      (file: string) => writeFileSync(file, readFileSync(file).subarray(0, 20_000)),
      'cannot be restored',
    ],
    [
      'a copy of a newer version',
      (file: string) => void new Database(file).exec(`insert into schema_migrations values ('9999_future', 1)`).close(),
      'newer version',
    ],
    [
      'a copy that lacks a table',
      (file: string) => void new Database(file).exec('pragma foreign_keys = 0; drop table acks').close(),
      'the table acks is missing',
    ],
    [
      'a copy that lacks an index',
      (file: string) => void new Database(file).exec('drop index tasks_topic_called').close(),
      'the index tasks_topic_called is missing',
    ],
    [
      'a copy with a trigger of somebody else',
      (file: string) =>
        void new Database(file)
          .exec(`create trigger spy after insert on tasks begin delete from tasks where id = 'x'; end`)
          .close(),
      'the trigger spy is not of Cronogram',
    ],
    [
      'a copy whose index lets twins in',
      (file: string) =>
        void new Database(file)
          .exec('drop index chats_address; create index chats_address on chats (provider, address)')
          .close(),
      'the index chats_address is not of Cronogram',
    ],
    [
      'a copy with a trigger that is called like a table',
      (file: string) =>
        void new Database(file)
          .exec('create trigger schema_migrations after insert on tasks begin delete from runs; end')
          .close(),
      'the trigger schema_migrations is not of Cronogram',
    ],
    [
      'a copy that lacks a step in between',
      (file: string) => void new Database(file).exec("delete from schema_migrations where name like '0002%'").close(),
      'the steps before 0003_living are not all there',
    ],
    [
      'a pipe in the place of its log',
      (file: string) => void execFileSync('mkfifo', [`${file}-wal`]),
      '-wal is not a regular file',
    ],
    [
      'a pipe',
      (file: string) => {
        rmSync(file);
        execFileSync('mkfifo', [file]);
      },
      'is not a regular file',
    ],
  ])('for %s, and nothing is changed', async (_name, spoil, words) => {
    const { copy, database, type } = await aPlace();
    const bad = `${copy}.bad`;
    copyFileSync(copy, bad);
    spoil(bad);
    const before = readdirSync(dirname(database)).toSorted();
    const { fault } = await type('restore', bad, '--yes');
    expect([fault?.exitCode, fault?.message]).toEqual([4, expect.stringMatching(new RegExp(words)) as string]);
    expect(tasksIn(database)).toBe(5);
    expect(readdirSync(dirname(database)).toSorted()).toEqual(before);
  });

  it('for the database itself, for what is not there, and for nothing at all', async () => {
    const { database, type } = await aPlace();
    expect((await type('restore', database, '--yes')).fault).toMatchObject({ exitCode: 4 });
    expect((await type('restore', '/no/such/copy.db', '--yes')).fault).toMatchObject({ exitCode: 3 });
    expect((await type('restore')).fault).toMatchObject({ exitCode: 2 });
    expect((await hostPlace().type('restore', 'latest', '--yes')).fault).toMatchObject({ exitCode: 3 });
  });

  it('without a word of consent: nobody is there to ask, or says no', async () => {
    const { database, type } = await aPlace();
    expectRefused(await type('restore', 'latest'), 2, '--yes');
    const asked = await aPlace({ answers: ['n'] });
    const { exitCode, err } = await asked.type('restore', 'latest');
    expect([exitCode, err.includes('Nothing was changed.')]).toEqual([1, true]);
    expect(err).toContain('2 tasks (2 active)');
    expect(err).toContain('5 tasks (5 active)');
    expect([tasksIn(database), tasksIn(asked.database)]).toEqual([5, 5]);
  });

  it('for a Postgres server, with the line to type instead, which holds no password', async () => {
    const environment = { DATABASE_URL: 'postgres://me:s3cret-word@localhost/x' };
    const { type } = hostPlace({ environment });
    for (const words of [['restore', 'latest', '--yes'], ['backup'], ['restore', '--list']]) {
      const { fault } = await type(...words);
      expect(fault).toMatchObject({ exitCode: 4 });
      expect(fault?.message).toMatch(/pg_(?:dump|restore) .*"\$DATABASE_URL"/);
      expect(fault?.message).not.toContain('s3cret-word');
    }
  });
});

describe('a restore that is killed', () => {
  const steps: readonly (readonly [RestoreStep, number])[] = [
    ['staged', 5],
    ['folded', 5],
    ['kept', 5],
    ['placed', 2],
    ['synced', 2],
  ];

  it.each(steps)(
    'after "%s" leaves a whole database of %i tasks, and the next try does it all',
    async (step, tasks) => {
      const { copy, database, json } = await aPlace();
      const script = fileURLToPath(new URL('restore-child.ts', import.meta.url));
      const child = spawn(process.execPath, [...sourceFlags, script, database, copy, step], { stdio: 'inherit' });
      const [, signal] = (await once(child, 'exit')) as [number | null, string | null];
      expect(signal).toBe('SIGKILL');
      expect(tasksIn(database)).toBe(tasks);
      // A server starts with what is there.
      const opened = await openedAt(database, 0);
      await opened.close();
      await json('restore', copy, '--yes');
      expect(tasksIn(database)).toBe(2);
      expect(readdirSync(dirname(database)).filter((name) => name.includes('restoring'))).toEqual([]);
    },
  );
});

describe('the list of copies', () => {
  it('shows the newest first, and what was set aside', async () => {
    const { copy, database, folder, type, json } = await aPlace();
    const { kept } = await json<Restored>('restore', 'latest', '--yes');
    writeFileSync(`${database}.before-0002_x.backup`, 'x');
    writeFileSync(`${database}.before-lunch`, 'x');
    const { copies } = await json<{ copies: { file: string; kind: string }[] }>('restore', '--list');
    expect(copies.map(({ file, kind }) => [file, kind])).toEqual([
      [copy, 'backup'],
      [`${database}.before-0002_x.backup`, 'set_aside'],
      [kept, 'set_aside'],
    ]);
    expect((await type('restore', '--list')).out).toContain(`  ${relative(folder, copy)} (`);
    expect((await hostPlace().type('restore', '--list')).out).toBe(
      'There is no copy yet. "cronogram backup" makes one.\n',
    );
  });

  it('is for everybody who may read the folder', async () => {
    const { copy, type } = await aPlace();
    chmodSync(copy, 0o400);
    expect((await type('restore', '--list')).exitCode).toBe(0);
  });
});
