import { expect, test } from 'vitest';
import type { AlarmFacts } from '../../../src/domain/shown.ts';
import { draw } from '../../../src/telegram/delivery/draw.ts';
import { minute, start } from '../../support/pipeline.ts';

const later = start + 60 * minute;

function wordsOf(facts: AlarmFacts, over: number | null = null): string {
  const about = { task: null, timezone: 'UTC', now: later, next: [] };
  return draw({ view: 'alarm', since: start, over, facts }, about)?.text ?? '';
}

const task = { id: 't', number: 3, title: 'Stand up', pausedAt: start, address: '-1001' };

const lasting: readonly (readonly [AlarmFacts, string])[] = [
  [
    { cause: 'database', error: 'It does not answer.' },
    'My database cannot be used since Wed 18 Nov 09:00 (UTC).\n\nIt does not answer.\n\nNothing is lost',
  ],
  [{ cause: 'disk', error: 'Free some space.' }, 'The disk of my database is full since Wed 18 Nov 09:00'],
  [{ cause: 'audit', check: 'slot_unaccounted', count: 2 }, 'has neither a row nor a gap. (2 times)'],
  [
    { cause: 'auto_pause', tasks: [task] },
    'I paused a task after too many failures in a row, Wed 18 Nov 09:00 (UTC):\n\n#3 Stand up\n\n',
  ],
  [{ cause: 'auto_pause', tasks: Array.from({ length: 12 }, () => task) }, '#3 Stand up\nand 2 more'],
  [
    {
      cause: 'second_opinion',
      taskId: 't',
      number: 3,
      title: 'Stand up',
      timezone: 'Europe/Madrid',
      library: 'croner',
      ours: [start, later],
      theirs: [],
    },
    [
      'Two calculations differ about when #3 Stand up runs next. I calculate each schedule with two programs.',
      'Cronogram: Wed 18 Nov 10:00, 11:00\ncroner: no more runs\nZone: Europe/Madrid',
      'The task runs as Cronogram says. Please check which is right and report it. cronogram audit --run shows more.',
    ].join('\n\n'),
  ],
];

test.each(lasting)('trouble that lasts (%o) is told, and then that it is over', (facts, words) => {
  expect(wordsOf(facts)).toContain(words);
  expect(wordsOf(facts, later)).toBe(`Over since Wed 18 Nov 10:00 (UTC).\n\n${wordsOf(facts)}`);
});

const counts = { missed: 2, late: 0, asked: 0, skipped: 0 };
const passing: readonly (readonly [AlarmFacts, string])[] = [
  [
    { cause: 'clock', byMs: 60 * minute, to: start, moved: 2 },
    'was set back by 1 hour, to Wed 18 Nov 09:00 (UTC).\n\nI planned 2 tasks again',
  ],
  [
    { cause: 'downtime', why: null, to: later, ...counts },
    'I was down from Wed 18 Nov 09:00 until Wed 18 Nov 10:00 (UTC).\nRuns: 2 missed.',
  ],
  [
    { cause: 'downtime', why: 'database', to: later, ...counts },
    'I could not write to my database from Wed 18 Nov 09:00',
  ],
];

test.each(passing)('trouble that is over when it is told (%o) needs no word about that', (facts, words) => {
  expect(wordsOf(facts, later)).toContain(words);
  expect(wordsOf(facts, later)).toBe(wordsOf(facts));
});
