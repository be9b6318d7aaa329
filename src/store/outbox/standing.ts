import type { StandsFor } from '../../app/ports/chats.ts';
import type { DeliveryKind } from '../../domain/delivery.ts';
import { mayBeOver, type View } from '../../domain/shown.ts';
import type { Script } from '../engine/engine.ts';
import { columns, pick } from '../engine/fields.ts';
import { allOf, int, list, raw, sql, type Sql } from '../engine/sql.ts';
import { insert, one, run, select, update } from '../engine/statements.ts';
import { cardLane, saidLane, standingLane, standingLaneOf } from './lanes.ts';

/**
 * Messages of ours that tell how something stands: the pinned card of a task, the one where it was made, and words about what
 * is to be done. Whatever changes the task says here that they are to be drawn anew.
 */

const { tasks } = columns;

interface Standing {
  readonly id: string;
  readonly kind: string;
  /** Empty where it is about the whole chat. */
  readonly taskId: string;
  readonly chatId: string;
  readonly deliveryId: string;
  readonly dueAt?: number;
}

/** Another message that tells the same takes the place of the one before. */
function* stand(row: Standing, at: number): Script<void> {
  yield* insert(
    'standing',
    { ...row, createdAt: at },
    raw(`on conflict (id) do update set chat_id = excluded.chat_id, delivery_id = excluded.delivery_id,
      due_at = excluded.due_at, drawn_at = null, print = null, created_at = excluded.created_at`),
  );
}

type OfTask = Pick<Standing, 'taskId' | 'chatId' | 'deliveryId'>;

export function standAsCard(of: OfTask, at: number): Script<void> {
  return stand({ ...of, id: cardLane(of.taskId), kind: 'card' }, at);
}

export function* standWhereSaid(
  is: StandsFor,
  { edits, ...where }: Pick<Standing, 'chatId' | 'deliveryId'> & { readonly edits: number | null },
  at: number,
): Script<void> {
  const { as, taskId } = is;
  const row = { ...where, id: saidLane(is), kind: as === 'started' ? as : 'card', taskId };
  if (as !== 'pressed') return yield* stand(row, at);
  // A card that is pressed stands where no other one does, as for tasks that an older version made. The pinned one has its own row.
  const pinned = yield* one(
    select(pick(tasks, 'id'))`from tasks where id = ${taskId} and card_message_id = ${int(edits)}`,
  );
  if (pinned === undefined) yield* insert('standing', { ...row, createdAt: at }, raw('on conflict (id) do nothing'));
}

/** Notes words that are over one day, as they are put into the outbox. */
export function* standAsWord(
  part: {
    readonly id: string;
    readonly taskId: string | null;
    readonly chatId: string;
    readonly kind: DeliveryKind;
    readonly edits?: number | null;
    readonly content: object;
  },
  at: number,
): Script<void> {
  const { id, taskId, chatId, content } = part;
  const view = 'view' in content ? (content as View).view : null;
  if (view === null || !mayBeOver[view] || (part.edits ?? null) !== null) return;
  // Nothing is drawn while results wait for their turn, so the first drawing finds that they are through.
  const due = view === 'backlog' ? { dueAt: at } : {};
  yield* stand({ id: standingLane(id), kind: view, taskId: taskId ?? '', chatId, deliveryId: id, ...due }, at);
}

/* ---- when they are to be drawn anew ---- */

/** The press of a button is answered first, and changes that follow at once gather in one drawing. */
const waitMs = 20_000;
/** After a change by which people decide; more of them in a row are one drawing. */
const againMs = raw('60000');
/** A run of a task that goes on changes no more than its card tells the time of; every other one was asked for by somebody. */
const afterRunMs = raw(`(case when exists (select 1 from tasks t where t.id = standing.task_id and t.state = 'active')
  then 3600000 else 60000 end)`);

/** After the pause that is owed to the last drawing; the earlier of two instants holds, so changes gather in one drawing. */
function* owe(whose: Sql, now: number, afterMs: Sql): Script<void> {
  const soon = now + waitMs;
  // A drawing by a clock that was ahead owes no pause.
  const at = sql`case when drawn_at <= ${now} and drawn_at + ${afterMs} > ${soon} then drawn_at + ${afterMs} else ${int(soon)} end`;
  yield* update('standing', { dueAt: at }, allOf(whose, sql`(due_at is null or due_at > ${at})`));
}

/** Something has changed by which people decide. Pinned cards that are on their way already are left out. */
export function* redrawSoon(taskIds: readonly string[], now: number, underWay: readonly string[] = []): Script<void> {
  if (taskIds.length === 0) return;
  const others = underWay.length === 0 ? undefined : sql`id not in ${list(underWay.map(cardLane))}`;
  yield* owe(allOf(sql`task_id in ${list(taskIds)}`, others), now, againMs);
}

/** The topic is there, and so is the way to it. */
export function* redrawStarted(taskId: string, now: number): Script<void> {
  yield* owe(sql`id = ${saidLane({ as: 'started', taskId })}`, now, againMs);
}

/** A chat that was lost can be reached again: its owners were told elsewhere. */
export function* redrawLost(now: number): Script<void> {
  yield* owe(sql`kind = 'chatGone'`, now, againMs);
}

/** Trouble of a chat is over, and so may be the words about it. */
export function* redrawWords(chatId: string, now: number): Script<void> {
  const ofChat = sql`kind in ('blocked', 'fallback', 'notRenamed', 'inDoubt', 'ownerGone', 'notPinned', 'oneOffs')
    and (task_id in (select t.id from tasks t where t.chat_id = ${chatId}) or (task_id = '' and chat_id = ${chatId}))`;
  yield* owe(ofChat, now, againMs);
}

export function* redrawAfterRuns(of: readonly (string | null)[], now: number): Script<void> {
  const cards = of.filter((taskId) => taskId !== null).map(cardLane);
  if (cards.length > 0) yield* owe(sql`id in ${list(cards)}`, now, afterRunMs);
}

/* ---- what they show ---- */

/** The drawing of a part, as it has arrived: in its own lane, or as the word that it is. */
export function* notePrint(deliveryId: string, print: string, at: number): Script<void> {
  yield* update(
    'standing',
    { drawnAt: at, print },
    sql`id in (${standingLane(deliveryId)}, (select d.lane from deliveries d where d.id = ${deliveryId}))`,
  );
}

/** A message that is gone tells nothing any more. */
export function* forgetStanding(deliveryId: string): Script<void> {
  yield* run(sql`delete from standing where id = (select d.lane from deliveries d where d.id = ${deliveryId})`);
}

/** A question is answered in its place, in words that name who did. */
export function* forgetAnswered(address: string, messageId: number): Script<void> {
  yield* run(sql`delete from standing where kind in ('inDoubt', 'mayNotRun', 'ownerGone', 'approval', 'oneOffs') and id in (
    select ${standingLaneOf('d.id')} from deliveries d where d.platform_chat_id = ${address} and d.message_id = ${messageId})`);
}

export function* forgetStandingOf(taskId: string): Script<void> {
  yield* run(sql`delete from standing where task_id = ${taskId}`);
}
