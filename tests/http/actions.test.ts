import { describe, expect, it } from 'vitest';
import { authKinds } from '../../src/app/actions/http/auth-form.ts';
import type { Description, Schema } from '../../src/http/docs/openapi.ts';
import { calls, withHttp } from '../support/actions.ts';
import { anOutbound } from '../support/outbound.ts';
import { aPipeline, minute, type Pipeline, type PipelineOptions } from '../support/pipeline.ts';
import { token } from './door.ts';
import { faultsOf } from './json-schema.ts';
import { appOver } from './pipeline-door.ts';

const price = { kind: 'http', url: 'https://api.example.com/price' } as const;
const hook = { kind: 'http', method: 'POST', url: 'https://example.com/hook' } as const;
const daily = { kind: 'cron', cron: '0 9 * * *', timezone: 'UTC' } as const;

async function aServer(options?: PipelineOptions) {
  const made = calls(() => ({ is: 'done', text: 'The price is 7.', httpStatus: 200 }));
  const p = await aPipeline(options ?? { actions: withHttp(made) });
  const app = appOver(p);
  const ask = async (method: string, path: string, body?: unknown, headers = {}) => {
    const answer = await app.request(path, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: answer.status, json: (await answer.json()) as Readonly<Record<string, unknown>> };
  };
  return { p, made, ask };
}

const create = '/v1/threads/cli:default/tasks';

describe('a task with an action', () => {
  it('is made without instructions where its action needs none, and is called by what it does', async () => {
    const { ask } = await aServer();
    const made = await ask('POST', create, { action: price, schedule: daily });
    expect(made).toMatchObject({
      status: 201,
      json: { task: { title: 'api.example.com/price', instructions: '', action: price } },
    });
  });

  it('takes its time in words', async () => {
    const { ask } = await aServer();
    const made = await ask('POST', create, { action: hook, when: 'every day at 9', timezone: 'UTC' });
    expect(made).toMatchObject({ status: 201, json: { task: { action: hook, schedule: { cron: '0 9 * * *' } } } });
  });

  it.each([
    ['a text is still needed by a message', { schedule: daily, action: { kind: 'message' } }, 'instructions'],
    ['a kind that is not there', { schedule: daily, instructions: 'x', action: { kind: 'lamp' } }, 'action.kind'],
    ['a setting that cannot work', { schedule: daily, action: { kind: 'http', url: 'no' } }, 'action.url'],
  ])('is refused by the field: %s', async (_what, body, field) => {
    const { ask } = await aServer();
    expect(await ask('POST', create, body)).toMatchObject({ status: 400, json: { error: { details: { field } } } });
  });

  it.each([
    ['is no object', 'http', 'such as {"kind": "http"'],
    ['has a text with a NUL', { ...hook, template: 'a\0b' }, 'becomes "ab"'],
    ['is too large', { ...hook, template: 'x'.repeat(40_000) }, 'such as {"file"'],
  ])('is refused with an example where it %s', async (_what, action, words) => {
    const { ask } = await aServer();
    const refused = await ask('POST', create, { schedule: daily, action });
    expect(refused).toMatchObject({
      status: 400,
      json: { error: { message: expect.stringContaining(words) as string } },
    });
  });
});

it('tells which kinds of actions there are, and their settings', async () => {
  const { ask } = await aServer();
  const { json } = await ask('GET', '/v1/actions');
  const kinds = json['actions'] as readonly { readonly kind: string }[];
  expect(kinds.map(({ kind }) => kind)).toEqual(['message', 'digest', 'http']);
  const http = kinds.at(-1) as unknown as {
    needs_text: boolean;
    fields: readonly { name: string; required: boolean }[];
  };
  expect(http.needs_text).toBe(false);
  expect(http.fields.filter(({ required }) => required).map(({ name }) => name)).toEqual(['url']);
});

it('tells before a task is made what it would reach and cost, and for how long it is tried', async () => {
  const { ask } = await aServer();
  const schedule = { kind: 'cron', cron: '*/10 8-17 * * *', timezone: 'UTC' };
  const policies = { missed: 'all', missed_limit: 20 };
  expect(await ask('POST', '/v1/actions/preview', { action: price, schedule, policies })).toEqual({
    status: 200,
    json: {
      action: price,
      brief: 'GET https://api.example.com/price',
      changes_things: false,
      repeatable: true,
      reaches: ['api.example.com'],
      secrets: [],
      costs: [
        {
          kind: 'requests',
          currency: null,
          per_run: 1,
          often: { count: 60, per: 'day' },
          per_month: 1800,
          at_once: 20,
        },
      ],
      attempts: 3,
      retry_window_seconds: 198,
      catch_up_runs: 20,
    },
  });
  expect(await ask('POST', '/v1/actions/preview', { action: { kind: 'http', url: 'no' }, schedule })).toMatchObject({
    status: 400,
    json: { error: { code: 'invalid_action', details: { field: 'action.url' } } },
  });
});

