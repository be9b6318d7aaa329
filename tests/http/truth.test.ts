import { describe, expect, it } from 'vitest';
import { actor, aPipeline, hour, start, type Pipeline } from '../support/pipeline.ts';
import { aDoor, bearer, told, truth, type Asked } from './door.ts';
import { appOver } from './pipeline-door.ts';

type Body = Readonly<Record<string, unknown>> & {
  readonly answers: readonly Readonly<Record<string, unknown>>[];
  readonly events: readonly Readonly<Record<string, unknown>>[];
  readonly entries: readonly Readonly<Record<string, unknown>>[];
  readonly downtimes: readonly Readonly<Record<string, unknown>>[];
  readonly next_cursor: string | null;
};

/** Asks the door before a whole pipeline. */
function asking(pipeline: Pipeline): (path: string) => Promise<Asked & { readonly body: Body }> {
  const app = appOver(pipeline);
  return async (path) => {
    const asked = await told(await app.request(path, { headers: bearer }));
    return { ...asked, body: JSON.parse(asked.text) as Body };
  };
}

const hourly = { kind: 'cron', cron: '0 * * * *', timezone: 'Europe/Madrid' } as const;

describe('GET /v1/tasks/:task_id/why', () => {
  it('answers for one instant, in the zone of the task or with an offset', async () => {
    const p = await aPipeline();
    const ask = asking(p);
    const task = await p.create({ schedule: hourly });
    await p.pass(hour + 3);
    const path = `/v1/tasks/${task.id}/why`;
    const { status, body } = await ask(`${path}?at=2026-11-18T11:00`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      task_id: task.id,
      timezone: 'Europe/Madrid',
      answers: [
        {
          at: '2026-11-18T10:00:00.000Z',
          from: null,
          to: null,
          slot: '2026-11-18T10:00:00.000Z',
          decision: 'ran',
          cause: 'schedule',
          evidence: {
            source: 'schedule',
            late_ms: 3,
            started_after_ms: 3,
            attempts: { count: 1, last_error_message: null },
            deliveries: [{ status: 'delivered', message_id: 1002, error_message: null }],
            version: 1,
          },
          line: 'Wed 18 Nov 11:00: ran on time; delivered.',
        },
      ],
      summary: { ran: 1 },
      next_cursor: null,
    });
    for (const at of ['2026-11-18T10:00:00Z', '2026-11-18T11:00:00%2B01:00', '2026-11-18 11:00']) {
      expect((await ask(`${path}?at=${at}`)).body).toEqual(body);
    }
  });

  it('answers for the last day, page by page', async () => {
    const p = await aPipeline();
    const ask = asking(p);
    const task = await p.create({ schedule: hourly });
    for (let step = 0; step < 4; step += 1) await p.pass(hour);
    await p.rooms.tasks.pause({ taskId: task.id, actor }, null);
    const path = `/v1/tasks/${task.id}/why`;
    const all = await ask(path);
    expect(all.body.answers.map(({ decision }) => decision)).toEqual(['not_created', 'ran', 'ran', 'ran', 'ran']);
    expect(all.body['summary']).toEqual({ not_created: 1, ran: 4 });
    const first = await ask(`${path}?limit=2`);
    // Time goes on between two pages; they are about the same stretch all the same.
    await p.pass(5 * hour);
    const second = await ask(`${path}?limit=200&cursor=${first.body.next_cursor ?? ''}`);
    expect([...first.body.answers, ...second.body.answers].map(({ line }) => line)).toEqual(
      all.body.answers.map(({ line }) => line),
    );
    const from = await ask(`${path}?from=2026-11-18T14:00:00.001&to=2026-11-18T16:00`);
    expect(from.body.answers).toMatchObject([
      { decision: 'paused', to: null, evidence: { audit: { verb: 'pause', actor } } },
    ]);
  });

  it('answers for a deleted task, and for no other that is not there', async () => {
    const p = await aPipeline();
    const ask = asking(p);
    const task = await p.create({ schedule: hourly });
    await p.rooms.tasks.delete({ taskId: task.id, actor });
    expect((await ask(`/v1/tasks/${task.id}/why?at=2026-11-18T12:00`)).body.answers).toMatchObject([
      { decision: 'deleted' },
    ]);
    expect((await ask('/v1/tasks/none/why')).status).toBe(404);
  });

  it('refuses what cannot be answered, and says what to do', async () => {
    const p = await aPipeline();
    const ask = asking(p);
    const task = await p.create({ schedule: hourly });
    const path = `/v1/tasks/${task.id}/why`;
    const refusal = async (query: string) => {
      const { status, json } = await ask(`${path}?${query}`);
      expect(status).toBe(400);
      return json.error;
    };
    expect(await refusal('at=2026-11-18T12:00&from=2026-11-18T11:00')).toEqual({
      code: 'invalid_request',
      message: 'Send at alone to ask about one instant, or from and to to ask about a stretch of time.',
      details: { field: 'at' },
    });
    expect(await refusal('at=noon')).toMatchObject({ details: { field: 'at' } });
    expect(await refusal('at=2026-02-30T09:00')).toMatchObject({ details: { field: 'at' } });
    expect(await refusal('from=2026-11-19T00:00Z&to=2026-11-18T00:00Z')).toMatchObject({ details: { field: 'from' } });
    expect(await refusal('cursor=nonsense')).toMatchObject({ code: 'invalid_cursor' });
    expect(await refusal('when=now')).toMatchObject({ code: 'invalid_request' });
  });
});

