import { AppError } from '../../../domain/errors.ts';
import { allows, hostScope } from '../../../domain/grant.ts';
import type { Outbound, OutboundEnd, Egress } from '../../ports/outbound.ts';
import type { Clock, Templates, Unevaluated } from '../../ports/outside.ts';
import type { Action, Job, Outcome } from '../action.ts';
import { namesLast, variablesOf } from '../variables.ts';
import { readAnswer } from './answer.ts';
import type { Hold, Hosts, Place } from './hosts.ts';
import { callOf, checkForm, type Call } from './request.ts';
import { resultOf, type ResultDeps } from './result.ts';
import { carriesBody, hostOf, judgeTarget, readSettings, type HttpSettings } from './settings.ts';
import { hostEndOf, isExpected, retryAfterMs, unanswered, unwanted } from './verdict.ts';
import { filled, requestTexts, writtenIn } from './written.ts';

export interface HttpDeps extends ResultDeps {
  readonly templates: Pick<Templates, 'render'>;
  readonly outbound: Outbound & Egress;
  readonly hosts: Hosts;
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
    scopes: (spec) => [hostScope(hostOf(readSettings(spec)) ?? '*')],
    // Every attempt of a slot carries the same key, by which a target tells a repeat from a new call.
    repeatable: () => true,
    changesThings: (spec) => {
      const settings = settingsIn(spec);
      return settings !== null && carriesBody(settings.method);
    },
    preview: (spec) => {
      const settings = settingsIn(spec);
      if (settings === null) return { reaches: [], costs: [] };
      const host = hostOf(settings) ?? 'a host that a template names';
      return { reaches: [host], costs: [{ kind: 'requests', quantity: 1, source: hostOf(settings) ?? '' }] };
    },
    hold: ({ spec, ...who }, now) => {
      const settings = settingsIn(spec);
      const host = settings === null ? null : hostOf(settings);
      const hold = host === null ? null : hosts.hold(host, who);
      return hold === null ? null : { until: now + hold.afterMs, reason: hold.reason };
    },
    run: async (job) => invalidAsOutcome(() => carriedOut(deps, job)),
  };
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
  return 'is' in made ? made : outcomeOf(deps, { settings, job, ...made });
}

interface Called {
  readonly host: string;
  readonly end: OutboundEnd;
}

/** The place at the host is held no longer than the call takes. Only where a template names the host it is known late. */
async function called(deps: HttpDeps, settings: HttpSettings, job: Job): Promise<Called | Outcome> {
  const { hosts, outbound, clock } = deps;
  const known = hostOf(settings);
  const early = known === null ? null : await hosts.enter(known, job, job.signal);
  if (early?.is === 'held') return held(early);
  let [place, end]: [Place | null, OutboundEnd | null] = [early, null];
  try {
    const call = await rendered(deps, settings, job);
    if ('is' in call) return call;
    const { host } = new URL(call.url);
    if (!allows(job.scopes, hostScope(host))) return mayNotReach(host);
    const late = place ?? (await hosts.enter(host, job, job.signal));
    if (late.is === 'held') return held(late);
    place = late;
    const timeoutMs = settings.timeoutMs ?? noTimeoutMs;
    const narrowedTo = job.chatId === null ? null : await deps.hostsOfChat(job.chatId);
    end = await outbound.call({ ...call, timeoutMs, signal: job.signal, narrowedTo, bodyBytesMax });
    return { host, end };
  } finally {
    const isCalledOff = job.signal.aborted && job.signal.reason !== 'timedOut';
    if (end === null) place?.leave('unsaid');
    else place?.leave(hostEndOf(end, isCalledOff), retryAfterMs(end, clock.now()) ?? 0);
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
async function rendered(deps: HttpDeps, settings: HttpSettings, job: Job): Promise<Call | Outcome> {
  const { input, taskId, ownerId } = job;
  const pieces = requestTexts(settings, input.instructions);
  const wantsLast = taskId !== null && pieces.some(({ text }) => namesLast(text));
  const variables = variablesOf(job, wantsLast ? await deps.lastOf(taskId) : null);
  const made = new Map<string, string>();
  for (const { field, text } of pieces) {
    const one = await deps.templates.render(text, ownerId, variables);
    if (one.is !== 'done') return unevaluated(field, one);
    made.set(field, one.text);
  }
  return callOf(filled(settings, made), job, made.get('instructions') ?? input.instructions);
}

function unevaluated(field: string, end: Unevaluated): Outcome {
  return end.is === 'retry' ? end : { ...end, isInvalid: true, error: `${field}: ${end.fault}` };
}

interface Ended extends Called {
  readonly settings: HttpSettings;
  readonly job: Job;
}

async function outcomeOf(deps: HttpDeps, ended: Ended): Promise<Outcome> {
  const { host, end } = ended;
  // A refusal is ours: no byte of it has left.
  if (end.is === 'refused') return unanswered(end);
  const call = { kind: 'requests', quantity: 1, source: host } as const;
  if (end.is !== 'answered') return { ...unanswered(end), usage: [call] };
  const usage = [call, { kind: 'bytes', quantity: end.body.byteLength, source: host } as const];
  return { ...(await judged(deps, { ...ended, end })), usage };
}

type Answered = Ended & { readonly end: Extract<OutboundEnd, { is: 'answered' }> };

async function judged(deps: HttpDeps, { settings, job, host, end }: Answered): Promise<Outcome> {
  const answer = readAnswer(end);
  if (!isExpected(settings, end.status)) return unwanted(host, answer, retryAfterMs(end, deps.clock.now()));
  const result = await resultOf(deps, { settings, job, host, answer });
  if (result.is !== 'done') return 'field' in result ? unevaluated(result.field, result.why) : result;
  return { ...result, httpStatus: end.status };
}
