import type { Entering, HostStore, PlaceAsked, PlaceLeft, TurnsGiven } from '../../app/ports/outbound.ts';
import type { StartPlan } from '../../app/ports/pipeline.ts';
import {
  forgettableFrom,
  heldReason,
  hostHeld,
  hostVerdict,
  keptMs,
  keptTaken,
  lookAgainMs,
  nextInTurn,
  placeLeft,
  placeTaken,
  waitInAttemptMs,
  type HostRules,
  type HostState,
  type HostVerdict,
} from '../../domain/outbound/hosts.ts';
import type { Script } from '../engine/engine.ts';
import { columns, columnsOf, maybe, number, pick, type Answer, type RowOf } from '../engine/fields.ts';
import { forUpdate, limit as limited, list, raw, skipLocked, sql, type Sql } from '../engine/sql.ts';
import { all, hold, insertAll, offer, run, select, updateReturning } from '../engine/statements.ts';
import { isLostIn } from '../tables/work.ts';
import { offeredFields } from './codec.ts';

/**
 * Hosts in rows, for several processes that call them. Whoever changes one holds its row, as the last thing that it locks, so it is
 * held for a commit alone; then it sees who has a place there and who waits. What an attempt has that was given up is free:
 * its process is gone, or its run is another attempt's by now. So an end that comes late finds nothing to give back.
 */
export const hostStore = { enterHost, leaveHosts, wakeRuns };
export const hostReads = { hostsLeft };

type Call = RowOf<'hostCalls'>;

/** A host whose row is held. */
interface Spared {
  readonly host: string;
  state: HostState;
  lastTurn: string;
  /** Places that are kept or taken, by their runs. */
  readonly calls: Map<string, Call>;
  /** What is to be written of them. */
  readonly put: Map<string, Call>;
  readonly gone: Set<string>;
  /** How many wait. */
  waiting: number;
  /** As it stands in the table. */
  readonly stored: string;
}

/** Hosts whose rows are held. */
interface Held {
  readonly hosts: ReadonlyMap<string, Spared>;
  readonly now: number;
}

const h = columnsOf('hosts', 'h');
const c = columnsOf('hostCalls', 'c');
const r = columnsOf('runs', 'r');
const { hostCalls } = columns;

/** More than this wait without being counted. */
const countedMax = 10_000;

const heldFields = {
  ...pick(h, 'host', 'began', 'ends', 'heldUntil', 'breaker', 'openUntil', 'times', 'lastTurn'),
  runId: maybe(c.runId),
  turn: maybe(c.turn),
  status: maybe(c.status),
  fence: maybe(c.fence),
  bootId: c.bootId,
  keptAt: maybe(c.keptAt),
  waiting: number(
    sql`(select count(*) from (select 1 from host_calls w where w.host = h.host and w.status = 'waiting'
      limit ${raw(String(countedMax))}) as counted)`,
  ),
  isLeft: number(sql`case when ${isLeft()} then 1 else 0 end`),
};
type HeldRow = Answer<typeof heldFields>;

/** Its attempt was given up. A run whose attempt has ended has its place until that end is told, which comes a moment later. */
function isLeft(): Sql {
  return raw(`c.fence >= 0 and (r.id is null or r.fence <> c.fence or ${isLostIn('r')}
    or not exists (select 1 from processes p where p.id = c.boot_id and p.ended_at is null))`);
}

const fresh = { began: '', ends: '', heldUntil: 0, breaker: 'closed', openUntil: 0, times: 0, lastTurn: '' } as const;

/** From here on nobody else changes these hosts until this transaction is over. */
function* heldHosts(names: readonly string[], now: number): Script<Held> {
  const hosts = [...new Set(names)].sort();
  for (;;) {
    yield* hold(sql`select host from hosts where host in ${list(hosts)} order by host ${forUpdate}`);
    // A statement that begins after the lock sees what the process before has committed.
    const found = yield* all(
      select(heldFields)`from hosts h left join host_calls c on c.host = h.host and c.status <> 'waiting'
        left join runs r on r.id = c.run_id where h.host in ${list(hosts)}`,
    );
    const known = new Set(found.map(({ host }) => host));
    const missing = hosts.filter((host) => !known.has(host));
    if (missing.length === 0) return readHeld(found, now);
    yield* insertAll(
      'hosts',
      missing.map((host) => ({ host, ...fresh, forgettableFrom: 0 })),
      raw('on conflict (host) do nothing'),
    );
  }
}

