import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { stopMaxMs } from '../../src/domain/limits.ts';
import type { Ran, System } from '../../src/host/here.ts';
import { unitText, type UnitFacts, oddLines } from '../../src/host/service/unit.ts';
import { manualTime } from '../support/fakes.ts';
import { databaseAt, expectRefused, hostPlace, openedAt, type PlaceOptions } from './place.ts';

interface Installed {
  readonly state: string;
  readonly warnings: readonly string[];
}

const facts: UnitFacts = {
  scope: 'system',
  node: '/usr/bin/node',
  entry: '/opt/cronogram/dist/main.js',
  folder: '/opt/cronogram',
  envFile: '/opt/cronogram/.env',
  dataFolder: '/opt/cronogram/data',
  port: 8787,
  runAs: 'daemon',
  stopMaxMs,
  hasUserNamespaces: true,
};

/** Systemd, played: it remembers what it was told. */
function aSystemd(): { calls: string[]; active: string; staysUp: boolean; run: System['run'] } {
  const played = {
    calls: [] as string[],
    active: 'inactive',
    staysUp: true,
    run: async (command: string, args: readonly string[]): Promise<Ran> => {
      const line = [command, ...args].join(' ');
      if (!line.includes(' show') && !line.includes('verify')) played.calls.push(line);
      if (/ (?:start|restart) /.test(line)) played.active = played.staysUp ? 'active' : 'failed';
      if (/ disable /.test(line)) played.active = 'inactive';
      const out = line.includes('loginctl') ? 'yes\n' : line.includes(' show ') ? shownBy(played.active) : '';
      return { is: 'ran', code: 0, out, err: '' };
    },
  };
  return played;
}

const shownBy = (active: string) =>
  `LoadState=loaded\nActiveState=${active}\nSubState=running\nMainPID=${active === 'active' ? 77 : 0}\nNRestarts=2\nExecMainStatus=78\nActiveEnterTimestamp=\nUnitFileState=enabled\n`;

function aPlace(options: PlaceOptions = {}) {
  const systemd = aSystemd();
  const units = hostPlace().folder;
  const program = hostPlace().folder;
  mkdirSync(join(program, 'dist'));
  writeFileSync(join(program, 'dist', 'main.js'), '');
  const time = manualTime(0);
  const timer = { ...time, after: (_ms: number, call: () => void) => (call(), () => {}) };
  const system = {
    userUnits: join(units, 'user'),
    systemUnits: join(units, 'system'),
    program,
    hasSystemd: () => true,
    run: systemd.run,
  };
  const place = hostPlace({ ...options, system: { ...system, ...options.system }, timer });
  writeFileSync(join(place.folder, '.env'), `DATABASE_URL=file:${place.database}\n`);
  return { ...place, systemd, unit: join(units, 'user', 'cronogram.service') };
}

