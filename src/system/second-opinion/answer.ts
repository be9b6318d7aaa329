import type { Opinion, SlotQuestion } from '../../app/ports/second-opinion.ts';
import { cronSlots } from './cron.ts';
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
