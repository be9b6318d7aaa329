import type { AppError } from '../../errors.ts';
import type { AskedPolicies } from '../beside.ts';
import { Question, refusal, type Way } from '../faults.ts';
import type { DayPart } from '../languages/language.ts';
import type { Amount } from '../pieces/amount.ts';
import type { Edge, Except } from '../pieces/bounds.ts';
import type { ClockTime } from '../pieces/clock.ts';
import type { Days } from '../pieces/days.ts';
import type { Piece } from '../pieces/piece.ts';
import type { Rhythm, RhythmFound } from '../pieces/rhythm.ts';

/** Days and the times on them. `weekdays at 9 and weekends at 11` are two of these. */
export interface Group {
  begin: number;
  end: number;
  rhythm: Rhythm | null;
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
  doubtfulZone: { readonly begin: number; readonly end: number } | null;
  /** Where a range of days stands. */
  rangeAt: { readonly begin: number; readonly end: number } | null;
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
    promised: null,
    days: null,
    daysAt: null,
    times: null,
    part: null,
    isPartPlural: false,
    minutes: null,
    hours: null,
    wait: null,
    isLength: false,
    isList: false,
  };
}

type Calendar = Extract<Rhythm, { kind: 'calendar' }>;

/** The days that a rhythm of each unit may name. */
const FITTING: Readonly<Record<'day' | 'week' | 'month' | 'year', (days: Days) => boolean>> = {
  day: () => false,
  week: (days) => days.kind === 'weekdays' && days.which === 'any',
  month: (days) => days.kind === 'monthDays' || (days.kind === 'nth' && days.month === null),
  year: (days) => (days.kind === 'date' && days.date.year === null) || (days.kind === 'nth' && days.month !== null),
};

function fits(days: Days, { rhythm, wait, days: known }: Group): boolean {
  if (wait !== null || known !== null) return false;
  if (rhythm === null) return true;
  if (rhythm.kind === 'calendar') return FITTING[rhythm.unit](days) || monthsFrom(days, rhythm).length > 0;
  return days.kind !== 'ahead';
}

/** `every 6 months on 1 march` is in March and September: the months of each year, where the rhythm comes out even with it. */
export function monthsFrom(days: Days | null, { unit, every, quarters }: Calendar): readonly number[] {
  const step = quarters ? 3 : every;
  if (unit !== 'month' || step === 1 || 12 % step !== 0 || days?.kind !== 'date' || days.date.year !== null) return [];
  const { month } = days.date;
  return Array.from({ length: 12 / step }, (_none, turn) => ((month - 1 + turn * step) % 12) + 1).sort((a, b) => a - b);
}

function isTimed({ times, part, wait, hours }: Group): boolean {
  return times !== null || part !== null || wait !== null || hours !== null;
}

/** Its time may be said behind more days. */
function isOpen(group: Group): boolean {
  return !isTimed(group) && group.rhythm?.kind !== 'elapsed';
}

/** Days that a rhythm of hours can go on. */
function isOnDays(group: Group): boolean {
  const { rhythm, days } = group;
  if (rhythm?.kind !== 'calendar' || rhythm.every !== 1 || isTimed(group)) return false;
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
    doubtfulZone: null,
    rangeAt: null,
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

  add(piece: Piece, next: Piece | undefined): void {
    switch (piece.is) {
      case 'rhythm':
        return this.rhythm(piece);
      case 'days':
        return this.days(piece);
      case 'times':
        return this.times(piece, next);
      case 'part': {
        const group = this.group(piece, (last) => last.part !== null);
        group.part = piece.part;
        group.isPartPlural = piece.plural;
        return undefined;
      }
      case 'wait':
      case 'length': {
        const group = this.group(piece, (last) => last.wait !== null || last.rhythm !== null || last.days !== null);
        group.wait = piece.amount;
        group.isLength = piece.is === 'length';
        return undefined;
      }
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

  private within(piece: Extract<Piece, { is: 'hours' | 'minutes' }>): void {
    const group = this.group(piece, (last) => last[piece.is] !== null);
    if (piece.is === 'hours') group.hours = piece;
    else group.minutes = piece.minutes;
  }

  private zone(piece: Extract<Piece, { is: 'zone' }>): void {
    if (this.plan.timezone !== null && this.plan.timezone !== piece.zone) throw contradiction();
    this.plan.timezone = piece.zone;
    this.plan.doubtfulZone = piece.isDoubtful ? piece : null;
  }

  private nextWeek(piece: Extract<Piece, { is: 'week' }>): void {
    const group = this.plan.groups.at(-1);
    const { days } = group ?? {};
    const isOne = days?.kind === 'weekdays' && days.weekdays.length === 1 && days.which === 'any';
    if (group === undefined || !isOne) throw piece.fault;
    group.days = { ...days, which: 'after' };
    group.end = piece.end;
  }

  private rhythm(piece: Extract<Piece, { is: 'rhythm' }>): void {
    const { rhythm, days, part, promised } = piece;
    const group = this.group(piece, (last) => {
      // "Every weekday every 2 hours" is one rhythm on these days.
      if (rhythm.kind === 'elapsed' && isOnDays(last)) return false;
      if (last.rhythm !== null || last.wait !== null) return true;
      if (days !== null) return last.days !== null;
      return last.days !== null && !(rhythm.kind === 'elapsed' || FITTING[rhythm.unit](last.days));
    });
    group.rhythm = rhythm;
    group.promised = promised;
    if (days !== null) Object.assign(group, { days, daysAt: piece });
    group.part = part ?? group.part;
  }

  private days(piece: Extract<Piece, { is: 'days' }>): void {
    const { days } = piece;
    const before = this.plan.groups.at(-1);
    if (this.isWithin(piece, before)) return;
    if (before !== undefined && before.days !== null && isOpen(before)) {
      const both = piece.joint === 'and' ? null : sameDays(before.days, days);
      if (both === null) return this.more(piece, before);
      const daysAt = { begin: before.daysAt?.begin ?? piece.begin, end: piece.end };
      Object.assign(before, { days: both, daysAt, end: piece.end });
      return undefined;
    }
    const group = this.group(piece, (last) => !fits(days, last));
    const comesBack = before?.rhythm !== undefined && before.rhythm !== null && group !== before;
    group.isList = piece.joint === 'and' && group !== before;
    group.daysAt = piece;
    group.days = comesBack && days.kind === 'weekdays' ? { ...days, plural: true } : days;
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
    const group = this.group(piece, (last) => last.times !== null && isNext);
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

/** The same day said twice: `friday, the 27th`, `tomorrow friday`. Null where they differ, or nobody can tell. */
function sameDays(one: Days, other: Days): Days | null {
  const [date, weekday] = one.kind === 'weekdays' ? [other, one] : [one, other];
  if (weekday.kind !== 'weekdays' || weekday.weekdays.length !== 1 || weekday.which !== 'any') return null;
  if (date.kind === 'date' && date.weekday === null) return { ...date, weekday: weekday.weekdays[0] ?? null };
  const isOne = date.kind === 'monthDays' && date.days.length === 1 && date.of === null;
  return isOne ? { ...date, weekday: weekday.weekdays[0] ?? null } : null;
}

export function planOf(pieces: readonly Piece[]): Plan {
  const planner = new Planner(pieces);
  for (const [index, piece] of pieces.entries()) planner.add(piece, pieces[index + 1]);
  for (const group of planner.plan.groups) if (group.minutes !== null) group.rhythm ??= HOURLY;
  return planner.plan;
}

/** "At a quarter past every hour" needs no other rhythm. */
const HOURLY = { kind: 'elapsed', seconds: 3_600 } as const;
