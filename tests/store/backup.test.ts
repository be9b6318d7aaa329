import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Backups } from '../../src/app/ports/outside.ts';
import { createBlobs } from '../../src/app/use-cases/blobs.ts';
import { composeRooms } from '../../src/compose/assembly.ts';
import { migrateSqlite } from '../../src/store/engine/migrate.ts';
import { openStore } from '../../src/store/engine/open.ts';
import { openSqlite } from '../../src/store/engine/sqlite.ts';
import { fileBackups } from '../../src/store/files/backup.ts';
import { systemTimer } from '../../src/system/clock.ts';
import { countingIds, faultyTransport, manualTime, memoryLog } from '../support/fakes.ts';
import { day, hour, settings, start } from '../support/pipeline.ts';
import { aFolder } from '../support/place.ts';

async function aFile() {
  const file = join(aFolder(), 'data', 'my.cronogram.db');
  mkdirSync(dirname(file));
  const database = openSqlite(file);
  await migrateSqlite(database, 0);
  database.exec(`insert into kv (scope, key, value, updated_at)
    with recursive n(i) as (select 1 union all select i + 1 from n where i < 5000) select 's', i, hex(randomblob(50)), i from n`);
  onTestFinished(() => void database.close());
  return { file, database, backups: fileBackups(file), folder: join(dirname(file), 'backups') };
}

const rowsOf = (database: Database.Database) => database.prepare('select * from kv order by key').all();

describe('a backup', () => {
  it('is a whole database: restored, it has every row that was committed, and nothing stands beside it', async () => {
    const { database, backups, folder } = await aFile();
    const { file, bytes } = await backups.make(Date.UTC(2027, 0, 31, 3, 5, 9));
    expect(file).toBe(join(folder, 'my.cronogram.db-20270131-030509.db'));
    expect(bytes).toBe(statSync(file).size);
    expect(readdirSync(folder)).toEqual(['my.cronogram.db-20270131-030509.db']);
    expect([statSync(file).mode & 0o777, statSync(folder).mode & 0o777]).toEqual([0o600, 0o700]);
    const before = rowsOf(database);
    database.exec('delete from kv');

    const opened = await openStore({
      url: `file:${file}`,
      holder: { pid: 1, host: 'here', since: 0 },
      onLost: () => undefined,
      timer: systemTimer,
    });
    onTestFinished(() => opened.close());
    expect(opened.migrated.applied).toEqual([]);
    const restored = new Database(file, { readonly: true });
    onTestFinished(() => void restored.close());
    expect(rowsOf(restored)).toEqual(before);
  });

  it('brings the files of results back, whole, with the run that refers to them', async () => {
    const place = { holder: { pid: 1, host: 'here', since: 0 }, onLost: () => undefined, timer: systemTimer };
    const file = join(aFolder(), 'cronogram.db');
    const bytes = Buffer.from(Array.from({ length: 600_000 }, (_one, index) => (index * 7 + index / 997) & 0xff));
    const blob = { chatId: 'c', sha256: 'f', mime: 'image/png' };
    const opened = await openStore({ ...place, url: `file:${file}` });
    const put = { ...blob, bytes, now: start, expiresAt: start + 1 };
    await createBlobs({ store: opened.store, timer: systemTimer, quota: 2 ** 20 }).putBlob(put);
    const copy = await opened.backups?.make(start);
    await opened.close();
    rmSync(file);

    const restored = await openStore({ ...place, url: `file:${copy?.file ?? ''}` });
    onTestFinished(() => restored.close());
    const found = await createBlobs({ store: restored.store, timer: systemTimer, quota: 2 ** 20 }).readBlob('c', 'f');
    expect(Buffer.compare(found ?? Buffer.alloc(0), bytes)).toBe(0);
  });

  it('is made while others go on writing, out of one state of the database', async () => {
    const { database, backups } = await aFile();
    database.exec('create table pair (a integer, b integer); insert into pair values (0, 0)');
    const making = backups.make(start);
    let made = false;
    void making.finally(() => {
      made = true;
    });
    let written = 0;
    while (!made) {
      database.transaction(() => {
        database.exec('update pair set a = a + 1');
        database.exec('update pair set b = b + 1');
      })();
      written += 1;
      await new Promise((resolve) => setImmediate(resolve));
    }
    const copy = new Database((await making).file, { readonly: true });
    onTestFinished(() => void copy.close());
    const [pair] = copy.prepare('select a, b from pair').all() as { a: number; b: number }[];
    expect(pair?.a).toBe(pair?.b);
    expect(written).toBeGreaterThan(0);
  });

  it('that fails leaves nothing of itself, and nothing of the others goes', async () => {
    const { backups, folder, file } = await aFile();
    const first = await backups.make(start);
    // Not a database any more to whoever reads it anew: the copy cannot be made.
    const broken = fileBackups(join(dirname(file), 'broken.db'));
    writeFileSync(join(dirname(file), 'broken.db'), 'x'.repeat(10_000));
    await expect(broken.make(start)).rejects.toThrow('not a database');
    expect(readdirSync(folder)).toEqual([first.file.slice(folder.length + 1)]);
  });

  it('removes what an earlier one left half done', async () => {
    const { backups, folder } = await aFile();
    mkdirSync(folder);
    const half = 'my.cronogram.db-20260101-030000.db.partial';
    const others = ['somebody.partial', 'my.cronogram.db-x.db.partial', 'other.db-20260101-030000.db.partial-wal'];
    for (const name of [half, `${half}-journal`, `${half}-wal`, `${half}-shm`, ...others])
      writeFileSync(join(folder, name), 'half');
    await backups.make(start);
    expect(readdirSync(folder)).toEqual([
      'my.cronogram.db-20261118-090000.db',
      'my.cronogram.db-x.db.partial',
      'other.db-20260101-030000.db.partial-wal',
      'somebody.partial',
    ]);
  });

  it('that is old goes, but no file that only looks like one', async () => {
    const { backups, folder } = await aFile();
    mkdirSync(folder);
    const others = [
      'my.cronogram.db',
      'my.cronogram-20260101-030000.db',
      'my.cronogram.db-20260101.db',
      'other-20260101-030000.db',
      'myxcronogram-20260101-030000.db',
    ];
    for (const name of others) writeFileSync(join(folder, name), '');
    for (let night = 1; night <= 5; night += 1)
      writeFileSync(join(folder, `my.cronogram.db-2026010${night}-030000.db`), '');
    expect(await backups.prune(2)).toBe(3);
    expect(readdirSync(folder).toSorted()).toEqual(
      [...others, 'my.cronogram.db-20260104-030000.db', 'my.cronogram.db-20260105-030000.db'].toSorted(),
    );
    expect(await backups.prune(2)).toBe(0);
  });
});

