import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { RoomSettings } from '../../../../src/compose/assembly.ts';
import { anOutbound } from '../../../support/outbound.ts';
import { actor, anOwner, hour, hourly, minute } from '../../../support/pipeline.ts';
import { opened } from '../../../support/ports.ts';
import { lastingVault, secretsOf } from '../../../support/secrets.ts';
import { type Answer, caller } from './caller.ts';

type Form = Readonly<Record<string, string>>;

type Reply = object | 'drop' | [number, object];

/** A token server whose refresh tokens are good once, and a place that takes the last token that it gave. */
async function aShop(
  given: {
    readonly lifeS?: number | null;
    readonly secrets?: Readonly<Record<string, string>>;
    readonly takesAll?: true;
    readonly operator?: NonNullable<RoomSettings['operatorSecrets']>;
  } = {},
) {
  const { lifeS = 3600 } = given;
  const asked: Form[] = [];
  const state = { refresh: 'refresh-0', made: 0, good: new Set<string>() };
  let reply: ((form: Form, grant: () => object) => Reply | Promise<Reply>) | null = null;
  let wait: Promise<unknown> | null = null;
  const grant = (): object => {
    state.made += 1;
    state.refresh = `refresh-${state.made}`;
    const token = `access-${state.made}`;
    state.good = new Set([...(given.takesAll ? state.good : []), token]);
    return { access_token: token, token_type: 'Bearer', ...(lifeS === null ? {} : { expires_in: lifeS }) };
  };
  const usual = (form: Form): object | [number, object] => {
    if (form['client_secret'] !== 'client-secret') return [401, { error: 'invalid_client' }];
    if (form['grant_type'] !== 'refresh_token') return grant();
    if (form['refresh_token'] !== state.refresh)
      return [400, { error: 'invalid_grant', error_description: 'used before' }];
    return { ...grant(), refresh_token: state.refresh };
  };
  const serve = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const form = Object.fromEntries(new URLSearchParams(await text(incoming)));
    asked.push(form);
    await wait;
    const made = reply === null ? usual(form) : await reply(form, () => usual(form));
    if (made === 'drop') return outgoing.destroy();
    const [status, body] = Array.isArray(made) ? (made as [number, object]) : [200, made];
    return outgoing.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
  const server = createServer((incoming, outgoing) => void serve(incoming, outgoing));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const tokenUrl = `http://login.example.com:${await opened(server)}/token`;
  const price: Answer = (response, { headers }) => {
    const isGood = state.good.has(String(headers.authorization).replace('Bearer ', ''));
    response.writeHead(isGood ? 200 : 401).end(isGood ? 'the price' : `no good: ${headers.authorization}`);
  };
  const vault = lastingVault();
  const made = await caller(price, {
    vault,
    outbound: anOutbound({ allow: ['*.example.com'] }),
    ...(given.operator === undefined ? {} : { settings: { operatorSecrets: given.operator } }),
  });
  const values = { CLIENT: 'client-secret', REFRESH: 'refresh-0', ...given.secrets };
  const secrets = await secretsOf(made.p, vault, values);
  const client = { kind: 'oauth2', token_url: tokenUrl, client_id: 'shop', secret: 'CLIENT' };
  const errors = async (taskId: string) => (await made.p.history(taskId)).map(({ error }) => error);
  const statuses = async (taskId: string) => (await made.p.history(taskId)).map(({ status }) => status);
  return {
    ...made,
    asked,
    state,
    vault,
    secrets,
    client,
    refreshing: { ...client, refresh_token: 'REFRESH' },
    errors,
    statuses,
    answer: (next: typeof reply) => (reply = next),
    hold: (until: Promise<unknown> | null): void => {
      wait = until;
    },
    /** All that any table holds, as one text. */
    kept: () => {
      const { database } = made.p;
      const tables = database.prepare("select name from sqlite_master where type = 'table'").all() as {
        name: string;
      }[];
      return tables.map(({ name }) => JSON.stringify(database.prepare(`select * from "${name}"`).all())).join('\n');
    },
  };
}

const once = { policies: { retry: { attempts: 1 } } };
const thrice = { policies: { retry: { attempts: 3, base: 'PT1M', jitter: 0 } } };

