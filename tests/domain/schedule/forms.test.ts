import { expect, test } from 'vitest';
import { englishForms, formsIn, type Translated } from '../../../src/domain/schedule/words/forms.ts';

const days = { one: '{n} день', few: '{n} дня', many: '{n} дней', other: '{n} дня' };

test.each([
  [1, '1 день'],
  [3, '3 дня'],
  [5, '5 дней'],
  [21, '21 день'],
])('%d takes the plural form of its language', (count, told) => {
  expect(formsIn('ru').plural(count, days)).toBe(told);
});

test.each([
  [1, '1 run'],
  [0, '0 runs'],
  [1204, '1,204 runs'],
])('a form that a language has not is the other one: %d', (count, told) => {
  expect(englishForms.plural(count, { one: '{n} run', other: '{n} runs' })).toBe(told);
});

test('numbers and lists are those of the language', () => {
  const german = formsIn('de');
  expect(german.number(1204)).toBe('1.204');
  expect(german.and(['a', 'b', 'c'])).toBe('a, b und c');
  expect(german.or(['a', 'b'])).toBe('a oder b');
  expect(englishForms.and(['a', 'b', 'c'])).toBe('a, b and c');
  const nth = { one: '{n}st', two: '{n}nd', few: '{n}rd', other: '{n}th' };
  expect([1, 2, 3, 4, 11, 22].map((n) => englishForms.ordinal(n, nth))).toEqual([
    '1st',
    '2nd',
    '3rd',
    '4th',
    '11th',
    '22nd',
  ]);
});

test('a text that is missing in another language does not compile', () => {
  const words = { hello: 'Hello', runs: (count: number): string => `${count} runs` } as const;
  // @ts-expect-error: `runs` is missing.
  const partly: Translated<typeof words> = { hello: 'Hola' };
  const whole: Translated<typeof words> = { ...partly, runs: (count) => `${count} veces` };
  expect(whole.runs(2)).toBe('2 veces');
});
