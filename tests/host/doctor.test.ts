import { spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { describe, expect, it, onTestFinished } from 'vitest';
import { nodeMin } from '../../src/runtime.ts';
import { readMigrations } from '../../src/store/engine/migrate.ts';
import { openStore } from '../../src/store/engine/open.ts';
import { aTask, buildersOf, claimAll, hour, nine } from '../support/builders.ts';
import { killHard, storeChild } from '../support/child.ts';
import { countingIds } from '../support/fakes.ts';
import { aStub } from '../support/place.ts';
import { openPooler } from '../support/pooler.ts';
import { freePort } from '../support/ports.ts';
import { freshPostgres } from '../support/postgres.ts';
import { compiledOnce, sourceFlags } from '../support/sources.ts';
import { aPlace, expectFinding } from './doctor-place.ts';
import { databaseAt, openedAt, openings, placeIn } from './place.ts';

describe('doctor in a new folder', () => {
  it('finds nothing wrong, and leaves nothing behind', async () => {
    const { look, folder, type } = await aPlace();
    const { diagnosis, exitCode } = await look('--offline');
    expect(diagnosis.checks.filter(({ level }) => level !== 'ok')).toEqual([]);
    expect([exitCode, diagnosis.ok]).toEqual([0, true]);
    expect(readdirSync(folder)).toEqual([]);
    const { out } = await type('doctor', '--offline');
    expect(out).toContain('Everything is well.');
    expect(out.split('\n').filter((line) => line.length > 80)).toEqual([]);
  });

  it('leaves a database as it is', async () => {
    const { look, database } = await aPlace();
    await databaseAt(database, 2);
    const before = [
      readdirSync(dirname(database)).filter((name) => !/-(?:wal|shm)$/.test(name)),
      statSync(database).mtimeMs,
    ];
    const { found, level } = await look('--offline');
    expect(found('database')[0]?.text).toContain('2 tasks (2 active)');
    expect([level('data_folder'), level('migrations')]).toEqual([['ok'], ['ok']]);
    expect([
      readdirSync(dirname(database)).filter((name) => !/-(?:wal|shm)$/.test(name)),
      statSync(database).mtimeMs,
    ]).toEqual(before);
  });
});

describe('the computer', () => {
  it('an old Node.js is a fault, an old npm is worth a word, and none is no fault', async () => {
    const run = async () => ({ is: 'ran', code: 0, out: '9.8.1\n', err: '' }) as const;
    const node = { path: '/usr/bin/node', version: '22.18.9', zoneRules: '2025c' };
    const old = await (await aPlace({ system: { node, run } })).look('--offline');
    expect([old.level('node'), old.level('npm'), old.exitCode]).toEqual([['fail'], ['warn'], 1]);
    const least = { ...node, version: `${nodeMin}.0` };
    expect((await (await aPlace({ system: { node: least } })).look('--offline')).level('node')).toEqual(['ok']);
    const without = await (await aPlace({ system: { run: async () => ({ is: 'absent' }) } })).look('--offline');
    expect(without.level('npm')).toEqual(['ok']);
  });

  it.each([
    ["Cannot find module '/x/better-sqlite3/build/Release/better_sqlite3.node'", 'is missing', 'npm ci'],
    ['Error: /x/prebuilds/linux-x64.node: invalid ELF header', 'another computer', 'npm ci'],
    ["/lib/libc.so.6: version `GLIBC_2.38' not found (required by /x/linux-x64.node)", 'GLIBC_2.38', 'newer system'],
    ['out of cheese', 'out of cheese', 'npm ci'],
  ])('a driver that says "%s" is mended by one line', async (message, words, fix) => {
    const loadDriver = () => {
      throw new Error(message);
    };
    const { look } = await aPlace({ system: { loadDriver } });
    const [finding] = (await look('--offline')).found('sqlite');
    expect(finding).toMatchObject({ level: 'fail', text: expect.stringContaining(words) as string });
    expect(finding?.fix).toContain(fix);
  });

  it('children that cannot be started are a fault, with the limits that may be too low', async () => {
    const { look } = await aPlace({ system: { childFault: async () => 'spawn EAGAIN' } });
    const { found, exitCode } = await look('--offline');
    expectFinding(found('child_process')[0], 'fail', 'spawn EAGAIN');
    expect([found('child_process')[0]?.fix?.includes('ulimit -u'), exitCode]).toEqual([true, 1]);
  });

  it('rules of time that are older than those of the database are worth a word, newer ones are not', async () => {
    const { look, database } = await aPlace();
    const opened = await openedAt(database, 0);
    await opened.store.writeNote('tz_version', '2099z', 0);
    await opened.close();
    const [older] = (await look('--offline')).found('time_zones');
    expectFinding(older, 'warn', '2099z');
  });
});

it('owners who cannot be told of trouble are named, until they have a private chat or want to hear of none', async () => {
  const { look, database } = await aPlace();
  const change = async (act: (store: Awaited<ReturnType<typeof openedAt>>['store']) => Promise<unknown>) => {
    const opened = await openedAt(database, 0);
    await act(opened.store);
    await opened.close();
    return (await look('--offline')).found('alarms')[0];
  };
  expect(await change((store) => store.changeUser('telegram:user:7', { role: 'owner' }, 0))).toMatchObject({
    level: 'warn',
    text: expect.stringContaining('telegram:user:7 cannot be told') as string,
  });
  const chat = { newId: 'c', address: '7', title: null, kind: 'private', at: 0 };
  expect(await change((store) => store.noteChat(chat))).toMatchObject({ level: 'ok' });
  expect(await change((store) => store.changeChat('c', { state: 'gone' }, 0))).toMatchObject({ level: 'warn' });
  expect(await change((store) => store.writeNote('alarms:telegram:user:7', '"off"', 0))).toMatchObject({ level: 'ok' });
});

describe('the configuration', () => {
  it('is told with every fault, and the rest is looked at all the same', async () => {
    const { look } = await aPlace({
      environment: { MIN_INTERVAL: 'often', TELEGRAM_OWNER: '1', TELEGRAM_WEBHOOK_URL: 'https://a.example/x' },
    });
    const { found, level, exitCode } = await look('--offline');
    expect(found('configuration').map((each) => [each.level, each.text.split(' ')[0]])).toEqual([
      ['fail', 'MIN_INTERVAL'],
      ['fail', 'TELEGRAM_WEBHOOK_SECRET'],
      ['warn', 'TELEGRAM_OWNER'],
    ]);
    expect([level('disk'), exitCode]).toEqual([['ok'], 1]);
  });

  it('a token of the API that can be guessed is a fault where others can ask', async () => {
    const weak = await (await aPlace({ environment: { API_TOKEN: 'secret' } })).look('--offline');
    const long = { API_TOKEN: 'secret'.repeat(8), HTTP_HOST: '0.0.0.0' };
    const open = await (await aPlace({ environment: long })).look('--offline');
    expect([weak.level('api_token'), open.level('api_token')]).toEqual([['warn'], ['fail']]);
    expect(weak.out).not.toContain('secret"');
  });

  it('files that others can read are named, with the line that closes them', async () => {
    const { look, folder, database } = await aPlace();
    await databaseAt(database, 0);
    writeFileSync(join(folder, '.env'), 'A=1\n', { mode: 0o644 });
    writeFileSync(join(dirname(database), 'api-token'), 'x'.repeat(40), { mode: 0o644 });
    chmodSync(database, 0o644);
    const { found } = await look('--offline');
    expect(['env_file', 'api_token', 'data_folder'].map((check) => found(check)[0]?.level)).toEqual([
      'warn',
      'warn',
      'warn',
    ]);
    expect(found('env_file')[0]?.fix).toBe('chmod 600 .env');
  });

  it('retention that just outlives the longest retry is worth a word', async () => {
    const { look } = await aPlace({ environment: { RETENTION_DAYS: '17' } });
    expect((await look('--offline')).level('retention')).toEqual(['warn']);
  });
});

describe('the database', () => {
  it.each([
    [
      'damaged',
      (file: string) => {
        const whole = readFileSync(file);
        writeFileSync(file, whole.fill(7, 8192, whole.length - 4096));
      },
    ],
    ['foreign', (file: string) => writeFileSync(file, 'x'.repeat(5000))],
  ])('that is %s is a fault with a way out', async (_name, spoil) => {
    const { look, database } = await aPlace();
    await databaseAt(database, 0);
    spoil(database);
    const { found, exitCode } = await look('--offline');
    expect([found('database')[0]?.level, exitCode]).toEqual(['fail', 1]);
    expect(found('database')[0]?.fix).not.toBe('');
  });

  it('of a newer version is a fault, of an older one is brought up to date by the next start', async () => {
    const { look, database } = await aPlace();
    mkdirSync(dirname(database), { recursive: true });
    const older = readMigrations('sqlite').slice(0, 4);
    const made = new Database(database).exec('create table schema_migrations (name text, applied_at integer)');
    const note = made.prepare('insert into schema_migrations values (?, 1)');
    for (const { name, statements } of older) {
      for (const statement of statements) made.exec(statement);
      note.run(name);
    }
    expectFinding((await look('--offline')).found('migrations')[0], 'ok', '0004');
    note.run('9999_future');
    expect((await look('--offline')).level('migrations')).toEqual(['fail']);
    made.close();
  });

  it('on a Postgres server that is away is a fault that shows no password', async () => {
    const { look } = await aPlace({ environment: { DATABASE_URL: 'postgres://me:s3cret-word@127.0.0.1:1/x' } });
    const { found, out, diagnosis } = await look('--offline');
    expect(found('database')[0]).toMatchObject({ level: 'fail' });
    expect(diagnosis.skipped.map(({ check }) => check)).toContain('backups');
    expect(out).not.toContain('s3cret-word');
  });

  it('behind a pooler that lends its connections by the transaction is told what is missing there', async () => {
    const postgres = await freshPostgres();
    const pooler = await openPooler(postgres.url, 'transaction');
    onTestFinished(async () => {
      pooler.close();
      await postgres.drop();
    });
    const lookWith = async (environment: Readonly<Record<string, string>>) => {
      const { look } = await aPlace({ environment: { DATABASE_URL: pooler.url, ...environment } });
      return (await look('--offline')).found('connections');
    };
    expect(await lookWith({ ENGINE: 'embedded' })).toMatchObject([
      { level: 'fail', fix: 'Give the address of the Postgres server itself.' },
    ]);
    expect(await lookWith({})).toMatchObject([
      { level: 'warn', fix: expect.stringContaining('DATABASE_DIRECT_URL') as string },
    ]);
    expect(await lookWith({ DATABASE_DIRECT_URL: postgres.url })).toMatchObject([{ level: 'ok' }]);
  });

  it('on a Postgres server is looked at there, with whoever has it', async () => {
    const postgres = await freshPostgres();
    const { url } = postgres;
    onTestFinished(() => postgres.drop());
    const { look } = await aPlace({ environment: { DATABASE_URL: url } });
    expect((await look('--offline')).found('database')[0]?.text).toMatch(/^Postgres [\d.]+.*: empty/);
    const opened = await openStore({ url, ...openings });
    const { found, level } = await look('--offline');
    expect(found('database')[0]?.text).toMatch(/^Postgres [\d.]+.*: whole, .*0 tasks/);
    expect(found('callers')).toMatchObject([
      { level: 'ok', text: expect.stringContaining('cronogram_caller') as string },
    ]);
    expect(found('lock')[0]?.text).toContain(`process ${process.pid} on here has the database`);
    expect(level('migrations')).toEqual(['ok']);
    await opened.close();
    expect((await look('--offline')).found('lock')[0]?.text).toBe('none runs on this database');
  });

  it('that several processes share tells of each, whether their connections fit, and which kinds are paused', async () => {
    const postgres = await freshPostgres();
    const { url } = postgres;
    onTestFinished(() => postgres.drop());
    const { look } = await aPlace({ environment: { DATABASE_URL: url } });
    const opened = await openStore({ url, ...openings, shared: { onStandby: () => {} } });
    onTestFinished(() => opened.close());
    const seen = async () => {
      const { found } = await look('--offline');
      return (['processes', 'pool', 'kinds'] as const).map((check) =>
        found(check).map(({ level, text }) => `${level}: ${text}`),
      );
    };
    expect((await seen())[0]).toEqual(['ok: none runs on this database']);
    const enrol = (id: string, facts: object = {}) =>
      opened.store.enrol(
        {
          id,
          role: 'worker',
          release: '1.2.3',
          kinds: ['http', 'message'],
          host: 'garden',
          pid: 7,
          at: null,
          leaseMs: hour,
          connections: 20,
          ...facts,
        },
        false,
      );
    await enrol('boot-a');
    await enrol('boot-b', { role: 'api', kinds: [], pid: 8 });
    expect(await seen()).toEqual([
      [
        expect.stringMatching(/^ok: worker 1\.2\.3 on garden, pid 7, http message, seen .* ago$/),
        expect.stringMatching(/^ok: api 1\.2\.3 on garden, pid 8, seen .* ago$/),
      ],
      [expect.stringMatching(/^ok: 2 processes may open 40, of \d+ that the server gives/)],
      ['ok: none is paused'],
    ]);

    await enrol('boot-c', { release: '1.3.0', connections: 1000 });
    await opened.store.pauseKind({ kind: 'http', by: 'telegram:user:1', at: nine, traceId: null });
    const [processes = [], pool = [], kinds = []] = await seen();
    expect(processes.at(-1)).toBe('warn: Different versions run side by side: 1.2.3, 1.3.0.');
    expect(pool).toEqual([expect.stringMatching(/^warn: 3 processes may open 1040, of .*: too few\.$/)]);
    expect(kinds).toEqual([
      expect.stringMatching(/^warn: http is paused since .*, by telegram:user:1: its runs wait\.$/),
    ]);

    for (const id of ['boot-a', 'boot-c']) await opened.store.retire(id, null);
    await enrol('boot-d', { leaseMs: -1 });
    expect((await seen())[0]).toEqual([
      expect.stringContaining('ok: api'),
      expect.stringMatching(/^warn: worker 1\.2\.3 on garden, .* does not renew its lease\.$/),
      'warn: No worker is alive: everything but running goes on.',
    ]);

    const place = { store: opened.store, make: buildersOf(countingIds('doctor')) };
    await aTask(place);
    await claimAll(place, { now: nine, limit: 10 });
    await opened.store.retire('boot-d', null);
    await enrol('boot-e', { kinds: ['http'] });
    expect((await seen())[0]?.at(-1)).toBe('warn: 1 run of message waits, and no worker that lives does this kind.');
    await enrol('boot-f', { kinds: ['message'] });
    expect((await seen())[0]?.at(-1)).toContain('ok: worker');
  });

  it('without a fresh backup is worth a word', async () => {
    const { look, database, json } = await aPlace();
    await databaseAt(database, 0);
    expect((await look('--offline')).level('backups')).toEqual(['ok']);
    const { file } = await json<{ file: string }>('backup');
    expect((await look('--offline')).level('backups')).toEqual(['ok']);
    const old = Date.now() / 1000 - 5 * 86_400;
    utimesSync(file, old, old);
    expectFinding((await look('--offline')).found('backups')[0], 'warn', '5 days old');
  });

  it('held by a process is told by its number, and is free when that one was killed', async () => {
    const { look, database } = await aPlace();
    mkdirSync(dirname(database), { recursive: true });
    const child = storeChild('hold', `file:${database}`);
    expect(await child.line()).toBe('held');
    const { found } = await look('--offline');
    expect(found('lock')[0]?.text).toContain(`process ${child.process.pid} on child has the database`);
    expect(found('http')[0]).toMatchObject({ level: 'warn' });
    await killHard(child);
    expect((await look('--offline')).found('lock')[0]?.text).toBe('none runs on this database');
  });
});

describe('the server of this folder', () => {
  it('is looked at while it runs, and doctor takes nothing from it', async () => {
    const place = await aPlace();
    const { HTTP_PORT: port } = { HTTP_PORT: String(place.here.settings().config.HTTP_PORT) };
    const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
    const server = spawn(process.execPath, [...sourceFlags, main], {
      cwd: place.folder,
      env: { PATH: '/usr/bin:/bin', ...compiledOnce, HTTP_PORT: port, DATABASE_URL: `file:${place.database}` },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void server.kill('SIGKILL'));
    let said = '';
    await new Promise<void>((resolve) =>
      server.stdout.on('data', (chunk: Buffer) => {
        said += String(chunk);
        if (said.includes('"started"')) resolve();
      }),
    );
    const { found, level } = await place.look();
    expect(found('lock')[0]?.text).toContain(`process ${server.pid} has the database`);
    expectFinding(found('http')[0], 'warn', 'but 1.2.3 is installed');
    expect([level('database'), level('api_token'), level('data_folder')]).toEqual([['ok'], ['ok'], ['ok']]);
    expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200);
  });

  it('and a port that another program has is a fault', async () => {
    const address = await aStub((_request, response) => void response.end('{"name":"something else"}'));
    const { look } = await aPlace({ environment: { HTTP_PORT: new URL(address).port } });
    expectFinding((await look('--offline')).found('http')[0], 'fail', 'another program');
  });

  it('and a port that the server of another folder has is a fault', async () => {
    const bodies: Record<string, object> = { '/version': { name: 'cronogram', version: '1.2.3' } };
    const address = await aStub(
      (request, response) => void response.end(JSON.stringify(bodies[request.url ?? ''] ?? { ok: true })),
    );
    const { look } = await aPlace({ environment: { HTTP_PORT: new URL(address).port } });
    expectFinding((await look('--offline')).found('http')[0], 'fail', 'works in another folder');
  });

  it('that answers and is not ready is a fault, with what is not well, and no secret in it', async () => {
    const apiToken = 'a-token-that-nobody-can-guess-0123';
    const answers: Record<string, readonly [number, object]> = {
      '/version': [200, { name: 'cronogram', version: '1.2.3' }],
      '/livez': [200, { ok: true }],
      '/readyz': [503, { ok: false, database: `disk full at ${apiToken}`, telegram: 'ok' }],
    };
    const address = await aStub((request, response) => {
      const [status, body] = answers[request.url ?? ''] ?? [404, {}];
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
    const { look } = await aPlace({ environment: { HTTP_PORT: new URL(address).port, API_TOKEN: apiToken } });
    const [finding] = (await look('--offline')).found('http');
    expectFinding(finding, 'fail', 'database disk full at [hidden]');
    expect(finding?.text).not.toContain('telegram');
  });
});

it('doctor looks from the folder it is given, and sees a database that another place made', async () => {
  const { folder, database } = await aPlace();
  await databaseAt(database, 1);
  const there = placeIn(folder, { environment: { HTTP_PORT: String(await freePort()) } });
  const { out } = await there.type('doctor', '--offline');
  expect(out).toContain('1 task (1 active)');
  expect(existsSync(join(folder, '.env'))).toBe(false);
});
