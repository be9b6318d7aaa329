import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { readRows, type Breach, type Rows } from '../../invariants/rows.ts';
import { chanceFrom, type Chance } from '../../support/chance.ts';
import { createDatabase, startPostgres, type PostgresHands } from '../../support/postgres-server.ts';
import { breachesOf, callsOf, slotsOf } from '../account.ts';
import { create } from '../api.ts';
import { becomes, type StartOptions } from '../program.ts';
import { openTarget, type Target } from '../target.ts';
import { openTelegram, threadOf, type Pace, type Telegram } from '../telegram.ts';
import {
  bootOf,
  faultKinds,
  isReady,
  launch,
  roles,
  suffer,
  urlOf,
  type FaultKind,
  type Member,
  type Role,
  type Suffered,
} from './members.ts';
import { openNetwork, type Network } from './network.ts';

/**
 * One bot, three workers and two APIs on hosts of their own, with one Postgres: killed, frozen, cut off and left without their database
 * under hundreds of slots a second. What is left is proved from outside: each slot is calculated again, and the chats and
 * the target of calls are the witnesses.
 */
export interface FleetPlan extends Pick<StartOptions, 'main' | 'folder'> {
  readonly seed: number;
  readonly minutes: number;
  readonly tasks: number;
  /** Of them those whose results are shown in a chat. */
  readonly shown: number;
  readonly everySeconds: number;
  readonly forums: number;
  /** What Telegram allows; as fast as it can where it is absent. */
  readonly pace?: Pace;
}

interface Fleet {
  readonly plan: FleetPlan;
  readonly members: readonly Member[];
  readonly databaseUrl: string;
  readonly hands: PostgresHands;
  readonly telegram: Telegram;
  readonly target: Target;
  readonly again: (member: Member) => void;
}

export async function fleet(plan: FleetPlan): Promise<{ breaches: readonly Breach[]; figures: readonly string[] }> {
  const network = await openNetwork();
  if ('reason' in network) return { breaches: [], figures: [`SKIPPED no network namespaces here: ${network.reason}`] };
  const beside = { address: network.gateway, range: network.range };
  const postgres = await startPostgres({ durable: true, beside });
  const telegram = await openTelegram({
    forums: plan.forums,
    host: network.gateway,
    ...(plan.pace === undefined ? {} : { pace: plan.pace }),
  });
  const target = await openTarget(plan.seed + 2, network.gateway);
  try {
    if (postgres.hands === null) return { breaches: [], figures: ['SKIPPED the Postgres is borrowed'] };
    const { url } = await createDatabase(postgres.url);
    const own = new URL(url);
    own.hostname = network.gateway;
    const outside = { telegram, target, databaseUrl: own.href, hands: postgres.hands };
    return await suffered(await assembled(plan, network, outside));
  } finally {
    target.close();
    await telegram.close();
    await postgres.stop();
    await network.close();
  }
}

const names: readonly (readonly [string, Role])[] = [
  ['bot', 'bot'],
  ['worker-1', 'worker'],
  ['worker-2', 'worker'],
  ['worker-3', 'worker'],
  ['api-1', 'api'],
  ['api-2', 'api'],
];

/** Hosts whose clocks are wrong, one way and the other. */
const skewsMs = { 'worker-2': 47_000, 'api-2': -30_000 };

async function assembled(
  plan: FleetPlan,
  network: Network,
  outside: Pick<Fleet, 'telegram' | 'target' | 'databaseUrl' | 'hands'>,
): Promise<Fleet> {
  const { telegram, target, databaseUrl } = outside;
  const settings = { ...target.settings, HOST_RATE: '500', QUOTA_PER_CHAT: '20000', QUOTA_PER_USER: '20000' };
  const again = (member: Member) => launch(member, { ...plan, databaseUrl, telegram, settings, skewsMs });
  const members: Member[] = [];
  for (const [name, role] of names)
    members.push({ name, role, host: await network.join(name), boots: [], isBusy: false });
  for (const member of members) again(member);
  const opened = await Promise.all(members.map((member) => bootOf(member).url));
  const shut = members.filter((_member, index) => opened[index] === null);
  if (shut.length > 0)
    throw new Error(shut.map((member) => `${member.name} ended: ${bootOf(member).errors()}`).join('\n'));
  return { plan, members, ...outside, again };
}

