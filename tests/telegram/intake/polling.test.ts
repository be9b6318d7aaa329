import type { RawApi } from 'grammy';
import type { Update } from 'grammy/types';
import { expect, it, vi } from 'vitest';
import type { Fault } from '../../../src/sandbox/world/world.ts';
import { createTelegramApi, type TelegramApi } from '../../../src/telegram/api.ts';
import { manualTime } from '../../support/fakes.ts';
import { aSandbox, sandboxStart, sandboxToken } from '../../support/sandbox.ts';
import { aDoorway, lab, until, untilLater, type Doorway, aSettledDoorway } from './doorway.ts';
import { messageUpdate } from './updates.ts';

const troubles = ({ log }: Doorway) => log.lines.filter(({ event }) => event === 'telegram_trouble');

it.each<Omit<Fault, 'method'>>([
  { kind: '500', count: 4 },
  { kind: '429', count: 2, retryAfter: 3 },
  { kind: 'bad_gateway_html', count: 3 },
  { kind: 'reset_before', count: 3 },
  { kind: 'reset_after', count: 1 },
  { kind: 'wrong_shape', count: 5 },
])('goes on polling after $count x $kind, and says so once', async (fault) => {
  const doorway = await aSettledDoorway();
  doorway.served.world.fault({ ...fault, method: 'getUpdates' });
  doorway.served.world.say({ as: 'ada', chat: lab, text: '/new' });
  doorway.served.world.say({ as: 'ada', chat: lab, text: '/new again' });
  await untilLater(doorway.time, () => doorway.saids.length === 2);
  await untilLater(doorway.time, () => !doorway.served.world.hasOpenUpdates());
  await doorway.settled();
  expect(troubles(doorway).length).toBeLessThanOrEqual(1);
  expect(doorway.saids.map(({ args }) => args)).toEqual(['', 'again']);
  expect(doorway.inbound.health()).toMatchObject({ ok: true, error: null });
});

it('says once that Telegram does not answer, and once that it does again', async () => {
  const doorway = await aSettledDoorway();
  const { world } = doorway.served;
  world.fault({ kind: '500', method: 'getUpdates', count: 5 });
  world.say({ as: 'ada', chat: lab, text: '/new' });
  await untilLater(doorway.time, () => world.faults().length === 0);
  world.say({ as: 'ada', chat: lab, text: '/new again' });
  await untilLater(doorway.time, () => doorway.saids.length === 2);
  expect(troubles(doorway)).toHaveLength(1);
  expect(doorway.log.lines.filter(({ event }) => event === 'telegram_answers_again')).toHaveLength(1);
});

it('waits as long as a 429 says', async () => {
  const doorway = await aSettledDoorway();
  const { world } = doorway.served;
  world.fault({ kind: '429', method: 'getUpdates', count: 1, retryAfter: 40 });
  world.say({ as: 'ada', chat: lab, text: '/new' });
  await until(() => troubles(doorway).length === 1);
  expect(doorway.inbound.health().ok).toBe(false);
  await doorway.time.advance(39_000);
  expect(doorway.inbound.health().ok).toBe(false);
  await doorway.time.advance(1000);
  await until(() => !world.hasOpenUpdates());
});

it('explains once that somebody else polls with the same token, waits longer and longer, and goes on when that ends', async () => {
  const doorway = await aSettledDoorway({ time: manualTime(sandboxStart) });
  const { served, time } = doorway;
  const rival = createTelegramApi({ token: served.token, apiRoot: served.apiRoot, timer: time });
  let isThere = true;
  const polling = (async () => {
    while (isThere) await rival.raw.getUpdates({ timeout: 30 }).catch(() => {});
  })();
  await untilLater(time, () => troubles(doorway).length === 1);
  expect(troubles(doorway)[0]?.facts).toMatchObject({ kind: 'conflict' });
  expect(String(troubles(doorway)[0]?.facts['explanation'])).toMatch(/Another process polls/);
  expect(doorway.inbound.health()).toMatchObject({ ok: false });
  const [began, asked] = [time.elapsed(), conflicts(doorway)];
  await untilLater(time, () => time.elapsed() - began > 300_000);
  // Both are ended in turn; without pauses there would be one conflict every three seconds for each.
  expect(conflicts(doorway) - asked).toBeLessThan(60);
  expect(troubles(doorway)).toHaveLength(1);
  isThere = false;
  rival.close();
  await untilLater(time, () => doorway.inbound.health().ok);
  await polling;
  served.world.say({ as: 'ada', chat: lab, text: '/new' });
  await untilLater(time, () => doorway.saids.length === 1);
});

