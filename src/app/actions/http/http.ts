import { AppError } from '../../../domain/errors.ts';
import { allows, hostScope, secretScope } from '../../../domain/grant.ts';
import { namesSecrets } from '../../../domain/secrets/mentions.ts';
import type { Amount } from '../../../domain/spending/usage.ts';
import type { Outbound, OutboundEnd, Egress } from '../../ports/outbound.ts';
import type { Clock, Digest, Ids, Templates, Timer, Unevaluated } from '../../ports/outside.ts';
import type { SecretSent } from '../../ports/secrets.ts';
import type { Action, Job, Outcome } from '../action.ts';
import { namesLast, variablesOf } from '../variables.ts';
import { readAnswer } from './answer.ts';
import { usesOfAuth } from './auth.ts';
import type { Hold, Hosts, Place } from './hosts/hosts.ts';
import { maskedAnswer, maskedEnd, maskedValue, maskOf, type Mask } from './masked.ts';
import { proven, type ProofDeps, type Unproven } from './proof.ts';
import { callOf, checkForm } from './request.ts';
import { resultOf, type ResultDeps } from './result.ts';
import { isContextName, marksFor, namesOf } from './secret-marks.ts';
import { carriesBody, judgeTarget, readSettings, tokenHostOf, type HttpSettings } from './settings.ts';
import type { Spent } from './tokens.ts';
import { dataWithout, hostEndOf, isExpected, retryAfterMs, unanswered, unwanted } from './verdict.ts';
import { filled, requestTexts, secretsIn, secretsInTexts, writtenIn } from './written.ts';

export interface HttpDeps extends ResultDeps, ProofDeps {
  readonly templates: Pick<Templates, 'render'>;
  readonly outbound: Outbound & Egress;
  readonly hosts: Hosts;
  readonly timer: Pick<Timer, 'yield'>;
  readonly ids: Ids;
  readonly digest: Digest;
  /** Hosts to which a chat keeps its tasks; null where it does not. */
  readonly hostsOfChat: (chatId: string) => Promise<readonly string[] | null>;
  readonly clock: Clock;
}

/** Files of this size can be shown in a chat; what is larger is not read to its end. */
const bodyBytesMax = 50 * 1_048_576;
/** The timeout of the attempt ends a call that has none of its own. */
const noTimeoutMs = 86_400_000;

/** Calls an address and brings its answer. */
export function httpAction(deps: HttpDeps): Action {
  const { outbound, hosts } = deps;
  return {
    kind: 'http',
    check: (spec, instructions, hosts = null) => {
      const settings = readSettings(spec);
      judgeTarget(settings, outbound, hosts);
      checkForm(settings);
      return writtenIn(settings, instructions);
    },
    timeoutMs: (spec) => settingsIn(spec)?.timeoutMs ?? null,
    scopes: (spec) => scopesOf(readSettings(spec)),
    // Every attempt of a slot carries the same key, by which a target tells a repeat from a new call.
    repeatable: () => true,
    changesThings: (spec) => {
      const settings = settingsIn(spec);
      return settings !== null && carriesBody(settings.method);
    },
    preview: (spec) => {
      const settings = settingsIn(spec);
      if (settings === null) return { reaches: [], costs: [] };
      const host = settings.host ?? 'a host that a template names';
      const server = tokenHostOf(settings);
      return {
        reaches: [...new Set([host, ...(server === null ? [] : [server])])],
        costs: costsOf(settings),
        secrets: secretsTold(settings, host),
      };
    },
    hold: ({ spec, ...who }, now) => {
      const host = settingsIn(spec)?.host ?? null;
      const hold = host === null ? null : hosts.hold(host, who);
      return hold?.is === 'held' ? { until: now + hold.afterMs, reason: hold.reason } : hold;
    },
    cutOff: (error) => dataWithout('TIMEOUT', error),
    run: async (job) => invalidAsOutcome(() => carriedOut(deps, job)),
  };
}

/** A name out of the context is asked for when a run knows it; a grant names it, or a prefix of it. */
function scopesOf(settings: HttpSettings): readonly string[] {
  const server = tokenHostOf(settings);
  const named = secretsIn(settings).filter((ref) => !isContextName(ref));
  return [
    hostScope(settings.host ?? '*'),
    ...(server === null ? [] : [hostScope(server)]),
    ...[...new Set(named)].map(secretScope),
  ];
}