describe('what the operator reads', () => {
  it('GET /v1/events goes on where it ended', async () => {
    const p = await aPipeline();
    const ask = asking(p);
    const end = (await ask('/v1/events?after=latest')).body.next_cursor ?? '';
    const task = await p.create({ schedule: hourly });
    await p.pass(hour);
    const first = await ask(`/v1/events?after=${end}&limit=2`);
    expect(first.body.events[0]).toMatchObject({
      kind: 'task.create',
      task_id: task.id,
      at: '2026-11-18T09:00:00.000Z',
    });
    expect(first.body.events[1]?.['cursor']).toBe(first.body.next_cursor);
    const rest = await ask(`/v1/events?after=${first.body.next_cursor ?? ''}&task_id=${task.id}`);
    expect(rest.body.events.map(({ kind }) => kind)).toContain('delivery.delivered');
    const last = await ask(`/v1/events?after=${rest.body.next_cursor ?? ''}`);
    expect(last.body).toEqual({ events: [], next_cursor: rest.body.next_cursor });
    expect((await ask('/v1/events?limit=501')).status).toBe(400);
    expect((await ask('/v1/events?after=x')).json.error.code).toBe('invalid_cursor');
  });

  it('GET /v1/audit tells who did what, newest first', async () => {
    const p = await aPipeline();
    const ask = asking(p);
    const task = await p.create({ schedule: hourly });
    await p.rooms.tasks.pause({ taskId: task.id, actor }, start + hour);
    const { body } = await ask(`/v1/audit?task_id=${task.id}&limit=1`);
    expect(body.entries).toMatchObject([
      {
        actor,
        verb: 'pause',
        task_id: task.id,
        state_before: 'active',
        state_after: 'paused',
        after: { reason: 'manual', until: '2026-11-18T10:00:00.000Z' },
      },
    ]);
    const next = await ask(`/v1/audit?task_id=${task.id}&cursor=${body.next_cursor ?? ''}`);
    expect(next.body.entries).toMatchObject([{ verb: 'create' }]);
    expect((await ask('/v1/audit')).body.entries).toHaveLength(2);
    expect((await ask('/v1/audit?cursor=x')).json.error.code).toBe('invalid_cursor');
  });

  it('GET /v1/downtimes tells what each one cost', async () => {
    const door = aDoor({}, { truth: { ...truth, listDowntimes: async () => [known, open] } });
    const { json } = await door.ask('GET', '/v1/downtimes?limit=2');
    expect(json).toEqual({
      downtimes: [
        {
          downtime_id: 'd2',
          from: '2026-11-18T09:00:00.000Z',
          to: '2026-11-18T10:00:00.000Z',
          cause: 'database',
          counts: { missed: 3, late: 1, asked: 0, skipped: 2 },
          reported_at: '2026-11-18T10:00:01.000Z',
        },
        {
          downtime_id: 'd1',
          from: '2026-11-18T08:00:00.000Z',
          to: '2026-11-18T09:00:00.000Z',
          cause: 'process',
          counts: null,
          reported_at: null,
        },
      ],
    });
  });
});

const open = { id: 'd1', from: start - hour, to: start, cause: null, counts: null, reportedAt: null };
const counts = { missed: 3, late: 1, asked: 0, skipped: 2 };
const known = {
  id: 'd2',
  from: start,
  to: start + hour,
  cause: 'database' as const,
  counts,
  reportedAt: start + hour + 1000,
};