function readHeld(found: readonly HeldRow[], now: number): Held {
  const hosts = new Map<string, Spared>();
  for (const row of found) {
    const spared = hosts.get(row.host) ?? sparedIn(row, now);
    hosts.set(row.host, spared);
    const { runId, turn, status, fence, bootId, keptAt } = row;
    if (runId === null || turn === null || status === null || fence === null || keptAt === null) continue;
    spared.state = { ...spared.state, taken: spared.state.taken + 1 };
    spared.calls.set(runId, { host: row.host, runId, turn, status, fence, bootId, keptAt });
    if (row.isLeft === 1 || (status === 'kept' && keptAt + keptMs <= now)) spared.gone.add(runId);
  }
  for (const spared of hosts.values()) {
    for (const runId of spared.gone)
      if (spared.calls.delete(runId)) spared.state = placeLeft(spared.state, 'unsaid', now);
    // Nobody is left to end the try of a broken host.
    if (spared.state.breaker.is === 'halfOpen' && spared.calls.size === 0)
      spared.state = placeLeft(spared.state, 'unsaid', now);
  }
  return { hosts, now };
}

function sparedIn(row: HeldRow, now: number): Spared {
  const { host, lastTurn, waiting, heldUntil } = row;
  // A clock that was set back may have left instants in the future, for which nobody must wait.
  const began = readInstants(row.began).map(({ at }) => Math.min(at, now));
  const ends = readInstants(row.ends).map(({ at, isBad }) => ({ at: Math.min(at, now), isBad }));
  const state: HostState = { taken: 0, began, heldUntil, ends, breaker: breakerIn(row) };
  const stored = printOf(rowOf({ host, state, lastTurn }));
  return { host, state, lastTurn, calls: new Map(), put: new Map(), gone: new Set(), waiting, stored };
}

function breakerIn({ breaker, openUntil: until, times }: HeldRow): HostState['breaker'] {
  if (breaker === 'closed') return { is: 'closed' };
  return breaker === 'open' ? { is: 'open', until, times } : { is: 'halfOpen', times };
}

const badSign = '!';

function readInstants(written: string): { readonly at: number; readonly isBad: boolean }[] {
  let at = 0;
  return written === ''
    ? []
    : written.split(' ').map((one) => ({ at: (at += Number.parseInt(one, 10)), isBad: one.endsWith(badSign) }));
}

function writtenInstants(instants: readonly { readonly at: number; readonly isBad?: boolean }[]): string {
  return instants
    .map(
      ({ at, isBad }, index) =>
        `${Math.round(at) - Math.round(instants[index - 1]?.at ?? 0)}${isBad === true ? badSign : ''}`,
    )
    .join(' ');
}

function rowOf({ host, state, lastTurn }: Pick<Spared, 'host' | 'state' | 'lastTurn'>): RowOf<'hosts'> {
  const { began, ends, heldUntil, breaker } = state;
  return {
    host,
    began: writtenInstants(began.map((at) => ({ at }))),
    ends: writtenInstants(ends),
    heldUntil: Math.ceil(heldUntil),
    breaker: breaker.is,
    openUntil: breaker.is === 'open' ? Math.ceil(breaker.until) : 0,
    times: breaker.is === 'closed' ? 0 : breaker.times,
    lastTurn,
    forgettableFrom: Math.ceil(forgettableFrom(state)),
  };
}

function printOf(row: RowOf<'hosts'>): string {
  return Object.values(row).join('|');
}

