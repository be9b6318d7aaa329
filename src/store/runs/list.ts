import type { BroughtBack, LastResult, RunQuery, RunView, Page } from '../../app/ports/runs.ts';
import { liveStatuses, taskSourceOf, type MessageInput, type RunStatus } from '../../domain/run.ts';
import type { Script } from '../engine/engine.ts';
import { columnsOf, mapped, maybe, pick, type Answer } from '../engine/fields.ts';
import {
  page,
  foreignCursor,
  positionOf,
  writeCursor,
  chatOfThread,
  contains,
  ofSubject,
  tagged,
} from '../engine/queries.ts';
import { seen } from '../engine/reach.ts';
import { allOf, limit as limited, list, raw, sql, type Sql } from '../engine/sql.ts';
import { all, one, select } from '../engine/statements.ts';
import { threadLaneOf } from '../outbox/lanes.ts';
import { spentByRun } from '../spending/usage.ts';
import { lastOutcome, readFacts, skippedAt } from '../tasks/codec.ts';
import { partsOf } from './codec.ts';

/** Runs, whatever asked for them. No read walks more rows than its look, whatever the table holds. */

const r = columnsOf('runs', 'r');
const o = columnsOf('occurrences', 'o');
const t = columnsOf('tasks', 't');
const c = columnsOf('chats', 'c');

/** A run with the chat it belongs to, and where in it its task was asked for. */
const viewedFields = {
  ...pick(r, 'id', 'source', 'idempotencyKey', 'taskId', 'occurrenceId', 'traceId', 'status'),
  ...pick(r, 'runNumber', 'actionKind', 'error', 'errorCode', 'createdAt', 'startedAt', 'finishedAt'),
  progress: r.progress,
  // A run that cannot be read was told so by whoever stumbled over it, and is still shown.
  input: mapped(r.input, readFacts),
  output: mapped(r.output, readFacts),
  provider: maybe(c.provider),
  address: maybe(c.address),
  homeTopic: t.homeTopic,
};

const selectRuns = select(viewedFields);
const source = raw('runs r left join chats c on c.id = r.chat_id left join tasks t on t.id = r.task_id');

type Viewed = Answer<typeof viewedFields>;

/** Rows that one look passes: some milliseconds, however few of them are wanted. */
const lookMax = 2000;
/** Runs that are named one by one in a statement. */
const namedMax = 200;

export function* readRun(runId: string): Script<RunView | null> {
  const where = allOf(sql`r.id = ${runId}`, yield* seen(r.chatId.sql));
  return (yield* withParts(yield* all(selectRuns`from ${source} where ${where}`)))[0] ?? null;
}

const broughtFields = { chatId: r.chatId, output: mapped(r.output, readFacts) };

export function* broughtBack(runId: string): Script<BroughtBack | null> {
  const where = allOf(sql`r.id = ${runId}`, yield* seen(r.chatId.sql));
  const found = yield* one(select(broughtFields)`from runs r where ${where}`);
  if (found === undefined) return null;
  return { ...found, usage: yield* spentByRun(runId) };
}

const lastFields = {
  lastOutcome,
  skippedAt,
  number: maybe(r.runNumber),
  at: maybe(r.finishedAt),
  output: mapped(r.output, readFacts),
};

export function* lastResult(taskId: string): Script<LastResult | null> {
  const found = yield* one(
    select(lastFields)`from tasks t left join runs r on r.id = (select o.run_id from occurrences o
        where o.task_id = t.id and o.status = 'succeeded' and o.source <> 'replay' order by o.slot_at desc limit 1)
      where t.id = ${taskId}`,
  );
  return found ?? null;
}

function* withParts(found: readonly Viewed[]): Script<RunView[]> {
  const parts = yield* partsOf(found.map(({ id }) => id));
  return found.map(({ input, provider, address, homeTopic, ...run }) => {
    const message = run.taskId === null ? ((input?.['message'] as Partial<MessageInput> | undefined) ?? null) : null;
    const topic = run.taskId === null ? (message?.topic ?? null) : homeTopic;
    const thread = provider === null || address === null ? null : { provider, address, topic };
    const from = run.taskId === null ? run.source : taskSourceOf(run.taskId);
    return { ...run, source: from, thread, userKey: message?.userKey ?? null, ...parts(run.id) };
  });
}

/** Rows found, newest first, and where the next look begins; null when there is nothing more to look at. */
interface Looked {
  readonly rows: readonly Viewed[];
  readonly next: string | null;
}

export function* listRuns(query: RunQuery): Script<Page<RunView>> {
  const { rows, next } = yield* look(query);
  return { items: yield* withParts(rows), next: next === null ? null : writeCursor('run', next) };
}

function* look(query: RunQuery): Script<Looked> {
  if (query.taskId !== null) return yield* lookAtSlots(query, query.taskId);
  const below = query.cursor === null ? null : idIn(query.cursor);
  const isLive = query.states?.every((state) => liveStatuses.includes(state)) ?? false;
  const live = isLive ? yield* liveRuns(below) : null;
  return live === null ? yield* lookAtAll(query, below) : yield* lookAtNamed(query, live);
}

const slotMark = 'at:';

function idIn(cursor: string): string {
  const position = positionOf('run', cursor);
  if (position.startsWith(slotMark)) throw foreignCursor();
  return position;
}

function slotIn(cursor: string): number {
  const position = positionOf('run', cursor);
  if (/^at:-?\d{1,16}$/.test(position)) return Number(position.slice(slotMark.length));
  throw foreignCursor();
}

