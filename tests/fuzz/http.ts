import { z } from 'zod';
import { errorAnswer, type Operation } from '../../src/api/operation.ts';
import { operations } from '../../src/api/operations.ts';
import { statusOf } from '../../src/http/errors.ts';
import { appOver } from '../http/pipeline-door.ts';
import { chanceOf } from '../support/chance.ts';
import { aPipeline, type Pipeline } from '../support/pipeline.ts';
import { patience, type Outcome } from './outcome.ts';
import { requestOf, type Asked, type Known } from './requests.ts';

const all: readonly Operation[] = Object.values(operations);
/** Between two rounds the rooms do what they were asked for. */
const roundLength = 250;
const namedPerRound = 9;
const cursorsMax = 20;
/** Whoever reads them has seen enough. */
const faultsMax = 20;

/** Requests by chance to the whole product over a real database, each of them judged by the description of its operation. */
export async function fuzzHttp(seed: number, cases: number, spoil = (_pipeline: Pipeline) => {}): Promise<Outcome> {
  const pipeline = await aPipeline({ settings: { QUOTA_PER_CHAT: 100_000, QUOTA_PER_USER: 100_000 } });
  const app = appOver(pipeline);
  const faults: string[] = [];
  const statuses = new Map<number, number>();
  const bystanders = await bystandersOf(pipeline);
  const before = bystanders.look();
  const unknown = new Map<string, string>();
  let known = await knownOf(pipeline);
  spoil(pipeline);
  for (let index = 0; index < cases && faults.length < faultsMax; index += 1) {
    if (index % roundLength === roundLength - 1) {
      await pipeline.settle();
      if (bystanders.look() !== before)
        faults.push(`seed ${seed}, before case ${index}: a task was changed that nobody named`);
      known = { ...(await knownOf(pipeline)), cursors: known.cursors };
    }
    const chance = chanceOf(seed, `http ${index}`);
    const asked = requestOf(chance, all[index % all.length] ?? chance.pick(all), known);
    const told = await patience(Promise.resolve(app.fetch(requestFrom(asked))).then(toldBy));
    count(statuses, told);
    known.cursors.push(...cursorsIn(told?.json));
    known.cursors.splice(0, known.cursors.length - cursorsMax);
    const fault = told === null ? 'no answer' : (faultIn(asked, told) ?? strangerFault(asked, told, unknown));
    if (fault !== null) faults.push(`seed ${seed}, case ${index}: ${fault}\n${shown(asked, told)}`);
  }
  if (({} as { polluted?: unknown }).polluted !== undefined) faults.push('a request has changed every object there is');
  return { faults, counts: statuses };
}

