import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Pipeline } from '../support/pipeline.ts';
import type { Asked } from './door.ts';
import { aPlace as aRoom, thread } from './verb-place.ts';

/** What the client of jagc reads; it passes over every other field, and takes no other word than these. */
const nullable = z.string().nullable();
const schedule = z.object({
  kind: z.enum(['once', 'cron', 'rrule']),
  once_at: nullable,
  cron: nullable,
  rrule: nullable,
  timezone: z.string(),
});
const task = z.object({
  task_id: z.string(),
  title: z.string(),
  instructions: z.string(),
  schedule,
  enabled: z.boolean(),
  next_run_at: nullable,
  creator_thread_key: z.string(),
  owner_user_key: nullable,
  delivery_target: z.object({
    provider: z.string(),
    route: z.union([
      z.object({ chatId: z.number(), messageThreadId: z.int().positive().optional() }),
      z.object({ threadKey: z.string() }),
    ]),
    metadata: z.record(z.string(), z.unknown()).optional(),
  }),
  execution_thread_key: nullable,
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
  last_run_at: nullable,
  last_run_status: z.enum(['succeeded', 'failed']).nullable(),
  last_error_message: nullable,
});
const taskRun = z.object({
  task_run_id: z.string(),
  task_id: z.string(),
  scheduled_for: z.iso.datetime(),
  idempotency_key: z.string(),
  run_id: nullable,
  status: z.enum(['pending', 'dispatched', 'succeeded', 'failed']),
  error_message: nullable,
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});
const written = z.object({ task, warnings: z.array(z.string()).optional() });
const run = z.object({
  run_id: z.string(),
  status: z.enum(['running', 'succeeded', 'failed']),
  output: z.record(z.string(), z.unknown()).nullable(),
  error: z.object({ message: z.string() }).nullable(),
});
const refusal = z.object({ error: z.object({ code: z.string(), message: z.string() }) });

const timezone = 'America/Los_Angeles';
const standup = { title: 'Stand-up', instructions: 'Ask what everybody does.' };
const weekdays = { kind: 'cron', cron: '0 9 * * 1-5', timezone };
const message = { source: 'cli', thread_key: 'cli:default', text: 'How are things?' };
/** Holds its thread until somebody calls it off. */
const lasting = { action: { kind: 'echo', delay_ms: 60_000 }, schedule: weekdays, instructions: 'Wait.' };

/** The client sends what it always sent, and the token. */
async function aClient() {
  const { p, ask } = await aRoom();
  await welcome(p);
  const tasksOf = (key: string) => `/v1/threads/${encodeURIComponent(key)}/tasks`;
  const create = async (key: string, fields: object) =>
    written.parse(read(await ask('POST', tasksOf(key), { ...standup, ...fields }))).task;
  const runOf = async (id: string) => run.parse(read(await ask('GET', `/v1/runs/${id}`)));
  const refused = async (...asked: Parameters<typeof ask>) => {
    const answer = await ask(...asked);
    return `${answer.status} ${refusal.parse(answer.json).error.code}`;
  };
  return { p, ask, create, runOf, refused };
}

async function welcome({ store, time }: Pipeline): Promise<void> {
  const note = { newId: 'chat-1', address: '-1001234', title: 'Garden', kind: 'supergroup', at: time.now() };
  await store.changeChat((await store.noteChat(note)).id, { state: 'approved' }, time.now());
}

function read({ status, json, text }: Pick<Asked, 'status' | 'json' | 'text'>): unknown {
  if (status >= 300) throw new Error(`refused: ${text}`);
  return json;
}