describe('the unit', () => {
  const verify = (text: string, ...words: string[]) => {
    const { folder } = hostPlace();
    const file = join(folder, 'cronogram.service');
    // The program that it starts must be there for the check.
    writeFileSync(file, text.replaceAll('/usr/bin/node', '/bin/true'));
    const env = { PATH: '/usr/bin:/bin', XDG_RUNTIME_DIR: folder };
    const { stdout, stderr } = spawnSync('systemd-analyze', [...words, file], { env, encoding: 'utf8' });
    return `${stdout}${stderr}`;
  };
  const hasAnalyze = existsSync('/usr/bin/systemd-analyze');

  it.runIf(hasAnalyze)('is one that systemd takes without a word, of the system and of a user', () => {
    for (const scope of ['system', 'user'] as const) {
      const text = unitText({ ...facts, scope, runAs: scope === 'user' ? null : 'daemon' });
      expect(verify(text, '--man=no', ...(scope === 'user' ? ['--user'] : []), 'verify')).toBe('');
    }
  });

  it.runIf(hasAnalyze)('keeps the service from most of the computer', () => {
    const report = verify(unitText(facts), '--offline=true', 'security', '--no-pager');
    const score = Number(/exposure level for \S+: ([\d.]+)/.exec(report)?.[1]);
    expect(score).toBeLessThan(2);
  });

  it('starts again after a fault, but not after a wrong configuration, and is given time to stop', () => {
    const text = unitText(facts);
    expect(text).toContain('\nRestart=on-failure\n');
    expect(text).toContain('\nRestartPreventExitStatus=78\n');
    expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(text)?.[1]) * 1000).toBeGreaterThan(stopMaxMs);
    expect(text).toContain('\nExecStart=/usr/bin/node --max-semi-space-size=8 /opt/cronogram/dist/main.js\n');
    expect(text).toContain('\nReadWritePaths=/opt/cronogram/data\n');
    expect(text).toContain('\nUser=daemon\n');
    expect(text).not.toMatch(/^MemoryDenyWriteExecute/m);
  });

  it('of a user asks for nothing that only the manager of the system can give', () => {
    const text = unitText({ ...facts, scope: 'user', runAs: null });
    expect(text).not.toMatch(
      /^(?:User|CapabilityBoundingSet|PrivateDevices|ProtectClock|ProtectKernelModules|ProtectKernelLogs)=/m,
    );
    expect(text).toMatch(/^PrivateUsers=yes\nProtectSystem=strict\n/m);
    const without = unitText({ ...facts, scope: 'user', runAs: null, hasUserNamespaces: false });
    expect(without).not.toMatch(/^(?:ProtectSystem|PrivateTmp|PrivateUsers)=/m);
  });

  it('names paths with blanks and percent signs so that they stay whole', () => {
    const folder = '/srv/my bot 100%';
    const text = unitText({ ...facts, folder, entry: `${folder}/dist/main.js`, dataFolder: `${folder}/data` });
    expect(text).toContain('\nWorkingDirectory=/srv/my bot 100%%\n');
    expect(text).toContain('\nExecStart=/usr/bin/node --max-semi-space-size=8 "/srv/my bot 100%%/dist/main.js"\n');
    expect(text).toContain('\nReadWritePaths="/srv/my bot 100%%/data"\n');
  });

  it('may use a low port, leaves homes closed where nothing of it lives there, and temporary data in sight', () => {
    expect(unitText({ ...facts, port: 443 })).toContain('\nAmbientCapabilities=CAP_NET_BIND_SERVICE\n');
    expect(unitText(facts)).toContain('\nProtectHome=yes\n');
    expect(unitText({ ...facts, node: '/home/ada/.nvm/node' })).toContain('\nProtectHome=read-only\n');
    expect(unitText({ ...facts, dataFolder: '/tmp/data' })).not.toContain('\nPrivateTmp=yes\n');
  });
});