/** With a token of OAuth each of them may be asked twice: for a new one, and once more with it. */
function costsOf(settings: HttpSettings): readonly Amount[] {
  const server = tokenHostOf(settings);
  const call = { kind: 'requests', quantity: server === null ? 1 : 2, source: settings.host ?? '' } as const;
  return server === null ? [call] : [call, { kind: 'requests', quantity: 2, source: server }];
}

/** Which secrets go where. Those of a client of OAuth go to its token server; what they bring goes to the target. */
function secretsTold(settings: HttpSettings, host: string): readonly SecretSent[] {
  const told = (ref: string) => (isContextName(ref) ? `{{ ${ref} }}` : ref);
  const ofTexts = [...new Set(secretsInTexts(settings))];
  const there = tokenHostOf(settings) ?? host;
  return [
    ...ofTexts.map((ref) => ({ name: told(ref), host, use: 'send' as const })),
    ...usesOfAuth(settings.auth)
      .filter(([ref, use]) => use !== 'send' || there !== host || !ofTexts.includes(ref))
      .map(([ref, use]) => ({ name: told(ref), host: there, use })),
  ];
}

/** Null where they are none any more, as another release took them: such a run does nothing but to tell that. */
function settingsIn(spec: Job['input']['action']): HttpSettings | null {
  try {
    return readSettings(spec);
  } catch {
    return null;
  }
}

/** Settings that can never be carried out end the run, however often it may be tried. */
async function invalidAsOutcome(work: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof AppError && error.code === 'invalid_action')
      return { is: 'giveUp', isInvalid: true, error: error.message };
    throw error;
  }
}

async function carriedOut(deps: HttpDeps, job: Job): Promise<Outcome> {
  const settings = readSettings(job.input.action);
  const made = await called(deps, settings, job);
  return 'outcome' in made ? made.outcome : outcomeOf(deps, { settings, job, ...made });
}

interface Called {
  readonly host: string;
  readonly end: OutboundEnd;
  /** Null where no secret was sent. */
  readonly mask: Mask | null;
  readonly usage: Usage;
}

interface Failed {
  readonly outcome: Outcome;
}

/** The place at the host is held no longer than the call takes. Only where a template names the host it is known late. */
async function called(deps: HttpDeps, settings: HttpSettings, job: Job): Promise<Called | Failed> {
  const { hosts, clock } = deps;
  const known = settings.host;
  const early = known === null ? null : await hosts.enter(known, job, job.signal);
  if (early?.is === 'held') return { outcome: held(early) };
  let [place, end]: [Place | null, OutboundEnd | null] = [early, null];
  try {
    const unproven = await rendered(deps, settings, job);
    if ('outcome' in unproven) return unproven;
    const { host } = new URL(unproven.call.url);
    if (!allows(job.scopes, hostScope(host))) return { outcome: mayNotReach(host) };
    const late = place ?? (await hosts.enter(host, job, job.signal));
    if (late.is === 'held') return { outcome: held(late) };
    place = late;
    const sent = await sentProven(deps, { ...unproven, settings, job, host });
    if ('outcome' in sent) return sent;
    end = sent.end;
    return { host, ...sent };
  } finally {
    const isCalledOff = job.signal.aborted && job.signal.reason !== 'timedOut';
    if (end === null) place?.leave('unsaid');
    else place?.leave(hostEndOf(end, isCalledOff), retryAfterMs(end, clock.now()) ?? 0);
  }
}

interface Sending extends Unproven {
  readonly settings: HttpSettings;
  readonly job: Job;
  readonly host: string;
}

/** Sends it with its proof. An access token that the target does not take is got anew once, and tried once more. */
async function sentProven(deps: HttpDeps, sending: Sending): Promise<Omit<Called, 'host'> | Failed> {
  const { settings, job, host } = sending;
  const narrowedTo = job.chatId === null ? null : await deps.hostsOfChat(job.chatId);
  const tally = createTally();
  const hidden = new Set<string>();
  let rejected: string | null = null;
  for (;;) {
    const made = await proven(deps, { ...sending, auth: settings.auth, narrowedTo, rejected });
    tally.add(tokenHostOf(settings), made.spent);
    for (const value of made.hidden) hidden.add(value);
    const mask = maskOf([...hidden]);
    if (made.is === 'unable') return { outcome: maskedOutcome(made.outcome, mask) };
    const end = await deps.outbound.call({
      ...made.call,
      timeoutMs: settings.timeoutMs ?? noTimeoutMs,
      signal: job.signal,
      narrowedTo,
      bodyBytesMax,
      ...(mask === null ? {} : { holdsSecret: (text) => mask.address(text) !== text }),
      ...(made.identity === null ? {} : { identity: made.identity }),
    });
    if (end.is !== 'refused') tally.add(host, { requests: 1, bytes: end.is === 'answered' ? end.body.byteLength : 0 });
    const isRefused = end.is === 'answered' && end.status === 401;
    if (isRefused && made.token !== null && rejected === null) rejected = made.token;
    else return { end: mask === null ? end : await maskedEnd(end, mask, deps.timer), mask, usage: tally.usage() };
  }
}

