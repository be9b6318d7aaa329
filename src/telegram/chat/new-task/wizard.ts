import { AppError } from '../../../domain/errors.ts';
import { pad } from '../../../domain/schedule/time/calendar.ts';
import { MONTH_NAMES } from '../../../domain/schedule/words/words.ts';
import type { ConversationRooms } from '../conversation.ts';
import { dateIn, weekdayIn } from '../kit/clock.ts';
import {
  ordinals,
  rhythms,
  weekdays,
  type DraftWhen,
  type Kept,
  type PartStep,
  type Plan,
  type StepOf,
} from '../kit/drafts.ts';
import { readTimeAlone, readWords, type Speaking } from '../kit/reading.ts';
import { texts } from '../texts.ts';
import { keptWith, readAsked } from './clauses.ts';
import type { MakingStep } from './steps.ts';
import { templates } from './wizard-english.ts';

/**
 * Making a task by buttons. Whatever is chosen becomes words, such as "every monday and thursday at 09:30", and goes through
 * the same reading as what people write; so both have the same rules and the same warnings.
 */
export interface Reading {
  readonly speaking: Speaking;
  readonly rooms: Pick<ConversationRooms, 'preview' | 'clock'>;
}

interface Choosing extends Reading {
  readonly value: string;
  readonly more: string;
}

/** The step that follows; null where the button belongs to another step than the one that is open. */
type Move = (step: MakingStep, choosing: Choosing) => MakingStep | null;

const moves: Readonly<Record<string, Move>> = {
  r: (step, { value }) => {
    const rhythm = rhythms.find((each) => each === value);
    if ((step.step !== 'ask' && step.step !== 'time') || rhythm === undefined) return null;
    return begun(rhythm, step.step === 'time' ? { ...step.kept, text: step.text } : step.kept);
  },
  d: (step, { value, more }) => {
    const day = weekdays[Number(value)];
    if (step.step !== 'days' || day === undefined) return null;
    const days = weekdays.filter((each) => (each === day ? more === '1' : step.plan.days.includes(each)));
    return { ...step, plan: { ...step.plan, days } };
  },
  next: (step) => {
    if (step.step !== 'days') return null;
    const { days, rhythm } = step.plan;
    if (days.length === 0) throw new AppError('invalid_request', texts.wizard.noDays);
    return hourStep(step, rhythm === 'fortnight' ? `every 2 weeks on ${listed(days)}` : `every ${listed(days)}`);
  },
  m: (step, { value }) => {
    if (step.step !== 'month') return null;
    if (value === 'nth') return { ...step, step: 'ordinal' };
    if (value === 'last') return hourStep(step, 'every month on the last day');
    return /^([1-9]|[12]\d|3[01])$/.test(value) ? hourStep(step, `every month on the ${nth(Number(value))}`) : null;
  },
  o: (step, { value }) => {
    const ordinal = ordinals.find((each) => each === value);
    return step.step !== 'ordinal' || ordinal === undefined
      ? null
      : { ...step, step: 'nth', plan: { ...step.plan, ordinal } };
  },
  w: (step, { value }) => {
    const day = weekdays[Number(value)];
    if (step.step !== 'nth' || day === undefined) return null;
    return hourStep(step, `every month on the ${step.plan.ordinal ?? 'first'} ${day}`);
  },
  on: (step, { value }) => (step.step === 'date' && /^\d{4}-\d\d-\d\d$/.test(value) ? hourStep(step, value) : null),
  in: (step, { value, speaking, rooms }) => {
    if (step.step !== 'date' || (value !== '20' && value !== '60')) return null;
    return afterTime({ ...step, when: readWords(`in ${value} minutes`, speaking, rooms).when });
  },
  h: (step, { value }) =>
    step.step === 'hour' && isBelow(value, 24)
      ? { ...step, step: 'minute', plan: { ...step.plan, hour: Number(value) } }
      : null,
  t: (step, choosing) => {
    const { value } = choosing;
    if (step.step !== 'minute' || !isBelow(value, 60)) return null;
    return timed(step, `${pad(step.plan.hour ?? 0, 2)}:${pad(Number(value), 2)}`, choosing);
  },
  b: (step, choosing) => {
    const { value } = choosing;
    if (step.step !== 'week' || step.plan.weeks?.includes(value) !== true) return null;
    return begunIn(step, value, choosing);
  },
  ym: (step, { value }) => {
    if (step.step !== 'yearmonth' || !/^(?:[1-9]|1[0-2])$/.test(value)) return null;
    return { ...step, step: 'yearday', plan: { ...step.plan, month: Number(value) } };
  },
  yd: (step, choosing) => {
    if (step.step !== 'yearday' || !/^(?:[1-9]|[12]\d|3[01])$/.test(choosing.value)) return null;
    return dayOfYear(step, `${choosing.value} ${monthName(step.plan)}`, choosing);
  },
  templates: (step) => {
    if (step.step === 'ask') return { step: 'templates', kept: step.kept };
    return step.step === 'text' ? { ...step, step: 'templates' } : null;
  },
  use: (step, { value, speaking, rooms }) => {
    const template = templates.find(({ id }) => id === value);
    if (step.step !== 'templates' || template === undefined) return null;
    const { text, policies } = template;
    const kept = keptWith(step.kept, policies);
    if (step.when === undefined && template.yearlyAt !== undefined) {
      const plan: Plan = { rhythm: 'year', days: [], time: template.yearlyAt };
      return { step: 'yearmonth', plan, kept: { ...kept, text } };
    }
    const when = step.when ?? readWords(template.when, speaking, rooms).when;
    return { step: 'preview', when, text, plan: step.plan, kept };
  },
  retext: (step) => (step.step === 'preview' ? { ...step, step: 'retext' } : null),
  noask: (step) => (step.step === 'preview' ? without(step, 'ack') : null),
  calm: (step) => (step.step === 'preview' ? without(step, 'quiet') : null),
  begin: (step) => (step.step === 'offer' ? { step: 'ask', kept: step.kept } : null),
  back: (step) => before(step),
};

