import type { AppError } from '../../errors.ts';
import type { AskedPolicies } from '../beside.ts';
import { Question, refusal, type Way } from '../faults.ts';
import type { DayPart } from '../languages/language.ts';
import type { Amount } from '../pieces/amount.ts';
import type { Edge, Except } from '../pieces/bounds.ts';
import type { ClockTime } from '../pieces/clock.ts';
import { type Days, isOneWeekday } from '../pieces/days.ts';
import type { Piece } from '../pieces/piece.ts';
import type { Rhythm, RhythmFound } from '../pieces/rhythm.ts';
import { type Calendar, FITTING, monthsFrom, partOf, sameDays } from './fitting.ts';

/** Days and the times on them. `weekdays at 9 and weekends at 11` are two of these. */
export interface Group {
  begin: number;
  end: number;
  rhythm: Rhythm | null;
  /** Where the rhythm stands. */
  rhythmAt: { readonly begin: number; readonly end: number } | null;
  promised: RhythmFound['promised'];
  days: Days | null;
  /** Where the days stand. */
  daysAt: { readonly begin: number; readonly end: number } | null;
  times: readonly ClockTime[] | null;
  part: DayPart | null;
  isPartPlural: boolean;
  /** Minutes of an hour, behind `every hour`. */
  minutes: readonly number[] | null;
  hours: { readonly from: ClockTime; readonly to: ClockTime } | null;
  wait: Amount | null;
  /** The wait, where its figures are those of a clock: `in 17.30`. */
  clockAt: { readonly begin: number; readonly end: number } | null;
  /** Nothing says whether it is waited for, or comes back. */
  isLength: boolean;
  /** Its day is one of several that have the same time. */
  isList: boolean;
}

/** All that the pieces of a time say together. */
export interface Plan {
  readonly groups: Group[];
  readonly policies: AskedPolicies;
  timezone: string | null;
  /** The zone is a distance from UTC. */
  isOffset: boolean;
  doubtfulZone: { readonly begin: number; readonly end: number } | null;
  /** Where a range of days stands. */
  rangeAt: { readonly begin: number; readonly end: number } | null;
  /** Where its starts and ends stand. */
  readonly boundsAt: Array<{ readonly begin: number; readonly end: number }>;
  until: Edge | null;
  starting: Edge | null;
  lasting: Amount | null;
  count: number | null;
  except: Except;
}

function emptyGroup({ begin, end }: Piece): Group {
  return {
    begin,
    end,
    rhythm: null,
    rhythmAt: null,
    promised: null,
    days: null,
    daysAt: null,
    times: null,
    part: null,
    isPartPlural: false,
    minutes: null,
    hours: null,
    wait: null,
    clockAt: null,
    isLength: false,
    isList: false,
  };
}

function fits(days: Days, { rhythm, wait, days: known }: Group): boolean {
  if (wait !== null || known !== null) return false;
  if (rhythm === null) return true;
  if (rhythm.kind === 'calendar') return FITTING[rhythm.unit](days) || monthsFrom(days, rhythm).length > 0;
  return days.kind !== 'ahead';
}

export function isTimed({ times, part, wait, hours }: Group): boolean {
  return times !== null || part !== null || wait !== null || hours !== null;
}

/** Its time may be said behind more days. */
function isOpen(group: Group): boolean {
  return !isTimed(group) && group.rhythm?.kind !== 'elapsed';
}

/** Days that a rhythm of hours can go on. */
function isOnDays(group: Group): boolean {
  const { rhythm, days } = group;
  if (rhythm?.kind !== 'calendar' || rhythm.every !== 1 || isTimed({ ...group, hours: null })) return false;
  return days?.kind === 'weekdays' || rhythm.unit === 'day';
}

export function contradiction(): AppError {
  return refusal('any', 'contradiction', (say) => say.contradiction);
}

/** Puts pieces together in their order. */
class Planner {
  private isOneDay = false;

  private readonly hasList: boolean;

  readonly plan: Plan & { policies: AskedPolicies } = {
    groups: [],
    policies: {},
    timezone: null,
    isOffset: false,
    doubtfulZone: null,
    rangeAt: null,
    boundsAt: [],
    until: null,
    starting: null,
    lasting: null,
    count: null,
    except: [],
  };

  constructor(pieces: readonly Piece[]) {
    this.hasList = pieces.some(({ is, joint }) => is === 'days' && joint === 'and');
  }

  group(piece: Piece, isNew: (group: Group) => boolean): Group {
    const { groups } = this.plan;
    const last = groups.at(-1);
    if (last !== undefined && !isNew(last)) {
      last.end = piece.end;
      return last;
    }
    const made = emptyGroup(piece);
    groups.push(made);
    return made;
  }

