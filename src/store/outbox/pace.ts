import type {
  AsidesGranted,
  AsidesWanted,
  CallAnswer,
  CallWanted,
  EndedCall,
  Paced,
  PacedChat,
} from '../../app/ports/outbox.ts';
import {
  closeGate,
  commonHold,
  forMessages,
  gateFreeAt,
  heldAtOnceMs,
  isUnlimited,
  longestMs,
  note,
  roomAt,
  shareOfAsides,
  whenFree,
  type Purse,
  type Rates,
} from '../../domain/pacing/pace.ts';
import type { Script } from '../engine/engine.ts';
import { columns, mapped, number, pick, type Answer } from '../engine/fields.ts';
import { forUpdate, list, raw, sql } from '../engine/sql.ts';
import { all, hold, insert, insertAll, run, select, update } from '../engine/statements.ts';
import { holdStore } from './holds.ts';

/**
 * The pace of calls in rows, for several processes that make them. Whoever changes any of it holds the row of all chats, as the
 * last thing that it locks, so it is held for a commit alone. What a process has set aside and never ended has ended when
 * that process is gone.
 */
export const paceStore = { openPace, askCall, giveUpCall, holdPace };
/** Somebody looks at a button meanwhile: these do not wait for the disk. */
export const asidePace = { paceAsides };

const everything = 'all';
const asides = 'asides';
const asidesOf = (bootId: string) => `asides ${bootId}`;

const { pace } = columns;

const rowFields = {
  ...pick(pace, 'scope', 'address', 'bootId', 'open', 'waiting', 'heldUntil', 'toldAt', 'toldMs'),
  ends: mapped(pace.ends, readEnds),
  isGone: number(
    raw(`case when boot_id is not null
    and not exists (select 1 from processes p where p.id = boot_id and p.ended_at is null) then 1 else 0 end`),
  ),
};

type Row = Omit<Answer<typeof rowFields>, 'isGone'>;

/** The rows that a script looks at, and those of all calls that are on their way or wait. */
export interface Purses {
  readonly rows: Map<string, Row>;
  readonly all: Purse;
  /** Rows as they stand in the table. */
  readonly stored: ReadonlyMap<string, string>;
  /** Some are what a process has left that is gone: when its calls have ended is to be written down. */
  readonly isAnyLeft: boolean;
}

/** Instants are stored as differences, because the hundreds of a high rate would make the row of all chats long. */
function readEnds(text: string): number[] {
  let at = 0;
  return text === '' ? [] : text.split(' ').map((since) => (at += Number(since)));
}

function writtenEnds(ends: readonly number[]): string {
  return ends.map((end, index) => Math.round(end) - Math.round(ends[index - 1] ?? 0)).join(' ');
}

const fresh: Omit<Row, 'scope' | 'ends'> = {
  address: '',
  bootId: null,
  open: 0,
  waiting: 0,
  heldUntil: 0,
  toldAt: 0,
  toldMs: 0,
};

function rowOf(rows: Map<string, Row>, scope: string, address = ''): Row {
  const row = rows.get(scope) ?? { ...fresh, scope, address, ends: [] };
  // A chat may get another address.
  if (address !== '') row.address = address;
  rows.set(scope, row);
  return row;
}

/** Without the lock, for a look that decides nothing. */
export function* readPurses(scopes: readonly string[], rates: Rates, now: number): Script<Purses> {
  const found = yield* all(
    select(rowFields)`from pace where scope in ${list([everything, asides, ...scopes])} or open + waiting > 0`,
  );
  const rows = new Map<string, Row>(found.map(({ isGone: _gone, ...row }) => [row.scope, row]));
  const stored = new Map([...rows.values()].map((row) => [row.scope, printOf(row)]));
  const total = rowOf(rows, everything);
  // Calls of a process that is gone have ended by now, whatever became of them.
  for (const { scope, isGone } of found) if (isGone === 1) settle(rows, rowOf(rows, scope), { rates, now });
  let open = 0;
  for (const row of rows.values()) open += row.open;
  return {
    rows,
    all: { open, ends: total.ends, heldUntil: total.heldUntil },
    stored,
    isAnyLeft: found.some(({ isGone }) => isGone === 1),
  };
}

function settle(
  rows: Map<string, Row>,
  row: Row,
  { rates, now }: { readonly rates: Rates; readonly now: number },
): void {
  const total = rowOf(rows, everything);
  if (row.scope.startsWith(asidesOf(''))) {
    for (let call = 0; call < row.open; call += 1) noteAside(rows, rates, now);
    row.open = 0;
  } else closeGate(row, total, rates, now);
  row.waiting = 0;
  row.bootId = null;
}

function noteAside(rows: Map<string, Row>, { overall }: Rates, at: number): void {
  for (const scope of [everything, asides]) note(rowOf(rows, scope).ends, overall, at);
}

