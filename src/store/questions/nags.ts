import type { RunEnd } from '../../app/ports/pipeline.ts';
import type { NagDecision, DueAck } from '../../app/ports/questions.ts';
import type { AckStatus, Arrival } from '../../domain/ack.ts';
import { settingsOf } from '../../domain/chat-settings.ts';
import { outboxRanks } from '../../domain/delivery.ts';
import type { Policies } from '../../domain/policy.ts';
import { quietFor, type Quiet } from '../../domain/quiet.ts';
import { isTimezone } from '../../domain/schedule/schedule.ts';
import type { View } from '../../domain/shown.ts';
import { listOf, row, rows, type Script, write } from '../engine/engine.ts';
import { idAt } from '../engine/queries.ts';
import { insertPart, placeOf } from '../outbox/new-parts.ts';
import { shownOf } from '../outbox/part-rows.ts';
import { readFacts } from '../tasks/codec.ts';

/** The messages by which somebody is reminded: each takes the place of the one before, and none outlives its reason. */

/** Words about a run that come after its end count from here on, apart from those that come with it. */
const firstPart = 10;
/** The line that nobody has said Done follows every reminder that there can be. */
export const lastPart = 1000;

interface Word {
  readonly id: string;
  readonly part: number;
  readonly content: View;
}

export function* insertNag(
  { due, text, slotAt, ...one }: DueRow,
  { deliveryId, number }: Extract<NagDecision, { is: 'nag' }>,
  now: number,
): Script<void> {
  const { occurrenceId } = due;
  const content: View = { view: 'nag', occurrenceId, text, dueAt: slotAt, number };
  yield* insertInTopic(one, { id: deliveryId, part: firstPart + number, content }, now);
}

/** Quiet hours were asked about when it was decided, so nothing holds it any more. */
export function* insertInTopic(
  { taskId, runId, chatId }: Pick<DueRow, 'taskId' | 'runId' | 'chatId'>,
  { id, part, content }: Word,
  now: number,
): Script<void> {
  // However many are reminded at once, what tasks bring goes first; a reminder comes again anyway.
  const rank = content.view === 'nag' ? outboxRanks.card : outboxRanks.result;
  const run = { id: runId, part };
  yield* insertPart({ id, run, taskId, chatId, kind: 'notice', rank, content, isUrgent: true }, now);
}

interface NagRow {
  readonly status: string;
  readonly created_at: number;
  readonly chat_id: string;
  readonly task_id: string | null;
  readonly message_thread_id: number | null;
  readonly message_id: number | null;
}

/** A reminder that has come is removed, once, and one that is still to come is not sent any more. True when one had come. */
export function* settleNag(deliveryId: string | null, now: number): Script<boolean> {
  if (deliveryId === null) return false;
  yield* rows(
    `update deliveries set status = 'failed', error = 'moot: nobody has to be reminded any more', ready_at = null
     where id = ?t and status in ('pending', 'blocked')`,
    deliveryId,
  );
  const nag = yield* row<NagRow>(
    `select status, created_at, chat_id, task_id, message_thread_id, message_id from deliveries where id = ?t`,
    deliveryId,
  );
  if (nag?.status !== 'delivered' || nag.message_id === null) return false;
  const id = idAt(nag.created_at, `settled:${deliveryId}`);
  yield* insertPart({ ...placeOf(nag), id, kind: 'remove', edits: nag.message_id, content: { text: '' } }, now);
  return true;
}

/**
 * Reminders that were with the platform while their reason went away: one that has come is removed now, and one that came
 * back is not sent again. The lock lets whoever closes the reason at this very moment find the reminder, or be found here.
 */
export function* settleLateNags(deliveryIds: readonly string[], now: number): Script<void> {
  if (deliveryIds.length === 0) return;
  const { marks, values } = listOf(deliveryIds);
  const nags = yield* rows<{ id: string; occurrence_id: string | null }>(
    `select d.id, r.occurrence_id from deliveries d join runs r on r.id = d.run_id
     where d.id in (${marks}) and d.kind = 'notice' and d.part > ${firstPart} and d.part < ${lastPart}`,
    ...values,
  );
  for (const { id, occurrence_id: occurrenceId } of nags) {
    const ack = yield* row<{ status: string; nag_delivery_id: string | null }>(
      `select status, nag_delivery_id from acks where occurrence_id = ?t [for update]`,
      occurrenceId,
    );
    if (ack?.status !== 'open' || ack.nag_delivery_id !== id) yield* settleNag(id, now);
  }
}

