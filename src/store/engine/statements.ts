import { getTableColumns, getTableName, type Column } from 'drizzle-orm';
import { sqliteTables } from '../tables/sqlite.ts';
import type { Change, Engine, Insertion, Script } from './engine.ts';
import { selectionOf, type Answer, type Fields, type RowOf, type Selection, type TableName } from './fields.ts';
import {
  int,
  joined,
  nothing,
  raw,
  sql,
  text,
  type Part,
  type Shape,
  type Sql,
  type Tuple,
  type Value,
} from './sql.ts';

/** What a script asks of its engine: typed by the tables, bound, and the same for both engines. */

/** A statement that answers rows of one kind. */
export interface Query<F> {
  readonly sql: Sql;
  readonly selection: Selection<F>;
}

/** `select(fields)` is a template for the rest of the statement, from its `from` on. */
export function select<F extends Fields>(fields: F) {
  const selection = selectionOf(fields);
  return (strings: TemplateStringsArray, ...parts: readonly Part[]): Query<F> => ({
    sql: joined([selection.select, sql(strings, ...parts)]),
    selection,
  });
}

/** For a statement that does not begin with its list, such as one with a `with`. */
export function selecting<F extends Fields>(fields: F, statement: (list: Sql) => Sql): Query<F> {
  const selection = selectionOf(fields);
  return { sql: statement(selection.list), selection };
}

const answering = raw(' returning ');

/** What a write has written. */
export function returning<F extends Fields>(fields: F, statement: Sql): Query<F> {
  const selection = selectionOf(fields);
  return { sql: joined([statement, answering, selection.list]), selection };
}

export function* all<F extends Fields>({ sql: statement, selection }: Query<F>): Script<Answer<F>[]> {
  const rows: Readonly<Record<string, unknown>>[] = yield { does: 'rows', sql: statement };
  // The list was made of the fields, so a row that needs no reading is what they say.
  return selection.read === null ? (rows as Answer<F>[]) : rows.map(selection.read);
}

export function* one<F extends Fields>(query: Query<F>): Script<Answer<F> | undefined> {
  return (yield* all(query))[0];
}

export function* run(statement: Sql): Script<void> {
  yield { does: 'rows', sql: statement };
}