function* written({ hosts }: Held): Script<void> {
  const ours = [...hosts.values()];
  const dropped = ours.flatMap(({ host, gone, put }) =>
    [...gone].flatMap((runId) => (put.has(runId) ? [] : `${host} ${runId}`)),
  );
  if (dropped.length > 0)
    yield* run(
      sql`delete from host_calls where host in ${list([...hosts.keys()])} and host || ' ' || run_id in ${list(dropped)}`,
    );
  yield* insertAll(
    'hostCalls',
    ours.flatMap(({ put }) => [...put.values()]),
    callReplaced,
  );
  const rows = ours.flatMap((one) => {
    const row = rowOf(one);
    return printOf(row) === one.stored ? [] : row;
  });
  yield* insertAll('hosts', rows, hostReplaced);
}

const callReplaced = raw(`on conflict (host, run_id) do update set turn = excluded.turn, status = excluded.status,
  fence = excluded.fence, boot_id = excluded.boot_id, kept_at = excluded.kept_at`);
const hostReplaced = raw(`on conflict (host) do update set began = excluded.began, ends = excluded.ends,
  held_until = excluded.held_until, breaker = excluded.breaker, open_until = excluded.open_until, times = excluded.times,
  last_turn = excluded.last_turn, forgettable_from = excluded.forgettable_from`);

/* ---- asking ---- */

type Asking = Pick<Call, 'runId' | 'turn' | 'fence' | 'bootId'>;

/** Takes the place that is kept for the run, or a free one. */
function ask(spared: Spared, asking: Asking, rules: HostRules, now: number): HostVerdict {
  const { runId, turn } = asking;
  const mine = spared.calls.get(runId);
  if (mine === undefined) {
    const verdict = hostVerdict(spared.state, rules, now);
    if (verdict.is === 'held') return verdict;
    spared.state = placeTaken(spared.state, now);
    spared.lastTurn = turn;
  } else if (mine.status === 'kept') spared.state = keptTaken(spared.state, mine.keptAt, now);
  const call: Call = { ...asking, host: spared.host, status: 'taken', keptAt: now };
  spared.calls.set(runId, call);
  spared.put.set(runId, call);
  return { is: 'free' };
}

type Starting = Extract<StartPlan, { does: 'start' }>;

/** Runs that start and for which there is no place at their host are put off, and wait for their turn there. */
export function* withPlaces(
  plans: readonly StartPlan[],
  fenceOf: (runId: string) => number,
  { bootId, now }: { readonly bootId: string; readonly now: number },
): Script<readonly StartPlan[]> {
  const asking = plans.flatMap((one) =>
    one.does === 'start' && one.place !== undefined ? [{ one, place: one.place }] : [],
  );
  if (asking.length === 0) {
    yield* dropInterrupted(plans);
    return plans;
  }
  const held = yield* heldHosts(
    asking.map(({ place }) => place.host),
    now,
  );
  yield* dropInterrupted(plans);
  const rulesAt = new Map(asking.map(({ place }) => [place.host, place.rules]));
  const woken: string[] = [];
  for (const [host, rules] of rulesAt) woken.push(...(yield* turnsGiven(held, host, rules)));
  const waits = new Map<string, StartPlan>();
  for (const { one, place } of asking) {
    const wait = placeFor(held, one, place, { bootId, fence: fenceOf(one.runId) });
    if (wait !== null) waits.set(one.runId, wait);
  }
  yield* written(held);
  yield* wakeRuns(woken, now);
  return plans.map((one) => waits.get(one.runId) ?? one);
}

/** The place of an attempt that a dead process left behind, whatever becomes of its run. */
function* dropInterrupted(plans: readonly StartPlan[]): Script<void> {
  const left = plans.filter(({ interrupted }) => interrupted).map(({ runId }) => runId);
  if (left.length > 0) yield* run(sql`delete from host_calls where run_id in ${list(left)}`);
}

