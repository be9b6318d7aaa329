import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { textBytesMax } from '../../src/app/actions/http/answer.ts';
import { blobQuotaDefault, photoBytesMax, uploadBytesMax } from '../../src/domain/files/limits.ts';
import { sizeText } from '../../src/domain/files/summary.ts';
import * as limits from '../../src/domain/limits.ts';
import { pages, pageWith, type MeasuredRun } from './figures.ts';

const pageTexts = pages.map((name) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8'));
const [page = ''] = pageTexts;

const run: MeasuredRun = {
  circumstances: {
    commit: '0123456789',
    isChanged: false,
    date: '18 November 2026',
    node: '24.21.0',
    system: 'Linux x64',
    cores: 2,
    memoryGb: 8,
  },
  figures: [
    { bench: 'words', name: 'worst | text <b>', value: 0.5, unit: 'us', aim: 'a few' },
    { bench: 'claim', name: 'interval', value: 26_000, unit: '/s', baseline: 33_000, baselineName: 'by hand' },
    { bench: 'claim', name: '  delay meanwhile', value: 8, unit: 'ms' },
    { name: 'of no bench', value: 12, unit: 'MB' },
  ],
};

it('puts the figures of a run into the page, in the place of those before', () => {
  const once = pageWith(page, run);
  expect(pageWith(once, run)).toBe(once);
  expect(once.split('<!-- ')).toHaveLength(3);
  expect(once).toContain(
    'One run on 18 November 2026 of commit `0123456789`: Node 24.21.0 on Linux x64, 2 cores, 8 GB of memory.',
  );
  expect(once).toContain(
    [
      '| What | Measured | Baseline of the same run |',
      '| --- | ---: | --- |',
      '| interval | 26,000/s | 33,000/s: by hand |',
      '| – delay meanwhile | 8.000 ms |  |',
    ].join('\n'),
  );
  expect(once).toContain('| worst \\| text \\<b\\> | 0.500 µs | a few |');
  expect(once.indexOf('26,000')).toBeLessThan(once.indexOf('0.500 µs'));
  expect(once).toMatch(/## other\n\n\| What[^#]*of no bench/);
});

it('says when the tree was changed, and refuses a page without marks', () => {
  const { circumstances } = run;
  expect(pageWith(page, { ...run, circumstances: { ...circumstances, isChanged: true } })).toContain('with changes');
  expect(pageWith(page, { ...run, circumstances: { ...circumstances, commit: null } })).toContain('without a commit');
  expect(pageWith(page, { ...run, circumstances: { ...circumstances, load: 12 } })).toContain('(load 12.0)');
  expect(() => pageWith('# Measured', run)).toThrow('marks');
});

it('stands alone with what was measured: what other pages say in such units are limits of the code', () => {
  const folder = new URL('../../', import.meta.url);
  const names = ['README.md', ...readdirSync(new URL('docs', folder)).map((name) => `docs/${name}`)];
  const others = names.filter((name) => name.endsWith('.md') && !pages.some((one) => one === name));
  const said = others.flatMap((name) => {
    const prose = readFileSync(new URL(name, folder), 'utf8').replaceAll(/```[\s\S]*?```/g, '');
    return [...prose.matchAll(/\d[\d.,]* ?(?:ms|[µu]s|[kKMG]i?B|\/s|(?:times|x) (?:as fast|faster))\b/g)].map(
      ([quantity]) => quantity,
    );
  });
  const known = [
    `${limits.poolHeapMb} MB`,
    `${limits.templateRenderMs} ms`,
    `${limits.slotOpinionMaxMs} ms`,
    blobQuotaDefault,
    sizeText(photoBytesMax),
    sizeText(uploadBytesMax),
    sizeText(textBytesMax),
  ];
  expect(said.filter((quantity) => !known.includes(quantity))).toEqual([]);
  expect(said.length).toBeGreaterThan(2);
  // The figures of a page are below its marks, where a script writes them.
  for (const one of pageTexts) expect(one.split('<!-- ')[0]).not.toMatch(/\d ?(?:ms|µs|MB|\/s)/);
});
