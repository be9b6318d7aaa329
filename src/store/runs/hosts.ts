import type { Entering, HostStore, PlaceAsked, PlaceLeft, TurnsGiven } from '../../app/ports/outbound.ts';
import type { StartPlan } from '../../app/ports/pipeline.ts';
import {
  heldReason,
  hostHeld,
  hostVerdict,
  keptMs,
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
import { columns, columnsOf, pick } from '../engine/fields.ts';
import { limit as limited, list, skipLocked, sql } from '../engine/sql.ts';
import { all, offer, run, select, updateReturning } from '../engine/statements.ts';
import { offeredFields } from './codec.ts';
import { heldHosts, isLeft, written, type Call, type Held, type Spared } from './host-rows.ts';

/**
 * Places at hosts that several processes call. An attempt that was given up has none, so an end that comes late finds nothing to give
 * back.
 */
export const hostStore = { enterHost, leaveHosts, wakeRuns };
export const hostReads = { hostsLeft };

const c = columnsOf('hostCalls', 'c');
const r = columnsOf('runs', 'r');
const { hostCalls } = columns;

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
  }
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
/** Runs that others have in hand, or that wait no more, make room for others so often. */
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

/** Runs that were called off, or begin already, are left as they are. */
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
