import type { NewMessage } from '../../app/ports/chats.ts';
import type { EndedCalls, PartEnd } from '../../app/ports/outbox.ts';
import { deliveryCode } from '../../domain/delivery.ts';
import { isView, type View, type Word } from '../../domain/shown.ts';
import type { Script } from '../engine/engine.ts';
import { columns, columnsOf, pick, type Answer } from '../engine/fields.ts';
import { idAt } from '../engine/queries.ts';
import { forUpdate, int, list, raw, sql, text, type Sql } from '../engine/sql.ts';
import { all, hold, one, returning, select, update, updateAll } from '../engine/statements.ts';
import { tellGroupInstead } from '../questions/escalations.ts';
import { settleLateNags } from '../questions/nags.ts';
import { tellEvents } from '../records/journal.ts';
import { keepAlbums } from './albums.ts';
import { insertCardPart } from './cards.ts';
import { taskLane } from './lanes.ts';
import { addMessages, insertPart, isNews, tellOnce } from './new-parts.ts';
import { endCalls } from './pace.ts';
import { dropParts } from './run-parts.ts';
import { forgetStanding, notePrint, redrawWords, standAsCard } from './standing.ts';

type Ended<S extends PartEnd['status']> = Extract<PartEnd, { status: S }>;

/** Where a part may stand before it ends so. */
const openBefore: Readonly<Record<PartEnd['status'], Sql>> = {
  delivered: raw(`('sending', 'unknown')`),
  pending: raw(`('sending', 'unknown', 'pending', 'blocked')`),
  blocked: raw(`('sending', 'pending', 'blocked')`),
  unknown: raw(`('sending', 'unknown')`),
  failed: raw(`('sending', 'unknown', 'pending', 'blocked')`),
};

/** Ends of parts, each under the fence of its claim, and what follows from them for their tasks. */
export function* endParts(ends: readonly PartEnd[], now: number, paced: EndedCalls | null = null): Script<number> {
  let written = 0;
  yield* lockTasks(ends);
  for (const status of ['delivered', 'pending', 'blocked', 'unknown', 'failed'] as const) {
    const mine = ends.filter((end) => end.status === status);
    const won = yield* updateAll('deliveries', mine, {
      set: (end) => ({ status, ...handOf(status), ...endColumns(end, now) }),
      where: ({ id, fence }) => sql`id = ${id} and fence = ${fence} and status in ${openBefore[status]}`,
    });
    written += won.length;
    const isOver = status === 'delivered' || status === 'failed';
    const gone = isOver ? new Set<string>() : yield* dropOfDeleted(won, now);
    // Parts of a task that is not there any more raise no question.
    yield* followUp(
      won.filter(({ taskId }) => !gone.has(taskId ?? '')),
      now,
    );
    if (status === 'delivered') yield* keepAlbums(won);
    const rows = yield* rowsOf(won);
    if (status !== 'failed') yield* settleLateNags([...rows.values()], now);
    const isCoded = status === 'failed' || status === 'blocked';
    if (isCoded)
      yield* tellGroupInstead(
        won.map(({ id }) => id),
        now,
      );
    const codes = isCoded ? yield* codesOf(won) : new Map<string, string | null>();
    // Being put off says nothing to anybody; what became of a part does.
    if (status !== 'pending')
      yield* tellEvents(
        won.map(({ id, taskId = null, fallback }) => {
          const chatId = rows.get(id)?.chatId ?? null;
          const told = { kind: `delivery.${status}`, at: now, taskId, ref: id, chatId } as const;
          const code = codes.get(id) ?? null;
          const data = {
            ...(fallback === undefined ? {} : { fallback }),
            ...(code === null ? {} : { error_code: code }),
          };
          return Object.keys(data).length === 0 ? told : { ...told, data };
        }),
      );
  }
  if (paced !== null) yield* endCalls(paced.calls, paced, now);
  return written;
}

const rowFields = pick(columns.deliveries, 'id', 'chatId', 'kind', 'part');

/** The rows of parts, which stay in the chat where they were when their task moves. */
function* rowsOf(parts: readonly PartEnd[]): Script<ReadonlyMap<string, Answer<typeof rowFields>>> {
  if (parts.length === 0) return new Map();
  const ids = list(parts.map(({ id }) => id));
  const found = yield* all(select(rowFields)`from deliveries where id in ${ids}`);
  return new Map(found.map((row) => [row.id, row]));
}

const codedFields = pick(columns.deliveries, 'id', 'status', 'cause', 'error');

/** The words for programs about what stands in the way of parts, by their ids. */
function* codesOf(parts: readonly PartEnd[]): Script<ReadonlyMap<string, string | null>> {
  if (parts.length === 0) return new Map();
  const ids = list(parts.map(({ id }) => id));
  const found = yield* all(select(codedFields)`from deliveries where id in ${ids}`);
  return new Map(found.map((part) => [part.id, deliveryCode(part)]));
}