describe('a token of the client', () => {
  it('is asked for once, and used until shortly before its end', async () => {
    const { asked, seen, pass, fetching, client, statuses } = await aShop({ lifeS: 7200 });
    const task = await fetching({ auth: { ...client, scope: 'read', audience: 'https://api.example.com' } });
    await pass(hour);
    await pass(hour);
    expect(asked).toMatchObject([
      { grant_type: 'client_credentials', scope: 'read', audience: 'https://api.example.com' },
    ]);
    // Half a minute before its end, which is within the skew of a minute.
    await pass(hour - 30_000 + 30_000);
    expect(asked).toHaveLength(2);
    expect(seen.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer access-1',
      'Bearer access-1',
      'Bearer access-2',
    ]);
    expect(await statuses(task.id)).toEqual(['succeeded', 'succeeded', 'succeeded']);
  });

  it('outlives the process, sealed, and is forgotten where another key seals', async () => {
    const { asked, pass, fetching, client, kept, p, settle } = await aShop({ lifeS: 36_000 });
    await fetching({ auth: client });
    await pass(hour);
    expect(kept()).not.toContain('access-1');
    const next = p.restart();
    await next.pass(hour);
    await next.rooms.runner.idle();
    await settle();
    expect(asked).toHaveLength(1);
    p.database.prepare("update credentials set box = 'AAAA'").run();
    await pass(hour);
    expect(asked).toHaveLength(2);
  });

  it('is used by the same secrets in the same chat alone', async () => {
    const shop = await aShop({ lifeS: 36_000, secrets: { SECOND: 'client-secret' }, takesAll: true });
    const { asked, pass, fetching, client, secrets, p, base } = shop;
    await fetching({ auth: client });
    await fetching({ auth: client }, { title: 'The same' });
    await fetching({ auth: { ...client, scope: 'write' } }, { title: 'Another scope' });
    await fetching({ auth: { ...client, secret: 'SECOND' } }, { title: 'Another secret' });
    const there = 'telegram:chat:-1009999';
    const others = await secretsOf(p, shop.vault, { CLIENT: 'client-secret' }, there);
    const elsewhere = { title: 'Another chat', instructions: '', schedule: hourly };
    const action = { kind: 'http', url: `${base}/price`, auth: client };
    await p.create({ ...elsewhere, action }, { threadKey: there });
    await pass(hour);
    expect(asked).toHaveLength(4);
    await pass(hour);
    expect(asked).toHaveLength(4);
    // The same value, set anew, is the same secret; without it what it brought is worth nothing.
    await secrets.set('CLIENT', 'client-secret');
    await pass(hour);
    expect(asked).toHaveLength(4);
    await secrets.drop('CLIENT');
    await others.drop('CLIENT');
    await pass(hour);
    expect(shop.seen).toHaveLength(5 * 3 + 1);
  });

  it('is got anew, and tried once more, when the target does not take it', async () => {
    const { asked, seen, state, pass, fetching, client, statuses } = await aShop({ lifeS: 36_000 });
    const task = await fetching({ auth: client });
    await pass(hour);
    state.good.clear();
    await pass(hour);
    expect(asked).toHaveLength(2);
    expect(seen.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer access-1',
      'Bearer access-1',
      'Bearer access-2',
    ]);
    expect(await statuses(task.id)).toEqual(['succeeded', 'succeeded']);
  });

  it('is shown as refused when the target takes the new one no more than the old', async () => {
    const { asked, seen, state, answer, pass, fetching, client, errors, kept } = await aShop();
    const task = await fetching({ auth: client }, once);
    answer((_form, grant) => {
      const made = grant();
      state.good.clear();
      return made;
    });
    await pass(hour);
    expect(asked).toHaveLength(2);
    expect(seen).toHaveLength(2);
    expect(await errors(task.id)).toEqual([expect.stringMatching(/answered 401: no good: Bearer \[secret\]/)]);
    expect(kept()).not.toContain('access-2');
  });

  it('counts as a request, at the host that gave it', async () => {
    const { pass, fetching, client, p } = await aShop();
    await fetching({ auth: client });
    await pass(hour);
    const requests = p.database.prepare("select sum(quantity) as count from usage where kind = 'requests'").get();
    expect(requests).toEqual({ count: 2 });
  });

  it('is not got with a wrong secret, and the word about it says whose', async () => {
    const { secrets, seen, pass, fetching, client, errors } = await aShop();
    const task = await fetching({ auth: client }, once);
    await secrets.set('CLIENT', 'wrong-secret');
    await pass(hour);
    expect(await errors(task.id)).toEqual([
      expect.stringMatching(/answered invalid_client\. Check the client shop and its secret CLIENT\./),
    ]);
    expect(seen).toEqual([]);
  });

  it('is not asked for where a secret must not go to the target as well', async () => {
    const { secrets, asked, pass, fetching, client, p } = await aShop();
    const task = await fetching({ auth: client });
    await secrets.goTo(new URL(client.token_url).host);
    await pass(hour);
    expect(await p.history(task.id)).toMatchObject([{ status: 'skipped', reason: 'secret_host' }]);
    expect(asked).toEqual([]);
  });

  it('is tried again as the policy says while the server is not well', async () => {
    const { asked, answer, pass, fetching, client, statuses } = await aShop();
    const task = await fetching({ auth: client }, thrice);
    let left = 1;
    answer((_form, grant) => ((left -= 1) >= 0 ? [503, { error: 'later' }] : grant()));
    await pass(hour);
    await pass(minute);
    expect(asked).toHaveLength(2);
    expect(await statuses(task.id)).toEqual(['succeeded']);
  });
});