describe('a test of an action', () => {
  const resultOf = async (p: Pipeline, ask: Awaited<ReturnType<typeof aServer>>['ask'], run: unknown) => {
    await p.settle();
    return (await ask('GET', `/v1/runs/${String((run as { run_id: string }).run_id)}/result`)).json;
  };

  it('is a run of its own, with a key that no slot has, and leaves no task', async () => {
    const { p, made, ask } = await aServer();
    const asked = await ask('POST', '/v1/actions/test', { action: price });
    expect(asked).toMatchObject({ status: 202, json: { source: 'test', task_id: null, status: 'running' } });
    expect(await resultOf(p, ask, asked.json)).toMatchObject({
      state: 'succeeded',
      output: { type: 'http', text: 'The price is 7.' },
    });
    expect(made.jobs.map(({ outgoingKey }) => outgoingKey)).toEqual([`run:${String(asked.json['run_id'])}`]);
    expect((await ask('GET', '/v1/tasks')).json).toMatchObject({ tasks: [] });
  });

  it('wants a word before a call that may change something', async () => {
    const { p, made, ask } = await aServer();
    expect(await ask('POST', '/v1/actions/test', { action: hook })).toMatchObject({
      status: 400,
      json: { error: { details: { field: 'confirm' } } },
    });
    expect((await ask('POST', '/v1/actions/test', { action: hook, confirm: true })).status).toBe(202);
    await p.settle();
    expect(made.jobs).toHaveLength(1);
  });

  it('is done once for one key', async () => {
    const { p, made, ask } = await aServer();
    const send = () => ask('POST', '/v1/actions/test', { action: price }, { 'idempotency-key': 'k1' });
    const [first, second] = [await send(), await send()];
    expect(second.json['run_id']).toBe(first.json['run_id']);
    await p.settle();
    expect(made.jobs).toHaveLength(1);
  });

  it('is refused like the task would be', async () => {
    const { ask } = await aServer();
    expect(await ask('POST', '/v1/actions/test', { action: { kind: 'http', url: 'no' } })).toMatchObject({
      status: 400,
      json: { error: { code: 'invalid_action' } },
    });
  });
});

describe('a kind that is paused', () => {
  it('lets its runs wait, says so wherever they are asked about, and goes on', async () => {
    const { p, made, ask } = await aServer();
    const created = await ask('POST', create, { action: price, schedule: daily });
    const { task_id: id } = created.json['task'] as { task_id: string };
    const paused = { since: '2026-11-18T09:00:00.000Z', by: 'system:api' };
    const pause = () => ask('POST', '/v1/actions/http/pause');
    expect(await pause()).toEqual({
      status: 200,
      json: { kind: 'http', paused, entry_id: expect.any(String) as string },
    });
    expect(await pause()).toEqual({ status: 200, json: { kind: 'http', paused, entry_id: null } });

    const ran = await ask('POST', `/v1/tasks/${id}/run-now`);
    expect(ran.json).toMatchObject({
      task_run: { status: 'dispatched', attempts: [] },
      waits_for: { reason: 'kind_paused', ...paused },
    });
    await p.pass(minute);
    expect(made.jobs).toHaveLength(0);
    const run = { kind: 'http', ...paused };
    expect((await ask('GET', '/v1/status')).json).toMatchObject({ paused_kinds: [run], runs: { queued: 1 } });
    const listed = (await ask('GET', '/v1/actions')).json['actions'] as { kind: string; paused: unknown }[];
    expect(listed.filter((one) => one.paused !== null)).toMatchObject([{ kind: 'http', paused }]);
    const told = (await ask('GET', `/v1/tasks/${id}/why`)).json['answers'] as { line: string; evidence: object }[];
    expect(told.find(({ line }) => line.includes('kind http is paused since'))?.line).toContain(', by the API');
    expect(told.find(({ evidence }) => 'kind_paused' in evidence)?.evidence).toMatchObject({ kind_paused: run });
    expect(await ask('POST', '/v1/actions/test', { action: price })).toMatchObject({
      status: 409,
      json: { error: { code: 'kind_paused', details: { kind: 'http' } } },
    });

    const goesOn = await ask('POST', '/v1/actions/http/resume');
    expect(goesOn).toEqual({
      status: 200,
      json: { kind: 'http', paused: null, entry_id: expect.any(String) as string },
    });
    await p.settle();
    expect(made.jobs).toHaveLength(1);
    const audit = (await ask('GET', '/v1/audit')).json['entries'] as { verb: string }[];
    expect(audit.map(({ verb }) => verb)).toEqual(expect.arrayContaining(['kind_pause', 'kind_resume']));
    const events = (await ask('GET', '/v1/events?kind=kind.')).json['events'] as { kind: string }[];
    expect(events.map(({ kind }) => kind)).toEqual(['kind.pause', 'kind.resume']);
    const after = (await ask('GET', `/v1/tasks/${id}/why`)).json['answers'] as { evidence: Record<string, unknown> }[];
    expect(after.find(({ evidence }) => 'run_id' in evidence)?.evidence['attempts']).toMatchObject({
      count: 1,
      last_worker: { boot_id: p.rooms.processes.self.id },
      last_job_id: null,
    });
  });

  it('is one that this server knows', async () => {
    const { ask } = await aServer();
    for (const deed of ['pause', 'resume'])
      expect(await ask('POST', `/v1/actions/htpp/${deed}`)).toMatchObject({
        status: 404,
        json: { error: { code: 'not_found', message: expect.stringContaining('http, message') as string } },
      });
  });
});

