import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { readRows, type Breach } from '../invariants/rows.ts';
import { chanceFrom } from '../support/chance.ts';
import type { PostgresHands, Replica } from '../support/postgres-server.ts';
import { openWay } from '../support/way.ts';
import { breachesOf } from './account.ts';
import { drive } from './driver.ts';
import { proveLedger } from './ledger-proof.ts';
import { becomes, readyUrl, start, token, type Boot, type StartOptions } from './program.ts';
import { isTrouble, linesMax } from './restart.ts';

/** A fault between a fleet and its database, until it is over. */
interface Incident {
  readonly what: 'stopped' | 'crashed' | 'held' | 'cut' | 'full' | 'failover';
  readonly awayMs: number;
}

interface AwayPlan extends StartOptions {
  readonly seed: number;
  readonly hands: PostgresHands;
  readonly tasks: number;
  readonly settleMs: number;
}

const roles = ['bot', 'worker', 'worker', 'api'] as const;
const incidents: readonly Incident[] = [
  { what: 'stopped', awayMs: 4000 },
  { what: 'crashed', awayMs: 1000 },
  { what: 'held', awayMs: 15_000 },
  { what: 'cut', awayMs: 15_000 },
  { what: 'full', awayMs: 8000 },
  { what: 'cut', awayMs: 45_000 },
  { what: 'failover', awayMs: 4000 },
];
/** A request is told within two seconds; a machine that is busy with other things is given one more. */
const toldMs = 3000;
const backMs = 5000;
const probeEveryMs = 500;

/** A bot, two workers and an API, which lead to their database by a way that can be cut or lead elsewhere. */
interface Scene {
  readonly plan: AwayPlan;
  readonly members: readonly { readonly role: string; readonly boot: Boot; readonly url: string }[];
  readonly api: string;
  readonly way: Awaited<ReturnType<typeof openWay>>;
  readonly replica: Replica;
  /** Past the way; of the replica once it has taken over. */
  databaseUrl: string;
}

/** The database goes away from many processes and comes back, each time in another way; none of them ends, and nothing is lost or doubled. */
export async function away(plan: AwayPlan): Promise<{ breaches: readonly Breach[]; figures: readonly string[] }> {
  const replica = await plan.hands.replicate();
  const way = await openWay(plan.databaseUrl);
  try {
    const scene = await assembled(plan, { way, replica });
    return await suffered(scene);
  } finally {
    way.close();
  }
}

async function assembled(plan: AwayPlan, outside: Pick<Scene, 'way' | 'replica'>): Promise<Scene> {
  const boots = roles.map((ROLE) =>
    start({ ...plan, databaseUrl: outside.way.url, settings: { ...plan.settings, ROLE } }),
  );
  const urls = await Promise.all(boots.map(readyUrl));
  const members = boots.map((boot, index) => ({ role: roles[index] ?? '', boot, url: urls[index] ?? '' }));
  return { plan, members, api: urls.at(-1) ?? '', ...outside, databaseUrl: plan.databaseUrl };
}

async function suffered(scene: Scene): Promise<{ breaches: Breach[]; figures: string[] }> {
  const { plan, members, api } = scene;
  const { seed, tasks, telegram, settleMs } = plan;
  const driver = drive({
    random: chanceFrom(seed),
    url: async () => api,
    tasks,
    name: `away-${seed}`,
    hands: 3,
    pauseMaxMs: 300,
    forums: telegram.forums,
  });
  const breaches: Breach[] = [];
  const figures: string[] = [];
  const outages: { from: number; to: number }[] = [];
  await pause(settleMs);
  for (const incident of incidents) {
    const from = Date.now();
    const found = await suffer(scene, incident);
    breaches.push(...found.breaches);
    figures.push(found.figure);
    outages.push({ from, to: Date.now() });
    await pause(settleMs);
  }
  await driver.stop();
  await pause(settleMs);
  const asked = Date.now();
  const ends = await Promise.all(members.map(({ boot }) => boot.stop()));
  if (ends.some(({ code }) => code !== 0))
    breaches.push({
      promise: 'a stop by SIGTERM ends with code 0',
      rows: [ends, members.map(({ boot }) => boot.errors())],
    });
  const rows = await readRows(scene.databaseUrl);
  const { known } = driver.ledger;
  const promised = {
    created: known.map(({ task }) => task.task_id),
    runsByHand: known.flatMap(({ runsByHand }) => runsByHand),
  };
  const log = members.flatMap(({ boot }) => boot.log.filter((line) => !isTrouble(line)));
  const history = { stop: { asked, ended: Date.now() }, outages, log, promised };
  return {
    breaches: [...breaches, ...breachesOf(rows, telegram.seen(), history), ...proveLedger(rows, driver.ledger)],
    figures: [
      `seed ${seed}; ${known.length} tasks, ${rows.runs.length} runs, ${rows.deliveries.length} parts; ${driver.ledger.requests} requests, ${driver.ledger.repeated} repeated`,
      ...figures,
    ],
  };
}

