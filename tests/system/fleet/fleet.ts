import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { readRows, type Breach, type Rows } from '../../invariants/rows.ts';
import { chanceFrom, type Chance } from '../../support/chance.ts';
import { createDatabase, startPostgres, type PostgresHands } from '../../support/postgres-server.ts';
import { breachesOf, callsOf, secondsFrom, slotsOf } from '../account.ts';
import { create } from '../api.ts';
import { becomes, type Boot, type StartOptions } from '../program.ts';
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
  /** How long all is left alone before the first fault, to see how late it is then. */
  readonly calmMs: number;
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

/** Slots that were late while the tasks were made have been done. */
const settleMs = 5000;

async function suffered(fleet: Fleet): Promise<{ breaches: Breach[]; figures: string[] }> {
  const { plan, members, databaseUrl, telegram, target } = fleet;
  const created = await createTasks(fleet);
  await pause(settleMs);
  const calmFrom = Date.now();
  await pause(plan.calmMs);
  const calmUntil = Date.now();
  const happened = await faultsFor(fleet, plan.minutes * 60_000);
  const isReadyAgain = await becomes(async () => (await Promise.all(members.map(isReady))).every(Boolean), 60_000);
  const held = await heldUp(databaseUrl);
  const own = ownEnds(members);
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
      ...told('what was held up comes after the last fault', held === 0, held),
      ...told(
        'a stop by SIGTERM ends with code 0',
        codes.every(([, code]) => code === 0),
        codes,
      ),
      ...missing(happened),
      ...own,
    ],
    figures: [
      `seed ${plan.seed}, ${plan.minutes} minutes of faults at ${(plan.tasks / plan.everySeconds).toFixed(0)} due/s; ${created.length} tasks, ${proof.slots} slots, ${proof.inGaps} of them in gaps; ${rows.runs.length} runs, ${target.arrivals.length} calls`,
      `faults: ${happened.map(({ what, name, from, to }) => `${name} ${what} ${((to - from) / 1000).toFixed(0)} s`).join(', ')}`,
      `slots: ${countsOf(rows.occurrences.map(({ status, reason }) => (reason === null ? status : `${status} (${reason})`)))}`,
      `late before the first fault: ${latenessOf(rows, calmFrom, calmUntil)}; from then on: ${latenessOf(rows, calmUntil, asked)}`,
      ...(plan.pace === undefined ? [] : [paceOf(telegram, plan.pace)]),
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
  const retry = { attempts: 3, base: 'PT1S', factor: 1, jitter: 0 };
  const policies = { auto_pause: 0, missed: 'all', missed_limit: 20, overlap: 'queue', retry };
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

/** Faults of a role happen one after the other and those of different roles side by side; two workers may be gone at a time. */
const chains: readonly Role[] = ['bot', 'worker', 'worker', 'api'];
/** Longer than a lease, so that the others take over what a process had, or so short that it keeps it. */
const longMs = [35_000, 45_000] as const;
const shortMs = [2000, 8000] as const;
const betweenMs = [2000, 5000] as const;

interface Wish {
  readonly role: Role;
  readonly what: FaultKind;
  readonly forMs: number;
}

/** Each fault for each role once at least and for longer than a lease, then by chance until the time is over; the database goes twice. */
async function faultsFor(fleet: Fleet, forMs: number): Promise<Suffered[]> {
  const random = chanceFrom(fleet.plan.seed);
  const happened: Suffered[] = [];
  const begun = performance.now();
  const leftMs = () => forMs - (performance.now() - begun);
  const until = (at: number) => pause(Math.max(0, leftMs() - (forMs - at)));
  const longOf = (role: Role) => (what: FaultKind) => ({ role, what, forMs: random.between(...longMs) });
  const owed = new Map(roles.map((role) => [role, inAnyOrder(faultKinds, random).map(longOf(role))]));
  const byChance = (role: Role): Wish => {
    const [from, to] = random.is(0.5) ? longMs : shortMs;
    return { role, what: random.pick(faultKinds), forMs: random.between(from, to) };
  };
  const chained = chains.map(async (role) => {
    for (;;) {
      await pause(random.between(...betweenMs));
      const wish = owed.get(role)?.pop() ?? (leftMs() > longMs[1] ? byChance(role) : null);
      if (wish === null) break;
      happened.push(await oneFault(fleet, wish, random));
    }
  });
  const restarts = [0.35, 0.7].map(async (share, index) => {
    await until(forMs * share);
    happened.push(await databaseFault(fleet, index === 0 ? 'fast' : 'immediate'));
  });
  await Promise.all([...chained, ...restarts]);
  await until(forMs);
  return happened.toSorted((a, b) => a.from - b.from);
}

function inAnyOrder<T>(items: readonly T[], random: Chance): T[] {
  return items
    .map((item) => ({ item, place: random.next() }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ item }) => item);
}