describe('the client of jagc, with the token added', () => {
  it.each([
    ['once', { once_at: '2026-12-24T17:00:00Z' }],
    ['cron', { cron: '0 9 * * 1-5' }],
    ['rrule', { rrule: 'FREQ=WEEKLY;INTERVAL=2;BYDAY=MO;BYHOUR=9;BYMINUTE=0;BYSECOND=0' }],
  ])('creates a task of the kind %s, reads, lists, changes and deletes it', async (kind, fields) => {
    const { ask, create, refused } = await aClient();
    const made = await create('cli:default', { schedule: { kind, ...fields, timezone } });
    expect(made).toMatchObject({ ...standup, schedule: { kind, timezone }, enabled: true });
    const path = `/v1/tasks/${made.task_id}`;
    expect(written.parse(read(await ask('GET', path))).task).toEqual(made);

    const patched = written.parse(read(await ask('PATCH', path, { title: 'Sit-down', schedule: weekdays })));
    expect(patched.task).toMatchObject({ title: 'Sit-down', schedule: weekdays });
    for (const enabled of [false, true])
      expect(written.parse(read(await ask('PATCH', path, { enabled }))).task.enabled).toBe(enabled);
    expect(z.object({ deleted: z.boolean() }).parse(read(await ask('DELETE', path)))).toEqual({ deleted: true });
    expect(await refused('GET', path)).toBe('404 task_not_found');
  });

  it('lists the tasks of all threads, or of one, by their state', async () => {
    const { ask, create } = await aClient();
    const [first, second] = [
      await create('cli:default', { schedule: weekdays }),
      await create(`${thread}:topic:7`, { schedule: weekdays }),
    ];
    await ask('PATCH', `/v1/tasks/${first.task_id}`, { enabled: false });
    const list = async (query: string) =>
      z
        .object({ tasks: z.array(task) })
        .parse(read(await ask('GET', `/v1/tasks?${query}`)))
        .tasks.map((one) => one.task_id);
    expect(await list('state=all')).toEqual([second.task_id, first.task_id]);
    expect(await list('state=disabled')).toEqual([first.task_id]);
    expect(await list('thread_key=telegram%3Achat%3A-1001234&state=enabled')).toEqual([second.task_id]);
  });

  it('is told of an interval task what it is told of any other, though not in a kind that it knows', async () => {
    const { ask, create } = await aClient();
    const known = await create('cli:default', { schedule: weekdays });
    await ask('POST', '/v1/threads/cli%3Adefault/tasks', {
      ...standup,
      title: 'Often',
      schedule: { kind: 'interval', interval: 'PT15M', timezone },
    });
    const page = read(await ask('GET', '/v1/tasks?state=all'));
    const ours = task.extend({ schedule: schedule.extend({ kind: z.literal('interval') }) });
    const [often, other] = z.object({ tasks: z.tuple([ours, task]) }).parse(page).tasks;
    expect([often.title, other]).toEqual(['Often', known]);
  });

  it('is told where a task delivers, in the fields that it looks for', async () => {
    const { p, ask, create } = await aClient();
    const routeOf = async (id: string) =>
      written.parse(read(await ask('GET', `/v1/tasks/${id}`))).task.delivery_target.route;
    const local = await create('cli:default', { schedule: weekdays });
    expect(await routeOf(local.task_id)).toEqual({ threadKey: 'cli:default' });
    const shown = await create(thread, { schedule: weekdays });
    expect(await routeOf(shown.task_id)).toEqual({ chatId: -1001234 });
    await ask('POST', `/v1/tasks/${shown.task_id}/run-now`);
    await p.settle();
    const { messageThreadId: topic } = z.object({ messageThreadId: z.int() }).parse(await routeOf(shown.task_id));
    expect(p.chat.topics.map(({ id }) => id)).toEqual([topic]);
  });

  it('reads warnings as sentences', async () => {
    const { ask } = await aClient();
    const body = { ...standup, schedule: { ...weekdays, cron: '0 9 31 * *' } };
    const { warnings } = written.parse(read(await ask('POST', '/v1/threads/cli%3Adefault/tasks', body)));
    expect(warnings).toHaveLength(1);
  });

  it.each([
    ['succeeded', {}],
    ['failed', { action: { kind: 'echo', fail_attempts: 1, error: 'final' } }],
  ])('runs a task now and waits until it has %s', async (status, fields) => {
    const { p, ask, create, runOf } = await aClient();
    const made = await create('cli:default', { schedule: weekdays, ...fields });
    const ranNow = z.object({ task, task_run: taskRun });
    const asked = ranNow.parse(read(await ask('POST', `/v1/tasks/${made.task_id}/run-now`))).task_run;
    expect(asked.status).toBe('dispatched');
    const id = asked.run_id ?? '';
    expect(await runOf(id)).toMatchObject({ status: 'running', output: null, error: null });
    await p.settle();
    expect(await runOf(id)).toMatchObject({ status });
    const { task: ended } = written.parse(read(await ask('GET', `/v1/tasks/${made.task_id}`)));
    expect(ended.last_run_status).toBe(status);
  });

  it.each(['followUp', 'steer'])('puts a message into a thread with the delivery mode %s', async (mode) => {
    const { p, ask, runOf } = await aClient();
    const posted = run.parse(read(await ask('POST', '/v1/messages', { ...message, delivery_mode: mode })));
    expect(posted.status).toBe('running');
    await p.settle();
    expect(await runOf(posted.run_id)).toMatchObject({ status: 'succeeded', output: { text: message.text } });
  });

  it('cancels what a thread has under way, and then has nothing to cancel', async () => {
    const { p, ask, create, runOf } = await aClient();
    const made = await create('cli:default', lasting);
    const ran = await ask('POST', `/v1/tasks/${made.task_id}/run-now`);
    await p.settle();
    const cancel = async () =>
      z
        .object({ thread_key: z.string(), cancelled: z.boolean() })
        .parse(read(await ask('POST', '/v1/threads/cli%3Adefault/cancel')));
    expect(await cancel()).toEqual({ thread_key: 'cli:default', cancelled: true });
    await p.settle();
    expect(await cancel()).toEqual({ thread_key: 'cli:default', cancelled: false });
    expect(await runOf(ran.json.task_run.run_id ?? '')).toMatchObject({ status: 'failed' });
    const { task: idle } = written.parse(read(await ask('GET', `/v1/tasks/${made.task_id}`)));
    expect(idle.last_run_status).toBe('failed');
  });

  it('is refused by the codes that it knows', async () => {
    const { refused } = await aClient();
    expect(await refused('GET', '/v1/tasks/none')).toBe('404 task_not_found');
    expect(await refused('PATCH', '/v1/tasks/none', { enabled: false })).toBe('404 task_not_found');
    expect(await refused('DELETE', '/v1/tasks/none')).toBe('404 task_not_found');
    expect(await refused('POST', '/v1/tasks/none/run-now')).toBe('404 task_not_found');
    expect(await refused('GET', '/v1/runs/none')).toBe('404 run_not_found');
    expect(await refused('POST', '/v1/threads/nowhere/tasks', { ...standup, schedule: weekdays })).toBe(
      '400 invalid_thread_key',
    );
    const images = [{ mime_type: 'image/png', data_base64: 'AA==', filename: 'a.png' }];
    expect(await refused('POST', '/v1/messages', { ...message, images })).toBe('400 images_unavailable');
  });
});
