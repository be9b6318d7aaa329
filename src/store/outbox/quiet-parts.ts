import type { HeldTask } from '../../app/ports/chats.ts';
import { settingsOf, quietVerdict, type QuietVerdict, type QuietSubject } from '../../domain/chat-settings.ts';
import { outboxRanks } from '../../domain/delivery.ts';
import type { Policies } from '../../domain/policy.ts';
import { isTimezone } from '../../domain/schedule/schedule.ts';
import type { View } from '../../domain/shown.ts';
import type { Script } from '../engine/engine.ts';
import { columns, columnsOf, maybe, pick, type Answer } from '../engine/fields.ts';
import { idAt } from '../engine/queries.ts';
import { limit, raw, sql, type Sql } from '../engine/sql.ts';
import { all, insert, offer, one, returning, select, update, updateReturning } from '../engine/statements.ts';
import { notApprovedError, tellNotApproved } from '../questions/approvals.ts';
import { tellEvents } from '../records/journal.ts';
import { readFacts } from '../tasks/codec.ts';
import { taskLane, waitsIn } from './lanes.ts';
import { insertPart } from './new-parts.ts';
import type { PartRow } from './part-rows.ts';

/**
 * Quiet hours. What a task brought waits in its row for the end of them, with that end as `held_until`; it goes out then, or
 * earlier when they are called off, and always without a sound, because one word about all of it follows in the chat.
 */

/** An open part waits for the end of quiet hours: `e` is its row. */
export function held(now: number): Sql {
  return sql`(e.held_until is not null and e.held_until > ${now} and e.ready_at >= e.held_until)`;
}

/**
 * The part as it may go out now; null when it does not, and is put off with everything behind it in its lane that is as
 * quiet. So each lane is looked at once, however much waits in it.
 */
export function* quieted(part: PartRow, now: number): Script<PartRow | null> {
  if (part.cause === 'approval') return yield* notApproved(part, now);
  if (isMessage(part) || isBundle(part)) return { ...part, silent: isQuiet(part, now) ? 1 : part.silent };
  if (!isSubject(part)) return part;
  const verdict = part.urgent === 1 ? heard : quietVerdict(subjectOf(part), now);
  if (verdict.is === 'held') {
    if (yield* isBegun(part)) return { ...part, silent: 1 };
    yield* holdLane(part, { until: verdict.until, now });
    return null;
  }
  return { ...part, silent: verdict.is === 'silent' || isToldOf(part, now) ? 1 : part.silent };
}

/** The word about what has waited comes as long as it is of use; what comes later still must be heard by itself. */
function isToldOf({ heldUntil: until }: PartRow, now: number): boolean {
  return until !== null && now < until + bundleExpiryMs;
}

const heard: QuietVerdict = { is: 'heard' };

/** Parts that a task brings. An answer to a person comes when they ask, at any hour. */
function isSubject({ kind, taskId, lane, status }: PartRow): boolean {
  if (taskId === null || lane !== taskLane(taskId) || status === 'unknown') return false;
  return kind === 'result' || kind === 'notice';
}

/** A text that somebody has put there just now: whoever waits for it has it at once, and nobody is woken by it. */
function isMessage({ kind, taskId, runId, urgent, status }: PartRow): boolean {
  return kind === 'result' && taskId === null && runId !== null && urgent === 0 && status !== 'unknown';
}

/** A task's own quiet hours may end while those of the chat last. */
function isBundle({ kind, rank }: PartRow): boolean {
  return kind === 'notice' && rank === outboxRanks.card;
}

function isQuiet(part: PartRow, now: number): boolean {
  const { chat } = subjectOf(part);
  return quietVerdict({ chat, task: { quiet: null, timezone: chat.timezone ?? 'UTC' } }, now).is !== 'heard';
}

function subjectOf(part: PartRow): QuietSubject {
  const { quiet: own = null } = policiesIn(part.taskPolicies);
  const { quiet } = settingsOf(objectIn(part.chatSettings));
  // Most have no quiet hours, and then nobody asks for the zone.
  if (own === null && quiet === null) return noHours;
  return {
    task: { quiet: own, timezone: zoneIn(part.taskTimezone) ?? 'UTC' },
    chat: { quiet, timezone: zoneIn(part.chatTimezone) },
  };
}

const noHours: QuietSubject = { task: { quiet: null, timezone: 'UTC' }, chat: { quiet: null, timezone: null } };

/** A zone that is not known, or not any more, would stop everybody else's parts as well. */
function zoneIn(text: string | null): string | null {
  return text !== null && isTimezone(text) ? text : null;
}

function policiesIn(text: string | null): Pick<Policies, 'quiet'> {
  return objectIn(text);
}

/** Unreadable text chooses nothing; callers that need all of it say so. */
function objectIn(text: string | null): Readonly<Record<string, unknown>> {
  return readFacts(text) ?? {};
}

/** A part that waits for approval: the person who is asked lets it go, or it ends when the time for that is over. */
function* notApproved(part: PartRow, now: number): Script<null> {
  const { id, taskId, runId, expiresAt } = part;
  const isWaiting = sql`id = ${id} and status = 'blocked'`;
  if (expiresAt !== null && expiresAt > now) {
    yield* update('deliveries', { readyAt: expiresAt }, isWaiting);
    return null;
  }
  yield* update('deliveries', { status: 'failed', error: notApprovedError, readyAt: null }, isWaiting);
  yield* tellNotApproved(runId, now);
  yield* tellEvents([{ kind: 'delivery.failed', at: now, taskId, ref: id }]);
  return null;
}