function requestFrom({ target, method, headers, body }: Asked): Request {
  return new Request(`http://localhost${target}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body: body as string }),
  });
}

function count(statuses: Map<number, number>, told: Told | null): void {
  if (told !== null) statuses.set(told.status, (statuses.get(told.status) ?? 0) + 1);
}

interface Told {
  readonly status: number;
  readonly type: string;
  readonly text: string;
  readonly json: unknown;
}

async function toldBy(response: Response): Promise<Told> {
  const text = await response.text();
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    json = undefined;
  }
  return { status: response.status, type: response.headers.get('content-type') ?? '', text, json };
}

/** What is wrong with an answer; null when nothing is. */
function faultIn(asked: Asked, told: Told): string | null {
  const { method, target } = asked;
  if (told.status >= 500) return 'a fault of the server';
  if (told.status === 204 && method === 'OPTIONS') return null;
  if (method === 'HEAD') return told.text === '' ? null : 'a body for HEAD';
  if (told.json === undefined) return isPage(target, told) ? null : 'no JSON';
  if (!told.type.startsWith('application/json')) return `the type is ${told.type}`;
  if (told.status >= 400) return errorFault(told);
  return isTo(asked) ? successFault(asked.operation, told) : null;
}

function successFault({ statuses = [200], answer }: Operation, { status, json }: Told): string | null {
  if (!statuses.some((one) => one === status)) return 'a status that is not described';
  const fits = answer.safeParse(json);
  return fits.success ? null : `not what is described: ${z.prettifyError(fits.error)}`;
}

/** Some pages for people stand beside the API, and a path by chance may lead to them. */
function isPage(target: string, { status, type }: Told): boolean {
  return status < 400 && !type.startsWith('application/json') && !target.startsWith('/v1/');
}

function errorFault({ status, json }: Told): string | null {
  const read = errorAnswer.safeParse(json);
  if (!read.success) return 'not the envelope of errors';
  const { code, message } = read.data.error;
  if (!Object.hasOwn(statusOf, code)) return `an unknown code: ${code}`;
  const wanted = statusOf[code as keyof typeof statusOf];
  if (wanted !== status) return `${code} is ${wanted}`;
  return message === '' || /\[object |\bundefined\b/.test(message.replaceAll(/"[^"]*"/g, ''))
    ? `a message that says nothing: ${message}`
    : null;
}

/** Whatever is not there for somebody is refused in the same words, whatever the reason. */
function strangerFault(asked: Asked, { status, text }: Told, unknown: Map<string, string>): string | null {
  const { isStranger, operation } = asked;
  if (!isStranger || !isTo(asked)) return null;
  if (status < 400) return 'something was done to what nobody may know of';
  if (status !== 404) return null;
  const first = unknown.get(operation.summary) ?? text;
  unknown.set(operation.summary, first);
  return text === first ? null : `unknown and foreign differ: ${first}`;
}

/** By chance a request has gone somewhere else than its operation. */
function isTo({ operation, method, target }: Asked): boolean {
  const shape = operation.path.replace(/\{\w+\}/g, '[^/?]+');
  return method === operation.method.toUpperCase() && new RegExp(`^${shape}(?:\\?|$)`).test(target);
}

function cursorsIn(json: unknown): string[] {
  const cursor = typeof json === 'object' && json !== null && 'next_cursor' in json ? json.next_cursor : null;
  return typeof cursor === 'string' ? [cursor] : [];
}

/** Tasks of somebody else, in a place that no request names. */
async function bystandersOf(pipeline: Pipeline) {
  const made: string[] = [];
  for (let index = 0; index < 5; index += 1) {
    const { id } = await pipeline.create(
      {
        title: `Bystander ${index}`,
        subject: 'aside',
        tags: ['aside'],
        schedule: { kind: 'once', once_at: '2031-01-01T00:00:00Z', timezone: 'UTC' },
      },
      { threadKey: 'cli:bystander' },
    );
    made.push(id);
  }
  const marks = made.map(() => '?').join(', ');
  const look = pipeline.database.prepare(`select * from tasks where id in (${marks}) order by id`);
  return { look: () => JSON.stringify(look.all(...made)) };
}

const threads = ['cli:fuzz', 'telegram:chat:-1001234', 'telegram:chat:-1001234:topic:7'];

/** Something of every kind, new for each round, because requests delete what they name. */
async function knownOf(pipeline: Pipeline): Promise<Known> {
  const made = [];
  for (let index = 0; index < namedPerRound; index += 1)
    made.push(await namedIn(pipeline, threads[index % threads.length] ?? ''));
  const ids = {
    task_id: made.map(({ taskId }) => taskId),
    run_id: made.map(({ runId }) => runId),
    grant_id: made.flatMap(({ grantIds }) => grantIds),
    token_id: ['00000000-0000-7000-8000-000000000007'],
    // Of nobody whom the tasks belong to, as they would go with their owner.
    id: ['4242', '-1009999', 'telegram:user:4243'],
    actor: ['telegram:user:4242'],
    name: ['WEATHER_KEY'],
  };
  const never = ['00000000-0000-7000-8000-000000000000', 'never-was', '1', ...made.map(({ taskRunId }) => taskRunId)];
  return {
    ids,
    strangers: {
      task_id: [...never, ...ids.run_id, ...ids.grant_id],
      run_id: [...never, ...ids.task_id, ...ids.grant_id],
      grant_id: [...never, ...ids.task_id, ...ids.run_id],
      token_id: ['never-was', ...ids.task_id],
      id: ['never-was', 'telegram:user:x', ...ids.task_id],
      actor: ['never-was', ...ids.task_id],
      name: ['NEVER_WAS', 'never-was', ...ids.task_id],
    },
    threads,
    cursors: [],
  };
}

async function namedIn(pipeline: Pipeline, threadKey: string) {
  const { tasks } = pipeline.rooms;
  const { id: taskId } = await pipeline.create(
    { subject: 'garden', tags: ['garden'] },
    { threadKey, onExisting: 'add' },
  );
  const { taskRun } = await tasks.runNow({ taskId, actor: 'system' });
  const grants = await tasks.listGrants({ thread: null, ownerId: null, taskId, state: null, limit: 1, cursor: null });
  return { taskId, runId: taskRun.runId ?? '', taskRunId: taskRun.id, grantIds: grants.items.map(({ id }) => id) };
}

function shown({ method, target, headers, body }: Asked, told: Told | null): string {
  const sent = typeof body === 'string' ? body : Buffer.from(body ?? []).toString('latin1');
  return `  ${method} ${target.slice(0, 300)} ${JSON.stringify(headers).slice(0, 300)}
  ${sent.slice(0, 500)}
  -> ${told === null ? 'nothing' : `${told.status} ${told.text.slice(0, 400)}`}`;
}
