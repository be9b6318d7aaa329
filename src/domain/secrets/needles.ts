import { secretBytesMin } from './secret.ts';

/**
 * Looks for many values in a text, in time that grows with the text alone, whatever the values and the text are made of: a text of one
 * letter holds the beginning of a key of that letter everywhere. So no stretch is compared byte by byte. Hashes of all beginnings of the
 * text tell in a few steps how much of a value stands at a place: two of 32 bits together, which are taken for certain.
 */

export interface Needle {
  /** At least as long as the shortest secret. */
  readonly bytes: Buffer;
  /** Characters beside it that hold bits of the value and bits of its neighbours. */
  readonly before: 0 | 1;
  readonly after: 0 | 1;
}

/** Calls `found` for each stretch of the text that values cover. */
export type Search = (bytes: Buffer, found: (from: number, to: number) => void) => void;

export function searchFor(needles: readonly Needle[]): Search {
  const known = byBeginning(needles);
  const { groups } = known;
  return (bytes, found) => {
    let hashes: Hashes | null = null;
    let [beginning, from, covered] = [0, -1, 0];
    for (let end = 0; end < bytes.length; end += 1) {
      beginning = (beginning << 8) | (bytes[end] ?? 0);
      const index = end + 1 - secretBytesMin;
      const group = groups[slotOf(known, beginning)];
      if (group === undefined || index < 0 || covered - index >= group.longest) continue;
      hashes ??= hashesOf(bytes);
      const least = covered - index + 1 - group.after;
      const needle = longestAt((group.ladder ??= ladderOf(group.needles)), hashes, index, least);
      if (needle === null || index + needle.reach <= covered) continue;
      // A stretch that touches the one before makes that longer.
      const begin = Math.max(0, index - needle.before);
      if (from === -1 || begin > covered) {
        if (from !== -1) found(from, covered);
        from = begin;
      }
      covered = Math.min(bytes.length, index + needle.reach);
    }
    if (from !== -1) found(from, covered);
  };
}

/** Needles that begin alike. */
interface Group {
  readonly needles: readonly Needle[];
  /** How far the longest of them reaches. */
  readonly longest: number;
  readonly after: number;
  /** Made when a text holds their beginning, as few do. */
  ladder: Ladder | null;
}

/** Groups and their beginnings, from 1 on, and a table of them so sparse that most places of a text are asked about once. */
interface Groups {
  readonly groups: readonly (Group | undefined)[];
  readonly beginnings: Int32Array;
  readonly slots: Uint16Array;
  readonly shift: number;
}

const spreading = 0x9e_37_79_b1;

function byBeginning(needles: readonly Needle[]): Groups {
  const alike = new Map<number, Needle[]>();
  for (const needle of needles) {
    const beginning = needle.bytes.readInt32BE(0);
    const known = alike.get(beginning);
    if (known === undefined) alike.set(beginning, [needle]);
    else known.push(needle);
  }
  const groups = [...alike.values()].map((each): Group => {
    const longest = Math.max(...each.map(({ bytes, after }) => bytes.length + after));
    return { needles: each, longest, after: Math.max(...each.map(({ after }) => after)), ladder: null };
  });
  const bits = bitsFor(groups.length * 16);
  const [beginnings, slots] = [Int32Array.of(0, ...alike.keys()), new Uint16Array(1 << bits)];
  for (let group = 1; group < beginnings.length; group += 1) {
    let place = Math.imul(beginnings[group] ?? 0, spreading) >>> (32 - bits);
    while (slots[place] !== 0) place = (place + 1) & (slots.length - 1);
    slots[place] = group;
  }
  return { groups: [undefined, ...groups], beginnings, slots, shift: 32 - bits };
}

/** 0 where nothing begins like that. */
function slotOf({ beginnings, slots, shift }: Groups, beginning: number): number {
  let place = Math.imul(beginning, spreading) >>> shift;
  let slot = slots[place] ?? 0;
  while (slot !== 0 && beginnings[slot] !== beginning) {
    place = (place + 1) & (slots.length - 1);
    slot = slots[place] ?? 0;
  }
  return slot;
}

function bitsFor(count: number): number {
  return Math.max(8, Math.ceil(Math.log2(count + 1)));
}

/** Of the first bytes of a text, by their count. */
interface Hashes {
  readonly one: Int32Array;
  readonly two: Int32Array;
}

const [factorOne, factorTwo] = [0x01_00_01_93, 0x5b_d1_e9_95];

function hashesOf(bytes: Buffer): Hashes {
  const size = bytes.length;
  const [one, two] = [new Int32Array(size + 1), new Int32Array(size + 1)];
  let [first, second] = [0, 0];
  for (let index = 0; index < size; index += 1) {
    const code = (bytes[index] ?? 0) + 1;
    first = (Math.imul(first, factorOne) + code) | 0;
    second = (Math.imul(second, factorTwo) + code) | 0;
    one[index + 1] = first;
    two[index + 1] = second;
  }
  return { one, two };
}

