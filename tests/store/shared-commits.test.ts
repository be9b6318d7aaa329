import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { rows, type Engine, type Script } from '../../src/store/engine/engine.ts';
import { openSqlite, sqliteEngine } from '../../src/store/engine/sqlite.ts';
import { aFolder } from '../support/place.ts';
import {} from '../support/store-worlds.ts';

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

interface Place {
  readonly engine: Engine;
  readonly connection: Database.Database;
  /** What is in the file, as somebody else sees it. */
  readonly kept: () => readonly string[];
}

function aPlace(): Place {
  const file = join(aFolder(), 'shared.db');
  const connection = openSqlite(file);
  const beside = new Database(file);
  onTestFinished(() => {
    connection.close();
    beside.close();
  });
  connection.exec(`create table words (word text primary key, padding text)`);
  const kept = beside.prepare('select word from words order by rowid').pluck();
  return { engine: sqliteEngine(connection, turn), connection, kept: () => kept.all() as string[] };
}

function* say(word: string, padding = ''): Script<string> {
  yield* rows('insert into words (word, padding) values (?t, ?t)', word, padding);
  return word;
}

function* sayAndThrow(word: string): Script<string> {
  yield* say(word);
  throw new Error(`not ${word}`);
}

function* sayMany(count: number): Script<void> {
  for (let index = 0; index < count; index += 1) yield* say(`word ${index}`);
}

test('what is asked for in one turn is committed together, in order, and told when it is', async () => {
  const { engine, kept } = aPlace();
  const told: (readonly string[])[] = [];
  const asked = ['a', 'b', 'c'].map((word) => engine.transact(() => say(word)).then(() => told.push(kept())));
  expect(kept()).toEqual([]);
  await Promise.all(asked);
  // The first that is told finds all of them: there was one commit.
  expect(told).toEqual([
    ['a', 'b', 'c'],
    ['a', 'b', 'c'],
    ['a', 'b', 'c'],
  ]);
});

test('one that throws is taken back alone', async () => {
  const { engine, kept } = aPlace();
  const [a, b, c] = await Promise.allSettled([
    engine.transact(() => say('a')),
    engine.transact(() => sayAndThrow('b')),
    engine.transact(() => say('c')),
  ]);
  expect([a, c]).toEqual([
    { status: 'fulfilled', value: 'a' },
    { status: 'fulfilled', value: 'c' },
  ]);
  expect(b).toMatchObject({ status: 'rejected', reason: { message: 'not b' } });
  expect(kept()).toEqual(['a', 'c']);
});

test('a later one sees what an earlier one of the same commit has written', async () => {
  const { engine } = aPlace();
  const first = engine.transact(() => say('a'));
  const found = engine.transact(() => rows<{ word: string }>('select word from words'));
  expect(await found).toEqual([{ word: 'a' }]);
  await first;
});

test('where the disk is full, whoever still fits is kept, and the others hear of it', async () => {
  const { engine, connection, kept } = aPlace();
  await engine.transact(() => say('before'));
  const pages = connection.pragma('page_count', { simple: true }) as number;
  connection.pragma(`max_page_count = ${pages}`);
  const answers = await Promise.allSettled([
    engine.transact(() => say('small')),
    engine.transact(() => say('large', 'x'.repeat(100_000))),
    engine.transact(() => say('small too')),
  ]);
  expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(answers[1]).toMatchObject({ reason: { code: 'SQLITE_FULL' } });
  expect(kept()).toEqual(['before', 'small', 'small too']);
});

test('when no transaction can begin, everybody who asked hears of it, once', async () => {
  const { engine, connection, kept } = aPlace();
  const other = new Database(connection.name);
  onTestFinished(() => void other.close());
  connection.pragma('busy_timeout = 1');
  other.exec('begin immediate');
  const refused = await Promise.allSettled([engine.transact(() => say('a')), engine.transact(() => say('b'))]);
  expect(refused).toMatchObject([{ reason: { code: 'SQLITE_BUSY' } }, { reason: { code: 'SQLITE_BUSY' } }]);
  other.exec('rollback');
  await engine.transact(() => say('c'));
  expect(kept()).toEqual(['c']);
});

test('much work takes nobody else along: who comes after it is told in a later commit', async () => {
  const { engine, kept } = aPlace();
  let atFirst = 0;
  const much = engine.transact(() => sayMany(600)).then(() => (atFirst = kept().length));
  const little = engine.transact(() => say('after'));
  await Promise.all([much, little]);
  expect(atFirst).toBe(600);
  expect(kept()).toHaveLength(601);
});

test('what still waits is committed when the store is closed', async () => {
  const file = join(aFolder(), 'closing.db');
  const connection = openSqlite(file);
  connection.exec(`create table words (word text primary key, padding text)`);
  const engine = sqliteEngine(connection, turn);
  const asked = engine.transact(() => say('last'));
  await engine.close();
  expect(await asked).toBe('last');
  const again = new Database(file);
  onTestFinished(() => void again.close());
  expect(again.prepare('select word from words').pluck().all()).toEqual(['last']);
});
