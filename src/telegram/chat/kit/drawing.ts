import type { Drawn } from '../../../domain/shown.ts';
import { keyboard, type Rows } from './press.ts';
import { fitted, type Rich } from './rich.ts';

/** A message that is ready: text that fits, and the buttons that are there. */
export function drawn(words: Rich | string, rows: Rows = []): Drawn {
  const { text: fitting, entities } = fitted(typeof words === 'string' ? { text: words, entities: [] } : words);
  // Half of a pair is no character, and the platform refuses the whole message for it.
  const text = fitting.replace(/\p{Surrogate}/gu, '\ufffd');
  const buttons = keyboard(rows);
  return {
    text,
    ...(entities.length === 0 ? {} : { entities }),
    ...(buttons.length === 0 ? {} : { buttons }),
  };
}
