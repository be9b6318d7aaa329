import { getTableColumns, type Column } from 'drizzle-orm';
import { sqliteTables } from '../tables/sqlite.ts';
import { joined, raw, sql, type Sql } from './sql.ts';

/** Columns of the tables, and what is computed of them, as parts of a statement that know the type of what they answer. */

export type Tables = typeof sqliteTables;
export type TableName = keyof Tables;
export type RowOf<N extends TableName> = Tables[N]['$inferSelect'];

export interface Field<T> {
  readonly sql: Sql;
  /** Makes what the row says of what the database gives. */
  readonly read: ((value: never) => T) | null;
  /** Only for the compiler. */
  readonly says?: T;
}

type FieldsOf<Row> = { readonly [K in keyof Row]: Field<Row[K]> };

/** The columns of a table under the names of the domain, written as columns of the alias. */
export function columnsOf<N extends TableName>(name: N, alias?: string): FieldsOf<RowOf<N>> {
  const named: Readonly<Record<string, Column>> = getTableColumns(sqliteTables[name]);
  return Object.fromEntries(
    Object.entries(named).map(([key, column]) => [
      key,
      { sql: raw(alias === undefined ? column.name : `${alias}.${column.name}`), read: null },
    ]),
  ) as FieldsOf<RowOf<N>>;
}

/** Columns of every table, where a statement needs no alias. */
export const columns = Object.fromEntries(
  Object.keys(sqliteTables).map((name) => [name, columnsOf(name as TableName)]),
) as { readonly [N in TableName]: FieldsOf<RowOf<N>> };

/** Answers of a statement, by name; those that belong together may stand in an object of their own. */
export interface Fields {
  readonly [name: string]: Field<unknown> | Together<unknown> | Fields;
}

/** Something that several columns say together: a part of an answer, or all of it. */
export interface Together<T> {
  readonly fields: Fields;
  readonly make: (row: never) => T;
}

/** Forms that an answer may have. */
export type Selectable = Fields | Together<unknown>;

export type Answer<F> =
  F extends Field<infer T> ? T : F extends Together<infer T> ? T : { -readonly [K in keyof F]: Answer<F[K]> };

/** Fields that are read as one value. Like `mapped`, it is made once, outside of a function. */
export function together<F extends Fields, T>(fields: F, make: (row: Answer<F>) => T): Together<T> {
  return { fields, make };
}

/** The same names of the same columns are the same object, so a selection of them is found by it. */
export function pick<F extends object, K extends keyof F & string>(from: F, ...names: readonly K[]): Pick<F, K> {
  const picked = picks.get(from) ?? new Map<string, object>();
  picks.set(from, picked);
  const key = names.join();
  const fields = picked.get(key) ?? Object.fromEntries(names.map((name) => [name, from[name]]));
  picked.set(key, fields);
  return fields as Pick<F, K>;
}

const picks = new WeakMap<object, Map<string, object>>();

/** A number that is computed; one of the engines tells sums as texts. */
export function number(computed: Sql): Field<number> {
  return { sql: computed, read: toNumber };
}

function toNumber(value: unknown): number {
  return Number(value ?? 0);
}

export function numberOrNull(computed: Sql): Field<number | null> {
  return { sql: computed, read: toNumberOrNull };
}

function toNumberOrNull(value: unknown): number | null {
  return value === null ? null : Number(value);
}

export const count = number(raw('count(*)'));

export function least(of: Field<number> | Field<number | null>): Field<number | null> {
  return numberOrNull(sql`min(${of.sql})`);
}

export function greatest(of: Field<number> | Field<number | null>): Field<number | null> {
  return numberOrNull(sql`max(${of.sql})`);
}

/** The type of the column, for an expression that gives back what stands in it. */
export function like<T>(_column: Field<T>, computed: Sql): Field<T> {
  return { sql: computed, read: null };
}

/** A column of a row that may not be there. */
export function maybe<T>({ sql: column, read }: Field<T>): Field<T | null> {
  return { sql: column, read: read === null ? null : (value: never) => (value === null ? null : read(value)) };
}

