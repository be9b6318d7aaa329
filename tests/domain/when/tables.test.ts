import { describe, expect, test } from 'vitest';
import { nextSlots } from '../../../src/domain/schedule/schedule.ts';
import { examples } from '../../../src/domain/when/faults.ts';
import { expectedSchedule, NOW, phrases, read, refusalOf, refused } from './phrases.ts';

describe('a phrase is read as its schedule, and the rest is the text', () => {
  test.each(phrases.map((row) => [row.phrase, row.timezone, row.now, row] as const))(
    '%s (%s, %s)',
    (...[, , , row]) => {
      const now = Date.parse(row.now);
      const when = read(row.phrase, { timezone: row.timezone, now });
      expect(when.schedule).toMatchObject(expectedSchedule(row));
      expect(when.timezone).toBe(row.schedule.timezone);
      expect(when.text).toBe(row.rest);
      const next = nextSlots(when.schedule, now, { count: 3 }).map((slot) => new Date(slot).toISOString());
      expect(next.map((instant) => instant.replace('.000', ''))).toEqual(row.next);
    },
  );
});

const faults = {
  refused: refused.filter(({ reason }) => reason !== undefined),
  asked: refused.filter(({ readings }) => readings !== undefined),
  incomplete: refused.filter(({ missing }) => missing !== undefined),
};

describe('what cannot be read is refused with the reason and three examples', () => {
  test.each(faults.refused)('$phrase', ({ phrase, reason }) => {
    const refusal = refusalOf(phrase);
    if (refusal === null) throw new Error('It was read.');
    const { code, message, details } = refusal;
    expect([code, details], message).toMatchObject(['invalid_schedule', { field: 'when', reason }]);
    const named = details?.['examples'] as string[];
    expect(named).toHaveLength(3);
    for (const example of named) expect(message).toContain(`"${example}"`);
    expect(message).toMatch(/^["A-Z0-9@].*\.$/s);
    expect(message.length).toBeLessThan(420);
  });
});

interface Told {
  readonly when: string;
  readonly next: string | null;
}

describe('what has several readings is asked about, and each reading is read as itself', () => {
  test.each(faults.asked)('$phrase', ({ phrase, readings }) => {
    const fault = refusalOf(phrase);
    const told = (fault?.details?.['readings'] ?? []) as Told[];
    expect([fault?.code, told.map(({ when }) => when)]).toEqual(['ambiguous_schedule', readings]);
    for (const { when, next } of told.filter((each) => each.next !== null && refusalOf(each.when) === null)) {
      expect(new Date(nextSlots(read(when).schedule, NOW, { count: 1 })[0] ?? 0).toISOString()).toBe(next);
    }
  });
});

describe('what is missing is named, and what is offered is read', () => {
  test.each(faults.incomplete)('$phrase', ({ phrase, missing, offers }) => {
    const fault = refusalOf(phrase);
    const told = (fault?.details?.['offers'] ?? []) as Told[];
    expect([fault?.code, fault?.details?.['missing']]).toEqual(['incomplete_schedule', missing]);
    expect(told.map(({ when }) => when)).toEqual(offers);
    for (const { when } of told) expect(refusalOf(when)).toBeNull();
  });
});

describe('an example that a refusal names is read', () => {
  test.each(Object.entries(examples).flatMap(([topic, named]) => named.map((text) => [topic, text] as const)))(
    '%s: %s',
    (_topic, text) => {
      for (const hour of [0, 6, 12, 18, 23]) {
        const now = Date.parse('2026-12-25T00:30:00Z') + hour * 3_600_000;
        expect(nextSlots(read(text, { now }).schedule, now, { count: 1 })).toHaveLength(1);
      }
    },
  );
});

describe('a slip of the pen in the words of a time is mended, and told', () => {
  test.each([
    ['Evry day at 9 Water the Plants', 'every day at 9', 'Water the Plants', ['every']],
    ['tomorow 8am call Mum', 'tomorrow 8am', 'call Mum', ['tomorrow']],
    ['call mum tommorow at 9', 'tomorrow at 9', 'call mum', ['tomorrow']],
    ['every Mondy at 9', 'every monday at 9', '', ['monday']],
    ['evry mondy at 9 x', 'every monday at 9', 'x', ['every', 'monday']],
    ['sundae bar tomorrow at 9', 'tomorrow at 9', 'sundae bar', []],
    ['fryday shopping tomorrow at 9', 'tomorrow at 9', 'fryday shopping', []],
  ] as const)('%s', (text, words, left, slips) => {
    const asked = read(text);
    const spelled = asked.assumed.filter(({ what }) => what === 'spelling').map((each) => each.text);
    expect([asked.words, asked.text, spelled]).toEqual([words, left, slips]);
  });
});

test('a text of any length behind a when is kept whole', () => {
  const text = `${'word '.repeat(3_000)}end`;
  expect(read(`every day at 9 ${text}`).text).toBe(text);
  expect(read(`every day at 9\n${text}\n\n  ${text}`).text).toBe(`${text}\n\n  ${text}`);
});

test('the words are the part that was read', () => {
  expect(read('Every  Weekday at 9:00, in Europe/Madrid: stand up').words).toBe(
    'Every  Weekday at 9:00, in Europe/Madrid',
  );
  expect(read('remind me tomorrow at 9 to call mum').words).toBe('tomorrow at 9');
});

test('a zone that does not exist is refused as a fault of the setting', () => {
  expect(() => read('every day at 9', { timezone: 'Mars/Base' })).toThrow('"Mars/Base" is not a time zone');
});

describe('what is assumed is told with the words of the other reading', () => {
  test.each([
    ['tomorrow at 9 Rome flight', 'zone', 'Rome time', 'tomorrow at 9\nRome flight'],
    ['check in at 9 Rome every day online', 'zone', 'Rome time', 'at 9 every day\ncheck in Rome online'],
    ['every day at 7 dinner', 'hour', '07:00', 'every day at 19:00 dinner'],
  ] as const)('%s', (phrase, what, text, when) => {
    expect(read(phrase).assumed).toMatchObject([{ what, text, other: { when } }]);
    expect(refusalOf(when)).toBeNull();
  });

  test.each(['tomorrow at 9am Madrid call', 'every day at 9 Tokyo', 'tomorrow at 9am London time call'])(
    '%s leaves nothing open',
    (phrase) => {
      expect(read(phrase).assumed).toEqual([]);
    },
  );
});

describe('runs that no one rule can count are counted by the task', () => {
  test.each([
    ['weekdays at 9 and weekends at 11 for 10 times', { max_runs: 10 }],
    ['every 2 weeks on monday at 8:15, 12:40 and 18:30 5 times', { max_runs: 5 }],
    ['every monday at 9 for 10 times', {}],
  ])('%s', (phrase, policies) => {
    expect(read(phrase).policies).toEqual(policies);
  });
});

describe('an exception is the coming date alone, unless it is called by its name', () => {
  test.each([
    ['every day at 9 except 25 december', 'EXDATE;VALUE=DATE:20261225'],
    ['every day at 9 except 24 and 26 december', 'EXDATE;VALUE=DATE:20261224,20261226'],
    ['every day at 9 except christmas', 'EXRULE:FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=25'],
  ])('%s', (phrase, line) => {
    const { schedule } = read(phrase);
    expect(schedule.kind === 'rrule' ? schedule.rrule.split('\n').at(-1) : schedule).toBe(line);
  });
});