async function suffered(fleet: Fleet): Promise<{ breaches: Breach[]; figures: string[] }> {
  const { plan, members, databaseUrl, telegram, target } = fleet;
  const created = await createTasks(fleet);
  await pause(5000);
  const calmUntil = Date.now();
  const happened = await faultsFor(fleet, plan.minutes * 60_000);
  const isReadyAgain = await becomes(async () => (await Promise.all(members.map(isReady))).every(Boolean), 60_000);
  const isCalm = await becomes(async () => (await openRows(databaseUrl)) < openFew(plan), 180_000);
  const asked = Date.now();
  // What brings work in stops first, so that the workers end what is there.
  const codes: (readonly [string, number | null])[] = [];
  for (const role of ['api', 'bot', 'worker'] as const) {
    const own = members.filter((member) => member.role === role);
    const ends = await Promise.all(own.map((member) => bootOf(member).stop()));
    codes.push(...own.map((member, index) => [member.name, ends[index]?.code ?? null] as const));
  }
  const rows = await readRows(databaseUrl);
  const kills = happened.flatMap(({ from, to }) => secondsFrom(from, to + afterFaultMs));
  const history = { stop: { asked, ended: Date.now() }, kills, promised: { created, runsByHand: [] } };
  const proof = slotsOf(rows, history);
  const told = (promise: string, isKept: boolean, more: unknown): Breach[] => (isKept ? [] : [{ promise, rows: more }]);
  return {
    breaches: [
      ...breachesOf(rows, telegram.seen(), history),
      ...callsOf(rows, history, target),
      ...told('each process is ready again after the last fault', isReadyAgain, members.map(lastWords)),
      ...told('what was held up comes after the last fault', isCalm, await openRows(databaseUrl)),
      ...told(
        'a stop by SIGTERM ends with code 0',
        codes.every(([, code]) => code === 0),
        codes,
      ),
      ...missing(happened),
      ...ownEnds(fleet, happened),
    ],
    figures: [
      `seed ${plan.seed}; ${created.length} tasks, ${proof.slots} slots, ${proof.inGaps} of them in gaps; ${rows.runs.length} runs, ${target.arrivals.length} calls`,
      `faults: ${happened.map(({ what, name, from, to }) => `${name} ${what} ${((to - from) / 1000).toFixed(0)} s`).join(', ')}`,
      `late before the first fault: ${latenessOf(rows, 0, calmUntil)}; in all: ${latenessOf(rows, calmUntil, asked)}`,
      `attempts by process: ${countsOf(rows.attempts.map(({ boot_id: boot }) => boot.slice(-6)))}`,
    ],
  };
}

const hands = 12;

async function createTasks({ plan, members, telegram, target }: Fleet): Promise<string[]> {
  const apis = members.filter(({ role }) => role === 'api').map(urlOf);
  const created: string[] = [];
  const left = Array.from({ length: plan.tasks }, (_value, index) => index).values();
  const schedule = { kind: 'interval', interval: `PT${plan.everySeconds}S`, timezone: 'UTC' };
  const policies = { auto_pause: 0, missed: 'all', missed_limit: 20, overlap: 'queue' };
  const hand = async (api: string) => {
    for (const index of left) {
      const isShown = index < plan.shown;
      const thread = isShown ? threadOf(telegram.forums[index % plan.forums]) : `cli:fleet-${index % 20}`;
      const action = index % 10 === 3 ? { action: { kind: 'http', method: 'POST', url: target.url } } : {};
      const body = { title: `Task ${index}`, instructions: `${index} at {{ run.scheduled_for }}`, schedule, policies };
      const { task_id: id } = await create(api, thread, { ...body, ...action });
      created.push(id);
    }
  };
  await Promise.all(Array.from({ length: hands }, (_value, index) => hand(apis[index % apis.length] ?? '')));
  return created;
}

/** Each fault for each role once at least, then by chance; the database goes twice. */
async function faultsFor(fleet: Fleet, forMs: number): Promise<Suffered[]> {
  const random = chanceFrom(fleet.plan.seed);
  const happened: Suffered[] = [];
  const wanted = roles.flatMap((role) => faultKinds.map((what) => ({ role, what })));
  const more = Array.from({ length: Math.max(0, Math.round(forMs / 20_000) - wanted.length) }, () => ({
    role: random.pick(['worker', 'worker', 'worker', 'bot', 'api'] as const),
    what: random.pick(faultKinds),
  }));
  const starts = [...wanted, ...more].map((fault) => ({ ...fault, at: random.between(0, Math.floor(forMs * 0.8)) }));
  const begun = performance.now();
  const until = (at: number) => pause(Math.max(0, at - (performance.now() - begun)));
  const done = starts.map(async ({ role, what, at }) => {
    await until(at);
    happened.push(await oneFault(fleet, { role, what, random }));
  });
  const restarts = [0.35, 0.7].map(async (share, index) => {
    await until(forMs * share);
    happened.push(await databaseFault(fleet, index === 0 ? 'fast' : 'immediate'));
  });
  await Promise.all([...done, ...restarts]);
  await until(forMs);
  return happened.toSorted((a, b) => a.from - b.from);
}