async function suffer(scene: Scene, { what, awayMs }: Incident): Promise<{ breaches: Breach[]; figure: string }> {
  const { members, api } = scene;
  const lines = members.map(({ boot }) => boot.log.length);
  const probes: Probe[] = [];
  let isAway = true;
  const probing = probeWhile(scene, () => isAway, probes);
  await happen(scene, what, async () => {
    await pause(awayMs);
    isAway = false;
    await probing;
  });
  const over = performance.now();
  const isReady = async () =>
    (await Promise.all(members.map(({ url }) => answersWith(url, '/readyz', 200)))).every(Boolean);
  const isBack = await becomes(async () => (await isReady()) && answersWith(api, '/v1/tasks?limit=1', 200), 4 * backMs);
  const tookMs = Math.round(performance.now() - over);
  const says = isBack ? [] : await Promise.all(members.map(saysOf));
  const ended = members.filter(({ boot }) => !boot.isAlive());
  const works = await becomes(() => hasBegun(scene.databaseUrl, Date.now() - tookMs), backMs);
  const told = (promise: string, isKept: boolean, rows: unknown): Breach[] =>
    isKept ? [] : [{ promise: `${promise} (${what})`, rows }];
  const refused = probes.filter(({ status }) => status === 503);
  const slow = probes.filter(({ ms }) => ms > toldMs);
  const wrong = probes.filter(
    ({ path, status, retryAfter }) =>
      status === null ||
      (status >= 500 && (status !== 503 || path === '/livez')) ||
      (status === 503 && path.startsWith('/v1') && retryAfter === null),
  );
  const noisy = members.flatMap(({ role, boot }, index) => {
    const own = boot.log.slice(lines[index]).filter(isTrouble);
    return own.length > linesMax ? [{ role, count: own.length, own: own.slice(0, 5) }] : [];
  });
  return {
    breaches: [
      ...told('no process ends', ended.length === 0, ended.map(lastWords)),
      ...told(
        'the API says that its database is away',
        refused.some(({ path }) => path.startsWith('/v1')),
        probes.slice(-5),
      ),
      ...told('every request is told in time', slow.length === 0, slow.slice(0, 5)),
      ...told(
        'only 503 with retry-after, and 200 to whoever asks for a sign of life',
        wrong.length === 0,
        wrong.slice(0, 5),
      ),
      ...told('everybody is back soon after the database', isBack && tookMs <= backMs, { tookMs, says }),
      ...told('work goes on', works, members.map(lastWords)),
      // While others crowd in, each connection that is lost is an incident of its own.
      ...told('the log tells of an incident, not of each try', what === 'full' || noisy.length === 0, noisy),
    ],
    figure: `${what}: back after ${tookMs} ms; ${refused.length} of ${probes.length} probes refused, the slowest answer after ${Math.round(Math.max(...probes.map(({ ms }) => ms)))} ms`,
  };
}

async function saysOf(member: Scene['members'][number]) {
  const answer = await fetch(`${member.url}/readyz`).catch(String);
  return { ...lastWords(member), ready: typeof answer === 'string' ? answer : await answer.text() };
}

