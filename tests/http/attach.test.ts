import { describe, expect, it } from 'vitest';
import { aPlace, said, thread } from './verb-place.ts';

const hourly = { kind: 'cron', cron: '0 * * * *', timezone: 'UTC' };

async function chatless({ ask }: Pick<Awaited<ReturnType<typeof aPlace>>, 'ask'>, more = {}) {
  const made = await ask('POST', '/v1/threads/cli:default/tasks', {
    instructions: 'Stand up!',
    schedule: hourly,
    ...more,
  });
  return made.json.task;
}

describe('POST /v1/tasks/:task_id/attach', () => {
  it('gives a task a chat once, and its history stays where it is', async () => {
    const { p, ask } = await aPlace();
    const task = await chatless({ ask });
    const path = `/v1/tasks/${task.task_id}`;
    await ask('POST', `${path}/run-now`);
    await p.settle();
    const attached = await ask('POST', `${path}/attach`, { thread_key: thread });
    expect(attached.json.task).toMatchObject({
      creator_thread_key: thread,
      execution_thread_key: null,
      number: 1,
      next_run_at: task.next_run_at,
    });
    expect(attached.json.entry_id).not.toBeNull();
    expect((await ask('POST', `${path}/attach`, { thread_key: thread })).json.entry_id).toBeNull();
    await ask('POST', `${path}/run-now`);
    await p.settle();
    const runs = (await ask('GET', `${path}/runs`)).json.task_runs;
    expect(runs.map(({ deliveries }) => deliveries.length)).toEqual([1, 0]);
    expect((await ask('GET', `/v1/threads/${thread}/tasks`)).json.tasks).toHaveLength(1);
    expect((await ask('GET', '/v1/threads/cli:default/tasks')).json.tasks).toEqual([]);
  });

  it('refuses what would tear a task in two, and says what to do', async () => {
    const { p, ask, make } = await aPlace();
    const path = await make();
    const elsewhere = { thread_key: 'telegram:chat:-5' };
    await ask('POST', `${path}/run-now`);
    expect(said(await ask('POST', `${path}/attach`, elsewhere))).toBe('409 run_in_progress');
    await p.settle();
    const tied = await ask('POST', `${path}/attach`, elsewhere);
    expect([said(tied), tied.json.error.message]).toEqual([
      '409 not_attachable',
      expect.stringContaining('/topic delete'),
    ]);
    expect(said(await ask('POST', '/v1/tasks/none/attach', elsewhere))).toBe('404 not_found');
  });

  it('refuses a thread that is delivered nowhere or is none, a full chat, and fields that it does not know', async () => {
    const { ask, make } = await aPlace({ settings: { QUOTA_PER_CHAT: 1 } });
    const path = `/v1/tasks/${(await chatless({ ask })).task_id}/attach`;
    expect(said(await ask('POST', path, { thread_key: 'cli:other' }))).toBe('400 invalid_thread_key');
    expect(said(await ask('POST', path, { thread_key: 'telegram:-5' }))).toBe('400 invalid_thread_key');
    expect(said(await ask('POST', path, {}))).toBe('400 invalid_thread_key');
    expect(said(await ask('POST', path, { thread_key: thread, to: 1 }))).toBe('400 invalid_request');
    await make();
    expect(said(await ask('POST', path, { thread_key: thread }))).toBe('429 quota_exceeded');
  });

  it.each(['refused', 'gone'] as const)('knows no chat that is %s', async (state) => {
    const { p, ask } = await aPlace();
    const note = { newId: 'chat-1', address: '-5', title: 'Garden', kind: 'supergroup', at: p.time.now() };
    await p.store.changeChat((await p.store.noteChat(note)).id, { state }, p.time.now());
    const path = `/v1/tasks/${(await chatless({ ask })).task_id}/attach`;
    expect(said(await ask('POST', path, { thread_key: 'telegram:chat:-5' }))).toBe('404 not_found');
    expect(said(await ask('POST', path, { thread_key: thread }))).toBe('200');
  });
});