function placeFor(
  held: Held,
  { runId, interrupted }: Starting,
  { host, turn, rules }: PlaceAsked,
  { bootId, fence }: { readonly bootId: string; readonly fence: number },
): Extract<StartPlan, { does: 'wait' }> | null {
  const spared = held.hosts.get(host);
  if (spared === undefined) return null;
  const verdict = ask(spared, { runId, turn, fence, bootId }, rules, held.now);
  if (verdict.is === 'free') return null;
  spared.put.set(runId, { host, runId, turn, status: 'waiting', fence: -1, bootId: null, keptAt: 0 });
  // It is woken when its turn comes; by itself it looks when those before it have had theirs.
  const behindMs = Math.floor(spared.waiting / rules.perSecond) * 1000;
  spared.waiting += 1;
  const until = (verdict.until ?? held.now + lookAgainMs) + behindMs;
  return { runId, does: 'wait', interrupted, until: Math.ceil(until), reason: heldReason(host, rules, verdict) };
}

function* enterHost(entering: Entering, now: number): Script<HostVerdict> {
  const { host, runId, turn, fence, bootId, rules, isLast } = entering;
  const held = yield* heldHosts([host], now);
  const woken = yield* turnsGiven(held, host, rules);
  const spared = held.hosts.get(host);
  if (spared === undefined) return { is: 'free' };
  const verdict = ask(spared, { runId, turn, fence, bootId }, rules, held.now);
  if (verdict.is === 'held') {
    const isInVain = isLast || (verdict.until ?? 0) - now > waitInAttemptMs;
    if (isInVain) spared.gone.add(runId);
    else spared.put.set(runId, { host, runId, turn, status: 'waiting', fence, bootId, keptAt: 0 });
  }
  yield* written(held);
  yield* wakeRuns(woken, now);
  return verdict;
}

/* ---- leaving ---- */

function* leaveHosts(
  left: readonly PlaceLeft[],
  others: readonly string[],
  { now, rules }: Parameters<HostStore['leaveHosts']>[2],
): Script<TurnsGiven> {
  const held = yield* heldHosts([...left.map(({ host }) => host), ...others], now);
  for (const one of left) leave(held, one);
  const woken: string[] = [];
  for (const host of held.hosts.keys()) woken.push(...(yield* turnsGiven(held, host, rules)));
  yield* written(held);
  yield* wakeRuns(woken, now);
  const next = [...held.hosts.values()].flatMap((one) => {
    const at = turnsAt(one, rules, now);
    return at === null ? [] : [{ host: one.host, at }];
  });
  return { woken: woken.length, next };
}

function leave({ hosts, now }: Held, { host, runId, fence, end, heldUntil }: PlaceLeft): void {
  const spared = hosts.get(host);
  const call = spared?.calls.get(runId);
  if (spared === undefined || call === undefined || call.fence !== fence) return;
  spared.calls.delete(runId);
  spared.gone.add(runId);
  spared.state = placeLeft(spared.state, end, now);
  if (heldUntil > now) spared.state = hostHeld(spared.state, heldUntil);
}

/** The next instant at which turns are to be given; null where only the end of a call can bring one, or nobody waits. */
function turnsAt({ state, calls, waiting }: Spared, rules: HostRules, now: number): number | null {
  if (waiting === 0) return null;
  const verdict = hostVerdict(state, rules, now);
  const opens = verdict.is === 'held' ? (verdict.until ?? Infinity) : now + lookAgainMs;
  const kept = [...calls.values()].flatMap(({ status, keptAt }) => (status === 'kept' ? keptAt + keptMs : []));
  const at = Math.min(opens, ...kept);
  return at === Infinity ? null : Math.ceil(at);
}

/* ---- turns ---- */

const candidatesMax = 500;
/** Those that others have in hand, or that wait no more, make room for others so often. */
const roundsMax = 3;

/** Keeps what is free for those that wait, in their turn. Answers the runs that are to be woken in the store. */
function* turnsGiven(held: Held, host: string, rules: HostRules): Script<string[]> {
  const spared = held.hosts.get(host);
  if (spared === undefined || spared.waiting === 0 || hostVerdict(spared.state, rules, held.now).is === 'held')
    return [];
  const queue = yield* waitersAt(spared);
  const woken: string[] = [];
  for (let round = 0; round < roundsMax && queue.size > 0; round += 1) {
    const chosen = inTurn(spared, queue, roomAt(spared.state, rules, held.now));
    if (chosen.length === 0) break;
    woken.push(...(yield* keptFor(spared, chosen, held.now)));
  }
  return woken;
}

