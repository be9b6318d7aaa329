import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { startServer } from '../../src/compose/server.ts';
import { readConfig } from '../../src/config/config.ts';
import { countingIds, manualTime, memoryLog } from '../support/fakes.ts';
import { freshSqliteFile } from '../support/fresh-sqlite.ts';
import { start } from '../support/pipeline.ts';
import type { BotApi } from './bot-api.ts';

const second = 1000;
const minute = 60 * second;

export interface Probe {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Lets time go on in small steps, with many turns in between, so that loops do what is due at each. */
export function passing(time: ReturnType<typeof manualTime>): (ms: number) => Promise<void> {
  return async (ms) => {
    for (let passed = 0; passed < ms; passed += second) {
      await time.advance(Math.min(second, ms - passed));
      for (let turn = 0; turn < 20; turn += 1) await time.yield();
    }
  };
}

/** A whole server that talks to the Telegram of the test. */
export async function aServer(telegram: BotApi, env: Readonly<Record<string, string>> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'cronogram-ready-'));
  const time = manualTime(start);
  const log = memoryLog();
  await freshSqliteFile(join(folder, 'c.db'));
  const read = readConfig({
    DATABASE_URL: `file:${join(folder, 'c.db')}`,
    HTTP_PORT: '0',
    API_TOKEN: 'the-token-of-the-tests',
    TELEGRAM_OWNERS: '1001',
    // A clock by hand does not wait for a process of its own.
    SECOND_OPINION: '0',
    TELEGRAM_BOT_TOKEN: '123456789:the-token-of-the-bot-of-the-tests',
    TELEGRAM_API_ROOT: telegram.root,
    ...env,
  });
  if ('faults' in read) throw new Error(JSON.stringify(read.faults));
  const server = await startServer({
    config: read.config,
    world: { clock: time, stopwatch: time, timer: time, ids: countingIds(), log },
    version: '0',
    zoneRules: 'test',
    onLost: (error) => {
      throw error;
    },
    printClaim: () => undefined,
  });
  let isStopped = false;
  const pass = passing(time);
  const stop = async () => {
    let isOver = false;
    const stopping = server.stop().finally(() => (isOver = true));
    while (!isOver) await pass(second);
    await stopping;
    isStopped = true;
  };
  onTestFinished(async () => {
    if (!isStopped) await stop();
    await telegram.close();
    rmSync(folder, { recursive: true });
  });
  const probe = async (path: string): Promise<Probe> => {
    const answer = await fetch(server.url + path, { headers: { authorization: 'Bearer the-token-of-the-tests' } });
    return { status: answer.status, body: (await answer.json()) as Probe['body'] };
  };
  /** Time goes on until readiness is so, or for ten minutes. */
  const becomes = async (status: number): Promise<Probe> => {
    for (let passed = 0; passed < 10 * minute; passed += second) {
      const told = await probe('/readyz');
      if (told.status === status) return told;
      await pass(second);
    }
    throw new Error(`/readyz has not become ${status}: ${JSON.stringify((await probe('/readyz')).body)}`);
  };
  return { server, time, log, probe, pass, becomes, stop };
}
