import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { heartbeatMs, slowReaderMs, streamsMax } from '../../src/http/events.ts';
import { nine } from '../support/builders.ts';
import { manualTime } from '../support/fakes.ts';
import { soon } from '../support/patience.ts';
import { worldsOf } from '../support/store-worlds.ts';
import { told as answered, bearer } from './door.ts';
import { aListeningPlace, orderOf, told, type Client, type Place } from './listening.ts';

const refs = ({ events }: Client) => events.map(({ data }) => data.ref);
const sse = { ...bearer, accept: 'text/event-stream' };
const ended = ({ log }: Place) => log.lines.filter(({ event, facts }) => event === 'http_request' && 'ended' in facts);

describe('the stream of events', () => {
  it('tells what was, and goes on with what comes', async () => {
    const place = await aListeningPlace();
    await place.tell({ ref: 'a', taskId: 'task-1', data: { text: 'one\ntwo' } }, { ref: 'b', kind: 'run.failed' });
    const client = await place.listen();
    expect(client.answer.statusCode).toBe(200);
    expect(client.answer.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      'x-request-id': expect.any(String) as string,
    });
    expect(client.answer.headers['content-encoding']).toBeUndefined();
    await client.until(() => client.events.length === 2);
    await place.tell({ ref: 'c', kind: 'task.pause' });
    await client.until(() => client.events.length === 3);
    const page = await answered(await fetch(`${place.url}/v1/events`, { headers: bearer }));
    const { events } = page.json as unknown as { events: readonly { cursor: string; kind: string }[] };
    expect(client.events.map(({ data }) => data)).toEqual(events);
    expect(client.events.map(({ id, kind }) => [id, kind])).toEqual(events.map(({ cursor, kind }) => [cursor, kind]));
    expect(client.retry()).toBe('2000');
    // A connection that breaks within the first piece must not leave an id behind of an event that did not arrive.
    expect(/^id: (.*)$/m.exec(client.text())?.[1]).toBe(events[0]?.cursor);
  });

  it('begins behind the Last-Event-ID, which goes before the query', async () => {
    const place = await aListeningPlace();
    await place.tell({ ref: 'a' }, { ref: 'b' }, { ref: 'c' });
    const all = await place.listen();
    await all.until(() => all.events.length === 3);
    const [first, second] = all.events.map(({ id }) => id);
    const behind = await place.listen(`/v1/events?after=${first}`);
    await behind.until(() => behind.events.length === 2);
    expect(refs(behind)).toEqual(['b', 'c']);
    const resumed = await place.listen(`/v1/events?after=${first}`, { 'last-event-id': second ?? '' });
    await resumed.until(() => resumed.events.length === 1);
    expect(refs(resumed)).toEqual(['c']);
    const live = await place.listen('/v1/events?after=latest');
    await live.until(() => live.lastId() !== '');
    expect(live.lastId()).toBe(all.events.at(-1)?.id);
    await place.tell({ ref: 'd' });
    await live.until(() => live.events.length === 1);
    expect(refs(live)).toEqual(['d']);
  });

  it('of one task or of some kinds tells no other event, and moves on past them', async () => {
    const time = manualTime(nine);
    const place = await aListeningPlace({ timer: time });
    await place.tell(
      { ref: 'a', kind: 'run.started', taskId: 't1' },
      { ref: 'b', kind: 'delivery.failed', taskId: 't1' },
    );
    const runs = await place.listen('/v1/events?kind=run.');
    const failed = await place.listen('/v1/events?kind=delivery.failed');
    const mine = await place.listen('/v1/events?task_id=t2');
    const clients = [runs, failed, mine];
    await Promise.all(clients.map((client) => client.until(() => client.lastId() !== '')));
    await place.tell(
      { ref: 'c', kind: 'run.failed', taskId: 't2' },
      { ref: 'd', kind: 'gap.recorded', taskId: 't2' },
      { ref: 'e', kind: 'task.pause', taskId: 't1' },
    );
    await time.advance(100);
    await runs.until(() => runs.events.length === 2);
    await mine.until(() => mine.events.length === 2);
    expect(clients.map(refs)).toEqual([['a', 'c'], ['b'], ['c', 'd']]);
    await soon(async () => {
      await time.advance(heartbeatMs);
      expect(new Set(clients.map(({ lastId }) => lastId())).size).toBe(1);
    });
    const page = await answered(await fetch(`${place.url}/v1/events?kind=run.`, { headers: bearer }));
    expect((page.json as unknown as { events: { ref: string }[] }).events.map(({ ref }) => ref)).toEqual(['a', 'c']);
  });

  it.each([
    ['/v1/events?after=nonsense', {}, 'invalid_cursor'],
    ['/v1/events', { 'last-event-id': 'nonsense' }, 'invalid_cursor'],
    ['/v1/events', { 'last-event-id': 'x'.repeat(300) }, 'invalid_cursor'],
    ['/v1/events?kind=runs', {}, 'invalid_request'],
    ['/v1/events?limit=0', {}, 'invalid_request'],
    ['/v1/events?before=1', {}, 'invalid_request'],
  ])('refuses %s before it begins', async (path, headers, code) => {
    const place = await aListeningPlace();
    const { status, json } = await answered(await fetch(`${place.url}${path}`, { headers: { ...sse, ...headers } }));
    expect([status, json.error.code]).toEqual([400, code]);
    expect(place.reads()).toBeLessThanOrEqual(2);
  });

  it('needs the token, and answers pages to whoever takes no stream', async () => {
    const place = await aListeningPlace();
    expect((await fetch(`${place.url}/v1/events`, { headers: { accept: 'text/event-stream' } })).status).toBe(401);
    for (const accept of ['application/json', '*/*', 'text/*']) {
      const answer = await fetch(`${place.url}/v1/events`, { headers: { ...bearer, accept } });
      expect(answer.headers.get('content-type'), accept).toBe('application/json');
      await answer.text();
    }
    const head = await fetch(`${place.url}/v1/events`, { method: 'HEAD', headers: sse });
    expect([head.status, head.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
    expect(ended(place)).toEqual([]);
  });

  it('finds out by itself what another process has written', async () => {
    const time = manualTime(nine);
    const place = await aListeningPlace({ timer: time, hints: false });
    const client = await place.listen();
    await client.until(() => client.lastId() !== '');
    await place.tell({ ref: 'a' });
    await time.advance(1000);
    await client.until(() => client.events.length === 1);
    expect(refs(client)).toEqual(['a']);
  });

  it('shows by a beat that it lives', async () => {
    const time = manualTime(nine);
    const place = await aListeningPlace({ timer: time });
    const client = await place.listen();
    await client.until(() => client.lastId() !== '');
    await soon(async () => {
      await time.advance(heartbeatMs);
      expect(client.text()).toContain(': still here\n');
    });
    expect(client.events).toEqual([]);
  });

  it('looks once for several commits in a row, each second by itself, and not at all when nobody listens', async () => {
    const time = manualTime(nine);
    const place = await aListeningPlace({ timer: time });
    const client = await place.listen();
    // The first page, and the look that finds its end.
    await soon(() => expect(place.reads()).toBe(2));
    for (const ref of ['a', 'b', 'c']) await place.tell({ ref });
    await time.advance(100);
    await client.until(() => client.events.length === 3);
    await soon(() => expect(place.reads()).toBe(4));
    for (let second = 1; second <= 5; second += 1) {
      await time.advance(1000);
      await soon(() => expect(place.reads()).toBe(4 + second));
    }
    client.leave();
    await soon(() => expect(ended(place)).toHaveLength(1));
    const before = place.reads();
    await place.tell({ ref: 'd' });
    await time.advance(60_000);
    expect(place.reads()).toBe(before);
  });

  it('is told of in the log once, when it has ended', async () => {
    const place = await aListeningPlace();
    await place.tell({ ref: 'a' });
    const client = await place.listen('/v1/events', { 'x-request-id': 'trace-1' });
    await client.until(() => client.events.length === 1);
    expect(place.log.lines.filter(({ event }) => event === 'http_request')).toEqual([]);
    client.leave();
    await soon(() => expect(ended(place)).toHaveLength(1));
    expect(place.log.lines.filter(({ event }) => event === 'http_request')).toMatchObject([
      { facts: { route: '/v1/events', status: 200, request_id: 'trace-1', ended: 'client', events: 1 } },
    ]);
  });

  it('is refused beyond a limit, and has room again when one has left', async () => {
    const place = await aListeningPlace();
    const clients: Client[] = [];
    for (let count = 0; count < streamsMax; count += 1) clients.push(await place.listen());
    const refused = await answered(await fetch(`${place.url}/v1/events`, { headers: sse }));
    expect([refused.status, refused.json.error.code, refused.headers.get('retry-after')]).toEqual([
      429,
      'rate_limited',
      '60',
    ]);
    clients[0]?.leave();
    await soon(() => expect(ended(place)).toHaveLength(1));
    const next = await place.listen();
    expect(next.answer.statusCode).toBe(200);
    for (const client of [...clients, next]) client.leave();
    await soon(() => expect(ended(place)).toHaveLength(streamsMax + 1));
  });
});

/** A client whose writes do not arrive before it leaves. */
function aStuckClient() {
  let leave = () => {};
  const left = new Promise<void>((resolve) => {
    leave = resolve;
  });
  return { write: () => left, onAbort: () => {}, abort: () => leave() };
}

describe('a client that does not read', () => {
  it('holds nothing back but itself', async () => {
    const time = manualTime(nine);
    const place = await aListeningPlace({ timer: time });
    const dropped = vi.fn<() => void>();
    const stream = await place.streams.open({ after: null, taskId: null, kind: null }, place.listener(dropped));
    void stream.tell(aStuckClient());
    for (let turn = 0; turn < 50; turn += 1) await place.tell(...Array.from({ length: 100 }, () => ({ ref: 'x' })));
    const before = place.reads();
    const other = await place.listen('/v1/events?after=latest');
    await other.until(() => other.lastId() !== '');
    await place.tell({ ref: 'y' });
    await time.advance(100);
    await other.until(() => other.events.length === 1);
    // Nothing was read ahead for it.
    expect(place.reads() - before).toBeLessThan(10);
    await time.advance(slowReaderMs);
    expect(dropped).toHaveBeenCalledTimes(1);
    expect(await stream.ended).toEqual({ ended: 'slow', events: 0 });
  });

  it('loses its connection', async () => {
    const time = manualTime(nine);
    const place = await aListeningPlace({ timer: time });
    const long = 'x'.repeat(1000);
    for (let turn = 0; turn < 40; turn += 1) {
      await place.tell(...Array.from({ length: 500 }, () => ({ ref: 'x', data: { long } })));
    }
    const client = await place.listen();
    client.answer.pause();
    await soon(async () => {
      await time.advance(slowReaderMs);
      expect(ended(place)).toMatchObject([{ facts: { ended: 'slow' } }]);
    });
    client.answer.resume();
    await client.until(() => false);
    expect(client.answer.complete).toBe(false);
    expect(client.events.length).toBeLessThan(20_000);
  });
});

describe('a stop', () => {
  it('tells the clients when to come back, and waits for no stream', async () => {
    const place = await aListeningPlace();
    await place.tell({ ref: 'a' });
    const clients = [await place.listen(), await place.listen('/v1/events?after=latest')];
    for (const client of clients) await client.until(() => client.lastId() !== '');
    await place.close();
    for (const client of clients) {
      await client.until(() => false);
      expect([client.retry(), client.answer.complete]).toEqual(['5000', true]);
    }
    expect(ended(place).map(({ facts }) => facts['ended'])).toEqual(['stopping', 'stopping']);
  });

  it('does not wait for a client that reads nothing', async () => {
    const time = manualTime(nine);
    const place = await aListeningPlace({ timer: time });
    const stream = await place.streams.open({ after: null, taskId: null, kind: null }, place.listener());
    const client = aStuckClient();
    void stream.tell(client);
    const closed = place.streams.close();
    await time.advance(1000);
    await closed;
    client.abort();
  });
});

describe('a store that is away', () => {
  it('is told before a stream begins', async () => {
    const place = await aListeningPlace();
    place.breakStore();
    const { status, json, headers } = await answered(await fetch(`${place.url}/v1/events`, { headers: sse }));
    expect([status, json.error.code, headers.get('retry-after')]).toEqual([503, 'store_unavailable', '5']);
  });

  it('ends the streams, which can go on when it is back', async () => {
    const time = manualTime(nine);
    const place = await aListeningPlace({ timer: time });
    const client = await place.listen();
    await client.until(() => client.lastId() !== '');
    await soon(() => expect(place.reads()).toBe(2));
    place.breakStore();
    await time.advance(1000);
    await client.until(() => false);
    expect(client.answer.complete).toBe(true);
    await soon(() => expect(ended(place)).toMatchObject([{ facts: { ended: 'failed' } }]));
    expect(place.log.lines.filter(({ event }) => event === 'event_stream_failed')).toMatchObject([
      { level: 'warn', facts: { error: 'The database is away.' } },
    ]);
  });
});

/** Chances that are alike on every run. */
function chances(state: number): () => number {
  let at = state;
  return () => {
    at = (Math.imul(at, 1_664_525) + 1_013_904_223) >>> 0;
    return at / 2 ** 32;
  };
}

/** Reads until it has so many events, and loses its connection over and over on the way. */
async function unsteady(place: Place, total: number, chance: () => number): Promise<{ seen: string[]; lost: number }> {
  const seen: string[] = [];
  let lastId = '';
  let lost = 0;
  while (seen.length < total) {
    const enough = Math.min(total - seen.length, Math.ceil(chance() * 30));
    const client = await place.listen('/v1/events', lastId === '' ? {} : { 'last-event-id': lastId }, enough);
    await client.until(() => client.events.length >= enough);
    client.leave();
    seen.push(...refs(client));
    lastId = client.lastId();
    lost += 1;
  }
  return { seen, lost };
}

describe('across lost connections', () => {
  const total = 400;

  it('no event is skipped and none told twice', async () => {
    const place = await aListeningPlace();
    const chance = chances(7);
    const clients = Array.from({ length: 5 }, () => unsteady(place, total, chance));
    for (let told = 0; told < total;) {
      const size = Math.min(total - told, Math.ceil(chance() * 9));
      await place.tell(...Array.from({ length: size }, (_, index) => ({ ref: String(told + index) })));
      told += size;
      if (chance() < 0.5) await new Promise((resolve) => setImmediate(resolve));
    }
    const wanted = Array.from({ length: total }, (_, index) => String(index));
    for (const { seen, lost } of await Promise.all(clients)) {
      expect(seen).toEqual(wanted);
      expect(lost).toBeGreaterThan(10);
    }
  });

  const open = worldsOf('postgres');

  it('no event of several processes on Postgres is skipped, and none told twice', async () => {
    const world = await open();
    const place = await aListeningPlace({ engine: world.engine, hints: true });
    const chance = chances(11);
    const clients = Array.from({ length: 3 }, () => unsteady(place, total, chance));
    const writers = Array.from({ length: 4 }, async (_, writer) => {
      for (let turn = 0; turn < total / 4 / 2; turn += 1) {
        const events = [{ ref: `${writer}:${turn}:a` }, { ref: `${writer}:${turn}:b` }];
        // Half of the writers are other processes, which ring no bell here.
        if (writer % 2 === 0) await place.tell(...events);
        else await world.engine.transact(() => told(events));
      }
    });
    await Promise.all(writers);
    const order = (await world.engine.transact(orderOf)).map(({ ref }) => ref);
    expect(order).toHaveLength(total);
    for (const { seen } of await Promise.all(clients)) expect(seen).toEqual(order);
    onTestFinished(() => place.close());
  });
});
