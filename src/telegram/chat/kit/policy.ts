import type { GrantView } from '../../../app/ports/tasks.ts';
import { grantDaysMax, keepIn } from '../../../domain/chat-settings.ts';
import { keepLeast, nagEveryDefaultMs, nagLimitDefault } from '../../../domain/limits.ts';
import { readHostRule } from '../../../domain/outbound/host-rules.ts';
import type { QuietInput } from '../../../domain/pacing/quiet.ts';
import { formAt, type Policies } from '../../../domain/policy.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../domain/schedule/time/calendar.ts';
import { durationMs } from '../../../domain/schedule/time/duration.ts';
import { spanText } from '../../../domain/schedule/words/words.ts';
import { budgetKinds } from '../../../domain/spending/usage.ts';
import { ownerGonePause, type Task } from '../../../domain/task.ts';
import { texts } from '../texts.ts';
import { moment, settingOf, type Setting } from './clock.ts';
import { endMoment } from './days.ts';
import { oneLine } from './rich.ts';

/** The settings of a task in words: what a card tells of them, and what a change did to them. */

export function policyName(field: string): string {
  return texts.field.names[field] ?? field.replaceAll('_', ' ');
}

/** Policies that were chosen, one line for each; the rest is as usual and not worth a line. */
export function policyLines(policies: Policies, setting: Setting): readonly string[] {
  return Object.entries(policies)
    .filter(([, value]) => value !== undefined)
    .map(([field, value]) => policyLine(field, value, setting));
}

function policyLine(field: string, value: unknown, setting: Setting): string {
  const words = policyWords(field, value, setting);
  return field === 'ack' ? texts.field.asks(words) : texts.task.policy(policyName(field), words);
}

/** `undefined` stands for what is usual. */
export function policyWords(field: string, value: unknown, setting: Setting): string {
  const { field: words } = texts;
  if (value === undefined || value === null) return words.usual[field] ?? words.byDefault;
  const tell = tellers[field];
  return tell === undefined ? plainWords(field, value, setting) : tell(value as never);
}

/** A value by its form in the table; one that has none is shown as it stands. */
function plainWords(field: string, value: unknown, setting: Setting): string {
  const kind = formAt(field)?.kind;
  if (typeof value !== 'string') return JSON.stringify(value);
  if (kind === 'length') return msWords(durationMs(value));
  if (kind === 'instant') return moment(Date.parse(value), setting);
  return texts.field.values[field]?.[value] ?? value;
}

type Teller = (value: never) => string;

/** Policies that are told in words of their own. */
const tellers: Readonly<Record<string, Teller>> = {
  retry: ({ attempts }: NonNullable<Policies['retry']>) =>
    attempts === undefined ? texts.field.byDefault : texts.field.attempts(attempts),
  quiet: quietWords,
  ack: ackWords,
  max_runs: (value: number) => texts.field.runs(value),
  keep: keepWords,
  budget: budgetWords,
};

function budgetWords({ per = 'month', ...limits }: NonNullable<Policies['budget']>): string {
  const named = budgetKinds.flatMap((kind) => (limits[kind] === undefined ? [] : [{ kind, quantity: limits[kind] }]));
  return texts.spending.budgetOf(named, per);
}

type KeepInput = NonNullable<Policies['keep']>;

/** The run and the day that are kept in any case are not worth a word beside more. */
export function keepWords({ runs = keepLeast.runs, days = keepLeast.days }: KeepInput): string {
  const isAge = days > keepLeast.days;
  return texts.field.kept(isAge && runs === keepLeast.runs ? null : runs, isAge ? days : null);
}

const daysIn: Readonly<Record<string, number>> = { d: 1, w: 7, m: 30, y: 365 };

/** `10 runs`, `30 days`, `100 runs and 2 weeks`; null for what keeps nothing back, and undefined for what cannot be read. */
export function keepRead(value: string): KeepInput | null | undefined {
  if (/^(?:off|no|none|never|default|usual|remove|chat|like the chat|all|everything)$/i.test(value)) return null;
  const [, runs, days, unit = 'd'] =
    /^(?:(?:the )?(?:last )?(\d{1,5}) ?(?:runs?|r)\b)?[,\s]*(?:and|or)?\s*(?:(?:the )?(?:last )?(\d{1,5}) ?(d|w|m|y)(?:ays?|eeks?|onths?|ears?)?)?$/i.exec(
      value,
    ) ?? [];
  const keep = {
    ...(runs === undefined ? {} : { runs: Number(runs) }),
    ...(days === undefined ? {} : { days: Number(days) * (daysIn[unit.toLowerCase()] ?? 1) }),
  };
  return Object.entries(keep).every(isKeepable) && keepIn(keep) !== null ? keep : undefined;
}