/** What the button leads to. Throws what a person is told: that a day is missing, or that a time is over. */
export function chosen(step: MakingStep, action: string, choosing: Choosing): MakingStep | null {
  return Object.hasOwn(moves, action) ? (moves[action]?.(step, choosing) ?? null) : null;
}

function without(step: StepOf<'preview'>, policy: 'ack' | 'quiet'): StepOf<'preview'> {
  const { policies, ...kept } = step.kept;
  const { [policy]: _dropped, ...left } = policies ?? {};
  return { ...step, kept: Object.keys(left).length === 0 ? kept : { ...kept, policies: left } };
}

export function monthName({ month = 1 }: Plan): string {
  return (MONTH_NAMES[month - 1] ?? '').toLowerCase();
}

/** The time of the day is known; an "every 2 weeks" still has two weeks with which it may begin. */
export function timed(step: StepOf<PartStep>, time: string, reading: Reading): MakingStep {
  const { plan, kept } = step;
  const { when, preview, policies } = asked(`${plan.lead ?? 'every day'} at ${time}`, reading);
  const [first] = preview.next;
  if (plan.rhythm !== 'fortnight' || first === undefined)
    return afterTime({ when, plan, kept: keptWith(kept, policies) });
  const day = { timezone: when.schedule.timezone, now: first };
  const monday = dateIn(day, (8 - weekdayIn(day)) % 7 || 7);
  const later = asked(`${plan.lead ?? ''} at ${time} starting ${monday}`, reading).preview.next[0] ?? first;
  return { ...step, step: 'week', plan: { ...plan, time, weeks: [dateIn(day, 0), dateIn({ ...day, now: later }, 0)] } };
}

/** With the first run on that day, or on the first one that fits after it. */
export function begunIn({ plan, kept }: StepOf<PartStep>, day: string, reading: Reading): MakingStep {
  const { when, policies } = asked(`${plan.lead ?? ''} at ${plan.time ?? ''} starting ${day}`, reading);
  return afterTime({ when, plan, kept: keptWith(kept, policies) });
}

export function dayOfYear({ plan, kept }: StepOf<PartStep>, day: string, reading: Reading): MakingStep {
  const lead = `every year on ${day}`;
  const { when, policies } = asked(`${lead} at ${plan.time ?? ''}`, reading);
  return afterTime({ when, plan: { ...plan, lead }, kept: keptWith(kept, policies) });
}

