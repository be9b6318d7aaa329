import { AppError } from '../../domain/errors.ts';

/** The lists that are read in pages. */
export type List = 'task' | 'slot' | 'run' | 'event' | 'audit' | 'grant';

/** A cursor names its list, so that one of another list is refused instead of answering nonsense. */
export function writeCursor(list: List, position: string | number): string {
  return Buffer.from(`${list}:${position}`).toString('base64url');
}

export function positionOf(list: List, cursor: string): string {
  const [of, position = ''] = Buffer.from(cursor, 'base64url').toString().split(/:(.*)/s);
  if (of === list && /^[\w:-]{1,80}$/.test(position) && writeCursor(list, position) === cursor) return position;
  throw foreignCursor();
}

/** The two whole numbers of a position, for lists whose order needs both. */
export function pairOf(list: List, cursor: string): readonly [number, number] {
  const found = /^(-?\d{1,16}):(\d{1,16})$/.exec(positionOf(list, cursor));
  if (found === null) throw foreignCursor();
  return [Number(found[1]), Number(found[2])];
}

export function foreignCursor(): AppError {
  return new AppError('invalid_cursor', 'This cursor was not made by this list; start again without one.');
}
