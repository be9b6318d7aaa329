import { AppError } from '../../../domain/errors.ts';
import { pad } from '../../../domain/schedule/calendar.ts';
import type { Answer, ConversationRooms, Said } from '../conversation.ts';
import { dateIn } from '../views/clock.ts';
import { templates } from '../views/english/templates.ts';
import type { Rich } from '../views/rich.ts';
import { texts } from '../views/texts.ts';
import { silence } from './answers.ts';
import {
  ordinals,
  rhythms,
  weekdays,
  type DraftWhen,
  type Kept,
  type PartStep,
  type Plan,
  type StepOf,
} from './drafts.ts';
import {
  readOr,
  readTimeAlone,
  readWords,
  textIn,
  whatIsWrongWithTime,
  type ReadWords,
  type Speaking,
} from './making.ts';
import { triedTo } from './refusals.ts';
import { missed, spoken, type MakingStep } from './steps.ts';

/**
 * Making a task by buttons. Whatever is chosen becomes words, such as "every monday and thursday at 09:30", and goes through
 * the same reading as what people write; so both have the same rules and the same warnings.
 */
type Rooms = Pick<ConversationRooms, 'preview' | 'clock'>;

interface Choosing {
  readonly speaking: Speaking;
  readonly rooms: Rooms;
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
  t: (step, { value, speaking, rooms }) => {
    if (step.step !== 'minute' || !isBelow(value, 60)) return null;
    const time = `${pad(step.plan.hour ?? 0, 2)}:${pad(Number(value), 2)}`;
    const { when } = readWords(`${step.plan.lead ?? 'every day'} at ${time}`, speaking, rooms);
    return afterTime({ ...step, when });
  },
  templates: (step) => {
    if (step.step === 'ask') return { step: 'templates', kept: step.kept };
    return step.step === 'text' ? { ...step, step: 'templates' } : null;
  },
  use: (step, { value, speaking, rooms }) => {
    const template = templates.find(({ id }) => id === value);
    if (step.step !== 'templates' || template === undefined) return null;
    const { text, policies } = template;
    const when = step.when ?? readWords(template.when, speaking, rooms).when;
    const kept = { ...step.kept, isBrought: true, ...(policies === undefined ? {} : { policies }) };
    return { step: 'preview', when, text, plan: step.plan, kept };
  },
  retext: (step) => (step.step === 'preview' ? { ...step, step: 'retext' } : null),
  begin: (step) => (step.step === 'offer' ? { step: 'ask', misses: 0, kept: step.kept } : null),
  back: (step) => before(step),
};

/** What the button leads to. Throws what a person is told: that a day is missing, or that a time is over. */
export function chosen(step: MakingStep, action: string, choosing: Choosing): MakingStep | null {
  return Object.hasOwn(moves, action) ? (moves[action]?.(step, choosing) ?? null) : null;
}

function isBelow(value: string, max: number): boolean {
  return /^\d{1,2}$/.test(value) && Number(value) < max;
}

function listed(days: readonly string[]): string {
  return days.length < 2 ? days.join('') : `${days.slice(0, -1).join(', ')} and ${days.at(-1)}`;
}

function nth(day: number): string {
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
};

function begun(rhythm: Plan['rhythm'], kept: Kept): StepOf<PartStep> {
  const lead = rhythm === 'day' ? 'every day' : rhythm === 'weekday' ? 'every weekday' : undefined;
  return { step: firstParts[rhythm], plan: { rhythm, days: [], lead }, misses: 0, kept };
}

function hourStep({ plan, kept }: StepOf<PartStep>, lead: string): StepOf<PartStep> {
  return { step: 'hour', plan: { ...plan, lead }, misses: 0, kept };
}

interface Timed {
  readonly when: DraftWhen;
  readonly plan?: Plan | undefined;
  readonly kept: Kept;
}

/** When the time is known, the text is asked for, unless it is there: then the task can be shown. */
export function afterTime({ when, plan, kept }: Timed): MakingStep {
  const { text, ...others } = kept;
  if (text === undefined && kept.media === undefined) return { step: 'text', when, plan, misses: 0, kept };
  return { step: 'preview', when, text: text ?? '', plan, kept: others };
}

/** The time of a preview is asked for again: by the clock where the days were chosen by buttons. */
export function retimed({ when, text, plan, kept }: StepOf<'preview'>): MakingStep {
  if (plan?.hour === undefined) return { step: 'time', text, misses: 0, when, kept };
  return { step: 'hour', plan, misses: 0, kept: { ...kept, text } };
}

function before(step: MakingStep): MakingStep | null {
  const { kept } = step;
  switch (step.step) {
    case 'templates':
      return step.when === undefined
        ? { step: 'ask', misses: 0, kept }
        : { step: 'text', when: step.when, plan: step.plan, misses: 0, kept };
    case 'time':
      return step.when === undefined ? null : { step: 'preview', when: step.when, text: step.text, kept };
    case 'retext':
      return { ...step, step: 'preview' };
    case 'text':
      return step.plan === undefined ? { step: 'ask', misses: 0, kept } : lastPart(step.plan, kept);
    case 'ask':
    case 'preview':
    case 'offer':
      return null;
    default:
      return partBefore(step);
  }
}

