import { Cron } from 'croner';
import type { SlotQuestion } from '../../app/ports/second-opinion.ts';
import type { CronSchedule } from '../../domain/schedule/shapes.ts';

/**
 * The next runs by croner. Its `match` is asked about every instant of either answer: null where it contradicts the runs,
 * except where the runs do not count anyway.
 */
export function cronSlots(
  { cron, timezone }: CronSchedule,
  { after, upTo, count, ours }: SlotQuestion,
  isUnsure: (instant: number) => boolean,
): readonly number[] | null {
  const job = new Cron(cron.toUpperCase(), { timezone, paused: true });
  const slots: number[] = [];
  let next = job.nextRun(new Date(after));
  while (next !== null && next.getTime() <= upTo && slots.length < count) {
    slots.push(next.getTime());
    next = job.nextRun(next);
  }
  const reach = slots.length < count ? upTo : (slots.at(-1) ?? upTo);
  const runs = new Set(slots);
  const asked = [...new Set([...slots, ...ours])].filter((slot) => slot <= reach && !isUnsure(slot));
  return asked.every((slot) => job.match(new Date(slot)) === runs.has(slot)) ? slots : null;
}