/** Half a result is worse than one without a sound. */
function* isBegun({ runId, kind, part, heldUntil }: PartRow): Script<boolean> {
  if (runId === null || part === 1 || heldUntil !== null) return false;
  const earlier = yield* one(
    select(pick(columns.deliveries, 'id'))`from deliveries
      where run_id = ${runId} and kind = ${kind} and part < ${part} and status = 'delivered' limit 1`,
  );
  return earlier !== undefined;
}

interface Holding {
  readonly until: number;
  readonly now: number;
}

/** Parts at the head of what waits: for the end of each a word is owed to its chat. */
const owedScope = 'quiet';

function* holdLane(part: PartRow, { until, now }: Holding): Script<void> {
  yield* update(
    'deliveries',
    { readyAt: until, heldUntil: until },
    sql`${waitsIn(part.lane)} and id >= ${part.id} and kind in ('result', 'notice') and urgent = 0 and ready_at <= ${now}`,
  );
  const owed = { scope: owedScope, key: part.id, value: '', updatedAt: now };
  yield* insert('kv', owed, raw('on conflict (scope, key) do nothing'));
}

/** A word about the night is of no use the next evening. */
const bundleExpiryMs = 12 * 60 * 60_000;

const d = columnsOf('deliveries', 'd');
const owedKey = pick(columns.kv, 'key');
const owedFields = { id: columnsOf('kv', 'kv').key, chatId: maybe(d.chatId), until: d.heldUntil };

/**
 * One word for each chat and end, when nothing waits for that end any more, because it has come or was called off. It goes
 * behind what waited, and is drawn when it leaves; then it tells of what was not dropped.
 */
export function* tellQuietOver(now: number): Script<boolean> {
  const over = yield* all(
    select(owedFields)`from kv left join deliveries d on d.id = kv.key
      where kv.scope = ${owedScope} and not exists (select 1 from deliveries e where e.chat_id = d.chat_id
        and e.held_until = d.held_until and e.held_until is not null and e.status in ('pending', 'blocked') and ${held(now)})
      order by kv.key`,
  );
  const told = new Set<string>();
  for (const { id, chatId, until } of over) {
    // Another process may tell it at this very moment.
    const [owed] = yield* all(returning(owedKey, sql`delete from kv where scope = ${owedScope} and key = ${id}`));
    if (owed === undefined) continue;
    const end = `${chatId} ${until}`;
    if (chatId === null || until === null || told.has(end)) continue;
    told.add(end);
    const content: View = { view: 'bundle', chatId, until };
    const [rank, expiresAt] = [outboxRanks.card, until + bundleExpiryMs];
    const word = {
      id: idAt(now, `quiet:${id}`),
      chatId,
      taskId: null,
      kind: 'notice',
      content,
      rank,
      expiresAt,
    } as const;
    yield* insertPart({ ...word, thread: { topic: null } }, now);
  }
  return told.size > 0;
}

/** Quiet hours have changed: what waits for their end is looked at again, and waits again if they last. */
export function* lookAtHeld(
  whose: { readonly chatId: string } | { readonly taskId: string },
  now: number,
): Script<void> {
  const waiting =
    'chatId' in whose
      ? sql`chat_id = ${whose.chatId} and held_until is not null and status in ('pending', 'blocked')`
      : sql`${waitsIn(taskLane(whose.taskId))} and held_until is not null`;
  const isHeldStill = sql`${waiting} and held_until > ${now} and ready_at > ${now}`;
  const again = yield* updateReturning('deliveries', { readyAt: now }, isHeldStill, pick(columns.deliveries, 'chatId'));
  yield* offer({ chats: again.map((part) => part.chatId) });
}

/** Tasks that are told of one by one; more of them would make a list that nobody reads. */
const heldTasksMax = 30;

const heldFields = {
  ...pick(columnsOf('tasks', 't'), 'number', 'title'),
  topic: d.messageThreadId,
  ...pick(d, 'messageId', 'runId', 'id'),
};

type HeldPart = Answer<typeof heldFields>;

/** Parts that waited for that end, by task; those dropped meanwhile are not told of. */
export function* heldParts(chatId: string, until: number): Script<HeldTask[]> {
  const found = yield* all(
    select(heldFields)`from deliveries d join tasks t on t.id = d.task_id
      where d.chat_id = ${chatId} and d.held_until = ${until} and d.held_until is not null and d.status <> 'failed'
      order by d.id ${limit(heldTasksMax * 50)}`,
  );
  const byTask = new Map<number, HeldPart[]>();
  for (const part of found) byTask.set(part.number, [...(byTask.get(part.number) ?? []), part]);
  return [...byTask.values()].map(heldTask);
}

/** A result of several parts counts as one, and the first message leads to all. */
function heldTask(parts: readonly HeldPart[]): HeldTask {
  const first = parts.find((part) => part.messageId !== null);
  return {
    number: parts[0]?.number ?? 0,
    title: parts[0]?.title ?? '',
    count: new Set(parts.map((part) => part.runId ?? part.id)).size,
    topic: first?.topic ?? null,
    messageId: first?.messageId ?? null,
  };
}
