import type { Figure } from './report.ts';

/**
 * The slots of a day, second by second, for a mix of tasks as people make them, and how late they are with so many runs a second.
 * Nothing of the product runs in it: what a worker does in a second comes from the bench of the cluster.
 */

const tasks = [1_000_000, 10_000_000, 100_000_000];
const daySeconds = 86_400;
const hourSeconds = 3600;

interface Kind {
  readonly name: string;
  readonly share: number;
  /** Adds the slots of so many tasks to the seconds of the day. */
  readonly slots: (curve: Float64Array, count: number) => void;
}

/** Of a day's tasks in one zone, by the hour at which they are wanted: few at night, most when people begin to work. */
const wanted = [1, 1, 1, 1, 1, 2, 6, 12, 16, 20, 8, 5, 6, 5, 4, 4, 5, 7, 8, 6, 5, 4, 3, 2];
/** Zones by the share of people in them, as hours that they are ahead of UTC. */
const zones: readonly (readonly [number, number])[] = [
  [-8, 8],
  [-6, 6],
  [-5, 16],
  [-3, 8],
  [0, 10],
  [1, 26],
  [2, 8],
  [5, 8],
  [8, 6],
  [9, 4],
];
/** Minutes that people name: the full hour most often, then the half. */
const minutes: readonly (readonly [number, number])[] = [
  [0, 62],
  [30, 18],
  [15, 6],
  [45, 6],
  [5, 2],
  [10, 2],
  [20, 2],
  [40, 2],
];

const total = (weights: readonly number[]) => weights.reduce((sum, one) => sum + one, 0);

/** Once a day, at an hour and a minute of a clock on the wall. */
function daily(curve: Float64Array, count: number): void {
  const [hourSum, zoneSum, minuteSum] = [
    total(wanted),
    total(zones.map(([, share]) => share)),
    total(minutes.map(([, share]) => share)),
  ];
  for (const [ahead, zoneShare] of zones)
    for (const [hour, hourShare] of wanted.entries())
      for (const [minute, minuteShare] of minutes) {
        const second = ((hour - ahead + 24) % 24) * hourSeconds + minute * 60;
        curve[second] =
          (curve[second] ?? 0) + (count * hourShare * zoneShare * minuteShare) / hourSum / zoneSum / minuteSum;
      }
}

/** Again and again, on the clock: at the full minute that their number divides. */
const each = (everySeconds: number) => (curve: Float64Array, count: number) => {
  for (let second = 0; second < daySeconds; second += everySeconds) curve[second] = (curve[second] ?? 0) + count;
};

/** Again and again since the task was made, at whatever second that was. */
const since = (everySeconds: number) => (curve: Float64Array, count: number) => {
  for (let second = 0; second < daySeconds; second += 1) curve[second] = (curve[second] ?? 0) + count / everySeconds;
};

const mix: readonly Kind[] = [
  { name: 'daily', share: 0.45, slots: daily },
  { name: 'weekly', share: 0.25, slots: (curve, count) => daily(curve, count / 5) },
  { name: 'monthly', share: 0.12, slots: (curve, count) => daily(curve, count / 30) },
  { name: 'once', share: 0.1, slots: (curve, count) => daily(curve, count / 10) },
  { name: 'hourly cron', share: 0.04, slots: each(hourSeconds) },
  { name: 'every 6 hours', share: 0.03, slots: each(6 * hourSeconds) },
  { name: 'interval of an hour', share: 0.008, slots: since(hourSeconds) },
  { name: 'every 5 minutes', share: 0.002, slots: each(300) },
];

function curveOf(count: number): Float64Array {
  const curve = new Float64Array(daySeconds);
  for (const { share, slots } of mix) slots(curve, count * share);
  return curve;
}

/** Each slot starts later by so much at most, evenly: the policy `jitter`. */
function spreadOut(curve: Float64Array, jitterSeconds: number): Float64Array {
  if (jitterSeconds === 0) return curve;
  const spread = new Float64Array(daySeconds);
  let inside = 0;
  for (let second = -jitterSeconds; second < daySeconds; second += 1) {
    inside += curve[(second + daySeconds) % daySeconds] ?? 0;
    if (second < 0) continue;
    inside -= curve[(second - jitterSeconds + daySeconds) % daySeconds] ?? 0;
    spread[second] = inside / jitterSeconds;
  }
  return spread;
}

/** Who waits at the beginning of each second of a day at a steady rate, first come, first served; the day before was like this one. */
function waitingAt(curve: Float64Array, perSecond: number): Float64Array {
  const waiting = new Float64Array(daySeconds);
  let now = 0;
  for (let second = 0; second < 2 * daySeconds; second += 1) {
    waiting[second % daySeconds] = now;
    now = Math.max(0, now + (curve[second % daySeconds] ?? 0) - perSecond);
  }
  return waiting;
}

/** The last slot of the worst second waits for all before it. */
function worstAt(curve: Float64Array, perSecond: number): number {
  const waiting = waitingAt(curve, perSecond);
  return waiting.reduce((worst, before, second) => Math.max(worst, (before + (curve[second] ?? 0)) / perSecond), 0);
}

/** The rate at which no slot is later than this, found by halving. */
function rateFor(curve: Float64Array, seconds: number): number {
  let [low, high] = [total([...curve]) / daySeconds, Math.max(...curve) + 1];
  for (let round = 0; round < 30; round += 1) {
    const middle = (low + high) / 2;
    if (worstAt(curve, middle) > seconds) low = middle;
    else high = middle;
  }
  return high;
}

/** About what a few workers do on two cores with their Postgres, and what a server with many cores may do. */
const rates = [1000, 10_000];

const many = (count: number) => `${count / 1_000_000}M tasks`;

export async function benchDueCurve(): Promise<Figure[]> {
  return tasks.flatMap((count) => {
    const plain = curveOf(count);
    const ofDay = [
      { name: `${many(count)}: slots a day`, value: total([...plain]), unit: '' },
      { name: '  on average', value: total([...plain]) / daySeconds, unit: '/s' },
      { name: '  in the fullest second', value: Math.max(...plain), unit: '' },
    ];
    return [...ofDay, ...jitters.flatMap(([label, seconds]) => under(spreadOut(plain, seconds), label))];
  });
}

const jitters = [
  ['no jitter', 0],
  ['a jitter of 5 minutes', 300],
  ['a jitter of an hour', 3600],
] as const;

/** The rate that keeps slots in time, and how late they are at rates that there are. Jitter itself does not count as late. */
function under(curve: Float64Array, label: string): Figure[] {
  const average = total([...curve]) / daySeconds;
  const needed = (aim: string, seconds: number) => ({
    name: `  runs a second for none later than ${aim}, ${label}`,
    value: rateFor(curve, seconds),
    unit: '/s',
  });
  const late = rates
    .filter((perSecond) => perSecond > average)
    .map((perSecond) => ({
      name: `  the latest at ${perSecond.toLocaleString('en')} runs a second, ${label}`,
      value: worstAt(curve, perSecond),
      unit: 's',
    }));
  return [needed('a minute', 60), needed('10 minutes', 600), ...late];
}