const lastWords = ({ role, boot }: Scene['members'][number]) => ({
  role,
  log: boot.log.slice(-6),
  errors: boot.errors().slice(-500),
});

interface Probe {
  readonly path: string;
  /** Null where nobody answered. */
  readonly status: number | null;
  readonly retryAfter: string | null;
  readonly ms: number;
}

/** Reads and writes through the API, and looks for signs of life of all, again and again. */
async function probeWhile({ members, api }: Scene, goesOn: () => boolean, probes: Probe[]): Promise<void> {
  const asked: Promise<void>[] = [];
  const note = async (url: string, path: string, method = 'GET') => void probes.push(await probe(url, path, method));
  while (goesOn()) {
    asked.push(note(api, '/v1/tasks?limit=1'), note(api, '/v1/tasks/nobody/pause', 'POST'));
    for (const { url } of members) asked.push(note(url, '/livez'), note(url, '/readyz'));
    await pause(probeEveryMs);
  }
  await Promise.all(asked);
}

async function probe(url: string, path: string, method = 'GET'): Promise<Probe> {
  const began = performance.now();
  const made = { method, headers: { authorization: `Bearer ${token}` }, signal: AbortSignal.timeout(4 * toldMs) };
  const found = await fetch(url + path, made).then(
    async (answer) => {
      await answer.arrayBuffer();
      return { status: answer.status, retryAfter: answer.headers.get('retry-after') };
    },
    () => ({ status: null, retryAfter: null }),
  );
  return { path, ...found, ms: performance.now() - began };
}

const answersWith = async (url: string, path: string, status: number) => (await probe(url, path)).status === status;

/** The fault is there until `meanwhile` is over. */
async function happen(scene: Scene, what: Incident['what'], meanwhile: () => Promise<void>): Promise<void> {
  const { plan, way, replica } = scene;
  const { hands } = plan;
  switch (what) {
    case 'stopped':
    case 'crashed':
      await hands.down(what === 'stopped' ? 'fast' : 'immediate');
      await meanwhile();
      return hands.up();
    case 'held':
      await hands.hold();
      await meanwhile();
      return hands.goOn();
    case 'cut':
      way.block();
      await meanwhile();
      return way.mend();
    case 'full': {
      const crowd = await crowdIn(plan.databaseUrl);
      await meanwhile();
      return crowd.leave();
    }
    case 'failover': {
      await replica.follow();
      await hands.down('immediate');
      await meanwhile();
      await replica.promote();
      const url = new URL(replica.url);
      url.pathname = new URL(plan.databaseUrl).pathname;
      scene.databaseUrl = url.href;
      return way.leadTo(url.href);
    }
  }
}

/** So many others that the server lets nobody in, and those whom it had let in are sent away. */
async function crowdIn(databaseUrl: string): Promise<{ leave(): Promise<void> }> {
  const crowd = new Set<pg.Client>();
  let isThere = true;
  const enter = async () => {
    const client = new pg.Client({ connectionString: databaseUrl, application_name: 'crowd' });
    client.on('error', () => crowd.delete(client));
    const isIn = await client.connect().then(
      () => true,
      () => false,
    );
    if (isIn) crowd.add(client);
    return isIn;
  };
  while (await enter());
  const sendAway = `select pg_terminate_backend(pid) from pg_stat_activity
    where backend_type = 'client backend' and application_name <> 'crowd'`;
  const pushing = (async () => {
    while (isThere) {
      const [one] = crowd;
      await one?.query(sendAway).catch(() => undefined);
      while (await enter());
      await pause(50);
    }
  })();
  return {
    leave: async () => {
      isThere = false;
      await pushing;
      await Promise.all([...crowd].map((client) => client.end()));
    },
  };
}

async function hasBegun(databaseUrl: string, since: number): Promise<boolean> {
  const client = new pg.Client({ connectionString: databaseUrl, options: '-c search_path=cronogram,public' });
  await client.connect();
  try {
    return ((await client.query('select from attempts where started_at > $1 limit 1', [since])).rowCount ?? 0) > 0;
  } finally {
    await client.end();
  }
}
