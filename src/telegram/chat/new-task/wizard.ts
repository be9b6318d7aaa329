import { AppError } from '../../../domain/errors.ts';
import { pad } from '../../../domain/schedule/time/calendar.ts';
import { nth } from '../../../domain/schedule/words/words.ts';
import { type Asked, readAnywhere, readTime } from '../../../domain/when/asked.ts';
import type { AskedPolicies } from '../../../domain/when/beside.ts';
import {
  partSteps,
  rhythms,
  weekdays,
  type Kept,
  type MakingStep,
  type PartStep,
  type Plan,
  type StepOf,
  readingOf,
  type PlaceAndDate,
} from '../kit/drafts.ts';
import { texts } from '../texts.ts';

/**
 * Making a task by buttons. Whatever is chosen becomes words, such as "every monday and thursday at 09:30", and goes through
 * the same reading as what people write; so both have the same rules and the same warnings.
 */
interface Choosing {
  readonly speaking: PlaceAndDate;
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
    const { days } = step.plan;
    if (days.length === 0) throw new AppError('invalid_request', texts.wizard.noDays);
    return hourStep(step, `every ${listed(days)}`);
  },
  m: (step, { value }) => {
    if (step.step !== 'month') return null;
    if (value === 'last') return hourStep(step, 'every month on the last day');
    return /^([1-9]|[12]\d|3[01])$/.test(value) ? hourStep(step, `every month on the ${nth(Number(value))}`) : null;
  },
  on: (step, { value }) => (step.step === 'date' && /^\d{4}-\d\d-\d\d$/.test(value) ? hourStep(step, value) : null),
  in: (step, { value, speaking }) => {
    if (step.step !== 'date' || (value !== '20' && value !== '60')) return null;
    return withTime(readTime(`in ${value} minutes`, readingOf(speaking)), speaking.date, step);
  },
  h: (step, { value }) =>
    step.step === 'hour' && isBelow(value, 24)
      ? { ...step, step: 'minute', plan: { ...step.plan, hour: Number(value) } }
      : null,
  t: (step, { value, speaking }) => {
    if (step.step !== 'minute' || !isBelow(value, 60)) return null;
    return timed(step, `${pad(step.plan.hour ?? 0, 2)}:${pad(Number(value), 2)}`, speaking);
  },
  retext: (step) => (step.step === 'preview' ? { ...step, step: 'retext' } : null),
  noask: (step) => (step.step === 'preview' ? without(step, 'ack') : null),
  calm: (step) => (step.step === 'preview' ? without(step, 'quiet') : null),
  take: (step, { value, speaking }) => {
    const offer =
      step.step === 'question' && isBelow(value, step.offers.length) ? step.offers[Number(value)] : undefined;
    if (step.step !== 'question' || offer === undefined) return null;
    const read = readAnywhere(offer.when, readingOf(speaking));
    return withTime(read, speaking.date, { kept: step.kept, phrase: offer.when });
  },
  pick: (step) => (step.step === 'question' ? { step: 'ask', kept: step.kept } : null),
  way: (step, { value, speaking }) =>
    step.step === 'preview' && isBelow(value, step.when.ways.length) ? otherWay(step, Number(value), speaking) : null,
  back: (step) => stepBefore(step),
};

/** The step to which the button leads. Throws what a person is told: that a day is missing, or that a time is over. */
export function chosen(step: MakingStep, action: string, choosing: Choosing): MakingStep | null {
  return Object.hasOwn(moves, action) ? (moves[action]?.(step, choosing) ?? null) : null;
}

/** Buttons of older messages, for times that are written now. */
export function isFormer({ step }: MakingStep, action: string, value: string): boolean {
  const asksTime = step === 'ask' || step === 'time' || partSteps.some((part) => part === step);
  const pressed = action === 'r' || action === 'm' ? `${action}:${value}` : action;
  return asksTime && /^(?:[owb]|y[md]|templates|use|r:(?:fortnight|cron)|m:nth)$/.test(pressed);
}

function without(step: StepOf<'preview'>, policy: 'ack' | 'quiet'): StepOf<'preview'> {
  const { policies, ...kept } = step.kept;
  const { [policy]: _dropped, ...left } = policies ?? {};
  return { ...step, kept: Object.keys(left).length === 0 ? kept : { ...kept, policies: left } };
}

/** The days were chosen before, and here is their time. */
export function timed({ plan, kept }: StepOf<PartStep>, time: string, speaking: PlaceAndDate): MakingStep {
  const phrase = `${plan.lead ?? 'every day'} at ${time}`;
  return withTime(readTime(phrase, readingOf(speaking)), speaking.date, { plan, kept, phrase });
}

function isBelow(value: string, max: number): boolean {
  return /^\d{1,2}$/.test(value) && Number(value) < max;
}

