import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compiledOnce, sourceFlags } from '../../support/sources.ts';
import { phrases, read, refusalOf, refused } from './phrases.ts';

const SEED = 20_261_118;

const pieces = [
  'every each day days monday tue weekdays week month year at @ 9 18:30 9am pm noon midnight on the',
  '1st last second first friday of in from to until for 10 times minutes 2h hours tomorrow today',
  'tonight next this other and , - : may 31 january 2027 12/05 Europe/Madrid UTC EST * */5 0',
  'FREQ=DAILY P1D @daily call mum morning evening half past twice a starting now 🎂 ñ １２ remind me',
  '99999999999 0.5 8.45 9.30 8h45 til evry mondy tomorow',
]
  .join(' ')
  .split(' ')
  .concat('\n');

const salad = fc.array(fc.constantFrom(...pieces), { maxLength: 14 }).map((words) => words.join(' '));
const tail = fc.oneof(salad, fc.string({ maxLength: 40 }), fc.string({ unit: 'grapheme', maxLength: 30 }));

test('whatever is sent is read or refused, and nothing else happens', () => {
  fc.assert(
    fc.property(fc.oneof(salad, fc.string({ unit: 'binary', maxLength: 300 }), tail), (text) => {
      const refusal = refusalOf(text);
      if (refusal === null) return;
      const { readings, missing, examples } = refusal.details ?? {};
      const said = { ambiguous_schedule: readings, incomplete_schedule: missing, invalid_schedule: examples }[
        refusal.code as 'invalid_schedule'
      ];
      expect([refusal.code, refusal.details?.['field'], Array.isArray(said) && said.length > 0]).toEqual([
        refusal.code,
        'when',
        true,
      ]);
    }),
    { seed: SEED, numRuns: 6_000 },
  );
});

test('text without a word or a figure of time is never a schedule', () => {
  const words = fc.constantFrom(
    'call',
    'mum',
    'the',
    'report',
    'please',
    'buy',
    'milk',
    'I',
    'to',
    'for',
    'with',
    'green',
    'и',
    'ñ',
  );
  fc.assert(
    fc.property(fc.array(words, { maxLength: 12 }), (text) => {
      expect(refusalOf(text.join(' '))).not.toBeNull();
    }),
    { seed: SEED, numRuns: 1_000 },
  );
});

/** Said around a time, and no part of the text. */
const manners = new Set('remind me to that about of for set a reminder please pls once in at on by'.split(' '));

function wordsOf(text: string): string[] {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
}

test('no word that was sent is dropped', () => {
  const sets = fc.oneof(
    fc.constantFrom(...phrases).map(({ phrase }) => phrase),
    salad,
  );
  fc.assert(
    fc.property(tail, sets, tail, (before, phrase, behind) => {
      const sent = `${before} ${phrase} ${behind}`;
      if (refusalOf(sent) !== null) return;
      const { words, text, assumed, forWhom } = read(sent);
      if (assumed.some(({ what }) => what === 'spelling')) return;
      const kept = wordsOf(`${words} ${text} ${forWhom ?? ''}`);
      for (const word of wordsOf(sent)) {
        const at = kept.indexOf(word);
        if (at === -1) expect(manners, `${word} of ${sent}`).toContain(word);
        else kept.splice(at, 1);
      }
    }),
    { seed: SEED, numRuns: 3_000 },
  );
});

test('text behind a complete when leaves the schedule as it is, or the whole is refused', () => {
  const plain = phrases.filter(({ rest, phrase }) => rest === '' && !/FREQ|DTSTART|remind/.test(phrase));
  const marks = fc.constantFrom(': ', ' - ', '\n', '. ');
  fc.assert(
    fc.property(fc.constantFrom(...plain), marks, tail, (row, mark, text) => {
      const setting = { timezone: row.timezone, now: Date.parse(row.now) };
      const { schedule } = read(row.phrase, setting);
      // A figure right behind the mark could be a part of a time or a range, and is refused.
      const sent = `${row.phrase}${mark}${text.replace(/^[\s\d]+/, '')}`;
      if (refusalOf(sent) === null) expect(read(sent, setting).schedule).toEqual(schedule);
    }),
    { seed: SEED, numRuns: 3_000 },
  );
});

