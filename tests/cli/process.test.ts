import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { stopBots, type Bot } from '../e2e/bot.ts';
import { aFolder } from '../support/place.ts';
import { compiledOnce, sourceFlags } from '../support/sources.ts';
import { aPlace, split, token } from './place.ts';

afterEach(stopBots);

const entry = fileURLToPath(new URL('../../src/cli.ts', import.meta.url));

let folder = '';
beforeEach(() => {
  folder = aFolder();
});

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

interface Meanwhile {
  readonly environment?: Readonly<Record<string, string>>;
  readonly whenStarted?: (child: ChildProcess) => Promise<void>;
}

/** The program as a process of its own, in a folder of its own. */
async function started(words: string, { environment = {}, whenStarted }: Meanwhile = {}): Promise<Ended> {
  const child = spawn(process.execPath, [...sourceFlags, entry, ...split(words)], {
    cwd: folder,
    env: { ...compiledOnce, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let [out, err] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  const ended = new Promise<Ended>((resolve) => child.once('close', (code) => resolve({ code, out, err })));
  await whenStarted?.(child);
  return ended;
}

/** True when a client has looked at a run. */
function isWaitedFor({ log }: Bot): boolean {
  return log.lines.some(({ event, facts }) => event === 'http_request' && facts['route'] === '/v1/runs/:run_id');
}

async function runs(bot: Bot): Promise<readonly unknown[]> {
  const answer = await fetch(`${bot.server.url}/v1/runs?status=live`, {
    headers: { authorization: `Bearer ${token}` },
  });
  return ((await answer.json()) as { readonly runs: readonly unknown[] }).runs;
}

describe('the program as a process', () => {
  it('tells its version and its help', async () => {
    expect(await started('--version')).toMatchObject({ code: 0, out: '0.1.0\n', err: '' });
    expect((await started('--help')).out).toContain('Usage: cronogram');
    expect(await started('tsk')).toMatchObject({ code: 2, out: '' });
  });

  it('finds the server of its folder, and its token', async () => {
    const { bot } = await aPlace();
    const { port } = new URL(bot.server.url);
    writeFileSync(join(folder, '.env'), `HTTP_PORT=${port}\n`);
    mkdirSync(join(folder, 'data'));
    writeFileSync(join(folder, 'data', 'api-token'), `${token}\n`);
    expect(await started('task create --cron "0 9 * * *" --timezone UTC Hello')).toMatchObject({ code: 0 });
    expect((await started('task list')).out).toContain('Hello');
  });

  it('finds the server of its folder by what that left there, until another is named', async () => {
    const database = join(folder, 'data', 'cronogram.db');
    const { bot } = await aPlace({ DATABASE_URL: `file:${database}` });
    const environment = { API_TOKEN: token };
    expect((await started('version', { environment })).out).toContain(bot.server.url);
    const other = { ...environment, CRONOGRAM_API_URL: 'http://127.0.0.1:1' };
    expect((await started('version', { environment: other })).err).toContain('http://127.0.0.1:1:');
    const file = join(folder, 'data', 'server.json');
    const kept = readFileSync(file, 'utf8');
    await stopBots();
    expect(existsSync(file)).toBe(false);
    // A server that was killed takes nothing away; its address is no longer one.
    writeFileSync(file, kept.replace(`"pid":${process.pid}`, '"pid":4194304'));
    expect((await started('version', { environment })).err).toContain('127.0.0.1:8787');
  });

  it('is found by its name in a clone, also where that was asked for before it was built', () => {
    const { scripts } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
      readonly scripts: { readonly postinstall: string };
    };
    expect(spawnSync('sh', ['-c', scripts.postinstall], { cwd: folder }).status).toBe(0);
    mkdirSync(join(folder, 'dist'));
    writeFileSync(join(folder, 'dist', 'cli.js'), 'built');
    expect(readFileSync(join(folder, 'node_modules', '.bin', 'cronogram'), 'utf8')).toBe('built');
  });

  it.runIf(existsSync('/proc/self/stat'))('asks no server that was killed, whoever has its number now', async () => {
    mkdirSync(join(folder, 'data'));
    const left = { url: 'http://127.0.0.1:1', pid: process.pid, host: hostname(), began: '1' };
    const file = join(folder, 'data', 'server.json');
    // Numbers of processes are given anew, after a restart of the computer above all.
    writeFileSync(file, JSON.stringify(left));
    const asked = () => started('version', { environment: { API_TOKEN: token } });
    expect((await asked()).err).toContain('127.0.0.1:8787');
    // A parent that never asks for the end of its child leaves it unburied: `sleep` does, the shell before it does not.
    const untilSleep = 'until grep -q sleep /proc/$$/comm; do :; done';
    const parent = spawn('sh', ['-c', `${untilSleep} & echo $!; exec sleep 600`], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    onTestFinished(() => void parent.kill());
    const pid = await new Promise<number>((resolve) => {
      parent.stdout.once('data', (text: Buffer) => resolve(Number(text.toString())));
    });
    const statOf = () =>
      readFileSync(`/proc/${pid}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ');
    while (statOf()[0] !== 'Z') await new Promise(setImmediate);
    writeFileSync(file, JSON.stringify({ ...left, pid, began: statOf()[19] }));
    expect((await asked()).err).toContain('127.0.0.1:8787');
  });

  it('stops waiting when it is interrupted, and says that the run goes on', async () => {
    const { bot, well } = await aPlace({ ECHO_ACTION: '1' });
    const action = `--action-json '{"kind":"echo","delay_ms":60000}'`;
    await well(`task create --cron "0 9 * * *" --timezone UTC ${action} Hello`);
    const environment = { CRONOGRAM_API_URL: bot.server.url, CRONOGRAM_API_TOKEN: token };
    // The time of the server stands still, so that the run goes on for as long as this takes.
    const ended = await started('task run 1 --wait --timeout 1h', {
      environment,
      whenStarted: async (child) => {
        while (!isWaitedFor(bot)) await new Promise(setImmediate);
        child.kill('SIGINT');
      },
    });
    expect(ended).toMatchObject({ code: 130, out: '' });
    expect(ended.err).toContain('the run continues');
    expect(await runs(bot)).toMatchObject([{ status: 'running' }]);
  });

  it('prints completion for every shell, and what fits', async () => {
    for (const shell of ['bash', 'zsh', 'fish', 'powershell']) {
      const said = await started(`completion ${shell}`);
      expect(said).toMatchObject({ code: 0, err: '' });
      expect(said.out).toMatch(/cronogram \S*complete\b/);
    }
    expect((await started('complete -- task pa')).out).toContain('pause\t');
    expect((await started('complete -- task list --st')).out).toContain('--state\t');
    expect((await started('complete -- task list --state e')).out).toContain('enabled');
    const without = await started('complete -- task get ""');
    expect(without).toMatchObject({ code: 0, err: '' });
  });

  it('completes in a bash that has nothing else installed, and may be read twice', async () => {
    const { out } = await started('completion bash');
    const stub = 'cronogram() { printf "list\\tlist tasks\\nlatest\\t\\n:4\\n"; }; compopt() { :; }';
    const typed = 'COMP_WORDS=(cronogram task li); COMP_CWORD=2; __cronogram_complete; echo "${COMPREPLY[*]}"';
    const file = join(folder, 'completion.bash');
    writeFileSync(file, out);
    const read = `source ${file}`;
    const done = spawnSync('bash', ['--norc', '-c', [stub, read, read, typed].join('\n')], { encoding: 'utf8' });
    expect(done).toMatchObject({ status: 0, stderr: '', stdout: 'list\n' });
  });

  it('completes the ids of tasks', async () => {
    const { bot, well } = await aPlace();
    const made = await well('task create --cron "0 9 * * *" --timezone UTC Hello --json');
    const { task_id: id } = made.json['task'] as { readonly task_id: string };
    const environment = { CRONOGRAM_API_URL: bot.server.url, CRONOGRAM_API_TOKEN: token };
    expect((await started('complete -- task get ""', { environment })).out).toContain(`${id}\tHello`);
  });
});
