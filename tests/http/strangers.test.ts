import { beforeAll, describe, expect, it } from 'vitest';
import type { Operation } from '../../src/api/operation.ts';
import { operations } from '../../src/api/operations.ts';
import { apiOperator } from '../../src/app/use-cases/tokens.ts';
import { tokenScopes, type TokenScope } from '../../src/domain/principal.ts';
import { parseThreadKey } from '../../src/domain/thread.ts';
import type { Description } from '../../src/http/docs/openapi.ts';
import { exampleOf } from '../../src/http/docs/page.ts';
import { second } from '../support/fakes.ts';
import { actor, aPipeline, hour, type Pipeline } from '../support/pipeline.ts';
import { worldsOf } from '../support/store-worlds.ts';
import { bearer, told } from './door.ts';
import { appOver } from './pipeline-door.ts';

/**
 * Everybody who may not asks for every operation, with ids of things that are there: nothing is answered, changed or
 * revealed, and it looks as it does for ids that nothing bears. The operations come from the table, so a new one is asked
 * too; one that names something new says here what that could be.
 */
const guarded = Object.entries<Operation>(operations).filter(([, { scope }]) => scope !== 'open');
const forSomeChats = guarded.filter(([, { scope }]) => scope !== 'admin');
const [ours, theirs] = ['telegram:chat:-1', 'telegram:chat:-2222'];
const theirSecret = 'THEIR_KEY';
const theirOwner = 'telegram:user:77';

type Named = Readonly<Record<string, string>>;

/** Ids that nothing bears. */
const unknown: Named = {
  thread_key: 'telegram:chat:-4444',
  task_id: 'no-task',
  run_id: 'no-run',
  task_run_id: 'no-task-run',
  grant_id: 'no-grant',
  budget_account: 'telegram:chat:-4444',
  name: 'NO_SUCH_KEY',
  kind: 'no-kind',
  token_id: 'no-token',
  id: '4444',
  n: '1',
  actor: 'telegram:user:44',
  user_key: 'telegram:user:44',
  owner: 'telegram:user:44',
  subject: 'no subject',
  tag: 'no-tag',
  q: 'no text',
  source: 'task:no-task',
};

/** Parameters that name nothing. */
const unnamed = [
  'limit',
  'cursor',
  'state',
  'status',
  'from',
  'to',
  'at',
  'after',
  'kind',
  'count',
  'dry_run',
  'lately',
  'group',
  'timezone',
];

interface Place extends Base {
  readonly app: ReturnType<typeof appOver>;
  readonly description: Description;
  readonly there: Named;
  /** What the neighbour may do. */
  readonly own: Named;
  readonly tokens: Readonly<Record<TokenScope, string>>;
  /** For the other chat alone, with all that a token of some chats can have. */
  readonly neighbour: string;
  readonly refused: readonly (readonly [who: string, header: Named])[];
}

let place: Place;
/** The answers of the engine that was asked first. */
let answered: readonly string[] | undefined;

/** The database of a pipeline, and all that is in it. */
interface Base {
  readonly p: Pipeline;
  readonly everything: () => Promise<string>;
}

