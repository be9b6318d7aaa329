import { AppError } from './errors.ts';
import * as limits from './limits.ts';
import { quietFault, type QuietInput } from './quiet.ts';
import { durationMs, fixedMs } from './schedule/time/duration.ts';

export type MissedPolicy = 'skip' | 'once' | 'all' | 'ask';
export type OverlapPolicy = 'skip' | 'queue' | 'replace' | 'allow';
export type UnknownPolicy = 'resend' | 'ask';
export type ApprovalPolicy = 'none' | 'required';

/** Somebody must say that it is done, and is reminded until they do: every so often, and at most so many times. */
export interface AckInput {
  readonly nag_every?: string | undefined;
  readonly nag_limit?: number | undefined;
}

export interface RetryInput {
  readonly attempts?: number | undefined;
  readonly base?: string | undefined;
  readonly factor?: number | undefined;
  readonly cap?: string | undefined;
  readonly jitter?: number | undefined;
}

/** What a person chose, in the words of the API; whatever is absent follows the defaults of `policyOf`. */
export interface Policies {
  readonly missed?: MissedPolicy | undefined;
  readonly missed_limit?: number | undefined;
  readonly grace?: string | undefined;
  readonly unknown?: UnknownPolicy | undefined;
  readonly overlap?: OverlapPolicy | undefined;
  readonly retry?: RetryInput | undefined;
  readonly timeout?: string | undefined;
  readonly auto_pause?: number | undefined;
  readonly start_at?: string | undefined;
  readonly until?: string | undefined;
  readonly max_runs?: number | undefined;
  readonly max_age?: string | undefined;
  readonly jitter?: string | undefined;
  readonly priority?: number | undefined;
  readonly approval?: ApprovalPolicy | undefined;
  readonly quiet?: QuietInput | undefined;
  readonly ack?: AckInput | undefined;
}

export interface Retry {
  readonly attempts: number;
  readonly baseMs: number;
  readonly factor: number;
  readonly capMs: number;
  readonly jitter: number;
}