it('describes each action that this server has, with its settings', async () => {
  const { ask } = await aServer();
  const { components } = (await ask('GET', '/openapi.json')).json as unknown as Description;
  const refs = (components.schemas['Action']?.oneOf ?? []).map(({ $ref }: Schema) => $ref?.split('/').at(-1));
  expect(refs).toEqual(['Action_message', 'Action_digest', 'Action_http']);
  expect(components.schemas['Action_http']).toMatchObject({
    required: ['kind', 'url'],
    properties: { kind: { enum: ['http'] }, method: { enum: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] } },
    additionalProperties: false,
  });
  const plain = { type: ['string', 'number', 'boolean'] };
  expect(components.schemas['Action_http']).toMatchObject({
    properties: {
      query: { additionalProperties: { anyOf: [plain, { type: 'array', items: plain }] } },
      watch: {
        properties: { on: { enum: ['body', 'value'] }, first: { enum: ['silent', 'send'] } },
        required: ['on'],
        additionalProperties: false,
      },
    },
  });
});

describe('the kinds of auth in the description', () => {
  const place = { url: 'https://api.example.com/price' };

  async function described() {
    const { ask } = await aServer({ outbound: anOutbound() });
    const description = (await ask('GET', '/openapi.json')).json as unknown as Description;
    const faults = (auth: unknown) =>
      faultsOf({ kind: 'http', ...place, auth }, { $ref: '#/components/schemas/Action_http' }, description);
    return { ask, faults, schemas: description.components.schemas };
  }

  it('follow from their form: each with its parts, told apart by its kind', async () => {
    const { schemas } = await described();
    const auth = schemas['Action_http']?.properties?.['auth'];
    const names = authKinds.map(({ kind }) => `#/components/schemas/Action_http_auth_${kind}`);
    expect(auth?.oneOf?.map(({ $ref }) => $ref)).toEqual(names);
    expect(auth?.discriminator).toEqual({
      propertyName: 'kind',
      mapping: Object.fromEntries(authKinds.map(({ kind }, index) => [kind, names[index]])),
    });
    expect(schemas['Action_http_auth_hmac']).toMatchObject({
      properties: { kind: { enum: ['hmac'] }, secret: { type: 'string' }, previous: { type: 'string' } },
      required: ['kind', 'secret'],
      additionalProperties: false,
      example: { kind: 'hmac', secret: 'SHOP_SIGNING_KEY' },
    });
  });

  const examples: readonly Readonly<Record<string, unknown>>[] = authKinds.map(({ example }) => ({ ...example }));

  it.each(examples)('take what the server takes, and refuse what it refuses: $kind', async (example) => {
    const { ask, faults } = await described();
    const isTaken = async (auth: object) => {
      const action = { kind: 'http', ...place, auth };
      return (await ask('POST', '/v1/threads/cli:default/tasks', { title: 'Price', schedule: daily, action })).status;
    };
    const { kind, ...parts } = example;
    const bare = Object.keys(parts).map((name) => ({ ...example, [name]: undefined }));
    const wrong = Object.keys(parts).map((name) => ({ ...example, [name]: 7 }));
    for (const auth of [...wrong, ...bare, { ...example, strange: 'X' }].map(
      (one) => JSON.parse(JSON.stringify(one)) as object,
    )) {
      expect(await isTaken(auth), JSON.stringify(auth)).toBe(400);
      // Which parts of oauth2 go together hangs on its method.
      if (kind !== 'oauth2' || 'secret' in auth) expect(faults(auth), JSON.stringify(auth)).not.toEqual([]);
    }
    expect(faults(example)).toEqual([]);
    expect(await isTaken(example)).toBe(201);
  });

  it('name the secret by the context as well, and are listed with the settings', async () => {
    const { ask, faults } = await described();
    expect(faults({ kind: 'bearer', secret: '{{ context.tokenRef }}' })).toEqual([]);
    expect(faults({ kind: 'bearer', secret: 'sk-live-1234' })).not.toEqual([]);
    const { actions } = (await ask('GET', '/v1/actions')).json as unknown as {
      actions: { kind: string; fields: { name: string; kinds?: { kind: string; fields: { name: string }[] }[] }[] }[];
    };
    const auth = actions.find(({ kind }) => kind === 'http')?.fields.find(({ name }) => name === 'auth');
    expect(auth?.kinds?.map(({ kind }) => kind)).toEqual(authKinds.map(({ kind }) => kind));
    expect(auth?.kinds?.at(-1)?.fields.map(({ name }) => name)).toEqual(['cert', 'key', 'ca']);
  });
});
