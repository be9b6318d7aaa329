import { copyFileSync, mkdirSync, readdirSync, realpathSync, renameSync, utimesSync, writeFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { unbuilt } from '../../src/config/config.ts';
import { soon } from '../support/patience.ts';
import { aFolder } from '../support/place.ts';
import { freshPostgres, onPostgres } from '../support/postgres.ts';
import { startProgram } from './program.ts';

describe.concurrent('a start', () => {
  it('wonders about a setting that nobody reads, and goes on without it', async ({ onTestFinished: atEnd }) => {
    const folder = aFolder(atEnd);
    const [without = ''] = unbuilt;
    writeFileSync(
      join(folder, '.env'),
      `DATABASE_URL=file:c.db\nRETENTION_DAY=30\nTELEGRAM_BOT=x\nCOMPOSE_PROJECT_NAME=x\n${without}=x\n`,
    );
    const program = startProgram(folder, {}, atEnd);
    await program.url();
    const wondered = program.lines().filter(({ event }) => event === 'unknown_variable');
    expect(wondered).toEqual([
      expect.objectContaining({ level: 'warn', variable: 'RETENTION_DAY', nearest: 'RETENTION_DAYS' }),
      expect.objectContaining({ level: 'warn', variable: 'TELEGRAM_BOT', nearest: null }),
    ]);
    expect(program.lines().filter(({ event }) => event === 'variable_without_effect')).toEqual([
      expect.objectContaining({ level: 'warn', variable: without }),
    ]);
    program.kill('SIGINT');
    expect(await program.ended).toBe(0);
  });

  it.for([
    ['127.0.0.2', 'http://127.0.0.2'],
    ['0.0.0.0', 'http://127.0.0.1'],
  ])(
    'on %s prints a link to the chat page that leads there',
    async ([HTTP_HOST = '', place = ''], { onTestFinished: atEnd }) => {
      const program = startProgram(aFolder(atEnd), { DATABASE_URL: 'file:c.db', HTTP_HOST }, atEnd);
      const { chat } = await program.logs('started');
      expect(String(chat)).toMatch(new RegExp(`^${place}:\\d+/sandbox$`));
      expect((await fetch(String(chat))).status).toBe(200);
    },
  );

  it('names the newest copy where the database is gone, and says nothing where none ever was', async ({
    onTestFinished: atEnd,
  }) => {
    const folder = aFolder(atEnd);
    const database = join(folder, 'c.db');
    const first = startProgram(folder, { DATABASE_URL: 'file:c.db' }, atEnd);
    await first.url();
    first.kill('SIGTERM');
    expect(await first.ended).toBe(0);
    expect(first.written()).not.toContain('cronogram restore');
    mkdirSync(join(folder, 'backups'));
    copyFileSync(database, join(folder, 'backups', 'c.db-20260101-030000.db'));
    renameSync(database, `${database}.saved-20260102-030000`);
    utimesSync(join(folder, 'backups', 'c.db-20260101-030000.db'), 1, 1);
    const second = startProgram(folder, { DATABASE_URL: 'file:c.db' }, atEnd);
    const newest = join(realpathSync(folder), 'c.db.saved-20260102-030000');
    expect(await second.logs('database_made_anew')).toMatchObject({ level: 'warn', newest_copy: newest });
    const words = '\n\n  cronogram restore c.db.saved-20260102-030000\n';
    await soon(() => expect(second.written()).toContain(words));
  });

  it('makes the folder of its own files where the database is elsewhere', async ({ onTestFinished: atEnd }) => {
    const folder = aFolder(atEnd);
    const program = startProgram(folder, { DATABASE_URL: (await freshPostgres()).url, ...onPostgres }, atEnd);
    await program.url();
    expect(readdirSync(join(folder, 'data'))).toEqual(expect.arrayContaining(['alarm.json', 'sandbox.db']));
    program.kill('SIGTERM');
    expect(await program.ended).toBe(0);
  });

  it.for(['sandbox.db', 'api-token'])(
    'is refused with 1 and a sentence when %s cannot be used',
    async (name, { onTestFinished: atEnd }) => {
      const folder = aFolder(atEnd);
      mkdirSync(join(folder, name));
      const program = startProgram(folder, { DATABASE_URL: 'file:c.db' }, atEnd);
      expect(await program.ended).toBe(1);
      expect(program.written()).toMatch(new RegExp(`${name} .*\\([A-Z_]+\\)\\. Give the user of this process`));
      expect(program.written()).not.toContain('    at ');
    },
  );

  it('is refused with 78 for a kind of action that this version does not do', async ({ onTestFinished: atEnd }) => {
    const environment = { DATABASE_URL: 'file:c.db', WORKER_KINDS: 'http:5,carrier,*' };
    const program = startProgram(aFolder(atEnd), environment, atEnd);
    expect(await program.ended).toBe(78);
    expect(program.written()).toContain(
      'WORKER_KINDS names carrier, which this version does not do; it knows digest, http, message. Example: http:50,message',
    );
  });

  it('is refused with 78 for a kind that is named twice', async ({ onTestFinished: atEnd }) => {
    const environment = { DATABASE_URL: 'file:c.db', WORKER_KINDS: 'http:5,http' };
    const program = startProgram(aFolder(atEnd), environment, atEnd);
    expect(await program.ended).toBe(78);
    expect(program.written()).toContain('WORKER_KINDS names http twice. Example: http:50,message');
  });

  it('is refused with 78 and a sentence when .env cannot be read', async ({ onTestFinished: atEnd }) => {
    const folder = aFolder(atEnd);
    mkdirSync(join(folder, '.env'));
    const program = startProgram(folder, {}, atEnd);
    expect(await program.ended).toBe(78);
    expect(program.written()).toMatch(/^\.env cannot be read \([A-Z_]+\)\. Example: .+\n$/);
  });

  it('is refused with 1 and a sentence when another process has the database', async ({ onTestFinished: atEnd }) => {
    const folder = aFolder(atEnd);
    const first = startProgram(folder, { DATABASE_URL: 'file:c.db' }, atEnd);
    await first.url();
    const second = startProgram(folder, { DATABASE_URL: 'file:c.db' }, atEnd);
    expect(await second.ended).toBe(1);
    expect(second.written()).toMatch(new RegExp(`held by process ${first.pid} on .+ stop that one first\\.`));
    expect(second.written()).not.toContain('    at ');
  });

  it('accepts no more connections than leave files for its database', async ({ onTestFinished: atEnd }) => {
    const folder = aFolder(atEnd);
    const limit = 200;
    const program = startProgram(folder, { DATABASE_URL: 'file:c.db' }, atEnd, [
      'prlimit',
      `--nofile=${limit}:${limit}`,
    ]);
    const { port, origin } = new URL(await program.url());
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    atEnd(() => agent.destroy());
    const isReady = () =>
      new Promise<unknown>((resolve, reject) => {
        get(`${origin}/readyz`, { agent }, (answer) => resolve(answer.resume().statusCode)).on('error', reject);
      });
    await soon(async () => expect(await isReady()).toBe(200));
    const openFiles = () => readdirSync(`/proc/${program.pid}/fd`).length;
    const strangers = Array.from({ length: limit }, () => connect(Number(port), '127.0.0.1').on('error', () => {}));
    atEnd(() => strangers.forEach((socket) => socket.destroy()));
    const cut = new Set<Socket>();
    for (const socket of strangers) socket.once('close', () => cut.add(socket));
    await soon(() => expect(cut.size).toBeGreaterThan(limit / 2 - 1));

    // What the program opens beside them comes and goes, so the proof is what is left and not a number of its own.
    expect(limit - openFiles()).toBeGreaterThan(limit / 8);
    expect(await isReady()).toBe(200);
  });
});
