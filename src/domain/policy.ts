import { keepIn, type Keep } from './chat-settings.ts';
import * as limits from './limits.ts';
import { quietFault, type QuietInput } from './pacing/quiet.ts';
import { PolicyFault } from './policy-faults.ts';
import { DAY_MS } from './schedule/time/calendar.ts';
import { durationMs, fixedMs } from './schedule/time/duration.ts';
import { budgetForms, isEmptyBudget } from './spending/usage.ts';

/** A value of a policy: its form with its bounds, and what it is for. The checks, the API, its client and the chat follow it. */
export type Form = { readonly about: string; readonly needed?: true; readonly example?: string } & (
  | { readonly kind: 'choice'; readonly of: readonly string[] }
  | { readonly kind: 'whole' | 'number'; readonly min: number; readonly max: number }
  | { readonly kind: 'length'; readonly minMs: number; readonly maxMs: number }
  | { readonly kind: 'instant' | 'clock' }
  | { readonly kind: 'fields'; readonly fields: Readonly<Record<string, Form>> }
);

const choice = <const T extends string>(of: readonly T[], about: string) => ({ kind: 'choice', of, about }) as const;
const whole = (min: number, max: number, about: string) => ({ kind: 'whole', min, max, about }) as const;
const number = (min: number, max: number, about: string) => ({ kind: 'number', min, max, about }) as const;
const length = (minMs: number, maxMs: number, about: string) => ({ kind: 'length', minMs, maxMs, about }) as const;
const instant = (about: string) => ({ kind: 'instant', about }) as const;
const clock = (example: string) =>
  ({ kind: 'clock', about: `Such as ${example}, in the zone of the task.`, example }) as const;
const group = <const F extends Readonly<Record<string, Form>>>(fields: F, about: string) =>
  ({ kind: 'fields', fields, about }) as const;

/** Every policy, by its name in the API. */
export const policyTable = {
  missed: choice(
    ['skip', 'once', 'all', 'ask'],
    'What becomes of slots that passed while nobody was there, beyond grace: nothing, one late run, each of them, or a question in the chat.',
  ),
  missed_limit: whole(
    1,
    limits.missedLimitMax,
    `With missed: all, how many of them run; ${limits.missedLimitDefault} by default.`,
  ),
  grace: length(0, 7 * DAY_MS, 'A slot that is late by no more than this simply runs.'),
  unknown: choice(
    ['resend', 'ask'],
    'What is done about a message of which nobody knows whether it arrived: send it again, or ask.',
  ),
  fallback: choice(
    ['none', 'creator'],
    'Where a result comes whose topic cannot be had: it waits for the topic, or comes where the task was asked for.',
  ),
  overlap: choice(
    ['skip', 'queue', 'replace', 'allow'],
    'When a slot comes while the run before it is still going: leave it out, let it wait, end the old run first, or run both.',
  ),
  retry: group(
    {
      attempts: whole(1, limits.retryAttemptsMax, 'In all, the first one included.'),
      base: length(0, limits.retryPauseMaxMs, 'The pause before the second attempt.'),
      factor: number(1, limits.retryFactorMax, 'By how much each pause is longer than the one before.'),
      cap: length(0, limits.retryPauseMaxMs, 'No pause is longer than this.'),
      jitter: number(0, limits.retryJitterMax, 'The share of a pause by which chance may shorten or lengthen it.'),
    },
    'How often a run that fails is tried again, and when.',
  ),
  timeout: length(1, limits.timeoutMaxMs, 'An attempt that takes longer is ended.'),
  auto_pause: whole(
    0,
    limits.autoPauseMax,
    `Pauses the task after so many failed runs in a row: 0 (off) or ${limits.autoPauseMin} to ${limits.autoPauseMax}; ${limits.autoPauseDefault} by default.`,
  ),
  start_at: instant('No slot before this.'),
  until: instant('No slot after this.'),
  max_runs: whole(1, limits.maxRunsMax, 'The task is completed after so many runs.'),
  max_age: length(
    1000,
    366 * DAY_MS,
    'A result that could not be delivered within this is dropped, and that is recorded.',
  ),
  refresh_after: length(
    limits.refreshAfterMinMs,
    366 * DAY_MS,
    'A task that repeats gets one run beside its schedule when its last success is older than this, looked for every hour; until it succeeds, its result is marked as stale.',
  ),
  jitter: length(
    0,
    limits.jitterMaxMs,
    'Spreads the slots by chance over so long, so that not all tasks run at the full hour.',
  ),
  priority: whole(
    1,
    limits.priorityMax,
    `Who goes first when many runs wait; 1 is the lowest and ${limits.priorityDefault} the default.`,
  ),
  skip_if_unchanged: choice(
    ['none', 'silent', 'skip'],
    'What becomes of a result that is the same as that of the last success: it is shown as always, comes without a sound, or is not shown.',
  ),
  approval: choice(['none', 'required'], 'Whether somebody must approve a result before it is shown.'),
  quiet: group(
    {
      from: clock('22:00'),
      to: clock('07:00'),
      mode: {
        ...choice(
          ['hold', 'silent', 'off'],
          'Results wait for the end of it, come without a sound, or are heard at any time.',
        ),
        needed: true,
      },
    },
    'The hours in which nobody is to be disturbed.',
  ),
  ack: group(
    {
      nag_every: length(limits.nagEveryMinMs, limits.nagEveryMaxMs, 'How often they are reminded.'),
      nag_limit: whole(0, limits.nagLimitMax, 'How many times at most.'),
    },
    'Somebody must say that it is done, and is reminded until they do.',
  ),
  budget: group(
    budgetForms,
    'The most that the task may spend. A run for which there is no room is skipped, with the reason budget.',
  ),
  keep: group(
    {
      runs: whole(limits.keepLeast.runs, limits.keepRunsMax, 'So many of the newest runs stay, whatever their age.'),
      days: whole(
        limits.keepLeast.days,
        limits.retentionDaysMax,
        'Whatever is no older than this stays; RETENTION_DAYS of the server are the most.',
      ),
    },
    'The history that the task keeps, where that is less than the server does: what neither of the two keeps goes in the night.',
  ),
} satisfies Readonly<Record<string, Form>>;