/** What runs that have succeeded leave open for somebody to confirm; most ask for nothing, and cost nothing here. */
export function* openAcks(ends: readonly RunEnd[]): Script<void> {
  for (const { run, status, ack, finishedAt } of ends) {
    if (ack === undefined || status !== 'succeeded' || run.occurrenceId === null || run.taskId === null) continue;
    yield* closeAcks(run.taskId, 'superseded', finishedAt);
    yield* write(
      `insert into acks (occurrence_id, task_id, chat_id, run_id, status, nag_every_ms, nag_limit, nags, nag_at, created_at,
         updated_at)
       values (?t, ?t, ?t, ?t, 'open', ?i, ?i, 0, ?i, ?i, ?i) on conflict (occurrence_id) do nothing`,
      run.occurrenceId,
      run.taskId,
      run.chatId,
      run.id,
      ack.nagEveryMs,
      ack.nagLimit,
      finishedAt + ack.nagEveryMs,
      finishedAt,
      finishedAt,
    );
  }
}

/** Nobody is asked any more about what the task had left open, and no reminder of it stays. True when one is removed. */
export function* closeAcks(
  taskId: string,
  as: Extract<AckStatus, 'superseded' | 'dropped'>,
  now: number,
): Script<boolean> {
  let isRemoved = false;
  const open = yield* rows<{ occurrence_id: string; nag_delivery_id: string | null }>(
    `select occurrence_id, nag_delivery_id from acks where task_id = ?t and status = 'open'`,
    taskId,
  );
  for (const { occurrence_id: id, nag_delivery_id: nag } of open) {
    yield* write(
      `update acks set status = ?t, nag_at = null, updated_at = ?i
       where occurrence_id = ?t and status = 'open'`,
      as,
      now,
      id,
    );
    if (yield* settleNag(nag, now)) isRemoved = true;
  }
  return isRemoved;
}

/** Runs among which the one is looked for that a snooze had answered. */
const lookedAt = 20;

/** A snooze that is taken back has answered nothing: what it had put off is asked about again, unless something else is. */
export function* reopenAck(taskId: string, now: number): Script<void> {
  const other = yield* row(`select occurrence_id from acks where task_id = ?t and status = 'open' limit 1`, taskId);
  if (other !== undefined) return;
  const recent = yield* rows<{ id: string }>(
    `select id from occurrences where task_id = ?t and slot_at <= ?i order by slot_at desc limit ?i`,
    taskId,
    now,
    lookedAt,
  );
  for (const { id } of recent) {
    const ack = yield* row<{ status: AckStatus; nag_every_ms: number | null }>(
      `select status, nag_every_ms from acks where occurrence_id = ?t`,
      id,
    );
    if (ack === undefined) continue;
    // What came after it asks for itself, so only the newest can have been answered by the snooze.
    if (ack.status !== 'superseded' || ack.nag_every_ms === null) return;
    yield* write(
      `update acks set status = 'open', nag_at = ?i, updated_at = ?i where occurrence_id = ?t and status = 'superseded'`,
      now + ack.nag_every_ms,
      now,
      id,
    );
    return;
  }
}

/** An open one whose instant has come, with what its decision is made from and where its words go. */
export interface DueRow {
  readonly due: DueAck;
  readonly taskId: string;
  readonly runId: string | null;
  readonly chatId: string;
  /** The first line of what was said. */
  readonly text: string;
  readonly slotAt: number;
  readonly nags: number;
  readonly nagDeliveryId: string | null;
}

interface Columns {
  readonly occurrence_id: string;
  readonly task_id: string;
  readonly run_id: string | null;
  readonly nag_every_ms: number;
  readonly nag_limit: number;
  readonly nags: number;
  readonly nag_delivery_id: string | null;
  readonly created_at: number;
  readonly slot_at: number | null;
  readonly state: string | null;
  readonly policies: string | null;
  readonly timezone: string | null;
  readonly chat_id: string | null;
  readonly chat_timezone: string | null;
  readonly settings: string | null;
}

