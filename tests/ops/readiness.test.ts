import { join } from 'node:path';
import type { Database } from 'better-sqlite3';
import DatabaseFile from 'better-sqlite3';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Store } from '../../src/app/ports/store.ts';
import { createApi, createPhase } from '../../src/compose/api.ts';
import { composeRooms } from '../../src/compose/assembly.ts';
import { createLoops } from '../../src/compose/loops.ts';
import { readConfig } from '../../src/config/config.ts';
import { openSqlite, sqliteEngine } from '../../src/store/engine/sqlite.ts';
import { createStore } from '../../src/store/engine/store.ts';
import { countingIds, faultyTransport, manualTime, memoryLog, minute, second } from '../support/fakes.ts';
import { freshSqliteFile } from '../support/fresh-sqlite.ts';
import { actor, settings, start } from '../support/pipeline.ts';
import { aFolder } from '../support/place.ts';
import { drift } from '../support/server.ts';
import { openBotApi } from './bot-api.ts';
import { aServer, type Probe } from './place.ts';

/** The rooms, their loops and the door over a real database, whose methods a test may put its own in the place of. */
async function aPlace(own: (store: Store) => Partial<Store> = () => ({}), phase = createPhase(memoryLog())) {
  const folder = aFolder();
  const file = join(folder, 'c.db');
  await freshSqliteFile(file);
  const database = openSqlite(file);
  database.pragma('busy_timeout = 1');
  const real = createStore(sqliteEngine(database));
  const store = { ...real, ...own(real) };
  const time = manualTime(start);
  const log = memoryLog();
  const world = { clock: time, stopwatch: time, timer: time, ids: countingIds(), log };
  const rooms = composeRooms(settings, world, { store, transport: (budget) => faultyTransport().within(budget) });
  const loops = createLoops(settings, { world, rooms });
  const read = readConfig({ API_TOKEN: 'the-token-of-the-tests', DATABASE_URL: `file:${file}` });
  if ('faults' in read) throw new Error(JSON.stringify(read.faults));
  const { app } = createApi(read.config, { world, rooms, store, loops, version: '0', watched: [], phase });
  for (const loop of loops) loop.start();
  onTestFinished(async () => {
    const stopped = Promise.all(loops.map((loop) => loop.stop()));
    await time.advance(minute);
    await stopped;
    await real.close();
  });
  const probe = async (path: string): Promise<Probe> => {
    const answer = await app.request(path);
    return { status: answer.status, body: (await answer.json()) as Probe['body'] };
  };
  const pass = (ms: number) => drift(time, ms);
  return { database, file, rooms, time, log, probe, pass, phase };
}

function otherConnection(file: string): Database {
  const other = new DatabaseFile(file);
  onTestFinished(() => {
    other.close();
  });
  return other;
}

