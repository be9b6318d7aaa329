import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { cutTo, facts, measureFor, sentence, table, wrapped, shown, type Cell } from '../../src/cli/layout.ts';
import { lengthOf } from '../../src/cli/options.ts';
import { durationText } from '../../src/domain/schedule/time/duration.ts';
import { widest } from './terminal.ts';

const plain = { columns: 40, hasColours: false };
type Row = readonly (string | Cell)[];
const cell = (at: number) => (row: Row) => row[at] ?? null;
const columns = [
  { title: 'ID', of: cell(0) },
  { title: 'TITLE', least: 6, of: cell(1) },
  { title: 'STATE', of: cell(2) },
];

describe('a table', () => {
  it('stands under its titles, and ends its lines where the text ends', async () => {
    expect(
      await table(plain, columns, [
        ['1', 'Stand up', 'active'],
        ['12', 'Tea', ''],
      ]),
    ).toBe('ID  TITLE     STATE\n1   Stand up  active\n12  Tea\n');
  });

  it('cuts what may give way, and the others only when that is not enough', async () => {
    const long = [['abcdefgh', 'A title that goes on and on', 'active']];
    expect(await table(plain, columns, long)).toContain('abcdefgh  A title that goes on…  active'.slice(0, 24));
    for (const width of [20, 30, 40, 50]) {
      expect(widest(await table({ columns: width, hasColours: false }, columns, long))).toBeLessThanOrEqual(width);
    }
  });

  it.each(['毎朝のスタンドアップ会議を忘れないでください', '👩‍👩‍👧‍👦'.repeat(20), 'é'.normalize('NFD').repeat(60)])(
    'measures characters as a terminal shows them: %s',
    async (title) => {
      const told = await table({ columns: 30, hasColours: false }, columns, [['1', title, 'active']]);
      expect(widest(told)).toBeLessThanOrEqual(30);
      expect(told).toContain('…');
      expect(told).not.toMatch(/\p{Surrogate}/u);
    },
  );

  it('never cuts what is to be copied, however narrow the terminal', async () => {
    const id = '01989d4c-6c00-7000-8000-000000000000';
    const whole = columns.map((column) => (column.title === 'ID' ? { ...column, isWhole: true } : column));
    const told = await table({ columns: 30, hasColours: false }, whole, [[id, 'A title that goes on', 'active']]);
    expect(told).toContain(`${id}  A t…  act…`);
  });

  it('goes on in the next line where a column may, and leaves out first what is not needed', async () => {
    const more = [
      { title: 'ID', of: cell(0) },
      { title: 'TITLE', least: 8, wraps: true, of: cell(1) },
      { title: 'STATE', of: cell(2) },
      { title: 'OWNER', isExtra: true, of: cell(3) },
    ];
    const rows = [
      ['1', 'Water all the plants', 'active', 'Ada'],
      ['2', 'Tea', 'paused', 'Ben'],
    ];
    expect(await table({ columns: 80, hasColours: false }, more, rows)).toMatch(/^ID {2}TITLE .*OWNER\n1 /);
    expect(await table({ columns: 24, hasColours: false }, more, rows)).toBe(
      'ID  TITLE         STATE\n1   Water all     active\n    the plants\n2   Tea           paused\n',
    );
  });

  it('puts a text of several lines on one', async () => {
    expect(await table(plain, columns, [['1', 'one\n\ttwo', 'x']])).toContain('one two');
  });

  it('shows colours only where there are any, and they take no room', async () => {
    const rows = [['1', 'Tea', { text: 'failing', tone: 'bad' as const }]];
    const coloured = await table({ columns: 40, hasColours: true }, columns, rows);
    expect(coloured).toContain('\u001B[31mfailing\u001B[39m');
    expect(stringWidth(coloured.split('\n')[1] ?? '')).toBe(
      stringWidth((await table(plain, columns, rows)).split('\n')[1] ?? ''),
    );
  });
});

describe('names and values', () => {
  it('go on under themselves, and leave out what is not known', async () => {
    const told = await facts({ columns: 20, hasColours: false }, [
      ['text', 'one two three four'],
      ['none', null],
      ['id', 'abc'],
    ]);
    expect(told).toBe('text  one two three\n      four\nid    abc\n');
  });
});

describe('a sentence', () => {
  it('is broken between words, and an address is not', async () => {
    const measure = await measureFor([]);
    expect(wrapped('one two three', 8, measure)).toEqual(['one two', 'three']);
    expect(wrapped('see http://127.0.0.1:8787/very/long now', 10, measure)).toEqual([
      'see',
      'http://127.0.0.1:8787/very/long',
      'now',
    ]);
    expect(await sentence({ columns: 10 }, 'Do this:\n  cronogram run wait 1')).toBe(
      'Do this:\n  cronogram run wait 1\n',
    );
  });

  it('is cut between characters as people see them', async () => {
    const measure = await measureFor(['👩‍👩‍👧‍👦']);
    expect(cutTo('👩‍👩‍👧‍👦👩‍👩‍👧‍👦', 3, measure)).toBe('👩‍👩‍👧‍👦…');
    expect(cutTo('abc', 3, measure)).toBe('abc');
  });

  it('keeps what others wrote from steering the terminal', () => {
    expect(shown('a\u001B[2Jb\u0007c\rd\u009Be\u202Ef\ng\th')).toBe('a[2Jbcdef\ng\th');
  });
});

describe('a length of time', () => {
  it.each([
    ['30s', 30_000],
    ['10m', 600_000],
    ['2h', 7_200_000],
    ['1d', 86_400_000],
    ['1w', 604_800_000],
    ['1500', 1_500_000],
    ['250ms', 250],
    ['PT1M', 60_000],
    ['PT1.5S', 1500],
    ['P1DT2H', 93_600_000],
    ['soon', null],
    ['P', null],
    ['PT', null],
    ['P1M', null],
    ['-5m', null],
    ['', null],
  ])('is read from %s', (text, ms) => {
    expect(lengthOf(text)).toBe(ms);
  });

  it.each([0, 1, 999, 60_000, 3_600_000, 5_400_000, 86_400_000, 93_784_005])(
    'of %s ms is written as it is read',
    (ms) => {
      expect(lengthOf(durationText(ms))).toBe(ms);
    },
  );
});