describe('service install', () => {
  it('writes the unit, and starts it now and with the computer', async () => {
    const { json, unit, systemd, folder, database } = aPlace();
    const done = await json<Installed>('service', 'install');
    expect(done).toMatchObject({ unit_file: unit, is_changed: true, state: 'active', warnings: [] });
    expect(systemd.calls.filter((line) => line.startsWith('systemctl'))).toEqual([
      'systemctl --user daemon-reload',
      'systemctl --user enable cronogram',
      'systemctl --user start cronogram',
    ]);
    expect(readFileSync(unit, 'utf8')).toContain(`\nEnvironmentFile=-${folder}/.env\n`);
    expect(readFileSync(unit, 'utf8')).toContain(`\nReadWritePaths=${dirname(database)}\n`);
    expect(statSync(dirname(database)).mode & 0o777).toBe(0o700);
  });

  it('does nothing the second time, and starts anew when the unit has changed', async () => {
    const { json, type, unit, systemd } = aPlace();
    await type('service', 'install');
    systemd.calls.length = 0;
    expect(await json<Installed>('service', 'install')).toMatchObject({ is_changed: false, state: 'active' });
    expect(systemd.calls.filter((line) => /reload|start/.test(line))).toEqual([]);
    writeFileSync(unit, `${readFileSync(unit, 'utf8')}# older\n`);
    expect(await json<Installed>('service', 'install')).toMatchObject({ is_changed: true });
    expect(systemd.calls).toContain('systemctl --user restart cronogram');
  });

  it('only shows the unit with --print, and does not start it with --no-start', async () => {
    const { type, unit, systemd, database } = aPlace();
    const { out, err } = await type('service', 'install', '--print');
    expect([out.includes('[Service]'), err, existsSync(unit), existsSync(dirname(database))]).toEqual([
      true,
      '',
      false,
      false,
    ]);
    await type('service', 'install', '--no-start');
    expect([systemd.active, existsSync(unit)]).toEqual(['inactive', true]);
  });

  it('says where there is no systemd, and shows the unit', async () => {
    const { type, unit } = aPlace({ system: { hasSystemd: () => false } });
    const { exitCode, err } = await type('service', 'install');
    expect([exitCode, err.includes('no systemd') || err.includes('not started by systemd')]).toEqual([1, true]);
    expect([err.includes('[Service]'), existsSync(unit)]).toEqual([true, false]);
  });

  it('starts nothing beside a server that has the database', async () => {
    const { json, database, systemd } = aPlace();
    const opened = await openedAt(database, 0);
    onTestFinished(() => opened.close());
    const { warnings, state } = await json<Installed>('service', 'install');
    expect([state, warnings[0]]).toEqual([
      'inactive',
      expect.stringContaining(`Process ${process.pid} has the database`) as string,
    ]);
    expect(systemd.calls.some((line) => line.includes(' start '))).toBe(false);
  });

  it('refuses a configuration that is wrong, root, and a program that is not built', async () => {
    const { type, folder, unit } = aPlace({ system: { ownerName: () => 'root' } });
    expectRefused(await type('service', 'install', '--system'), 2, '--run-as');
    expect((await type('service', 'install', '--system', '--run-as', 'root')).fault).toMatchObject({ exitCode: 4 });
    expect((await type('service', 'install', '--run-as', 'ada')).fault).toMatchObject({ exitCode: 2 });
    expect((await type('service', 'install', '--user', '--system')).fault).toMatchObject({ exitCode: 2 });
    expect((await type('service', 'install', '--name', '../x')).fault).toMatchObject({ exitCode: 2 });
    writeFileSync(join(folder, '.env'), 'HTTP_PORT=none\n');
    expectRefused(await type('service', 'install'), 4, 'HTTP_PORT');
    const unbuilt = aPlace({ system: { program: '/no/such/program' } });
    expectRefused(await unbuilt.type('service', 'install'), 4, 'npm run build');
    expect(existsSync(unit)).toBe(false);
  });

  it('tells a systemd that does not answer in words, and lines of .env that it reads otherwise', async () => {
    const run = async (): Promise<Ran> => ({
      is: 'ran',
      code: 1,
      out: '',
      err: 'Failed to connect to bus: No medium found',
    });
    const { type } = aPlace({ system: { run } });
    expectRefused(await type('service', 'install'), 4, '--system');
    const odd = aPlace();
    writeFileSync(join(odd.folder, '.env'), `DATABASE_URL=file:${odd.database}\nHTTP_PORT=8787 # mine\n`);
    expect((await odd.json<Installed>('service', 'install')).warnings).toEqual([
      expect.stringContaining('.env line 2: systemd reads HTTP_PORT') as string,
    ]);
  });
});

describe('service status', () => {
  it('tells how it stands, and ends with 1 when it does not run', async () => {
    const { type, json, systemd } = aPlace();
    expect((await type('service', 'status')).fault).toMatchObject({ exitCode: 3 });
    await type('service', 'install');
    expect(await json('service', 'status')).toMatchObject({
      is_running: true,
      pid: 77,
      starts_at_boot: true,
      is_up_to_date: true,
    });
    expect((await type('service', 'status')).exitCode).toBe(0);
    systemd.active = 'failed';
    const { out, exitCode } = await type('service', 'status');
    expect([exitCode, out.includes('78: the configuration is wrong')]).toEqual([1, true]);
  });
});