function lastPart(plan: Plan, kept: Kept): StepOf<PartStep> {
  const step = plan.hour !== undefined ? 'minute' : plan.lead === undefined ? firstParts[plan.rhythm] : 'hour';
  return { step, plan, misses: 0, kept };
}

function partBefore({ step, plan, kept }: StepOf<PartStep>): MakingStep {
  const to = (part: PartStep): MakingStep => ({ step: part, plan, misses: 0, kept });
  if (step === 'minute') return to('hour');
  if (step === 'nth') return to('ordinal');
  if (step === 'ordinal') return to('month');
  const isFirst = step !== 'hour' || firstParts[plan.rhythm] === 'hour';
  if (isFirst) return { step: 'ask', misses: 0, kept };
  return to(plan.ordinal === undefined ? firstParts[plan.rhythm] : 'nth');
}

/** Words instead of a button: as the part that is asked for, or else as a whole time of their own. */
export async function typedPart(said: Said, rooms: ConversationRooms, step: StepOf<PartStep>): Promise<Answer> {
  const part = said.args.length > partLengthMax ? null : partOf(said.args.trim(), step, { speaking: said, rooms });
  if (part !== null) return spoken(said, rooms, { step: part });
  const read = await triedTo(async () => readTimeAlone(said.args, said, rooms));
  if ('made' in read) return timeTyped(said, rooms, { read: read.made, step });
  const { sentence, tries } = whatIsWrongWithTime(read.refusal);
  return (await missed(said, rooms, { step, fault: texts.making.unreadQuick(sentence, tries) })) ?? silence;
}

/** Nobody needs more words for a part of a time. */
const partLengthMax = 100;

interface Reading {
  readonly speaking: Speaking;
  readonly rooms: Rooms;
}

function partOf(words: string, step: StepOf<PartStep>, reading: Reading): MakingStep | null {
  const bare = words.replace(/^(?:on|at|every|each)\s+/i, '').replace(/^the\s+/i, '');
  if (bare === '') return null;
  switch (step.step) {
    case 'hour':
    case 'minute':
      return clockTyped(bare, step, reading);
    case 'days': {
      const lead = step.plan.rhythm === 'fortnight' ? `every 2 weeks on ${bare}` : `every ${bare}`;
      return daysTyped(lead, step, reading);
    }
    case 'month':
      return daysTyped(`every month on the ${/^\d{1,2}$/.test(bare) ? nth(Number(bare)) : bare}`, step, reading);
    case 'date':
      return dateTyped(words, step, reading);
    default:
      return null;
  }
}

function alone(words: string, { speaking, rooms }: Reading): ReadWords | null {
  const read = readOr(() => readTimeAlone(words, speaking, rooms));
  return read === null || textIn(read) !== '' ? null : read;
}

function clockTyped(bare: string, { step, plan, kept }: StepOf<PartStep>, reading: Reading): MakingStep | null {
  const isMinute = step === 'minute' && /^:?[0-5]?\d$/.test(bare);
  const time = isMinute ? `${pad(plan.hour ?? 0, 2)}:${bare.replace(':', '').padStart(2, '0')}` : bare;
  const read = alone(`${plan.lead ?? 'every day'} at ${time}`, reading);
  return read === null ? null : afterTime({ when: read.when, plan, kept });
}

/** The day alone, or with its time as in "monday at 9". */
function daysTyped(lead: string, step: StepOf<PartStep>, reading: Reading): MakingStep | null {
  const whole = alone(lead, reading);
  if (whole !== null) return afterTime({ when: whole.when, plan: step.plan, kept: step.kept });
  return alone(`${lead} at 9:00`, reading) === null ? null : hourStep(step, lead);
}

function dateTyped(words: string, step: StepOf<PartStep>, reading: Reading): MakingStep | null {
  // The last minute of the day, because the day is not over before.
  const read = alone(words, reading) === null ? alone(`${words} at 23:59`, reading) : null;
  const schedule = read?.preview.schedule;
  if (schedule?.kind !== 'once') return null;
  return hourStep(step, dateIn({ timezone: schedule.timezone, now: schedule.onceAt }, 0));
}

interface TimeTyped {
  readonly read: ReadWords;
  readonly step: StepOf<PartStep | 'time'>;
}

/** A whole time was written; what follows it is the text, where none is there yet. */
export async function timeTyped(said: Said, rooms: ConversationRooms, { read, step }: TimeTyped): Promise<Answer> {
  const rest = textIn(read);
  const text = step.step === 'time' ? step.text : step.kept.text;
  const media = said.media ?? step.kept.media;
  const kept: Kept = { ...step.kept, ...(media === undefined ? {} : { media }) };
  if (rest === '') {
    return spoken(said, rooms, {
      step: afterTime({ when: read.when, kept: text === undefined ? kept : { ...kept, text } }),
    });
  }
  if (text === undefined)
    return spoken(said, rooms, { step: afterTime({ when: read.when, kept: { ...kept, text: rest } }) });
  return told(said, rooms, { step, fault: texts.making.leftOver(rest) });
}

async function told(
  said: Said,
  rooms: ConversationRooms,
  { step, fault }: { step: StepOf<PartStep | 'time'>; fault: Rich },
): Promise<Answer> {
  return (await missed(said, rooms, { step, fault })) ?? silence;
}