function conflicts({ served }: Doorway): number {
  return served.world.calls(0, 2000).filter(({ status }) => status === 409).length;
}

it('says that the token is unknown, and shows it nowhere', async () => {
  const served = await aSandbox();
  const wrong = '777000001:WRONG-token-of-nobody-at-all-000000000';
  const doorway = await aDoorway({ served: { ...served, token: wrong } });
  await untilLater(doorway.time, () => doorway.time.elapsed() > 300_000);
  expect(troubles(doorway)).toHaveLength(1);
  expect(troubles(doorway)[0]?.facts).toMatchObject({ kind: 'token' });
  expect(doorway.inbound.health()).toMatchObject({ ok: false });
  expect(JSON.stringify(doorway.log.lines)).not.toContain(wrong.slice(10));
  expect(JSON.stringify(doorway.inbound.health())).not.toContain(wrong.slice(10));
  await served.close();
});

it('shows the token in no line of the log, whatever goes wrong with the network', async () => {
  const served = await aSandbox();
  const doorway = await aSettledDoorway({ served });
  await served.close();
  await untilLater(doorway.time, () => troubles(doorway).length === 1);
  await doorway.time.advance(60_000);
  expect(JSON.stringify(doorway.log.lines)).not.toContain(sandboxToken.slice(10));
});

it('asks anew when a poll is never answered, without a word about it', async () => {
  const doorway = await aSettledDoorway();
  const { world } = doorway.served;
  world.fault({ kind: 'hang', method: 'getUpdates', count: 1 });
  world.say({ as: 'ada', chat: lab, text: '/new' });
  await until(() => world.faults().length === 0);
  world.say({ as: 'ada', chat: lab, text: '/new again' });
  await untilLater(doorway.time, () => doorway.saids.length === 2);
  expect(troubles(doorway)).toEqual([]);
});

it('starts while Telegram is away, and takes up what was said meanwhile', async () => {
  const served = await aSandbox();
  served.world.fault({ kind: '500', method: 'getMe', count: 3 });
  served.world.fault({ kind: '500', method: 'deleteWebhook', count: 2 });
  served.world.say({ as: 'ada', chat: lab, text: '/new' });
  const doorway = await aDoorway({ served });
  expect(doorway.inbound.health()).toEqual({ ok: false, error: 'not connected yet', lastOkAt: null, stillMs: 0 });
  await untilLater(doorway.time, () => doorway.saids.length === 1);
  await doorway.settled();
  await served.close();
});

it('removes a webhook that is set meanwhile, keeping what waits', async () => {
  const doorway = await aSettledDoorway({ time: manualTime(sandboxStart) });
  const { world } = doorway.served;
  await doorway.api.raw.setWebhook({ url: 'https://elsewhere.example/hook' });
  await untilLater(doorway.time, () => removals(doorway) === 2);
  world.say({ as: 'ada', chat: lab, text: '/new' });
  await untilLater(doorway.time, () => doorway.saids.length === 1);
});

function removals({ served }: Doorway): number {
  return served.world.calls().filter(({ method }) => method === 'deleteWebhook').length;
}

