/**
 * Statements. Their text stands where it is used; what it takes is bound, and what it answers is typed by the tables. A text
 * is put together once: afterwards a call costs a look along its template, and the engine finds what it has prepared by the
 * identity of its shape.
 */

export type Value = string | number | Uint8Array | null;
/** The kinds of values, as the places for them are written. */
export type Holds = 'text' | 'int' | 'bytes';
export type Tuple = readonly Value[];
export type Dialect = 'sqlite' | 'postgres';

/** A part of a text: as it stands, the place of a value, or what the dialects write differently. */
type Piece = string | { readonly holds: Holds } | Readonly<Record<Dialect, string>>;

/** All of a statement but its values. There is one for each text, however often it is asked for. */
export interface Shape {
  readonly pieces: readonly Piece[];
  /** Shapes that begin with this one, by what follows. */
  readonly after: Map<unknown, Shape>;
}

/** A statement or a part of one. */
export interface Sql {
  readonly shape: Shape;
  readonly values: readonly Value[];
}

export function shapeOf(pieces: readonly Piece[]): Shape {
  return { pieces, after: new Map() };
}

const empty = shapeOf([]);

/** The shape that follows when these pieces are added, each named by what tells it from all others. */
function extended(shape: Shape, name: unknown, pieces: () => readonly Piece[]): Shape {
  const known = shape.after.get(name);
  if (known !== undefined) return known;
  const made = shapeOf([...shape.pieces, ...pieces()]);
  shape.after.set(name, made);
  return made;
}

const text1 = shapeOf([{ holds: 'text' }]);
const int1 = shapeOf([{ holds: 'int' }]);
const bytes1 = shapeOf([{ holds: 'bytes' }]);

/** A value that may be null, whose type its place would not tell. */
export function text(value: string | null): Sql {
  return { shape: text1, values: [value] };
}

export function int(value: number | null): Sql {
  return { shape: int1, values: [value] };
}

export function bytes(value: Uint8Array | null): Sql {
  return { shape: bytes1, values: [value] };
}

export type Part = string | number | Sql;

/** A text with its values, or with other parts, where they belong. */
export function sql(strings: TemplateStringsArray, ...parts: readonly Part[]): Sql {
  let shape = extended(empty, strings, () => [strings[0] ?? '']);
  const values: Value[] = [];
  for (let index = 0; index < parts.length; index += 1) {
    const part = parts[index] ?? nothing;
    if (typeof part !== 'object') values.push(part);
    else for (const value of part.values) values.push(value);
    const added = typeof part === 'object' ? part.shape : typeof part === 'string' ? text1 : int1;
    // The template is the first name on the way, so what stands between its parts needs no name of its own.
    shape = shape.after.get(added) ?? extended(shape, added, () => [...added.pieces, strings[index + 1] ?? '']);
  }
  return { shape, values };
}

/** A text that the code itself has put together; nothing from outside may be in it. */
export function raw(written: string): Sql {
  return { shape: extended(empty, written, () => [written]), values: [] };
}

export const nothing = raw('');

/** One after the other. */
export function joined(parts: readonly Sql[], between: Sql = nothing): Sql {
  let shape = empty;
  const values: Value[] = [];
  for (const [index, part] of parts.entries()) {
    if (index > 0 && between !== nothing) shape = followed(shape, between.shape);
    shape = followed(shape, part.shape);
    values.push(...part.values);
  }
  return { shape, values };
}

/** A beginning that holds no values, and the rest. */
export function begun(beginning: Sql, rest: Sql): Sql {
  return { shape: followed(beginning.shape, rest.shape), values: rest.values };
}

export function followed(shape: Shape, next: Shape): Shape {
  return shape.after.get(next) ?? extended(shape, next, () => next.pieces);
}

const and = raw(' and ');

/** All of what is asked for; what is undefined is not asked for. */
export function allOf(...conditions: readonly (Sql | undefined)[]): Sql {
  const given = conditions.filter((one) => one !== undefined);
  return given.length === 0 ? raw('1 = 1') : joined(given, and);
}

/** SQL that the dialects write differently. */
export function differing(pieces: Readonly<Record<Dialect, string>>): Sql {
  return { shape: extended(empty, `${pieces.sqlite} or ${pieces.postgres}`, () => [pieces]), values: [] };
}

/** Row locks. Without them the transaction itself excludes every other writer. */
function locking(how: string): Sql {
  return differing({ sqlite: '', postgres: how });
}

export const forUpdate = locking('for update');
export const skipLocked = (of: string) => locking(`for update of ${of} skip locked`);
export const forUpdateSkipLocked = locking('for update skip locked');
export const forUpdateOf = (of: string) => locking(`for update of ${of}`);
/** The key stays as it is, so rows that refer to it can be written meanwhile. */
export const forShare = (of?: string) => locking(`for no key update${of === undefined ? '' : ` of ${of}`}`);

export function limit(rows: number): Sql {
  return sql`limit ${rows}`;
}

/** Lists come in few lengths, filled up with what matches nothing, so that few statements have to be prepared. */
const lengths = [2, 16, 64, 128, 256, 1024];

export function list(values: readonly string[]): Sql {
  const distinct = [...new Set(values)];
  const length = lengths.find((size) => size >= distinct.length) ?? distinct.length;
  const shape = extended(empty, `list ${length}`, () => [
    '(',
    ...Array.from({ length }, (_one, index): Piece[] => [...(index === 0 ? [] : [', ']), { holds: 'text' }]).flat(),
    ')',
  ]);
  return { shape, values: [...distinct, ...Array.from({ length: length - distinct.length }, () => '')] };
}

/** The text of a shape. `place` writes the place of a value, whose number counts from one. */
export function written({ pieces }: Shape, dialect: Dialect, place: (kind: Holds, number: number) => string): string {
  let number = 0;
  return pieces
    .map((piece) => {
      if (typeof piece === 'string') return piece;
      return 'holds' in piece ? place(piece.holds, (number += 1)) : piece[dialect];
    })
    .join('');
}

export function placesIn({ pieces }: Shape): readonly Holds[] {
  return pieces.flatMap((piece) => (typeof piece === 'object' && 'holds' in piece ? [piece.holds] : []));
}