/** From here on nobody else changes the pace until this transaction is over. */
export function* lockedPurses(scopes: readonly string[], rates: Rates, now: number): Script<Purses> {
  yield* hold(sql`select scope from pace where scope = ${everything} ${forUpdate}`);
  return yield* readPurses(scopes, rates, now);
}

/** Writes the purses that have changed. */
export function* writePurses({ rows, stored }: Purses, rates: Rates): Script<void> {
  const changed = [...rows.values()].filter((row) => stored.get(row.scope) !== printOf(row));
  yield* insertAll(
    'pace',
    changed.map((row) => ({ ...row, ends: writtenEnds(row.ends), freeAt: freeAtOf(row, rates) })),
    replaced,
  );
}

function printOf({ bootId, open, waiting, heldUntil, ends, address }: Row): string {
  return [bootId, open, waiting, heldUntil, address, writtenEnds(ends)].join('|');
}

const replaced = raw(`on conflict (scope) do update set address = excluded.address, boot_id = excluded.boot_id,
  open = excluded.open, waiting = excluded.waiting, ends = excluded.ends, held_until = excluded.held_until,
  told_at = excluded.told_at, told_ms = excluded.told_ms, free_at = excluded.free_at`);

function isSpecial(scope: string): boolean {
  return scope === everything || scope.startsWith(asides);
}

/** The instant at which its next call may leave, as far as that hangs on time alone: while a call is on its way its chat is in somebody's hands. */
function freeAtOf({ scope, ...row }: Row, rates: Rates): number {
  return isSpecial(scope) ? 0 : (instantOf(gateFreeAt({ ...row, open: 0 }, rates, 1)) ?? 0);
}

function instantOf(free: number): number | null {
  return free === Infinity ? null : Math.max(Math.ceil(free), 0);
}

/** How many calls may be set aside. Those that wait in the course of a turn come first, and so do calls beside the outbox. */
export function roomIn({ rows, all: total }: Purses, rates: Rates, now: number): number {
  if (total.heldUntil > now) return 0;
  let first = 0;
  for (const row of rows.values())
    if (row.waiting > 0 && !isSpecial(row.scope) && gateFreeAt({ ...row, open: 0 }, rates, row.waiting) <= now)
      first += 1;
  const own = asidesIn(rows);
  if (own.heldUntil <= now) first += Math.min(own.waiting, roomAt(own, shareOfAsides(rates.overall), now));
  return Math.max(roomAt(total, rates.overall, now) - first, 0);
}

function asidesIn(rows: ReadonlyMap<string, Row>): Purse & { readonly waiting: number } {
  const { ends = [], heldUntil = 0 } = rows.get(asides) ?? {};
  let [open, waiting] = [0, 0];
  for (const row of rows.values()) {
    if (!row.scope.startsWith(asidesOf(''))) continue;
    open += row.open;
    waiting += row.waiting;
  }
  return { open, waiting, ends, heldUntil };
}

/** The chat served last by any process, so that all chats have their turn before it comes again. It stands where others have their address. */
export function lastServed({ rows }: Purses): string {
  return rows.get(everything)?.address ?? '';
}

export function isFree({ rows }: Purses, chatId: string, rates: Rates, now: number): boolean {
  const row = rows.get(chatId);
  return row === undefined || gateFreeAt(row, rates, 1) <= now;
}

/** A call of each chat is set aside. */
export function setAside({ rows, all: total }: Purses, chats: readonly PacedChat[], bootId: string): void {
  for (const { chatId, address } of chats) {
    const row = rowOf(rows, chatId, address);
    row.bootId = bootId;
    row.open = 1;
    total.open += 1;
    rowOf(rows, everything, chatId);
  }
}

/** Calls that have ended, each once: an end that is written again finds no call that is open. */
export function* endCalls(calls: readonly EndedCall[], { bootId, rates }: Paced, now: number): Script<void> {
  if (calls.length === 0 || isUnlimited(rates)) return;
  const purses = yield* lockedPurses(
    calls.map(({ chatId }) => chatId),
    rates,
    now,
  );
  for (const call of calls) endCall(purses, call, { bootId, rates });
  yield* writePurses(purses, rates);
}

function endCall(
  { rows, all: total }: Purses,
  { chatId, address, endedAt }: EndedCall,
  { bootId, rates }: Paced,
): void {
  const row = rowOf(rows, chatId, address);
  if (row.bootId !== bootId) return;
  total.open -= row.open;
  if (endedAt === null) row.open = 0;
  else closeGate(row, total, rates, endedAt);
  row.bootId = null;
  row.waiting = 0;
}