function listed(days: readonly string[]): string {
  return days.length < 2 ? days.join('') : `${days.slice(0, -1).join(', ')} and ${days.at(-1)}`;
}

const firstParts: Readonly<Record<Plan['rhythm'], PartStep>> = {
  day: 'hour',
  weekday: 'hour',
  week: 'days',
  month: 'month',
  once: 'date',
};

function begun(rhythm: Plan['rhythm'], kept: Kept): StepOf<PartStep> {
  const lead = rhythm === 'day' ? 'every day' : rhythm === 'weekday' ? 'every weekday' : undefined;
  return { step: firstParts[rhythm], plan: { rhythm, days: [], lead }, kept };
}

export function hourStep({ plan, kept }: StepOf<PartStep>, lead: string): StepOf<PartStep> {
  return { step: 'hour', plan: { ...plan, lead }, kept };
}

/** The words are read the other way; what was read before is offered in its place. */
function otherWay(step: StepOf<'preview'>, index: number, { place }: PlaceAndDate): MakingStep | null {
  const { when } = step;
  const way = when.ways[index];
  if (way === undefined) return null;
  const read = readAnywhere(way.when, readingOf({ place, date: when.at }));
  const back = { text: way.back, when: way.from, back: way.text, from: way.when };
  const others = waysOf(read, way.when).filter(({ text }) => text !== back.text && text !== back.back);
  return { ...step, when: { ...timeOf(read, when.at), ways: [back, ...others] } };
}

function timeOf({ schedule, words, assumed }: Asked, at: number): StepOf<'preview'>['when'] {
  return { schedule, words, at, assumed: assumed.map(({ text }) => text), ways: [] };
}

/** Beside each other reading stand the words that lead back from it. */
function waysOf({ assumed }: Pick<Asked, 'assumed'>, phrase: string): StepOf<'preview'>['when']['ways'] {
  return assumed.flatMap(({ text, other }) => (other === null ? [] : { ...other, back: text, from: phrase }));
}

/** The step that follows a time: the text is asked for, unless it is there; then the task can be shown. */
export function withTime(
  read: Asked,
  at: number,
  { plan, kept, phrase = '' }: { readonly plan?: Plan | undefined; readonly kept: Kept; readonly phrase?: string },
): MakingStep {
  const { text: said, policies, forWhom } = read;
  const when = { ...timeOf(read, at), ways: phrase === '' ? [] : waysOf(read, phrase) };
  const all = { ...keptWith(kept, policies), ...(forWhom === null ? {} : { forWhom }) };
  const { text: known, ...others } = all;
  // The words of the person go before those of the message that they answered.
  const text = said === '' ? known : said;
  if (!isWhole(all, text)) return { step: 'text', when, plan, kept: text === undefined ? all : { ...all, text } };
  return { step: 'preview', when, text: text ?? '', plan, kept: others };
}

/** Whether it is known what is to be done: to say a text, or what an action needs. */
function isWhole({ kind, action, media }: Kept, text: string | undefined): boolean {
  return kind === undefined ? text !== undefined || media !== undefined : action !== undefined;
}

/** The policies that were kept, and those that are asked for now. A number of runs goes with the time it was said for. */
function keptWith({ policies: before, ...kept }: Kept, policies: AskedPolicies): Kept {
  const { max_runs: _counted, ...others } = before ?? {};
  const all = { ...others, ...policies };
  return Object.keys(all).length === 0 ? kept : { ...kept, policies: all };
}

/** The time of a preview is asked for again: by the clock where the days were chosen by buttons. */
export function retimed({ when, text, plan, kept }: StepOf<'preview'>): MakingStep {
  if (plan?.hour === undefined) return { step: 'time', text, when, kept };
  return { step: 'hour', plan, kept: { ...kept, text } };
}

function stepBefore(step: MakingStep): MakingStep | null {
  const { kept } = step;
  switch (step.step) {
    case 'time':
      return step.when === undefined ? null : { step: 'preview', when: step.when, text: step.text, kept };
    case 'retext':
      return { ...step, step: 'preview' };
    case 'text':
      return step.plan === undefined ? { step: 'ask', kept } : lastPart(step.plan, kept);
    case 'ask':
    case 'question':
    case 'preview':
      return null;
    default:
      return partBefore(step);
  }
}

function lastPart(plan: Plan, kept: Kept): StepOf<PartStep> {
  const step = plan.hour !== undefined ? 'minute' : plan.lead === undefined ? firstParts[plan.rhythm] : 'hour';
  return { step, plan, kept };
}

function partBefore({ step, plan, kept }: StepOf<PartStep>): MakingStep {
  if (step === 'minute') return { step: 'hour', plan, kept };
  const first = firstParts[plan.rhythm];
  return step === 'hour' && first !== 'hour' ? { step: first, plan, kept } : { step: 'ask', kept };
}
