import { expect, test } from 'vitest';
import { lab, noRights, openLab, token, until, type Lab } from './lab.ts';

const sending = { chat_id: lab, text: 'x' };

function texts({ world }: Lab, chat = lab): string[] {
  return world.messages(chat).map(({ text }) => text);
}

/** How a call ends that gets no answer. */
async function broken({ call }: Lab, params: Readonly<Record<string, unknown>> = sending): Promise<string> {
  try {
    await call('sendMessage', params);
    return 'answered';
  } catch (error) {
    return error instanceof Error && error.cause instanceof Error ? String(Reflect.get(error.cause, 'code')) : 'other';
  }
}

test('429 is told with its pause, and the call is not processed', async () => {
  const opened = await openLab();
  opened.world.fault({ kind: '429', method: 'send', count: 1, retryAfter: 7 });
  const answer = await opened.call('sendMessage', sending);
  expect(answer).toMatchObject({
    status: 429,
    description: 'Too Many Requests: retry after 7',
    parameters: { retry_after: 7 },
  });
  expect(answer.headers.get('retry-after')).toBe('7');
  expect(texts(opened)).toEqual([]);
  expect(await opened.outcome('sendMessage', sending)).toBe('ok');
});

test('an error 500 in JSON, and a page of a gateway, leave the call unprocessed', async () => {
  const opened = await openLab();
  opened.world.fault({ kind: '500', method: 'sendMessage', count: 1 });
  opened.world.fault({ kind: 'bad_gateway_html', method: 'sendMessage', count: 1 });
  expect(await opened.outcome('sendMessage', sending)).toBe('500 Internal Server Error');
  const page = await fetch(`${opened.apiRoot}/bot${token}/sendMessage?chat_id=${lab}&text=x`);
  expect([page.status, page.headers.get('content-type')]).toEqual([502, 'text/html']);
  expect(await page.text()).toContain('502 Bad Gateway');
  expect(texts(opened)).toEqual([]);
  expect(opened.world.faults()).toEqual([]);
});

test('a connection breaks before the call is processed, or after', async () => {
  const opened = await openLab();
  opened.world.fault({ kind: 'reset_before', method: '*', count: 1 });
  expect(await broken(opened)).toBe('ECONNRESET');
  expect(texts(opened)).toEqual([]);
  opened.world.fault({ kind: 'reset_after', method: '*', count: 1 });
  expect(await broken(opened)).toBe('ECONNRESET');
  expect(texts(opened)).toEqual(['x']);
});

test.each([
  ['hang', []],
  ['answer_lost', ['x']],
] as const)('%s: nothing is ever answered', async (kind, left) => {
  const opened = await openLab();
  opened.world.fault({ kind, method: 'sendMessage', count: 1 });
  const patience = new AbortController();
  const url = `${opened.apiRoot}/bot${token}/sendMessage?chat_id=${lab}&text=x`;
  const waiting = fetch(url, { signal: patience.signal }).then(
    () => 'answered',
    () => 'gave up',
  );
  await until(() => opened.world.calls().length === 1);
  expect(texts(opened)).toEqual(left);
  patience.abort();
  expect(await waiting).toBe('gave up');
  expect(opened.world.calls()).toMatchObject([{ status: 0, fault: kind }]);
});

test('late: the connection breaks, and the call is processed when nobody waits any more', async () => {
  const opened = await openLab();
  opened.world.fault({ kind: 'late', method: 'send', count: 1, delayMs: 3000 });
  expect(await broken(opened)).toBe('ECONNRESET');
  await opened.time.advance(2999);
  expect(texts(opened)).toEqual([]);
  await opened.time.advance(1);
  expect(texts(opened)).toEqual(['x']);
});

test('misroute: the message lands outside of its topic, and the answer says so', async () => {
  const opened = await openLab();
  const thread = opened.world.createTopic(lab, 'ada', 'Plants');
  opened.world.fault({ kind: 'misroute', method: 'send', count: 1 });
  const answer = await opened.call('sendMessage', { ...sending, message_thread_id: thread });
  expect(answer.ok).toBe(true);
  expect(answer.result).not.toHaveProperty('message_thread_id');
  expect(opened.world.messages(lab, { thread: null }).map(({ text }) => text)).toEqual(['x']);
});

test('wrong_topic: the message stands in another topic, a creation is answered with one, and the answers say so', async () => {
  const opened = await openLab();
  const plants = opened.world.createTopic(lab, 'ada', 'Plants');
  const flowers = opened.world.createTopic(lab, 'ada', 'Flowers');
  opened.world.fault({ kind: 'wrong_topic', method: '*', count: 2 });
  const sent = await opened.call('sendMessage', { ...sending, message_thread_id: flowers });
  expect(sent.result).toMatchObject({ message_thread_id: plants });
  expect(opened.world.messages(lab, { thread: plants }).at(-1)?.text).toBe('x');
  const made = await opened.call('createForumTopic', { chat_id: lab, name: 'Trees' });
  expect(made.result).toMatchObject({ message_thread_id: plants, name: 'Plants' });
  expect(opened.world.topics(lab)).toHaveLength(2);
});

test('a fault meets its method and its chat only, as often as it is told', async () => {
  const opened = await openLab();
  opened.world.fault({ kind: '500', method: 'send', chat: noRights, count: 2 });
  const at = (chat_id: number, method = 'sendMessage') => opened.outcome(method, { chat_id, text: 'x' });
  expect([await at(lab), await at(noRights, 'getChat')]).toEqual(['ok', 'ok']);
  expect([await at(noRights), await at(noRights), await at(noRights)]).toEqual([
    '500 Internal Server Error',
    '500 Internal Server Error',
    'ok',
  ]);
});

test('a chance is spread evenly', async () => {
  const opened = await openLab();
  opened.world.fault({ kind: '500', method: 'send', count: 100, chance: 0.25 });
  const outcomes: boolean[] = [];
  for (let n = 0; n < 12; n += 1) outcomes.push((await opened.call('sendMessage', sending)).ok);
  expect(outcomes.map((ok) => (ok ? '.' : 'x')).join('')).toBe('...x...x...x');
});

test('faults are shown, and can be cleared one by one or all at once', async () => {
  const { world, call, outcome } = await openLab();
  const first = world.fault({ kind: '500', method: 'send', count: 3 });
  world.fault({ kind: 'hang', method: '*', count: 1 });
  await call('sendMessage', sending);
  expect(world.faults()).toEqual([
    { id: first, kind: '500', method: 'send', count: 2 },
    { id: 'fault-2', kind: 'hang', method: '*', count: 1 },
  ]);
  world.clearFault(first);
  expect(world.faults()).toHaveLength(1);
  world.clearFault();
  expect(await outcome('sendMessage', sending)).toBe('ok');
});
