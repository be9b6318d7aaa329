import type { NewMessage } from '../../app/ports/chats.ts';
import type { Alarm } from '../../app/ports/upkeep.ts';
import { alarmKeptMs } from '../../domain/limits.ts';
import type { StoppedTask, View } from '../../domain/shown.ts';
import { failuresPause } from '../../domain/task.ts';
import { beyond } from '../engine/caller.ts';
import type { Script } from '../engine/engine.ts';
import { columns, columnsOf, like, mapped, pick } from '../engine/fields.ts';
import { idAt } from '../engine/queries.ts';
import { reach } from '../engine/reach.ts';
import { limit as limited, raw, sql } from '../engine/sql.ts';
import { all, insert, one, select, update } from '../engine/statements.ts';
import { addMessages, insertPart, placeOf, shownFieldsOf } from '../outbox/new-parts.ts';
import { numberHere } from '../outbox/part-rows.ts';
import { readFacts } from '../tasks/codec.ts';

const scope = 'system';

/** Notes of the product to itself, and what keeping the place in order needs. */
export const upkeepStore = { readNote, writeNote, ping };

export function* readNote(key: string): Script<string | null> {
  // They are about the server, and about no chat.
  yield* reach();
  const found = yield* beyond(one(select(pick(columns.kv, 'value'))`from kv where scope = ${scope} and key = ${key}`));
  return found?.value ?? null;
}

export function* writeNote(key: string, value: string, now: number): Script<void> {
  yield* insert(
    'kv',
    { scope, key, value, updatedAt: now },
    raw('on conflict (scope, key) do update set value = excluded.value, updated_at = excluded.updated_at'),
  );
}

const keptScope = 'kept';

/** The last slot of a task that went as the task keeps no more; a note for as long as the server itself would have kept it. */
export function* noteKept(
  taskId: string,
  slotAt: number,
  { now, until }: { readonly now: number; readonly until: number },
): Script<void> {
  yield* insert(
    'kv',
    { scope: keptScope, key: taskId, value: String(slotAt), expiresAt: until, updatedAt: now },
    raw(`on conflict (scope, key) do update set expires_at = excluded.expires_at, updated_at = excluded.updated_at,
      value = case when excluded.value > kv.value then excluded.value else kv.value end`),
  );
}

/** Null where nothing of the task has gone before its time. */
export function* lastNotKept(taskId: string): Script<number | null> {
  const found = yield* one(select(pick(columns.kv, 'value'))`from kv where scope = ${keptScope} and key = ${taskId}`);
  return found === undefined ? null : Number(found.value);
}

const shownScope = 'shown';

/** The run whose result later ones repeat. */
export function* noteShown(
  taskId: string,
  runId: string,
  { now, until }: { readonly now: number; readonly until: number },
): Script<void> {
  yield* insert(
    'kv',
    { scope: shownScope, key: taskId, value: runId, expiresAt: until, updatedAt: now },
    raw(`on conflict (scope, key) do update set value = excluded.value, expires_at = excluded.expires_at,
      updated_at = excluded.updated_at`),
  );
}

export function* lastShown(taskId: string): Script<string | null> {
  const found = yield* one(select(pick(columns.kv, 'value'))`from kv where scope = ${shownScope} and key = ${taskId}`);
  return found?.value ?? null;
}

/** The last sign of life of a process, as the clock on the wall told it then. */
const aliveNote = 'alive_at';

export function* aliveAt(): Script<number | null> {
  const note = yield* readNote(aliveNote);
  return note === null ? null : Number(note);
}

export function markAlive(now: number): Script<void> {
  return writeNote(aliveNote, String(now), now);
}

function* ping(now: number): Script<void> {
  yield* writeNote('ping', String(now), now);
}

/* ---- alarms ---- */

/** Trouble of the product itself, and the messages that tell owners of it. */
export const alarmStore = { listAlarms, keepAlarm, stoppedTasks };

const alarms = 'alarm';

// Written by us alone; a row that cannot be read is as good as none.
const alarmFields = { alarm: mapped(columns.kv.value, (text) => readFacts(text) as Alarm | null) };

function* listAlarms(): Script<Alarm[]> {
  const rows = yield* all(select(alarmFields)`from kv where scope = ${alarms} order by key`);
  return rows.flatMap(({ alarm }) => alarm ?? []);
}

