import type { RunEnd } from '../../app/ports/pipeline.ts';
import type { NagDecision, DueAck } from '../../app/ports/questions.ts';
import type { AckStatus, Arrival } from '../../domain/ack.ts';
import { settingsOf } from '../../domain/chat-settings.ts';
import { outboxRanks } from '../../domain/delivery.ts';
import { quietFor } from '../../domain/pacing/quiet.ts';
import type { Policies } from '../../domain/policy.ts';
import { isTimezone } from '../../domain/schedule/schedule.ts';
import type { View } from '../../domain/shown.ts';
import type { Script } from '../engine/engine.ts';
import { columns, columnsOf, mapped, maybe, pick, type Answer, type RowOf } from '../engine/fields.ts';
import { idAt } from '../engine/queries.ts';
import { forUpdate, limit as limited, list, nothing, raw, skipLocked, sql, type Sql } from '../engine/sql.ts';
import { all, insert, one, select, update } from '../engine/statements.ts';
import { insertPart, placeOf, shownFields } from '../outbox/new-parts.ts';
import { numberHere, shownOf } from '../outbox/part-rows.ts';
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

const nagFields = {
  ...shownFields,
  ...pick(columns.deliveries, 'status', 'createdAt'),
  messageId: numberHere(columns.deliveries),
};

/** A reminder that has come is removed, once, and one that is still to come is not sent any more. True when one had come. */
export function* settleNag(deliveryId: string | null, now: number): Script<boolean> {
  if (deliveryId === null) return false;
  yield* update(
    'deliveries',
    { status: 'failed', error: 'moot: nobody has to be reminded any more', readyAt: null },
    sql`id = ${deliveryId} and status in ('pending', 'blocked')`,
  );
  const nag = yield* one(select(nagFields)`from deliveries where id = ${deliveryId}`);
  if (nag?.status !== 'delivered' || nag.messageId === null) return false;
  const id = idAt(nag.createdAt, `settled:${deliveryId}`);
  yield* insertPart({ ...placeOf(nag), id, kind: 'remove', edits: nag.messageId, content: { text: '' } }, now);
  return true;
}

type NagPart = Pick<RowOf<'deliveries'>, 'id' | 'kind' | 'part'>;

/**
 * Reminders that were on their way to Telegram while their reason went away: one that has come is removed now, and one that came
 * back is not sent again. The lock lets whoever closes the reason at this very moment find the reminder, or be found here.
 */
export function* settleLateNags(parts: readonly NagPart[], now: number): Script<void> {
  const reminders = parts.filter(({ kind, part }) => kind === 'notice' && part > firstPart && part < lastPart);
  if (reminders.length === 0) return;
  const ids = list(reminders.map(({ id }) => id));
  const nags = yield* all(select(lateFields)`from deliveries d join runs r on r.id = d.run_id where d.id in ${ids}`);
  for (const { id, occurrenceId } of nags) {
    const ack =
      occurrenceId === null
        ? undefined
        : yield* one(
            select(pick(acks, 'status', 'nagDeliveryId'))`from acks where occurrence_id = ${occurrenceId} ${forUpdate}`,
          );
    if (ack?.status !== 'open' || ack.nagDeliveryId !== id) yield* settleNag(id, now);
  }
}

const { acks } = columns;
const lateFields = { id: columnsOf('deliveries', 'd').id, occurrenceId: columnsOf('runs', 'r').occurrenceId };

/** Acks that runs leave open when they succeed; most ask for nothing, and cost nothing here. */
export function* openAcks(ends: readonly RunEnd[]): Script<void> {
  for (const { run, status, ack, finishedAt } of ends) {
    if (ack === undefined || status !== 'succeeded' || run.occurrenceId === null || run.taskId === null) continue;
    yield* closeAcks([run.taskId], 'superseded', finishedAt);
    const { nagEveryMs, nagLimit } = ack;
    const { id: runId, occurrenceId, taskId, chatId } = run;
    yield* insert(
      'acks',
      {
        occurrenceId,
        taskId,
        chatId: chatId ?? undefined,
        runId,
        status: 'open',
        nagEveryMs,
        nagLimit,
        nags: 0,
        nagAt: finishedAt + nagEveryMs,
        createdAt: finishedAt,
        updatedAt: finishedAt,
      },
      raw('on conflict (occurrence_id) do nothing'),
    );
  }
}

/** Open acks of the tasks, or of one occurrence, are closed: they ask no person any more, and no reminder stays. True when one is removed. */
export function* closeAcks(
  taskIds: readonly string[],
  as: Extract<AckStatus, 'superseded' | 'dropped'>,
  now: number,
  of?: string,
): Script<boolean> {
  let isRemoved = false;
  const open = yield* all(
    select(pick(acks, 'occurrenceId', 'nagDeliveryId'))`from acks
      where task_id in ${list(taskIds)} and status = 'open' ${of === undefined ? nothing : sql`and occurrence_id = ${of}`}`,
  );
  for (const { occurrenceId, nagDeliveryId } of open) {
    yield* update(
      'acks',
      { status: as, nagAt: null, updatedAt: now },
      sql`occurrence_id = ${occurrenceId} and status = 'open'`,
    );
    if (yield* settleNag(nagDeliveryId, now)) isRemoved = true;
  }
  return isRemoved;
}