it('asks for the updates it needs by name, and after a week without any for everything', async () => {
  const time = manualTime(sandboxStart);
  let passed = 0;
  const stopwatch = { elapsed: () => time.elapsed() + passed };
  const doorway = await aDoorway({ time, needs: { stopwatch } });
  const { world } = doorway.served;
  const polls = () =>
    world
      .calls()
      .filter(({ method }) => method === 'getUpdates')
      .map(({ params }) => params);
  const say = async (text: string) => {
    await doorway.says('ada', text);
  };
  await say('/new 1');
  await say('/new 2');
  expect(polls()[0]?.['allowed_updates']).toEqual([
    'message',
    'edited_message',
    'callback_query',
    'my_chat_member',
    'chat_member',
  ]);
  passed = 7 * 86_400_000;
  // The poll that waits was begun before, and ends by itself; the one after it counts.
  await untilLater(time, () => time.elapsed() > 60_000);
  await say('/new 3');
  await say('/new 4');
  expect(polls().map((asked) => 'offset' in asked)).toEqual([false, true, false, true]);
  expect(doorway.saids).toHaveLength(4);
});

it('stops at once while a poll is waiting', async () => {
  const doorway = await aSettledDoorway();
  const stopped = vi.fn<() => void>();
  void doorway.inbound.stop(10_000).then(stopped);
  await until(() => stopped.mock.calls.length === 1);
  doorway.served.world.say({ as: 'ada', chat: lab, text: '/new' });
  await doorway.time.advance(60_000);
  expect(doorway.saids).toEqual([]);
  expect(doorway.served.world.hasOpenUpdates()).toBe(true);
});

it('puts bad items of a batch aside with their texts, once each, and goes on with the others', async () => {
  const served = await aSandbox();
  const bad = [null, { update_id: 'seven' }, 'what', { update_id: 6, message: { text: 7 } }];
  const batches = [bad.slice(0, 3), bad.slice(0, 3), [...bad, messageUpdate({ id: 7 }), null]];
  const offsets: (number | undefined)[] = [];
  const real = createTelegramApi({ ...served, timer: manualTime(sandboxStart) });
  const odd: RawApi['getUpdates'] = async (asked, signal) => {
    offsets.push(asked?.offset);
    return (batches.shift() as Update[] | undefined) ?? real.raw.getUpdates({ ...asked, offset: 0 }, signal);
  };
  const raw = new Proxy(real.raw, {
    get: (all, name): unknown => (name === 'getUpdates' ? odd : Reflect.get(all, name)),
  });
  const api = {
    ...real,
    ask: (call, ...rest) => real.ask((_raw, signal) => call(raw, signal), ...rest),
  } as TelegramApi;
  const doorway = await aDoorway({ served, needs: { api } });
  await untilLater(doorway.time, () => doorway.saids.length === 1 && offsets.length > 3);
  const kept = await doorway.query('select payload, status from inbox order by received_at');
  const [failed, done] = [
    kept.filter(({ status }) => status === 'failed'),
    kept.filter(({ status }) => status === 'done'),
  ];
  expect(new Set(failed.map(({ payload }) => payload))).toEqual(new Set(bad.map((one) => JSON.stringify(one))));
  expect(done).toHaveLength(1);
  // Items without a number confirm nothing, and are not asked for again and again without a pause.
  expect(offsets.slice(0, 4)).toEqual([undefined, undefined, undefined, 8]);
  expect(troubles(doorway)).toHaveLength(1);
  await served.close();
  real.close();
});

it('counts how long polling stands still, and goes on after a fault of its own', async () => {
  const real = await aSandbox();
  const inner = createTelegramApi({ ...real, timer: manualTime(sandboxStart) });
  let throws = 1;
  const api: TelegramApi = {
    ...inner,
    ask: (call, ms, stop) => {
      if (stop !== undefined && throws-- > 0) throw new TypeError('of ours');
      return inner.ask(call, ms, stop);
    },
  };
  const doorway = await aDoorway({ served: real, needs: { api } });
  await until(() => doorway.log.lines.some(({ event }) => event === 'poll_failed'));
  await doorway.time.advance(4000);
  expect(doorway.inbound.health().stillMs).toBe(4000);
  real.world.say({ as: 'ada', chat: lab, text: '/new' });
  await untilLater(doorway.time, () => doorway.saids.length === 1);
  expect(doorway.inbound.health().stillMs).toBe(0);
  await real.close();
  inner.close();
});