async function aPlace({ p, everything }: Base): Promise<Place> {
  const app = appOver(p);
  const description = (await (await app.request('/openapi.json')).json()) as Description;
  const echo = { kind: 'echo' };
  const own = await p.create({ title: 'Ours', action: echo }, { threadKey: ours });
  const task = await p.create(
    { title: 'Theirs', instructions: 'Their text', action: echo, tags: ['their-tag'], subject: 'Their subject' },
    { threadKey: theirs, actor: theirOwner },
  );
  await p.pass(hour);
  const post = {
    method: 'POST',
    headers: { ...bearer, 'content-type': 'application/json', 'idempotency-key': 'same' },
  };
  const message = JSON.stringify({ thread_key: theirs, text: 'Their message' });
  expect((await app.request('/v1/messages', { ...post, body: message })).status).toBe(202);
  for (const whose of [{ thread_key: theirs }, { task_id: task.id }, { user_key: theirOwner }]) {
    const body = JSON.stringify({ ...whose, requests: 1000, per: 'month' });
    expect((await app.request('/v1/budgets', { ...post, method: 'PUT', body })).status).toBe(200);
  }
  await p.rooms.secrets.set({ place: parseThreadKey(theirs), name: theirSecret, value: 'their value', by: theirOwner });
  await p.settle();
  const ownRun = (await p.history(own.id)).find(({ runId }) => runId !== null);
  const taskRun = (await p.history(task.id)).find(({ runId }) => runId !== null);
  let names = 0;
  const make = async (scope: TokenScope, threads: readonly string[] | null = null, expiresAt: number | null = null) => {
    const wish = { name: `token-${(names += 1)}`, scopes: [scope], threadKeys: threads, expiresAt };
    const { text, token } = await p.rooms.tokens.create(wish, { principal: apiOperator, traceId: null });
    return { text, id: token.id };
  };
  const read = await make('read');
  const [old, gone] = [await make('admin', null, p.time.now() + 1), await make('admin')];
  await p.rooms.tokens.revoke({ id: gone.id, by: 'system:api', traceId: null });
  const neighbour = await make('manage', [ours]);
  const tokens = {
    read: read.text,
    run: (await make('run')).text,
    manage: (await make('manage')).text,
    admin: (await make('admin')).text,
  };
  await p.time.advance(1);
  const wrong = `${read.text.slice(0, -4)}AAAA`;
  return {
    p,
    everything,
    app,
    own: {
      ...unknown,
      thread_key: ours,
      task_id: own.id,
      run_id: ownRun?.runId ?? '',
      task_run_id: ownRun?.id ?? '',
      grant_id: own.grantId ?? '',
      budget_account: ours,
      name: 'OUR_KEY',
      kind: 'no-kind',
      actor,
      user_key: actor,
      owner: actor,
      q: 'Ours',
      source: `task:${own.id}`,
    },
    description,
    tokens,
    neighbour: neighbour.text,
    there: {
      thread_key: theirs,
      task_id: task.id,
      run_id: taskRun?.runId ?? '',
      task_run_id: taskRun?.id ?? '',
      grant_id: task.grantId ?? '',
      budget_account: theirs,
      token_id: read.id,
      name: theirSecret,
      kind: 'no-kind',
      id: '77',
      n: '1',
      actor: theirOwner,
      user_key: theirOwner,
      owner: theirOwner,
      subject: 'Their subject',
      tag: 'their-tag',
      q: 'Theirs',
      source: `task:${task.id}`,
    },
    refused: [
      ['nobody', {}],
      ['a wrong token', { authorization: `Bearer ${wrong}` }],
      ['a token that expired', { authorization: `Bearer ${old.text}` }],
      ['a token that was revoked', { authorization: `Bearer ${gone.text}` }],
    ],
  };
}

function namesOf({ path, method }: Operation): string[] {
  const { parameters = [] } = place.description.paths[path]?.[method] ?? {};
  return parameters.flatMap((one) => (one.in === 'query' && !unnamed.includes(one.name) ? [one.name] : []));
}

/** The operation as somebody asks for it who means these things, by its filters as well where `filters`. */
function requestOf(operation: Operation, means: Named, filters: boolean) {
  const { path, method } = operation;
  const way = path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => encodeURIComponent(means[name] ?? ''));
  const query = new URLSearchParams(
    filters ? namesOf(operation).map((name): [string, string] => [name, means[name] ?? '']) : [],
  );
  const required = place.description.paths[path]?.[method]?.requestBody;
  const example = exampleOf(required?.content['application/json']?.schema, place.description) as object | null;
  const body =
    example === null
      ? null
      : Object.fromEntries(Object.entries(example).map(([name, value]) => [name, means[name] ?? (value as unknown)]));
  return {
    path: `${way}?${query.toString()}`,
    init: {
      method: method.toUpperCase(),
      headers: {
        ...(operation.idempotent === true ? { 'idempotency-key': means === unknown ? 'other' : 'same' } : {}),
        ...(body === null ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === null ? {} : { body: JSON.stringify(body) }),
    },
  };
}