/** A snooze that is taken back has answered nothing: the result that it had put off is asked about again. */
export function* reopenSnoozed(taskId: string, of: string | null, now: number): Script<void> {
  yield* reopenAck(taskId, sql`occurrence_id = ${of ?? ''} and status = 'superseded'`, now);
}

/** A pause that is taken back has ended no reminders. */
export function* reopenDropped(taskId: string, droppedAt: number, now: number): Script<void> {
  yield* reopenAck(taskId, sql`task_id = ${taskId} and status = 'dropped' and updated_at = ${droppedAt}`, now);
}

/** Unless something else is asked about, or a later run has asked since. */
function* reopenAck(taskId: string, which: Sql, now: number): Script<void> {
  yield* update(
    'acks',
    { status: 'open', nagAt: sql`${now} + nag_every_ms`, updatedAt: now },
    sql`${which} and nag_every_ms is not null
      and not exists (select 1 from acks l where l.task_id = ${taskId} and (l.status = 'open'
        or (l.created_at >= acks.updated_at and exists (select 1 from occurrences o join occurrences own on own.id = acks.occurrence_id
          where o.id = l.occurrence_id and o.slot_at > own.slot_at))))`,
  );
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

const a = columnsOf('acks', 'a');
const t = columnsOf('tasks', 't');
const c = columnsOf('chats', 'c');

const dueFields = {
  ...pick(a, 'occurrenceId', 'taskId', 'runId', 'nagEveryMs', 'nagLimit', 'nags', 'nagDeliveryId', 'createdAt'),
  slotAt: maybe(columnsOf('occurrences', 'o').slotAt),
  state: maybe(t.state),
  // Unreadable policies ask for nothing.
  policies: mapped(maybe(t.policies), (text): Policies => readFacts(text) ?? {}),
  timezone: maybe(t.timezone),
  chatId: maybe(t.chatId),
  chatTimezone: c.timezone,
  settings: mapped(maybe(c.settings), readFacts),
};

type Columns = Answer<typeof dueFields>;

/** Oldest first. The acks lead, whatever a planner thinks of the other tables. */
export function* dueAcks(now: number, limit: number): Script<DueRow[]> {
  const found = yield* all(
    select(
      dueFields,
    )`from acks a left join occurrences o on o.id = a.occurrence_id left join tasks t on t.id = a.task_id
        left join chats c on c.id = t.chat_id
      where a.status = 'open' and a.nag_at is not null and a.nag_at <= ${now}
      order by a.nag_at ${limited(limit)} ${skipLocked('a')}`,
  );
  const due: DueRow[] = [];
  for (const one of found) due.push(yield* readDue(one));
  return due;
}

const partFields = pick(columns.deliveries, 'status', 'content', 'error', 'createdAt', 'deliveredAt', 'heldUntil');

type Part = Answer<typeof partFields>;

function* readDue(ack: Columns): Script<DueRow> {
  const { occurrenceId, taskId, runId, nags, nagEveryMs, nagLimit, nagDeliveryId, createdAt } = ack;
  const parts = yield* all(
    select(partFields)`from deliveries where run_id = ${runId ?? ''} and kind = 'result' order by part`,
  );
  const lastNag =
    nagDeliveryId === null ? undefined : yield* one(select(partFields)`from deliveries where id = ${nagDeliveryId}`);
  const last = parts.at(-1);
  return {
    due: {
      occurrenceId,
      nags,
      nagEveryMs: nagEveryMs ?? 0,
      nagLimit,
      createdAt,
      result: last === undefined ? { is: 'lost' } : arrivalOf(last),
      lastNag: lastNag === undefined ? null : arrivalOf(lastNag),
      isWanted: isWanted(ack),
      quiet: quietFor(ack.policies.quiet ?? null, settingsOf(ack.settings ?? {}).quiet),
      timezone: zoneOf(ack),
    },
    taskId,
    runId,
    chatId: ack.chatId ?? '',
    text: firstLine(parts[0]),
    slotAt: ack.slotAt ?? createdAt,
    nags,
    nagDeliveryId,
  };
}

/** A person who has seen it says more than Telegram, which never confirmed it. */
function arrivalOf({ status, error, createdAt, deliveredAt, heldUntil }: Part): Arrival {
  if (status === 'delivered') return { is: 'shown', at: deliveredAt ?? createdAt };
  if (status !== 'failed') return { is: 'waiting', until: heldUntil };
  return error?.startsWith('unconfirmed') === true ? { is: 'shown', at: createdAt } : { is: 'lost' };
}

function isWanted({ state, policies }: Columns): boolean {
  return (state === 'active' || state === 'completed') && policies.ack !== undefined;
}

/** Quiet hours of the chat are told by its clocks, those of the task by its own. */
function zoneOf({ policies, chatTimezone, timezone }: Columns): string {
  const zones = policies.quiet === undefined ? [chatTimezone, timezone] : [timezone];
  return zones.find((zone): zone is string => zone !== null && isTimezone(zone)) ?? 'UTC';
}

function firstLine(part: Part | undefined): string {
  const shown = part === undefined ? null : shownOf(part.content);
  const text = shown !== null && 'text' in shown ? shown.text : '';
  return text.trim().split('\n', 1)[0] ?? '';
}
