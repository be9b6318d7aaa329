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

/** How long something took in the middle, in the tail and at the worst, beside the same of a baseline. */
export function spread(
  nameOf: (label: keyof typeof shares) => string,
  taken: readonly number[],
  { baseline, baselineName = '', aim }: Beside = {},
): Figure[] {
  return Object.entries(shares).map(([label, share]) => ({
    name: nameOf(label as keyof typeof shares),
    value: percentile(taken, share),
    unit: 'ms',
    ...(baseline === undefined ? {} : { baseline: percentile(baseline, share), baselineName }),
    ...(label === 'p99' && aim !== undefined ? { aim } : {}),
  }));
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