describe('the copies of a database', () => {
  it('have names of their own where another one has the same name but for its ending', async () => {
    const { file, backups, folder } = await aFile();
    const twin = file.replace(/db$/, 'sqlite');
    const other = openSqlite(twin);
    await migrateSqlite(other, 0);
    other.close();
    const [mine, theirs] = [await backups.make(start), await fileBackups(twin).make(start)];
    expect(mine.file).not.toBe(theirs.file);
    const copy = new Database(mine.file, { readonly: true });
    onTestFinished(() => void copy.close());
    expect(rowsOf(copy)).toHaveLength(5000);
    expect(await fileBackups(twin).prune(1)).toBe(0);
    expect(readdirSync(folder)).toHaveLength(2);
  });

  it('go by their age on the disk and not by their name, and never the one just made', async () => {
    const { backups, folder } = await aFile();
    const wrong = await backups.make(Date.UTC(2036, 0, 1));
    const ahead = statSync(wrong.file).mtimeMs / 1000 + 10 * 365 * 86_400;
    utimesSync(wrong.file, ahead, ahead);
    const older = await backups.make(start + day);
    utimesSync(older.file, 1000, 1000);
    const newer = await backups.make(start);
    const made = await backups.make(start - day);
    utimesSync(newer.file, 2000, 2000);
    const left = () => readdirSync(folder).map((name) => join(folder, name));
    expect(await backups.prune(3)).toBe(1);
    expect(left()).toEqual([made.file, newer.file, older.file]);
    expect(await backups.prune(2)).toBe(1);
    expect(left()).toEqual([made.file, newer.file]);
    expect(await backups.prune(1)).toBe(1);
    expect(left()).toEqual([made.file]);
  });
});