/** 1 where a send was counted when the part was claimed. */
const begun = raw(`case when status = 'sending' then 1 else 0 end`);
const doubtedSince = raw('coalesce(doubted_at, sent_at)');
const fence = raw('fence + 1');

/**
 * An end that leaves the part open uses up the fence, because it is written again when the answer to the first write was
 * lost: then it must find nothing, or a send would be taken back twice and a look counted twice.
 */
function endColumns(end: PartEnd, now: number) {
  switch (end.status) {
    case 'delivered': {
      const { chatId, threadId, messageId, more = [] } = end.ids;
      return {
        platformChatId: chatId,
        messageThreadId: threadId,
        messageId,
        messages: 1 + more.length,
        deliveredAt: end.at,
        evidence: foundOut(end),
        error: null,
        cause: null,
        readyAt: null,
        doubtedAt: null,
      };
    }
    case 'pending': {
      const unsent = end.unsent ? 1 : 0;
      const isRerouted = end.reroute === undefined ? 0 : 1;
      return {
        sends: sql`sends - ${begun} * ${unsent}`,
        putOffs: sql`put_offs + ${begun} * ${unsent}`,
        readyAt: now + end.afterMs,
        error: end.error,
        evidence: foundOut(end),
        cause: null,
        settles: 0,
        goesTo: sql`case when ${isRerouted} = 1 then 'thread' else goes_to end`,
        toTopic: sql`case when ${isRerouted} = 1 then ${int(end.reroute?.topic ?? null)} else to_topic end`,
        doubtedAt: sql`case when ${end.inDoubt ? 1 : 0} = 1 then ${doubtedSince} end`,
        fence,
      };
    }
    case 'blocked':
      return { sends: sql`sends - ${begun}`, readyAt: now + end.afterMs, cause: end.cause, error: end.error, fence };
    case 'unknown':
      return {
        readyAt: end.afterMs === null ? null : now + end.afterMs,
        error: end.error,
        evidence: end.evidence,
        settles: sql`case when status = 'unknown' then settles + ${end.isNoLook ? 0 : 1} else 0 end`,
        doubtedAt: doubtedSince,
        fence,
      };
    case 'failed':
      return {
        error: end.error,
        cause: sql`coalesce(${text(end.cause ?? null)}, cause)`,
        evidence: foundOut(end),
        readyAt: null,
      };
  }
}

/** A part that stays open is in nobody's hands; of one that is over it is kept who sent it. */
function handOf(status: PartEnd['status']) {
  return status === 'delivered' || status === 'failed' ? {} : { bootId: null };
}

/** Evidence found before stays where there is no new one. */
function foundOut({ evidence }: { readonly evidence: string | null }): Sql {
  return sql`coalesce(${text(evidence)}, evidence)`;
}

/** Parts that come back must not pass by a deletion that empties the outbox: tasks before their parts, as in every verb. */
function* lockTasks(ends: readonly PartEnd[]): Script<void> {
  const ids = ends.flatMap(({ status, taskId }) =>
    status === 'delivered' || status === 'failed' ? [] : (taskId ?? []),
  );
  if (ids.length === 0) return;
  yield* hold(sql`select id from tasks where id in ${list(ids)} order by id ${forUpdate}`);
}

/** A part that comes back to the outbox of a task that was deleted meanwhile is not sent any more. */
function* dropOfDeleted(ends: readonly PartEnd[], now: number): Script<ReadonlySet<string>> {
  const ids = [...new Set(ends.flatMap(({ taskId }) => taskId ?? []))];
  if (ids.length === 0) return new Set();
  const gone = yield* all(select(pick(columns.tasks, 'id'))`from tasks where id in ${list(ids)} and state = 'deleted'`);
  yield* dropParts(
    gone.map(({ id }) => id),
    now,
  );
  return new Set(gone.map(({ id }) => id));
}

function* followUp(won: readonly PartEnd[], now: number): Script<void> {
  for (const end of won) {
    if (end.status === 'delivered' && end.pinId !== null) yield* keepCard(end, end.pinId, now);
    if (end.status === 'delivered' && end.print !== undefined) yield* notePrint(end.id, end.print, end.at);
    if (end.status === 'pending' && end.reroute) yield* tellReroute(end, end.reroute, now);
    if (end.status === 'failed' && end.messageGone) yield* forgetMessage(end, end.messageGone);
    if ('guidance' in end && end.guidance) yield* guide(end, end.guidance, now);
  }
  yield* forgetMended(won, now);
}

