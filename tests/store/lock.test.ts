import { readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openStore, type Opening } from '../../src/store/engine/open.ts';
import { openSqlite } from '../../src/store/engine/sqlite.ts';
import { systemTimer } from '../../src/system/clock.ts';
import { nine } from '../support/builders.ts';
import { killHard, storeChild } from '../support/child.ts';
import { aFolder } from '../support/place.ts';
import { freshPostgres } from '../support/postgres.ts';

function opening(url: string, pid = 4711): Opening {
  return { url, holder: { pid, host: 'garden', since: nine }, onLost: () => {}, timer: systemTimer };
}

const aFile = () => `file:${join(aFolder(), 'place', 'cronogram.db')}`;

describe('on one SQLite file', () => {
  test('a second process is refused and told who holds the database, until that one lets go', async () => {
    const url = aFile();
    const first = await openStore(opening(url));
    const refused = openStore(opening(url, 4712));

    await expect(refused).rejects.toMatchObject({ code: 'store_unavailable' });
    await expect(refused).rejects.toThrow(/process 4711 on garden, since 2027-01-04T09:00:00\.000Z/);
    await first.close();
    const second = await openStore(opening(url, 4712));
    await expect(openStore(opening(url))).rejects.toThrow(/process 4712/);
    await second.close();
  });

  test('a second process that comes by a link is refused as well', async () => {
    const url = aFile();
    const first = await openStore(opening(url));
    const link = join(aFolder(), 'linked.db');
    symlinkSync(url.slice('file:'.length), link);

    await expect(openStore(opening(`file:${link}`, 4712))).rejects.toThrow(/process 4711 on garden/);
    await first.close();
    const second = await openStore(opening(`file:${link}`, 4712));
    await expect(openStore(opening(url))).rejects.toThrow(/process 4712/);
    await second.close();
  });

  test('whoever is refused changes nothing, not even the schema', async () => {
    const url = aFile();
    const file = url.slice('file:'.length);
    const first = await openStore(opening(url));
    const before = readFileSync(file);
    await expect(openStore(opening(url))).rejects.toThrow(/held by/);

    expect(readFileSync(file).equals(before)).toBe(true);
    await first.close();
  });

  test('the lock of a process that was killed is free at once', async () => {
    const url = aFile();
    const child = storeChild('hold', url);
    expect(await child.line()).toBe('held');
    await expect(openStore(opening(url))).rejects.toThrow(new RegExp(`process ${child.process.pid} on child`));
    await killHard(child);

    const mine = await openStore(opening(url));
    await mine.store.ping(nine);
    await mine.close();
  });

  test('a database that cannot be opened lets the lock go again', async () => {
    const url = aFile();
    const first = await openStore(opening(url));
    await first.store.writeNote('k', 'v', nine);
    await first.close();
    const raw = openSqlite(url.slice('file:'.length));
    raw.exec(`insert into schema_migrations values ('9999_future', 1)`);
    await expect(openStore(opening(url))).rejects.toThrow(/newer version/);
    await expect(openStore(opening(url))).rejects.toThrow(/newer version/);

    raw.exec(`delete from schema_migrations where name = '9999_future'`);
    raw.close();
    const again = await openStore(opening(url));
    expect(await again.store.readNote('k')).toBe('v');
    await again.close();
  });

  test('nobody but the owner of the process may read the database or its log', async () => {
    const url = aFile();
    const file = url.slice('file:'.length);
    const opened = await openStore(opening(url));
    await opened.store.ping(nine);
    const modes = ['', '-wal', '-shm'].map((suffix) => statSync(`${file}${suffix}`).mode & 0o077);

    expect([...modes, statSync(join(file, '..')).mode & 0o077]).toEqual([0, 0, 0, 0]);
    await opened.close();
  });

  test.each(['cronogram.db', 'mysql://localhost/x', ''])(
    'the address "%s" is refused with the two forms that work',
    async (url) => {
      await expect(openStore(opening(url))).rejects.toThrow('DATABASE_URL is file:<path> or postgres://...');
    },
  );
});

describe('on Postgres', () => {
  test('a second process is refused until the first one lets go', async () => {
    const database = await freshPostgres();
    const { url } = database;
    const first = await openStore(opening(url));
    await expect(openStore(opening(url))).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringMatching(/held by process \d+ on .+, since \d{4}-.*stop that one first/) as string,
    });
    await first.close();
    const second = await openStore(opening(url));
    await second.store.ping(nine);
    await second.close();
    await database.drop();
  });

  test('the lock of a process that was killed is free', async () => {
    const database = await freshPostgres();
    const { url } = database;
    const child = storeChild('hold', url);
    expect(await child.line()).toBe('held');
    await killHard(child);
    // The server notices the end of a connection by itself, a moment after the process is gone.
    const open = async (): ReturnType<typeof openStore> => openStore(opening(url)).catch(open);
    const mine = await open();

    await mine.close();
    await database.drop();
  });
});
