import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { join } from 'node:path';
import { crash, type CrashResult } from './crash.ts';
import { proveDeliveries } from './delivery-proof.ts';
import { build, temporaryPlace } from './program.ts';
import { secondProcess } from './second-process.ts';
import { proveSlots } from './slots-proof.ts';
import { proveWork } from './work-proof.ts';

const place = temporaryPlace();
const seed = 4;
let main = '';

beforeAll(async () => {
  main = await build(place.folder);
});

afterAll(() => place.remove());

describe('a server that is killed', () => {
  let result: CrashResult;

  beforeAll(async () => {
    const databaseUrl = `file:${join(place.folder, 'crash.db')}`;
    const size = { kills: 4, tasks: 24, lifeMaxMs: 900, settleMs: 1500 };
    result = await crash({ main, folder: place.folder, databaseUrl, seed, ...size });
  });

  test('keeps its promises', () => {
    expect(result.breaches).toEqual([]);
  });

  test('was under load when it was killed', () => {
    expect(result.kills).toBe(4);
    expect(result.slots).toBeGreaterThan(40);
    expect(result.rows.runs.length).toBeGreaterThan(40);
    expect(result.rows.deliveries.length).toBeGreaterThan(20);
  });

  test('would be found out: a row that is missing, made twice or left open breaks a promise', () => {
    const { rows } = result;
    const history = { kills: [], log: [] };
    const stop = { asked: Date.now(), ended: Date.now() };
    const promises = (breaches: readonly { promise: string }[]) => breaches.map(({ promise }) => promise.replace(/ \(\d+\)$/, ''));
    const scheduled = rows.occurrences.findIndex(({ source, status }) => source === 'schedule' && status === 'succeeded');
    const fewer = { ...rows, occurrences: rows.occurrences.toSpliced(scheduled, 1) };
    expect(promises(proveSlots(fewer, stop).breaches)).toContain('a slot is lost');
    const [attempt] = rows.attempts;
    const twice = { ...rows, attempts: attempt === undefined ? [] : [...rows.attempts, attempt] };
    expect(promises(proveWork(twice, history))).toContain('the attempts of a run are not numbered 1..n');
    const open = { ...rows, attempts: rows.attempts.map((one, index) => (index === 0 ? { ...one, status: 'running' } : one)) };
    expect(promises(proveWork(open, history))).toContain('an attempt is still open after a clean stop');
    expect(promises(proveDeliveries(rows, history))).toContain('a part counts as delivered and was not shown');
    expect(promises(proveDeliveries({ ...rows, deliveries: rows.deliveries.slice(1) }, history))).toContain('a result has not all of its parts');
  });
});

test('a second process on the same database is refused, and the first one goes on', async () => {
  const databaseUrl = `file:${join(place.folder, 'second.db')}`;
  expect(await secondProcess({ main, folder: place.folder, databaseUrl })).toEqual([]);
});
