import { expect, it } from 'vitest';
import { searchFor, type Needle } from '../../../src/domain/secrets/needles.ts';
import { chanceFrom, type Chance } from '../../support/chance.ts';

type Stretch = readonly [from: number, to: number];

function found(needles: readonly Needle[], text: string): Stretch[] {
  const stretches: Stretch[] = [];
  searchFor(needles)(Buffer.from(text), (from, to) => stretches.push([from, to]));
  return stretches;
}

/** The same by comparing every needle at every place. */
function foundSlowly(needles: readonly Needle[], text: string): Stretch[] {
  const bytes = Buffer.from(text);
  const covered = new Set<number>();
  for (const { bytes: sought, before, after } of needles) {
    for (let index = bytes.indexOf(sought); index >= 0; index = bytes.indexOf(sought, index + 1)) {
      const [from, to] = [Math.max(0, index - before), Math.min(bytes.length, index + sought.length + after)];
      for (let each = from; each < to; each += 1) covered.add(each);
    }
  }
  return stretchesOf(covered, bytes.length);
}

function stretchesOf(covered: ReadonlySet<number>, size: number): Stretch[] {
  const stretches: Stretch[] = [];
  let from = -1;
  for (let index = 0; index <= size; index += 1) {
    if (covered.has(index)) from = from === -1 ? index : from;
    else if (from !== -1) {
      stretches.push([from, index]);
      from = -1;
    }
  }
  return stretches;
}

const textOf = (chance: Chance, letters: string, length: number) =>
  Array.from({ length }, () => letters[chance.between(0, letters.length - 1)]).join('');

/** Of few letters, or of one piece again and again, so that they begin, end and hold one another. */
function aWorld(chance: Chance) {
  const letters = chance.pick(['ab', 'aaaaaaab', 'abc', 'a']);
  const piece = textOf(chance, letters, chance.between(1, 5));
  const some = (length: number) =>
    chance.is(0.5) ? textOf(chance, letters, length) : piece.repeat(length).slice(0, length);
  const needles = Array.from({ length: chance.between(1, 12) }, (): Needle => {
    const [before, after] = [chance.is(0.3) ? 1 : 0, chance.is(0.3) ? 1 : 0] as const;
    return { bytes: Buffer.from(some(chance.between(4, 40))), before, after };
  });
  const parts = Array.from({ length: chance.between(1, 12) }, () =>
    chance.is(0.4) ? chance.pick(needles).bytes.toString() : some(chance.between(0, 30)),
  );
  return { needles, text: parts.join(chance.pick(['', 'x', 'a'])) };
}

it('finds what a search finds that compares every value at every place', () => {
  for (let seed = 1; seed <= 3000; seed += 1) {
    const { needles, text } = aWorld(chanceFrom(seed));
    expect(found(needles, text), `seed ${seed}: ${text}`).toEqual(foundSlowly(needles, text));
  }
});

it('finds a value of the shortest length at both ends of a text', () => {
  const sought: Needle = { bytes: Buffer.from('abcd'), before: 1, after: 1 };
  expect(found([sought], 'abcd')).toEqual([[0, 4]]);
  expect(found([sought], 'abcd--abcd')).toEqual([[0, 10]]);
  expect(found([sought], 'abc')).toEqual([]);
});