  add(piece: Piece, behind: readonly Piece[]): void {
    switch (piece.is) {
      case 'rhythm':
        return this.rhythm(piece, behind[0]);
      case 'days':
        return this.days(piece, behind);
      case 'times':
        return this.times(piece, behind[0]);
      case 'part': {
        const group = this.group(piece, (last) => last.part !== null);
        group.part = piece.part;
        group.isPartPlural = piece.plural;
        return undefined;
      }
      case 'wait':
      case 'length':
        return this.wait(piece);
      case 'hours':
      case 'minutes':
        return this.within(piece);
      case 'zone':
        return this.zone(piece);
      case 'policies':
        this.plan.policies = { ...this.plan.policies, ...piece.policies };
        return undefined;
      case 'bound':
        return this.bound(piece);
      case 'week':
        return this.nextWeek(piece);
      case 'vague':
        throw piece.fault;
    }
  }

  private wait(piece: Extract<Piece, { is: 'wait' | 'length' }>): void {
    if (this.isWeeksAfter(piece)) return;
    const group = this.group(piece, (last) => last.wait !== null || last.rhythm !== null || last.days !== null);
    group.wait = piece.amount;
    if (piece.is === 'wait') group.clockAt = piece.clockAt;
    group.isLength = piece.is === 'length';
  }

  /** "Friday in two weeks". */
  private isWeeksAfter({ is, amount, end }: Extract<Piece, { is: 'wait' | 'length' }>): boolean {
    const group = this.plan.groups.at(-1);
    const [first, more] = amount;
    const days = group?.days ?? null;
    if (is !== 'wait' || group === undefined || days === null || !isOneWeekday(days)) return false;
    if (first?.unit !== 'week' || more !== undefined || group.rhythm !== null) return false;
    Object.assign(group, { days: { ...days, weeks: first.value }, end });
    return true;
  }

  private within(piece: Extract<Piece, { is: 'hours' | 'minutes' }>): void {
    const group = this.group(piece, (last) => last[piece.is] !== null);
    if (piece.is === 'hours') group.hours = piece;
    else group.minutes = piece.minutes;
  }

  private zone(piece: Extract<Piece, { is: 'zone' }>): void {
    if (this.plan.timezone !== null && this.plan.timezone !== piece.zone) throw contradiction();
    this.plan.timezone = piece.zone;
    this.plan.isOffset = piece.isOffset === true;
    this.plan.doubtfulZone = piece.isDoubtful ? piece : null;
  }

  private nextWeek(piece: Extract<Piece, { is: 'week' }>): void {
    const group = this.plan.groups.at(-1);
    const { days } = group ?? {};
    const isNamed = days?.kind === 'weekdays' && days.which === 'any' && group?.rhythm === null;
    if (group === undefined || !isNamed) throw piece.fault;
    group.days = { ...days, which: 'after' };
    group.end = piece.end;
  }

  private rhythm(piece: Extract<Piece, { is: 'rhythm' }>, next: Piece | undefined): void {
    const { rhythm, days, part, promised } = piece;
    const group = this.group(piece, (last) => {
      // "Every weekday every 2 hours" is one rhythm on these days.
      if (rhythm.kind === 'elapsed' && isOnDays(last)) return false;
      if (last.rhythm !== null || last.wait !== null) return true;
      // "Weekends at 11, every day at 9" has an hour for each.
      const isOther = piece.joint === 'and' || (last.times !== null && next !== undefined && isHour(next.is));
      if (days !== null || (last.days !== null && isOther)) return last.days !== null;
      return last.days !== null && !(rhythm.kind === 'elapsed' || FITTING[rhythm.unit](last.days));
    });
    group.rhythm = rhythm;
    group.rhythmAt = piece;
    group.promised = promised;
    if (days !== null) Object.assign(group, { days, daysAt: piece });
    group.part = part ?? group.part;
  }

  private days(piece: Extract<Piece, { is: 'days' }>, behind: readonly Piece[]): void {
    const { days } = piece;
    const before = this.plan.groups.at(-1);
    if (this.isWithin(piece, before)) return;
    if (before !== undefined && before.days !== null && isOpen(before)) {
      const both = bothDays(before, days) ?? (piece.joint === 'and' ? null : sameDays(before.days, days));
      if (both === null) return this.more(piece, before);
      const daysAt = { begin: before.daysAt?.begin ?? piece.begin, end: piece.end };
      Object.assign(before, { days: both, daysAt, end: piece.end });
      return undefined;
    }
    const group = this.group(piece, (last) => !fits(days, last) || (isDaily(last) && isApart(last, piece, behind)));
    group.isList = piece.joint === 'and' && group !== before;
    Object.assign(group, { daysAt: piece, days, part: group.part ?? partOf(days) });
    if (before !== undefined && before.rhythm !== null && group !== before) besideRhythm(group, before, days);
    return undefined;
  }

  /** "Every hour tomorrow" begins and ends on that day. */
  private isWithin({ days, end }: Extract<Piece, { is: 'days' }>, group: Group | undefined): boolean {
    const isFree = group?.rhythm?.kind === 'elapsed' && group.days === null;
    if (group === undefined || !isFree || days.kind !== 'ahead' || days.night) return false;
    const edge = { days, time: null, span: null };
    this.plan.until ??= edge;
    if (days.days > 0) this.plan.starting ??= edge;
    this.isOneDay = true;
    group.end = end;
    return true;
  }