export type PolicyName = keyof typeof policyTable;
export const policyNames = Object.keys(policyTable) as readonly PolicyName[];

type ValueOf<F> = F extends { readonly kind: 'choice'; readonly of: readonly (infer T)[] }
  ? T
  : F extends { readonly kind: 'whole' | 'number' }
    ? number
    : F extends { readonly kind: 'fields'; readonly fields: infer Fields }
      ? Chosen<Fields>
      : string;
type Chosen<Fields> = { readonly [K in keyof Fields]?: ValueOf<Fields[K]> | undefined };

/** Policies that a person chose, in the words of the API; whatever is absent follows the defaults of `policyOf`. */
export type Policies = Omit<Chosen<typeof policyTable>, 'quiet'> & { readonly quiet?: QuietInput | undefined };

/** The form of `retry.base` and its like; null where no policy is called so. */
export function formAt(path: string): Form | null {
  const [name = '', field] = path.split('.', 2);
  const form: Form | undefined = policyNames.includes(name as PolicyName) ? policyTable[name as PolicyName] : undefined;
  if (form === undefined || field === undefined) return form ?? null;
  return form.kind === 'fields' && Object.hasOwn(form.fields, field) ? (form.fields[field] ?? null) : null;
}

export type UnknownPolicy = NonNullable<Policies['unknown']>;

export interface Retry {
  readonly attempts: number;
  readonly baseMs: number;
  readonly factor: number;
  readonly capMs: number;
  readonly jitter: number;
}

/** The policies in force, defaults filled in, durations in milliseconds. */
export interface Policy {
  readonly missed: NonNullable<Policies['missed']>;
  readonly missedLimit: number;
  /** Null means the default: ten minutes, or half the gap to the next slot when that is shorter. */
  readonly graceMs: number | null;
  readonly unknown: UnknownPolicy;
  readonly overlap: NonNullable<Policies['overlap']>;
  readonly retry: Retry;
  readonly timeoutMs: number;
  readonly startAt: number | undefined;
  readonly until: number | undefined;
  readonly maxRuns: number | null;
  readonly maxAgeMs: number | null;
  /** Runs of slots start up to this much later, each slot always by the same amount. */
  readonly jitterMs: number;
  readonly priority: number;
  readonly skipIfUnchanged: NonNullable<Policies['skip_if_unchanged']>;
  readonly approval: NonNullable<Policies['approval']>;
  /** Null follows the quiet hours of the chat. */
  readonly quiet: QuietInput | null;
  /** Null asks nobody to confirm anything. */
  readonly ack: { readonly nagEveryMs: number; readonly nagLimit: number } | null;
  /** Null keeps what the chat wants kept. */
  readonly keep: Keep | null;
}

/** Facts about the task that the defaults depend on. */
export interface PolicySubject {
  readonly actionKind: string;
  /** Null for a task that runs once. */
  readonly minGapMs: number | null;
}

export function policyOf(chosen: Policies, subject: PolicySubject): Policy {
  for (const _name in chosen) return policyFrom(chosen, subject);
  return defaultsOf(subject);
}

