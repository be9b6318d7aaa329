import { editDistance } from '../../../domain/when/spelling.ts';

/** The most letters that may be wrong in a word that is still recognised. */
const distanceMax = 2;

/** The name that was probably meant: misspelt, or only begun. Null when none is near. */
export function nearest(word: string, names: readonly string[]): string | null {
  const misspelt = misspeltOf(word, names);
  if (misspelt !== null) return misspelt;
  const [begun, ...others] = names.filter((name) => word.length >= 2 && name.startsWith(word));
  return begun !== undefined && others.length === 0 ? begun : null;
}

/** The name from which the word is a few letters away; null when none is that near. */
export function misspeltOf(word: string, names: readonly string[]): string | null {
  const known = names.map((name) => ({ name, distance: editDistance(word, name) }));
  const [best] = known.toSorted((a, b) => a.distance - b.distance);
  if (best === undefined) return null;
  const allowed = Math.min(distanceMax, Math.floor(best.name.length / 2));
  return best.distance <= allowed ? best.name : null;
}

/** Another word for a command; `isDone` where doing it at once takes nothing away from anybody. */
interface Synonym {
  readonly name: string;
  readonly isDone?: true;
}

const synonyms: ReadonlyMap<string, Synonym> = new Map<string, Synonym>([
  ['explain', { name: 'why', isDone: true }],
  ['list', { name: 'tasks', isDone: true }],
  ['remind', { name: 'new', isDone: true }],
  ['restore', { name: 'undo' }],
  ['unskip', { name: 'undo' }],
  ['quiet', { name: 'settings' }],
  ['stop', { name: 'pause' }],
  ['done', { name: 'done' }],
]);

export function synonymOf(word: string): Synonym | null {
  return synonyms.get(word) ?? null;
}
