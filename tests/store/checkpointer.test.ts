import { statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { openSqlite, sqliteEngine, createCheckpointer } from '../../src/store/engine/sqlite.ts';
import { soon } from '../support/patience.ts';
import { aFolder } from '../support/place.ts';
import { rows } from '../support/texts.ts';

const aFile = () => join(aFolder(), 'some.db');

describe('the thread that works off the log', () => {
  test('moves what was committed into the file, once enough was written', async () => {
    const file = aFile();
    const connection = openSqlite(file);
    connection.pragma('wal_autocheckpoint = 0');
    connection.exec('create table t (x text)');
    connection.exec(`with recursive n(i) as (select 1 union all select i + 1 from n where i < 5000)
      insert into t select printf('%100d', i) from n`);
    const failed = vi.fn<() => void>();
    const checkpointer = createCheckpointer(file, failed);
    const before = statSync(file).size;
    checkpointer.wrote(1999);
    checkpointer.wrote(1);
    await soon(() => expect(statSync(file).size).toBeGreaterThan(before + 100_000));
    await checkpointer.stop();
    connection.close();
    expect(failed).not.toHaveBeenCalled();
  });

  test('hears of what is written by statements that answer rows', async () => {
    const file = aFile();
    const connection = openSqlite(file);
    connection.exec('create table t (x text)');
    const engine = sqliteEngine(connection);
    const before = statSync(file).size;
    const many = `insert into t (x) with recursive n(i) as (select 1 union all select i + 1 from n where i < 3000)
      select printf('%100d', i) from n returning x`;
    await engine.transact(() => rows(many));
    await soon(() => expect(statSync(file).size).toBeGreaterThan(before + 100_000));
    await engine.close();
  });

  test('says when it cannot work, and is not in the way of the end', async () => {
    const failed = vi.fn<() => void>();
    const checkpointer = createCheckpointer('/nowhere/at/all.db', failed);
    checkpointer.wrote(5000);
    await soon(() => expect(failed).toHaveBeenCalledTimes(1));
    await checkpointer.stop();
  });

  test('is not started while little is written', async () => {
    const failed = vi.fn<() => void>();
    const checkpointer = createCheckpointer('/nowhere/at/all.db', failed);
    checkpointer.wrote(1999);
    await checkpointer.stop();
    expect(failed).not.toHaveBeenCalled();
  });
});
