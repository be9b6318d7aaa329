import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { CONFIG_KEYS, readConfig } from '../../src/config/config.ts';
import { stopMaxMs } from '../../src/domain/limits.ts';
import { aFolder } from '../support/place.ts';
import { freePort } from '../support/ports.ts';
import { onPostgres } from '../support/postgres.ts';
import { startProgram } from './program.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const text = (name: string) => readFileSync(join(root, name), 'utf8');

interface Instruction {
  readonly does: string;
  readonly rest: string;
}

/** One for each instruction: comments are gone, and lines that go on are one. */
function instructionsOf(dockerfile: string): readonly Instruction[] {
  const lines = dockerfile
    .split('\n')
    .filter((line) => !line.startsWith('#'))
    .join('\n')
    .replace(/\\\n\s*/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '');
  // An instruction that goes on in an indented line is one as well.
  const whole = lines.reduce<string[]>(
    (all, line) => (/^\s/.test(line) ? [...all.slice(0, -1), `${all.at(-1) ?? ''} ${line.trim()}`] : [...all, line]),
    [],
  );
  return whole.map((line) => ({ does: line.split(/\s/, 1)[0] ?? '', rest: line.replace(/^\S+\s+/, '') }));
}

const instructions = instructionsOf(text('Dockerfile'));
const last = instructions.slice(instructions.findLastIndex(({ does }) => does === 'FROM'));
const restOf = (of: readonly Instruction[], does: string) =>
  of.filter((one) => one.does === does).map(({ rest }) => rest);
const argvOf = (rest: string) => JSON.parse(rest.slice(rest.indexOf('['))) as string[];

