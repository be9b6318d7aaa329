import { expect, test } from 'vitest';
import { nextSlots } from '../../../src/domain/schedule/schedule.ts';
import { type Asked, readAnywhere } from '../../../src/domain/when/asked.ts';
import { NOW, refusalOf } from './phrases.ts';

function read(phrase: string): Asked {
  return readAnywhere(phrase, { timezone: 'Europe/Madrid', now: NOW });
}

test.each([
  [
    'every weekday at 9, friday at 8 standup',
    'Friday only at 08:00',
    'mon-thu at 9, fridays at 8:00 and 9:00: standup',
  ],
  [
    'every day at 7 and on weekends at 9 wake',
    'Saturday and Sunday only at 09:00',
    'weekdays at 7, weekends at 7:00 and 9:00: wake',
  ],
  ['8am every day and 9am on sundays x', 'Sunday only at 09:00', 'mon-sat at 8, sundays at 8:00 and 9:00: x'],
  [
    'every day at 8 and every friday at 17 x',
    'Friday at 08:00 and 17:00',
    'mon-thu at 8, fridays at 17, weekends at 8 x',
  ],
])('“%s” says what comes on the days of both, and offers the other reading', (phrase, assumed, once) => {
  const [note] = read(phrase).assumed;
  expect(note?.text).toBe(assumed);
  const slots = (of: string) => nextSlots(read(of).schedule, NOW, { count: 20 });
  expect(slots(note?.other?.when ?? '')).toEqual(slots(once));
});

test('two rhythms on days of their own assume nothing', () => {
  expect(read('weekdays at 9 and weekends at 11 wake').assumed).toEqual([]);
});

test('a short name of a day before a noun has a button for the noun', () => {
  const [note] = read('sun cream at 11').assumed;
  expect(note).toMatchObject({ what: 'date', text: 'Sun 22 Nov', other: { text: '“sun” is text' } });
  expect(read(note?.other?.when ?? '').text).toBe('sun cream');
  expect(read('fri drinks at 6').assumed.map(({ what }) => what)).toEqual(['hour']);
});

test('an hour that nobody wrote is told', () => {
  expect(read('FREQ=DAILY x').assumed).toEqual([{ what: 'hour', text: '11:00', other: null }]);
  expect(read('28 march 2027 at 02:30 x').assumed).toEqual([{ what: 'hour', text: '03:30', other: null }]);
  expect(read('29 march 2027 at 02:30 x').assumed).toEqual([]);
});

test('two hours alone are daily, or once each', () => {
  const [note] = read('at 8am and 8pm take pill').assumed;
  expect(note?.other).toMatchObject({ text: 'Once each' });
  expect(read(note?.other?.when ?? '').text).toBe('take pill');
});

test('an offer takes what it reads out of the text', () => {
  const offersOf = (phrase: string) => refusalOf(phrase)?.details?.['offers'] as Array<{ text: string; when: string }>;
  expect(offersOf('nex friday 9 gym')[0]).toMatchObject({ text: 'Friday 9', when: 'friday 9\ngym' });
  expect(offersOf('no, 9 tomorrow gym').map(({ when }) => when)).toEqual([
    'tomorrow at 9\ngym',
    'in 1 hour\nno, 9 tomorrow gym',
    'tonight\nno, 9 tomorrow gym',
  ]);
});