function policyFrom(chosen: Policies, subject: PolicySubject): Policy {
  return Object.freeze({ ...slotPolicy(chosen, subject), ...runPolicy(chosen, subject), ...resultPolicy(chosen) });
}

/** Most tasks choose nothing, and every slot and every run of theirs asks: the few answers that there are, are kept. */
const defaults = new Map<string, Policy>();

function defaultsOf(subject: PolicySubject): Policy {
  // No default looks at more than this of the subject.
  const key = `${missedDefault(subject)} ${subject.actionKind === 'message' ? 'message' : 'other'}`;
  const known = defaults.get(key);
  if (known !== undefined) return known;
  const made = policyFrom({}, subject);
  defaults.set(key, made);
  return made;
}

type SlotPolicy = 'missed' | 'missedLimit' | 'graceMs' | 'overlap' | 'startAt' | 'until' | 'maxRuns' | 'jitterMs';

/** Policies about slots: which there are, and what becomes of one that cannot simply run. */
function slotPolicy(chosen: Policies, subject: PolicySubject): Pick<Policy, SlotPolicy> {
  return {
    missed: chosen.missed ?? missedDefault(subject),
    missedLimit: chosen.missed_limit ?? limits.missedLimitDefault,
    graceMs: optionalMs(chosen.grace),
    overlap: chosen.overlap ?? 'skip',
    startAt: instantOf(chosen.start_at),
    until: instantOf(chosen.until),
    maxRuns: chosen.max_runs ?? null,
    jitterMs: optionalMs(chosen.jitter) ?? 0,
  };
}

function runPolicy(chosen: Policies, { actionKind }: PolicySubject): Pick<Policy, 'retry' | 'timeoutMs' | 'priority'> {
  return {
    retry: retryOf(chosen.retry, actionKind),
    timeoutMs: optionalMs(chosen.timeout) ?? timeoutDefault(actionKind),
    priority: chosen.priority ?? limits.priorityDefault,
  };
}

/** Policies about results: how they are shown, and what is asked about them. */
function resultPolicy(
  chosen: Policies,
): Pick<Policy, 'unknown' | 'maxAgeMs' | 'skipIfUnchanged' | 'approval' | 'quiet' | 'ack' | 'keep'> {
  return {
    unknown: chosen.unknown ?? 'resend',
    maxAgeMs: optionalMs(chosen.max_age),
    skipIfUnchanged: chosen.skip_if_unchanged ?? 'none',
    approval: chosen.approval ?? 'none',
    quiet: chosen.quiet ?? null,
    ack: chosen.ack === undefined ? null : ackOf(chosen.ack),
    keep: keepIn(chosen.keep),
  };
}

function ackOf({ nag_every: every, nag_limit: limit }: NonNullable<Policies['ack']>): NonNullable<Policy['ack']> {
  return { nagEveryMs: optionalMs(every) ?? limits.nagEveryDefaultMs, nagLimit: limit ?? limits.nagLimitDefault };
}

/** Only a reminder and a rare task are worth running late; a check every five minutes is better served by its next slot. */
function missedDefault({ actionKind, minGapMs }: PolicySubject): Policy['missed'] {
  return actionKind === 'message' || minGapMs === null || minGapMs >= limits.missedOnceGapMs ? 'once' : 'skip';
}

function timeoutDefault(actionKind: string): number {
  return actionKind === 'message' ? limits.timeoutsDefaultMs.message : limits.timeoutsDefaultMs.echo;
}

/** Rendering the same text again gives the same fault, so a message is tried once. */
function retryOf(chosen: Policies['retry'], actionKind: string): Retry {
  return {
    attempts: chosen?.attempts ?? (actionKind === 'message' ? 1 : limits.retryAttemptsDefault),
    baseMs: optionalMs(chosen?.base) ?? limits.retryBaseDefaultMs,
    factor: chosen?.factor ?? limits.retryFactorDefault,
    capMs: optionalMs(chosen?.cap) ?? limits.retryCapDefaultMs,
    jitter: chosen?.jitter ?? limits.retryJitterDefault,
  };
}

/** The pause before attempt `number + 1`. `chance` lies in [0, 1) and spreads it by the jitter to both sides. */
export function retryDelayMs(retry: Retry, number: number, chance: number): number {
  const plain = Math.min(retry.capMs, retry.baseMs * retry.factor ** (number - 1));
  return Math.round(plain * (1 + retry.jitter * (2 * chance - 1)));
}