function power(factor: number, exponent: number): number {
  let result = 1;
  for (let [square, left] = [factor, exponent]; left > 0; left >>>= 1, square = Math.imul(square, square))
    if ((left & 1) === 1) result = Math.imul(result, square);
  return result;
}

interface Found {
  readonly before: 0 | 1;
  /** The length of the needle, with what is after it. */
  readonly reach: number;
}

/** The lengths of needles that begin alike, shortest first, and what a text holds that agrees with one of them so far. */
interface Ladder {
  readonly lengths: Int32Array;
  readonly powersOne: Int32Array;
  readonly powersTwo: Int32Array;
  /** Beginnings of needles that are as long as one of the lengths, by their hashes; places in `found`, 0 for none. */
  readonly keysOne: Int32Array;
  readonly keysTwo: Int32Array;
  readonly places: Int32Array;
  readonly shift: number;
  readonly found: (Found | null)[];
}

function ladderOf(needles: readonly Needle[]): Ladder {
  const lengths = Int32Array.from(new Set(needles.map(({ bytes }) => bytes.length))).toSorted();
  const bits = bitsFor(needles.length * lengths.length * 2);
  const size = 1 << bits;
  const ladder: Ladder = {
    lengths,
    powersOne: lengths.map((length) => power(factorOne, length)),
    powersTwo: lengths.map((length) => power(factorTwo, length)),
    keysOne: new Int32Array(size),
    keysTwo: new Int32Array(size),
    places: new Int32Array(size),
    shift: 32 - bits,
    found: [null],
  };
  // Shorter ones first: a beginning of a longer one holds the longest of them that it begins with.
  const hashed = needles.map((needle) => ({ ...needle, hashes: hashesOf(needle.bytes) }));
  const whole = new Map<string, Found>();
  for (const { bytes, before, after, hashes } of hashed) {
    const name = nameAt(hashes, bytes.length);
    const alike = whole.get(name);
    const reach = Math.max(alike?.reach ?? 0, bytes.length + after);
    whole.set(name, { reach, before: alike?.before === 1 ? 1 : before });
  }
  for (const { bytes, hashes } of hashed) {
    let longest: Found | null = null;
    for (const length of lengths) {
      if (length > bytes.length) break;
      longest = longerOf(longest, whole.get(nameAt(hashes, length)));
      keep(ladder, [hashes.one[length] ?? 0, hashes.two[length] ?? 0], longest);
    }
  }
  return ladder;
}

function nameAt({ one, two }: Hashes, length: number): string {
  return `${one[length]} ${two[length]} ${length}`;
}

/** A shorter needle reaches no farther behind itself, but may reach farther before itself. */
function longerOf(shorter: Found | null, longer: Found | undefined): Found | null {
  if (longer === undefined || shorter?.before !== 1) return longer ?? shorter;
  return { ...longer, before: 1 };
}

function keep(ladder: Ladder, [one, two]: readonly [number, number], what: Found | null): void {
  const place = placeOf(ladder, one, two);
  ladder.keysOne[place] = one;
  ladder.keysTwo[place] = two;
  ladder.places[place] = ladder.found.push(what) - 1;
}

function placeOf({ keysOne, keysTwo, places, shift }: Ladder, one: number, two: number): number {
  const last = places.length - 1;
  let place = Math.imul(one ^ two, spreading) >>> shift;
  while (places[place] !== 0 && (keysOne[place] !== one || keysTwo[place] !== two)) place = (place + 1) & last;
  return place;
}

/**
 * The longest needle at a place of the text that is not shorter than what is of interest. A text that disagrees with all needles by some
 * length agrees with none that is longer, so the lengths are climbed in growing steps, and the last step is halved.
 */
function longestAt(ladder: Ladder, { one, two }: Hashes, index: number, least: number): Found | null {
  const { lengths, powersOne, powersTwo, places, found } = ladder;
  let agreed = below(lengths, least);
  let failed = lengths.length;
  let step = 1;
  let longest: Found | null = null;
  while (agreed + 1 < failed) {
    const next = failed === lengths.length && agreed + step < failed ? agreed + step : (agreed + failed) >> 1;
    const end = index + (lengths[next] ?? 0);
    let place = 0;
    if (end < one.length) {
      const first = ((one[end] ?? 0) - Math.imul(one[index] ?? 0, powersOne[next] ?? 0)) | 0;
      const second = ((two[end] ?? 0) - Math.imul(two[index] ?? 0, powersTwo[next] ?? 0)) | 0;
      place = places[placeOf(ladder, first, second)] ?? 0;
    }
    if (place === 0) failed = next;
    else {
      longest = found[place] ?? longest;
      agreed = next;
      step *= 2;
    }
  }
  return longest;
}

/** The last of the lengths that are too short; -1 where none is. */
function below(lengths: Int32Array, least: number): number {
  if ((lengths[0] ?? 0) >= least) return -1;
  let short = 0;
  let enough = lengths.length;
  while (short + 1 < enough) {
    const middle = (short + enough) >> 1;
    if ((lengths[middle] ?? 0) < least) short = middle;
    else enough = middle;
  }
  return short;
}