/** Oldest first. The acks lead, whatever a planner thinks of the other tables. */
export function* dueAcks(now: number, limit: number): Script<DueRow[]> {
  const found = yield* rows<Columns>(
    `select a.occurrence_id, a.task_id, a.run_id, a.nag_every_ms, a.nag_limit, a.nags, a.nag_delivery_id, a.created_at,
       o.slot_at, t.state, t.policies, t.timezone, t.chat_id, c.timezone as chat_timezone, c.settings
     from acks a left join occurrences o on o.id = a.occurrence_id left join tasks t on t.id = a.task_id
       left join chats c on c.id = t.chat_id
     where a.status = 'open' and a.nag_at is not null and a.nag_at <= ?i
     order by a.nag_at limit ?i [for update of a skip locked]`,
    now,
    limit,
  );
  const due: DueRow[] = [];
  for (const one of found) due.push(yield* readDue(one));
  return due;
}

interface PartColumns {
  readonly status: string;
  readonly content: string;
  readonly error: string | null;
  readonly created_at: number;
  readonly delivered_at: number | null;
  readonly held_until: number | null;
}

const partColumns = 'status, content, error, created_at, delivered_at, held_until';

function* readDue(one: Columns): Script<DueRow> {
  const parts = yield* rows<PartColumns>(
    `select ${partColumns} from deliveries where run_id = ?t and kind = 'result' order by part`,
    one.run_id,
  );
  const lastNag =
    one.nag_delivery_id === null
      ? undefined
      : yield* row<PartColumns>(`select ${partColumns} from deliveries where id = ?t`, one.nag_delivery_id);
  const last = parts.at(-1);
  return {
    due: {
      occurrenceId: one.occurrence_id,
      nags: one.nags,
      nagEveryMs: one.nag_every_ms,
      nagLimit: one.nag_limit,
      createdAt: one.created_at,
      result: last === undefined ? { is: 'lost' } : arrivalOf(last),
      lastNag: lastNag === undefined ? null : arrivalOf(lastNag),
      isWanted: isWanted(one),
      quiet: quietOf(one),
      timezone: zoneOf(one),
    },
    taskId: one.task_id,
    runId: one.run_id,
    chatId: one.chat_id ?? '',
    text: firstLine(parts[0]),
    slotAt: one.slot_at ?? one.created_at,
    nags: one.nags,
    nagDeliveryId: one.nag_delivery_id,
  };
}

/** A person who has seen it says more than the platform, which never confirmed it. */
function arrivalOf({
  status,
  error,
  created_at: createdAt,
  delivered_at: at,
  held_until: until,
}: PartColumns): Arrival {
  if (status === 'delivered') return { is: 'shown', at: at ?? createdAt };
  if (status !== 'failed') return { is: 'waiting', until };
  return error?.startsWith('unconfirmed') === true ? { is: 'shown', at: createdAt } : { is: 'lost' };
}

/** What cannot be read asks for nothing. */
function policiesOf({ policies }: Columns): Policies {
  return (policies === null ? null : readFacts(policies)) ?? {};
}

function isWanted(one: Columns): boolean {
  return (one.state === 'active' || one.state === 'completed') && policiesOf(one).ack !== undefined;
}

function quietOf(one: Columns): Quiet | null {
  const settings = (one.settings === null ? null : readFacts(one.settings)) ?? {};
  return quietFor(policiesOf(one).quiet ?? null, settingsOf(settings).quiet);
}

/** Quiet hours of the chat are told by its clocks, those of the task by its own. */
function zoneOf(one: Columns): string {
  const zones = policiesOf(one).quiet === undefined ? [one.chat_timezone, one.timezone] : [one.timezone];
  return zones.find((zone): zone is string => zone !== null && isTimezone(zone)) ?? 'UTC';
}

function firstLine(part: PartColumns | undefined): string {
  const shown = part === undefined ? null : shownOf(part.content);
  const text = shown !== null && 'text' in shown ? shown.text : '';
  return text.trim().split('\n', 1)[0] ?? '';
}
