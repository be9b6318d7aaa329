import fc from 'fast-check';
import { afterEach, expect, test, vi } from 'vitest';
import { Cursor } from '../../../src/domain/when/pieces/cursor.ts';
import { refusalOf } from './phrases.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

/** The patterns that are tried at places of the text: what reading costs, on any machine. */
function workOf(text: string): number {
  const spies = [vi.spyOn(Cursor.prototype, 'take'), vi.spyOn(Cursor.prototype, 'has')];
  refusalOf(text);
  const work = spies.reduce((sum, { mock }) => sum + mock.calls.length, 0);
  vi.restoreAllMocks();
  return work;
}

const vocabulary =
  `every each mondy tomorow evry monday tue weekdays month year at 9 18:30 9am noon 1st last second of from to until for
  10 times 2h hours today tonight next this and , - : january 12/05 Europe/Madrid UTC EST biweekly except before 8.45 1,2,3 half
  quarter christmas in 5 call mum twice a week on ( ] & 🎂 99999`.split(/\s+/);

const salad = (words: number) =>
  fc
    .array(fc.tuple(fc.constantFrom(...vocabulary), fc.constantFrom(' ', ' ', ', ', ' and ', '-', '')), {
      minLength: words,
      maxLength: words,
    })
    .map((pairs) => pairs.flat().join('').slice(0, 4_096));

/** About 25 ms; a usual sentence takes a hundredth of it. */
const WORK_MAX = 300_000;

test.each([15, 100, 1_000])(
  'a text of %i words of times, in any order, takes no more work than a person can wait for',
  (words) => {
    fc.assert(
      fc.property(salad(words), (text) => {
        expect(workOf(text)).toBeLessThan(WORK_MAX);
      }),
      { seed: 20_261_118, numRuns: 12 },
    );
  },
);

test.each([
  'evry 8.45 last monday in a ',
  'on in 5 for evry, ',
  'biweekly tomorow now 6 we end 12/05 noon ',
  'each month this 9 york 18 tomorrow ',
  '1, ',
  '- ',
])('“%s” again and again is no more work in 4,096 characters than in a fourth of them', (piece) => {
  const ofLength = (length: number) => workOf(piece.repeat(Math.ceil(length / piece.length)).slice(0, length));
  expect(ofLength(4_096)).toBeLessThanOrEqual(1.2 * ofLength(1_024) + 1_000);
});

test('a usual sentence takes a small part of it', () => {
  expect(workOf('remind me to call mum every weekday at 9')).toBeLessThan(4_000);
  expect(workOf('next friday at 9 call mum')).toBeLessThan(8_000);
});
