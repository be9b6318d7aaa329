import { shown, type Figure } from '../bench/report.ts';

/** The circumstances of one run of the bench: which tree, when and on what. Nothing in it names a computer or a folder. */
export interface Circumstances {
  /** Null where the tree is no clone. */
  readonly commit: string | null;
  /** True when the tree differs from that commit. */
  readonly isChanged: boolean;
  readonly date: string;
  readonly node: string;
  readonly system: string;
  readonly cores: number;
  readonly memoryGb: number;
  /** Load of the computer when the run began; absent where that was nothing to speak of. */
  readonly load?: number;
}

export interface MeasuredRun {
  readonly circumstances: Circumstances;
  readonly figures: readonly Figure[];
}

interface Section {
  readonly title: string;
  readonly about: string;
}

/** The benches in the order of the page. */
const sections: Readonly<Record<string, Section>> = {
  lateness: {
    title: 'From a slot to the start of its action',
    about: 'With 100,000 other tasks in the database, read from the rows that the product writes.',
  },
  call: {
    title: 'From a slot to its call to Telegram',
    about: 'Through scheduler, runner, outbox, pacing and HTTP, to a Bot API server on the same computer.',
  },
  claim: {
    title: 'Due slots into durable runs',
    about: 'Each slot becomes an occurrence with its queued run, committed to the disk.',
  },
  pipeline: {
    title: 'The whole pipeline',
    about: 'From the slot to the confirmed delivery, with a chat that answers at once.',
  },
  pacing: {
    title: 'A backlog at the pace of Telegram',
    about:
      "The time until the last message is sent, as a share of the least time that Telegram's limits allow; 1 is perfect.",
  },
  api: {
    title: 'HTTP API',
    about: 'With 100,000 tasks; the time counts from the moment at which the request was meant to be sent.',
  },
  cli: { title: 'Command line', about: 'From the start of the process to its end.' },
  start: { title: 'Start', about: 'A server on a file with a million tasks.' },
  space: { title: 'Disk', about: 'The growth of the database file, as the product itself writes it.' },
  cluster: {
    title: 'Several workers on one Postgres',
    about:
      'Processes as an operator starts them, and a Postgres whose commits wait for the disk, all on the same cores.',
  },
  'cluster-lateness': {
    title: 'Lateness on Postgres',
    about: 'With 100,000 other tasks in the database, from the slot to the start of its action.',
  },
  'cluster-claim': {
    title: 'Due slots on Postgres',
    about: 'By the scheduler of one process, each batch committed to the disk with its jobs.',
  },
  scale: {
    title: 'What grows with tasks and with runs',
    about: 'On a Postgres whose commits wait for the disk.',
  },
  'due-curve': {
    title: 'The day of so many tasks',
    about:
      'Calculated, second by second, for a mix of tasks as people make them; how late slots are at a rate is how long they wait for those before them, beside what jitter itself adds.',
  },
  why: { title: 'Why', about: 'Questions about a task with a million slots.' },
  retention: { title: 'Retention', about: 'The nightly removal of history while the server works.' },
  schedule: { title: 'Schedules', about: 'The calculation of slots alone, without a database.' },
  words: { title: 'Plain words', about: 'A typed phrase into a schedule.' },
};

/** Pages with figures. */
export const pages = ['docs/measured.md', 'docs/scale.md'] as const;
const ofScale = ['cluster', 'cluster-lateness', 'cluster-claim', 'scale', 'due-curve'];

export function pageOf(bench: string): (typeof pages)[number] {
  return ofScale.includes(bench) ? 'docs/scale.md' : 'docs/measured.md';
}

const begin = '<!-- figures: written by npm run measured -->';
const end = '<!-- end of the figures -->';

/** The page with the figures of this run in the place of those before. */
export function pageWith(page: string, run: MeasuredRun): string {
  const [before, rest] = page.split(begin);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined) throw new Error('The page has lost the marks of its figures.');
  return `${before}${begin}\n\n${figuresText(run)}\n\n${end}${after}`;
}

function figuresText({ circumstances, figures }: MeasuredRun): string {
  const names = new Set(figures.map(({ bench = 'other' }) => bench));
  const ordered = [...Object.keys(sections), ...names].filter((name) => names.delete(name));
  const parts = ordered.map((name) => {
    const { title, about } = sections[name] ?? { title: name, about: '' };
    const rows = figures.filter(({ bench = 'other' }) => bench === name);
    return [`## ${title}`, ...(about === '' ? [] : [about]), table(rows)].join('\n\n');
  });
  return [sentence(circumstances), ...parts].join('\n\n');
}

function sentence({ commit, isChanged, date, node, system, cores, memoryGb, load }: Circumstances): string {
  const busy =
    load === undefined
      ? ''
      : ` The computer had much else to do (load ${shown(load)}): times and rates are worse than on a quiet one.`;
  const tree = commit === null ? 'a tree without a commit' : `commit \`${commit}\`${isChanged ? ' with changes' : ''}`;
  return `One run on ${date} of ${tree}: Node ${node} on ${system}, ${cores} cores, ${memoryGb} GB of memory.${busy}`;
}

function table(figures: readonly Figure[]): string {
  const columns = [
    { title: 'What', cell: ({ name }: Figure) => nameOf(name) },
    { title: 'Measured', cell: ({ value, unit }: Figure) => amount(value, unit), isNumber: true },
    { title: 'Baseline of the same run', cell: baselineOf },
    { title: 'Aim', cell: ({ aim = '' }: Figure) => plain(aim) },
  ].filter(({ cell }) => figures.some((figure) => cell(figure) !== ''));
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [
    line(columns.map(({ title }) => title)),
    line(columns.map(({ isNumber }) => (isNumber === true ? '---:' : '---'))),
    ...figures.map((figure) => line(columns.map(({ cell }) => cell(figure)))),
  ].join('\n');
}

/** A figure that belongs to the one above it is set in by its name. */
function nameOf(name: string): string {
  const isPart = name.startsWith(' ');
  return `${isPart ? '– ' : ''}${plain(name.trim())}`;
}

function baselineOf({ baseline, baselineName = 'raw', unit }: Figure): string {
  return baseline === undefined ? '' : `${amount(baseline, unit)}: ${plain(baselineName)}`;
}

function amount(value: number, unit: string): string {
  const sign = unit === 'us' ? 'µs' : plain(unit);
  return `${shown(value)}${sign.startsWith('/') ? '' : ' '}${sign}`.trim();
}

/** A text that markdown shows as it stands, in one line. */
function plain(text: string): string {
  const line = text.replace(/[\s\p{C}]+/gu, ' ');
  return line.replace(/[\\`*_[\]<>|~]/g, String.raw`\$&`);
}
