import { describe, expect, it } from 'vitest';
import { operations } from '../../src/api/operations.ts';
import type { DescribedAnswer, Description, Schema } from '../../src/http/docs/openapi.ts';
import { aChat, aPipeline, hour, minute } from '../support/pipeline.ts';
import { bearer } from './door.ts';
import { faultsOf } from './json-schema.ts';
import { appOver } from './pipeline-door.ts';

type Id = keyof typeof operations;
type Facts = Readonly<Record<string, unknown>>;

interface Asking {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Answered {
  readonly status: number;
  readonly body: Facts;
}

/** Asks for operations by their id, and holds every answer against the description. */
async function aWitness() {
  const pipeline = await aPipeline();
  await aChat(pipeline);
  const app = appOver(pipeline);
  const description = (await (await app.request('/openapi.json')).json()) as Description;
  const seen = new Map<Id, Set<number>>();
  const ask = async (id: Id, { params = {}, query = '', body, headers = {} }: Asking = {}): Promise<Answered> => {
    const { method, path } = operations[id];
    const target = path.replace(/\{(\w+)\}/g, (_all, name: string) => encodeURIComponent(params[name] ?? ''));
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const type = body === undefined ? {} : { 'content-type': 'application/json' };
    const init = { method: method.toUpperCase(), headers: { ...bearer, ...type, ...headers }, ...sent };
    const response = await app.request(`${target}${query}`, init);
    const isJson = response.headers.get('content-type') === 'application/json';
    const told = (
      isJson ? await response.clone().json() : { bytes: (await response.clone().arrayBuffer()).byteLength }
    ) as Facts;
    witness(id, response, told);
    seen.set(id, (seen.get(id) ?? new Set()).add(response.status));
    return { status: response.status, body: told };
  };
  const witness = (id: Id, { status, headers }: Response, told: Facts) => {
    const { method, path } = operations[id];
    const place = `${id} ${status} ${JSON.stringify(told)}`;
    const described = description.paths[path]?.[method]?.responses[String(status)];
    expect(described, place).toBeDefined();
    expect(faultsOf(told, schemaOf(described), description), place).toEqual([]);
    const codes = described?.['x-error-codes'];
    if (codes !== undefined) expect(codes, place).toContain((told['error'] as Facts)['code']);
    for (const name of Object.keys(described?.headers ?? {})) {
      // No rate is set here, and only a repeated request is told so.
      const isOptional = /^(?:ratelimit-|idempotency-replayed)/.test(name);
      if (!isOptional) expect(headers.has(name), `${place} ${name}`).toBe(true);
    }
  };
  return { pipeline, ask, seen };
}

function schemaOf(answer: DescribedAnswer | undefined): Schema {
  return answer?.content?.['application/json']?.schema ?? {};
}

type Witness = Awaited<ReturnType<typeof aWitness>>;

const thread = { thread_key: 'telegram:chat:-1001234:topic:7' };
const definition = {
  instructions: 'Stand up!',
  schedule: { kind: 'cron', cron: '0 * * * *', timezone: 'Europe/Madrid' },
  subject: 'daily',
  tags: ['team'],
};

const within = (answer: Answered, ...names: string[]): string =>
  String(names.reduce<unknown>((value, name) => (value as Facts)[name], answer.body));

async function live({ ask, pipeline }: Witness): Promise<void> {
  const made = await ask('createTask', { params: thread, body: definition, headers: { 'idempotency-key': 'one' } });
  await ask('createTask', { params: thread, body: definition, headers: { 'idempotency-key': 'one' } });
  await ask('createTask', { params: thread, body: { ...definition, tags: [] }, headers: { 'idempotency-key': 'one' } });
  await ask('createTask', { params: thread, body: definition });
  await ask('createTask', { params: thread, body: { ...definition, policies: { on_existing: 'upsert' } } });
  await ask('createTask', { params: thread, body: { ...definition, policies: { grace: 'soon' } } });
  await ask('createTask', { params: { thread_key: 'nowhere' }, body: definition });
  const params = { task_id: within(made, 'task', 'task_id') };
  await ask('updateTask', {
    params,
    body: { title: 'Stand up, please', schedule: { ...definition.schedule, cron: '30 * * * *' } },
  });
  await ask('listTaskVersions', { params });
  const ran = await ask('runTaskNow', { params });
  await ask('runTaskNow', { params });
  await ask('cancelTask', { params });
  await pipeline.settle();
  await pipeline.pass(hour);
  for (const id of ['getTask', 'listTaskRuns', 'listNextRuns', 'whyTask'] as const) await ask(id, { params });
  const run = { run_id: within(ran, 'task_run', 'run_id') };
  for (const id of ['getRun', 'getRunResult', 'cancelRun', 'replayRun', 'retryRun'] as const)
    await ask(id, { params: run });
  await pipeline.settle();
  for (const id of ['skipTask', 'unskipTask', 'pauseTask', 'resumeTask', 'undoTask'] as const)
    await ask(id, { params });
  await ask('changeContext', { params, body: { context: { city: 'Oslo' } } });
  for (const id of ['getContext', 'resetContext'] as const) await ask(id, { params });
  await ask('snoozeTask', { params, body: { for: 'PT10M' } });
  await ask('answerTask', { params, body: { answer: 'none' } });
  await pipeline.pass(11 * minute);
  await ask('deleteTask', { params });
  await ask('getTask', { params });
  await ask('restoreTask', { params });
}

async function answerMissed({ ask, pipeline }: Witness): Promise<void> {
  const body = { ...definition, subject: 'asked', policies: { missed: 'ask', grace: 'PT1M' } };
  const made = await ask('createTask', { params: thread, body });
  await pipeline.time.advance(3 * hour);
  await pipeline.settle();
  const answer = { params: { task_id: within(made, 'task', 'task_id') }, body: { answer: 'all' } };
  expect((await ask('answerTask', answer)).status).toBe(200);
  await pipeline.settle();
}

async function makeGood({ ask, pipeline }: Witness): Promise<void> {
  const action = { kind: 'echo', fail_attempts: 1, error: 'final' };
  const made = await ask('createTask', { params: thread, body: { ...definition, subject: 'failing', action } });
  const ran = await ask('runTaskNow', { params: { task_id: within(made, 'task', 'task_id') } });
  await pipeline.settle();
  const again = await ask('retryRun', { params: { run_id: within(ran, 'task_run', 'run_id') } });
  expect(again.status).toBe(200);
  await pipeline.settle();
}

async function attach({ ask }: Witness): Promise<void> {
  const made = await ask('createTask', { params: { thread_key: 'cli:default' }, body: definition });
  const params = { task_id: within(made, 'task', 'task_id') };
  expect((await ask('attachTask', { params, body: { thread_key: 'telegram:chat:-1001234' } })).status).toBe(200);
  const granted = await ask('createGrant', { body: { task_id: params.task_id, expires_at: '2030-01-01T00:00:00Z' } });
  await ask('listGrants');
  await ask('revokeGrant', { params: { grant_id: within(granted, 'grant', 'grant_id') } });
  await ask('revokeGrant', { params: { grant_id: 'none' } });
}

async function inBulk({ ask, pipeline }: Witness): Promise<void> {
  for (const id of ['pauseTasks', 'resumeTasks', 'cancelTasks'] as const) {
    await ask(id, { body: { tag: 'team' } });
    await ask(id, { body: { subject: 'daily' }, query: '?dry_run=true' });
    await ask(id, { body: {} });
  }
  for (const id of ['pauseThread', 'resumeThread', 'cancelThread'] as const) await ask(id, { params: thread });
  await ask('postMessage', { body: { ...thread, text: 'The kettle is on.' } });
  await pipeline.settle();
  for (const id of ['listTasks', 'listRuns'] as const) {
    await ask(id, { query: '?limit=1' });
    await ask(id, { query: '?cursor=x' });
  }
  await ask('listThreadTasks', { params: thread });
  await ask('purgeThread', { params: thread, query: '?dry_run=true' });
  await ask('purgeThread', { params: thread });
  await ask('purgePerson', { params: { actor: 'system:api' } });
  await ask('purgePerson', { params: { actor: 'ada' } });
}

async function tryOut({ ask, pipeline }: Witness): Promise<void> {
  const action = { kind: 'message' };
  for (const kind of ['echo', 'lamp']) await ask('pauseKind', { params: { kind } });
  await ask('listActions');
  await ask('testAction', { body: { action: { kind: 'echo' }, instructions: 'Hello' } });
  for (const kind of ['echo', 'echo', 'lamp']) await ask('resumeKind', { params: { kind } });
  await ask('previewAction', { body: { action: { kind: 'digest' }, schedule: definition.schedule } });
  await ask('previewAction', { body: { action: { kind: 'lamp' }, schedule: definition.schedule } });
  await ask('testAction', { body: { action, instructions: 'Hello' } });
  await ask('testAction', { body: { action, instructions: 'Hello', thread_key: 'telegram:chat:x' } });
  await pipeline.settle();
}

async function bringFile({ ask, pipeline }: Witness): Promise<void> {
  const action = { kind: 'echo', files: [{ name: 'a.txt', size: 10 }] };
  const made = await ask('createTask', { params: thread, body: { ...definition, subject: 'file', action } });
  const ran = await ask('runTaskNow', { params: { task_id: within(made, 'task', 'task_id') } });
  await pipeline.settle();
  const run_id = within(ran, 'task_run', 'run_id');
  expect((await ask('getRunAttachment', { params: { run_id, n: '1' } })).body).toEqual({ bytes: 10 });
  for (const n of ['2', '0']) await ask('getRunAttachment', { params: { run_id, n } });
}

async function operate({ ask }: Witness): Promise<void> {
  for (const id of ['listEvents', 'listAudit', 'listDowntimes', 'getStatus', 'getUsage', 'tick'] as const)
    await ask(id);
  await ask('getUsage', { query: '?group=day&timezone=Nowhere' });
  await ask('setBudgets', { body: { thread_key: 'telegram:chat:-1001234', requests: 9, per: 'day' } });
  await ask('setBudgets', { body: { requests: 9, per: 'day' } });
  await ask('listBudgets');
  await ask('listEvents', { query: '?kind=run.&limit=2' });
  await ask('listEvents', { query: '?after=x' });
  await ask('setSecret', { params: { name: 'KEY' }, body: { value: 'sesame' } });
  await ask('setSecret', { params: { name: 'key' }, body: { value: 'sesame' } });
  await ask('listSecrets');
  await ask('rotateSecrets');
  await ask('deleteSecret', { params: { name: 'KEY' } });
  await ask('runAudit');
  await ask('reconcile', { body: { fix: true } });
  await ask('previewSchedule', { body: { when: 'every weekday at 9:00', timezone: 'Europe/Madrid' } });
  await ask('previewSchedule', { body: { schedule: definition.schedule, count: 2 } });
  await ask('previewSchedule', { body: { schedule: { ...definition.schedule, cron: 'daily' } } });
  const params = { id: '1001' };
  await ask('allowAccess', { params, body: { role: 'owner' } });
  await ask('allowAccess', { params: { id: '-100' } });
  await ask('allowAccess', { params: { id: 'ada' } });
  await ask('listThreads');
  await ask('listThreads', { query: '?thread_key=telegram' });
  await ask('listAccess');
  await ask('listAccess', { query: '?cursor=x' });
  await ask('createToken', { body: { name: 'ci', scopes: ['run'], thread_keys: ['cli:default'] } });
  await ask('createToken', { body: { name: 'ci', scopes: ['run'] } });
  const { tokens } = (await ask('listTokens')).body as { readonly tokens: readonly { readonly token_id: string }[] };
  await ask('revokeToken', { params: { token_id: tokens[0]?.token_id ?? '' } });
  await ask('revokeToken', { params: { token_id: 'none' } });
  await ask('denyAccess', { params });
  await ask('denyAccess', { params: { id: '-100' } });
  for (const id of ['isLive', 'isHealthy', 'isReady', 'getVersion', 'getDescription'] as const) await ask(id);
}

describe('the answers of a real run', () => {
  it('are what the description says, for every operation', async () => {
    const witness = await aWitness();
    for (const part of [live, answerMissed, makeGood, attach, inBulk, bringFile, tryOut, operate]) await part(witness);
    const { seen } = witness;
    const untold = (Object.keys(operations) as Id[]).filter(
      (id) => ![...(seen.get(id) ?? [])].some((status) => status < 300),
    );
    expect(untold).toEqual([]);
    const statuses = new Set([...seen.values()].flatMap((all) => [...all]));
    expect([...statuses].toSorted((a, b) => a - b)).toEqual([200, 201, 202, 400, 404, 409, 422]);
  });

  it('are refused by the same check when they are not', async () => {
    const { components, ...rest } = (await (
      await appOver(await aPipeline()).request('/openapi.json')
    ).json()) as Description;
    const description = { components, ...rest };
    const warning = { $ref: '#/components/schemas/Warning' };
    expect(faultsOf({ code: 'x', message: 'y' }, warning, description)).toEqual([]);
    expect(faultsOf({ code: 'x' }, warning, description)).toEqual(['$.message: is missing']);
    expect(faultsOf({ code: 'x', message: 1 }, warning, description)).toEqual([
      '$.message: is integer, and not string',
    ]);
    expect(faultsOf({ code: 'x', message: '', more: 1 }, warning, description)).toEqual(['$.more: is not described']);
  });
});