function roomAt(state: HostState, rules: HostRules, now: number): number {
  let [room, after] = [0, state];
  while (hostVerdict(after, rules, now).is === 'free') {
    after = placeTaken(after, now);
    room += 1;
  }
  return room;
}

type Waiter = Pick<Call, 'runId' | 'turn'>;

/** The next that wait, by their tasks: those that follow the last turn, and then around. */
function* waitersAt({ host, lastTurn }: Spared): Script<Map<string, string[]>> {
  const waiting = sql`host = ${host} and status = 'waiting'`;
  const fields = pick(hostCalls, 'runId', 'turn');
  const length = limited(candidatesMax);
  const after = yield* all(
    select(fields)`from host_calls where ${waiting} and turn > ${lastTurn} order by turn, run_id ${length}`,
  );
  const around =
    after.length === candidatesMax
      ? []
      : yield* all(
          select(fields)`from host_calls where ${waiting} and turn <= ${lastTurn} order by turn, run_id ${length}`,
        );
  const queue = new Map<string, string[]>();
  for (const { turn, runId } of [...after, ...around]) queue.set(turn, [...(queue.get(turn) ?? []), runId]);
  return queue;
}

/** Takes the next out of the queue. */
function inTurn({ calls, lastTurn }: Spared, queue: Map<string, string[]>, room: number): Waiter[] {
  const held = new Map<string, number>();
  for (const { turn } of calls.values()) held.set(turn, (held.get(turn) ?? 0) + 1);
  const chosen: Waiter[] = [];
  let last = lastTurn;
  while (chosen.length < room) {
    const turn = nextInTurn(queue.keys(), (task) => held.get(task) ?? 0, last);
    const [runId, ...rest] = queue.get(turn ?? '') ?? [];
    if (turn === undefined || runId === undefined) break;
    if (rest.length > 0) queue.set(turn, rest);
    else queue.delete(turn);
    chosen.push({ runId, turn });
    held.set(turn, (held.get(turn) ?? 0) + 1);
    last = turn;
  }
  return chosen;
}

const chosenFields = {
  ...pick(c, 'runId', 'turn', 'fence', 'bootId'),
  runStatus: r.status,
  runFence: r.fence,
};

/** A run that another process has in hand asks for itself. */
function* keptFor(spared: Spared, chosen: readonly Waiter[], now: number): Script<string[]> {
  const ids = chosen.map(({ runId }) => runId);
  const free = yield* all(
    select(chosenFields)`from runs r join host_calls c on c.run_id = r.id
      where c.host = ${spared.host} and r.id in ${list(ids)} ${skipLocked('r')}`,
  );
  free.sort((one, other) => ids.indexOf(one.runId) - ids.indexOf(other.runId));
  const woken: string[] = [];
  for (const { runStatus: status, runFence, ...call } of free) {
    const isInStore = call.fence < 0;
    const waits = isInStore
      ? status === 'backoff' || status === 'queued'
      : status === 'running' && runFence === call.fence;
    spared.waiting -= 1;
    if (!waits) {
      spared.gone.add(call.runId);
      continue;
    }
    const kept: Call = { ...call, host: spared.host, status: 'kept', keptAt: now };
    spared.state = placeTaken(spared.state, now);
    spared.lastTurn = call.turn;
    spared.calls.set(call.runId, kept);
    spared.put.set(call.runId, kept);
    if (isInStore) woken.push(call.runId);
  }
  return woken;
}

/** Those that were called off, or begin already, are left as they are. */
function* wakeRuns(runIds: readonly string[], now: number): Script<void> {
  if (runIds.length === 0) return;
  const waiting = sql`id in ${list(runIds)} and status = 'backoff' and ready_at > ${now}`;
  yield* offer({ runs: yield* updateReturning('runs', { readyAt: now }, waiting, offeredFields) });
}

function* hostsLeft(): Script<string[]> {
  const found = yield* all(
    select({
      host: c.host,
    })`from host_calls c left join runs r on r.id = c.run_id where c.status <> 'waiting' and ${isLeft()}
      group by c.host`,
  );
  return found.map(({ host }) => host);
}
