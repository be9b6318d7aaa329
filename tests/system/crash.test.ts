import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Rows } from '../invariants/rows.ts';
import { chanceFrom } from '../support/chance.ts';
import { breachesOf } from './account.ts';
import { pausedByCrashes } from './auto-pause.ts';
import { badDay, quickFaults } from './chat.ts';
import { corruptRows } from './corrupt-row.ts';
import { crash, type CrashResult } from './crash.ts';
import { build, endAll, temporaryPlace } from './program.ts';
import { secondProcess } from './second-process.ts';
import { openTelegram, type Seen, type SeenMessage, type Telegram } from './telegram.ts';

const place = temporaryPlace();
const seed = 4;
const opened: Telegram[] = [];
let main = '';

async function aTelegram(): Promise<Telegram> {
  const telegram = await openTelegram();
  opened.push(telegram);
  return telegram;
}

beforeAll(async () => {
  main = await build(place.folder);
});

afterAll(async () => {
  endAll();
  for (const telegram of opened) await telegram.close();
  place.remove();
});

const unshown = 'a part counts as delivered and was not shown';

describe('a server that is killed', () => {
  let result: CrashResult;
  /** Enough that each proof has something to look at. */
  const isMuch = ({ occurrences, runs, deliveries }: Rows, called: number) => {
    const slots = occurrences.filter(({ source }) => source === 'schedule').length;
    return slots > 40 && runs.length > 40 && deliveries.length > 20 && called > 5;
  };

  beforeAll(async () => {
    const databaseUrl = `file:${join(place.folder, 'crash.db')}`;
    const size = { kills: 4, tasks: 24, lifeMaxMs: 1500, settleMs: 2000, isEnough: isMuch };
    const telegram = await aTelegram();
    result = await crash({ main, folder: place.folder, databaseUrl, telegram, seed, ...size });
  });

  test('keeps its promises', () => {
    expect(result.breaches).toEqual([]);
  });

  test('was under load when it was killed', () => {
    expect(result.kills).toBe(4);
    expect(result.slots).toBeGreaterThan(40);
    expect(result.rows.runs.length).toBeGreaterThan(40);
    expect(result.rows.deliveries.length).toBeGreaterThan(20);
    expect(result.called).toBeGreaterThan(5);
  });

  test('would be found out: a row that is missing, made twice or left open breaks a promise', () => {
    const { rows, seen } = result;
    const end = Math.max(...rows.occurrences.map(({ created_at: at }) => at));
    const stop = { asked: end, ended: end };
    const promises = (changed: Rows) => breachesOf(changed, seen, { stop }).map(({ promise }) => promise);
    const plain = rows.tasks.filter(
      (task) => task.interval_from !== 'completion' && !task.policies.includes('max_runs'),
    );
    const scheduled = rows.occurrences.findIndex(
      (one) => one.source === 'schedule' && plain.some(({ id }) => id === one.task_id),
    );
    expect(promises(rows)).not.toContain('a slot is lost');
    const fewer = { ...rows, occurrences: rows.occurrences.toSpliced(scheduled, 1) };
    expect(promises(fewer)).toContain('a slot is lost');
    const [attempt] = rows.attempts;
    const twice = { ...rows, attempts: attempt === undefined ? [] : [...rows.attempts, attempt] };
    expect(promises(twice)).toContain('the attempts of a run are wrong');
    const open = {
      ...rows,
      attempts: rows.attempts.map((one, index) => (index === 0 ? { ...one, status: 'running' } : one)),
    };
    expect(promises(open)).toContain('an attempt is left open');
  });

  test('would be found out: what is not in its place, there twice, or without a row breaks a promise', () => {
    const { rows, seen } = result;
    const promises = (messages: Seen['messages'], deliveries = rows.deliveries) =>
      breachesOf({ ...rows, deliveries }, { ...seen, messages }, result.history).map(({ promise }) => promise);
    // A part that was sent more than once may stand there twice by right.
    const part = rows.deliveries.find(
      ({ kind, status, sends }) => kind === 'result' && status === 'delivered' && sends === 1,
    );
    const isShown = ({ chatId, messageId }: SeenMessage) =>
      String(chatId) === part?.platform_chat_id && messageId === part.message_id;
    const changed = (change: Partial<SeenMessage>) =>
      seen.messages.map((message) => (isShown(message) ? { ...message, ...change } : message));
    const [shown] = seen.messages.filter(isShown);
    const again = shown === undefined ? [] : [{ ...shown, messageId: 1_000_000 }];
    expect(promises(seen.messages)).toEqual([]);
    expect(promises(seen.messages.filter((message) => !isShown(message)))).toContain(unshown);
    expect(promises(changed({ text: 'Something else.' }))).toContain(unshown);
    expect(promises(changed({ threadId: null }))).toContain(unshown);
    expect(promises([...seen.messages, ...again])).toContain('something is shown that nothing accounts for');
    const without = rows.deliveries.filter((one) => one !== part);
    expect(promises(seen.messages, without)).toContain('a result has other parts than it should');
    const sending = rows.deliveries.map((one) => (one === part ? { ...one, status: 'sending' } : one));
    expect(promises(seen.messages, sending)).toContain('a part is on its way after a clean stop');
  });
});

describe.concurrent('a server of its own', () => {
  const options = async (name: string) => {
    const databaseUrl = `file:${join(place.folder, name)}`;
    return { main, folder: place.folder, databaseUrl, telegram: await aTelegram() };
  };

  test('refuses a second process on its database and goes on', async ({ expect: expects }) => {
    expects(await secondProcess(await options('second.db'))).toEqual([]);
  });

  test('pauses rows that lie, tells why, and lets the others run', async ({ expect: expects }) => {
    expects(await corruptRows(await options('corrupt.db'))).toEqual([]);
  });

  test('brings every result once and to its own topic on a bad day, over a kill', async ({ expect: expects }) => {
    const day = { tasks: 30, slots: 2, everySeconds: 2, deletions: 2, killedAt: 0.5, settleMs: 0 };
    const plan = { ...(await options('bad-day.db')), ...day, faults: quickFaults, random: chanceFrom(seed) };
    const { breaches, rows, seen } = await badDay(plan);
    expects(breaches).toEqual([]);
    const results = rows.deliveries.filter(({ kind, status }) => kind === 'result' && status === 'delivered');
    expects(results.length).toBeGreaterThan(40);
    expects(new Set(seen.calls.map(({ fault }) => fault))).toEqual(new Set([null, 'reset_after', '429']));
    expects(seen.messages.some(({ isGone }) => isGone)).toBe(true);
  });

  test('loses no slot of a task that is paused because it takes the process down', async ({ expect: expects }) => {
    expects(await pausedByCrashes(await options('auto-pause.db'))).toEqual([]);
  });
});
