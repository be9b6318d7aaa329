import { getTableColumns, getTableName, type Column } from 'drizzle-orm';
import type { Offer } from '../../app/ports/hints.ts';
import { sqliteTables } from '../tables/sqlite.ts';
import type { Change, Insertion, Script } from './engine.ts';
import { selectionOf, type Answer, type Selectable, type RowOf, type Selection, type TableName } from './fields.ts';
import {
  begun,
  bytes,
  followed,
  int,
  joined,
  nothing,
  raw,
  sql,
  text,
  type Holds,
  type Part,
  type Shape,
  type Sql,
  type Tuple,
  type Value,
} from './sql.ts';

/** Requests of a script to its engine: typed by the tables, bound, and the same for both engines. */

/** A statement that answers rows of one kind. */
export interface Query<F> {
  readonly sql: Sql;
  readonly selection: Selection<F>;
}

/** `select(fields)` is a template for the rest of the statement, from its `from` on. */
export function select<F extends Selectable>(fields: F) {
  const selection = selectionOf(fields);
  return (strings: TemplateStringsArray, ...parts: readonly Part[]): Query<F> => ({
    sql: begun(selection.select, sql(strings, ...parts)),
    selection,
  });
}

/** For a statement that does not begin with its list, such as one with a `with`. */
export function selecting<F extends Selectable>(fields: F, statement: (list: Sql) => Sql): Query<F> {
  const selection = selectionOf(fields);
  return { sql: statement(selection.list), selection };
}

const answering = raw(' returning ');

/** Rows that a write has written. */
export function returning<F extends Selectable>(fields: F, statement: Sql): Query<F> {
  const selection = selectionOf(fields);
  return { sql: joined([statement, answering, selection.list]), selection };
}

export function* all<F extends Selectable>({ sql: statement, selection }: Query<F>): Script<Answer<F>[]> {
  const rows: Readonly<Record<string, unknown>>[] = yield { does: 'rows', sql: statement };
  // The list was made of the fields, so a row that needs no reading is what they say.
  return selection.read === null ? (rows as Answer<F>[]) : rows.map(selection.read);
}

export function* one<F extends Selectable>(query: Query<F>): Script<Answer<F> | undefined> {
  return (yield* all(query))[0];
}

export function* run(statement: Sql): Script<void> {
  yield { does: 'rows', sql: statement };
}

/** Takes row locks and nothing else, for an order of locks that all transactions keep. */
export function* hold(statement: Sql): Script<void> {
  yield { does: 'hold', sql: statement };
}

/** Says which rows are ready with this commit, for engines that hand them out as jobs. */
export function* offer(ready: Offer): Script<void> {
  yield { does: 'offer', offer: ready };
}

type Writable<Row> = { readonly [K in keyof Row]?: Row[K] | undefined };

/** Inserts the rows, which name the same columns, and answers whether each was new. The first column tells them apart. */
export function* insertAll<N extends TableName>(
  table: N,
  rows: readonly Writable<RowOf<N>>[],
  conflict: Sql = nothing,
): Script<boolean[]> {
  const [first] = rows;
  if (first === undefined) return [];
  const names = Object.keys(first);
  if (conflict.values.length > 0) throw new Error('what happens in a conflict is written out');
  const into = insertionOf(table, names, conflict.shape);
  const tuples = rows.map((row) => names.map((name) => valueOf(row, name)));
  return yield { does: 'insert', into, tuples };
}

export function* insert<N extends TableName>(
  table: N,
  row: Writable<RowOf<N>>,
  conflict: Sql = nothing,
): Script<boolean> {
  return (yield* insertAll(table, [row], conflict))[0] === true;
}

/** Inserts a row that nothing can stand in the way of, and answers what of it is asked for. */
export function* insertReturning<N extends TableName, F extends Selectable>(
  table: N,
  row: Writable<RowOf<N>>,
  fields: F,
  conflict: Sql = nothing,
): Script<Answer<F> | undefined> {
  const names = Object.keys(row);
  const list = names.map((name) => columnOf(table, name).name).join(', ');
  const values = names.map((name) => ({ shape: columnOf(table, name).place, values: [valueOf(row, name)] }));
  const into = raw(`insert into ${namesOf(table).table} (${list}) values (`);
  const statement = joined([into, joined(values, comma), closing, conflict]);
  return yield* one(returning(fields, statement));
}

const closing = raw(') ');
const comma = raw(', ');

function valueOf(row: object, name: string): Value {
  return ((row as Readonly<Record<string, Value | undefined>>)[name] ?? null) satisfies Value;
}

const insertions = new Map<string, Map<Shape, Insertion>>();

function insertionOf(table: TableName, names: readonly string[], conflict: Shape): Insertion {
  const key = `${table} ${names.join()}`;
  const alike = insertions.get(key) ?? new Map<Shape, Insertion>();
  insertions.set(key, alike);
  const known = alike.get(conflict);
  if (known !== undefined) return known;
  const made = { table: namesOf(table).table, columns: names.map((name) => columnOf(table, name)), conflict };
  alike.set(conflict, made);
  return made;
}

/** Values for a row: given, or computed of the row. A column that is undefined stays as it is. */
export type Settable<Row> = { readonly [K in keyof Row]?: Row[K] | Sql | undefined };

/** Answers whether a row took the change. */
export function* update<N extends TableName>(table: N, set: Settable<RowOf<N>>, where: Sql): Script<boolean> {
  const made = changeOf(table, set, where);
  const tuples = [valuesLike(made, set, where)];
  const took: readonly boolean[] = yield { does: 'update', change: made.change, tuples };
  return took[0] === true;
}

