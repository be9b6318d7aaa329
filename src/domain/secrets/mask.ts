import { decoded, type View } from './escapes.ts';
import { searchFor, type Needle } from './needles.ts';
import { secretBytesMin } from './secret.ts';

/**
 * Masking is the last line of defence: what a target sends back, or a fault repeats, may hold a secret that was sent to it. The
 * value is found as it stands, within base64 and hex, and as addresses, JSON and HTML write it, also one within the other.
 */

/** The sign in the place of a value. */
const maskWord = '[secret]';

/** How often what was found is decoded once more: JSON within JSON within an address. */
const levels = 3;

/** Of a value of several lines, such as a key, each line is looked for as well: targets repeat lines. */
const lineLengthMin = 8;

/** Puts `[secret]` in the place of each value in a text. */
export function masker(values: readonly string[]): (text: string) => string {
  const mask = byteMasker(values);
  return (text) => {
    const bytes = Buffer.from(text);
    const masked = mask(bytes);
    return masked === bytes ? text : masked.toString();
  };
}

/** The same for bytes; those that hold no value come back as they are. */
export function byteMasker(values: readonly string[]): (bytes: Buffer) => Buffer {
  const needles = [...new Set(values.flatMap(withLines))].filter(isLongEnough).flatMap(needlesOf);
  if (needles.length === 0) return (bytes) => bytes;
  const search = searchFor(needles);
  return (bytes) => {
    const spans: Span[] = [];
    let view: View | null = { bytes, at: null };
    for (let level = 0; view !== null && level <= levels; level += 1) {
      const here = view;
      search(here.bytes, (from, to) => note(here, [from, to], spans));
      view = decoded(here);
    }
    return spans.length === 0 ? bytes : without(bytes, spans);
  };
}

function withLines(value: string): readonly string[] {
  const lines = value.split(/[\r\n]+/);
  // The first and the last line of a key in PEM stand in every key.
  return [value, ...lines.filter((line) => line.length >= lineLengthMin && !line.startsWith('-----'))];
}

function isLongEnough(value: string): boolean {
  return Buffer.byteLength(value) >= secretBytesMin;
}

function needlesOf(value: string): readonly Needle[] {
  const plain = Buffer.from(value);
  const hex = plain.toString('hex');
  // A value with escapes of its own is decoded with the text around it.
  const once = decoded({ bytes: plain, at: null })?.bytes ?? plain;
  const twice = decoded({ bytes: once, at: null })?.bytes ?? once;
  const whole = [plain, once, twice].flatMap((bytes) => [bytes.toString(), bytes.toString().replaceAll(' ', '+')]);
  return [
    ...[...new Set([...whole, hex, hex.toUpperCase()])].filter(isLongEnough).map((text) => needle(text)),
    ...[0, 1, 2].flatMap((offset) => base64Needles(plain, offset)),
  ];
}

function needle(text: string, before: 0 | 1 = 0, after: 0 | 1 = 0): Needle {
  return { bytes: Buffer.from(text), before, after };
}

/** The characters that the value alone decides when `offset` bytes of something else stand before it. */
function base64Needles(plain: Buffer, offset: number): readonly Needle[] {
  const bits = (offset + plain.length) * 8;
  const first = Math.ceil((offset * 8) / 6);
  const text = Buffer.concat([Buffer.alloc(offset), plain])
    .toString('base64')
    .slice(first, Math.floor(bits / 6));
  const [before, after] = [offset > 0 ? 1 : 0, bits % 6 > 0 ? 1 : 0] as const;
  const forUrls = text.replaceAll('+', '-').replaceAll('/', '_');
  return [...new Set([text, forUrls])].map((form) => needle(form, before, after));
}

interface Span {
  readonly from: number;
  to: number;
}

/** Notes what was found; what touches the span before makes it longer, so that a text of one value alone is one span. */
function note(view: View, [begin, end]: readonly [number, number], spans: Span[]): void {
  const [from, to] = [view.at?.[begin] ?? begin, view.at?.[end] ?? end];
  const last = spans.at(-1);
  if (last !== undefined && from >= last.from && from <= last.to) last.to = Math.max(last.to, to);
  else spans.push({ from: view.at === null ? from - slashBefore(view.bytes, from) : from, to });
}

/** A value that begins within an escape takes the beginning of it along, so that JSON stays JSON. */
function slashBefore(bytes: Buffer, index: number): 0 | 1 {
  let slashes = 0;
  while (bytes[index - 1 - slashes] === 0x5c) slashes += 1;
  return slashes % 2 === 1 ? 1 : 0;
}

const word = Buffer.from(maskWord);

function without(bytes: Buffer, spans: readonly Span[]): Buffer {
  const kept = Buffer.allocUnsafe(bytes.length + spans.length * word.length);
  let [size, end] = [0, -1];
  for (const { from, to } of spans.toSorted((a, b) => a.from - b.from)) {
    if (from > end) {
      size += bytes.copy(kept, size, Math.max(end, 0), from);
      size += word.copy(kept, size);
    }
    end = Math.max(end, to);
  }
  size += bytes.copy(kept, size, end);
  return kept.subarray(0, size);
}
