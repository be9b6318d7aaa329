import { describe, expect, test } from 'vitest';
import { nextSlots, wallText } from '../../../src/domain/schedule/schedule.ts';
import { readAnswer, readAnywhere } from '../../../src/domain/when/asked.ts';
import { english } from '../../../src/domain/when/languages/english.ts';
import type { Language } from '../../../src/domain/when/languages/language.ts';
import { NOW } from './phrases.ts';

/** A language that nobody speaks, with words for what is tried here; what it has no word for is English. */
const small: Language = {
  ...english,
  code: 'xx',
  weekdays: ['ulo', 'lunu', 'matu', 'meku', 'zedu', 'venu', 'sabu'],
  plural: 'j',
  months: ['jano', 'febo', 'maro', 'apro', 'majo', 'juno', 'julo', 'auo', 'seto', 'okto', 'novo', 'deko'],
  numbers: { unu: 1, du: 2, tri: 3 },
  units: { ...english.units, hour: 'horoj?', day: 'tagoj?', week: 'semaj?' },
  parts: { morning: 'matene', afternoon: 'poste', evening: 'vespere', night: 'nokte' },
  words: {
    ...english.words,
    and: 'kaj',
    at: 'je',
    every: 'ciu',
    in: 'post',
    on: 'sur',
    until: 'gis',
    tomorrow: 'morgo',
    today: 'hodio',
    except: 'krom',
  },
  manners: { before: 'bonvole', reminds: 'memoru min', to: 'pri', after: 'danko' },
};

const setting = { timezone: 'Europe/Madrid', now: NOW, language: 'xx-Latn', languages: [small] };

test.each([
  ['morgo je 9 paroli', '2026-11-19 09:00', 'paroli'],
  ['bonvole memoru min pri akvo ciu lunu kaj zedu je 18:30 danko', '2026-11-19 18:30', 'akvo'],
  ['ciu tago je 9 gis venu pilolo', '2026-11-19 09:00', 'pilolo'],
  ['post du horoj pico', '2026-11-18 13:00', 'pico'],
  ['27 novo vespere festo', '2026-11-27 19:00', 'festo'],
  ['ciu tago je 8 krom uloj kuri', '2026-11-19 08:00', 'kuri'],
  ['every monday at 9 retro', '2026-11-23 09:00', 'retro'],
] as const)('%s, in a language with a table of its own', (phrase, next, text) => {
  const asked = readAnywhere(phrase, setting);
  const [slot = 0] = nextSlots(asked.schedule, NOW, { count: 1 });
  expect([wallText(slot, asked.timezone), asked.text]).toEqual([next, text]);
});

test('without that language its words are text', () => {
  expect(() => readAnywhere('post du horoj pico', { ...setting, languages: [] })).toThrow('I could not find a time');
});

test.each([
  ['every morning coffee', 'at 7', '2026-11-19 07:00', 'coffee'],
  ['every week bins', 'monday', '2026-11-23 09:00', 'bins'],
  ['call mum', 'tomorrow', '2026-11-19 09:00', 'call mum'],
  ['call mum', '9', '2026-11-19 09:00', 'call mum'],
  ['call mum', '18:30', '2026-11-18 18:30', 'call mum'],
  ['call mum', 'in 2 hours', '2026-11-18 13:00', 'call mum'],
  ['friday drinks', '18', '2026-11-20 18:00', 'drinks'],
  ['every year in march taxes', '5 march', '2027-03-05 09:00', 'taxes'],
  ['every year in march taxes', '5', '2027-03-05 09:00', 'taxes'],
  ['every month rent', '5', '2026-12-05 09:00', 'rent'],
  ['every few days water', '3', '2026-11-19 09:00', 'water'],
  ['in a few minutes tea', '7', '2026-11-18 11:07', 'tea'],
  ['in a few minutes tea', 'in 7 minutes', '2026-11-18 11:07', 'tea'],
  ['pizza in 20', '30 minutes', '2026-11-18 11:30', 'pizza'],
  ['twice a day pills', '8 and 20', '2026-11-18 20:00', 'pills'],
  ['every 2 weeks sprint review', 'tuesday at 10', '2026-11-24 10:00', 'sprint review'],
] as const)('“%s” is answered by “%s” alone', (before, answer, next, text) => {
  const asked = readAnswer(before, answer, { timezone: 'Europe/Madrid', now: NOW });
  const [slot = 0] = nextSlots(asked.schedule, NOW, { count: 1 });
  expect([wallText(slot, asked.timezone), asked.text]).toEqual([next, text]);
});

test.each([
  ['every year taxes', 'tomorrow'],
  ['every month rent', 'tomorrow at 9'],
  ['every week bins', '9:30'],
])('“%s” stays a rhythm that lacks its day after “%s”', (before, answer) => {
  expect(() => readAnswer(before, answer, { timezone: 'Europe/Madrid', now: NOW })).toThrow('On which day');
});

test('what looks like time beside the time is asked about in the words of its language', () => {
  const phrase = 'ciu lunu je 9 dum ferioj stando';
  const read = (language: Language) =>
    readAnywhere(phrase, { ...setting, languages: [{ ...language, leftovers: { ...language.leftovers } }] }).text;
  expect(read(small)).toBe('dum ferioj stando');
  const own: Language = { ...small, leftovers: { ...small.leftovers, behind: [/^\s*dum\s+ferioj/iu] } };
  expect(() => read(own)).toThrow('dum ferioj');
});

describe('a setting', () => {
  const at = (phrase: string, more: object) => {
    const { schedule, timezone } = readAnywhere(phrase, { timezone: 'Europe/Madrid', now: NOW, ...more });
    return wallText(nextSlots(schedule, NOW, { count: 1 })[0] ?? 0, timezone);
  };

  test.each([
    ['dmy', '2027-04-03 09:00'],
    ['mdy', '2027-03-04 09:00'],
  ] as const)('knows the order %s of 3/4/2027', (slashes, day) => {
    expect(at('3/4/2027 at 9 x', { slashes })).toBe(day);
  });

  test.each([
    ['tonight x', '2026-11-18 21:30'],
    ['tomorrow morning x', '2026-11-19 07:00'],
    ['tomorrow x', '2026-11-19 07:00'],
    ['tomorrow evening x', '2026-11-19 19:00'],
  ])('has its own hours: %s', (phrase, moment) => {
    expect(at(phrase, { parts: { morning: 420, tonight: 1_290 } })).toBe(moment);
  });
});
