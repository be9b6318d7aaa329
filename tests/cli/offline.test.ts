import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { aBot, minute, stopBots } from '../e2e/bot.ts';
import { aFolder } from '../support/place.ts';
import { placeAt, split, token, type Place } from './place.ts';
import { typed, type Said } from './terminal.ts';

afterEach(stopBots);

let folder = '';
beforeEach(() => {
  folder = aFolder();
});

const database = () => join(folder, 'cronogram.db');
const environment = () => ({ DATABASE_URL: `file:${database()}`, HTTP_PORT: '1', API_TOKEN: token });
const offline = (words: string): Promise<Said> => typed(split(`--offline ${words}`), { environment: environment() });
/** Half a day from now, because the clock is the one of this computer: no slot comes while a test runs, whenever that is. */
const daily = (): string => `--cron "0 ${(new Date().getUTCHours() + 12) % 24} * * *" --timezone UTC`;
/** The command line has the clock of this computer, so that the server must not be behind it. */
const aServer = async (aheadMs = 0): Promise<Place> =>
  placeAt(await aBot({ ...environment(), HTTP_PORT: '0' }, Date.now() + aheadMs));

describe('a stopped server', () => {
  it('is worked on through the same verbs, and goes on with what was done', async () => {
    const before = await aServer();
    await before.well(`task create ${daily()} Before`);
    await stopBots();
    expect((await offline('task list')).out).toContain('Before');
    expect((await offline(`task create ${daily()} Meanwhile`)).out).toContain('Created #2 Meanwhile.');
    expect((await offline('task pause 1')).code).toBe(0);
    const run = await offline('task run 2 --json');
    expect(run.json).toMatchObject({ task_run: { status: 'dispatched' } });
    for (const verb of [
      'audit --run',
      'reconcile',
      'export',
      'status',
      'events',
      'run list',
      'downtimes',
      'version',
      'usage',
    ]) {
      expect(await offline(verb)).toMatchObject({ code: 0 });
    }
    const after = await aServer(minute);
    await after.bot.pass(1000);
    expect((await after.well('run list --json')).json['runs']).toMatchObject([
      { status: 'succeeded', output: { text: 'Meanwhile' } },
    ]);
    expect((await after.well('task list --state disabled --json')).json['tasks']).toMatchObject([{ title: 'Before' }]);
  });

  it('is left alone while it runs, and whoever holds it is named', async () => {
    await aServer();
    const said = await offline('task list');
    expect(said).toMatchObject({ code: 5, out: '' });
    expect(said.err.replaceAll('\n', ' ')).toContain(`is held by process ${process.pid} on`);
    expect((await offline('task list --json')).json).toMatchObject({ error: { code: 'store_unavailable' } });
  });

  it('that never was is not made by asking for it', async () => {
    const said = await offline('task list');
    expect(said.code).toBe(3);
    expect(said.err).toContain('There is no database');
    expect(existsSync(database())).toBe(false);
  });

  it.each(['task run 1 --wait', 'run wait x', 'events --follow', 'sandbox say hello'])(
    'does not pretend to run: %s',
    async (words) => {
      await aServer();
      await stopBots();
      await offline(`task create ${daily()} Hello`);
      const said = await offline(words);
      expect(said.code).toBe(2);
      expect(said.err).toContain('--offline');
    },
  );

  it('is given back when a verb fails', async () => {
    await aServer();
    await stopBots();
    expect((await offline('task get 77')).code).toBe(3);
    expect((await offline('task list')).code).toBe(0);
  });

  it('is not opened with variables that are wrong, and each of them is named', async () => {
    const said = await typed(['--offline', 'task', 'list'], {
      environment: { ...environment(), MIN_INTERVAL: 'soon', LOG_LEVEL: 'loud' },
    });
    expect(said.code).toBe(2);
    for (const name of ['MIN_INTERVAL', 'LOG_LEVEL']) expect(said.err).toContain(name);
  });
});