/** By the ids, which count up with time. */
function* lookAtAll(query: RunQuery, below: string | null): Script<Looked> {
  const conditions = yield* conditionsOf(query);
  const before = allOf(below === null ? undefined : sql`r.id < ${below}`);
  // Where every row is wanted, the page itself is the end of the look.
  const edge =
    conditions.length === 0
      ? undefined
      : yield* one(
          select(pick(r, 'id'))`from runs r where ${before} order by r.id desc ${limited(1)} offset ${lookMax - 1}`,
        );
  const where = allOf(before, edge && sql`r.id >= ${edge.id}`, ...conditions);
  return yield* page({
    limit: query.limit,
    edge: edge?.id,
    found: (limit) => all(selectRuns`from ${source} where ${where} order by r.id desc ${limited(limit)}`),
    keyOf: ({ id }) => id,
  });
}

const slotFields = { at: o.slotAt, run: viewedFields };

/** The history of one task is found by its slots, of which each has one run at most. */
function* lookAtSlots(query: RunQuery, taskId: string): Script<Looked> {
  const before = query.cursor === null ? undefined : sql`o.slot_at < ${slotIn(query.cursor)}`;
  const mine = allOf(sql`o.task_id = ${taskId}`, before);
  const edge = yield* one(
    select(pick(o, 'slotAt'))`from occurrences o where ${mine}
      order by o.slot_at desc ${limited(1)} offset ${lookMax - 1}`,
  );
  const where = allOf(mine, edge && sql`o.slot_at >= ${edge.slotAt}`, ...(yield* conditionsOf(query)));
  const { rows, next } = yield* page({
    limit: query.limit,
    edge: edge?.slotAt,
    found: (limit) =>
      all(
        select(slotFields)`from occurrences o join runs r on r.id = o.run_id
            left join chats c on c.id = r.chat_id left join tasks t on t.id = r.task_id
          where ${where} order by o.slot_at desc ${limited(limit)}`,
      ),
    keyOf: ({ at }) => at,
  });
  return { rows: rows.map(({ run }) => run), next: next === null ? null : `${slotMark}${next}` };
}

const livingKinds = [raw('exclusive = 1'), raw('exclusive = 0')];
/** Runs of tasks and runs of messages; with both, the whole of each index is read as a range of it. */
const owners = [raw(`task_id >= ''`), raw('task_id is null')];

/**
 * The runs that live, newest first, by the partial indexes that hold nothing else; every other way to them walks the
 * history. Null when there are more than one look may name: then they are met by walking all the same.
 */
function* liveRuns(below: string | null): Script<readonly string[] | null> {
  const found: string[] = [];
  for (const kind of livingKinds) {
    for (const whose of owners) {
      const some = yield* all(
        select(pick(columnsOf('runs'), 'id'))`from runs
          where ${kind} and status in ('queued', 'running', 'backoff', 'waiting') and ${whose}
          order by task_id ${limited(lookMax + 1)}`,
      );
      found.push(...some.map(({ id }) => id));
      if (found.length > lookMax) return null;
    }
  }
  const open = below === null ? found : found.filter((id) => id < below);
  return open.toSorted().toReversed();
}

function* lookAtNamed(query: RunQuery, ids: readonly string[]): Script<Looked> {
  const rows: Viewed[] = [];
  const conditions = yield* conditionsOf(query);
  for (let from = 0; from < ids.length && rows.length <= query.limit; from += namedMax) {
    const where = allOf(sql`r.id in ${list(ids.slice(from, from + namedMax))}`, ...conditions);
    rows.push(...(yield* all(selectRuns`from ${source} where ${where} order by r.id desc`)));
  }
  const shown = rows.slice(0, query.limit);
  return { rows: shown, next: rows.length > query.limit ? (shown.at(-1)?.id ?? null) : null };
}

function* conditionsOf(query: RunQuery): Script<readonly Sql[]> {
  const conditions = [
    yield* seen(r.chatId.sql),
    query.states === null ? undefined : isIn(query.states),
    query.thread === null ? undefined : inThread(query.thread),
    query.source === null ? undefined : sql`r.source = ${query.source}`,
    query.subject === null ? undefined : ofSubject([query.subject]),
    ...query.tags.map((tag) => tagged(tag)),
    query.from === null ? undefined : sql`r.created_at >= ${query.from}`,
    query.to === null ? undefined : sql`r.created_at <= ${query.to}`,
    query.text === null ? undefined : says(query.text),
  ];
  return conditions.filter((condition) => condition !== undefined);
}

function isIn(states: readonly RunStatus[]): Sql {
  return states.length === 0 ? raw('1 = 0') : raw(`r.status in (${states.map((state) => `'${state}'`).join(', ')})`);
}

/** A base thread stands for its whole chat; a topic for what was asked for in it, and for what is shown there. */
function inThread(thread: NonNullable<RunQuery['thread']>): Sql {
  const { topic } = thread;
  const chat = sql`r.chat_id in ${chatOfThread(thread)}`;
  if (topic === null) return chat;
  const lane = sql`r.lane = ${threadLaneOf('r.chat_id', topic)}`;
  return sql`${chat} and (t.home_topic = ${topic} or t.topic_id = ${topic} or ${lane})`;
}

function says(text: string): Sql {
  return sql`(${contains(r.title.sql, text)} or ${contains(r.instructions.sql, text)} or ${contains(r.error.sql, text)})`;
}