describe('the image', () => {
  it('copies only what is there, and what .dockerignore lets through', () => {
    const let_ = text('.dockerignore')
      .split('\n')
      .filter((line) => line.startsWith('!'))
      .map((line) => line.slice(1));
    const copied = restOf(instructions, 'COPY')
      .filter((rest) => !rest.startsWith('--from='))
      .flatMap((rest) => rest.split(/\s+/).slice(0, -1));
    expect(copied.length).toBeGreaterThan(6);
    for (const source of copied) {
      expect(existsSync(join(root, source)), source).toBe(true);
      expect(let_).toContain(source.replace(/^\.\//, '').replace(/\/$/, ''));
    }
    expect(text('.dockerignore')).toMatch(/^\*$/m);
    expect(let_.sort()).toEqual([...new Set(copied.map((source) => source.replace(/^\.\//, '')))].sort());
  });

  it('brings along what the server reads beside its code', () => {
    const copied = restOf(last, 'COPY').map((rest) => rest.split(/\s+/));
    for (const folder of ['drizzle', 'docs']) expect(copied).toContainEqual([folder, `/app/${folder}`]);
  });

  it('takes from its build what the build makes', () => {
    const taken = restOf(last, 'COPY').filter((rest) => rest.startsWith('--from='));
    expect(taken.map((rest) => rest.split(/\s+/)[1])).toEqual(['/app/node_modules', '/app/dist']);
    expect(restOf(instructions, 'ARG')).toEqual(['BASE=node:24-slim']);
    expect(restOf(instructions, 'FROM').map((rest) => rest.split(/\s+/)[0])).toEqual(['${BASE}', '${BASE}']);
    const built = restOf(instructions, 'RUN').join('\n');
    // The compiler is an optional dependency as well.
    expect(built).not.toMatch(/npm ci.*omit=optional/);
  });

  it('runs as nobody of importance, with its data in a volume of that user', () => {
    const user = last.findIndex(({ does }) => does === 'USER');
    expect(last[user]?.rest).toBe('node');
    for (const later of ['VOLUME', 'HEALTHCHECK', 'CMD'])
      expect(last.findIndex(({ does }) => does === later)).toBeGreaterThan(user);
    expect(restOf(last, 'VOLUME')).toEqual(['/data']);
    expect(restOf(last, 'WORKDIR')).toEqual(['/data']);
    expect(restOf(last, 'RUN').join('\n')).toContain('chown node:node /data');
    expect(argvOf(restOf(last, 'CMD')[0] ?? '')).toEqual(['node', '--max-semi-space-size=8', '/app/dist/main.js']);
  });

  it('is configured by variables that exist, and holds no secret', () => {
    const env = Object.fromEntries(
      restOf(last, 'ENV')
        .join(' ')
        .split(/\s+/)
        .map((pair) => pair.split('=') as [string, string]),
    );
    for (const key of Object.keys(env).filter((name) => name !== 'NODE_ENV')) expect(CONFIG_KEYS).toContain(key);
    expect(readConfig(env)).toMatchObject({ config: { HTTP_HOST: '0.0.0.0', HTTP_PORT: 8787 } });
    expect(restOf(last, 'EXPOSE')).toEqual([env['HTTP_PORT']]);
  });

  it('has the command line at hand under its name', () => {
    expect(restOf(last, 'RUN').join('\n')).toContain('ln -s /app/dist/cli.js /usr/local/bin/cronogram');
    expect(restOf(instructions, 'RUN').join('\n')).toContain('chmod +x dist/cli.js');
    expect(text('src/cli.ts')).toMatch(/^#!\/usr\/bin\/env node\n/);
  });

  it('asks a health check that a server passes, and that nobody fails to hear of when there is none', async () => {
    const port = String(await freePort());
    const settings = { DATABASE_URL: 'file:c.db', HTTP_PORT: port };
    const program = startProgram(aFolder(onTestFinished), settings, onTestFinished);
    await program.url();
    const [command = '', ...args] = argvOf(restOf(last, 'HEALTHCHECK')[0] ?? '');
    expect(command).toBe('node');
    const check = (script: readonly string[]) =>
      promisify(execFile)(process.execPath, [...script], { env: { HTTP_PORT: port } }).then(
        () => 0,
        (error: unknown) => (error as { code: number }).code,
      );
    expect(await check(args)).toBe(0);
    const composed = composeFile.services['cronogram']?.healthcheck?.test ?? [];
    const [kind, node, flag, script = ''] = composed;
    expect([kind, node, flag]).toEqual(['CMD', 'node', '-e']);
    expect(await check(['-e', script.replace('8787', port)])).toBe(0);
    program.kill('SIGTERM');
    await program.ended;
    expect(await check(args)).toBe(1);
    expect(await check(['-e', script.replace('8787', port)])).toBe(1);
  });
});

interface Service {
  readonly image?: string;
  readonly build?: string;
  readonly profiles?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly secrets?: readonly string[];
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly stop_grace_period?: string;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly init?: boolean;
  readonly security_opt?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly test: readonly string[] };
}

interface ComposeFile {
  readonly name: string;
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, unknown>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
}

const composeFile = parse(text('compose.yaml'), { merge: true }) as ComposeFile;

/** The keys of a service that are used here, out of those that Compose knows: a slip in one of them would be refused, or go unnoticed. */
const serviceKeys = new Set(
  'image build profiles restart init ports volumes read_only tmpfs cap_drop security_opt pids_limit mem_limit stop_grace_period healthcheck logging env_file environment secrets depends_on deploy'.split(
    ' ',
  ),
);
const alone = ['cronogram', 'cronogram-postgres'];
const together = ['cronogram-api', 'cronogram-bot', 'cronogram-worker'];
const ours = [...alone, ...together].map((name) => [name, composeFile.services[name] ?? {}] as const);

describe('compose.yaml', () => {
  it('uses keys that Compose knows, and names volumes, secrets and services that it declares', () => {
    expect(
      Object.keys(composeFile)
        .filter((key) => !key.startsWith('x-'))
        .sort(),
    ).toEqual(['name', 'secrets', 'services', 'volumes'].sort());
    for (const [name, service] of Object.entries(composeFile.services)) {
      for (const key of Object.keys(service)) expect(serviceKeys.has(key), `${name}.${key}`).toBe(true);
      for (const secret of service.secrets ?? []) expect(composeFile.secrets).toHaveProperty(secret);
      for (const volume of service.volumes ?? [])
        expect(composeFile.volumes).toHaveProperty(volume.split(':')[0] ?? '');
      for (const [other, { condition }] of Object.entries(service.depends_on ?? {}))
        expect([composeFile.services[other]?.healthcheck !== undefined, condition]).toEqual([true, 'service_healthy']);
    }
  });

  it.each(ours)(
    'lets %s write to its volume or to memory alone, rise to nothing, and stop in its own time',
    (name, service) => {
      expect(service).toMatchObject({
        build: '.',
        read_only: true,
        cap_drop: ['ALL'],
        init: true,
        security_opt: ['no-new-privileges:true'],
        volumes: alone.includes(name) ? ['data:/data'] : [],
        restart: 'unless-stopped',
      });
      const [, seconds = ''] = /^(\d+)s$/.exec(service.stop_grace_period ?? '') ?? [];
      expect(Number(seconds) * 1000).toBeGreaterThan(stopMaxMs);
      // Ports are closed to other computers until the owner decides otherwise.
      for (const port of service.ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:\d+:8787$/);
    },
  );

  it.each(ours)('gives %s its secrets as files, and variables that exist', (_name, service) => {
    const environment = service.environment ?? {};
    const files = Object.entries(environment).filter(([key]) => key.endsWith('_FILE'));
    expect(files.map(([, path]) => path).sort()).toEqual(
      (service.secrets ?? []).map((name) => `/run/secrets/${name}`).sort(),
    );
    for (const key of Object.keys(environment)) expect(CONFIG_KEYS).toContain(key.replace(/_FILE$/, ''));
    const plain = Object.fromEntries(Object.entries(environment).filter(([key]) => !key.endsWith('_FILE')));
    // What the files hold, as far as others must fit it.
    const inFiles: Readonly<Record<string, string>> = {
      SECRETS_KEY: onPostgres.SECRETS_KEY,
      API_TOKEN: 'a-token-of-the-tests-that-nobody-guesses',
      DATABASE_URL: 'postgres://postgres/cronogram',
      TELEGRAM_BOT_TOKEN: '123456789:the-token-of-the-bot-of-the-tests',
    };
    const read = files.map(([key]) => key.replace(/_FILE$/, '')).map((key) => [key, inFiles[key]] as const);
    const held = Object.fromEntries(read.filter(([, value]) => value !== undefined));
    expect(readConfig({ ...plain, ...held })).not.toHaveProperty('faults');
    expect(JSON.stringify(composeFile)).not.toMatch(/PASSWORD":|TOKEN":"/);
  });

  it('starts Postgres only where it is asked for, and keeps secrets out of the repository and the image', () => {
    const asked = Object.entries(composeFile.services).filter(([, { profiles }]) => profiles === undefined);
    expect(asked.map(([name]) => name)).toEqual(['cronogram']);
    for (const { file } of Object.values(composeFile.secrets)) expect(file).toMatch(/^\.\/secrets\/\w+$/);
    expect(text('.gitignore')).toMatch(/^\/secrets\/$/m);
    expect(text('.dockerignore')).not.toMatch(/^!.*(?:secrets|\.env|data)/m);
  });
});
