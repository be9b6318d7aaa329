import { and, asc, desc, eq, gte, inArray, isNull, lt, lte, or, sql, type SQL } from 'drizzle-orm';
import type { RunQuery, RunView, Page } from '../../app/ports/runs.ts';
import type { TaskStore } from '../../app/ports/tasks.ts';
import { liveStatuses } from '../../domain/run.ts';
import type { Engine } from '../engine/engine.ts';
import { foreignCursor, positionOf, writeCursor, chatOfThread, contains, holds } from '../engine/queries.ts';
import { readFacts } from '../tasks/codec.ts';
import { readRun, type RunRow, type ViewedRow, partsOf } from './codec.ts';

/** Runs, whatever asked for them. No read walks more rows than its look, whatever the table holds. */
export function runReads(engine: Engine): Pick<TaskStore, 'readRun' | 'listRuns'> {
  return {
    readRun: async (runId) => {
      const found = await selectRuns(engine).where(eq(engine.tables.runs.id, runId)).limit(1);
      return (await viewed(engine, found.map(joined)))[0] ?? null;
    },
    listRuns: (query) => listRuns(engine, query),
  };
}

/** Rows that one look passes: some milliseconds, however few of them are wanted. */
const lookMax = 2000;
/** Runs that are named one by one in a statement. */
const namedMax = 200;

function selectRuns({ reader, tables: { runs, chats, tasks } }: Engine) {
  return reader
    .select({ run: runs, provider: chats.provider, address: chats.address, homeTopic: tasks.home_topic })
    .from(runs)
    .leftJoin(chats, eq(chats.id, runs.chat_id))
    .leftJoin(tasks, eq(tasks.id, runs.task_id));
}

interface Joined {
  readonly run: RunRow;
  readonly provider: string | null;
  readonly address: string | null;
  readonly homeTopic: number | null;
}

function joined({ run, provider, address, homeTopic }: Joined): ViewedRow {
  return { ...run, provider, address, home_topic: homeTopic };
}

async function viewed(engine: Engine, found: readonly ViewedRow[]): Promise<RunView[]> {
  const { attempts, deliveries } = await partsOf(
    engine,
    found.map(({ id }) => id),
  );
  return found.map((one) =>
    readRun(one, { attempts: attempts.get(one.id) ?? [], deliveries: deliveries.get(one.id) ?? [] }),
  );
}

/** What was found, newest first, and where the next look begins; null when there is nothing more to look at. */
interface Looked {
  readonly rows: readonly ViewedRow[];
  readonly next: string | null;
}

async function listRuns(engine: Engine, query: RunQuery): Promise<Page<RunView>> {
  const { rows, next } = await look(engine, query);
  const { text } = query;
  const items = text === null ? rows : rows.filter((row) => says(row, text));
  return { items: await viewed(engine, items), next: next === null ? null : writeCursor('run', next) };
}

async function look(engine: Engine, query: RunQuery): Promise<Looked> {
  if (query.taskId !== null) return lookAtSlots(engine, query, query.taskId);
  const below = query.cursor === null ? null : idIn(query.cursor);
  const live = query.status !== null && isLive(query.status) ? await liveRuns(engine, below) : null;
  return live === null ? lookAtAll(engine, query, below) : lookAtNamed(engine, query, live);
}

