import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Settings } from '../ports.ts';
import { counted } from '../screen.ts';
import { fail, ok, warn, type Check, type Verdict } from './finding.ts';

/** What the operator set, and who can read it. */

const configuration: Check = {
  check: 'configuration',
  title: 'Configuration',
  look: ({ ports, read }) => {
    const faults = read.faults.map(({ variable, problem, example }) =>
      fail(`${variable} ${problem}.`, `Set it in .env, for example ${variable}=${example}`),
    );
    const strays = read.strays.map(({ variable, nearest }) =>
      warn(
        `${variable} is read by nobody.`,
        nearest === null ? 'Remove it; .env.example lists what there is.' : `Did you mean ${nearest}?`,
      ),
    );
    if (faults.length + strays.length > 0) return [...faults, ...strays];
    const where =
      modeOf(join(ports.system.folder, '.env')) === null ? 'no .env here; the environment' : '.env and the environment';
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
  leftOut: ({ ports }) => (modeOf(join(ports.system.folder, '.env')) === null ? 'there is no .env here' : null),
  look: ({ ports }) => {
    const mode = modeOf(join(ports.system.folder, '.env')) ?? 0;
    if ((mode & 0o077) === 0) return [ok(`for its owner alone (mode ${mode.toString(8)})`)];
    return [warn(`Others on this computer can read .env (mode ${mode.toString(8)}).`, 'chmod 600 .env')];
  },
};

/** A shorter token can be guessed by whoever can ask often enough. */
const soundLength = 16;
const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/i;

const apiToken: Check = {
  check: 'api_token',
  title: 'API token',
  look: ({ read }) => [tokenVerdict(read.settings)],
};

function tokenVerdict({ apiToken: token, tokenFile, host }: Settings): Verdict {
  const isPublic = !loopback.test(host);
  if (token === null) {
    if (modeOf(tokenFile) === null) return ok('is made at the first start');
    if (isOpenToOthers(tokenFile)) return warn(`Others can read ${tokenFile}.`, `chmod 600 ${tokenFile}`);
    return ok(`in ${tokenFile}, for its owner alone`);
  }
  const isGuessable = token.length < soundLength || new Set(token).size < soundLength / 2;
  if (!isGuessable) return ok(counted(token.length, 'character'));
  const text = `API_TOKEN can be guessed: ${counted(token.length, 'character')}, ${new Set(token).size} different ones.`;
  const fix = 'Put the output of "openssl rand -base64 32" there, or leave API_TOKEN out: one is made then.';
  return isPublic ? fail(`${text} And the API listens on ${host}.`, fix) : warn(text, fix);
}

const retention: Check = {
  check: 'retention',
  title: 'Retention',
  look: ({ read }) => {
    const { retentionDays: days, retentionDaysMin: least } = read.settings;
    const text = `${days} days; the longest retry ends ${counted(days - least, 'day')} before that`;
    if (days > least) return [ok(text)];
    return [warn(`${days} days are just enough for the longest retry.`, `Set RETENTION_DAYS to ${least + 7} or more.`)];
  },
};

export const settingsChecks: readonly Check[] = [configuration, envFile, apiToken, retention];