describe('service restart', () => {
  it('starts it anew and tells how it stands then, and ends with 1 when it does not stay up', async () => {
    const { type, json, systemd } = aPlace();
    expect((await type('service', 'restart')).fault).toMatchObject({ exitCode: 3 });
    await type('service', 'install');
    systemd.calls.length = 0;
    expect(await json('service', 'restart')).toMatchObject({ is_running: true, pid: 77 });
    expect(systemd.calls).toEqual(['systemctl --user restart cronogram']);
    systemd.staysUp = false;
    expect((await type('service', 'restart')).exitCode).toBe(1);
  });
});

describe('service uninstall', () => {
  it('takes the unit away and leaves the data', async () => {
    const { type, json, unit, database, systemd } = aPlace();
    await databaseAt(database, 1);
    await type('service', 'install');
    const done = await json('service', 'uninstall');
    expect(done).toMatchObject({ removed: unit, is_data_removed: false });
    expect(systemd.calls.slice(-2)).toEqual([
      'systemctl --user disable --now cronogram',
      'systemctl --user daemon-reload',
    ]);
    expect([existsSync(unit), existsSync(database)]).toEqual([false, true]);
    expect((await type('service', 'uninstall')).fault).toMatchObject({ exitCode: 3 });
  });

  it('removes the data when that is said twice, and nothing else that lies there', async () => {
    const { type, unit, database, folder } = aPlace({ answers: ['y', 'n', 'y', 'y'] });
    await databaseAt(database, 1);
    await type('backup');
    writeFileSync(join(dirname(database), 'notes.txt'), 'mine');
    await type('service', 'install');
    expect((await type('service', 'uninstall', '--purge-data')).fault).toMatchObject({ exitCode: 1 });
    expect([existsSync(unit), existsSync(database)]).toEqual([true, true]);
    expect((await type('service', 'uninstall', '--purge-data')).exitCode).toBe(0);
    expect([existsSync(unit), existsSync(database), existsSync(`${database}.lock`)]).toEqual([false, false, false]);
    expect([existsSync(join(dirname(database), 'notes.txt')), existsSync(join(folder, '.env'))]).toEqual([true, true]);
  });

  it('removes no data without a word, and none that a server still has', async () => {
    const { type, unit, database } = aPlace();
    const opened = await openedAt(database, 1);
    await type('service', 'install');
    expect((await type('service', 'uninstall', '--purge-data')).fault).toMatchObject({ exitCode: 2 });
    expect(existsSync(unit)).toBe(true);
    expect((await type('service', 'uninstall', '--purge-data', '--yes')).fault).toMatchObject({ exitCode: 4 });
    expect(existsSync(database)).toBe(true);
    await opened.close();
  });
});

it('lines that systemd reads otherwise are those with comments, backslashes and backticks', () => {
  const lines = ['A=1', 'B="x y"', "C='a # b'", 'D=1 # c', 'E=a\\b', 'F=`x`', '# G=1 # x', 'H="a" # b', 'I=a#b'];
  expect(oddLines(lines.join('\n')).map(({ variable }) => variable)).toEqual(['D', 'E', 'F', 'H', 'I']);
});

it('the user of this process is told by its number where the system has no name for it, as in a container', () => {
  const { userInfo } = os;
  onTestFinished(() => {
    os.userInfo = userInfo;
    syncBuiltinESMExports();
  });
  os.userInfo = () => {
    throw new Error('uv_os_get_passwd returned ENOENT (no such file or directory)');
  };
  syncBuiltinESMExports();
  const { here, folder } = hostPlace();
  const number = String(process.getuid?.());
  expect([here.system.userName, here.system.ownerName(folder)]).toEqual([number, number]);
});
