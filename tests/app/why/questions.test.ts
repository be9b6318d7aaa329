import { expect, test } from 'vitest';
import { questionOf } from '../../../src/app/why/questions.ts';

/** Wednesday. */
const setting = { timezone: 'Europe/Madrid', now: Date.UTC(2026, 10, 18, 9) };
const day = (date: string) => ({ from: `${date}T00:00`, to: `${date}T23:59:59` });

test.each([
  ['', {}],
  ['2026-11-18T09:00:00.000Z', { at: '2026-11-18T09:00:00.000Z' }],
  ['today', day('2026-11-18')],
  ['Yesterday?', day('2026-11-17')],
  ['tomorrow', day('2026-11-19')],
  ['wednesday', day('2026-11-18')],
  ['last wednesday', day('2026-11-11')],
  ['last friday', day('2026-11-13')],
  ['on fri', day('2026-11-13')],
  ['next friday', day('2026-11-20')],
  ['27 nov', day('2026-11-27')],
  ['Nov 27', day('2026-11-27')],
  ['Fri 27 Nov', day('2026-11-27')],
  ['Friday, 27 November', day('2026-11-27')],
  ['2 mar', day('2027-03-02')],
  ['2 july', day('2026-07-02')],
  ['27 nov 2025', day('2025-11-27')],
  ['2026-11-02', day('2026-11-02')],
  ['this week', { from: '2026-11-16T00:00', to: '2026-11-22T23:59:59' }],
  ['last week', { from: '2026-11-09T00:00', to: '2026-11-15T23:59:59' }],
  ['this morning', { from: '2026-11-18T00:00', to: '2026-11-18T11:59:59' }],
  ['yesterday evening', { from: '2026-11-17T18:00', to: '2026-11-17T23:59:59' }],
  ['last night', { from: '2026-11-17T18:00', to: '2026-11-18T05:59:59' }],
  ['tonight', { from: '2026-11-18T18:00', to: '2026-11-19T05:59:59' }],
  ['friday morning', { from: '2026-11-13T00:00', to: '2026-11-13T11:59:59' }],
  ['9:00', { at: '2026-11-18T09:00' }],
  ['at 9am', { at: '2026-11-18T09:00' }],
  ['monday 9:00', { at: '2026-11-16T09:00' }],
  ['yesterday at 4:30 pm', { at: '2026-11-17T16:30' }],
  ['Fri 27 Nov 16:00', { at: '2026-11-27T16:00' }],
  ['Fri 27 Nov, 16:00', { at: '2026-11-27T16:00' }],
  ['Fri 27 Nov at 16:00:30', { at: '2026-11-27T16:00:30' }],
  ['2026-11-02 09:00', { at: '2026-11-02T09:00' }],
  ['2026-11-02T09:00', { at: '2026-11-02T09:00' }],
])('%s', (words, question) => {
  expect(questionOf(words, setting)).toEqual(question);
});

test.each(['nonsense', 'sat 27 nov', 'every friday', '31 feb', 'retro', 'the day', '27 nov buy bread', '-5'])(
  '%s is no time',
  (words) => {
    expect(questionOf(words, setting)).toBeNull();
  },
);