  /** "Tomorrow and friday at 9" is on two days; a comma alone may set the same day apart: "tomorrow, friday". */
  private more(piece: Extract<Piece, { is: 'days' }>, before: Group): void {
    const isList = piece.joint === 'and' || (piece.joint === 'comma' && this.hasList);
    if (before.rhythm !== null || !isList) throw contradiction();
    Object.assign(
      this.group(piece, () => true),
      { days: piece.days, daysAt: piece, isList: true },
    );
  }

  private times(piece: Extract<Piece, { is: 'times' }>, next: Piece | undefined): void {
    const isNext = next?.is === 'days' || next?.is === 'rhythm';
    // "8 in the morning and 8 in the evening" are two of them.
    const group = this.group(
      piece,
      (last) => (last.times !== null && isNext) || (last.part !== null && piece.joint === 'and'),
    );
    if (group.times !== null) throw this.second(piece);
    group.times = piece.times;
  }

  private second({ begin, end }: Piece): Error {
    const ways: Way[] = [{ text: (say) => say.offers.secondIsText, edits: [{ begin, end: begin, text: '\n' }] }];
    return end > begin ? new Question((say) => say.twoTimes, ways) : contradiction();
  }

  private bound(piece: Extract<Piece, { is: 'bound' }>): void {
    const { plan } = this;
    const { bound } = piece;
    if (bound.is !== 'except' && bound.is !== 'now') plan.boundsAt.push({ begin: piece.begin, end: piece.end });
    switch (bound.is) {
      case 'except':
        plan.except = [...plan.except, ...bound.except];
        return;
      case 'now':
        return;
      case 'count':
        if (plan.count !== null) throw contradiction();
        plan.count = bound.count;
        return;
      case 'lasting':
        if (plan.lasting !== null) throw contradiction();
        plan.lasting = bound.amount;
        return;
      case 'range':
        if (plan.starting !== null || plan.until !== null) throw contradiction();
        Object.assign(plan, { starting: bound.edge, until: bound.to, rangeAt: piece });
        this.group(piece, () => false);
        return;
      default:
        if (plan[bound.is] !== null && !this.isOneDay) throw contradiction();
        plan[bound.is] = bound.edge;
    }
  }
}

/** "Every weekday and saturday" are days of one rhythm. */
function bothDays({ rhythm, days: known }: Group, days: Days): Days | null {
  if (rhythm === null || known?.kind !== 'weekdays' || days.kind !== 'weekdays' || days.which !== 'any') return null;
  return { ...known, weekdays: [...new Set([...known.weekdays, ...days.weekdays])] };
}

function isDaily({ rhythm }: Group): boolean {
  return rhythm?.kind === 'calendar' && rhythm.unit === 'day';
}

/** "Every day at 9 mon-fri" names the days of this hour; in "every day at 9, sundays at 10" they have an hour of their own. */
function isApart({ times, hours }: Group, { joint }: Piece, behind: readonly Piece[]): boolean {
  if (times === null && hours === null) return joint === 'and';
  // "At 9 on weekdays and at 10 on weekends" has the hours before the days.
  const isOfOther = behind.findIndex(({ is }, index) => !(index % 2 === 0 ? isHour(is) : is === 'days'));
  const length = isOfOther === -1 ? behind.length : isOfOther;
  return length === 0 ? joint === 'and' : length % 2 === 1;
}

function isHour(is: Piece['is']): boolean {
  return is === 'times' || is === 'part' || is === 'hours';
}

/** Every second week or month, and their like. */
export function isStepped(rhythm: Rhythm | null): rhythm is Calendar {
  return rhythm?.kind === 'calendar' && rhythm.every > 1;
}

/** Days behind a rhythm come back as well. */
function besideRhythm(group: Group, before: Group, days: Days): void {
  group.rhythm = sharedRhythm(before, days);
  if (days.kind === 'weekdays') group.days = { ...days, plural: true };
}

/** In "every 2 weeks on monday at 9 and thursday at 10" both days are of the same weeks. */
function sharedRhythm({ rhythm }: Group, days: Days): Rhythm | null {
  if (rhythm?.kind !== 'calendar' || !FITTING[rhythm.unit](days)) return null;
  return rhythm.every > 1 || rhythm.unit === 'month' ? rhythm : null;
}

export function planOf(pieces: readonly Piece[]): Plan {
  const planner = new Planner(pieces);
  for (const [index, piece] of pieces.entries()) planner.add(piece, pieces.slice(index + 1));
  for (const group of planner.plan.groups) if (group.minutes !== null) group.rhythm ??= HOURLY;
  return planner.plan;
}

/** "At a quarter past every hour" needs no other rhythm. */
const HOURLY = { kind: 'elapsed', seconds: 3_600 } as const;
