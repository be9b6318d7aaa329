import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const broughtNode = join(root, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin/node');
const baseName = 'localhost/node';
/** The release of Debian on which `node:24-slim` stands. */
const debian = 'bookworm';
const buildMaxMs = 1_200_000;

export interface Image {
  /** The unpacked files of the image. */
  readonly rootfs: string;
  readonly config: {
    readonly Cmd: readonly string[];
    readonly Env: readonly string[];
    readonly Healthcheck: { readonly Test: readonly string[] };
    readonly User: string;
    readonly Volumes: Readonly<Record<string, object>>;
    readonly WorkingDir: string;
  };
}

type Buildah = (...args: readonly string[]) => string;

/** The Dockerfile as it is, built by buildah in a folder of its own and without an image of others: the base is made here. */
export function buildImage(folder: string): Image {
  const storage = ['--storage-driver', 'vfs', '--root', join(folder, 'store'), '--runroot', join(folder, 'runs')];
  const buildah: Buildah = (...args) =>
    execFileSync('buildah', [...storage, ...args], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
      timeout: buildMaxMs,
    }).trim();
  makeBase(buildah);
  const settings = npmSettings(folder).flatMap((volume) => ['--volume', volume]);
  const how = ['--isolation', 'chroot', '--pull-never', '--format', 'docker', '--build-arg', `BASE=${baseName}`];
  buildah('build', ...how, ...settings, '--tag', 'cronogram', root);
  const rootfs = buildah('mount', buildah('from', '--pull-never', 'localhost/cronogram'));
  const { Docker: told } = JSON.parse(buildah('inspect', '--type', 'image', 'localhost/cronogram')) as {
    readonly Docker: { readonly config: Image['config'] };
  };
  return { rootfs, config: told.config };
}

/** As `node:24-slim` is made: Debian without its extras, Node and npm below /usr/local, and a user `node`. */
function makeBase(buildah: Buildah): void {
  const container = buildah('from', 'scratch');
  const base = buildah('mount', container);
  execFileSync('debootstrap', ['--variant=minbase', '--include=libstdc++6', debian, base], { stdio: 'ignore' });
  const local = join(base, 'usr/local');
  cpSync(broughtNode, join(local, 'bin/node'));
  cpSync(dirname(dirname(process.env['npm_execpath'] ?? '')), join(local, 'lib/npm'), { recursive: true });
  for (const name of ['npm', 'npx']) symlinkSync(`../lib/npm/bin/${name}-cli.js`, join(local, 'bin', name));
  execFileSync('chroot', [base, 'useradd', '--uid', '1000', '--create-home', 'node']);
  buildah('commit', '--quiet', '--rm', container, baseName);
}

/** npm in the build is told what npm of this machine is told. It is mounted, so nothing of it gets into the image. */
function npmSettings(folder: string): readonly string[] {
  type Settings = Readonly<Record<string, string | null>>;
  const told = JSON.parse(execFileSync('npm', ['config', 'ls', '--json'], { encoding: 'utf8' })) as Settings;
  const authorities = told['cafile'] ?? process.env['NODE_EXTRA_CA_CERTS'];
  const inside = '/etc/npm-authorities.pem';
  const sources: Settings = { ...told, cafile: authorities === undefined ? null : inside };
  const own = told['userconfig'] ?? '';
  const lines = (['registry', 'proxy', 'https-proxy', 'cafile'] as const)
    .filter((key) => typeof sources[key] === 'string')
    .map((key) => `${key}=${sources[key]}`);
  const file = join(folder, 'npmrc');
  writeFileSync(file, [existsSync(own) ? readFileSync(own, 'utf8') : '', ...lines, ''].join('\n'), { mode: 0o600 });
  const cache = told['cache'] ?? join(folder, 'npm');
  mkdirSync(cache, { recursive: true });
  return [
    `${file}:/root/.npmrc:ro`,
    `${cache}:/root/.npm`,
    ...(authorities === undefined ? [] : [`${authorities}:${inside}:ro`]),
  ];
}

/** The sentence for somebody whose machine cannot do this, or null. */
export function lackOf(tools: readonly string[]): string | null {
  const found = (tool: string) => (process.env['PATH'] ?? '').split(':').some((place) => existsSync(join(place, tool)));
  const absent = tools.filter((tool) => !found(tool));
  if (absent.length > 0)
    return `There is no ${absent.join(', no ')}: run "apt-get install ${tools.join(' ')}" on Debian.`;
  if (process.getuid?.() !== 0) return 'It mounts and changes users: run it as root.';
  if (!existsSync(broughtNode)) return `There is no ${broughtNode}: run "npm ci" on Linux, x64 or arm64.`;
  if (process.env['npm_execpath'] === undefined) return 'Run it as "npm run test:container".';
  return null;
}
