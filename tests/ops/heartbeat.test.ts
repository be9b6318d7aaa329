import { describe, expect, it, onTestFinished } from 'vitest';
import { createHeartbeat } from '../../src/app/operations/readiness.ts';
import type { Meter } from '../../src/app/ports/metering.ts';
import { createHeartbeatPing } from '../../src/system/heartbeat-ping.ts';
import { manualTime, memoryLog, minute } from '../support/fakes.ts';
import { anOutbound } from '../support/outbound.ts';
import { aStub } from '../support/place.ts';

/** After the start; those that follow are a minute apart. */
const first = 5000;
const secretPath = '/ping/the-secret-id-of-the-check';

/** A watcher outside, which answers as the test says. */
async function aWatcher(status: () => number | 'hang' | 'cut') {
  const asked: { method: string; url: string }[] = [];
  const url = await aStub((incoming, outgoing) => {
    asked.push({ method: incoming.method ?? '', url: incoming.url ?? '' });
    const now = status();
    if (now === 'cut') outgoing.destroy();
    else if (now !== 'hang') outgoing.writeHead(now, { location: '/elsewhere' }).end('OK');
  });
  return { asked, url: `${url}${secretPath}` };
}

function aHeart(url: string, ready: () => boolean) {
  const time = manualTime(0);
  const log = memoryLog();
  const counted: string[] = [];
  const meter: Meter = {
    count: (_name, labels) => counted.push(Object.values(labels).join(' ')),
    took: () => undefined,
  };
  const heart = createHeartbeat({
    ping: createHeartbeatPing({ url, outbound: anOutbound({ time }) }),
    ready: async () => ({ ok: ready() }),
    timer: time,
    log,
    meter,
  });
  onTestFinished(() => heart.stop());
  heart.start();
  /** So much time, and then until so many beats are over. */
  const beat = async (ms: number) => {
    const before = counted.length;
    await time.advance(ms);
    for (let turn = 0; counted.length === before; turn += 1) {
      if (turn > 10_000) throw new Error('there was no beat');
      await time.yield();
    }
  };
  return { heart, time, log, counted, beat };
}

describe('the heartbeat', () => {
  it('asks the watcher about once a minute while the server is ready', async () => {
    const watcher = await aWatcher(() => 200);
    const { beat, counted, log } = aHeart(watcher.url, () => true);
    await beat(first);
    for (let round = 0; round < 4; round += 1) await beat(minute);
    expect(watcher.asked).toEqual(Array.from({ length: 5 }, () => ({ method: 'GET', url: secretPath })));
    expect(counted).toEqual(Array.from({ length: 5 }, () => 'sent'));
    expect(log.lines.map(({ event }) => event)).toEqual(['heartbeat_sent']);
  });

  it('keeps silent while the server is not ready, and says so once', async () => {
    const watcher = await aWatcher(() => 200);
    let ready = true;
    const { beat, log } = aHeart(watcher.url, () => ready);
    await beat(first);
    ready = false;
    for (let round = 0; round < 3; round += 1) await beat(minute);
    expect(watcher.asked).toHaveLength(1);
    ready = true;
    await beat(minute);
    expect(watcher.asked).toHaveLength(2);
    expect(log.lines.map(({ event }) => event)).toEqual(['heartbeat_sent', 'heartbeat_withheld', 'heartbeat_sent']);
  });

  it.each([
    ['refuses', 503, 'status 503'],
    ['leads elsewhere', 302, 'status 302'],
    ['hangs up', 'cut', 'The connection to 127.0.0.1 broke off (UND_ERR_SOCKET).'],
  ] as const)(
    'does not try again before its time when the watcher %s, and tells one line about it',
    async (_what, how, error) => {
      const watcher = await aWatcher(() => how);
      const { beat, log } = aHeart(watcher.url, () => true);
      await beat(first);
      for (let round = 0; round < 2; round += 1) await beat(minute);
      expect(watcher.asked).toHaveLength(3);
      expect(log.lines).toEqual([{ level: 'warn', event: 'heartbeat_failed', facts: { error } }]);
    },
  );

  it('gives up waiting for an answer, and beats on', async () => {
    let hangs = true;
    const watcher = await aWatcher(() => (hangs ? 'hang' : 200));
    const { time, beat, log } = aHeart(watcher.url, () => true);
    await time.advance(first);
    while (watcher.asked.length === 0) await time.yield();
    await beat(10_000);
    hangs = false;
    await beat(minute);
    expect(log.lines.map(({ event, facts }) => [event, facts['error'] ?? facts['after']])).toEqual([
      ['heartbeat_failed', '127.0.0.1 did not answer within 10 s.'],
      ['heartbeat_sent', 'failed'],
    ]);
  });

  it('says nothing of the address when nobody is there', async () => {
    const { beat, log } = aHeart(`http://127.0.0.1:1${secretPath}`, () => true);
    await beat(first);
    expect(log.lines).toEqual([
      { level: 'warn', event: 'heartbeat_failed', facts: { error: expect.any(String) as string } },
    ]);
    expect(JSON.stringify(log.lines)).not.toContain('secret-id');
  });

  it('ends with the server', async () => {
    const watcher = await aWatcher(() => 200);
    const { heart, time, beat } = aHeart(watcher.url, () => true);
    await beat(first);
    heart.stop();
    await time.advance(10 * minute);
    expect(watcher.asked).toHaveLength(1);
  });
});
