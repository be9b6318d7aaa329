import { onTestFinished, describe, expect, it } from 'vitest';
import { createEventStreams } from '../../src/http/events.ts';
import { systemTimer } from '../../src/system/clock.ts';
import { aPipeline, minute, type Pipeline } from '../support/pipeline.ts';
import { createPath, creation, bearer, told, type Asked } from './door.ts';
import { appOver } from './pipeline-door.ts';

interface Place {
  readonly p: Pipeline;
  readonly ask: (method: string, path: string, body?: unknown, token?: string) => Promise<Asked>;
  /** A token that the API makes. */
  readonly make: (wish: object, token?: string) => Promise<Asked & { readonly text_: string; readonly id: string }>;
}

async function aPlace(): Promise<Place> {
  const p = await aPipeline();
  const app = appOver(p);
  const ask = async (method: string, path: string, body?: unknown, token?: string) =>
    told(
      await app.request(path, {
        method,
        headers: {
          ...(token === undefined ? bearer : { authorization: `Bearer ${token}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    );
  let names = 0;
  return {
    p,
    ask,
    make: async (wish, token) => {
      const made = await ask('POST', '/v1/tokens', { name: `token-${(names += 1)}`, scopes: ['read'], ...wish }, token);
      const { token: text = '', token_id: id = '' } = JSON.parse(made.text) as { token?: string; token_id?: string };
      return { ...made, text_: text, id };
    },
  };
}

const codeOf = ({ status, json }: Asked) => [status, json.error?.code, json.error?.details?.['field']];

describe('a named token', () => {
  it('is told once, and kept as its hash alone', async () => {
    const { p, ask, make } = await aPlace();
    const made = await make({ name: 'ci' });
    expect([made.status, made.text_]).toEqual([201, expect.stringMatching(/^cgm_[a-z0-9]{8}_[\w-]{43}$/)]);
    const secret = made.text_.slice('cgm_12345678_'.length);
    expect((await ask('GET', '/v1/tokens')).text).not.toContain(secret);
    expect((await ask('GET', '/v1/audit')).text).not.toContain(secret);
    const tables = p.database.prepare(`select name from sqlite_master where type = 'table'`).all();
    for (const table of tables) {
      const { name } = table as { readonly name: string };
      expect(JSON.stringify(p.database.prepare(`select * from ${name}`).all()), name).not.toContain(secret);
    }
    expect(JSON.stringify(p.log)).not.toContain(secret);
  });

  it('acts as itself, and its tasks belong to the owner of their chat', async () => {
    const { ask, make } = await aPlace();
    const { text_: token, id } = await make({ scopes: ['manage'], thread_keys: ['cli:default'] });
    const { json, status } = await ask('POST', createPath, creation, token);
    expect([status, json.task.created_by, json.task.owner_user_key]).toEqual([201, `api:token:${id}`, 'system:api']);
    const plain = await ask('POST', createPath, { ...creation, title: 'Other' });
    expect([plain.json.task.created_by, plain.json.task.owner_user_key]).toEqual(['system:api', 'system:api']);
  });

  it('is over when it expires or is revoked, and what it made goes on', async () => {
    const { p, ask, make } = await aPlace();
    const expires = await make({ expires_at: new Date(p.time.now() + minute).toISOString() });
    const kept = await make({ scopes: ['manage'] });
    const { json } = await ask('POST', createPath, creation, kept.text_);
    expect((await ask('GET', '/v1/tasks', undefined, expires.text_)).status).toBe(200);
    await p.time.advance(minute);
    const late = await ask('GET', '/v1/tasks', undefined, expires.text_);
    expect([late.status, late.json.error.message]).toEqual([401, expect.stringContaining('expired at')]);
    const revoked = await ask('DELETE', `/v1/tokens/${kept.id}`);
    expect(JSON.parse(revoked.text)).toMatchObject({ revoked: true, tasks: 1 });
    const gone = await ask('GET', '/v1/tasks', undefined, kept.text_);
    expect([gone.status, gone.json.error.message]).toEqual([401, expect.stringContaining('revoked at')]);
    expect((await ask('GET', `/v1/tasks/${json.task.task_id}`)).json.task.state).toBe('active');
    const again = JSON.parse((await ask('DELETE', `/v1/tokens/${kept.id}`)).text) as { entry_id: unknown };
    expect(again.entry_id).toBeNull();
    expect(JSON.parse((await ask('GET', '/v1/status')).text)).toMatchObject({ tokens: { live: 0, expired: 1 } });
  });

  it('gives nobody more than it has', async () => {
    const { p, make } = await aPlace();
    const at = (ms: number) => new Date(p.time.now() + ms).toISOString();
    const maker = await make({ scopes: ['admin'], expires_at: at(minute) });
    expect((await make({ scopes: ['admin'], expires_at: at(minute) }, maker.text_)).status).toBe(201);
    expect(codeOf(await make({}, maker.text_))).toEqual([400, 'invalid_request', 'expires_at']);
    expect(codeOf(await make({ expires_at: at(minute + 1) }, maker.text_))).toEqual([
      400,
      'invalid_request',
      'expires_at',
    ]);
    const small = await make({ scopes: ['manage'] });
    expect((await make({}, small.text_)).status).toBe(403);
  });

  it.each([
    [{ name: 'a b' }, 'name'],
    [{ scopes: [] }, 'scopes'],
    [{ scopes: ['write'] }, 'scopes.0'],
    [{ expires_at: '2020-01-01T00:00:00Z' }, 'expires_at'],
    [{ scopes: ['admin'], thread_keys: ['cli:default'] }, 'thread_keys'],
    [{ thread_keys: ['telegram:chat:-404'] }, 'thread_keys'],
    [{ thread_keys: ['telegram:chat:-1:topic:3'] }, 'thread_keys'],
    [{ thread_keys: [] }, 'thread_keys'],
  ])('is refused as %j, with the field', async (wish, field) => {
    const { make, ask } = await aPlace();
    expect(codeOf(await make(wish))).toEqual([400, 'invalid_request', field]);
    expect(JSON.parse((await ask('GET', '/v1/tokens')).text)).toMatchObject({ tokens: [] });
  });

  it('is noted as used, once a minute', async () => {
    const { p, ask, make } = await aPlace();
    const { text_: token } = await make({ scopes: ['admin'] });
    const used = async () => {
      const { tokens } = JSON.parse((await ask('GET', '/v1/tokens')).text) as { tokens: { last_used_at: string }[] };
      return tokens[0]?.last_used_at ?? null;
    };
    expect(await used()).toBeNull();
    await ask('GET', '/v1/tasks', undefined, token);
    const first = await used();
    await p.time.advance(minute - 1);
    await ask('GET', '/v1/tasks', undefined, token);
    expect([first === null, await used()]).toEqual([false, first]);
  });
});

describe('a stream', () => {
  it('ends when its token holds no more', async () => {
    let isHeld = true;
    const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
    const streams = createEventStreams({ timer: systemTimer, log });
    onTestFinished(() => streams.close());
    const readEvents = async () => ({ events: [], next: 'c' });
    const wanted = { after: null, taskId: null, kind: null };
    const stream = await streams.open(wanted, { readEvents, isHeld: async () => isHeld, drop: () => {} });
    const said: string[] = [];
    void stream.tell({ write: async (text) => void said.push(text), onAbort: () => {}, abort: () => {} });
    isHeld = false;
    streams.hint();
    expect(await stream.ended).toEqual({ ended: 'token', events: 0 });
    expect(said).toHaveLength(1);
  });
});
