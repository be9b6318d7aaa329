import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Breach } from '../invariants/rows.ts';
import { readyUrl, start, type StartOptions } from './program.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const run = promisify(execFile);

/**
 * The steps of the Dockerfile, in clean folders and without a container: what it copies is built, what it leaves out is not
 * there, the packages are those of production alone, and the server runs with nothing but its volume to write to.
 */
export async function image({ folder, telegram }: StartOptions): Promise<Breach[]> {
  const [build, app, data] = ['build', 'app', 'data'].map((name) => join(folder, 'image', name)) as [
    string,
    string,
    string,
  ];
  for (const place of [build, app, data]) mkdirSync(place, { recursive: true });
  for (const name of ['package.json', 'package-lock.json', '.npmrc', 'tsconfig.json', 'src'])
    cpSync(join(root, name), join(build, name), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(build, 'node_modules'));
  await run('npm', ['run', '--silent', 'build'], { cwd: build });
  cpSync(join(build, 'dist'), join(app, 'dist'), { recursive: true });
  for (const name of ['package.json', 'LICENSE', 'drizzle', 'docs'])
    cpSync(join(root, name), join(app, name), { recursive: true });
  copyPackages(join(app, 'node_modules'));

  const before = listing(app);
  const main = join(app, 'dist/main.js');
  const settings = { NODE_ENV: 'production', HTTP_HOST: '0.0.0.0' };
  const server = start({ main, folder: data, databaseUrl: `file:${join(data, 'cronogram.db')}`, telegram, settings });
  const port = new URL(await readyUrl(server)).port;
  const breaches: Breach[] = [];
  const manual = await fetch(`http://127.0.0.1:${port}/docs/start`).then(({ status }) => status, String);
  if (manual !== 200) breaches.push({ promise: 'the manual is there', rows: manual });
  const [node = '', ...args] = healthcheck();
  const checked = await run(node, args, { env: { ...withPath(), HTTP_PORT: port } }).then(() => 0, String);
  if (checked !== 0) breaches.push({ promise: 'the health check passes', rows: checked });
  const cli = join(app, 'dist/cli.js');
  const told = await run(process.execPath, [cli, '--version'], { cwd: data }).then(
    ({ stdout }) => stdout.trim(),
    String,
  );
  if (!/^\d+\.\d+\.\d+/.test(told)) breaches.push({ promise: 'the command line is there', rows: told });
  const { code } = await server.stop();
  if (code !== 0) breaches.push({ promise: 'it stops with code 0', rows: { code, errors: server.errors() } });
  const after = listing(app);
  if (after.join('\n') !== before.join('\n'))
    breaches.push({
      promise: 'nothing is written beside the volume',
      rows: after.filter((one) => !before.includes(one)),
    });
  return breaches;
}

function withPath(): Readonly<Record<string, string>> {
  return { PATH: process.env['PATH'] ?? '' };
}

/** As the last stage of the Dockerfile has it. */
function healthcheck(): readonly string[] {
  const text = readFileSync(join(root, 'Dockerfile'), 'utf8');
  return JSON.parse(/HEALTHCHECK[^[]*CMD (\[.*\])/s.exec(text)?.[1]?.split('\n', 1)[0] ?? '[]') as string[];
}

interface Locked {
  readonly packages: Readonly<Record<string, { readonly dev?: boolean; readonly optional?: boolean }>>;
}

/** What `npm prune --omit=dev` leaves, as the lock file tells it. */
function copyPackages(target: string): void {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as Locked;
  const kept = Object.entries(packages).filter(([path, { dev }]) => path.startsWith('node_modules/') && dev !== true);
  for (const [path] of kept) {
    const [from, to] = [join(root, path), join(target, path.slice('node_modules/'.length))];
    if (!existsSync(from)) continue;
    // Packages within packages have entries of their own.
    cpSync(from, to, { recursive: true, filter: (one) => !one.slice(from.length).split('/').includes('node_modules') });
  }
}

function listing(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => `${name} ${statSync(join(folder, name)).mtimeMs}`)
    .toSorted();
}