interface Changing<T, S> {
  readonly set: (item: T) => S;
  readonly where: (item: T) => Sql;
}

/** Changes one row for each of the items, in one statement where the engine can, and answers those that took it. */
export function* updateAll<N extends TableName, T, const S extends Settable<RowOf<N>>>(
  table: N,
  items: readonly T[],
  { set, where }: Changing<NoInfer<T>, S>,
): Script<T[]> {
  let first: Made | undefined;
  const tuples: Tuple[] = [];
  for (const item of items) {
    const [setting, condition] = [set(item), where(item)];
    first ??= changeOf(table, setting, condition);
    tuples.push(valuesLike(first, setting, condition));
  }
  if (first === undefined) return [];
  const took: readonly boolean[] = yield { does: 'update', change: first.change, tuples };
  return items.filter((_item, index) => took[index]);
}

/** Changes rows and answers what of them is asked for, as they are then. */
export function* updateReturning<N extends TableName, F extends Selectable>(
  table: N,
  set: Settable<RowOf<N>>,
  where: Sql,
  fields: F,
): Script<Answer<F>[]> {
  const values: Value[] = [];
  const setting = { shape: settingOf(table, set, values), values };
  const change = joined([namesOf(table).update, setting, whereWord, where]);
  return yield* all(returning(fields, change));
}

const whereWord = raw(' where ');

/** The list of what is set, put together column by column; its values are added to the others. */
function settingOf(table: TableName, set: object, values: Value[]): Shape {
  const { columns } = namesOf(table);
  let shape = nothing.shape;
  for (const [name, value] of Object.entries(set) as [string, Value | Sql | undefined][]) {
    if (value === undefined) continue;
    const column = columns.get(name);
    if (column === undefined) throw new Error(`${table} has no column ${name}`);
    shape = followed(shape, shape === nothing.shape ? column.becomes : column.thenBecomes);
    if (isComputed(value)) {
      values.push(...value.values);
      shape = followed(shape, value.shape);
    } else {
      values.push(value);
      shape = followed(shape, column.place);
    }
  }
  return shape;
}

interface Made {
  readonly change: Change;
  /** The columns that are set, each with the shape of what is computed for it; null where the value is given. */
  readonly columns: readonly (readonly [string, Shape | null])[];
}

const changes = new Map<TableName, Map<Shape, Map<Shape, Change>>>();

function changeOf(table: TableName, set: object, where: Sql): Made {
  const setting = settingOf(table, set, []);
  const change = changes.get(table)?.get(setting)?.get(where.shape) ?? keptChange(table, setting, where.shape);
  const given = Object.entries(set).filter(([, value]) => value !== undefined) as [string, Value | Sql][];
  return { change, columns: given.map(([name, value]) => [name, isComputed(value) ? value.shape : null]) };
}

function isComputed(value: Value | Sql | undefined): value is Sql {
  return typeof value === 'object' && value !== null && 'shape' in value;
}

/** The values of a change like one that was made: most of many rows take the same change, so only the first is put together. */
function valuesLike({ change, columns }: Made, set: object, where: Sql): Tuple {
  const values: Value[] = [];
  let place = 0;
  for (const name of Object.keys(set)) {
    const value = (set as Readonly<Record<string, Value | Sql | undefined>>)[name];
    if (value === undefined) continue;
    const column = columns[place];
    const shape = isComputed(value) ? value.shape : null;
    if (column?.[0] !== name || column[1] !== shape) throw new Error(`unlike changes of ${change.table}`);
    if (isComputed(value)) values.push(...value.values);
    else values.push(value);
    place += 1;
  }
  if (place !== columns.length || where.shape !== change.where) throw new Error(`unlike changes of ${change.table}`);
  values.push(...where.values);
  return values;
}

function keptChange(table: TableName, set: Shape, where: Shape): Change {
  const ofTable = changes.get(table) ?? new Map<Shape, Map<Shape, Change>>();
  const alike = ofTable.get(set) ?? new Map<Shape, Change>();
  const change = { table: namesOf(table).table, set, where };
  changes.set(table, ofTable.set(set, alike.set(where, change)));
  return change;
}

interface Named {
  readonly table: string;
  readonly update: Sql;
  readonly columns: ReadonlyMap<string, NamedColumn>;
}

interface NamedColumn {
  readonly name: string;
  readonly holds: Holds;
  /** `name = `, first in the list of what an update sets, and behind another one. */
  readonly becomes: Shape;
  readonly thenBecomes: Shape;
  readonly place: Shape;
}

const named = new Map<TableName, Named>();

/** How SQL calls a table and its columns. */
function namesOf(table: TableName): Named {
  const known = named.get(table);
  if (known !== undefined) return known;
  const columns: Readonly<Record<string, Column>> = getTableColumns(sqliteTables[table]);
  const name = getTableName(sqliteTables[table]);
  const made: Named = {
    table: name,
    update: raw(`update ${name} set `),
    columns: new Map(Object.entries(columns).map(([key, column]) => [key, namedColumn(column)])),
  };
  named.set(table, made);
  return made;
}

function namedColumn({ name, dataType }: Column): NamedColumn {
  const holds = dataType === 'number' ? 'int' : dataType === 'buffer' ? 'bytes' : 'text';
  const place = { int, text, bytes }[holds](null).shape;
  return { name, holds, place, becomes: raw(`${name} = `).shape, thenBecomes: raw(`, ${name} = `).shape };
}

function columnOf(table: TableName, name: string): NamedColumn {
  const column = namesOf(table).columns.get(name);
  if (column === undefined) throw new Error(`${table} has no column ${name}`);
  return column;
}
