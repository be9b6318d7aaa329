/** Chance that can be had again: the same seed gives the same tasks, the same kills and the same requests. */
export interface Chance {
  /** A number in [0, 1). */
  next(): number;
  /** True with the given probability. */
  is(probability: number): boolean;
  between(from: number, to: number): number;
  pick<T>(items: readonly T[]): T;
  /** Picks by the weight of each item. */
  weigh<T extends { readonly weight: number }>(items: readonly T[]): T;
}

/** Each part of a world draws from a stream of its own, so that one more draw here moves nothing there. */
export function chanceOf(seed: number, stream: string): Chance {
  let mixed = Math.imul(seed + 1, 0x9e3779b1);
  for (const letter of stream) mixed = Math.imul(mixed ^ letter.charCodeAt(0), 0x85ebca6b);
  return chanceFrom(mixed);
}

/** The generator called mulberry32: short, and good enough to spread kills. */
export function chanceFrom(seed: number): Chance {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const known = <T>(item: T | undefined): T => {
    if (item === undefined) throw new Error('There is nothing to pick from.');
    return item;
  };
  return {
    next,
    is: (probability) => next() < probability,
    between: (from, to) => from + Math.floor(next() * (to - from + 1)),
    pick: (items) => known(items[Math.floor(next() * items.length)]),
    weigh: (items) => {
      let left = next() * items.reduce((sum, { weight }) => sum + weight, 0);
      return known(items.find(({ weight }) => (left -= weight) < 0) ?? items.at(-1));
    },
  };
}
