import { Cron } from 'croner';
import type { Opinion, SlotQuestion } from '../../app/housekeeping/second-opinion.ts';
import type { CronSchedule } from '../../domain/schedule/shapes.ts';
import { knownFaults } from './known-faults.ts';
import { ruleSlots } from './rrule.ts';
import { intervalSlots, isNearChange, onceSlots, toWall } from './wall.ts';

/** Answers by the library of the kind, away from its known faults and from changes of the clocks. */
export function answerTo(question: SlotQuestion): Opinion {
  const { schedule, ours } = question;
  const { timezone } = schedule;
  const faults = knownFaults.filter((fault) => fault.appliesTo(question));
  if (faults.some(({ spoils }) => spoils === undefined)) return { is: 'none', reason: 'known_fault' };
  const isSpoiled = (instant: number) => faults.some(({ spoils }) => spoils?.(toWall(timezone, instant)) === true);
  const isUnsure = (instant: number) => isSpoiled(instant) || isNearChange(timezone, instant);
  try {
    const slots = slotsOf(question, isUnsure);
    if (slots === null) return { is: 'none', reason: 'undecided' };
    const all = [...new Set([...slots, ...ours])];
    const unsure = all.filter(isUnsure);
    if (all.length > 0 && unsure.length === all.length)
      return { is: 'none', reason: all.some(isSpoiled) ? 'known_fault' : 'clock_change' };
    return { is: 'slots', slots, unsure };
  } catch {
    return { is: 'none', reason: 'refused' };
  }
}

function slotsOf(question: SlotQuestion, isUnsure: (instant: number) => boolean): readonly number[] | null {
  const { schedule } = question;
  switch (schedule.kind) {
    case 'once':
      return onceSlots(question);
    case 'cron':
      return cronSlots(schedule, question, isUnsure);
    case 'rrule':
      return ruleSlots(schedule, question);
    case 'interval':
      return intervalSlots(schedule, question);
  }
}

/**
 * The next runs by croner. Its `match` is asked about every instant of either answer: null where it contradicts the runs,
 * except where the runs do not count anyway.
 */
function cronSlots(
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
