import { describe, expect, it } from 'vitest';
import type { PartsOf } from '../../src/api/operations.ts';
import { aChat, minute, type Pipeline } from '../support/pipeline.ts';
import type { Asked } from './door.ts';
import { aPlace as aRoom, thread } from './verb-place.ts';

type Run = PartsOf<'getRun'>['answer'];

interface Answers extends Omit<Run, 'error'> {
  readonly runs: readonly Run[];
  readonly entries: PartsOf<'listAudit'>['answer']['entries'];
  readonly events: PartsOf<'listEvents'>['answer']['events'];
}

type Told = Omit<Asked, 'json'> & { readonly json: Asked['json'] & Answers };

/** The API over a pipeline in whose group the bot is welcome. */
async function aPlace() {
  const place = await aRoom();
  const { p } = place;
  await aChat(p);
  const ask = async (...asked: Parameters<typeof place.ask>) => (await place.ask(...asked)) as unknown as Told;
  return { p, ask };
}

const message = { thread_key: thread, text: 'The kettle is on.' };
const code = ({ status, json }: Told) => `${status} ${json.error.code}`;

describe('putting a message into a thread', () => {
  it('answers 202 with its run, which is found again until it is shown', async () => {
    const { p, ask } = await aPlace();
    const made = await ask('POST', '/v1/messages', { ...message, source: 'ci', user_key: 'ada' });
    expect(made.status).toBe(202);
    expect(made.json).toMatchObject({
      source: 'ci',
      user_key: 'ada',
      thread_key: thread,
      status: 'running',
      state: 'queued',
      task_id: null,
    });
    await p.settle();

    const read = await ask('GET', `/v1/runs/${made.json.run_id}`);
    expect(read.json).toMatchObject({
      status: 'succeeded',
      deliveries: [{ status: 'delivered', thread_key: thread, trace_id: made.json.trace_id }],
    });
    expect(p.chat.shown.map(({ text }) => text)).toEqual([message.text]);
  });

  it.each([
    ['in the header', {}, { 'idempotency-key': 'k' }],
    ['in the body', { idempotency_key: 'k' }, {}],
    ['in both', { idempotency_key: 'k' }, { 'idempotency-key': 'k' }],
  ] as const)('is the same run for the same key %s', async (_where, fields, headers) => {
    const { p, ask } = await aPlace();
    const first = await ask('POST', '/v1/messages', message, { 'idempotency-key': 'k' });
    const again = await ask('POST', '/v1/messages', { ...message, ...fields }, headers);
    await p.settle();

    expect([again.status, again.json.run_id]).toEqual([202, first.json.run_id]);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(p.chat.shown).toHaveLength(1);
  });

  it('is refused for two keys that differ, for a key of another message, and not for that of another source', async () => {
    const { ask } = await aPlace();
    const key = { 'idempotency-key': 'k' };
    const first = await ask('POST', '/v1/messages', message, key);

    const differing = await ask('POST', '/v1/messages', { ...message, idempotency_key: 'other' }, key);
    expect(code(differing)).toBe('400 idempotency_key_mismatch');
    expect(code(await ask('POST', '/v1/messages', { ...message, text: 'Off' }, key))).toBe('422 idempotency_mismatch');
    const bySource = await ask('POST', '/v1/messages', { ...message, source: 'ci' }, key);
    expect(bySource.status).toBe(202);
    expect(bySource.json.run_id).not.toBe(first.json.run_id);
  });

  it.each([
    ['no thread', { text: 'x' }, '400 invalid_thread_key'],
    ['no text', { thread_key: thread }, '400 invalid_request'],
    ['nothing but blanks', { ...message, text: '  ' }, '400 invalid_request'],
    ['a mode that there is not', { ...message, delivery_mode: 'loud' }, '400 invalid_request'],
    ['a field that there is not', { ...message, files: [] }, '400 invalid_request'],
    ['a sound that there is not', { ...message, sound: 'loud' }, '400 invalid_request'],
    ['images', { ...message, images: [{ mime_type: 'image/png', data_base64: 'AA==' }] }, '400 images_unavailable'],
    ['a source that is taken', { ...message, source: 'task' }, '400 invalid_request'],
    ['a key with blanks', { ...message, idempotency_key: 'a b' }, '400 invalid_request'],
    ['an empty user', { ...message, user_key: '' }, '400 invalid_request'],
    ['a thread that is none', { ...message, thread_key: 'nonsense' }, '400 invalid_thread_key'],
  ])('is refused with %s', async (_what, body, expected) => {
    const { p, ask } = await aPlace();

    expect(code(await ask('POST', '/v1/messages', body))).toBe(expected);
    expect(p.database.prepare('select id from runs').all()).toEqual([]);
  });
});