function isKeepable([field, value]: readonly [string, number]): boolean {
  const form = formAt(`keep.${field}`);
  return form?.kind === 'whole' && value >= form.min && value <= form.max;
}

function quietWords({ from, to, mode }: QuietInput): string {
  return mode === 'off' || from === undefined || to === undefined
    ? texts.field.urgent
    : texts.field.quiet(from, to, mode);
}

function ackWords({ nag_every: every, nag_limit: limit }: NonNullable<Policies['ack']>): string {
  const ms = every === undefined ? nagEveryDefaultMs : durationMs(every);
  // "Every hour", but "every 2 hours".
  const span = spanText(ms).replace(/^1 (?=\w+$)/, '');
  return texts.field.ackOn(span, limit ?? nagLimitDefault);
}

/** `1 h 30 min`, whole units only. */
function msWords(ms: number): string {
  const units: readonly (readonly [string, number])[] = [
    ['d', DAY_MS],
    ['h', HOUR_MS],
    ['min', MINUTE_MS],
    ['s', 1000],
  ];
  let left = ms;
  const parts = units.flatMap(([unit, size]) => {
    const count = Math.floor(left / size);
    left -= count * size;
    return count === 0 ? [] : [`${count} ${unit}`];
  });
  return parts.length === 0 ? '0 s' : parts.join(' ');
}

export type Held = Pick<GrantView, 'expiresAt' | 'revokedAt'>;

/** The names of its fields; /context tells the rest. */
export function contextText({ context }: Pick<Task, 'context'>): string | null {
  const fields = Object.keys(context).map((field) => oneLine(field, 30));
  const told = fields.slice(0, contextFieldsMax);
  return told.length === 0 ? null : texts.task.context(told, fields.length - told.length);
}

const contextFieldsMax = 5;

interface Standing extends Pick<Setting, 'now' | 'dates'> {
  readonly grant?: Held | null;
}

/** Told where it has an end, or has come to it. */
export function grantText(task: Task, { grant = null, now, dates }: Standing): string | null {
  const { task: words } = texts;
  // The line about its pause tells of an owner who is gone.
  const isTold = task.pausedReason === ownerGonePause && task.state === 'paused';
  if (grant === null || isTold || task.state === 'completed' || task.state === 'deleted') return null;
  const setting = settingOf(task, now, dates);
  if (grant.revokedAt !== null) return words.grantRevoked;
  if (grant.expiresAt === null) return null;
  const at = endMoment(grant.expiresAt, setting);
  return grant.expiresAt <= setting.now ? words.grantExpired(at) : words.grantUntil(at);
}

/** "90 days"; null where rights hold until somebody takes them away, undefined for what cannot be read. */
export function grantDaysRead(value: string): number | null | undefined {
  if (/^(?:never|no end|off|forever|none)$/i.test(value)) return null;
  const [, count, unit = 'd'] = /^(\d{1,4})\s*(d|days?|weeks?|months?|years?)?$/i.exec(value) ?? [];
  const days = Number(count) * ({ w: 7, m: 30, y: 365 }[unit.charAt(0).toLowerCase()] ?? 1);
  return days >= 1 && days <= grantDaysMax ? days : undefined;
}

/** The hosts of a list; "any" opens all again, and undefined stands for what cannot be read. */
export function hostsRead(value: string): readonly string[] | null | undefined {
  if (value === 'any' || value === 'all' || value === 'off') return null;
  const hosts = value.split(/[\s,]+/).filter((host) => host !== '');
  const isRead = hosts.length > 0 && hosts.length <= chatHostsMax && hosts.every((host) => readHostRule(host) !== null);
  return isRead ? hosts : undefined;
}

/** As many as a person reads in one line of the settings. */
export const chatHostsMax = 20;
