import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { manualTime, minute, second, start } from '../support/fakes.ts';
import { freshSqliteFile } from '../support/fresh-sqlite.ts';
import { aFolder } from '../support/place.ts';
import { bearer, databaseName, drift, serverIn } from '../support/server.ts';
import type { BotApi } from './bot-api.ts';

export interface Probe {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** A whole server that talks to the Telegram of the test. */
export async function aServer(telegram: BotApi, env: Readonly<Record<string, string>> = {}) {
  const folder = aFolder();
  const time = manualTime(start);
  await freshSqliteFile(join(folder, databaseName));
  const telegramOf = {
    TELEGRAM_BOT_TOKEN: '123456789:the-token-of-the-bot-of-the-tests',
    TELEGRAM_API_ROOT: telegram.root,
  };
  const { server, log } = await serverIn({ folder, env: { ...telegramOf, ...env }, time });
  let isStopped = false;
  const pass = (ms: number) => drift(time, ms);
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
  });
  const probe = async (path: string): Promise<Probe> => {
    const answer = await fetch(server.url + path, { headers: bearer });
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
