import pg from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import { clockByHand } from '../support/database-clock.ts';
import { hour, manualTime, minute, second, start, type ManualTime } from '../support/fakes.ts';
import { aFolder } from '../support/place.ts';
import { isAnswering } from '../support/postgres-quiet.ts';
import { freshPostgres, onPostgres } from '../support/postgres.ts';
import { bearer, serverIn } from '../support/server.ts';
import { openBotApi } from './bot-api.ts';

type Body = Readonly<Record<string, unknown>>;

/** Processes on one Postgres, whose clock goes by hand; those of their hosts go with it, and may be wrong. */
async function several() {
  const database = await freshPostgres();
  const clock = await clockByHand(database.url);
  const client = new pg.Client({ connectionString: database.url, options: '-c search_path=cronogram' });
  await client.connect();
  const telegram = await openBotApi();
  const times: ManualTime[] = [];
  const stops: (() => Promise<void>)[] = [];
  let at = start;
  await clock.set(at);
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += second) {
      at += second;
      await clock.set(at);
      for (const time of times) {
        await time.advance(second);
        for (let turn = 0; turn < 20; turn += isAnswering() ? 0 : 1) await time.yield();
      }
    }
  };
  /** How long it has taken by the clock of the database. */
  const until = async (is: () => Promise<boolean>, withinMs = 5 * minute) => {
    const from = at;
    while (!(await is())) {
      if (at - from > withinMs) throw new Error('it has not come about');
      await pass(second);
    }
    return at - from;
  };
  const whilePassing = async <T>(work: Promise<T>): Promise<T> => {
    let isOver = false;
    const done = work.finally(() => (isOver = true));
    done.catch(() => undefined);
    while (!isOver) await pass(second);
    return done;
  };
  onTestFinished(async () => {
    for (const stop of stops) await stop();
    await telegram.close();
    await client.end();
    await clock.close();
    await database.drop();
  });
  return {
    pass,
    until,
    now: () => at,
    query: async <R extends object>(text: string) => (await client.query<R>(text)).rows,
    join: async (role: string, hostAheadMs = 0, bot = 123_456_789) => {
      const time = manualTime(at + hostAheadMs);
      times.push(time);
      const env = {
        ...onPostgres,
        DATABASE_URL: database.url,
        ROLE: role,
        ECHO_ACTION: '1',
        TELEGRAM_BOT_TOKEN: `${bot}:the-token-of-the-bot-of-the-tests`,
        TELEGRAM_API_ROOT: telegram.root,
      };
      const { server, log } = await whilePassing(serverIn({ folder: aFolder(), env, time }));
      let isStopped = false;
      const stop = async () => {
        if (!isStopped) await whilePassing(server.stop());
        isStopped = true;
      };
      stops.push(stop);
      const ask = async (method: string, path: string, body?: Body): Promise<Body> => {
        const headers = { ...bearer, ...(body === undefined ? {} : { 'content-type': 'application/json' }) };
        const answer = await fetch(server.url + path, {
          method,
          headers,
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
        const told = (await answer.json()) as Body;
        if (!answer.ok) throw new Error(JSON.stringify(told));
        return told;
      };
      return { server, log, ask, stop };
    },
  };
}

type Member = Awaited<ReturnType<Awaited<ReturnType<typeof several>>['join']>>;

async function addTask({ ask }: Member, schedule: Body, more: Body = {}): Promise<string> {
  const made = await ask('POST', '/v1/threads/cli:default/tasks', { instructions: 'Stand up!', schedule, ...more });
  return ((made['task'] ?? made) as { readonly task_id: string }).task_id;
}

const hourly = { kind: 'interval', interval: 'PT1H', timezone: 'UTC' };

it('what has become due without a word to anybody is taken up within ten seconds', async () => {
  const { pass, until, now, query, join } = await several();
  const worker = await join('all');
  const id = await addTask(worker, hourly);
  await pass(minute);
  const runs = () =>
    query<{ id: string; status: string }>(`select id, status from runs where task_id = '${id}' order by id`);
  const attempts = () => query(`select from attempts`);

  await query(`update tasks set next_at = ${now() - 1} where id = '${id}'`);
  expect(await until(async () => (await runs()).length > 0)).toBeLessThan(12 * second);
  await until(async () => (await runs()).every(({ status }) => status === 'succeeded'));

  // As if the job of a run had been lost half a minute ago.
  expect(await attempts()).toHaveLength(1);
  await query(
    `update runs set status = 'queued', finished_at = null, ready_at = ${now() - 31 * second} where task_id = '${id}'`,
  );
  expect(await until(async () => (await attempts()).length === 2)).toBeLessThan(12 * second);
});

it('a process with the token of another bot does not join those that live, and takes their place when they have ended', async () => {
  const { join } = await several();
  const worker = await join('worker');
  const other = 987_654_321;
  await expect(join('bot', 0, other)).rejects.toThrow(
    /^TELEGRAM_BOT_TOKEN is that of bot 987654321, and the processes .* serve bot 123456789 \(worker on .*, pid \d+\)\. Start this one with/,
  );
  const { ask } = await join('api');
  expect(await ask('GET', '/v1/status')).toMatchObject({ processes: [{ role: 'worker' }, { role: 'api' }] });
  await worker.stop();
  await join('worker', 0, other);
});

it('a slot is due by the clock of the database, and leases are, however wrong the clocks of the hosts are', async () => {
  const { pass, until, now, query, join } = await several();
  const behind = await join('all', -hour);
  const ahead = await join('worker', 3 * hour);
  const slotAt = now() + minute;
  const id = await addTask(behind, { kind: 'once', once_at: new Date(slotAt).toISOString(), timezone: 'UTC' });
  await pass(30 * second);
  expect(await query(`select from runs`)).toEqual([]);
  await until(async () => (await query(`select from runs where status = 'succeeded'`)).length === 1);
  const [occurrence] = await query<{ at: string; made: string }>(
    `select slot_at as at, created_at as made from occurrences where task_id = '${id}'`,
  );
  expect(Number(occurrence?.at)).toBe(slotAt);
  expect(Number(occurrence?.made) - slotAt).toBeLessThan(12 * second);
  await pass(2 * minute);
  // Neither takes the other for gone.
  const rows = await query<{ seen_at: string; ended_at: string | null }>(`select seen_at, ended_at from processes`);
  expect(rows.map(({ ended_at }) => ended_at)).toEqual([null, null]);
  for (const { seen_at } of rows) expect(now() - Number(seen_at)).toBeLessThanOrEqual(12 * second);
  for (const { log } of [behind, ahead])
    expect(log.lines.filter(({ event }) => /clock_was_set|process_gone|process_was_ended/.test(event))).toEqual([]);
});

it('a stream of events tells in one process what happens in another, and a cancel there ends what runs here', async () => {
  const { until, query, join } = await several();
  const [worker, api] = [await join('worker'), await join('api')];
  const answer = await fetch(`${api.server.url}/v1/events`, { headers: { ...bearer, accept: 'text/event-stream' } });
  let told = '';
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  const reading = (async () => {
    for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) told += part.value;
  })().catch(() => undefined);

  const id = await addTask(api, hourly, { action: { kind: 'echo', delay_ms: 60_000 } });
  await api.ask('POST', `/v1/tasks/${id}/run-now`);
  await until(async () => /^event: run\.started/m.test(told), minute);
  const started = worker.log.lines.find(({ event }) => event === 'run_started');
  const runId = String(started?.facts?.['run_id']);
  await api.ask('POST', `/v1/runs/${runId}/cancel`);
  expect(await until(async () => told.includes('event: run.cancelled'), minute)).toBeLessThan(15 * second);
  expect(await query(`select status from runs where id = '${runId}'`)).toEqual([{ status: 'cancelled' }]);
  await reader?.cancel();
  await reading;
});