describe('the id of a request', () => {
  const traced = { 'x-request-id': 'trace:42' };

  it('leads to what was done, to the run, to its delivery, and to the lines of the log', async () => {
    const { p, ask } = await aPlace();
    const task = await p.create();
    const ran = await ask('POST', `/v1/tasks/${task.id}/run-now`, {}, traced);
    expect(ran.headers.get('x-request-id')).toBe('trace:42');
    expect(ran.json.task_run).toMatchObject({ trace_id: 'trace:42' });
    const runId = ran.json.task_run.run_id ?? '';
    await p.settle();

    expect((await ask('GET', `/v1/runs/${runId}`)).json).toMatchObject({
      trace_id: 'trace:42',
      deliveries: [{ status: 'delivered', trace_id: 'trace:42' }],
    });
    const runs = await ask('GET', `/v1/tasks/${task.id}/runs`);
    expect(runs.json.task_runs).toMatchObject([{ trace_id: 'trace:42', deliveries: [{ trace_id: 'trace:42' }] }]);
    const audit = await ask('GET', `/v1/audit?task_id=${task.id}`);
    expect(audit.json.entries.map(({ verb, trace_id }) => [verb, trace_id])).toEqual([
      ['run_now', 'trace:42'],
      ['create', null],
    ]);
    expect(linesOf(p, 'trace:42')).toEqual([
      ['info', 'run_started', runId],
      ['info', 'run_ended', runId],
      ['info', 'delivery_status', runId],
    ]);
    const events = p.database
      .prepare<[string], { kind: string; data: string }>('select kind, data from events where ref = ? order by id')
      .all(runId);
    expect(events).toEqual([
      { kind: 'run.started', data: '{"attempt":1,"trace_id":"trace:42"}' },
      { kind: 'run.succeeded', data: '{"trace_id":"trace:42"}' },
    ]);
    const source = `task:${task.id}`;
    const told = (await ask('GET', `/v1/events?task_id=${task.id}&kind=run.`)).json.events;
    expect(told.map(({ data }) => data)).toEqual([
      { attempt: 1, trace_id: 'trace:42', source },
      { trace_id: 'trace:42', source },
    ]);
    const lines = p.log.lines.filter(({ event }) => event === 'run_ended');
    expect(lines.map(({ facts }) => facts?.['source'])).toEqual([source]);
  });

  it.each([
    ['change', (id: string): Call => ['PATCH', `/v1/tasks/${id}`, { title: 'Up!' }], 'edit'],
    ['pause', (id: string): Call => ['POST', `/v1/tasks/${id}/pause`, {}], 'pause'],
    ['skip', (id: string): Call => ['POST', `/v1/tasks/${id}/skip`, {}], 'skip'],
    ['snooze', (id: string): Call => ['POST', `/v1/tasks/${id}/snooze`, { for: 'PT10M' }], 'snooze'],
    ['pause of its thread', (): Call => ['POST', `/v1/threads/${thread}/pause`], 'pause'],
    ['purge of its thread', (): Call => ['DELETE', `/v1/threads/${thread}/tasks`], 'delete'],
    ['deletion', (id: string): Call => ['DELETE', `/v1/tasks/${id}`], 'delete'],
  ] as const)('is kept with each %s', async (_what, request, verb) => {
    const { ask } = await aPlace();
    const made = await ask('POST', `/v1/threads/${thread}/tasks`, creation, { 'x-request-id': 'first' });
    const [method, path, body] = request(made.json.task.task_id);
    await ask(method, path, body, traced);

    const { entries } = (await ask('GET', '/v1/audit')).json;
    expect(entries.map((one) => [one.verb, one.trace_id])).toEqual([
      [verb, 'trace:42'],
      ['create', 'first'],
    ]);
  });

  it('is kept with a replay and a cancellation', async () => {
    const { p, ask } = await aPlace();
    const task = await p.create({ action: { kind: 'echo', delay_ms: 5000 } });
    const ran = await ask('POST', `/v1/tasks/${task.id}/run-now`, {});
    await p.settle();
    await p.pass(6000);
    const again = await ask('POST', `/v1/runs/${ran.json.task_run.run_id}/replay`, undefined, traced);
    expect(again.json.task_run).toMatchObject({ trace_id: 'trace:42' });
    await ask('POST', `/v1/runs/${again.json.task_run.run_id}/cancel`, undefined, { 'x-request-id': 'last' });

    const { entries } = (await ask('GET', '/v1/audit')).json;
    expect(entries.slice(0, 2).map((one) => [one.verb, one.trace_id])).toEqual([
      ['cancel', 'last'],
      ['replay', 'trace:42'],
    ]);
  });

  it('is that of the run itself where a schedule asked for it, and then told to whoever looks closely', async () => {
    const { p, ask } = await aPlace();
    await p.create();
    await p.pass(5 * minute);
    const [run] = (await ask('GET', '/v1/runs')).json.runs;

    expect(run).toMatchObject({ trace_id: run?.run_id, deliveries: [{ trace_id: run?.run_id }] });
    expect(linesOf(p, run?.run_id ?? '').map(([level]) => level)).toEqual(['debug', 'debug', 'debug']);
    expect(p.database.prepare('select trace_id from runs').all()).toEqual([{ trace_id: null }]);
  });
});

type Call = readonly [method: string, path: string, body?: object];

const creation = { instructions: 'Stand up!', schedule: { kind: 'cron', cron: '0 9 * * *', timezone: 'UTC' } };

function linesOf({ log }: Pipeline, traceId: string) {
  return log.lines
    .filter(({ facts }) => facts['trace_id'] === traceId)
    .map(({ level, event, facts }) => [level, event, facts['run_id']]);
}
