import { fail, ok, warn, type Check, type Verdict } from './finding.ts';

/** Where it runs: Node, npm, the driver of the database, the rules of time. */

const nodeLeast = [20, 20] as const;
/** Those that know which packages may run scripts when they are installed. */
const npmLeast = 11;

const node: Check = {
  check: 'node',
  title: 'Node.js',
  look: ({ ports }) => {
    const { version } = ports.system.node;
    const [major = 0, minor = 0] = version.split('.').map(Number);
    const isEnough = major > nodeLeast[0] || (major === nodeLeast[0] && minor >= nodeLeast[1]);
    if (isEnough) return [ok(version)];
    return [fail(`${version} is too old.`, `Install Node.js ${nodeLeast.join('.')} or newer, then: npm ci`)];
  },
};

const npm: Check = {
  check: 'npm',
  title: 'npm',
  look: async ({ ports }) => {
    const ran = await ports.system.run('npm', ['--version']);
    if (ran.is === 'absent') return [ok('not here; it is needed for an installation and an upgrade only')];
    const version = ran.out.trim().split('\n').at(-1) ?? '';
    if (ran.code !== 0 || !/^\d+\./.test(version))
      return [warn('It does not tell its version.', 'Install npm anew: npm install -g npm@latest')];
    if (Number(version.split('.')[0]) >= npmLeast) return [ok(version)];
    return [warn(`${version} is older than what the product is installed with.`, 'npm install -g npm@latest')];
  },
};

const rebuild = 'npm rebuild --ignore-scripts=false better-sqlite3';

const driver: Check = {
  check: 'sqlite',
  title: 'SQLite driver',
  look: ({ ports }) => {
    try {
      return [ok(`loads, SQLite ${ports.data.loadDriver()}`)];
    } catch (error) {
      return [driverFault(error instanceof Error ? error.message : String(error))];
    }
  },
};

function driverFault(message: string): Verdict {
  const [first = ''] = message.split('\n');
  if (/could not locate the bindings file/i.test(message)) {
    return fail(
      'Its compiled part is missing: npm was not allowed to run the install script of better-sqlite3.',
      `${rebuild} (npm 12 also asks once: npm approve-scripts better-sqlite3)`,
    );
  }
  if (/NODE_MODULE_VERSION|ERR_DLOPEN_FAILED|different Node\.js version|invalid ELF header/i.test(message))
    return fail('It was built for another Node.js or another computer.', rebuild);
  if (/GLIBC|GLIBCXX/.test(message))
    return fail(`It does not fit this system: ${first}`, `${rebuild} --build-from-source`);
  return fail(`It does not load: ${first}`, 'npm ci');
}

/** Summer and winter of a zone that everybody has, two hours and one hour ahead of UTC. */
const known = { zone: 'Europe/Madrid', offsets: [1, 2], months: [0, 6] } as const;

const zones: Check = {
  check: 'time_zones',
  title: 'Time zones',
  look: async ({ ports, read, examined }) => {
    const { zoneRules } = ports.system.node;
    const offsets = known.months.map((month) => hoursAhead(known.zone, Date.UTC(2027, month, 1, 12)));
    if (offsets.some((hours, at) => hours !== known.offsets[at]))
      return [fail('Node.js has no time zone data.', 'Install an official build of Node.js: nodejs.org')];
    const inUse = `${zoneRules}, default zone ${read.settings.timezone}`;
    const { inspected } = await examined;
    const recorded = inspected.is === 'sound' ? inspected.facts.zoneRules : null;
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

export const runtimeChecks: readonly Check[] = [node, npm, driver, zones];