/** After this long without a call nobody of several processes has made one that counts. */
function* openPace({ rates }: Paced, now: number): Script<void> {
  const row = { ...fresh, scope: everything, ends: '', freeAt: 0 };
  yield* insert('pace', row, raw('on conflict (scope) do nothing'));
  const purses = yield* lockedPurses([], rates, now);
  const last = purses.all.ends.at(-1) ?? 0;
  if (purses.all.open > 0 || last > now - longestMs(rates) - arrivalMs) return;
  yield* run(sql`delete from pace where scope <> ${everything}`);
  const { rows } = purses;
  for (const scope of rows.keys()) if (scope !== everything) rows.delete(scope);
  for (const { chatId, until } of yield* holdStore.readHolds(now)) {
    const held = rowOf(rows, chatId ?? everything);
    held.heldUntil = Math.max(held.heldUntil, until);
  }
  const sent = yield* holdStore.sentSince(now - longestMs(rates) - arrivalMs);
  for (const { chatId, address, at, messages } of sent) {
    const row = rowOf(rows, chatId, address);
    row.open = messages;
    closeGate(row, rowOf(rows, everything), rates, Math.min(at + arrivalMs, now));
  }
  yield* writePurses(purses, rates);
}

/** A send is written down before it leaves; this much later it has arrived, or its process has died over it. */
const arrivalMs = 2000;

function* askCall(wanted: CallWanted, { bootId, rates }: Paced): Script<CallAnswer> {
  const { chatId, address, now, messages, before, isMeant } = wanted;
  const purses = yield* lockedPurses([chatId], rates, now);
  if (before !== null) endCall(purses, before, { bootId, rates });
  const row = rowOf(purses.rows, chatId, address);
  const { all: total } = purses;
  const free = Math.max(gateFreeAt(row, rates, messages), whenFree(total, forMessages(rates.overall, messages)));
  const isTaken = isMeant && free <= now;
  row.bootId = bootId;
  row.open = isTaken ? messages : 0;
  row.waiting = isMeant && !isTaken ? messages : 0;
  yield* writePurses(purses, rates);
  const heldUntil = Math.max(row.heldUntil, total.heldUntil);
  return { isTaken, freeAt: instantOf(free), heldUntil };
}

function* giveUpCall(chatId: string): Script<void> {
  yield* update('pace', { waiting: 0 }, sql`scope = ${chatId}`);
}

function* holdPace({ chatId, address }: PacedChat, ms: number, now: number): Script<number | null> {
  yield* hold(sql`select scope from pace where scope = ${everything} ${forUpdate}`);
  // A chat that is known by its address alone is none of the store.
  if (chatId !== address) yield* holdStore.writeHold(chatId, now + ms, now);
  const told = { toldAt: now, toldMs: ms, heldUntil: now + ms, freeAt: now + ms };
  yield* insert('pace', { ...fresh, scope: chatId, address, ends: '', ...told }, heldLonger);
  const lately = yield* all(
    select(
      toldFields,
    )`from pace where told_at > ${now - heldAtOnceMs} and scope <> ${everything} and scope <> ${asides}`,
  );
  const common = commonHold(lately, now);
  if (common === null) return null;
  const isLonger = yield* update(
    'pace',
    { heldUntil: now + common },
    sql`scope = ${everything} and held_until < ${now + common}`,
  );
  if (!isLonger) return null;
  yield* holdStore.writeHold(null, now + common, now);
  return common;
}

const toldFields = { chatId: pace.scope, at: pace.toldAt, ms: pace.toldMs };

const heldLonger = raw(`on conflict (scope) do update set told_at = excluded.told_at, told_ms = excluded.told_ms,
  held_until = case when pace.held_until > excluded.held_until then pace.held_until else excluded.held_until end,
  free_at = case when pace.free_at > excluded.free_at then pace.free_at else excluded.free_at end`);

function* paceAsides(asked: AsidesWanted, { bootId, rates }: Paced): Script<AsidesGranted> {
  const { now, open, ended, wanted, heldUntil } = asked;
  const purses = yield* lockedPurses([asidesOf(bootId)], rates, now);
  const { rows, all: total } = purses;
  const mine = rowOf(rows, asidesOf(bootId));
  total.open += open - mine.open;
  Object.assign(mine, { bootId, open });
  for (const at of ended) noteAside(rows, rates, at);
  const shared = rowOf(rows, asides);
  shared.heldUntil = Math.max(shared.heldUntil, heldUntil);
  const share = shareOfAsides(rates.overall);
  const isHeld = Math.max(shared.heldUntil, total.heldUntil) > now;
  const room = Math.min(roomAt(asidesIn(rows), share, now), roomAt(total, rates.overall, now));
  const granted = isHeld ? 0 : Math.min(wanted, room);
  mine.open += granted;
  mine.waiting = wanted - granted;
  total.open += granted;
  yield* writePurses(purses, rates);
  return { granted, freeAt: instantOf(Math.max(whenFree(asidesIn(rows), share), whenFree(total, rates.overall))) };
}

/** Rows of chats that were not called for a while say nothing any more. */
export function* forgetIdle(rates: Rates, now: number): Script<void> {
  yield* run(
    sql`delete from pace where free_at < ${now - longestMs(rates)} and held_until < ${now} and open + waiting = 0
      and scope <> ${everything} and scope <> ${asides}`,
  );
}
