import { splitText } from '../delivery.ts';
import { messagePartLengthMax } from '../limits.ts';
import { fieldsNamedMax, jsonParsedMax, summaryLengthMax } from './limits.ts';

/** A text that is too long to be read in a chat, as a file, and the words above it. */
export interface Summarized {
  readonly summary: string;
  readonly file: { readonly name: string; readonly mime: string; readonly text: string };
}

/** Null where the text fits into one message. */
export function summarized(text: string): Summarized | null {
  if (text.length <= messagePartLengthMax) return null;
  const size = sizeText(new TextEncoder().encode(text).byteLength);
  const shape = jsonShape(text);
  if (shape !== null) {
    const summary = `JSON, ${size}: ${shape}.\n\nAll of it is in the file.`;
    return { summary, file: { name: 'result.json', mime: 'application/json', text } };
  }
  return { summary: beginning(text, size), file: { name: 'result.txt', mime: 'text/plain', text } };
}

/** The first words of a text whose rest is in a file. */
export function beginning(text: string, size: string): string {
  const [head = ''] = splitText(text, summaryLengthMax);
  return `${head}\n…\n\nAll of it is in the file (${size}).`.trimStart();
}

/** A JSON text in a few words; null where it is none. */
function jsonShape(text: string): string | null {
  if (!/^\s*[[{]/.test(text) || text.length > jsonParsedMax) return null;
  try {
    return shapeOf(JSON.parse(text) as object);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

function shapeOf(value: object): string {
  if (Array.isArray(value)) return `a list of ${value.length} ${value.length === 1 ? 'item' : 'items'}`;
  const names = Object.keys(value);
  const shown = names.slice(0, fieldsNamedMax).map((name) => (name.length > 40 ? `${name.slice(0, 40)}…` : name));
  const more = names.length - shown.length;
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more fields` : ''}`;
}

const units = ['kB', 'MB'] as const;

/** A size as people read it, in steps of 1,024 as Telegram counts. */
export function sizeText(bytes: number): string {
  if (bytes < 1024) return `${bytes} ${bytes === 1 ? 'byte' : 'bytes'}`;
  const [size, unit] = bytes < 1_048_576 ? [bytes / 1024, units[0]] : [bytes / 1_048_576, units[1]];
  return `${size < 10 ? Number(size.toFixed(1)) : Math.round(size)} ${unit}`;
}
