import { describe, expect, it, onTestFinished } from 'vitest';
import { soon } from '../support/patience.ts';
import { aFolder } from '../support/place.ts';
import { freshPostgres, onPostgres } from '../support/postgres.ts';
import { openWay } from '../support/way.ts';
import { startProgram } from './program.ts';

/** Processes whose database goes away and comes back, as a client of theirs sees them. */

const headers = { authorization: `Bearer ${onPostgres.API_TOKEN}`, 'content-type': 'application/json' };

interface Answered {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly tookMs: number;
  readonly body: { readonly task_runs?: readonly { readonly status: string }[]; readonly task?: { task_id: string } };
}

async function aProcess(env: Readonly<Record<string, string>>) {
  const program = startProgram(aFolder(), { ...onPostgres, ECHO_ACTION: '1', ...env }, onTestFinished);
  const url = await program.url();
  const ask = async (path: string, body?: object): Promise<Answered> => {
    const began = performance.now();
    const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const answer = await fetch(`${url}${path}`, { headers, ...sent });
    const text = await answer.text();
    return {
      status: answer.status,
      retryAfter: answer.headers.get('retry-after'),
      tookMs: performance.now() - began,
      body: JSON.parse(text) as Answered['body'],
    };
  };
  return { program, ask };
}

/** A request is told within two seconds; a machine that is busy with other things is given one more. */
const toldMs = 3000;

describe.each([
  ['embedded', ['all']],
  ['graphile', ['api', 'worker']],
] as const)('on Postgres with ENGINE=%s', (engine, roles) => {
  it('tells clients that the database is away, stays alive, and loses and doubles nothing', async () => {
    const database = await freshPostgres();
    const way = await openWay(database.url);
    onTestFinished(() => {
      way.close();
      return database.drop();
    });
    const processes = [];
    // Nobody answers there, and nothing of this goes to a chat.
    const bot = { TELEGRAM_BOT_TOKEN: `123456789:${'A'.repeat(35)}`, TELEGRAM_API_ROOT: 'http://127.0.0.1:9' };
    for (const ROLE of roles) processes.push(await aProcess({ ...bot, DATABASE_URL: way.url, ENGINE: engine, ROLE }));
    const [first] = processes;
    if (first === undefined) throw new Error('there is a process');

    for (const [goesAway, dueMs] of [
      // It takes what it is sent, and never answers.
      [way.block, 2000],
      // It refuses and resets.
      [way.cut, 1000],
    ] as const) {
      const made = await first.ask('/v1/threads/cli:default/tasks', {
        instructions: 'Once',
        action: { kind: 'echo' },
        schedule: { kind: 'once', once_at: new Date(Date.now() + dueMs).toISOString(), timezone: 'UTC' },
      });
      expect(made.status).toBe(201);
      goesAway();
      const underWay = await Promise.all([1, 2, 3].map(() => first.ask('/v1/tasks')));
      for (const { status, retryAfter, tookMs } of underWay) {
        expect([status, retryAfter]).toEqual([503, '5']);
        expect(tookMs).toBeLessThan(toldMs);
      }
      for (const { ask } of processes) {
        expect(await ask('/livez')).toMatchObject({ status: 200 });
        expect(await ask('/readyz')).toMatchObject({ status: 503 });
      }
      way.mend();
      const mended = performance.now();
      await soon(async () => expect(await first.ask('/v1/tasks')).toMatchObject({ status: 200 }));
      expect(performance.now() - mended).toBeLessThan(5000);
      const runs = `/v1/tasks/${made.body.task?.task_id}/runs`;
      await soon(async () => expect((await first.ask(runs)).body.task_runs).toMatchObject([{ status: 'succeeded' }]));
    }
    for (const { program } of processes) {
      expect(program.lines().filter(({ event }) => event === 'database_away').length).toBeGreaterThan(0);
      program.kill('SIGTERM');
      expect(await program.ended).toBe(0);
    }
  });
});