/** Takes row locks and nothing else, for an order of locks that all transactions keep. */
export function* hold(statement: Sql): Script<void> {
  yield { does: 'hold', sql: statement };
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
export function* insertReturning<N extends TableName, F extends Fields>(
  table: N,
  row: Writable<RowOf<N>>,
  fields: F,
  conflict: Sql = nothing,
): Script<Answer<F> | undefined> {
  const names = Object.keys(row);
  const list = names.map((name) => columnOf(table, name).name).join(', ');
  const values = names.map((name) => placed(table, name, valueOf(row, name)));
  const statement = joined([
    raw(`insert into ${namesOf(table).table} (${list}) values (`),
    joined(values, comma),
    closing,
    conflict,
  ]);
  return yield* one(returning(fields, statement));
}

const closing = raw(') ');

function placed(table: TableName, name: string, value: Value): Sql {
  return columnOf(table, name).holds === 'int' ? int(value as number | null) : text(value as string | null);
}

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

/** What a row is to hold: a value, or what is computed of it. What is undefined stays as it is. */
type Settable<Row> = { readonly [K in keyof Row]?: Row[K] | Sql | undefined };

/** Answers whether a row took the change. */
export function* update<N extends TableName>(table: N, set: Settable<RowOf<N>>, where: Sql): Script<boolean> {
  const { change, values } = changeOf(table, set, where);
  const took: readonly boolean[] = yield { does: 'update', change, tuples: [values] };
  return took[0] === true;
}

interface Changing<T, S> {
  readonly set: (item: T) => S;
  readonly where: (item: T) => Sql;
}

/** Changes one row for each of the items, in one statement where the engine can, and answers which of them took it. */
export function* updateAll<N extends TableName, T, const S extends Settable<RowOf<N>>>(
  table: N,
  items: readonly T[],
  { set, where }: Changing<NoInfer<T>, S>,
): Script<boolean[]> {
  const changes = items.map((item) => changeOf(table, set(item), where(item)));
  const [first] = changes;
  if (first === undefined) return [];
  if (changes.some(({ change }) => change !== first.change)) throw new Error(`unlike changes of ${table}`);
  return yield { does: 'update', change: first.change, tuples: changes.map(({ values }) => values) };
}

/** Changes rows and answers what of them is asked for, as they are then. */
export function* updateReturning<N extends TableName, F extends Fields>(
  table: N,
  set: Settable<RowOf<N>>,
  where: Sql,
  fields: F,
): Script<Answer<F>[]> {
  const change = joined([raw(`update ${namesOf(table).table} set `), setOf(table, set), whereWord, where]);
  return yield* all(returning(fields, change));
}

const whereWord = raw(' where ');
const comma = raw(', ');

function setOf(table: TableName, set: object): Sql {
  const given = Object.entries(set).filter(([, value]) => value !== undefined);
  return joined(
    given.map(([name, value]: [string, Value | Sql]) => {
      const { becomes } = columnOf(table, name);
      if (typeof value === 'object' && value !== null) return joined([becomes, value]);
      return joined([becomes, placed(table, name, value)]);
    }),
    comma,
  );
}

interface Made {
  readonly change: Change;
  readonly values: Tuple;
}

const changes = new Map<TableName, Map<Shape, Map<Shape, Change>>>();

function changeOf(table: TableName, set: object, where: Sql): Made {
  const setting = setOf(table, set);
  const ofTable = changes.get(table) ?? new Map<Shape, Map<Shape, Change>>();
  changes.set(table, ofTable);
  const alike = ofTable.get(setting.shape) ?? new Map<Shape, Change>();
  ofTable.set(setting.shape, alike);
  const change = alike.get(where.shape) ?? {
    table: namesOf(table).table,
    set: setting.shape,
    where: where.shape,
  };
  alike.set(where.shape, change);
  return { change, values: [...setting.values, ...where.values] };
}

interface Named {
  readonly table: string;
  readonly columns: ReadonlyMap<string, NamedColumn>;
}

interface NamedColumn {
  readonly name: string;
  readonly holds: 'text' | 'int';
  /** `name = `, for the list of what an update sets. */
  readonly becomes: Sql;
}

const named = new Map<TableName, Named>();

/** How SQL calls a table and its columns. */
function namesOf(table: TableName): Named {
  const known = named.get(table);
  if (known !== undefined) return known;
  const columns: Readonly<Record<string, Column>> = getTableColumns(sqliteTables[table]);
  const made: Named = {
    table: getTableName(sqliteTables[table]),
    columns: new Map(
      Object.entries(columns).map(([key, { name, dataType }]) => [
        key,
        { name, holds: dataType === 'number' ? 'int' : 'text', becomes: raw(`${name} = `) },
      ]),
    ),
  };
  named.set(table, made);
  return made;
}

function columnOf(table: TableName, name: string): NamedColumn {
  const column = namesOf(table).columns.get(name);
  if (column === undefined) throw new Error(`${table} has no column ${name}`);
  return column;
}

type Scripts = Readonly<Record<string, (...args: never[]) => Script<unknown>>>;

type Bound<M> = {
  [K in keyof M]: M[K] extends (...args: infer A) => Script<infer T> ? (...args: A) => Promise<T> : never;
};

/** Scripts as the methods of a store, each call of one a transaction; or a read, where nothing is written. */
export function bind<M extends Scripts>(
  engine: Engine,
  scripts: M,
  by: 'transact' | 'read' | 'transactLightly' = 'transact',
): Bound<M> {
  const methods = Object.entries(scripts).map(([name, script]) => [
    name,
    (...args: never[]) => engine[by](() => script(...args)),
  ]);
  return Object.fromEntries(methods) as Bound<M>;
}
