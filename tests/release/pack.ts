import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { check, deliver, tellChecks } from './checks.ts';

/**
 * `npm run test:pack`: the package as people get it who clone nothing. It is packed, looked through, installed into an empty
 * folder without the packages of developers, and made to deliver one task in its sandbox.
 */
const root = fileURLToPath(new URL('../../', import.meta.url));
const allowed = /^(?:dist\/|drizzle\/|docs\/|(?:README|LICENSE|CHANGELOG)(?:\.md)?$|\.env\.example$|package\.json$)/;
const needed = [
  'dist/main.js',
  'dist/cli.js',
  'dist/system/pool/program.js',
  'README.md',
  'LICENSE',
  'CHANGELOG.md',
  '.env.example',
  'package.json',
];
const needless = /\.(?:ts|map)$|^dist\/bench\//;
const installMaxMs = 300_000;
const startMaxMs = 30_000;

/** The PATH without the packages of this repository, so that the machine's own Node is found first. */
function foreignPath(): string {
  const own = join(root, 'node_modules');
  const folders = (process.env['PATH'] ?? '').split(':');
  return folders.filter((folder) => !folder.startsWith(own) && !folder.includes('node-gyp-bin')).join(':');
}

/** The environment of somebody who has just installed it: nothing of this run's settings. */
function environment(more: Readonly<Record<string, string>> = {}): Record<string, string> {
  return { PATH: foreignPath(), HOME: process.env['HOME'] ?? '', ...more };
}

/** npm is told by its environment where packages come from, and by the npm that runs this script what it must forget. */
function npm(cwd: string, ...args: readonly string[]): void {
  const forget = /^npm_(?!config_(?:registry|cafile|https?_?proxy|proxy|noproxy)$)/i;
  const kept = Object.entries(process.env).filter(([name]) => !forget.test(name));
  const env = { ...Object.fromEntries(kept), PATH: foreignPath() };
  execFileSync('npm', args, { cwd, env, stdio: ['ignore', 'ignore', 'inherit'], timeout: installMaxMs });
}

interface Packed {
  readonly filename: string;
  readonly size: number;
  readonly files: readonly { readonly path: string }[];
}

function pack(folder: string): string {
  const told = execFileSync('npm', ['pack', '--json', '--silent', '--pack-destination', folder], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  // The build prints before it.
  const [packed] = Object.values(JSON.parse(told.slice(told.search(/^[[{]/m))) as Record<string, Packed>);
  if (packed === undefined) throw new Error('npm pack told nothing');
  const paths = packed.files.map(({ path }) => path);
  const stray = paths.filter((path) => !allowed.test(path) || needless.test(path));
  check(
    'the tarball holds what it needs',
    needed.every((path) => paths.includes(path)),
    paths,
  );
  check(
    'and the migrations of both engines',
    ['sqlite', 'postgres'].every((name) => paths.some((path) => path.startsWith(`drizzle/${name}/`))),
    paths,
  );
  check(
    'and the docs',
    paths.some((path) => /^docs\/.*\.md$/.test(path)),
    paths,
  );
  check('and nothing else', stray.length === 0, stray);
  console.log(`     ${packed.filename}, ${Math.round(packed.size / 1024)} kB, ${paths.length} files`);
  return join(folder, packed.filename);
}

const quietly = ['--omit=dev', '--no-audit', '--no-fund'];

function install(folder: string, tarball: string): string {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "private": true }');
  const began = performance.now();
  npm(folder, 'install', ...quietly, tarball);
  console.log(`     installed in ${((performance.now() - began) / 1000).toFixed(1)} s`);
  return join(folder, 'node_modules', '.bin', 'cronogram');
}

function installGlobally(prefix: string, tarball: string): string {
  npm(root, 'install', '--global', '--prefix', prefix, ...quietly, tarball);
  return join(prefix, 'bin', 'cronogram');
}

interface Told {
  readonly code: number;
  readonly out: string;
}

function run(cronogram: string, args: readonly string[], cwd: string, more = {}): Told {
  try {
    return { code: 0, out: execFileSync(cronogram, args, { cwd, env: environment(more), encoding: 'utf8' }) };
  } catch (error) {
    const { status, stdout } = error as { status: number | null; stdout: string };
    return { code: status ?? 1, out: stdout };
  }
}

interface Started {
  readonly child: ChildProcess;
  readonly url: string;
  readonly claim: string;
  readonly node: string;
}

/** Starts the server and waits until it has said where it is and by which code it is owned. */
function start(cronogram: string, cwd: string): Promise<Started> {
  const child = spawn(cronogram, ['start'], {
    cwd,
    env: environment({ HTTP_PORT: '0' }),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let [url, claim] = ['', ''];
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error('The server has not started.')), startMaxMs);
    child.once('exit', (code) => reject(new Error(`The server ended with ${code}.`)));
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line.includes('"event":"started"')) url = new URL((JSON.parse(line) as { api: string }).api).origin;
      claim ||= /\/start (\S{20,})/.exec(line)?.[1] ?? '';
      if (url === '' || claim === '') return;
      clearTimeout(late);
      void version(url).then((node) => resolve({ child, url, claim, node }), reject);
    });
  });
}

async function version(url: string): Promise<string> {
  return ((await (await fetch(`${url}/version`)).json()) as { node: string }).node;
}

function asking(url: string) {
  return async (path: string, body?: object): Promise<string> => {
    const json = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    const answer = await fetch(url + path, body === undefined ? {} : json);
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return answer.text();
  };
}

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'cronogram-pack-'));
  try {
    const tarball = pack(folder);
    const home = join(folder, 'installed');
    const cronogram = install(home, tarball);
    check('--help names the verbs', /\bstart\b[\s\S]*\bdoctor\b/.test(run(cronogram, ['--help'], home).out));
    const started = await start(cronogram, home);
    check('it runs on the Node that it brings', started.node.startsWith('24.'), started.node);
    const doctor = run(cronogram, ['doctor', '--json'], home, { HTTP_PORT: new URL(started.url).port });
    check(
      'doctor looks at it',
      doctor.out.trimStart().startsWith('{') || doctor.out.trimStart().startsWith('['),
      doctor,
    );
    await deliver(asking(started.url), started.claim);
    const ended = new Promise<number | null>((resolve) => started.child.once('exit', resolve));
    started.child.kill('SIGTERM');
    check('it stops with code 0', (await ended) === 0);
    const global = installGlobally(join(folder, 'global'), tarball);
    const told = run(global, ['--version'], folder);
    check(
      'a global install answers on whatever Node is there',
      told.code === 0 && /^\d+\.\d+\.\d+/.test(told.out),
      told,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  tellChecks();
}

await main();
