import { secretBytesMin } from './secret.ts';

/**
 * Masking is the last line of defence: what a target sends back, or a fault repeats, may hold a secret that was sent to it. The
 * value is found as it stands, within base64 and hex, and as addresses, JSON and HTML write it, also one within the other.
 */

/** What stands in the place of a value. */
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
  return (bytes) => {
    const spans: Span[] = [];
    let view: View | null = { bytes, at: null };
    for (let level = 0; view !== null && level <= levels; level += 1) {
      for (const needle of needles) find(needle, view, spans);
      view = decoded(view);
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

interface Needle {
  readonly bytes: Buffer;
  /** Characters beside it that hold bits of the value and bits of its neighbours. */
  readonly before: 0 | 1;
  readonly after: 0 | 1;
}

function needlesOf(value: string): readonly Needle[] {
  const plain = Buffer.from(value);
  const hex = plain.toString('hex');
  // A value with escapes of its own is decoded with the text around it.
  const once = decoded({ bytes: plain, at: null })?.bytes ?? plain;
  const twice = decoded({ bytes: once, at: null })?.bytes ?? once;
  const whole = [plain, once, twice].flatMap((bytes) => [bytes.toString(), bytes.toString().replaceAll(' ', '+')]);
  return [
    ...[...new Set([...whole, hex, hex.toUpperCase()])].map((text) => needle(text)),
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

/** A text as it reads after some decoding, with the place in the text before any of it at which each byte began. */
interface View {
  readonly bytes: Buffer;
  /** Null while nothing was decoded. */
  readonly at: Uint32Array | null;
}

interface Span {
  readonly from: number;
  readonly to: number;
}

function find({ bytes, before, after }: Needle, view: View, spans: Span[]): void {
  const origin = (index: number) => (view.at === null ? index - slashBefore(view.bytes, index) : (view.at[index] ?? 0));
  for (let from = view.bytes.indexOf(bytes); from !== -1; from = view.bytes.indexOf(bytes, from + 1)) {
    const to = Math.min(view.bytes.length, from + bytes.length + after);
    spans.push({ from: origin(Math.max(0, from - before)), to: view.at?.[to] ?? to });
  }
}

/** A value that begins within an escape takes the beginning of it along, so that JSON stays JSON. */
function slashBefore(bytes: Buffer, index: number): 0 | 1 {
  let slashes = 0;
  while (bytes[index - 1 - slashes] === 0x5c) slashes += 1;
  return slashes % 2 === 1 ? 1 : 0;
}

function without(bytes: Buffer, spans: readonly Span[]): Buffer {
  const word = Buffer.from(maskWord);
  const kept: Buffer[] = [];
  let end = -1;
  for (const { from, to } of spans.toSorted((a, b) => a.from - b.from)) {
    if (from > end) kept.push(bytes.subarray(Math.max(end, 0), from), word);
    end = Math.max(end, to);
  }
  return Buffer.concat([...kept, bytes.subarray(end)]);
}

/** Null where nothing is escaped. */
function decoded({ bytes, at }: View): View | null {
  if (!escapes.some((escape) => bytes.includes(escape))) return null;
  const next = Buffer.alloc(bytes.length);
  const places = new Uint32Array(bytes.length + 1);
  let [size, index] = [0, 0];
  while (index < bytes.length) {
    const place = at === null ? index : (at[index] ?? 0);
    const code = bytes[index] ?? 0;
    const read = escapes.includes(code) ? escapeAt(bytes, index) : null;
    const from = size;
    if (read === null) next[size++] = code;
    else size += read.bytes.copy(next, size);
    places.fill(place, from, size);
    index += read?.length ?? 1;
  }
  places[size] = at === null ? bytes.length : (at[bytes.length] ?? 0);
  return { bytes: next.subarray(0, size), at: places.subarray(0, size + 1) };
}

/** The signs that begin an escape: %41 of addresses, \u0041 of JSON, &#65; of HTML. */
const escapes = [0x25, 0x5c, 0x26];

interface Escape {
  readonly bytes: Buffer;
  readonly length: number;
}

const shortEscapes: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };
const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** The longest is `\ud83d\ude00`, a sign of two units. */
const escapeLengthMax = 12;

/** How each kind of escape is read: what it looks like at its beginning, and the text for which it stands. */
const readers: readonly (readonly [RegExp, (group: string) => string | Buffer])[] = [
  [/^(?:%|\\x)([\da-f]{2})/i, (hex) => Buffer.from(hex, 'hex')],
  [/^\\u([\da-f]{4}(?:(?<=d[89ab]..)\\ud[c-f][\da-f]{2})?)/i, (units) => String.fromCharCode(...unitsIn(units))],
  [/^\\(["'\\/bfnrt])/, (letter) => shortEscapes[letter] ?? letter],
  [/^&(amp|lt|gt|quot|apos);/i, (name) => entities[name.toLowerCase()] ?? ''],
  [/^&#(\d{1,6});/, (digits) => String.fromCodePoint(Number(digits))],
  [/^&#x([\da-f]{1,5});/i, (hex) => String.fromCodePoint(Number.parseInt(hex, 16))],
];

function unitsIn(text: string): readonly number[] {
  return text.split(/\\u/i).map((hex) => Number.parseInt(hex, 16));
}

function escapeAt(bytes: Buffer, index: number): Escape | null {
  const text = bytes.toString('latin1', index, index + escapeLengthMax);
  for (const [form, read] of readers) {
    const [written, group = ''] = form.exec(text) ?? [];
    if (written !== undefined) return { bytes: Buffer.from(read(group)), length: written.length };
  }
  return null;
}