function* keepAlarm(alarm: Alarm, messages: readonly NewMessage[], now: number): Script<boolean> {
  yield* addMessages(messages, now);
  const current = new Set(alarm.current);
  const lost = new Set<string>();
  const all = new Set(Object.values(alarm.told));
  for (const id of all) {
    const word = current.has(id) ? 'current' : yield* changeWord(id, alarm, now);
    if (word === 'current') current.add(id);
    if (word === 'lost') lost.add(id);
  }
  const told = Object.fromEntries(Object.entries(alarm.told).filter(([, id]) => !lost.has(id)));
  const { since, over, facts } = alarm;
  const value = JSON.stringify({ ...alarm, told, current: [...current] });
  const expiresAt = over === null ? null : now + alarmKeptMs;
  yield* insert(
    'kv',
    { scope: alarms, key: `${facts.cause}:${alarm.about}:${since}`, value, expiresAt, updatedAt: now },
    raw(`on conflict (scope, key) do update set
      value = excluded.value, expires_at = excluded.expires_at, updated_at = excluded.updated_at`),
  );
  return current.size === all.size;
}

const d = columnsOf('deliveries', 'd');
const wordFields = {
  ...shownFieldsOf(d),
  ...pick(d, 'status', 'content'),
  messageId: numberHere(d),
  chatState: columnsOf('chats', 'c').state,
};

/**
 * One that was never sent leaves as the news have it by then. `open` while nobody knows where the message is; `lost` where the
 * chat could not be reached and may be back one day.
 */
function* changeWord(id: string, { since, over, facts }: Alarm, now: number): Script<'current' | 'open' | 'lost'> {
  const view: View = { view: 'alarm', since, over, facts };
  const content = JSON.stringify(view);
  yield* update('deliveries', { content }, sql`id = ${id} and status = 'pending' and sends = 0`);
  const word = yield* one(select(wordFields)`from deliveries d join chats c on c.id = d.chat_id where d.id = ${id}`);
  if (word?.status === 'failed' && word.chatState === 'gone' && over === null) return 'lost';
  if (word === undefined || word.status === 'failed') return 'current';
  if (word.status !== 'delivered') return 'open';
  if (word.messageId === null) return 'current';
  if (word.content === content) return 'current';
  const edit = { id: idAt(now, `${over === null ? 'news' : 'over'}:${id}`), edits: word.messageId, content: view };
  yield* insertPart({ ...placeOf(word), ...edit, kind: 'answer' }, now);
  yield* update('deliveries', { content }, sql`id = ${id}`);
  return 'current';
}

const t = columnsOf('tasks', 't');
const stoppedFields = {
  ...pick(t, 'id', 'number', 'title'),
  pausedAt: mapped(t.pausedAt, (at) => at ?? 0),
  address: columnsOf('chats', 'c').address,
};
const isStopped = raw(`t.paused_reason = '${failuresPause}'`);

const isNews = (from: string, where: string, at = 'updated_at') =>
  raw(`(select cast(count(*) as text) || ' ' || cast(coalesce(max(${at}), 0) as text) from ${from} where ${where})`);
const signFields = {
  kept: like(columns.kv.value, isNews('kv', `scope = '${alarms}'`)),
  notes: like(
    columns.kv.value,
    isNews('kv', `scope = '${scope}' and key not in ('ping', '${aliveNote}') and key not like 'chore:%'`),
  ),
  stopped: like(columns.kv.value, isNews('tasks t', `t.paused_reason = '${failuresPause}'`, 'paused_at')),
  owners: like(columns.kv.value, isNews('users', `role = 'owner'`)),
  processes: like(columns.kv.value, isNews('processes', 'ended_at is null', 'started_at')),
};

export function* alarmSigns(): Script<string> {
  return Object.values((yield* one(select(signFields)``)) ?? {}).join(' / ');
}

function* stoppedTasks(limit: number): Script<StoppedTask[]> {
  return yield* all(
    select(stoppedFields)`from tasks t join chats c on c.id = t.chat_id
      where ${isStopped} and t.state = 'paused' order by t.paused_at desc ${limited(limit)}`,
  );
}