describe('readiness', () => {
  it('says no until the start is complete and from the first moment of a stop on', async () => {
    const { probe, pass, phase } = await aPlace();
    await pass(second);
    expect(await probe('/readyz')).toMatchObject({
      status: 503,
      body: { ok: false, server: 'starting', database: 'ok' },
    });
    phase.run();
    expect(await probe('/readyz')).toMatchObject({ status: 200, body: { ok: true, server: 'ok' } });
    phase.stop();
    expect(await probe('/readyz')).toMatchObject({ status: 503, body: { ok: false, server: 'stopping' } });
    expect((await probe('/livez')).status).toBe(200);
  });

  it('says no while a step of a loop hangs, and yes when it goes on', async () => {
    let letGo = () => {};
    let hangs = false;
    const place = await aPlace((store) => ({
      claimDue: async (at, plan) => {
        if (hangs) await new Promise<void>((resolve) => (letGo = resolve));
        return store.claimDue(at, plan);
      },
    }));
    place.phase.run();
    await place.pass(second);
    expect((await place.probe('/readyz')).body).toMatchObject({ ok: true, scheduler: 'ok' });
    hangs = true;
    await place.pass(3 * minute);
    expect(await place.probe('/readyz')).toMatchObject({
      status: 503,
      body: { ok: false, scheduler: 'stuck', runner: 'ok' },
    });
    expect((await place.probe('/livez')).status).toBe(200);
    await place.pass(8 * minute);
    expect((await place.probe('/livez')).status).toBe(503);
    hangs = false;
    letGo();
    await place.pass(2 * second);
    expect(await place.probe('/readyz')).toMatchObject({ status: 200, body: { ok: true, scheduler: 'ok' } });
    expect((await place.probe('/livez')).status).toBe(200);
  });

  it('says no while another process holds the database, which is no reason to be restarted', async () => {
    const place = await aPlace();
    place.phase.run();
    const other = otherConnection(place.file);
    await place.pass(second);
    other.exec('begin immediate');
    await place.pass(3 * second);
    const held = await place.probe('/readyz');
    expect(held).toMatchObject({ status: 503, body: { ok: false, database: 'failing' } });
    expect(JSON.stringify(held.body)).not.toMatch(/SQLITE|locked|\//);
    // Every step fails meanwhile, and that for longer than a loop may stand still.
    await place.pass(12 * minute);
    expect((await place.probe('/livez')).status).toBe(200);
    other.exec('rollback');
    await place.pass(20 * second);
    expect(await place.probe('/readyz')).toMatchObject({ status: 200, body: { ok: true, database: 'ok' } });
  });

  it('says no while the database is full, and yes when there is room again', async () => {
    const place = await aPlace();
    place.phase.run();
    for (let number = 0; number < 20; number += 1) {
      await place.rooms.tasks.create({
        threadKey: 'cli:default',
        actor,
        idempotencyKey: null,
        input: { instructions: 'x'.repeat(4000), schedule: { kind: 'interval', interval: 'PT1M', timezone: 'UTC' } },
      });
    }
    const pages = Number(place.database.pragma('page_count', { simple: true }));
    place.database.pragma(`max_page_count = ${pages}`);
    await place.pass(10 * minute);
    const full = await place.probe('/readyz');
    expect(full).toMatchObject({ status: 503, body: { ok: false } });
    expect(
      place.log.lines.some(({ event, facts }) => event === 'step_failed' && /FULL/.test(String(facts['error']))),
    ).toBe(true);
    place.database.pragma('max_page_count = 1000000');
    await place.pass(30 * second);
    expect(await place.probe('/readyz')).toMatchObject({ status: 200, body: { ok: true } });
  });

  it('says no when the database does not answer, without making anybody wait for it', async () => {
    let hangs = false;
    let letGo = () => {};
    let pings = 0;
    const place = await aPlace((store) => ({
      ping: async (now) => {
        pings += 1;
        if (hangs) await new Promise<void>((resolve) => (letGo = resolve));
        return store.ping(now);
      },
    }));
    place.phase.run();
    hangs = true;
    const asked = place.probe('/readyz');
    await place.pass(5 * second);
    expect(await asked).toMatchObject({ status: 503, body: { ok: false, database: 'stuck' } });
    const again = [place.probe('/readyz'), place.probe('/readyz')];
    await place.pass(5 * second);
    expect((await Promise.all(again)).map(({ status }) => status)).toEqual([503, 503]);
    expect(pings).toBe(1);
    hangs = false;
    letGo();
    await place.pass(2 * second);
    expect((await place.probe('/readyz')).status).toBe(200);
  });
});

describe('readiness and Telegram', () => {
  it.each(['hang', 'unauthorized', 'conflict', 'cut', 'htmlWithPath', 'errorWithPath'] as const)(
    'says no while getUpdates meets "%s", and yes when that is over',
    async (how) => {
      const telegram = await openBotApi();
      const { becomes, probe } = await aServer(telegram);
      await becomes(200);
      telegram.behave('getUpdates', how);
      expect(await becomes(503)).toMatchObject({
        body: { ok: false, telegram: 'failing', scheduler: 'ok', database: 'ok' },
      });
      expect((await probe('/livez')).status).toBe(200);
      telegram.behave('getUpdates', 'ok');
      expect(await becomes(200)).toMatchObject({ body: { ok: true, telegram: 'ok', server: 'ok' } });
    },
  );

  it('says no until it is known who the bot is', async () => {
    const telegram = await openBotApi();
    telegram.behave('getMe', 'cut');
    const { becomes, probe } = await aServer(telegram);
    expect(await probe('/readyz')).toMatchObject({ status: 503, body: { telegram: 'failing' } });
    telegram.behave('getMe', 'ok');
    await becomes(200);
  });
});

describe('a server that stops', () => {
  it('says so to whoever watches it and to whoever wants something, and lets what is under way come to its end', async () => {
    const telegram = await openBotApi();
    const { server, becomes, probe, pass, stop } = await aServer(telegram);
    await becomes(200);
    const when = new Date(start + 2 * minute).toISOString();
    const made = await fetch(`${server.url}/v1/threads/telegram:chat:1001/tasks`, {
      method: 'POST',
      headers: { authorization: 'Bearer the-token-of-the-tests', 'content-type': 'application/json' },
      body: JSON.stringify({ instructions: 'Hello', schedule: { kind: 'once', once_at: when, timezone: 'UTC' } }),
    });
    expect(made.status).toBe(201);
    telegram.behave('sendMessage', 'hang');
    telegram.behave('createForumTopic', 'hang');
    while (!telegram.asked.some((method) => /^(?:sendMessage|createForumTopic)$/.test(method))) await pass(second);
    const stopping = stop();
    expect(await probe('/readyz')).toMatchObject({ status: 503, body: { ok: false, server: 'stopping' } });
    expect(await probe('/v1/tasks')).toMatchObject({ status: 503, body: { error: { code: 'stopping' } } });
    expect((await probe('/livez')).status).toBe(200);
    await stopping;
    await expect(fetch(`${server.url}/livez`)).rejects.toThrow('fetch failed');
  });
});