/** The answer, with whatever was named by its name, so that an echo is no difference. */
async function answerTo(operation: Operation, headers: Named, means: Named, filters = true) {
  const { path, init } = requestOf(operation, means, filters);
  const response = await place.app.request(path, { ...init, headers: { ...init.headers, ...headers } });
  const { status, text } = await told(response);
  const names = Object.entries(means).filter(([, value]) => value.length > 3);
  return { status, text: names.reduce((body, [name, value]) => body.replaceAll(value, `<${name}>`), text) };
}

const bearing = (token: string): Named => ({ authorization: `Bearer ${token}` });

/** Rows that tell of answers and of the use of tokens say nothing of what the operations did. */
const besides = ['idempotency_keys', 'tokens', 'sqlite_sequence'];

async function onSqlite(): Promise<Base> {
  const p = await aPipeline();
  const tables = p.database.prepare(`select name from sqlite_master where type = 'table' order by name`).all();
  return { p, everything: async () => contents(tables, async (text) => p.database.prepare(text).all()) };
}

/** There the policies of the tables stand behind the statements. */
function onPostgres(): () => Promise<Base> {
  const open = worldsOf('postgres');
  return async () => {
    const world = await open();
    const { engine } = world;
    const tables = await world.query(
      `select tablename as name from pg_tables where schemaname = current_schema() order by 1`,
    );
    return {
      p: await aPipeline({ engine }),
      everything: () => contents(tables, (text) => world.query(`${text} order by 1, 2`)),
    };
  };
}

async function contents(tables: readonly unknown[], rows: (text: string) => Promise<unknown[]>): Promise<string> {
  const names = (tables as readonly { name: string }[])
    .map(({ name }) => name)
    .filter((name) => !besides.includes(name));
  const found: unknown[] = [];
  for (const name of names) found.push([name, await rows(`select * from ${name}`)]);
  return JSON.stringify(found);
}

