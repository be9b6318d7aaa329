import { join } from 'node:path';
import { startServer, type Server } from '../../src/compose/server.ts';
import { readConfig } from '../../src/config/config.ts';
import { countingIds, memoryLog, promptTemplates, second, type ManualTime, type MemoryLog } from './fakes.ts';
import { isAnswering } from './postgres-quiet.ts';

/** The token of the API of every server that starts here. */
const apiToken = 'the-token-of-the-tests';
export const bearer = { authorization: `Bearer ${apiToken}` };
export const databaseName = 'cronogram.db';

interface Given {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly time: ManualTime;
}

export interface Started {
  readonly server: Server;
  readonly log: MemoryLog;
  /** Codes with which an owner may claim the bot. */
  readonly claims: readonly string[];
}

/** A whole server as it starts, in the folder that is given, with a clock by hand. */
export async function serverIn({ folder, env, time }: Given): Promise<Started> {
  const read = readConfig({
    DATABASE_URL: `file:${join(folder, databaseName)}`,
    HTTP_PORT: '0',
    API_TOKEN: apiToken,
    TELEGRAM_OWNERS: '1001',
    // A clock by hand does not wait for another process.
    SECOND_OPINION: '0',
    ...env,
  });
  if ('faults' in read) throw new Error(JSON.stringify(read.faults));
  const log = memoryLog();
  const claims: string[] = [];
  const server = await startServer({
    config: read.config,
    world: { clock: time, stopwatch: time, timer: time, ids: countingIds(), log },
    version: '0.0.0',
    templates: promptTemplates(),
    zoneRules: 'test',
    onLost: (error) => {
      throw error;
    },
    printClaim: (code) => claims.push(code),
  });
  return { server, log, claims };
}

/** Small steps of time, and after each so many turns of the loop that what is due at it is done. */
export async function drift(time: ManualTime, ms: number, { stepMs = second, turns = 20 } = {}): Promise<void> {
  for (let passed = 0; passed < ms; passed += stepMs) {
    await time.advance(Math.min(stepMs, ms - passed));
    for (let turn = 0; turn < turns; turn += isAnswering() ? 0 : 1) await time.yield();
  }
}