async function oneFault(
  { members, again }: Fleet,
  { role, what, random }: { readonly role: Role; readonly what: FaultKind; readonly random: Chance },
): Promise<Suffered> {
  const free = () => members.filter((member) => member.role === role && !member.isBusy);
  while (free().length === 0) await pause(200);
  const member = random.pick(free());
  // Longer than a lease more often than not.
  const forMs = random.is(0.6) ? random.between(35_000, 50_000) : random.between(2000, 8000);
  return suffer(member, what, { forMs, again: () => again(member) });
}

async function databaseFault({ hands: server }: Fleet, how: 'fast' | 'immediate'): Promise<Suffered> {
  const from = Date.now();
  await server.down(how);
  await pause(3000);
  await server.up();
  return { what: 'database', name: 'postgres', role: null, from, to: Date.now(), isSeen: true };
}

/** A run in which any fault did not happen proves nothing. */
function missing(happened: readonly Suffered[]): Breach[] {
  const seen = happened.filter(({ isSeen }) => isSeen);
  const lacking = roles.flatMap((role) =>
    faultKinds
      .filter((what) => !seen.some((one) => one.role === role && one.what === what))
      .map((what) => `${role} ${what}`),
  );
  if (!seen.some(({ what }) => what === 'database')) lacking.push('database');
  const unseen = happened.filter(({ isSeen }) => !isSeen);
  return lacking.length + unseen.length === 0 ? [] : [{ promise: 'every fault happened', rows: { lacking, unseen } }];
}

/** Only `kill -9` of ours ends a process. */
function ownEnds({ members }: Fleet, happened: readonly Suffered[]): Breach[] {
  const rows = members.flatMap((member) => {
    const kills = happened.filter(({ name, what }) => name === member.name && what === 'kill').length;
    return member.boots.length === kills + 1 ? [] : [{ name: member.name, boots: member.boots.length, kills }];
  });
  return rows.length === 0 ? [] : [{ promise: 'no process ends by itself', rows }];
}

const afterFaultMs = 60_000;

function secondsFrom(from: number, to: number): number[] {
  return Array.from({ length: Math.ceil((to - from) / 1000) + 1 }, (_value, index) => from + index * 1000);
}

/** As many as are due within a moment, and those that are on their way to the chats. */
const openFew = ({ tasks, everySeconds }: FleetPlan) => Math.max(30, (2 * tasks) / everySeconds);

async function openRows(databaseUrl: string): Promise<number> {
  const client = new pg.Client({ connectionString: databaseUrl, options: '-c search_path=cronogram,public' });
  await client.connect();
  try {
    const { rows } = await client.query<{ open: string }>(`select
      (select count(*) from runs where status in ('queued', 'running', 'backoff', 'waiting')) +
      (select count(*) from deliveries where status in ('pending', 'sending', 'unknown')) as open`);
    return Number(rows[0]?.open);
  } finally {
    await client.end();
  }
}

function lastWords(member: Member) {
  return { name: member.name, log: bootOf(member).log.slice(-5), errors: bootOf(member).errors().slice(-500) };
}

function latenessOf({ occurrences, attempts, runs }: Rows, from: number, to: number): string {
  const slots = new Map(occurrences.map(({ id, slot_at: at }) => [id, at]));
  const slotOf = new Map(runs.map(({ id, occurrence_id: one }) => [id, slots.get(one ?? '')]));
  const late = attempts
    .filter(({ attempt }) => attempt === 1)
    .flatMap(({ run_id: run, started_at: at }) => {
      const slot = slotOf.get(run);
      return slot === undefined || slot < from || slot > to ? [] : [at - slot];
    })
    .toSorted((a, b) => a - b);
  const at = (share: number) => late[Math.floor(late.length * share)] ?? 0;
  return `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, max ${late.at(-1) ?? 0} ms of ${late.length}`;
}

function countsOf(words: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts].map(([word, count]) => `${word} ${count}`).join(', ');
}