/** The time within which the last try of a run ends, however long each takes and however its pauses are spread. */
export function retryWindowMs({ retry, timeoutMs }: Pick<Policy, 'retry' | 'timeoutMs'>): number {
  let ms = timeoutMs;
  for (let tries = 1; tries < retry.attempts; tries += 1) ms += timeoutMs + retryDelayMs(retry, tries, 1);
  return ms;
}

/**
 * History must outlive the longest retry, so that nothing that is still going on can lose what it refers to: every attempt
 * takes the longest timeout, every pause is the longest one, as many attempts as may be were lost in crashes, and as many as
 * may be came to nothing at once because something else stood in the way.
 */
export function retentionDaysMin(): number {
  const attempts = limits.retryAttemptsMax + limits.interruptionsMax - 1;
  const pauses = (limits.retryAttemptsMax - 1) * limits.retryPauseMaxMs * (1 + limits.retryJitterMax);
  const freePauses = limits.retryAttemptsMax * limits.retryCapDefaultMs;
  return Math.floor((attempts * limits.timeoutMaxMs + pauses + freePauses) / DAY_MS) + 1;
}

/** A slot that is late by no more than this counts as on time. */
export function graceMs(policy: Pick<Policy, 'graceMs'>, slot: number, next: number | null): number {
  if (policy.graceMs !== null) return policy.graceMs;
  return next === null ? limits.graceDefaultMs : Math.min(limits.graceDefaultMs, Math.floor((next - slot) / 2));
}

function optionalMs(text: string | undefined): number | null {
  return text === undefined ? null : durationMs(text);
}

function instantOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Date.parse(text);
}

/** Refuses what no policy may say. The shape (which keys, which types) is checked by the adapter that read it. */
export function checkPolicies(chosen: Policies): void {
  for (const name of policyNames) checkValue(name, policyTable[name], chosen[name]);
  checkAutoPause(chosen.auto_pause);
  const quiet = chosen.quiet === undefined ? null : quietFault(chosen.quiet);
  if (quiet !== null) throw new PolicyFault('quiet', quiet);
  if (chosen.keep !== undefined && keepIn(chosen.keep) === null) throw new PolicyFault('keep', 'keepsNothing');
  if (chosen.budget !== undefined && isEmptyBudget(chosen.budget)) throw new PolicyFault('budget', 'budgetsNothing');
  const { startAt, until } = policyOf(chosen, { actionKind: 'message', minGapMs: null });
  if (startAt !== undefined && until !== undefined && until < startAt)
    throw new PolicyFault('until', 'endsBeforeStart');
}

/** An action that watches tells of changes alone already, and would be compared with what it never told. */
export function checkUnchanged(
  { skip_if_unchanged: wanted = 'none' }: Policies,
  action: Readonly<Record<string, unknown>>,
): void {
  if (wanted === 'none' || action['watch'] === undefined) return;
  throw new PolicyFault('skip_if_unchanged', 'besideWatch');
}

/** The bounds of lengths and instants, wherever they stand. */
function checkValue(field: string, form: Form, value: unknown): void {
  if (form.kind === 'fields' && typeof value === 'object' && value !== null) {
    for (const [name, part] of Object.entries(value)) {
      const known = form.fields[name];
      if (known !== undefined) checkValue(`${field}.${name}`, known, part);
    }
  }
  if (typeof value !== 'string') return;
  if (form.kind === 'length') checkDuration(field, value, form);
  if (form.kind === 'instant') checkInstant(field, value);
}

function checkAutoPause(pause: number | undefined): void {
  if (pause === undefined || pause === 0 || (pause >= limits.autoPauseMin && pause <= limits.autoPauseMax)) return;
  throw new PolicyFault('auto_pause', 'autoPauseOut');
}

/** A slot that is spread beyond the next one would run in another order than people read. */
export function checkJitter({ jitterMs }: Policy, minGapMs: number | null): void {
  if (minGapMs !== null && jitterMs >= minGapMs) throw new PolicyFault('jitter', 'widerThanGap');
}

function checkDuration(field: string, text: string, { minMs, maxMs }: Extract<Form, { kind: 'length' }>): void {
  const ms = fixedMs(text);
  if (ms === null) throw new PolicyFault(field, 'noLength');
  if (ms < minMs || ms > maxMs) throw new PolicyFault(field, 'lengthOut', [minMs / 1000, maxMs / 1000]);
}

const instantText = /^(\d{4})-(\d{2})-(\d{2})T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})$/;

function checkInstant(field: string, text: string): void {
  const [, year, month, day] = instantText.exec(text) ?? [];
  // The 30th of February would be read as the 2nd of March, which nobody meant.
  const exists = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day))).getUTCDate() === Number(day);
  if (!exists || Number.isNaN(Date.parse(text))) {
    throw new PolicyFault(field, 'noInstant');
  }
}
