import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it, onTestFinished } from 'vitest';
import { killHard, storeChild } from '../support/child.ts';
import { databaseAt, expectRefused, hostPlace, openedAt } from './place.ts';

interface BackupMade {
  readonly file: string;
  readonly bytes: number;
  readonly pruned: number;
  readonly not_included: readonly string[];
}

describe('backup', () => {
  it('makes a whole copy that says what it holds, and what it does not', async () => {
    const { database, json, type } = hostPlace();
    await databaseAt(database, 3);
    const made = await json<BackupMade>('backup');
    expect(made).toMatchObject({ tasks: 3, active_tasks: 3, last_slot_at: null, pruned: 0 });
    expect(made.bytes).toBe(statSync(made.file).size);
    expect([dirname(made.file), statSync(made.file).mode & 0o777]).toEqual([join(dirname(database), 'backups'), 0o600]);
    expect(made.not_included).toEqual(['.env', join(dirname(database), 'api-token')]);
    const copy = new Database(made.file, { readonly: true });
    onTestFinished(() => void copy.close());
    expect(copy.prepare('select count(*) from tasks').pluck().get()).toBe(3);
    const { out } = await type('backup', join(dirname(database), 'other.db'));
    expect(out).toContain('3 tasks (3 active)');
    expect(out).toMatch(/keep those\s+apart, they are secret/);
  });

  it('shows how it goes to somebody who watches, as restore and doctor do, and leaves nothing of that on the screen', async () => {
    const { database, type } = hostPlace({ showsProgress: true });
    await databaseAt(database, 3);
    for (const [words, shown] of [
      ['backup', 'Copying data/cronogram.db, and reading the copy ...'],
      ['restore latest --yes', 'Putting the copy in the place of the database ...'],
      ['doctor --offline', 'Looking at the database ...'],
    ] as const) {
      const { err } = await type(...words.split(' '));
      expect(err).toContain(`\r\u001B[K${shown}`);
      expect(err.endsWith('\r\u001B[K')).toBe(true);
      expect((await type(...words.split(' '), '--json')).err).toBe('');
    }
  });

  it('is made beside a server that runs, and takes its lock from nobody', async () => {
    const { database, json } = hostPlace();
    mkdirSync(dirname(database), { recursive: true });
    const child = storeChild('hold', `file:${database}`);
    expect(await child.line()).toBe('held');
    expect(await json<BackupMade>('backup')).toMatchObject({ tasks: 0 });
    await expect(openedAt(database, 0)).rejects.toThrow(`held by process ${child.process.pid}`);
    await killHard(child);
  });

  it('keeps no copy that nobody could restore, and makes none beside a server whose log is gone', async () => {
    const { database, type } = hostPlace();
    const folder = dirname(database);
    const copies = () => (existsSync(join(folder, 'backups')) ? readdirSync(join(folder, 'backups')) : []);
    mkdirSync(folder, { recursive: true });
    const child = storeChild('hold', `file:${database}`);
    expect(await child.line()).toBe('held');
    rmSync(`${database}-wal`);
    expectRefused(await type('backup'), 4, 'was deleted under the server');
    await killHard(child);
    // The pages that the log had are missing.
    const { size } = statSync(database);
    writeFileSync(database, Buffer.concat([readFileSync(database).subarray(0, 8192), Buffer.alloc(size - 8192)]));
    expectRefused(await type('backup'), 1, 'none was kept');
    expect(copies()).toEqual([]);
  });

  it('goes where it is told: a file, or a folder', async () => {
    const { database, folder, json } = hostPlace();
    await databaseAt(database, 1);
    mkdirSync(join(folder, 'usb'));
    const file = join(folder, 'usb', 'mine.db');
    expect((await json<BackupMade>('backup', file)).file).toBe(file);
    const made = await json<BackupMade>('backup', 'usb');
    expect([dirname(made.file), basename(made.file)]).toEqual([
      join(folder, 'usb'),
      expect.stringMatching(/^cronogram\.db-\d{8}-\d{6}\.db$/) as string,
    ]);
  });

  it('names a file with blanks so that the line can be typed', async () => {
    const { database, folder, type } = hostPlace();
    await databaseAt(database, 1);
    const { out } = await type('backup', join(folder, "Ada's copy.db"));
    expect(out.replaceAll(/\s+/g, ' ')).toContain(`cronogram restore 'Ada'\\''s copy.db'`);
  });

  it('writes over nothing, and needs a database and a folder', async () => {
    const { database, folder, type } = hostPlace();
    expect((await type('backup')).fault).toMatchObject({ exitCode: 3 });
    await databaseAt(database, 1);
    const there = join(folder, 'there.db');
    writeFileSync(there, 'mine');
    expectRefused(await type('backup', there), 4, 'exists already');
    expect(readFileSync(there, 'utf8')).toBe('mine');
    expect((await type('backup', join(folder, 'no', 'such.db'))).fault).toMatchObject({ exitCode: 3 });
    expect((await type('backup', '--keep', 'all')).fault).toMatchObject({ exitCode: 2 });
    expect((await type('backup', '--keep', '0')).fault).toMatchObject({ exitCode: 2 });
  });

  it('removes what is older than it is told to keep', async () => {
    const { database, json } = hostPlace();
    await databaseAt(database, 1);
    const folder = join(dirname(database), 'backups');
    mkdirSync(folder);
    for (const day of ['01', '02', '03', '04']) {
      const file = join(folder, `cronogram.db-202601${day}-030000.db`);
      writeFileSync(file, '');
      utimesSync(file, Number(day) * 1000, Number(day) * 1000);
    }
    const { pruned, file } = await json<BackupMade>('backup', '--keep', '2');
    expect(pruned).toBe(3);
    expect(readdirSync(folder).toSorted()).toEqual(['cronogram.db-20260104-030000.db', basename(file)]);
  });

  it('leaves the half copy of another process alone while it grows, and removes it when it is abandoned', async () => {
    const { database, json } = hostPlace();
    await databaseAt(database, 1);
    const folder = join(dirname(database), 'backups');
    mkdirSync(folder);
    const [growing, abandoned] = ['1', '2'].map((day) =>
      join(folder, `cronogram.db-2026010${day}-030000.db.99999.partial`),
    );
    for (const file of [growing ?? '', abandoned ?? '']) writeFileSync(file, 'half');
    utimesSync(abandoned ?? '', 1000, 1000);
    const { file } = await json<BackupMade>('backup');
    expect(readdirSync(folder).toSorted()).toEqual([basename(growing ?? ''), basename(file)].toSorted());
  });

  it.runIf(process.getuid?.() === 0)('made by root belongs to whoever the data belongs to', async () => {
    const { database, json } = hostPlace();
    await databaseAt(database, 1);
    const [daemon] = [1];
    chownSync(dirname(database), daemon, daemon);
    const { file } = await json<BackupMade>('backup');
    expect([file, dirname(file)].map((path) => statSync(path).uid)).toEqual([daemon, daemon]);
    await json('restore', 'latest', '--yes');
    expect([database, `${database}.lock`].map((path) => statSync(path).uid)).toEqual([daemon, daemon]);
  });
});
