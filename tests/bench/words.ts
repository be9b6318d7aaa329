import { readFileSync } from 'node:fs';
import { AppError } from '../../src/domain/errors.ts';
import { readAnywhere } from '../../src/domain/when/asked.ts';
import { type Figure, percentile } from './report.ts';

const NOW = Date.parse('2026-11-18T10:00:00Z');
const ROUNDS = 20;

/** The benchmark runs from dist/bench, and is started at the root of the repository. */
function fixture(name: string): string[] {
  const rows = JSON.parse(readFileSync(`fixtures/phrases/${name}.json`, 'utf8')) as { readonly phrase: string }[];
  return rows.map(({ phrase }) => phrase);
}

const long = (piece: string, length = 16_384) => piece.repeat(Math.ceil(length / piece.length)).slice(0, length);

/** The phrases of the corpus, without what they mean. */
function corpus(): string[] {
  return readFileSync('fixtures/phrases/corpus.txt', 'utf8')
    .split('\n')
    .filter((line) => line.includes(' => '))
    .map((line) => line.split(' => ')[0] ?? '');
}

/** Texts chosen to make a reader go far, back and again. */
const HOSTILE: readonly string[] = [
  long('every day at 9 '),
  long('every '),
  long('at 9, '),
  `every day at ${long('9, ')}`,
  `every day at ${long('9 and ')}`,
  `every ${long('monday and ')}`,
  `every ${long('monday, ')}`,
  `on ${long('the 1st and ')}`,
  `in ${long('1h ')}`,
  `in ${long('1 hour and ')}`,
  long('31 january 2027 '),
  long('2027 january '),
  `2027 january ${long('31 at ')}`,
  long('1/2/'),
  long('1 '),
  long('9'),
  long('a'),
  long(' '),
  long('\n'),
  long('* '),
  long('*/5,'),
  `0 9 * * ${long('mon,')}`,
  `FREQ=DAILY;BYHOUR=${long('1,')}`,
  long('DTSTART:20270101T090000\n'),
  `P${long('1Y')}`,
  long('ünïcödé '),
  long('🎂'),
  long('(((('),
  long("tomorrow's "),
  `tomorrow ${long('at ')}`,
  `every 1 minute from 0:00 to 23:58 ${long('until ')}`,
  'every 1 minute between 9 and 15',
  'every year on 29 february at 9 until 31 december 2399',
  'every 399 years on 29 february at 9',
  'every 1000 months on the 31st at 9',
  'first weekday of the month at 9 for 10000 times',
  'every year on 29 february at 9 for 10000 times',
  'every 7 minutes from 0:00 to 5:59 for 10000 times',
  long('tomorrow at 9 and friday at 10 '),
  long('monday '),
  long('next friday '),
  long('call mum at 9 or 10 '),
  long('every day at 9 except monday '),
  long('until friday '),
  long('5, 7 and '),
  long('5 december and '),
  long('december 5, '),
  `every monday ${long('in december ')}`,
  long('every second tuesday '),
  long('tommorow '),
  long('remind me to '),
  long('@ben '),
  long('3/4 '),
  long('in London '),
  long('every mon 9am, tue 10am '),
];

function costs(texts: readonly string[], work: (text: string) => void): number[] {
  return texts.flatMap((text) =>
    Array.from({ length: ROUNDS }, () => {
      const begin = performance.now();
      work(text);
      return performance.now() - begin;
    }),
  );
}

function read(text: string): void {
  try {
    readAnywhere(text, { timezone: 'Europe/Madrid', now: NOW });
  } catch (error) {
    if (!(error instanceof AppError) || !error.code.endsWith('_schedule')) throw error;
  }
}

/** Whoever sends a text chooses it and not the moment, so what counts is the quietest of its rounds. */
function worst(kind: string, texts: readonly string[]): Figure {
  const each = texts.map((text) => ({ text, ms: Math.min(...costs([text], read)) }));
  const [first] = each.sort((a, b) => b.ms - a.ms);
  return {
    name: `words: worst ${kind} (${(first?.text ?? '').slice(0, 40).replaceAll('\n', ' ')})`,
    value: first?.ms ?? Number.NaN,
    unit: 'ms',
    aim: 'at most 25 ms',
  };
}

/** The price of reading a when. */
export async function benchWords(): Promise<Figure[]> {
  const phrases = [...fixture('read'), ...fixture('refused'), ...corpus()];
  costs(phrases, read);
  const taken = costs(phrases, read);
  const figure = (name: string, value: number, aim?: string): Figure => ({
    name: `words: ${name}`,
    value,
    unit: 'ms',
    ...(aim === undefined ? {} : { aim }),
  });
  return [
    figure(`median of ${phrases.length} phrases`, percentile(taken, 0.5)),
    figure('99th percentile of the phrases', percentile(taken, 0.99), 'at most 2 ms'),
    worst('phrase', phrases),
    figure('99th percentile of hostile texts', percentile(costs(HOSTILE, read), 0.99)),
    worst('hostile text', HOSTILE),
  ];
}
