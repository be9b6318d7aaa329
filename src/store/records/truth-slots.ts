import type { Doing, SlotRow, TruthQuery } from '../../app/ports/why.ts';
import type { Script } from '../engine/engine.ts';
import { columnsOf, mapped, maybe, pick, type Answer } from '../engine/fields.ts';
import { limit as limited, list, raw, sql, type Sql } from '../engine/sql.ts';
import { all, select } from '../engine/statements.ts';
import { acksOf } from '../questions/acks.ts';
import { partsOf } from '../runs/codec.ts';

const o = columnsOf('occurrences', 'o');
const r = columnsOf('runs', 'r');
const c = columnsOf('chats', 'c');
const k = columnsOf('pausedKinds', 'k');

/** Flat, because a page has hundreds of them: each object within a row would cost a reader of its own. */
const slotFields = {
  ...pick(o, 'id', 'slotAt', 'source', 'status', 'reason', 'decideBy', 'replayOf', 'lateMs', 'error', 'createdAt'),
  ...pick(o, 'deedId', 'askedBy'),
  replayOfSlot: maybe(columnsOf('occurrences', 'p').slotAt),
  runId: maybe(r.id),
  runStatus: maybe(r.status),
  runCreatedAt: maybe(r.createdAt),
  ...pick(r, 'startedAt', 'runNumber'),
  readyAt: maybe(r.readyAt),
  runError: r.error,
  runErrorCode: r.errorCode,
  pausedKind: maybe(k.kind),
  pausedSince: maybe(k.since),
  pausedBy: maybe(k.by),
  provider: maybe(c.provider),
  address: maybe(c.address),
};

export type BareSlot = Answer<typeof slotFields>;

const slotSource = raw(`from occurrences o left join runs r on r.id = o.run_id left join chats c on c.id = r.chat_id
  left join occurrences p on p.id = o.replay_of
  left join paused_kinds k on k.kind = r.action_kind and r.status in ('queued', 'backoff')`);

function slotsWhere(taskId: string, which: Sql): Script<BareSlot[]> {
  return all(select(slotFields)`${slotSource} where o.task_id = ${taskId} and ${which}`);
}

export function slotRows({ taskId, from, to, limit }: TruthQuery): Script<BareSlot[]> {
  const within = sql`o.slot_at >= ${from} and o.slot_at <= ${to}`;
  return slotsWhere(taskId, sql`${within} order by o.slot_at ${limited(limit + 1)}`);
}

/** Rows by hand may stand between two slots; a person who asks between two slots has not run more of them than this. */
const aroundMax = limited(20);

/** The scheduled slots on either side of a stretch. */
export function* aroundOf({
  taskId,
  from,
  to,
}: TruthQuery): Script<{ before: BareSlot | null; after: BareSlot | null }> {
  const before = yield* slotsWhere(taskId, sql`o.slot_at < ${from} order by o.slot_at desc ${aroundMax}`);
  const after = yield* slotsWhere(taskId, sql`o.slot_at > ${to} order by o.slot_at ${aroundMax}`);
  const scheduled = ({ source }: BareSlot) => source === 'schedule' || source === 'catch_up';
  return { before: before.find(scheduled) ?? null, after: after.find(scheduled) ?? null };
}

const a = columnsOf('audit', 'a');
const doingFields = { id: mapped(a.id, String), ...pick(a, 'at', 'actor', 'verb') };

/** Audit entries by which people changed some slots or asked for them, by id. */
function* doingsOf(slots: readonly BareSlot[]): Script<(id: number | null) => Doing | null> {
  const ids = slots.filter(({ deedId, askedBy }) => deedId !== null || askedBy !== null).map(({ id }) => id);
  if (ids.length === 0) return () => null;
  const found = yield* all(
    select(doingFields)`from occurrences o join audit a on a.id in (o.deed_id, o.asked_by) where o.id in ${list(ids)}`,
  );
  const byId = new Map(found.map((one) => [one.id, one]));
  return (id) => byId.get(String(id)) ?? null;
}

/** Slots with what was tried and sent for them, and with what people did. */
export function* withWork(found: readonly BareSlot[]): Script<SlotRow[]> {
  const work = yield* partsOf(found.map(({ runId }) => runId));
  const acks = yield* acksOf(found.map(({ id }) => id));
  const doing = yield* doingsOf(found);
  return found.map((one) => {
    const {
      deedId,
      askedBy,
      runId,
      runStatus,
      runCreatedAt,
      runNumber,
      startedAt,
      readyAt,
      runError,
      runErrorCode,
      pausedKind: kind,
      pausedSince: since,
      pausedBy: by,
      provider,
      address,
      ...slot
    } = one;
    const place = provider === null || address === null ? null : { provider, address };
    // A run whose row is gone leaves its occurrence, which says enough.
    const isGone = runId === null || runStatus === null || runCreatedAt === null || readyAt === null;
    return {
      ...slot,
      run: isGone
        ? null
        : {
            id: runId,
            number: runNumber,
            status: runStatus,
            createdAt: runCreatedAt,
            startedAt,
            readyAt,
            // A failed attempt has left a code.
            waitsFor: runStatus === 'backoff' && runErrorCode === null ? runError : null,
            kindPaused: kind === null || since === null || by === null ? null : { kind, since, by },
            place,
            ...work(runId),
          },
      ack: acks.get(slot.id) ?? null,
      deed: doing(deedId),
      asker: doing(askedBy),
    };
  });
}
