import { nagEveryDefaultMs, nagLimitDefault } from '../../../domain/limits.ts';
import type { AckInput, Policies, RetryInput } from '../../../domain/policy.ts';
import type { QuietInput } from '../../../domain/quiet.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../domain/schedule/time/calendar.ts';
import { durationMs } from '../../../domain/schedule/time/duration.ts';
import { spanText } from '../../../domain/schedule/words/words.ts';
import { texts } from '../texts.ts';
import { moment, type Setting } from './clock.ts';

/** The settings of a task in words: what a card tells of them, and what a change did to them. */

export function policyName(field: string): string {
  return texts.field.names[field] ?? field.replaceAll('_', ' ');
}

/** What was chosen, one line for each; the rest is as usual and not worth a line. */
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
  const words = value === undefined || value === null ? absent(field) : present(field, value, setting);
  return words ?? (typeof value === 'string' ? value : JSON.stringify(value));
}

function absent(field: string): string {
  const { field: words } = texts;
  const usual: Readonly<Record<string, string>> = {
    quiet: words.quietOfChat,
    ack: words.ackOff,
    approval: words.approvalOff,
    until: words.never,
    start_at: words.atOnce,
    max_runs: words.never,
  };
  return usual[field] ?? words.byDefault;
}

type Teller = (value: never, setting: Setting) => string;

const tellers: Readonly<Record<string, Teller>> = {
  missed: (value: keyof typeof texts.field.missed) => texts.field.missed[value],
  overlap: (value: keyof typeof texts.field.overlap) => texts.field.overlap[value],
  approval: (value: string) => (value === 'required' ? texts.field.approvalOn : texts.field.approvalOff),
  retry: retryWords,
  quiet: quietWords,
  ack: ackWords,
  max_runs: (value: number) => texts.field.runs(value),
  until: (value: string, setting: Setting) => moment(Date.parse(value), setting),
  start_at: (value: string, setting: Setting) => moment(Date.parse(value), setting),
  grace: durationWords,
  jitter: durationWords,
  timeout: durationWords,
  max_age: durationWords,
};

function present(field: string, value: unknown, setting: Setting): string | undefined {
  return tellers[field]?.(value as never, setting);
}

function retryWords({ attempts }: RetryInput): string {
  return attempts === undefined ? texts.field.byDefault : texts.field.attempts(attempts);
}

function quietWords({ from, to, mode }: QuietInput): string {
  return mode === 'off' || from === undefined || to === undefined
    ? texts.field.urgent
    : texts.field.quiet(from, to, mode);
}

function ackWords({ nag_every: every, nag_limit: limit }: AckInput): string {
  const ms = every === undefined ? nagEveryDefaultMs : durationMs(every);
  // "Every hour", but "every 2 hours".
  const span = spanText(ms).replace(/^1 (?=\w+$)/, '');
  return texts.field.ackOn(span, limit ?? nagLimitDefault);
}

function durationWords(iso: string): string {
  return msWords(durationMs(iso));
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
