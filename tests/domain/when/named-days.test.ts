import { expect, test } from 'vitest';
import { nextSlots, wallText } from '../../../src/domain/schedule/schedule.ts';
import { NOW, read, refusalOf } from './phrases.ts';

const sets = [
  ['mon-fri', [1, 2, 3, 4, 5]],
  ['on weekdays', [1, 2, 3, 4, 5]],
  ['only on weekdays', [1, 2, 3, 4, 5]],
  ['from monday to wednesday', [1, 2, 3]],
  ['sun to thu', [0, 1, 2, 3, 4]],
  ['tue, thu and sat', [2, 4, 6]],
  ['on mondays', [1]],
  ['weekends', [0, 6]],
] as const;

/** A word for every day, an hour beside it, and what that is on the clock. */
const rhythms = [
  ['every day', 'at 9', '09:00'],
  ['each day', 'at 18:30', '18:30'],
  ['daily', '9am', '09:00'],
  ['every morning', 'at 7', '07:00'],
  ['every afternoon', 'at 4', '16:00'],
  ['every evening', 'at 8', '20:00'],
  ['every night', 'at 10', '22:00'],
] as const;

type Order = (rhythm: string, days: string, hour: string) => string;

const orders: readonly Order[] = [
  (rhythm, days, hour) => `${rhythm} ${days} ${hour} x`,
  (rhythm, days, hour) => `${rhythm}, ${days}, ${hour} x`,
  (rhythm, days, hour) => `${rhythm} (${days}) ${hour} x`,
  (rhythm, days, hour) => `${rhythm} ${hour} ${days} x`,
  (rhythm, days, hour) => `x ${rhythm} ${hour}, ${days}`,
  (rhythm, days, hour) => `${rhythm} ${hour} (${days}) x`,
  (rhythm, days, hour) => `${days} ${rhythm} ${hour} x`,
  (rhythm, days, hour) => `${hour} ${rhythm} ${days}: x`,
  (rhythm, days, hour) => `${hour} ${rhythm}, ${days}: x`,
];

/** The days and the hours on which it comes, and the words beside it. */
function comes(phrase: string) {
  const { schedule, text } = read(phrase);
  const walls = nextSlots(schedule, NOW, { count: 28 }).map((slot) => wallText(slot, schedule.timezone));
  const days = new Set(walls.map((wall) => new Date(wall.slice(0, 10)).getUTCDay()));
  return { days: [...days].sort((a, b) => a - b), hours: [...new Set(walls.map((wall) => wall.slice(11)))], text };
}

test.each(rhythms)(
  'days that are named beside “%s” are those on which it comes, in every order',
  (word, hour, clock) => {
    for (const [days, named] of sets) {
      for (const order of orders) {
        const phrase = order(word, days, hour);
        expect(comes(phrase), phrase).toEqual({ days: named, hours: [clock], text: 'x' });
      }
    }
  },
);

test.each(['every 2 days', 'every other day', 'every 3 days'])('“%s” beside named days asks which of them', (word) => {
  for (const [days] of sets) {
    for (const order of orders) {
      const phrase = order(word, days, 'at 9');
      expect(refusalOf(phrase)?.code, phrase).toMatch(/^(?:ambiguous|incomplete)_schedule$/);
    }
  }
});

const wides = [
  ['every day', [0, 1, 2, 3, 4, 5, 6]],
  ['every weekday', [1, 2, 3, 4, 5]],
  ['mon-sat', [1, 2, 3, 4, 5, 6]],
] as const;

const narrows = [
  ['fridays', [5]],
  ['on mondays', [1]],
  ['every tuesday and thursday', [2, 4]],
] as const;

const pairs: readonly Order[] = [
  (wide, narrow, hour) => `${wide} at 9, ${narrow} at ${hour} x`,
  (wide, narrow, hour) => `${wide} at 9 and ${narrow} at ${hour} x`,
  (wide, narrow, hour) => `${narrow} at ${hour}, ${wide} at 9 x`,
  (wide, narrow, hour) => `at 9 ${wide}, at ${hour} ${narrow}: x`,
  (wide, narrow, hour) => `${wide} at 9 (${narrow} ${hour}:00) x`,
];

test.each(wides)(
  'each day of “%s” has its own hour where a narrower rhythm stands beside it, and this is said',
  (wide, all) => {
    for (const [narrow, some] of narrows) {
      for (const hour of ['8', '10']) {
        for (const pair of pairs) {
          const phrase = pair(wide, narrow, hour);
          const { schedule, text, assumed } = read(phrase);
          const walls = nextSlots(schedule, NOW, { count: 40 }).map((slot) => wallText(slot, schedule.timezone));
          const dayOf = (wall: string) => new Date(wall.slice(0, 10)).getUTCDay();
          const hours = walls.map((wall) => [dayOf(wall), Number(wall.slice(11, 13))]);
          const meant = walls.map((wall) => [dayOf(wall), some.some((day) => day === dayOf(wall)) ? Number(hour) : 9]);
          expect([hours, new Set(walls.map(dayOf)).size, text], phrase).toEqual([meant, all.length, 'x']);
          const other = assumed.find(({ what, other: way }) => what === 'kind' && way !== null)?.other;
          const twice = nextSlots(read(other?.when ?? '').schedule, NOW, { count: 40 });
          expect(
            twice.filter((slot) => dayOf(wallText(slot, schedule.timezone)) === some[0]).length,
            phrase,
          ).toBeGreaterThan(walls.filter((wall) => dayOf(wall) === some[0]).length);
        }
      }
    }
  },
);

test.each(['sun', 'mon', 'tuesday', 'wed', 'thursday', 'fri', 'sat'])(
  '“%s week” is a week after the coming one on every day of the week',
  (name) => {
    for (let day = 1; day < 8; day += 1) {
      const setting = { now: NOW + day * 86_400_000 };
      const moment = (phrase: string) => nextSlots(read(phrase, setting).schedule, setting.now, { count: 2 });
      const [coming = 0] = moment(`${name} at 18:00 x`);
      expect(moment(`${name} week at 18:00 x`)).toEqual([coming + 7 * 86_400_000]);
      expect(moment(`x on ${name} week at 18:00`)).toEqual([coming + 7 * 86_400_000]);
    }
  },
);

test.each(['9 or 10 tomorrow gym', '9 or 10 tomorrow x', 'gym at 9 or 10 tomorrow', 'gym tomorrow 9 or 10'])(
  'each button of “%s” names the hour that it gives',
  (phrase) => {
    const readings = refusalOf(phrase)?.details?.['readings'] as Array<{ text: string; when: string }>;
    expect(readings.map(({ text }) => text)).toEqual(['9', '10']);
    for (const { text, when } of readings) expect(comes(when).hours, when).toEqual([`${text.padStart(2, '0')}:00`]);
  },
);
