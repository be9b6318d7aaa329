import { execFileSync, spawn } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg, totalmem, type } from 'node:os';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Figure } from '../bench/report.ts';
import { pageOf, pages, pageWith, type Circumstances, type MeasuredRun } from './figures.ts';

/**
 * Writes the figures of docs/measured.md and docs/scale.md from one run of the bench. A page of which nothing was measured stays as it is:
 *
 *   npm run measured                             runs the bench, which takes minutes
 *   npm run measured -- --only words,cli         runs a part of it
 *   npm run measured -- --keep run.json          keeps the run beside the page
 *   npm run measured -- --from run.json          takes a run that was kept, or what bench --json printed
 */
const { values } = parseArgs({
  options: { from: { type: 'string' }, keep: { type: 'string' }, only: { type: 'string' } },
});

const root = fileURLToPath(new URL('../../', import.meta.url));

const run = values.from === undefined ? await measure() : read(values.from);
if (values.keep !== undefined) writeFileSync(values.keep, `${JSON.stringify(run, null, 2)}\n`);
for (const page of pages) {
  const figures = run.figures.filter(({ bench = '' }) => pageOf(bench) === page);
  if (figures.length === 0) continue;
  writeFileSync(`${root}${page}`, pageWith(readFileSync(`${root}${page}`, 'utf8'), { ...run, figures }));
  process.stdout.write(`${page} has ${figures.length} figures now.\n`);
}

async function measure(): Promise<MeasuredRun> {
  const circumstances = circumstancesAt(new Date());
  const only = values.only === undefined ? [] : ['--only', values.only];
  const bench = spawn('npm', ['run', '--silent', 'bench', '--', '--json', ...only], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<number | null>((resolve) => bench.once('close', resolve));
  const printed = await text(bench.stdout);
  const code = await ended;
  if (code !== 0) throw new Error(`The bench ended with ${code}.`);
  return { circumstances, figures: JSON.parse(printed) as Figure[] };
}

/** A plain list of figures does not say where it was measured, so this tree and this computer are taken for it. */
function read(file: string): MeasuredRun {
  const kept = JSON.parse(readFileSync(file, 'utf8')) as MeasuredRun | Figure[];
  if (!Array.isArray(kept)) return kept;
  process.stderr.write(`${file} names no tree: the page says that this tree was measured, on this computer.\n`);
  return { circumstances: circumstancesAt(statSync(file).mtime), figures: kept };
}

function circumstancesAt(moment: Date): Circumstances {
  return {
    commit: git('rev-parse', '--short=10', 'HEAD'),
    isChanged: git('status', '--porcelain', '--', '.', ...pages.map((page) => `:!${page}`)) !== '',
    date: moment.toLocaleDateString('en-GB', { day: 'numeric', month: 'long', year: 'numeric' }),
    node: process.versions.node,
    system: `${type()} ${process.arch}`,
    cores: availableParallelism(),
    memoryGb: Math.round(totalmem() / 1024 ** 3),
    ...loadNow(),
  };
}

/** Programs that wait for a core beside this one. */
function loadNow(): Pick<Circumstances, 'load'> {
  const [load = 0] = loadavg();
  return load < availableParallelism() ? {} : { load };
}

function git(...words: readonly string[]): string | null {
  try {
    return execFileSync('git', words, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return null;
  }
}
