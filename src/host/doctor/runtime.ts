import { statSync } from 'node:fs';
import { join } from 'node:path';
import { counted } from '../../cli/times.ts';
import { isLoopback } from '../../config/config.ts';
import { errorText } from '../../domain/errors.ts';
import { apiTokenLengthMin } from '../../domain/limits.ts';
import { retentionDaysMin } from '../../domain/policy.ts';
import { keyIdsOf } from '../../system/vault.ts';
import { keySource, type Settings } from '../here.ts';
import { fail, ok, warn, type Check, type Verdict } from './finding.ts';

/** Where it runs: Node, npm, the driver of the database, the rules of time. */

/** The oldest Node that will do, as package.json (engines) and the entries' own look have it. */
const nodeLeast = [22, 19] as const;
/** Older ones do not read the lock file. */
const npmLeast = 10;

const node: Check = {
  check: 'node',
  title: 'Node.js',
  look: ({ here }) => {
    const { version } = here.system.node;
    const [major = 0, minor = 0] = version.split('.').map(Number);
    const isEnough = major > nodeLeast[0] || (major === nodeLeast[0] && minor >= nodeLeast[1]);
    if (isEnough) return [ok(version)];
    return [fail(`${version} is too old.`, `Install Node.js ${nodeLeast.join('.')} or newer, then: npm ci`)];
  },
};

const npm: Check = {
  check: 'npm',
  title: 'npm',
  look: async ({ here }) => {
    const ran = await here.system.run('npm', ['--version']);
    if (ran.is === 'absent') return [ok('not here; it is needed for an installation and an upgrade only')];
    const version = ran.out.trim().split('\n').at(-1) ?? '';
    if (ran.code !== 0 || !/^\d+\./.test(version))
      return [warn('It does not tell its version.', 'Install npm again: npm install -g npm@latest')];
    if (Number(version.split('.')[0]) >= npmLeast) return [ok(version)];
    return [warn(`${version} is older than what the product is installed with.`, 'npm install -g npm@latest')];
  },
};

const reinstall = 'npm ci, on the computer where it runs';

const driver: Check = {
  check: 'sqlite',
  title: 'SQLite driver',
  look: ({ here }) => {
    try {
      return [ok(`loads, SQLite ${here.system.loadDriver()}`)];
    } catch (error) {
      return [driverFault(errorText(error))];
    }
  },
};

function driverFault(message: string): Verdict {
  const [first = ''] = message.split('\n');
  if (/GLIBC|GLIBCXX/.test(message))
    return fail(
      `It does not fit this system: ${first}`,
      'A newer system: its binary needs the version that is named here.',
    );
  if (/could not locate the bindings file|Cannot find module .*better_sqlite3\.node/i.test(message))
    return fail('Its binary for this computer is missing, although it comes with the package.', reinstall);
  if (/NODE_MODULE_VERSION|ERR_DLOPEN_FAILED|different Node\.js version|invalid ELF header/i.test(message))
    return fail('It was installed on another computer, or for another Node.js.', reinstall);
  return fail(`It does not load: ${first}`, reinstall);
}

const children: Check = {
  check: 'child_process',
  title: 'Child process',
  look: async ({ here }) => {
    const fault = await here.system.childFault();
    if (fault === null) return [ok('starts, for templates and the second opinion')];
    return [
      fail(
        `None can be started (${fault}), so texts with {{ or {% are not sent.`,
        'Allow more processes and memory: ulimit -u, TasksMax= of the service, pids_limit of the container.',
      ),
    ];
  },
};

/** Winter and summer of a zone that every build of Node.js knows, one hour and two hours ahead of UTC. */
const known = { zone: 'Europe/Madrid', offsets: [1, 2], months: [0, 6] } as const;

const zones: Check = {
  check: 'time_zones',
  title: 'Time zones',
  look: ({ here, settings, examined }) => {
    const { zoneRules } = here.system.node;
    const offsets = known.months.map((month) => hoursAhead(known.zone, Date.UTC(2027, month, 1, 12)));
    if (offsets.some((hours, at) => hours !== known.offsets[at]))
      return [fail('Node.js has no time zone data.', 'Install an official build of Node.js: nodejs.org')];
    const inUse = `${zoneRules}, default zone ${settings.config.DEFAULT_TIMEZONE}`;
    const { inspection } = examined;
    const recorded = inspection.is === 'sound' ? inspection.facts.zoneRules : null;
    if (recorded === null || recorded === zoneRules) return [ok(inUse)];
    const change = `The next slots were computed with ${recorded}, this Node.js brings ${zoneRules}.`;
    if (zoneRules === 'unknown' || recorded < zoneRules) return [ok(`${change} The next start computes them again.`)];
    return [warn(`${change} That is older, so rules of time may be missing.`, 'Install a newer Node.js.')];
  },
};

function hoursAhead(timeZone: string, instant: number): number {
  const format = new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', hourCycle: 'h23' });
  return Number(format.format(new Date(instant))) - 12;
}

export const runtimeChecks: readonly Check[] = [node, npm, driver, children, zones];

/** Settings of the operator, and who can read them. */

