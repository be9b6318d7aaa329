/** One measured figure, beside the raw baseline of the same run and the aim it is held against. */
export interface Figure {
  /** The bench that it comes from; its runner adds the name. */
  readonly bench?: string;
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly baseline?: number;
  readonly baselineName?: string;
  readonly aim?: string;
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

const shares = { p50: 0.5, p99: 0.99, max: 1 } as const;

interface Beside {
  readonly baseline?: readonly number[];
  readonly baselineName?: string;
  /** Of the 99th percentile. */
  readonly aim?: string;
}

/** Of fewer samples the 99th percentile is next to their worst, and says nothing of its own. */
const tailSamplesMin = 1000;

/** How long something took in the middle, in the tail and at the worst, beside the same of a baseline. */
export function spread(
  nameOf: (label: keyof typeof shares) => string,
  taken: readonly number[],
  { baseline, baselineName = '', aim }: Beside = {},
): Figure[] {
  const told = Object.entries(shares).filter(([label]) => label !== 'p99' || taken.length >= tailSamplesMin);
  return told.map(([label, share]) => ({
    name: nameOf(label as keyof typeof shares),
    value: percentile(taken, share),
    unit: 'ms',
    ...(baseline === undefined ? {} : { baseline: percentile(baseline, share), baselineName }),
    ...(label === 'p99' && aim !== undefined ? { aim } : {}),
  }));
}

/** Commits that wait for the disk one after the other between a slot and its call: claim, start, end and send. */
const commitsPerSlot = 4;

/** The product's own part of a lateness: without what the disk took at the same time. */
export function beyondDisk(name: string, late: readonly number[], commits: readonly number[]): Figure[] {
  const own = (share: number) => percentile(late, share) - commitsPerSlot * percentile(commits, share);
  const less = `less ${commitsPerSlot} bare commits`;
  return [
    { name: `${name}, p50 ${less}`, value: own(shares.p50), unit: 'ms', aim: '2.5 ms' },
    { name: `${name}, p99 ${less}`, value: own(shares.p99), unit: 'ms', aim: '10 ms' },
  ];
}

export function shown(value: number): string {
  if (value >= 1000) return Math.round(value).toLocaleString('en');
  return value >= 10 ? value.toFixed(1) : value.toFixed(3);
}

export function table(figures: readonly Figure[]): string {
  const rows = figures.map(({ name, value, unit, baseline, baselineName, aim }) => [
    name,
    `${shown(value)} ${unit}`,
    baseline === undefined ? '' : `${shown(baseline)} ${unit} (${baselineName ?? 'raw'})`,
    aim ?? '',
  ]);
  const all = [['what', 'measured', 'baseline of the same run', 'aim'], ...rows];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  return all
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
