import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Breach } from '../invariants/rows.ts';
import { chanceFrom } from '../support/chance.ts';
import { createDatabase, startPostgres } from '../support/postgres-server.ts';
import { pausedByCrashes } from './auto-pause.ts';
import { away } from './away.ts';
import { badDay, badFaults, badSpells } from './chat.ts';
import { clockSteps } from './clock.ts';
import { corruptRows } from './corrupt-row.ts';
import { crash } from './crash.ts';
import { diskFull } from './disk-full.ts';
import { fleet } from './fleet/fleet.ts';
import { together } from './fleet/together.ts';
import { hangingDatabase, hangingTelegram } from './hang.ts';
import { build, endAll, temporaryPlace, type StartOptions } from './program.ts';
import { restarts } from './restart.ts';
import { rolling } from './rolling.ts';
import { secondProcess } from './second-process.ts';
import { soak } from './soak/soak.ts';
import { stopUnderLoad } from './stop.ts';
import { openTelegram, realPace } from './telegram.ts';

/**
 * Drives real processes of the built server: kills them, stops them, sets their clocks, fills their disks, damages their
 * rows, and proves what is left. Takes about twenty minutes; `--only` names the scenarios to run.
 */
const { values: given } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    kills: { type: 'string', default: '50' },
    tasks: { type: 'string', default: '54' },
    only: { type: 'string' },
    /** Tasks of the fleet and the seconds after which each is due again; fewer of them for a machine that has much else to do. */
    fleet: { type: 'string', default: '10000' },
    every: { type: 'string', default: '33' },
    /** How long the soak takes at least, and the faults of the fleet. */
    minutes: { type: 'string', default: '5' },
    /** The crash scenario alone, in full, on Postgres. */
    postgres: { type: 'boolean', default: false },
  },
});
const seed = Number(given.seed);

interface Told {
  readonly breaches: readonly Breach[];
  readonly figures: readonly string[];
}

type Options = Omit<StartOptions, 'databaseUrl'>;
type Scenario = (options: Options) => Promise<Told>;

const fileIn = (options: Options, name: string): StartOptions => ({
  ...options,
  databaseUrl: `file:${join(options.folder, `${name}.db`)}`,
});

const scenarios: Readonly<Record<string, Scenario>> = {
  kill: (options) => killing(fileIn(options, 'kill'), Number(given.kills)),
  'kill-postgres': (options) =>
    onPostgres((databaseUrl) =>
      killing({ ...options, databaseUrl }, given.postgres ? Number(given.kills) : Math.ceil(Number(given.kills) / 5)),
    ),
  'second-postgres': (options) =>
    onPostgres(async (databaseUrl) => ({ breaches: await secondProcess({ ...options, databaseUrl }), figures: [] })),
  'auto-pause': async (options) => ({ breaches: await pausedByCrashes(fileIn(options, 'auto-pause')), figures: [] }),
  second: async (options) => ({ breaches: await secondProcess(fileIn(options, 'second')), figures: [] }),
  clock: async (options) => ({ breaches: await clockSteps(fileIn(options, 'clock')), figures: [] }),
  full: async (options) => {
    const { breaches, skipped } = await diskFull(fileIn(options, 'full'));
    return { breaches, figures: skipped.map((what) => `SKIPPED ${what}`) };
  },
  corrupt: async (options) => ({ breaches: await corruptRows(fileIn(options, 'corrupt')), figures: [] }),
  chat: async (options) =>
    badDay({
      ...fileIn(options, 'chat'),
      ...wholeDay,
      spells: badSpells(options.telegram.forums[0] ?? 0),
      random: chanceFrom(seed),
    }),
  pace: async (options) => {
    const telegram = await openTelegram({ forums: 3, pace: realPace });
    try {
      return await badDay({ ...fileIn(options, 'pace'), telegram, ...slowDay, random: chanceFrom(seed) });
    } finally {
      await telegram.close();
    }
  },
  hang: async (options) => ({ breaches: await hangingTelegram(fileIn(options, 'hang')), figures: [] }),
  'hang-postgres': async (options) =>
    onPostgres(async (databaseUrl) => ({ breaches: await hangingDatabase({ ...options, databaseUrl }), figures: [] })),
  'restart-postgres': async (options) => {
    const postgres = await startPostgres({ durable: true });
    const { hands, url } = postgres;
    try {
      if (hands === null) return { breaches: [], figures: ['SKIPPED the Postgres is borrowed'] };
      const { url: databaseUrl } = await createDatabase(url);
      const size = {
        seed,
        hands,
        incidents: badServer,
        tasks: Number(given.tasks),
        settleMs: 4000,
        backWithinMs: 5000,
      };
      const { breaches, backMs, lines, rows } = await restarts({ ...options, databaseUrl, ...size });
      const figures = [
        `seed ${seed}, back after ${backMs.join(', ')} ms; ${lines} lines of trouble`,
        `${rows.runs.length} runs; ${rows.deliveries.length} parts: ${countsOf(rows.deliveries.map(({ status }) => status))}`,
      ];
      return { breaches, figures };
    } finally {
      await postgres.stop();
    }
  },
  away: async (options) => {
    const postgres = await startPostgres({ durable: true });
    const { hands, url } = postgres;
    try {
      if (hands === null) return { breaches: [], figures: ['SKIPPED the Postgres is borrowed'] };
      const { url: databaseUrl } = await createDatabase(url);
      return await away({ ...options, databaseUrl, hands, seed, tasks: Number(given.tasks), settleMs: 5000 });
    } finally {
      await postgres.stop();
    }
  },
  rolling: (options) => onPostgres((databaseUrl) => rolling({ ...options, databaseUrl })),
  fleet: (options) =>
    fleet({
      ...options,
      seed,
      minutes: Math.min(Number(given.minutes), fleetMinutesMax),
      calmMs: 20_000,
      tasks: Number(given.fleet),
      shown: Math.ceil(Number(given.fleet) * 0.04),
      everySeconds: Number(given.every),
      forums: 20,
    }),
  'fleet-paced': (options) =>
    fleet({
      ...options,
      seed,
      minutes: 4,
      calmMs: 145_000,
      tasks: 60,
      shown: 60,
      everySeconds: 60,
      forums: 6,
      pace: realPace,
    }),
  together,
  soak: (options) => soak({ ...fileIn(options, 'soak'), minutes: Number(given.minutes) }),
  stop: async (options) => ({ breaches: await stopUnderLoad(fileIn(options, 'stop')), figures: [] }),
};