const configuration: Check = {
  check: 'configuration',
  title: 'Configuration',
  look: ({ here, settings }) => {
    const faults = settings.faults.map(({ variable, problem, example }) =>
      fail(`${variable} ${problem}.`, `Set it in .env, for example ${variable}=${example}`),
    );
    const strays = settings.strays.map(({ variable, nearest, isUnbuilt }) =>
      warn(
        isUnbuilt ? `${variable} has no effect in this version.` : `${variable} is not used.`,
        nearest === null ? 'Remove it; .env.example lists what there is.' : `Did you mean ${nearest}?`,
      ),
    );
    if (faults.length + strays.length > 0) return [...faults, ...strays];
    const where =
      modeOf(join(here.system.folder, '.env')) === null ? 'no .env here; the environment' : '.env and the environment';
    return [ok(`${where}: nothing wrong`)];
  },
};

/** The permissions of a file; null when there is none. */
function modeOf(file: string): number | null {
  const mode = statSync(file, { throwIfNoEntry: false })?.mode;
  return mode === undefined ? null : mode & 0o777;
}

export function isOpenToOthers(file: string): boolean {
  return ((modeOf(file) ?? 0) & 0o077) !== 0;
}

const envFile: Check = {
  check: 'env_file',
  title: 'Secrets in .env',
  leftOut: ({ here }) => (modeOf(join(here.system.folder, '.env')) === null ? 'there is no .env here' : null),
  look: ({ here }) => {
    const mode = modeOf(join(here.system.folder, '.env')) ?? 0;
    if ((mode & 0o077) === 0) return [ok(`for its owner alone (mode ${mode.toString(8)})`)];
    return [warn(`Others on this computer can read .env (mode ${mode.toString(8)}).`, 'chmod 600 .env')];
  },
};

const apiToken: Check = {
  check: 'api_token',
  title: 'API token',
  look: ({ settings }) => [tokenVerdict(settings)],
};

/** A word that is repeated is long, and guessed all the same. */
const differentMin = 8;

function tokenVerdict({ config, tokenFile }: Settings): Verdict {
  const { API_TOKEN: token, HTTP_HOST: host } = config;
  const isPublic = !isLoopback(host);
  if (token === undefined) {
    if (modeOf(tokenFile) === null) return ok('is made at the first start');
    if (isOpenToOthers(tokenFile)) return warn(`Others can read ${tokenFile}.`, `chmod 600 ${tokenFile}`);
    return ok(`in ${tokenFile}, for its owner alone`);
  }
  const isGuessable = token.length < apiTokenLengthMin || new Set(token).size < differentMin;
  if (!isGuessable) return ok(counted(token.length, 'character'));
  const text = `API_TOKEN can be guessed: ${counted(token.length, 'character')}, ${new Set(token).size} different ones.`;
  const fix = 'Put the output of "openssl rand -base64 32" there, or leave API_TOKEN out: one is made then.';
  return isPublic ? fail(`${text} And the API listens on ${host}.`, fix) : warn(text, fix);
}

const retention: Check = {
  check: 'retention',
  title: 'Retention',
  look: ({ settings }) => {
    const [days, least] = [settings.config.RETENTION_DAYS, retentionDaysMin()];
    const text = `${days} days; the longest retry ends ${counted(days - least, 'day')} before that`;
    if (days > least) return [ok(text)];
    return [warn(`${days} days are just enough for the longest retry.`, `Set RETENTION_DAYS to ${least + 7} or more.`)];
  },
};

/** Secrets are of no use without their key, so a key that is missing is told before a run needs it. */
const secretsKey: Check = {
  check: 'secrets_key',
  title: 'Key of secrets',
  leftOut: ({ examined: { inspection } }) => (inspection.is === 'sound' ? null : 'there is no sound database'),
  look: ({ settings, examined: { inspection } }) => {
    const source = keySource(settings);
    const { file } = source;
    const sealed = inspection.is === 'sound' ? inspection.facts.sealed : [];
    let ids: readonly string[];
    try {
      ids = keyIdsOf(source);
    } catch (error) {
      return [fail(errorText(error), 'Make it readable for the user of the server, or put the right file back.')];
    }
    const sum = (of: (keyId: string) => boolean) =>
      sealed.reduce((total, { keyId, count }) => total + (of(keyId) ? count : 0), 0);
    const [lost, former] = [sum((id) => !ids.includes(id)), sum((id) => ids.indexOf(id) > 0)];
    const all = counted(
      sum(() => true),
      'secret',
    );
    const found = [
      ...(lost === 0 ? [] : [lostVerdict(lost, ids.length === 0, file)]),
      ...(former === 0
        ? []
        : [
            warn(
              `${counted(former, 'secret')} under a former key: a rotation has not ended.`,
              'cronogram secret rotate',
            ),
          ]),
      ...(file !== null && isOpenToOthers(file) ? [warn(`Others can read ${file}.`, `chmod 600 ${file}`)] : []),
    ];
    if (found.length > 0) return found;
    if (sealed.length === 0) return [ok('no secret is sealed yet')];
    return [ok(`opens ${all}; keep a copy of it apart from the backups`)];
  },
};

function lostVerdict(count: number, isMissing: boolean, file: string | null): Verdict {
  const what = isMissing ? 'Its key is missing' : 'They were sealed with another key';
  const where = file === null ? 'Set SECRETS_KEY to that key' : `Put ${file} back, or set SECRETS_KEY to that key`;
  const text = `${counted(count, 'secret')} cannot be opened, and runs that need one fail. ${what}.`;
  return fail(text, `${where}. If it is lost, set those secrets again: cronogram secret set NAME`);
}

export const settingsChecks: readonly Check[] = [configuration, envFile, apiToken, secretsKey, retention];
