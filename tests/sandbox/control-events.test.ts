import { get as httpGet, type ClientRequest } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { servePages, slotTravel, until } from './control-server.ts';

interface Stream {
  readonly events: { readonly id: string; readonly event: string; readonly data: unknown }[];
  readonly status: () => number | null;
  readonly comments: () => number;
  readonly isOver: () => boolean;
  readonly close: () => void;
}

function listen(port: number, query = '', headers: Readonly<Record<string, string>> = {}): Stream {
  const events: Stream['events'] = [];
  let status: number | null = null;
  let comments = 0;
  let isOver = false;
  let text = '';
  const asked: ClientRequest = httpGet(
    { host: '127.0.0.1', port, path: `/sandbox/control/events${query}`, headers },
    (response) => {
      status = response.statusCode ?? 0;
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
        const blocks = text.split('\n\n');
        text = blocks.pop() ?? '';
        for (const block of blocks) {
          const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1] ?? '';
          if (block.startsWith(':')) comments += 1;
          if (field('event') === '') continue;
          const data: unknown = JSON.parse(field('data'));
          events.push({ id: field('id'), event: field('event'), data });
        }
      });
      response.on('close', () => {
        isOver = true;
      });
    },
  );
  asked.on('error', () => {
    isOver = true;
  });
  onTestFinished(() => {
    asked.destroy();
  });
  return { events, status: () => status, comments: () => comments, isOver: () => isOver, close: () => asked.destroy() };
}

test('a stream greets, then tells what changes and where', async () => {
  const { port, post } = await servePages();
  const stream = listen(port);
  await until(() => stream.events.length === 1);
  expect(stream.events[0]).toMatchObject({ event: 'hello', data: {} });
  await post('say', { as: 'ada', chat: 'ada', text: 'hello' });
  const told = await until(() => stream.events.find(({ event }) => event === 'change'));
  expect(told.data).toEqual({ kind: 'message', chat_id: 1001 });
});

test('a page that was away is told what it missed, and nothing twice', async () => {
  const { port, post } = await servePages();
  const first = listen(port);
  await post('say', { as: 'ada', chat: 'ada', text: 'one' });
  const { id } = await until(() => first.events.find(({ event }) => event === 'change'));
  first.close();
  await post('say', { as: 'ben', chat: 'lab', text: 'two' });
  for (const back of [listen(port, '', { 'last-event-id': id }), listen(port, `?after=${id}`)]) {
    const hello = await until(() => back.events.find(({ event }) => event === 'hello'));
    const missed = back.events.filter(({ event }) => event === 'change');
    expect(missed.map(({ data }) => data)).toContainEqual({ kind: 'message', chat_id: -1_001_000_000_001 });
    expect(missed.map(({ data }) => data)).not.toContainEqual({ kind: 'message', chat_id: 1001 });
    expect(missed.map((each) => each.id)).not.toContain(id);
    expect(hello.id).toBe(missed.at(-1)?.id);
  }
});

test('a page from before a restart, or away for too long, is told to read everything', async () => {
  const { port, post } = await servePages();
  const first = listen(port);
  const { id } = await until(() => first.events[0]);
  const future = id.replace(/\d+$/, '999999');
  for (const after of ['otherboot-1', future, 'nonsense', '']) {
    const stream = listen(port, `?after=${after}`);
    expect((await until(() => stream.events[0])).event).toBe('stale');
  }
  for (let round = 0; round < 1001; round += 1) await post('fault', { kind: 'hang', method: 'getMe' });
  const late = listen(port, `?after=${id}`);
  expect((await until(() => late.events[0])).event).toBe('stale');
});

test('a silent stream beats, so that a dead one is noticed', async () => {
  const { port, time } = await servePages();
  const stream = listen(port);
  await until(() => stream.events.length === 1);
  await time.advance(15_000);
  await until(() => stream.comments() === 1);
  await time.advance(15_000);
  await until(() => stream.comments() === 2);
});

test('a jump is told to every page', async () => {
  const { port, post } = await servePages({ travel: slotTravel([]) });
  const stream = listen(port);
  await until(() => stream.events.length === 1);
  await post('jump', { to: 'PT1H' });
  const told = await until(() => stream.events.find(({ event }) => event === 'change'));
  expect(told.data).toEqual({ kind: 'clock', chat_id: null });
});

test('there is an end to the pages that can watch, and one that leaves makes room', async () => {
  const { port } = await servePages();
  const streams = Array.from({ length: 50 }, () => listen(port));
  await until(() => streams.every(({ events }) => events.length === 1));
  const refused = listen(port);
  expect(await until(() => refused.status())).toBe(429);
  streams[0]?.close();
  await until(() => streams[0]?.isOver());
  const again = async (): Promise<number | null> => {
    const stream = listen(port);
    const status = await until(() => stream.status());
    return status === 200 ? status : again();
  };
  expect(await again()).toBe(200);
});

test('the streams end when the server stops', async () => {
  const { port, stopPages } = await servePages();
  const stream = listen(port);
  await until(() => stream.events.length === 1);
  stopPages();
  await until(() => stream.isOver());
});