async function oneFault({ members, again }: Fleet, { role, what, forMs }: Wish, random: Chance): Promise<Suffered> {
  const member = random.pick(members.filter((one) => one.role === role && !one.isBusy));
  // Of one that has ended by itself its last words are told at the end.
  if (!bootOf(member).isAlive()) again(member);
  await bootOf(member).url;
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
function ownEnds(members: readonly Member[]): Breach[] {
  const ended = members.flatMap(({ name, boots }) =>
    boots.filter((boot) => !boot.isAlive() && !boot.isKilled()).map((boot) => ({ name, ...wordsOf(boot) })),
  );
  return ended.length === 0 ? [] : [{ promise: 'no process ends by itself', rows: ended }];
}

const afterFaultMs = 60_000;

const heldUpMs = 20_000;
const recoverMs = 180_000;

/** How many slots, runs and results have waited for long, once there are none of them any more or nothing seems to help. */
async function heldUp(databaseUrl: string): Promise<number> {
  const client = new pg.Client({ connectionString: databaseUrl, options: '-c search_path=cronogram,public' });
  await client.connect();
  let held = 0;
  const isCalm = async () => {
    await pause(1000);
    const { rows } = await client.query<{ held: number }>(heldUpText, [Date.now() - heldUpMs]);
    held = rows[0]?.held ?? 0;
    return held === 0;
  };
  try {
    await becomes(isCalm, recoverMs);
    return held;
  } finally {
    await client.end();
  }
}

const heldUpText = `select (
  (select count(*) from occurrences where status in ('pending', 'dispatched') and slot_at < $1) +
  (select count(*) from runs where status in ('queued', 'running', 'backoff', 'waiting') and created_at < $1) +
  (select count(*) from deliveries where kind = 'result' and status in ('pending', 'sending', 'unknown', 'blocked') and created_at < $1)
)::int as held`;

const lastWords = (member: Member) => ({ name: member.name, ...wordsOf(bootOf(member)) });

function wordsOf({ log, errors }: Boot) {
  return { log: log.slice(-5), errors: errors().slice(-1500) };
}

/** Of messages, because what is called outside may have to wait for the call before it. */
function latenessOf({ occurrences, attempts, runs }: Rows, from: number, to: number): string {
  const slots = new Map(occurrences.map(({ id, slot_at: at }) => [id, at]));
  const messages = runs.filter(({ action_kind: kind }) => kind === 'message');
  const slotOf = new Map(messages.map(({ id, occurrence_id: one }) => [id, slots.get(one ?? '')]));
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

/** Calls that a group counts towards its limit. */
const isCounted = (method: string) => /^(send|edit|createForumTopic)/.test(method);

/** The first topics, results and cards of all groups at once, beside the least time that the limit of a group allows. */
function paceOf(telegram: Telegram, { group, chat }: Pace): string {
  const all = telegram.seen().calls;
  const calls = all.filter(({ method, status }) => status === 200 && isCounted(method));
  const shares = telegram.forums.map((forum) => {
    const own = calls.filter(({ params }) => Number(params['chat_id']) === forum).slice(0, group + group / 2);
    const leastMs = 60_000 * Math.floor((own.length - 1) / group) + (1000 / chat) * ((own.length - 1) % group);
    return ((own.at(-1)?.at ?? 0) - (own[0]?.at ?? 0)) / leastMs;
  });
  const told = shares.map((share) => share.toFixed(2)).join(', ');
  return `the first ${group + group / 2} calls of each group took ${told} of the least time; 429: ${all.filter(({ status }) => status === 429).length}`;
}

function countsOf(words: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts].map(([word, count]) => `${word} ${count}`).join(', ');
}
