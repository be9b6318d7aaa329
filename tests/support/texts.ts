import type { Script } from '../../src/store/engine/engine.ts';
import { shapeOf, type Shape, type Value } from '../../src/store/engine/sql.ts';

const shapes = new Map<string, Shape>();

/** A statement past the store, as a text with `?t` and `?i` for what is bound. */
export function* rows<R extends object>(text: string, ...values: Value[]): Script<R[]> {
  const shape = shapes.get(text) ?? shapeOf(text.split(/(\?[ti]\b)/).map(pieceOf));
  shapes.set(text, shape);
  return yield { does: 'rows', sql: { shape, values } };
}

function pieceOf(part: string): Shape['pieces'][number] {
  if (part === '?t') return { holds: 'text' };
  return part === '?i' ? { holds: 'int' } : part;
}