test('plain words behind a complete when never change it', () => {
  const texts =
    'call,mum,water,the,plants,at home,about,monday report,for two,5 pushups,in the garden,to the sea,every day counts,at 10';
  const words = fc.constantFrom(...texts.split(','));
  // "On the 1st" and then "monday" is the first Monday.
  const plain = phrases.filter(
    ({ rest, schedule, phrase }) => rest === '' && schedule.kind === 'cron' && !/\d(?:st|nd|rd|th)$/.test(phrase),
  );
  fc.assert(
    fc.property(fc.constantFrom(...plain), fc.array(words, { minLength: 1, maxLength: 6 }), (row, text) => {
      const setting = { timezone: row.timezone, now: Date.parse(row.now) };
      const sent = `${row.phrase} ${text.join(' ')}`;
      if (refusalOf(sent) === null) expect(read(sent, setting).schedule).toEqual(read(row.phrase, setting).schedule);
    }),
    { seed: SEED, numRuns: 4_000 },
  );
});

test('a misspelt word is mended and told, or asked about', () => {
  const known = ['every', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'tomorrow', 'weekdays'];
  const slip = fc.tuple(fc.constantFrom(...known), fc.nat(5), fc.constantFrom('drop', 'double', 'swap'));
  fc.assert(
    fc.property(slip, fc.constantFrom('at 9', 'day at 9 call mum', '8.45 water'), ([word, at, how], behind) => {
      const [head, one, two, tail] = [word.slice(0, at), word.charAt(at), word.charAt(at + 1), word.slice(at + 2)];
      const written = { drop: head + two + tail, double: head + one + one + two + tail, swap: head + two + one + tail }[
        how
      ];
      const isWord = [...known, 'weekday', 'ever'].includes(written);
      const sent = `${written} ${behind}`;
      if (isWord || refusalOf(sent) !== null) return;
      const asked = read(sent);
      expect(
        [asked.words, asked.text].join().includes(written) || asked.assumed.some(({ what }) => what === 'spelling'),
      ).toBe(true);
    }),
    { seed: SEED, numRuns: 1_000 },
  );
});

test('capitals and blanks make no difference', () => {
  // The library for spelled dates knows single blanks only.
  const rows = phrases.filter(({ phrase }) => !phrase.includes('\n') && !phrase.startsWith('2027 january'));
  for (const { phrase, timezone, now, next } of rows) {
    const setting = { timezone, now: Date.parse(now) };
    const loud = read(phrase.toUpperCase().replaceAll(' ', '  '), setting);
    expect(read(phrase, setting).schedule.kind, phrase).toBe(loud.schedule.kind);
    expect(next.length).toBeGreaterThan(0);
    if (loud.schedule.kind !== 'cron') expect(loud.schedule, phrase).toEqual(read(phrase, setting).schedule);
  }
});

const program = `
import { phrases, read, refusalOf, refused } from ${JSON.stringify(fileURLToPath(new URL('./phrases.ts', import.meta.url)))};
const answers = phrases.map((row) => read(row.phrase, { timezone: row.timezone, now: Date.parse(row.now) }));
process.stdout.write(JSON.stringify([answers, refused.map((row) => refusalOf(row.phrase)?.message)]));
`;

test('the zone of the host makes no difference', () => {
  const here = JSON.stringify([
    phrases.map((row) => read(row.phrase, { timezone: row.timezone, now: Date.parse(row.now) })),
    refused.map((row) => refusalOf(row.phrase)?.message),
  ]);
  for (const zone of ['UTC', 'America/New_York', 'Australia/Lord_Howe']) {
    const child = spawnSync(process.execPath, [...sourceFlags, '--input-type=module', '-e', program], {
      env: { ...compiledOnce, TZ: zone },
      encoding: 'utf8',
    });
    expect(child.stderr).toBe('');
    expect(child.stdout === here, zone).toBe(true);
  }
});

test.each(['5, 7 and ', '5 december and ', '12-1 friday ', 'except 5 and 7 '])('a long row of “%s” ends', (piece) => {
  // A pattern with two ways to match each turn takes minutes here.
  expect(refusalOf(piece.repeat(1_000))?.details?.['field'] ?? 'when').toBe('when');
});