/** All rows of a fleet are read at once for its proofs, and each minute leaves tens of thousands. */
const fleetMinutesMax = 12;

const wholeDay = {
  tasks: 200,
  slots: 4,
  everySeconds: 40,
  faults: badFaults,
  deletions: 12,
  killedAt: 0.5,
  settleMs: 150_000,
};

const badServer = [
  { what: 'stopped', awayMs: 2000 },
  { what: 'crashed', awayMs: 1000 },
  { what: 'cut', awayMs: 8000 },
  { what: 'held', awayMs: 15_000 },
  { what: 'crashed', awayMs: 60_000 },
] as const;

/** At the pace that Telegram allows, a group takes more than a minute for so many topics with their cards. */
const slowDay = { tasks: 24, slots: 1, everySeconds: 2, faults: [], deletions: 0, killedAt: 0.4, settleMs: 150_000 };

async function onPostgres(scenario: (databaseUrl: string) => Promise<Told>): Promise<Told> {
  const postgres = await startPostgres();
  try {
    const { url } = await createDatabase(postgres.url);
    return await scenario(url);
  } finally {
    await postgres.stop();
  }
}

async function killing(options: StartOptions, kills: number): Promise<Told> {
  const result = await crash({ ...options, seed, kills, tasks: Number(given.tasks), lifeMaxMs: 3500, settleMs: 4000 });
  const { rows, ledger, readyMs } = result;
  const sorted = [...readyMs].sort((a, b) => a - b);
  const interrupted = rows.attempts.filter(({ status }) => status === 'interrupted').length;
  return {
    breaches: result.breaches,
    figures: [
      `${result.called} calls arrived outside, ${result.repeatedCalls} of them again under their key`,
      `seed ${seed}, ${result.kills} kills, ${ledger.known.length} tasks, ${ledger.requests} requests (${ledger.repeated} repeated)`,
      `${result.slots} slots, ${result.inGaps} of them in gaps; ${rows.runs.length} runs, ${rows.attempts.length} attempts (${interrupted} interrupted)`,
      `${rows.deliveries.length} parts: ${countsOf(rows.deliveries.map(({ status }) => status))}`,
      `ready after p50 ${sorted[Math.floor(sorted.length / 2)]} ms, max ${sorted.at(-1)} ms; stop in ${result.stopMs} ms; ${result.refusedStarts} starts refused`,
    ],
  };
}

function countsOf(words: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts].map(([word, count]) => `${count} ${word}`).join(', ');
}

function chosen(): string[] {
  if (given.only !== undefined) return given.only.split(',');
  return given.postgres ? ['kill-postgres'] : Object.keys(scenarios);
}

const place = temporaryPlace();
let broken = 0;
try {
  const built = { main: await build(place.folder), folder: place.folder };
  for (const name of chosen()) {
    const scenario = scenarios[name];
    if (scenario === undefined)
      throw new Error(`There is no scenario "${name}". There are: ${Object.keys(scenarios).join(', ')}.`);
    const from = performance.now();
    const telegram = await openTelegram({ forums: 20 });
    const { breaches, figures } = await scenario({ ...built, telegram });
    await telegram.close();
    const seconds = ((performance.now() - from) / 1000).toFixed(1);
    console.log(`${breaches.length === 0 ? 'kept  ' : 'BROKEN'}  ${name.padEnd(14)} ${seconds.padStart(6)} s`);
    for (const figure of figures) console.log(`          ${figure}`);
    for (const { promise, rows } of breaches)
      console.log(`  BROKEN: ${promise}\n${JSON.stringify(rows, null, 1).slice(0, 4000)}`);
    broken += breaches.length;
  }
} catch (error) {
  broken += 1;
  console.error(error);
} finally {
  endAll();
  if (broken === 0) place.remove();
  else console.log(`The databases are kept in ${place.folder}.`);
}
process.exit(broken === 0 ? 0 : 1);