/** The policies in force, defaults filled in, durations in milliseconds. */
export interface Policy {
  readonly missed: MissedPolicy;
  readonly missedLimit: number;
  /** Null means the default: ten minutes, or half the gap to the next slot when that is shorter. */
  readonly graceMs: number | null;
  readonly unknown: UnknownPolicy;
  readonly overlap: OverlapPolicy;
  readonly retry: Retry;
  readonly timeoutMs: number;
  readonly autoPause: number;
  readonly startAt: number | undefined;
  readonly until: number | undefined;
  readonly maxRuns: number | null;
  readonly maxAgeMs: number | null;
  /** Runs of slots start up to this much later, each slot always by the same amount. */
  readonly jitterMs: number;
  readonly priority: number;
  readonly approval: ApprovalPolicy;
  /** Null follows the quiet hours of the chat. */
  readonly quiet: QuietInput | null;
  /** Null asks nobody to confirm anything. */
  readonly ack: { readonly nagEveryMs: number; readonly nagLimit: number } | null;
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

/** Which slots there are, and what becomes of one that cannot simply run. */
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

function runPolicy(
  chosen: Policies,
  { actionKind }: PolicySubject,
): Pick<Policy, 'retry' | 'timeoutMs' | 'autoPause' | 'priority'> {
  return {
    retry: retryOf(chosen.retry, actionKind),
    timeoutMs: optionalMs(chosen.timeout) ?? timeoutDefault(actionKind),
    autoPause: chosen.auto_pause ?? limits.autoPauseDefault,
    priority: chosen.priority ?? limits.priorityDefault,
  };
}

/** How what a run brought is shown, and what is asked about it. */
function resultPolicy(chosen: Policies): Pick<Policy, 'unknown' | 'maxAgeMs' | 'approval' | 'quiet' | 'ack'> {
  return {
    unknown: chosen.unknown ?? 'resend',
    maxAgeMs: optionalMs(chosen.max_age),
    approval: chosen.approval ?? 'none',
    quiet: chosen.quiet ?? null,
    ack: chosen.ack === undefined ? null : ackOf(chosen.ack),
  };
}

function ackOf({ nag_every: every, nag_limit: limit }: AckInput): NonNullable<Policy['ack']> {
  return { nagEveryMs: optionalMs(every) ?? limits.nagEveryDefaultMs, nagLimit: limit ?? limits.nagLimitDefault };
}

/** Only a reminder and a rare task are worth running late; a check every five minutes is better served by its next slot. */
function missedDefault({ actionKind, minGapMs }: PolicySubject): MissedPolicy {
  return actionKind === 'message' || minGapMs === null || minGapMs >= limits.missedOnceGapMs ? 'once' : 'skip';
}

function timeoutDefault(actionKind: string): number {
  return actionKind === 'message' ? limits.timeoutsDefaultMs.message : limits.timeoutsDefaultMs.echo;
}

/** Rendering the same text again gives the same fault, so a message is tried once. */
function retryOf(chosen: RetryInput | undefined, actionKind: string): Retry {
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

/**
 * The longest that any policy lets one run go on trying: every attempt takes the longest timeout, every pause is the
 * longest one, and as many attempts as may be were lost in crashes.
 */
function retryWindowMaxMs(): number {
  const attempts = limits.retryAttemptsMax + limits.interruptionsMax - 1;
  const pauses = (limits.retryAttemptsMax - 1) * limits.retryPauseMaxMs * (1 + limits.retryJitterMax);
  return attempts * limits.timeoutMaxMs + pauses;
}

/** History must outlive the longest retry, so that nothing that is still going on can lose what it refers to. */
export function retentionDaysMin(): number {
  return Math.floor(retryWindowMaxMs() / 86_400_000) + 1;
}

/** How late a slot may be and still count as on time. */
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
  checkDurations(chosen);
  checkAutoPause(chosen.auto_pause);
  const quiet = chosen.quiet === undefined ? null : quietFault(chosen.quiet);
  if (quiet !== null) throw refused('quiet', quiet);
  checkInstant('start_at', chosen.start_at);
  checkInstant('until', chosen.until);
  const { startAt, until } = policyOf(chosen, { actionKind: 'message', minGapMs: null });
  if (startAt !== undefined && until !== undefined && until < startAt) throw refused('until', 'lies before start_at');
}

function checkDurations(chosen: Policies): void {
  checkDuration('grace', chosen.grace, [0, 7 * 86_400_000]);
  checkDuration('timeout', chosen.timeout, [1, limits.timeoutMaxMs]);
  checkDuration('max_age', chosen.max_age, [1000, 366 * 86_400_000]);
  checkDuration('jitter', chosen.jitter, [0, limits.jitterMaxMs]);
  checkDuration('retry.base', chosen.retry?.base, [0, limits.retryPauseMaxMs]);
  checkDuration('retry.cap', chosen.retry?.cap, [0, limits.retryPauseMaxMs]);
  checkDuration('ack.nag_every', chosen.ack?.nag_every, [limits.nagEveryMinMs, limits.nagEveryMaxMs]);
}

function checkAutoPause(pause: number | undefined): void {
  if (pause === undefined || pause === 0 || (pause >= limits.autoPauseMin && pause <= limits.autoPauseMax)) return;
  throw refused('auto_pause', `is 0 (off) or ${limits.autoPauseMin} to ${limits.autoPauseMax}`);
}

/** A slot that is spread beyond the next one would run in another order than people read. */
export function checkJitter({ jitterMs }: Policy, minGapMs: number | null): void {
  if (minGapMs !== null && jitterMs >= minGapMs) throw refused('jitter', 'is shorter than the gap between two runs');
}

function checkDuration(field: string, text: string | undefined, [minMs, maxMs]: readonly [number, number]): void {
  if (text === undefined) return;
  const ms = fixedMs(text);
  if (ms === null) {
    throw refused(field, 'is a duration such as PT90S, PT10M, PT2H or P1D; months and years have no fixed length');
  }
  if (ms < minMs || ms > maxMs) throw refused(field, `is out of range: ${minMs / 1000} s to ${maxMs / 1000} s`);
}

const instant = /^(\d{4})-(\d{2})-(\d{2})T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})$/;

function checkInstant(field: string, text: string | undefined): void {
  if (text === undefined) return;
  const [, year, month, day] = instant.exec(text) ?? [];
  // The 30th of February would be read as the 2nd of March, which nobody meant.
  const exists = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day))).getUTCDate() === Number(day);
  if (!exists || Number.isNaN(Date.parse(text))) {
    throw refused(field, 'is an instant with its offset, such as 2027-01-31T09:00:00Z');
  }
}

function refused(field: string, problem: string): AppError {
  return new AppError('invalid_policy', `policies.${field} ${problem}.`, { details: { field: `policies.${field}` } });
}
