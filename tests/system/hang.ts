import type { Breach } from '../invariants/rows.ts';
import { openWay } from '../support/way.ts';
import { call, create } from './api.ts';
import { becomes, readyUrl, start, type Boot, type StartOptions } from './program.ts';
import { threadOf } from './telegram.ts';

/** What is being sent has ten seconds of grace, and so has what runs; the rest is done in a moment. */
const stopWithinMs = 25_000;
/** Past this a server gives its own stop up, and says what it waited for. */
const deadlineMs = 48_000;

/** A stop while Telegram swallows every call: it is waited for a while, and left to the next process. */
export async function hangingTelegram(options: StartOptions): Promise<Breach[]> {
  const { telegram } = options;
  const [forum] = telegram.forums;
  const server = start(options);
  const url = await readyUrl(server);
  telegram.world.fault({ kind: 'hang', method: '*', count: 1000, ...(forum === undefined ? {} : { chat: forum }) });
  const schedule = { kind: 'interval', interval: 'PT1S', timezone: 'UTC' };
  await create(url, threadOf(forum), { instructions: 'Into the void.', schedule });
  const isHanging = () => telegram.seen().calls.some(({ fault }) => fault === 'hang');
  if (!(await becomes(isHanging, 15_000))) return [{ promise: 'a call hangs', rows: telegram.seen().calls.slice(-5) }];
  const { code, ms } = await stopped(server);
  const isInTime = code === 0 && ms < stopWithinMs;
  return isInTime ? [] : [{ promise: 'a stop does not wait for a call that hangs', rows: { code, ms } }];
}

/** A stop while the database takes what it is given and answers nothing. */
export async function hangingDatabase(options: StartOptions): Promise<Breach[]> {
  const way = await openWay(options.databaseUrl);
  const server = start({ ...options, databaseUrl: way.url });
  try {
    const url = await readyUrl(server);
    const schedule = { kind: 'interval', interval: 'PT1S', timezone: 'UTC' };
    await create(url, threadOf(), { instructions: 'Tick.', schedule });
    way.block();
    const isSeen = await becomes(
      async () => (await call(url, { method: 'GET', path: '/readyz' })).status === 503,
      15_000,
    );
    const { code, ms } = await stopped(server);
    const last = server.log.findLast(({ event }) => event === 'stop_timed_out' || event === 'stopped');
    const isTold = code === 0 || typeof last?.['waits_for'] === 'string';
    const isKept = isSeen && isTold && (code === 0 || code === 1) && ms < deadlineMs;
    return isKept
      ? []
      : [{ promise: 'a stop ends in time though the database hangs', rows: { isSeen, code, ms, last } }];
  } finally {
    way.close();
  }
}

async function stopped(server: Boot): Promise<{ readonly code: number | null; readonly ms: number }> {
  const asked = performance.now();
  const { code } = await server.stop();
  return { code, ms: Math.round(performance.now() - asked) };
}
