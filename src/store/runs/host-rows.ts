import { forgettableFrom, keptMs, placeLeft, type HostState } from '../../domain/outbound/hosts.ts';
import type { Script } from '../engine/engine.ts';
import { columns, columnsOf, maybe, number, pick, type Answer, type RowOf } from '../engine/fields.ts';
import { forUpdate, list, raw, sql, type Sql } from '../engine/sql.ts';
import { all, insertAll, run, select } from '../engine/statements.ts';
import { isLostIn } from '../tables/work.ts';

/**
 * Rows of hosts. Whoever changes one holds it, as the last thing that it locks, so it is held for a commit alone; then it sees who
 * has a place there and who waits. What an attempt has that was given up is free: its process is gone, or its run is another
 * attempt's by now.
 */

export type Call = RowOf<'hostCalls'>;

/** A host whose row is held. */
export interface Spared {
  readonly host: string;
  state: HostState;
  lastTurn: string;
  /** Places that are kept or taken, by their runs. */
  readonly calls: Map<string, Call>;
  /** Calls that are to be written. */
  readonly put: Map<string, Call>;
  readonly gone: Set<string>;
  /** Calls that wait for a place. */
  waiting: number;
  /** As it stands in the table. */
  readonly stored: string;
}

/** Hosts whose rows are held. */
export interface Held {
  readonly hosts: ReadonlyMap<string, Spared>;
  readonly now: number;
}

const h = columnsOf('hosts', 'h');
const c = columnsOf('hostCalls', 'c');

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
export function isLeft(): Sql {
  return raw(`c.fence >= 0 and (r.id is null or r.fence <> c.fence or ${isLostIn('r')}
    or not exists (select 1 from processes p where p.id = c.boot_id and p.ended_at is null))`);
}

const fresh = { began: '', ends: '', heldUntil: 0, breaker: 'closed', openUntil: 0, times: 0, lastTurn: '' } as const;

/** From here on nobody else changes these hosts until this transaction is over. */
export function* heldHosts(names: readonly string[], now: number): Script<Held> {
  const hosts = [...new Set(names)].sort();
  for (;;) {
    const locked = yield* all(
      select(pick(columns.hosts, 'host'))`from hosts where host in ${list(hosts)} order by host ${forUpdate}`,
    );
    const known = new Set(locked.map(({ host }) => host));
    const missing = hosts.filter((host) => !known.has(host));
    if (missing.length === 0) break;
    yield* insertAll(
      'hosts',
      missing.map((host) => ({ host, ...fresh, forgettableFrom: 0 })),
      raw('on conflict (host) do nothing'),
    );
  }
  // Only rows that were locked are read: one that another has made in between is not. This statement sees what was committed before.
  const found = yield* all(
    select(heldFields)`from hosts h left join host_calls c on c.host = h.host and c.status <> 'waiting'
      left join runs r on r.id = c.run_id where h.host in ${list(hosts)}`,
  );
  return readHeld(found, now);
}

function readHeld(found: readonly HeldRow[], now: number): Held {
  const hosts = new Map<string, Spared>();
  for (const row of found) {
    const spared = hosts.get(row.host) ?? sparedIn(row, now);
    hosts.set(row.host, spared);
    const call = callIn(row);
    if (call === null) continue;
    spared.state = { ...spared.state, taken: spared.state.taken + 1 };
    spared.calls.set(call.runId, call);
    const isOver = call.status === 'kept' && call.keptAt + keptMs <= now;
    if (row.isLeft === 1 || isOver) spared.gone.add(call.runId);
    // Its call may begin at any moment, so until it does it counts as one that begins now.
    else if (call.status === 'kept') spared.state = { ...spared.state, began: [...spared.state.began, now] };
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

/** Null of a host where nobody has a place. */
function callIn({ host, runId, turn, status, fence, bootId, keptAt }: HeldRow): Call | null {
  if (runId === null || turn === null || status === null) return null;
  return { host, runId, turn, status, fence: fence ?? -1, bootId, keptAt: keptAt ?? 0 };
}

function sparedIn(row: HeldRow, now: number): Spared {
  const { host, lastTurn, waiting, heldUntil } = row;
  // A clock that was set back may have left instants in the future, for which nobody must wait.
  const began = readInstants(row.began).map(({ at }) => Math.min(at, now));
  const ends = readInstants(row.ends).map(({ at, isBad }) => ({ at: Math.min(at, now), isBad }));
  const state: HostState = { taken: 0, began, heldUntil, ends, breaker: breakerIn(row) };
  const stored = printOf(rowOf({ host, state, lastTurn, calls: new Map() }, now));
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

function rowOf(
  { host, state, lastTurn, calls }: Pick<Spared, 'host' | 'state' | 'lastTurn' | 'calls'>,
  now: number,
): RowOf<'hosts'> {
  const { ends, heldUntil, breaker } = state;
  const began = withoutKept(state.began, calls, now);
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

/** Calls that have begun; places that are kept count as such for a look alone. */
function withoutKept(began: readonly number[], calls: Spared['calls'], now: number): readonly number[] {
  let kept = [...calls.values()].filter(({ status }) => status === 'kept').length;
  return began.filter((at) => at !== now || (kept -= 1) < 0);
}

function printOf(row: RowOf<'hosts'>): string {
  return Object.values(row).join('|');
}

export function* written({ hosts, now }: Held): Script<void> {
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
    const row = rowOf(one, now);
    return printOf(row) === one.stored ? [] : row;
  });
  yield* insertAll('hosts', rows, hostReplaced);
}

const callReplaced = raw(`on conflict (host, run_id) do update set turn = excluded.turn, status = excluded.status,
  fence = excluded.fence, boot_id = excluded.boot_id, kept_at = excluded.kept_at`);
const hostReplaced = raw(`on conflict (host) do update set began = excluded.began, ends = excluded.ends,
  held_until = excluded.held_until, breaker = excluded.breaker, open_until = excluded.open_until, times = excluded.times,
  last_turn = excluded.last_turn, forgettable_from = excluded.forgettable_from`);