describe('the nightly backup', () => {
  async function aPlace(kept = 7) {
    const { file, folder } = await aFile();
    const opened = await openStore({
      url: `file:${file}`,
      holder: { pid: 1, host: 'here', since: 0 },
      onLost: () => undefined,
      timer: systemTimer,
    });
    onTestFinished(() => opened.close());
    const time = manualTime(start);
    const log = memoryLog();
    const world = { clock: time, stopwatch: time, timer: time, ids: countingIds(), log };
    const chat = faultyTransport();
    let ended: Promise<unknown> = Promise.resolve();
    const { backups } = opened;
    if (backups === null) throw new Error('a file has backups');
    const make: Backups['make'] = (now) => {
      const making = backups.make(now);
      ended = making.catch(() => undefined);
      return making;
    };
    const rooms = composeRooms({ ...settings, BACKUP_KEEP: kept }, world, {
      store: opened.store,
      transport: (budget) => chat.within(budget),
      backups: { ...backups, make },
    });
    let rings = 0;
    rooms.connect('housekeeper', () => {
      rings += 1;
    });
    /** Lets the housekeeper work until nothing is due for a while, and waits for a copy that is being made. */
    const tidy = async () => {
      for (let turns = 0; turns < 300; turns += 1) {
        await rooms.housekeeper.step(time.now(), 100);
        await ended;
        await time.advance(300);
        const next = await rooms.housekeeper.nextAt(time.now());
        if (next !== null && next > time.now() + 20_000) return;
      }
    };
    return {
      folder,
      time,
      log,
      tidy,
      rings: () => rings,
      files: () => (existsSync(folder) ? readdirSync(folder) : []),
    };
  }

  const told = ({ log }: Awaited<ReturnType<typeof aPlace>>, event: string) =>
    log.lines.filter((line) => line.event === event);

  it('makes one copy a night and keeps as many as it was told', async () => {
    const p = await aPlace(2);
    await p.tidy();
    expect(p.files()).toEqual([]);
    for (let night = 0; night < 3; night += 1) {
      await p.time.advance(day);
      await p.tidy();
    }
    expect(p.files()).toHaveLength(2);
    expect(told(p, 'backup').map(({ facts }) => facts['pruned'])).toEqual([0, 0, 1]);
    // The check of all pages rings as well, when it is done.
    expect(p.rings()).toBeGreaterThanOrEqual(3);
  });

  it('tells a failure, leaves the rest alone, and tries again an hour later', async () => {
    const p = await aPlace();
    await p.tidy();
    // The copy cannot get its name while a folder stands under it.
    const nextMorning = new Date(start + day).toISOString().slice(0, 10).replaceAll('-', '');
    await p.time.advance(day);
    for (let second = 0; second < 60; second += 1)
      mkdirSync(join(p.folder, `my.cronogram.db-${nextMorning}-0900${String(second).padStart(2, '0')}.db`, 'x'), {
        recursive: true,
      });
    await p.tidy();
    expect(
      told(p, 'backup_failed').map(({ level, facts }) => [level, String(facts['error']).includes('rename')]),
    ).toEqual([['error', true]]);
    expect(told(p, 'retention')).toHaveLength(1);
    expect(p.files().filter((name) => name.endsWith('.partial'))).toEqual([]);
    await p.time.advance(hour);
    await p.tidy();
    expect(told(p, 'backup')).toHaveLength(1);
    expect(told(p, 'backup_failed')).toHaveLength(1);
  });

  it('is not made where none is wanted', async () => {
    const p = await aPlace(0);
    await p.tidy();
    await p.time.advance(day);
    await p.tidy();
    expect([p.files(), told(p, 'retention').length]).toEqual([[], 1]);
  });
});

describe('a file with a damaged page', () => {
  it('is found by the check of all pages, keeps the server from being ready, and is well again when it is mended', async () => {
    const { file, database } = await aFile();
    database.close();
    const holder = { pid: process.pid, host: 'here', since: start };
    const opened = await openStore({ url: `file:${file}`, holder, onLost: () => {}, timer: systemTimer });
    onTestFinished(() => opened.close());
    const whole = readFileSync(file);
    const half = Math.floor(whole.length / 2);
    expect(await opened.backups?.check()).toBeNull();
    writeFileSync(file, Buffer.from(whole).fill(7, half, half + 8192), { flag: 'r+' });
    expect(await opened.backups?.check()).not.toBeNull();
    await expect(opened.store.ping(start)).rejects.toThrow(/is damaged .* cronogram restore latest/);
    await expect(opened.backups?.make(start)).rejects.toThrow(/is damaged/);
    writeFileSync(file, whole, { flag: 'r+' });
    expect(await opened.backups?.check()).toBeNull();
    await opened.store.ping(start);
  });

  it('is told from the first script on that meets it', async () => {
    const { file, database } = await aFile();
    database.close();
    const whole = readFileSync(file);
    writeFileSync(file, Buffer.from(whole).fill(7, Math.floor(whole.length / 2)), { flag: 'r+' });
    const holder = { pid: process.pid, host: 'here', since: start };
    const opened = await openStore({ url: `file:${file}`, holder, onLost: () => {}, timer: systemTimer });
    onTestFinished(() => opened.close());
    await expect(opened.store.writeNote('x', 'y', start)).rejects.toThrow(/is damaged/);
    await expect(opened.store.ping(start)).rejects.toThrow(/is damaged .* cronogram restore latest/);
  });
});
