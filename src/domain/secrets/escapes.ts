/** Escapes as addresses, JSON and HTML write them: %41, \u0041, &#65;. Texts of strangers are read, so each byte costs the same. */

/** A text as it reads after some decoding, with the place in the text before any of it at which each byte began. */
export interface View {
  readonly bytes: Buffer;
  /** Null while nothing was decoded. */
  readonly at: Uint32Array | null;
}

const [percent, backslash, ampersand, hash, semicolon, capitalX] = [0x25, 0x5c, 0x26, 0x23, 0x3b, 0x58];
const [letterX, letterU] = [0x78, 0x75];

/** Null where nothing is escaped. */
export function decoded({ bytes, at }: View): View | null {
  if (![percent, backslash, ampersand].some((sign) => bytes.includes(sign))) return null;
  const next = Buffer.allocUnsafe(bytes.length);
  const places = new Uint32Array(bytes.length + 1);
  let [size, index] = [0, 0];
  while (index < bytes.length) {
    const place = at === null ? index : (at[index] ?? 0);
    const code = bytes[index] ?? 0;
    const read = code === percent || code === backslash || code === ampersand ? escapeAt(bytes, index, code) : 0;
    const from = size;
    if (read === 0) next[size++] = code;
    else size = writeSign(next, size, read >>> lengthBits);
    for (let each = from; each < size; each += 1) places[each] = place;
    index += read === 0 ? 1 : read & lengthMask;
  }
  if (size === bytes.length) return null;
  places[size] = at === null ? bytes.length : (at[bytes.length] ?? 0);
  return { bytes: next.subarray(0, size), at: places.subarray(0, size + 1) };
}

/** An escape is told as one number, since a text may hold many: how long it is, and before that what it stands for. */
const lengthBits = 4;
const lengthMask = 15;
/** Added to what is a byte, and no sign of Unicode. */
const byteMark = 0x20_00_00;
const signMax = 0x10_ff_ff;

function told(sign: number, length: number): number {
  return (sign << lengthBits) | length;
}

/** Zero where it is none. */
function escapeAt(bytes: Buffer, index: number, code: number): number {
  if (code === percent) return hexByte(bytes, index + 1, 3);
  const kind = bytes[index + 1] ?? 0;
  if (code === ampersand) return kind === hash ? numberedEntity(bytes, index) : namedEntity(bytes, index);
  if ((kind | 0x20) === letterX) return hexByte(bytes, index + 2, 4);
  if ((kind | 0x20) === letterU) return unitEscape(bytes, index);
  const short = shortEscapes[kind] ?? 0;
  return short === 0 ? 0 : told(short, 2);
}

function hexByte(bytes: Buffer, index: number, length: number): number {
  const value = hexAt(bytes, index, 2);
  return value < 0 ? 0 : told(byteMark + value, length);
}

/** A sign of two units is read as one. */
function unitEscape(bytes: Buffer, index: number): number {
  const high = hexAt(bytes, index + 2, 4);
  if (high < 0) return 0;
  const isPair = high >>> 10 === 0x36 && bytes[index + 6] === backslash && ((bytes[index + 7] ?? 0) | 0x20) === letterU;
  const low = isPair ? hexAt(bytes, index + 8, 4) : -1;
  if (low >>> 10 !== 0x37) return told(high, 6);
  return told(0x1_00_00 + ((high & 0x3_ff) << 10) + (low & 0x3_ff), 12);
}

/** `&#65;` of up to six digits, and `&#x41;` of up to five. */
function numberedEntity(bytes: Buffer, index: number): number {
  const isHex = ((bytes[index + 2] ?? 0) | 0x20) === (capitalX | 0x20);
  const [base, digitsMax, first] = isHex ? [16, 5, index + 3] : [10, 6, index + 2];
  let [value, end] = [0, first];
  while (end - first < digitsMax) {
    const digit = digits[bytes[end] ?? 0] ?? -1;
    if (digit < 0 || digit >= base) break;
    value = value * base + digit;
    end += 1;
  }
  return end === first || bytes[end] !== semicolon ? 0 : told(value, end + 1 - index);
}

function namedEntity(bytes: Buffer, index: number): number {
  const named = entities[(bytes[index + 1] ?? 0) | 0x20];
  if (named === undefined) return 0;
  for (const { name, sign } of named) {
    let length = 1;
    while (length < name.length && ((bytes[index + 1 + length] ?? 0) | 0x20) === name[length]) length += 1;
    if (length === name.length && bytes[index + 1 + length] === semicolon) return told(sign, length + 2);
  }
  return 0;
}

/** By their first letter. */
const entities: { readonly name: Buffer; readonly sign: number }[][] = [];
for (const [name, sign] of Object.entries({ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }))
  (entities[name.charCodeAt(0)] ??= []).push({ name: Buffer.from(name), sign: sign.charCodeAt(0) });

/** The sign for which a letter behind a backslash stands; zero where that is no escape. */
const shortEscapes = new Uint8Array(256);
for (const sign of `"'\\/`) shortEscapes[sign.charCodeAt(0)] = sign.charCodeAt(0);
for (const [letter, sign] of Object.entries({ b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }))
  shortEscapes[letter.charCodeAt(0)] = sign.charCodeAt(0);

const digits = new Int8Array(256).fill(-1);
for (const digit of '0123456789abcdefABCDEF') digits[digit.charCodeAt(0)] = Number.parseInt(digit, 16);

/** Below zero where one of so many signs is no digit. */
function hexAt(bytes: Buffer, index: number, count: number): number {
  let value = 0;
  for (let each = index; each < index + count; each += 1) {
    const digit = digits[bytes[each] ?? 0] ?? -1;
    if (digit < 0) return -1;
    value = value * 16 + digit;
  }
  return value;
}

/** In UTF-8; half a sign is written as the one that stands for what cannot be read. Answers where the next one goes. */
function writeSign(into: Buffer, at: number, sign: number): number {
  if (sign >= byteMark || sign < 0x80) {
    into[at] = sign & 0xff;
    return at + 1;
  }
  const code = sign > signMax || sign >>> 11 === 0x1b ? 0xff_fd : sign;
  const more = code < 0x8_00 ? 1 : code < 0x1_00_00 ? 2 : 3;
  into[at] = ((0xf0 << (3 - more)) & 0xff) | (code >>> (6 * more));
  for (let each = 1; each <= more; each += 1) into[at + each] = 0x80 | ((code >>> (6 * (more - each))) & 0x3f);
  return at + more + 1;
}