describe('a refresh token that rotates', () => {
  it('is replaced before the access token is used', async () => {
    const { secrets, asked, seen, pass, fetching, refreshing, kept, p } = await aShop({ lifeS: 60 });
    const order: string[] = [];
    const replaceSecret = p.store.replaceSecret.bind(p.store);
    Object.assign(p.store, {
      replaceSecret: async (one: Parameters<typeof replaceSecret>[0]) => {
        order.push(`replaced after ${seen.length} calls`);
        return replaceSecret(one);
      },
    });
    await fetching({ auth: refreshing });
    await pass(hour);
    await pass(hour);
    expect(asked.map((form) => form['refresh_token'])).toEqual(['refresh-0', 'refresh-1']);
    expect(order).toEqual(['replaced after 0 calls', 'replaced after 1 calls']);
    expect(await secrets.value('REFRESH')).toBe('refresh-2');
    for (const token of ['refresh-1', 'refresh-2', 'access-1']) expect(kept()).not.toContain(token);
  });

  it('is refreshed once by two runs at once, and by two kinds of task one after the other', async () => {
    const { asked, seen, hold, pass, fetching, refreshing, statuses } = await aShop({ lifeS: 36_000 });
    const tasks = [
      await fetching({ auth: refreshing }),
      await fetching({ auth: refreshing }, { title: 'The same' }),
      await fetching({ auth: refreshing }, { title: 'And again' }),
    ];
    let release = () => {};
    hold(new Promise<void>((resolve) => (release = resolve)));
    const passing = pass(hour);
    await expect.poll(() => asked.length).toBe(1);
    release();
    hold(null);
    await passing;
    expect(asked).toHaveLength(1);
    expect(seen).toHaveLength(3);
    // With another scope it is another token, got with the refresh token that came last.
    const other = await fetching({ auth: { ...refreshing, scope: 'write' } }, { title: 'Another scope' });
    await pass(hour);
    expect(asked.map((form) => form['refresh_token'])).toEqual(['refresh-0', 'refresh-1']);
    for (const { id } of [...tasks, other]) expect((await statuses(id)).at(0)).toBe('succeeded');
  });

  it('is not asked for while another process asks, and then not again', async () => {
    const { asked, seen, hold, pass, fetching, refreshing, p, statuses } = await aShop({
      lifeS: 36_000,
      takesAll: true,
    });
    await fetching({ auth: refreshing });
    const second = await fetching({ auth: refreshing }, { title: 'Beside' });
    await p.rooms.tasks.pause({ taskId: second.id, actor }, null);
    let release = () => {};
    hold(new Promise<void>((resolve) => (release = resolve)));
    const passing = pass(hour);
    await expect.poll(() => asked.length).toBe(1);
    // Another process on the same database: it knows nothing of what the first one has in memory.
    const beside = p.restart();
    await beside.rooms.tasks.runNow({ taskId: second.id, actor });
    await beside.settle();
    expect(asked).toHaveLength(1);
    expect(seen).toEqual([]);
    release();
    hold(null);
    await passing;
    await beside.pass(minute);
    await beside.rooms.runner.idle();
    expect(asked).toHaveLength(1);
    expect(new Set(seen.map(({ headers }) => headers.authorization))).toEqual(new Set(['Bearer access-1']));
    await beside.settle();
    expect(await statuses(second.id)).toEqual(['succeeded']);
  });

  it('loses nothing with an answer that is lost: the old one is tried again, as servers with a grace allow', async () => {
    const { secrets, asked, answer, pass, fetching, refreshing, statuses } = await aShop({ lifeS: 60 });
    const task = await fetching({ auth: refreshing }, thrice);
    let made: object | null = null;
    // The first answer is lost on its way; the server gives the same one again to whoever asks with the same token.
    answer((_form, grant) => {
      if (made !== null) return made;
      made = grant();
      return 'drop';
    });
    await pass(hour);
    expect(await secrets.value('REFRESH')).toBe('refresh-0');
    await pass(minute);
    expect(asked.map((form) => form['refresh_token'])).toEqual(['refresh-0', 'refresh-0']);
    expect(await secrets.value('REFRESH')).toBe('refresh-1');
    expect(await statuses(task.id)).toEqual(['succeeded']);
  });

  it('says what happened and what to do when the server took the old one back with an answer that was lost', async () => {
    const { secrets, asked, answer, pass, fetching, refreshing, errors, statuses, state, p } = await aShop({
      lifeS: 60,
    });
    const task = await fetching({ auth: refreshing }, thrice);
    answer((_form, grant) => {
      grant();
      return 'drop';
    });
    await pass(hour);
    const lostAt = new Date(p.time.now()).toISOString();
    answer(null);
    await pass(minute);
    const [error] = await errors(task.id);
    expect(error).toContain('answered invalid_grant: used before.');
    expect(error).toContain(`was lost at ${lostAt}`);
    expect(error).toContain('set the new one with /secrets set REFRESH');
    expect(asked).toHaveLength(2);
    expect(await secrets.value('REFRESH')).toBe('refresh-0');
    // A person signs in again: nothing else is needed.
    await secrets.set('REFRESH', state.refresh);
    await pass(hour);
    expect(await statuses(task.id)).toEqual(['failed', 'succeeded']);
  });

  it('is kept in memory while it cannot be written, and written before anything else is asked', async () => {
    const { secrets, asked, seen, pass, fetching, refreshing, statuses } = await aShop({ lifeS: 60 });
    const task = await fetching({ auth: refreshing }, thrice);
    secrets.breakReplace(1);
    await pass(hour);
    expect(await secrets.value('REFRESH')).toBe('refresh-0');
    expect(seen).toEqual([]);
    await pass(minute);
    expect(asked.map((form) => form['refresh_token'])).toEqual(['refresh-0', 'refresh-1']);
    expect(await secrets.value('REFRESH')).toBe('refresh-2');
    expect(await statuses(task.id)).toEqual(['succeeded']);
  });

  it('gives way to one that a person sets meanwhile', async () => {
    const { secrets, asked, answer, pass, fetching, refreshing, statuses, state } = await aShop({ lifeS: 60 });
    const task = await fetching({ auth: refreshing });
    answer(async (_form, grant) => {
      const made = grant();
      await secrets.set('REFRESH', 'by-hand');
      state.refresh = 'by-hand';
      answer(null);
      return made;
    });
    await pass(hour);
    expect(asked.map((form) => form['refresh_token'])).toEqual(['refresh-0', 'by-hand']);
    expect(await secrets.value('REFRESH')).toBe('refresh-2');
    expect(await statuses(task.id)).toEqual(['succeeded']);
  });

  it('is kept although the rest of the answer is of no use', async () => {
    const { secrets, answer, pass, fetching, refreshing, errors } = await aShop();
    const task = await fetching({ auth: refreshing }, once);
    answer((_form, grant) => ({ ...grant(), token_type: 'mac' }));
    await pass(hour);
    expect(await secrets.value('REFRESH')).toBe('refresh-1');
    expect(await errors(task.id)).toEqual([expect.stringContaining('no answer of OAuth 2')]);
  });

  it('is not used from the environment, where the next one could not be kept', async () => {
    const given = { name: 'GIVEN', value: 'refresh-0', hosts: [], chats: [] };
    const { p, asked, pass, fetching, refreshing, errors } = await aShop({ operator: [given] });
    await anOwner(p);
    const task = await fetching({ auth: { ...refreshing, refresh_token: 'GIVEN' } }, once);
    await pass(hour);
    expect(asked).toEqual([]);
    expect(await errors(task.id)).toEqual([expect.stringContaining('stands in the environment')]);
  });

  it('waits for a turn that a process left behind, and no longer', async () => {
    const { asked, pass, fetching, refreshing, p, statuses } = await aShop();
    const task = await fetching({ auth: refreshing }, thrice);
    let isHeld = true;
    const takeTurn = p.store.takeTurn.bind(p.store);
    // The turn of a process that was killed between the answer of the server and its own commit.
    Object.assign(p.store, {
      takeTurn: async (turn: Parameters<typeof takeTurn>[0]) => {
        if (isHeld) await takeTurn({ ...turn, holder: 'killed' });
        isHeld = false;
        return takeTurn(turn);
      },
    });
    await pass(hour);
    expect(asked).toEqual([]);
    await pass(14_000);
    expect(asked).toEqual([]);
    await pass(1000);
    expect(asked).toHaveLength(1);
    expect(await statuses(task.id)).toEqual(['succeeded']);
  });
});
