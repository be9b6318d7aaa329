import type { IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { signatures } from '../../src/system/signature.ts';
import { soon, testMaxMs } from '../support/patience.ts';
import { aFolder, aStub, type AtEnd } from '../support/place.ts';
import { startProgram } from './program.ts';

/** A server that is killed in the midst of a call, and the next one on its data. */

const apiToken = 'the-token-of-the-tests-of-killed-calls';

interface Heard {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Answers what `reply` says; with null it says nothing, because the caller is dead by then. */
async function listening(atEnd: AtEnd, reply: (heard: Heard) => Promise<readonly [number, object] | null>) {
  const url = await aStub((incoming, outgoing) => {
    void text(incoming)
      .then((body) => reply({ headers: incoming.headers, body }))
      .then((answer) => {
        if (answer === null) return outgoing.destroy();
        const [status, body] = answer;
        return outgoing.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      })
      .catch(() => outgoing.destroy());
  }, atEnd);
  return { url, place: new URL(url).host };
}

/** The moment in which the server has died, or what kept it from that. */
function aDeath() {
  let by = (dying: Promise<void>) => dying;
  const done = new Promise<void>((resolve, reject) => {
    by = (dying) => {
      dying.then(resolve, reject);
      return dying;
    };
  });
  return { done, by: (dying: Promise<void>) => by(dying) };
}

/** Secrets are not written, and a turn is not ended. A lock on the whole file would stop all else in the server as well. */
const refusing = [
  ['no_insert', 'insert on secrets'],
  ['no_update', 'update on secrets'],
  ['no_delete', 'delete on credentials'],
  ['no_end', 'update on credentials'],
] as const;
const refusal = "begin select raise(abort, 'disk I/O error'); end";

/** A program in a folder of its own, which can be killed and started again. */
function keptAlive(allow: readonly string[], atEnd: AtEnd) {
  const folder = aFolder(atEnd);
  const env = { DATABASE_URL: 'file:c.db', API_TOKEN: apiToken, EGRESS_ALLOW: allow.join(',') };
  const begin = () => startProgram(folder, env, atEnd);
  let program = begin();
  const ask = async (method: string, path: string, body?: unknown) => {
    const answer = await fetch((await program.url()) + path, {
      method,
      headers: { authorization: `Bearer ${apiToken}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return (await answer.json()) as Record<string, unknown>;
  };
  return {
    ask,
    kill: async () => {
      program.kill('SIGKILL');
      await program.ended;
    },
    /** The database takes no token from now on; the server dies once it has found that out with the next refresh token. */
    killUnwritten: async () => {
      const database = new Database(join(folder, 'c.db'));
      database.exec(refusing.map(([name, what]) => `create trigger ${name} before ${what} ${refusal};`).join(''));
      await program.logs('refresh_token_not_written');
      program.kill('SIGKILL');
      await program.ended;
      database.exec(refusing.map(([name]) => `drop trigger ${name};`).join(''));
      database.close();
    },
    next: () => {
      program = begin();
    },
    secret: (name: string, value: string) => ask('PUT', `/v1/secrets/${name}?thread_key=cli:default`, { value }),
    /** Makes a task and runs it; answers its id. */
    running: async (action: object) => {
      const schedule = { kind: 'cron', cron: '0 0 1 1 *', timezone: 'UTC' };
      const made = await ask('POST', '/v1/threads/cli:default/tasks', { title: 'Call', schedule, action });
      const { task_id: id } = made['task'] as { task_id: string };
      // The run may kill the server before that has answered.
      await ask('POST', `/v1/tasks/${id}/run-now`).catch(() => undefined);
      return id;
    },
    lastRun: async (id: string) => {
      const { task_runs: runs } = (await ask('GET', `/v1/tasks/${id}/runs`)) as {
        task_runs: { status: string; error_message: string | null }[];
      };
      return runs[0];
    },
  };
}

/** When the caller dies: before it is answered, or with the whole answer in its hands, which it cannot write. */
type Moment = 'unanswered' | 'unwritten';

interface Scene {
  readonly hasGrace: boolean;
  readonly moment: Moment;
  readonly atEnd: AtEnd;
}

/** Rotates with each answer. With a grace the token before is good for whoever lost the answer. */
async function tokenServer({ hasGrace, moment, atEnd }: Scene, dies: () => Promise<void>) {
  let made = 0;
  const asked: (string | null)[] = [];
  const server = await listening(atEnd, async ({ body }) => {
    const given = new URLSearchParams(body).get('refresh_token');
    asked.push(given);
    const isRepeat = hasGrace && given === `refresh-token-${made - 1}`;
    if (given !== `refresh-token-${made}` && !isRepeat) return [400, { error: 'invalid_grant' }];
    if (!isRepeat) made += 1;
    if (asked.length === 1) {
      const dying = dies();
      if (moment === 'unanswered') {
        await dying;
        return null;
      }
    }
    const grant = { access_token: `access-token-${made}`, token_type: 'Bearer', expires_in: 3600 };
    return [200, { ...grant, refresh_token: `refresh-token-${made}` }];
  });
  return { ...server, asked };
}

async function refreshing(scene: Scene) {
  const { moment, atEnd } = scene;
  const bearers: unknown[] = [];
  const target = await listening(atEnd, async ({ headers }) => {
    bearers.push(headers.authorization);
    return [200, { price: 7 }];
  });
  const death = aDeath();
  let kill = async () => {};
  const server = await tokenServer(scene, () => death.by(kill()));
  const alive = keptAlive([target.place, server.place], atEnd);
  kill = moment === 'unanswered' ? alive.kill : alive.killUnwritten;
  await alive.secret('CLIENT', 'client secret');
  await alive.secret('REFRESH', 'refresh-token-0');
  const client = { kind: 'oauth2', token_url: server.url, client_id: 'shop', secret: 'CLIENT' };
  const id = await alive.running({ kind: 'http', url: target.url, auth: { ...client, refresh_token: 'REFRESH' } });
  await death.done;
  alive.next();
  return { alive, server, bearers, id };
}

const moments: readonly (readonly [when: string, Moment])[] = [
  ['while a token server answers', 'unanswered'],
  ['between the whole answer of a token server and its commit', 'unwritten'],
];

// Each waits for the turn of the dead at a token server to be over most of the time, so they do it side by side.
describe.concurrent('a server that is killed', () => {
  it.for(moments)('%s loses no token where there is a grace', async ([, moment], { onTestFinished: atEnd }) => {
    const { alive, server, bearers, id } = await refreshing({ hasGrace: true, moment, atEnd });
    await soon(async () => expect(await alive.lastRun(id)).toMatchObject({ status: 'succeeded' }));
    expect(server.asked).toEqual(['refresh-token-0', 'refresh-token-0']);
    expect(bearers).toEqual(['Bearer access-token-1']);
  });

  it.for(moments)('%s says what was lost where there is none', async ([, moment], { onTestFinished: atEnd }) => {
    const { alive, server, bearers, id } = await refreshing({ hasGrace: false, moment, atEnd });
    await soon(async () => expect(await alive.lastRun(id)).toMatchObject({ status: 'failed' }));
    expect((await alive.lastRun(id))?.error_message).toMatch(
      /was lost at .*set the new one with \/secrets set REFRESH/,
    );
    expect([server.asked.length, bearers]).toEqual([2, []]);
  });

  it('between the effect of a signed POST and its commit has one effect', async ({ onTestFinished: atEnd }) => {
    const heard: Heard[] = [];
    const effects = new Set<string>();
    const death = aDeath();
    let kill = async () => {};
    const target = await listening(atEnd, async (one) => {
      heard.push(one);
      effects.add(String(one.headers['idempotency-key']));
      if (heard.length > 1) return [200, { ok: true }];
      await death.by(kill());
      return null;
    });
    const alive = keptAlive([target.place], atEnd);
    kill = alive.kill;
    await alive.secret('SIGN', 'signing key');
    const auth = { kind: 'hmac', secret: 'SIGN' };
    const id = await alive.running({ kind: 'http', method: 'POST', url: target.url, auth });
    await death.done;
    alive.next();
    await soon(async () => expect(await alive.lastRun(id)).toMatchObject({ status: 'succeeded' }));
    expect([heard.length, effects.size]).toEqual([2, 1]);
    for (const { headers, body } of heard) {
      const signed = { body, secrets: ['signing key'], now: Date.now(), toleranceMs: testMaxMs };
      expect(signatures.verify(String(headers['x-schedule-signature']), signed)).toBe('valid');
    }
  });
});
