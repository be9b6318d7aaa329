import { charactersOf, isHighSurrogate } from '../../../domain/delivery.ts';
import { messagePartLengthMax } from '../../../domain/limits.ts';
import type { Entity, Drawn } from '../../../domain/shown.ts';
import { keyboard, type Rows } from './press.ts';

/** Text with its formatting beside it. What people wrote is always literal, because nothing in it is ever parsed. */
export interface Rich {
  readonly text: string;
  readonly entities: readonly Entity[];
}

type Part = string | number | Rich;

function richOf(part: Part): Rich {
  return typeof part === 'object' ? part : { text: String(part), entities: [] };
}

function joined(parts: readonly Part[]): Rich {
  let text = '';
  const entities: Entity[] = [];
  for (const part of parts) {
    const { text: more, entities: inside } = richOf(part);
    for (const entity of inside) entities.push({ ...entity, offset: entity.offset + text.length });
    text += more;
  }
  return { text, entities };
}

/** A template whose values keep their formatting: say`Paused ${bold(title)}.` */
export function say(words: TemplateStringsArray, ...values: readonly Part[]): Rich {
  return joined(words.flatMap((word, index) => (index < values.length ? [word, values[index] ?? ''] : [word])));
}

/** One line for each that is there; null leaves no gap. */
export function lines(...rows: readonly (Part | null)[]): Rich {
  return between('\n', rows);
}

/** Paragraphs: lines with an empty one between. */
export function blocks(...rows: readonly (Part | null)[]): Rich {
  return between('\n\n', rows);
}

function between(separator: string, rows: readonly (Part | null)[]): Rich {
  const present = rows.filter((row) => row !== null);
  return joined(present.flatMap((row, index) => (index === 0 ? [row] : [separator, row])));
}

function whole(type: Entity['type'], text: string, more: Partial<Entity> = {}): Rich {
  // An entity without characters is refused by Telegram.
  return { text, entities: text === '' ? [] : [{ type, offset: 0, length: text.length, ...more }] };
}

export const bold = (text: string): Rich => whole('bold', text);
export const italic = (text: string): Rich => whole('italic', text);
/** Literal, and copied by one tap. */
export const code = (text: string): Rich => whole('code', text);
export const pre = (text: string): Rich => whole('pre', text);
export const quote = (text: string): Rich => whole('blockquote', text);
export const link = (text: string, url: string): Rich => whole('text_link', text, { url });

/** One grapheme of more units than this is noise rather than text. */
const graphemeMax = 64;

/** The beginning of a text, with a sign that there is more; no emoji is torn. */
export function shortened(text: string, max: number): string {
  if (text.length <= max) return text;
  let end = 0;
  for (const { index, segment } of charactersOf(text.slice(0, max + graphemeMax))) {
    if (index + segment.length > max - 1) break;
    end = index + segment.length;
  }
  if (end === 0) end = isHighSurrogate(text, max - 2) ? max - 2 : max - 1;
  return `${text.slice(0, end).trimEnd()}…`;
}

/** Signs that turn the direction of what follows: within a line of ours they would turn our words too. */
const turning = /[\u202A-\u202E\u2066-\u2069]/gu;

/** One line whatever was written, short enough for a list. */
export function oneLine(text: string, max: number): string {
  return shortened(text.replace(turning, '').replace(/\s+/gu, ' ').trim(), max);
}

const cutSign = '\n[cut: the rest does not fit into one message]';

/** As much as one message can hold; a cut is said. */
function fitted(rich: Rich): Rich {
  if (rich.text.length <= messagePartLengthMax) return rich;
  const text = shortened(rich.text, messagePartLengthMax - cutSign.length);
  const entities = rich.entities
    .map((entity) => ({ ...entity, length: Math.min(entity.length, text.length - entity.offset) }))
    .filter(({ length }) => length > 0);
  return { text: text + cutSign, entities };
}

/** A message that is ready: text that fits, and the buttons that are there. */
export function drawn(words: Rich | string, rows: Rows = []): Drawn {
  const { text: fitting, entities } = fitted(typeof words === 'string' ? { text: words, entities: [] } : words);
  // Half of a pair is no character, and Telegram refuses the whole message for it.
  const text = fitting.replace(/\p{Surrogate}/gu, '\ufffd');
  const buttons = keyboard(rows);
  return {
    text,
    ...(entities.length === 0 ? {} : { entities }),
    ...(buttons.length === 0 ? {} : { buttons }),
  };
}