function asked(words: string, { speaking, rooms }: Reading) {
  return readAsked(words, { speaking, rooms }, readTimeAlone);
}

function isBelow(value: string, max: number): boolean {
  return /^\d{1,2}$/.test(value) && Number(value) < max;
}

function listed(days: readonly string[]): string {
  return days.length < 2 ? days.join('') : `${days.slice(0, -1).join(', ')} and ${days.at(-1)}`;
}

export function nth(day: number): string {
  const ending = { 1: 'st', 2: 'nd', 3: 'rd' }[day % 10] ?? 'th';
  return `${day}${day > 10 && day < 20 ? 'th' : ending}`;
}

const firstParts: Readonly<Record<Plan['rhythm'], PartStep>> = {
  day: 'hour',
  weekday: 'hour',
  week: 'days',
  fortnight: 'days',
  month: 'month',
  once: 'date',
  cron: 'cron',
  year: 'yearmonth',
};

function begun(rhythm: Plan['rhythm'], kept: Kept): StepOf<PartStep> {
  const lead = rhythm === 'day' ? 'every day' : rhythm === 'weekday' ? 'every weekday' : undefined;
  return { step: firstParts[rhythm], plan: { rhythm, days: [], lead }, kept };
}

export function hourStep({ plan, kept }: StepOf<PartStep>, lead: string): StepOf<PartStep> {
  return { step: 'hour', plan: { ...plan, lead }, kept };
}

interface Timed {
  readonly when: DraftWhen;
  readonly plan?: Plan | undefined;
  readonly kept: Kept;
}

/** When the time is known, the text is asked for, unless it is there: then the task can be shown. */
export function afterTime({ when, plan, kept }: Timed): MakingStep {
  const { text, ...others } = kept;
  if (text === undefined && kept.media === undefined) return { step: 'text', when, plan, kept };
  return { step: 'preview', when, text: text ?? '', plan, kept: others };
}

/** The time of a preview is asked for again: by the clock where the days were chosen by buttons. */
export function retimed({ when, text, plan, kept }: StepOf<'preview'>): MakingStep {
  if (plan?.hour === undefined) return { step: 'time', text, when, kept };
  return { step: 'hour', plan, kept: { ...kept, text } };
}

function before(step: MakingStep): MakingStep | null {
  const { kept } = step;
  switch (step.step) {
    case 'templates':
      return step.when === undefined ? { step: 'ask', kept } : { step: 'text', when: step.when, plan: step.plan, kept };
    case 'time':
      return step.when === undefined ? null : { step: 'preview', when: step.when, text: step.text, kept };
    case 'retext':
      return { ...step, step: 'preview' };
    case 'text':
      return step.plan === undefined ? { step: 'ask', kept } : lastPart(step.plan, kept);
    case 'ask':
    case 'preview':
    case 'offer':
      return null;
    default:
      return partBefore(step);
  }
}

function lastPart(plan: Plan, kept: Kept): StepOf<PartStep> {
  if (plan.weeks !== undefined) return { step: 'week', plan, kept };
  const step = plan.hour !== undefined ? 'minute' : plan.lead === undefined ? firstParts[plan.rhythm] : 'hour';
  return { step, plan, kept };
}

function partBefore({ step, plan, kept }: StepOf<PartStep>): MakingStep {
  const to = (part: PartStep): MakingStep => ({ step: part, plan, kept });
  if (step === 'minute') return to('hour');
  if (step === 'week') return to(plan.hour === undefined ? 'hour' : 'minute');
  if (step === 'yearday') return to('yearmonth');
  if (step === 'yearmonth') {
    const { text: _ofTemplate, ...others } = kept;
    return { step: 'templates', kept: others };
  }
  if (step === 'nth') return to('ordinal');
  if (step === 'ordinal') return to('month');
  const isFirst = step !== 'hour' || firstParts[plan.rhythm] === 'hour';
  if (isFirst) return { step: 'ask', kept };
  return to(plan.ordinal === undefined ? firstParts[plan.rhythm] : 'nth');
}
