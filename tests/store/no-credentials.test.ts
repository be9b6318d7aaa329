import { getTableColumns, getTableName } from 'drizzle-orm';
import { expect, it } from 'vitest';
import { sqliteTables } from '../../src/store/tables/sqlite.ts';

/** Words that a column bears which holds what lets somebody in. */
const telling =
  /session|oauth|token|api_?key|secret|password|passwd|passphrase|credential|bearer|private_?key|refresh|jwt|cookie|signature|\bauth\b/;

/** Columns that bear such a word and hold nothing of that kind. */
const harmless: Readonly<Record<string, string>> = {
  'tasks.refresh_ms': 'a length of time',
  'token_chats.token_id': 'the id of a row',
  'runs.reserved_tokens': 'an amount',
};

/** Tables that are made for it: sealed, or as a hash. */
const keepers = ['secrets', 'credentials', 'tokens'];

const all = Object.values(sqliteTables).map((table) => ({
  name: getTableName(table),
  columns: Object.values(getTableColumns(table) as Readonly<Record<string, { readonly name: string }>>).map(
    ({ name }) => name,
  ),
}));

const suspects = (name: string, columns: readonly string[]) =>
  columns.filter((column) => telling.test(column) && harmless[`${name}.${column}`] === undefined);

it('no table but those made for it has a column that could hold a credential', () => {
  const found = all
    .filter(({ name }) => !keepers.includes(name))
    .flatMap(({ name, columns }) => suspects(name, columns).map((column) => `${name}.${column}`));
  expect(found).toEqual([]);
});

it.each(['tasks', 'grants', 'runs', 'attempts', 'occurrences', 'deliveries'])('%s is looked at', (wanted) => {
  expect(all.find(({ name }) => name === wanted)?.columns.length).toBeGreaterThan(3);
});

it.each(['session_id', 'oauth_token', 'api_key', 'secret', 'access_token', 'password', 'refresh_token', 'credentials'])(
  'a column %s would be found',
  (column) => {
    expect(suspects('tasks', ['id', column])).toEqual([column]);
  },
);