function isLive(status: string): boolean {
  return status === 'live' || liveStatuses.some((one) => one === status);
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
async function lookAtAll(engine: Engine, query: RunQuery, below: string | null): Promise<Looked> {
  const { reader, tables } = engine;
  const { runs } = tables;
  const conditions = conditionsOf(engine, query);
  const before = below === null ? undefined : lt(runs.id, below);
  // Where every row is wanted, the page itself is the end of the look.
  const passed = conditions.length === 0 ? query.limit + 1 : lookMax;
  const [edge] = await reader
    .select({ id: runs.id })
    .from(runs)
    .where(before)
    .orderBy(desc(runs.id))
    .limit(1)
    .offset(passed - 1);
  const found = await selectRuns(engine)
    .where(and(before, edge === undefined ? undefined : gte(runs.id, edge.id), ...conditions))
    .orderBy(desc(runs.id))
    .limit(query.limit + 1);
  const rows = found.slice(0, query.limit).map(joined);
  return { rows, next: found.length > query.limit ? (rows.at(-1)?.id ?? null) : (edge?.id ?? null) };
}

/** The history of one task is found by its slots, of which each has one run at most. */
async function lookAtSlots(engine: Engine, query: RunQuery, taskId: string): Promise<Looked> {
  const { reader, tables } = engine;
  const { occurrences, runs, chats, tasks } = tables;
  const before = query.cursor === null ? undefined : lt(occurrences.slot_at, slotIn(query.cursor));
  const mine = and(eq(occurrences.task_id, taskId), before);
  const [edge] = await reader
    .select({ at: occurrences.slot_at })
    .from(occurrences)
    .where(mine)
    .orderBy(desc(occurrences.slot_at))
    .limit(1)
    .offset(lookMax - 1);
  const within = edge === undefined ? undefined : gte(occurrences.slot_at, edge.at);
  const found = await reader
    .select({
      at: occurrences.slot_at,
      run: runs,
      provider: chats.provider,
      address: chats.address,
      homeTopic: tasks.home_topic,
    })
    .from(occurrences)
    .innerJoin(runs, eq(runs.id, occurrences.run_id))
    .leftJoin(chats, eq(chats.id, runs.chat_id))
    .leftJoin(tasks, eq(tasks.id, runs.task_id))
    .where(and(mine, within, ...conditionsOf(engine, query)))
    .orderBy(desc(occurrences.slot_at))
    .limit(query.limit + 1);
  const page = found.slice(0, query.limit);
  const end = found.length > query.limit ? page.at(-1)?.at : edge?.at;
  return { rows: page.map(joined), next: end === undefined ? null : `${slotMark}${end}` };
}

const isLiveRun = sql.raw(`status in ('queued', 'running', 'backoff', 'waiting')`);
const kinds = [sql.raw('exclusive = 1'), sql.raw('exclusive = 0')];

/**
 * The runs that live, newest first, by the partial indexes that hold nothing else; every other way to them walks the
 * history. Null when there are more than one look may name: then they are met by walking all the same.
 */
async function liveRuns({ reader, tables: { runs } }: Engine, below: string | null): Promise<readonly string[] | null> {
  const found: string[] = [];
  for (const kind of kinds) {
    // What has no task is a message; with both, the whole of each index is read as a range of it.
    for (const whose of [gte(runs.task_id, ''), isNull(runs.task_id)]) {
      const some = await reader
        .select({ id: runs.id })
        .from(runs)
        .where(and(kind, isLiveRun, whose))
        .orderBy(asc(runs.task_id))
        .limit(lookMax + 1);
      found.push(...some.map(({ id }) => id));
      if (found.length > lookMax) return null;
    }
  }
  const open = below === null ? found : found.filter((id) => id < below);
  return open.toSorted().toReversed();
}

async function lookAtNamed(engine: Engine, query: RunQuery, ids: readonly string[]): Promise<Looked> {
  const { runs } = engine.tables;
  const rows: ViewedRow[] = [];
  for (let from = 0; from < ids.length && rows.length <= query.limit; from += namedMax) {
    const found = await selectRuns(engine)
      .where(and(inArray(runs.id, ids.slice(from, from + namedMax)), ...conditionsOf(engine, query)))
      .orderBy(desc(runs.id));
    rows.push(...found.map(joined));
  }
  const page = rows.slice(0, query.limit);
  return { rows: page, next: rows.length > query.limit ? (page.at(-1)?.id ?? null) : null };
}

function conditionsOf(engine: Engine, query: RunQuery): readonly SQL[] {
  const { runs, tasks } = engine.tables;
  const conditions = [
    statusIs(engine, query.status),
    query.thread === null ? undefined : inThread(engine, query.thread),
    query.source === null ? undefined : eq(runs.source, query.source),
    query.subject === null ? undefined : eq(tasks.subject, query.subject),
    ...query.tags.map((tag) => holds(tasks.tags, JSON.stringify(tag))),
    query.from === null ? undefined : gte(runs.created_at, query.from),
    query.to === null ? undefined : lte(runs.created_at, query.to),
    query.text === null ? undefined : maySay(engine, query.text),
  ];
  return conditions.filter((one) => one !== undefined);
}

function statusIs({ tables: { runs } }: Engine, status: RunQuery['status']): SQL | undefined {
  if (status === null) return undefined;
  return status === 'live' ? inArray(runs.status, [...liveStatuses]) : eq(runs.status, status);
}

/** A base thread stands for its whole chat; a topic for what was asked for in it, and for what is shown there. */
function inThread(engine: Engine, thread: NonNullable<RunQuery['thread']>): SQL | undefined {
  const { runs, tasks } = engine.tables;
  const { topic } = thread;
  const chat = inArray(runs.chat_id, chatOfThread(engine, thread));
  if (topic === null) return chat;
  // What `threadLane` makes of it.
  const lane = sql`${runs.lane} = 'thread:' || ${runs.chat_id} || ${`:${topic}`}`;
  return and(chat, or(eq(tasks.home_topic, topic), eq(tasks.topic_id, topic), lane));
}

/** What a run was given is kept as JSON, where some signs of a text are escaped; what is found too much is left out later. */
function maySay({ tables: { runs } }: Engine, text: string): SQL | undefined {
  const escaped = JSON.stringify(text).slice(1, -1);
  return or(contains(runs.input, escaped), contains(runs.error, text));
}

function says({ input, error }: ViewedRow, text: string): boolean {
  const { title, instructions } = readFacts(input) ?? {};
  const sought = text.toLowerCase();
  return [title, instructions, error].some((one) => typeof one === 'string' && one.toLowerCase().includes(sought));
}