/** The task remembers its card, which is pinned next, unless its topic was deleted meanwhile and the card with it. */
function* keepCard({ id, ids }: Ended<'delivered'>, pinId: string, now: number): Script<void> {
  const card = yield* one(
    select(pick(columns.deliveries, 'taskId', 'chatId'))`from deliveries
      where id = ${id} and kind = 'card' and edits is null and task_id is not null`,
  );
  if (card === undefined || card.taskId === null) return;
  const { taskId, chatId } = card;
  const { messageId, threadId } = ids;
  const kept = yield* update(
    'tasks',
    { cardMessageId: messageId },
    sql`id = ${taskId} and topic_state = 'ready' and topic_id = ${int(threadId)}`,
  );
  if (!kept) return;
  yield* standAsCard({ taskId, chatId, deliveryId: id }, now);
  yield* insertCardPart({ id: pinId, taskId, chatId, at: now, expiresAt: null, kind: 'pin', edits: messageId });
}

function* forgetMessage({ id, taskId = null }: Ended<'failed'>, messageId: number): Script<void> {
  yield* forgetStanding(id);
  yield* update('tasks', { cardMessageId: null }, sql`id = ${text(taskId)} and card_message_id = ${messageId}`);
}

type Guided = Ended<'blocked' | 'unknown' | 'failed'>;

/** A question belongs to its part and is asked each time; what to mend is told once for each place while it lasts. */
function* guide(end: Guided, guidance: NewMessage, now: number): Script<void> {
  if (end.status === 'unknown') yield* addMessages([guidance], now);
  else yield* tellOnce(wordOf(end, guidance), guidance, now);
}

function wordOf(end: Exclude<Guided, { status: 'unknown' }>, { thread, shown }: NewMessage): Word {
  if (isView(shown) && shown.view === 'notRenamed') return { word: 'not_renamed', about: end.id };
  if (end.status === 'blocked') {
    const { cause: reason, taskId = null } = end;
    // Whether a topic was made is a question about one task; what else is to be mended is so for all that wait.
    if (reason === 'topic_in_doubt') return { word: 'blocked', reason, taskId: taskId ?? '' };
    return { word: 'blocked', reason, about: String(thread.topic ?? '') };
  }
  // The missing right to pin is one fact about the chat, whatever the topic.
  return isView(shown) && shown.view === 'notPinned' ? { word: 'not_pinned' } : { word: 'failed', about: end.id };
}

/** The line is as loud as the first part below it, and older, so that it leaves before it in the lane of both. */
function* tellReroute(
  { id, taskId = null }: Ended<'pending'>,
  { topic, cause }: NonNullable<Ended<'pending'>['reroute']>,
  now: number,
): Script<void> {
  const part = yield* one(
    select(pick(columns.deliveries, 'chatId', 'urgent', 'createdAt'))`from deliveries where id = ${id}`,
  );
  if (part === undefined || taskId === null) return;
  const { chatId, urgent, createdAt } = part;
  if (!(yield* isNews(chatId, { word: 'fallback', reason: cause, taskId }, now))) return;
  const line = { id: idAt(createdAt - 1, `fallback:${id}`), taskId, chatId, thread: { topic }, lane: taskLane(taskId) };
  const content: View = { view: 'fallback', cause };
  yield* insertPart({ ...line, kind: 'notice', content, isUrgent: urgent === 1 }, now);
}

/**
 * Parts that reach a task's topic end what was said of that task being shown elsewhere, and of its name; and, when nothing waits
 * any more, a trouble there. So the next one is told again, and the words about this one say that it is over. What is dropped
 * waits no more either.
 */
function* forgetMended(ends: readonly PartEnd[], now: number): Script<void> {
  const over = ends.filter(({ status }) => status === 'delivered' || status === 'failed');
  if (over.length === 0) return;
  const ids = list(over.map(({ id }) => id));
  const home = sql`from deliveries d where d.id in ${ids} and d.goes_to = 'task' and d.task_id is not null`;
  // In most chats nothing was told that could be over.
  const troubled = yield* one(
    select(pick(columnsOf('deliveries', 'd'), 'id'))`${home} and exists (
      select 1 from told where told.chat_id = d.chat_id and word in ('fallback', 'not_renamed', 'blocked')) limit 1`,
  );
  if (troubled === undefined) return;
  const mended = yield* all(
    returning(
      pick(columns.told, 'chatId', 'word', 'taskId'),
      sql`delete from told where chat_id in (select d.chat_id ${home}) and (
        (word = 'fallback' and task_id in (select d.task_id ${home} and d.status = 'delivered'))
        or (word = 'not_renamed' and about in ${ids})
        or (word = 'blocked' and not exists (select 1 from deliveries w where w.chat_id = told.chat_id
          and w.status in ('pending', 'blocked') and w.status = 'blocked' and w.cause = told.reason)))`,
    ),
  );
  if (mended.length === 0) return;
  for (const chatId of new Set(mended.map((word) => word.chatId))) yield* redrawWords(chatId, now);
}
