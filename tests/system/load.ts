import type { Chance } from '../support/chance.ts';
import { threadOf } from './telegram.ts';

/** A task that the driver will ask for. The title is unique, so that a task made twice is seen. */
export interface Wish {
  readonly key: string;
  readonly title: string;
  readonly thread: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** The driver leaves the others alone, so that their slots are known exactly from their creation to the end. */
  readonly mayChange: boolean;
}

/** Most in groups, some asked for from within a topic of one, and some that are delivered nowhere. */
function threadsIn(forums: readonly number[]): readonly string[] {
  return [...forums.map((forum) => threadOf(forum)), threadOf(forums[1], 7), 'cli:default'];
}

const overlaps = ['skip', 'queue', 'replace', 'allow'] as const;
const missed = ['skip', 'once', 'all'] as const;
const quick = { attempts: 3, base: 'PT0.1S', factor: 1, jitter: 0 };

/** Three parts of a chat, with characters that must not be torn. */
const long = Array.from({ length: 900 }, (_value, index) => `word${index} 👩‍👩‍👧`)
  .join(' ')
  .slice(0, 12_000);

const actions: readonly ((random: Chance, target: string | undefined) => Readonly<Record<string, unknown>>)[] = [
  () => ({ instructions: 'A plain reminder.' }),
  () => ({
    instructions:
      '#{{ task.number }} for {{ run.scheduled_for }}, attempt {{ run.attempt }}{% if run.late %}, late{% endif %}',
  }),
  () => ({ instructions: long }),
  (random, url) => ({
    instructions: 'A slow answer.',
    action:
      url === undefined ? { kind: 'echo', delay_ms: random.between(50, 1500) } : { kind: 'http', method: 'POST', url },
  }),
  () => ({ instructions: 'The second try works.', action: { kind: 'echo', delay_ms: 50, fail_attempts: 1 } }),
  (random) => ({
    instructions: 'Not to be repeated.',
    action: { kind: 'echo', delay_ms: random.between(300, 1200), repeatable: false },
  }),
  () => ({ instructions: 'It fails in the end.', action: { kind: 'echo', fail_attempts: 1000, error: 'final' } }),
  (random) => ({
    instructions: 'It remembers.',
    action: { kind: 'echo', delay_ms: random.between(0, 300), context: { seen: true } },
  }),
];

const schedules: readonly ((random: Chance) => Readonly<Record<string, unknown>>)[] = [
  () => ({ kind: 'interval', interval: 'PT1S', timezone: 'UTC' }),
  () => ({ kind: 'rrule', rrule: 'FREQ=SECONDLY;INTERVAL=2', timezone: 'UTC' }),
  () => ({ kind: 'interval', interval: 'PT1S', from: 'completion', timezone: 'Europe/Madrid' }),
  () => ({ kind: 'cron', cron: '* * * * *', timezone: 'Asia/Kathmandu' }),
  (random) => ({
    kind: 'once',
    once_at: new Date(Date.now() + random.between(2000, 60_000)).toISOString(),
    timezone: 'UTC',
  }),
  () => ({ kind: 'interval', interval: 'PT2S', timezone: 'America/New_York' }),
  () => ({ kind: 'rrule', rrule: 'FREQ=SECONDLY;INTERVAL=1', timezone: 'UTC' }),
];

/** The numbers of the lists have no common factor with each other's rounds, so many combinations come up. */
export function wish(
  random: Chance,
  index: number,
  { name, forums, target }: { readonly name: string; readonly forums: readonly number[]; readonly target?: string },
): Wish {
  const threads = threadsIn(forums);
  const bounded = index % 9 === 8;
  const title = `${name} ${index}`;
  const action = actions[index % actions.length] ?? actions[0];
  const schedule = schedules[index % schedules.length] ?? schedules[0];
  return {
    key: `create-${name}-${index}`,
    title,
    thread: threads[(index * 3 + Math.floor(index / threads.length)) % threads.length] ?? 'cli:default',
    mayChange: !bounded && index % 2 === 1,
    body: {
      title,
      ...action?.(random, target),
      schedule: schedule?.(random),
      policies: {
        overlap: overlaps[Math.floor(index / 2) % overlaps.length],
        missed: missed[Math.floor(index / 3) % missed.length],
        // A few tasks may be paused by their failures; the others go on failing.
        auto_pause: index % 16 === 14 ? 5 : 0,
        retry: quick,
        ...(bounded ? { max_runs: random.between(3, 12) } : {}),
      },
    },
  };
}
