import type { Doing, SlotDelivery, SlotRow, SlotRun, TruthQuery } from '../../app/ports/why.ts';
import { listOf, rows, type Script } from '../engine/engine.ts';
import { acksOf } from '../questions/acks.ts';
import { decisionIn } from '../runs/codec.ts';

export interface SlotColumns {
  readonly id: string;
  readonly slot_at: number;
  readonly source: string;
  readonly status: string;
  readonly reason: string | null;
  readonly decide_by: number | null;
  readonly replay_of: string | null;
  readonly replay_of_slot: number | null;
  readonly late_ms: number;
  readonly error: string | null;
  readonly created_at: number;
  readonly updated_at: number;
  readonly run_id: string | null;
  readonly run_status: string | null;
  readonly run_created_at: number | null;
  readonly run_started_at: number | null;
  readonly run_ready_at: number | null;
  readonly run_cancel_at: number | null;
  readonly run_provider: string | null;
  readonly run_address: string | null;
  readonly deed_id: number | null;
  readonly deed_at: number | null;
  readonly deed_actor: string | null;
  readonly deed_verb: string | null;
  readonly asker_id: number | null;
  readonly asker_at: number | null;
  readonly asker_actor: string | null;
  readonly asker_verb: string | null;
}

const selected = `select o.id, o.slot_at, o.source, o.status, o.reason, o.decide_by, o.replay_of, p.slot_at as replay_of_slot,
    o.late_ms, o.error, o.created_at, o.updated_at, o.run_id, r.status as run_status, r.created_at as run_created_at,
    r.started_at as run_started_at, r.ready_at as run_ready_at, r.cancel_requested_at as run_cancel_at,
    c.provider as run_provider, c.address as run_address,
    d.id as deed_id, d.at as deed_at, d.actor as deed_actor, d.verb as deed_verb,
    a.id as asker_id, a.at as asker_at, a.actor as asker_actor, a.verb as asker_verb
  from occurrences o left join runs r on r.id = o.run_id left join chats c on c.id = r.chat_id left join occurrences p on p.id = o.replay_of
    left join audit d on d.id = o.deed_id left join audit a on a.id = o.asked_by`;

export function* slotRows({ taskId, from, to, limit }: TruthQuery): Script<SlotColumns[]> {
  return yield* rows<SlotColumns>(
    `${selected} where o.task_id = ?t and o.slot_at >= ?i and o.slot_at <= ?i order by o.slot_at limit ?i`,
    taskId,
    from,
    to,
    limit + 1,
  );
}

/** Rows by hand may stand between two slots; a person who asks between two slots has not run more of them than this. */
const aroundMax = 20;

export function* aroundOf({ taskId, from, to }: TruthQuery): Script<{
  readonly before: SlotColumns | null;
  readonly after: SlotColumns | null;
}> {
  const before = yield* rows<SlotColumns>(
    `${selected} where o.task_id = ?t and o.slot_at < ?i order by o.slot_at desc limit ?i`,
    taskId,
    from,
    aroundMax,
  );
  const after = yield* rows<SlotColumns>(
    `${selected} where o.task_id = ?t and o.slot_at > ?i order by o.slot_at limit ?i`,
    taskId,
    to,
    aroundMax,
  );
  const scheduled = ({ source }: SlotColumns) => source === 'schedule' || source === 'catch_up';
  return { before: before.find(scheduled) ?? null, after: after.find(scheduled) ?? null };
}

/** The same rows with what was tried and sent for them. */
export function* withWork(found: readonly SlotColumns[]): Script<SlotRow[]> {
  const runIds = found.flatMap(({ run_id }) => (run_id === null ? [] : [run_id]));
  const attempts = grouped(yield* attemptRows(runIds), ({ run_id }) => run_id);
  const deliveries = grouped(yield* deliveryRows(runIds), ({ run_id }) => run_id);
  const acks = yield* acksOf(found.map(({ id }) => id));
  return found.map((one) => {
    const id = one.run_id ?? '';
    const ack = acks.get(one.id) ?? null;
    return readSlot(one, ack, {
      attempts: (attempts.get(id) ?? []).map(({ status, error }) => ({ status, error })) as SlotRun['attempts'],
      deliveries: (deliveries.get(id) ?? []).map(readSent),
    });
  });
}

