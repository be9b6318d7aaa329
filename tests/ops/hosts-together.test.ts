import pg from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import { soon } from '../support/patience.ts';
import { aFolder, aStub } from '../support/place.ts';
import { freshPostgres, onPostgres } from '../support/postgres.ts';
import { startProgram } from './program.ts';

/** Workers in processes of their own, and a host that counts their calls. */

const headers = { authorization: `Bearer ${onPostgres.API_TOKEN}`, 'content-type': 'application/json' };
const [places, perSecond] = [3, 10];

interface Visit {
  readonly at: number;
  /** How many were inside with it. */
  readonly inside: number;
}

interface Run {
  readonly state: string;
  readonly attempts: readonly { readonly worker: unknown }[];
}

/** Holds each call for so long; while `isShut` it answers none. */
async function aHost(holdMs: number) {
  const visits: Visit[] = [];
  const state = { isShut: false, inside: 0 };
  const url = await aStub((_incoming, outgoing) => {
    state.inside += 1;
    visits.push({ at: performance.now(), inside: state.inside });
    outgoing.once('close', () => (state.inside -= 1));
    if (!state.isShut) setTimeout(() => outgoing.end('done'), holdMs);
  });
  return { url, visits, state };
}

async function workersFor(hostUrl: string, count: number) {
  const database = await freshPostgres();
  onTestFinished(() => database.drop());
  const env = {
    ...onPostgres,
    TELEGRAM_BOT_TOKEN: `123456789:${'A'.repeat(35)}`,
    TELEGRAM_API_ROOT: 'http://127.0.0.1:9',
    DATABASE_URL: database.url,
    EGRESS_ALLOW: new URL(hostUrl).host,
    HOST_CONCURRENCY: String(places),
    HOST_RATE: String(perSecond),
  };
  const begin = (ROLE: string) => startProgram(aFolder(), { ...env, ROLE }, onTestFinished);
  const [api, ...workers] = [begin('api'), ...Array.from({ length: count }, () => begin('worker'))];
  const url = await api.url();
  for (const worker of workers) await worker.url();
  const ask = async (path: string, body?: object) => {
    const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const answer = await fetch(`${url}${path}`, { headers, ...sent });
    expect(answer.status).toBeLessThan(300);
    return (await answer.json()) as Record<string, unknown>;
  };
  const callAt = (at: number, title: string) =>
    ask('/v1/threads/cli:default/tasks', {
      title,
      instructions: '',
      action: { kind: 'http', url: `${hostUrl}/price` },
      schedule: { kind: 'once', once_at: new Date(at).toISOString(), timezone: 'UTC' },
    });
  const runs = async () => {
    const answer = (await ask('/v1/runs?limit=200')) as { readonly runs: readonly Run[] };
    return answer.runs;
  };
  return { database, workers, callAt, runs, more: () => begin('worker') };
}

it('two processes call a host no more often at once, and in a second, than one may', async () => {
  const host = await aHost(150);
  const { callAt, runs } = await workersFor(host.url, 2);
  const at = Date.now() + 8000;
  for (let index = 0; index < 40; index += 1) await callAt(at, `Call ${index}`);
  await soon(() => expect(host.visits).toHaveLength(40));
  expect(Math.max(...host.visits.map(({ inside }) => inside))).toBe(places);
  const came = host.visits.map((visit) => visit.at);
  // A call arrives a moment after it began, on a busy machine a long one.
  expect(Math.max(...came) - Math.min(...came)).toBeGreaterThan(2500);
  const done = await soon(async () => {
    const found = await runs();
    expect(found.filter(({ state }) => state === 'succeeded')).toHaveLength(40);
    return found;
  });
  expect(new Set(done.map(({ attempts }) => JSON.stringify(attempts[0]?.worker))).size).toBe(2);
});

it('places of a process that was killed are free when its lease is over, and not before', async () => {
  const host = await aHost(50);
  host.state.isShut = true;
  const { database, workers, callAt, runs, more } = await workersFor(host.url, 1);
  for (let index = 0; index < places; index += 1) await callAt(Date.now() + 1000, `Held ${index}`);
  await soon(() => expect(host.state.inside).toBe(places));
  workers[0]?.kill('SIGKILL');
  await workers[0]?.ended;
  host.state.isShut = false;
  await more().url();
  await callAt(Date.now() + 1000, 'Waits');
  await soon(async () => {
    expect((await runs()).filter(({ state }) => state === 'backoff')).toMatchObject([{ attempts: [] }]);
  });
  expect(host.visits).toHaveLength(places);

  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query('update cronogram.processes set lease_until = 0 where pid = $1', [workers[0]?.pid]);
  await client.end();
  await soon(async () =>
    expect((await runs()).map(({ state }) => state)).toEqual(Array.from({ length: places + 1 }, () => 'succeeded')),
  );
  expect(host.visits).toHaveLength(2 * places + 1);
  expect(Math.max(...host.visits.map(({ inside }) => inside))).toBe(places);
});
