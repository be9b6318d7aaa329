import { randomFrom } from '../system/random.ts';

/** What a seed decides. Each part of a world draws from a stream of its own, so that one more draw here moves nothing there. */
export interface Chance {
  /** True with the given probability. */
  is(probability: number): boolean;
  between(from: number, to: number): number;
  pick<T>(items: readonly T[]): T;
  /** Picks by the weight of each item. */
  weigh<T extends { readonly weight: number }>(items: readonly T[]): T;
  next(): number;
}

export function chanceOf(seed: number, stream: string): Chance {
  let mixed = Math.imul(seed + 1, 0x9e3779b1);
  for (const letter of stream) mixed = Math.imul(mixed ^ letter.charCodeAt(0), 0x85ebca6b);
  const random = randomFrom(mixed);
  return {
    ...random,
    is: (probability) => random.next() < probability,
    weigh: (items) => {
      let left = random.next() * items.reduce((sum, { weight }) => sum + weight, 0);
      const found = items.find(({ weight }) => (left -= weight) < 0) ?? items.at(-1);
      if (found === undefined) throw new Error('There is nothing to weigh.');
      return found;
    },
  };
}
