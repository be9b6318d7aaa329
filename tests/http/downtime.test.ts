import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { systemWorld } from '../../src/compose/assembly.ts';
import { startServer, type Server } from '../../src/compose/server.ts';
import { readConfig } from '../../src/config/config.ts';
import { hour } from '../support/fakes.ts';
import { aFolder } from '../support/place.ts';

interface Told {
  readonly downtimes: readonly { readonly from: string; readonly to: string; readonly counts: object | null }[];
}

const token = 'a-token-that-nobody-guesses';

/** A server on real time, whose clock is ahead by what it was away. */
async function aServer(folder: string, awayMs = 0): Promise<Server> {
  const read = readConfig({
    DATABASE_URL: `file:${join(folder, 'cronogram.db')}`,
    HTTP_PORT: '0',
    API_TOKEN: token,
    LOG_LEVEL: 'fatal',
  });
  if ('faults' in read) throw new Error(JSON.stringify(read.faults));
  return startServer({
    config: read.config,
    world: { ...systemWorld({ level: 'fatal', isTerminal: false }), clock: { now: () => Date.now() + awayMs } },
    version: 'test',
    zoneRules: 'test',
    onLost: (error) => {
      throw error;
    },
    printClaim: () => undefined,
  });
}

async function downtimes({ url }: Server): Promise<Told['downtimes']> {
  const answer = await fetch(`${url}/v1/downtimes`, { headers: { authorization: `Bearer ${token}` } });
  return ((await answer.json()) as Told).downtimes;
}

test('a server that comes back tells how long it was away and what that cost', async () => {
  const folder = aFolder();
  const first = await aServer(folder);
  expect(await downtimes(first)).toEqual([]);
  await first.stop();
  const stopped = Date.now();
  const second = await aServer(folder, hour);
  onTestFinished(() => second.stop());
  let told = await downtimes(second);
  while (told[0]?.counts === null) {
    await pause(2);
    told = await downtimes(second);
  }

  expect(told).toMatchObject([{ counts: { missed: 0, late: 0, asked: 0, skipped: 0 } }]);
  const [away] = told;
  expect(Date.parse(away?.from ?? '')).toBeLessThanOrEqual(stopped);
  expect(Date.parse(away?.to ?? '') - Date.parse(away?.from ?? '')).toBeGreaterThanOrEqual(hour);
});