describe.each([
  ['SQLite', () => onSqlite],
  ['Postgres', onPostgres],
] as const)('on %s', (_engine, opening) => {
  const open = opening();

  beforeAll(async () => {
    place = await aPlace(await open());
  });

  describe('every operation', () => {
    it.each(guarded)('%s can be asked for with what is there', (_id, operation) => {
      const inPath = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '');
      for (const name of [...inPath, ...namesOf(operation)]) {
        expect(place.there[name], `${name}: name one that is there, in this file`).toBeTruthy();
        expect(unknown[name], `${name}: name one that is not there, in this file`).toBeTruthy();
      }
    });

    it.each(guarded)('%s is for nobody without a token that holds', async (_id, operation) => {
      const before = await place.everything();
      for (const [who, header] of place.refused) {
        const [real, other] = [
          await answerTo(operation, header, place.there),
          await answerTo(operation, header, unknown),
        ];
        expect([real.status, real.text], who).toEqual([401, other.text]);
      }
      expect(await place.everything()).toBe(before);
    });

    it.each(guarded)('%s is for no token whose scope is smaller', async (_id, operation) => {
      const before = await place.everything();
      const smaller = tokenScopes.slice(0, tokenScopes.indexOf(operation.scope as TokenScope));
      for (const scope of smaller) {
        const header = bearing(place.tokens[scope]);
        const [real, other] = [
          await answerTo(operation, header, place.there),
          await answerTo(operation, header, unknown),
        ];
        expect([real.status, real.text], scope).toEqual([403, other.text]);
        expect(JSON.parse(real.text)).toMatchObject({
          error: { code: 'forbidden', details: { scope: operation.scope } },
        });
      }
      if (operation.scope === 'admin')
        expect((await answerTo(operation, bearing(place.neighbour), place.there)).status).toBe(403);
      expect(await place.everything()).toBe(before);
    });

    it.each(forSomeChats)('%s shows and changes nothing of another chat', async (_id, operation) => {
      const before = await place.everything();
      const header = bearing(place.neighbour);
      const [real, other] = [
        await answerTo(operation, header, place.there),
        await answerTo(operation, header, unknown),
      ];
      expect([real.status, real.text]).toEqual([other.status, other.text]);
      expect(real.status).toBeLessThan(500);
      if (operation.method === 'get') {
        const all = await answerTo(operation, header, place.there, false);
        for (const name of ['task_id', 'run_id', 'grant_id', 'thread_key', 'subject', 'actor'])
          expect(all.text).not.toContain(`<${name}>`);
        expect(all.text).not.toMatch(/Their/);
      }
      expect(await place.everything()).toBe(before);
    });

    it('would show it to who may see it, so that all of this can fail', async () => {
      const alike: string[] = [];
      for (const [id, operation] of forSomeChats.filter(([, { method }]) => method === 'get')) {
        const [real, other] = [
          await answerTo(operation, bearer, place.there),
          await answerTo(operation, bearer, unknown),
        ];
        if (real.status === other.status && real.text === other.text) alike.push(id);
      }
      // The file that a run did not bring is as little there; the others are about no chat.
      expect(alike.toSorted()).toEqual(['getStatus', 'listActions', 'listDowntimes']);
    });
  });

  it('is answered to a token of some chats in its own chat, on one engine as on the other', async () => {
    const order = ['get', 'post', 'put', 'patch', 'delete'];
    const inOrder = forSomeChats.toSorted(([, a], [, b]) => order.indexOf(a.method) - order.indexOf(b.method));
    const answers: string[] = [];
    for (const [id, operation] of inOrder) {
      const asked = answerTo(operation, bearing(place.neighbour), place.own, false);
      let isDone = false;
      void asked.finally(() => (isDone = true));
      while (!isDone) await place.p.pass(second);
      const { status, text } = await asked;
      const { error } = JSON.parse(text.startsWith('{') ? text : '{}') as { error?: { code: string } };
      answers.push(`${id} ${status} ${error?.code ?? ''}`.trim());
    }
    answered ??= answers;
    expect(answers).toEqual(answered);
    expect(answers.filter((one) => / 5\d\d/.test(one))).toEqual([]);
    // Most of it is done, so that this can fail.
    expect(answers.filter((one) => / 20\d$/.test(one)).length).toBeGreaterThan(answers.length / 2);
  });

  describe('a key of one token', () => {
    it('tells another token nothing of what was done under it', async () => {
      const { p, app } = place;
      const { text } = await p.rooms.tokens.create(
        { name: 'reader-of-keys', scopes: ['run'], threadKeys: null, expiresAt: null },
        { principal: apiOperator, traceId: null },
      );
      const post = (token: string) =>
        app.request('/v1/messages', {
          method: 'POST',
          headers: { ...bearing(token), 'content-type': 'application/json', 'idempotency-key': 'shared' },
          body: JSON.stringify({ thread_key: theirs, text: 'Hello' }),
        });
      const first = await told(await post(text));
      const again = await told(await post(text));
      const other = await told(await post(place.tokens.run));
      expect([again.text, again.headers.get('idempotency-replayed')]).toEqual([first.text, 'true']);
      expect([other.status, other.headers.get('idempotency-replayed')]).toEqual([202, null]);
      expect((JSON.parse(other.text) as { run_id: string }).run_id).not.toBe(
        (JSON.parse(first.text) as { run_id: string }).run_id,
      );
    });
  });
});