interface AttemptColumns {
  readonly run_id: string;
  readonly status: string;
  readonly error: string | null;
}

function* attemptRows(runIds: readonly string[]): Script<AttemptColumns[]> {
  if (runIds.length === 0) return [];
  const { marks, values } = listOf(runIds);
  return yield* rows<AttemptColumns>(
    `select run_id, status, error from attempts where run_id in (${marks}) order by run_id, attempt`,
    ...values,
  );
}

interface DeliveryColumns {
  readonly id: string;
  readonly run_id: string;
  readonly part: number;
  readonly status: string;
  readonly provider: string;
  readonly address: string;
  readonly message_thread_id: number | null;
  readonly message_id: number | null;
  readonly cause: string | null;
  readonly error: string | null;
  readonly delivered_at: number | null;
  readonly created_at: number;
  readonly held_until: number | null;
  readonly evidence: string | null;
}

/** What a run brought back; words about how it ended say nothing of its result. */
function* deliveryRows(runIds: readonly string[]): Script<DeliveryColumns[]> {
  if (runIds.length === 0) return [];
  const { marks, values } = listOf(runIds);
  return yield* rows<DeliveryColumns>(
    `select d.id, d.run_id, d.part, d.status, c.provider, c.address, d.message_thread_id, d.message_id, d.cause, d.error,
       d.delivered_at, d.created_at, d.held_until, d.evidence
     from deliveries d join chats c on c.id = d.chat_id where d.run_id in (${marks}) and d.kind = 'result' order by d.run_id, d.part`,
    ...values,
  );
}

function readSlot(one: SlotColumns, ack: SlotRow['ack'], work: Pick<SlotRun, 'attempts' | 'deliveries'>): SlotRow {
  return {
    id: one.id,
    slotAt: one.slot_at,
    source: one.source as SlotRow['source'],
    status: one.status as SlotRow['status'],
    reason: one.reason as SlotRow['reason'],
    decideBy: one.decide_by,
    replayOf: one.replay_of,
    replayOfSlot: one.replay_of_slot,
    lateMs: one.late_ms,
    error: one.error,
    createdAt: one.created_at,
    updatedAt: one.updated_at,
    run: readRunOf(one, work),
    ack,
    deed: readDoing(one.deed_id, one.deed_at, one.deed_actor, one.deed_verb),
    asker: readDoing(one.asker_id, one.asker_at, one.asker_actor, one.asker_verb),
  };
}

function readDoing(id: number | null, at: number | null, actor: string | null, verb: string | null): Doing | null {
  return id === null || at === null || actor === null || verb === null ? null : { id: String(id), at, actor, verb };
}

/** A run whose row is gone leaves its occurrence, which says enough. */
function readRunOf(one: SlotColumns, work: Pick<SlotRun, 'attempts' | 'deliveries'>): SlotRun | null {
  if (one.run_id === null || one.run_status === null) return null;
  const { run_provider: provider, run_address: address } = one;
  return {
    id: one.run_id,
    place: provider === null || address === null ? null : { provider, address },
    status: one.run_status as SlotRun['status'],
    createdAt: one.run_created_at ?? one.created_at,
    startedAt: one.run_started_at,
    readyAt: one.run_ready_at ?? one.created_at,
    cancelRequestedAt: one.run_cancel_at,
    ...work,
  };
}

function readSent(one: DeliveryColumns): SlotDelivery {
  return {
    id: one.id,
    part: one.part,
    status: one.status as SlotDelivery['status'],
    thread: { provider: one.provider, address: one.address, topic: one.message_thread_id },
    messageId: one.message_id,
    cause: one.cause,
    error: one.error,
    deliveredAt: one.delivered_at,
    createdAt: one.created_at,
    heldUntil: one.held_until,
    decision: decisionIn(one.evidence),
  };
}

function grouped<T>(items: readonly T[], keyOf: (item: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item)) ?? [];
    group.push(item);
    groups.set(keyOf(item), group);
  }
  return groups;
}