/** A field with its value made into something else; the reader names what it becomes. */
export function mapped<T, U>({ sql: column, read }: Field<T>, make: (value: T) => U): Field<U> {
  return { sql: column, read: (value: never) => make(read === null ? value : read(value)) };
}

/** The list of a select, and how its rows are read. */
export interface Selection<F> {
  readonly list: Sql;
  readonly select: Sql;
  /** Null where a row is the answer as it comes. */
  readonly read: ((row: Row) => Answer<F>) | null;
}

type Row = Readonly<Record<string, unknown>>;

const known = new WeakMap<object, unknown>();
const alike = new Map<string, unknown>();
/** Far more than there are in the sources: beyond it, somebody makes one anew for each call, which would never end. */
const selectionsMax = 2000;

/** Fields that are written down where they are asked for are a new object each time, and the same selection all the same. */
export function selectionOf<F extends Selectable>(fields: F): Selection<F> {
  const found = known.get(fields);
  if (found !== undefined) return found as Selection<F>;
  const flat = flattened(isTogether(fields) ? fields.fields : fields, '');
  const key = flat.map(({ name, field }) => `${name} ${idOf(field.sql.shape)} ${idOf(field.read)}`).join();
  const named = isTogether(fields) ? `${key} ${idOf(fields.make)}` : key;
  const selection = alike.get(named) ?? made(fields, flat);
  alike.set(named, selection);
  known.set(fields, selection);
  if (alike.size > selectionsMax) throw new Error('a selection with a reader of its own is made anew for each call');
  return selection as Selection<F>;
}

const ids = new WeakMap<object, number>();
let lastId = 0;

function idOf(value: object | null): number {
  if (value === null) return 0;
  const id = ids.get(value) ?? (lastId += 1);
  ids.set(value, id);
  return id;
}

interface Flat {
  /** The names on the way to it, with dots between them. */
  readonly name: string;
  readonly field: Field<unknown>;
}

function isField(value: Fields[string]): value is Field<unknown> {
  return 'sql' in value && 'read' in value;
}

function isTogether(value: Fields | Together<unknown>): value is Together<unknown> {
  return typeof value.make === 'function';
}

function flattened(fields: Fields, within: string): Flat[] {
  return Object.entries(fields).flatMap(([name, value]) => {
    if (isField(value)) return [{ name: `${within}${name}`, field: value }];
    return flattened(isTogether(value) ? value.fields : value, `${within}${name}.`);
  });
}

const comma = raw(', ');

function made<F extends Selectable>(fields: F, flat: readonly Flat[]): Selection<F> {
  const list = joined(
    flat.map(({ name, field: { sql: column } }) => joined([column, raw(` as "${name}"`)])),
    comma,
  );
  if (list.values.length > 0) throw new Error('a selection takes no values');
  const isPlain = flat.every(({ name, field: { read } }) => read === null && !name.includes('.'));
  return {
    list,
    select: joined([raw('select '), list, raw(' ')]),
    read: readAs(fields, isPlain) as Selection<F>['read'],
  };
}

type Read = (row: Row) => unknown;

/** Objects made of plain columns are made of the row itself. */
function readAs(fields: Selectable, isPlain: boolean): Read | null {
  if (!isTogether(fields)) return isPlain ? null : readerOf(fields, '');
  const readAll = isPlain ? null : readerOf(fields.fields, '');
  return (row) => fields.make((readAll === null ? row : readAll(row)) as never);
}

function readerOf(fields: Fields, within: string): Read {
  const reads = Object.entries(fields).map(([name, value]): readonly [string, Read] => {
    const path = `${within}${name}`;
    if (isField(value)) {
      const { read } = value;
      return [name, read === null ? (row) => row[path] : (row) => read(row[path] as never)];
    }
    if (!isTogether(value)) return [name, readerOf(value, `${path}.`)];
    const readAll = readerOf(value.fields, `${path}.`);
    return [name, (row) => value.make(readAll(row) as never)];
  });
  return (row) => {
    const answer: Record<string, unknown> = {};
    for (const [name, read] of reads) answer[name] = read(row);
    return answer;
  };
}