function held({ reason: error, afterMs }: Hold): Outcome {
  return { is: 'retry', isFree: true, error, afterMs };
}

/** A template named a host for which the task has no right. */
function mayNotReach(host: string): Outcome {
  return { is: 'skip', reason: 'grant_scope', error: `the grant of this task does not name ${hostScope(host)}` };
}

/** The call, or why there is none yet. */
async function rendered(deps: HttpDeps, settings: HttpSettings, job: Job): Promise<Unproven | Failed> {
  const { input, taskId, ownerId } = job;
  const pieces = requestTexts(settings, input.instructions);
  const names = namesOf(secretsIn(settings), input.context);
  const marks = marksFor(new Set(names.values()), deps);
  const wantsLast = taskId !== null && pieces.some(({ text }) => namesLast(text));
  const variables = variablesOf(job, wantsLast ? await deps.lastOf(taskId) : null);
  const made = new Map<string, string>();
  for (const { field, text } of pieces) {
    const knows = namesSecrets(text) ? { ...variables, secrets: Object.fromEntries(marks) } : variables;
    const one = await deps.templates.render(text, ownerId, knows);
    if (one.is !== 'done') return { outcome: unevaluated(field, one) };
    made.set(field, one.text);
  }
  const call = callOf(filled(settings, made), job, made.get('instructions') ?? input.instructions);
  return { call, marks, names };
}

function unevaluated(field: string, end: Unevaluated): Outcome {
  return end.is === 'retry' ? end : { ...end, isInvalid: true, error: `${field}: ${end.fault}` };
}

interface Ended extends Called {
  readonly settings: HttpSettings;
  readonly job: Job;
}

async function outcomeOf(deps: HttpDeps, ended: Ended): Promise<Outcome> {
  const { end, usage } = ended;
  // A refusal is ours: no byte of it has left.
  if (end.is !== 'answered') return { ...unanswered(end), ...(usage.length === 0 ? {} : { usage }) };
  return { ...(await judged(deps, { ...ended, end })), usage };
}

type Answered = Ended & { readonly end: Extract<OutboundEnd, { is: 'answered' }> };

async function judged(deps: HttpDeps, { settings, job, host, end, mask }: Answered): Promise<Outcome> {
  const read = readAnswer(end);
  const answer = mask === null ? read : maskedAnswer(read, mask);
  if (!isExpected(settings, end.status)) return unwanted(host, answer, retryAfterMs(end, deps.clock.now()));
  const result = await resultOf(mask === null ? deps : maskedDeps(deps, mask), { settings, job, host, answer });
  if (result.is !== 'done') return 'field' in result ? unevaluated(result.field, result.why) : result;
  return { ...result, httpStatus: end.status };
}

/** A template or an expression could put together again what was masked in pieces. */
function maskedDeps(deps: HttpDeps, mask: Mask): ResultDeps {
  const { templates, expressions } = deps;
  const masked = <T>(value: T) => maskedValue(value, mask) as T;
  return {
    ...deps,
    templates: { render: async (...asked) => masked(await templates.render(...asked)) },
    expressions: {
      ...expressions,
      select: async (...asked) => masked(await expressions.select(...asked)),
    },
  };
}

function maskedOutcome(outcome: Outcome, mask: Mask | null): Outcome {
  return 'error' in outcome && mask !== null ? { ...outcome, error: mask.text(outcome.error) } : outcome;
}

type Usage = readonly { readonly kind: 'requests' | 'bytes'; readonly quantity: number; readonly source: string }[];

/** Requests and bytes by host. */
function createTally() {
  const spent = new Map<string, Spent>();
  return {
    add: (host: string | null, { requests, bytes }: Spent): void => {
      const before = spent.get(host ?? '') ?? { requests: 0, bytes: 0 };
      spent.set(host ?? '', { requests: before.requests + requests, bytes: before.bytes + bytes });
    },
    usage: (): Usage =>
      [...spent].flatMap(([source, { requests, bytes }]) => [
        ...(requests === 0 ? [] : [{ kind: 'requests', quantity: requests, source } as const]),
        ...(bytes === 0 ? [] : [{ kind: 'bytes', quantity: bytes, source } as const]),
      ]),
  };
}
