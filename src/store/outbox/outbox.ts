import type { OutboxPart, OutboxStore } from '../../app/ports/outbox.ts';
import type { Batch } from '../../app/ports/pipeline.ts';
import { outboxRanks } from '../../domain/delivery.ts';
import * as limits from '../../domain/limits.ts';
import { survivorOf } from '../chats/survivors.ts';
import type { Script } from '../engine/engine.ts';
import { columns, least, number, numberOrNull, pick, type Answer } from '../engine/fields.ts';
import { int, limit as limited, raw, skipLocked, sql, type Sql } from '../engine/sql.ts';
import { all, one, run, select, selecting, update, updateAll } from '../engine/statements.ts';
import { tellEvents } from '../records/journal.ts';
import { isLost } from '../tables/work.ts';
import { pinAgain, topicNaming } from './cards.ts';
import { taskLaneOf } from './lanes.ts';
import { endParts } from './part-ends.ts';
import { claimedPart, faultOf, partFields, partSource, statusAfterClaim, type PartRow } from './part-rows.ts';
import { held, quieted, tellQuietOver } from './quiet-parts.ts';
import { beginTopic, endTopic, isOwnerThere, joinTopic } from './topics.ts';

/** The outbox and the topics. A claim is one transaction; what a send brought is written under the claim's fence. */
export const outboxStore = {
  claimParts,
  endParts,
  beginTopic,
  endTopic,
  joinTopic,
  isOwnerThere,
  topicNaming,
  pinAgain,
  nextPartAt,
};

type Claiming = Parameters<OutboxStore['claimParts']>[0];

function* claimParts(at: Claiming, bootId: string, busyChats: ReadonlySet<string>): Script<readonly OutboxPart[]> {
  yield* doubtLeftBehind(at.now);
  const { parts } = yield* chosenParts(at, busyChats);
  return yield* markClaimed(parts, bootId, at.now);
}

/** Chats that no other process serves, or is about to: from then on they are for this transaction alone. */
type Alone = (chats: readonly string[]) => Script<readonly string[]>;

interface Chosen {
  readonly parts: readonly PartRow[];
  /** Some were passed over because another process has just looked at their chat. */
  readonly isContended: boolean;
}

/** The parts that go out next, at most one of each chat. Without `alone` there is one process, and it knows what it serves. */
export function* chosenParts(at: Claiming, busyChats: ReadonlySet<string>, alone: Alone | null = null): Script<Chosen> {
  const parts: PartRow[] = [];
  const served = new Set(busyChats);
  // Looks for evidence are few and bounded, and come first: behind the backlog of a busy chat they would come too late.
  const doubts = yield* openDoubts();
  const isAnyReady = doubts.some(({ readyAt }) => readyAt <= at.now);
  const ready = isAnyReady ? yield* doubtfulParts({ now: at.now, limit: at.limit + busyChats.size }) : [];
  const free = ready.filter(({ chatId }) => !served.has(chatId));
  const mine = yield* those(
    alone,
    free.map(({ chatId }) => chatId),
  );
  for (const part of free) {
    if (!mine.has(part.chatId)) continue;
    if (served.has(part.chatId) || parts.length === at.limit || (yield* dropFaulty(part, at.now))) continue;
    parts.push(part);
    served.add(part.chatId);
  }
  const young = doubts.filter(({ sentAt }) => sentAt > at.now - limits.unknownHoldMs);
  const doubted = new Set(young.map(({ chatId }) => chatId));
  const turn = { ...at, doubted, alone };
  let isContended = yield* addHeads(turn, parts, served);
  // A word that is made here leaves with this claim, because nobody rings for it.
  if (parts.length < at.limit && (yield* tellQuietOver(at.now)))
    isContended ||= yield* addHeads(turn, parts, new Set([...busyChats, ...parts.map(({ chatId }) => chatId)]));
  return { parts, isContended };
}

function* those(alone: Alone | null, chats: readonly string[]): Script<ReadonlySet<string>> {
  return new Set(alone === null || chats.length === 0 ? chats : yield* alone([...new Set(chats)]));
}

/** Chats in which everything had to be put off take nobody's turn: others are looked for, but not for ever. */
const roundsMax = 20;
const chatsPerRound = 50;

/** While a chat has a part in doubt that is still looked for, nothing but answers leaves there: what is found must be that part. */
type Turn = Claiming & { readonly doubted: ReadonlySet<string>; readonly alone: Alone | null };

/** Answers whether chats were passed over because another process has just looked at them. */
function* addHeads(at: Turn, parts: PartRow[], served: Set<string>): Script<boolean> {
  let isContended = false;
  for (let round = 0; round < roundsMax && parts.length < at.limit; round += 1) {
    const found = yield* chatsInTurn(at, served.size + (round === 0 ? 0 : chatsPerRound));
    const chats = found.filter((chatId) => !served.has(chatId));
    const asked = round === 0 ? chats.slice(0, at.limit - parts.length) : chats;
    const mine = yield* those(at.alone, asked);
    isContended ||= mine.size < asked.length;
    let isAnyPutOff = false;
    for (const chatId of asked) {
      if (parts.length === at.limit) break;
      const part = mine.has(chatId) ? yield* soundHeadOf(chatId, at) : undefined;
      served.add(chatId);
      if (part === undefined) isAnyPutOff = true;
      else parts.push(part);
    }
    if (!isAnyPutOff) break;
  }
  return isContended;
}

/** Faulty parts of one chat that a claim passes over; what is left is found by the next one. */
const faultyMax = 20;
/** Tasks passed over whose results wait for the end of quiet hours: more than a chat may have. */
const quietMax = 500;

/** Parts that cannot go out, ever, must not keep the others of their chat waiting. */
function* soundHeadOf(chatId: string, at: Turn): Script<PartRow | undefined> {
  for (let [faulty, quiet] = [0, 0]; faulty < faultyMax && quiet < quietMax;) {
    const part = (yield* headInTurn(chatId, at)) ?? (yield* headOfMerged(chatId, at));
    if (part === undefined) return undefined;
    if (yield* dropFaulty(part, at.now)) {
      faulty += 1;
      continue;
    }
    const going = yield* quieted(part, at.now);
    if (going !== null) return going;
    quiet += 1;
  }
  return undefined;
}

/** Parts that people wait for come first, but not for ever: a chat full of commands would have no results any more. */
function* headInTurn(chatId: string, at: Turn): Script<PartRow | undefined> {
  const isTurnOfResults = at.resultsFirst?.has(chatId) === true;
  const result = isTurnOfResults ? yield* headOf(chatId, at, outboxRanks.result) : undefined;
  return result ?? (yield* headOf(chatId, at));
}

/** A run that was under way while its chat became one with another leaves its parts with a chat that is not there any more. */
function* headOfMerged(chatId: string, at: Turn): Script<PartRow | undefined> {
  const survivor = yield* survivorOf(chatId);
  if (survivor === null) return undefined;
  yield* run(sql`update deliveries set chat_id = ${survivor} where chat_id = ${chatId}`);
  // Another process may be serving the chat that is left; it is found under its own id.
  return at.alone === null ? yield* headOf(survivor, at) : undefined;
}

/** A part that cannot be read fails with the reason; so does decoration of a topic that is not there any more. */
function* dropFaulty(part: PartRow, at: number): Script<boolean> {
  const fault = faultOf(part);
  if (fault === null) return false;
  const isDropped = yield* update(
    'deliveries',
    { status: 'failed', error: fault, readyAt: null },
    sql`id = ${part.id} and fence = ${part.fence} and status in ('pending', 'blocked', 'unknown')`,
  );
  if (isDropped) yield* tellEvents([{ kind: 'delivery.failed', at, taskId: part.taskId, ref: part.id }]);
  return true;
}

/** A part that a dead process was sending: nobody knows whether it left, so evidence must settle it. */
export function* doubtLeftBehind(now: number): Script<void> {
  yield* update(
    'deliveries',
    {
      status: 'unknown',
      error: 'the process ended while this part was being sent',
      readyAt: now + (limits.settleDelaysMs[0] ?? 0),
      settles: 0,
      doubtedAt: raw('coalesce(doubted_at, sent_at)'),
    },
    raw(`status = 'sending' and ${isLost}`),
  );
}

/** The chats after the one served last come first, so that no chat starves behind those with smaller ids. */
function* chatsInTurn(at: Turn, busy: number): Script<readonly string[]> {
  if (at.only !== undefined) return at.only;
  const limit = at.limit + busy;
  const later = yield* chatsAfter(at.after, at.now, limit);
  if (at.after === '' || later.length >= limit) return later;
  const known = new Set(later);
  const earlier = yield* chatsAfter('', at.now, limit - later.length);
  return [...later, ...earlier.filter((chatId) => !known.has(chatId))];
}

/**
 * No earlier part of its own thread holds `d` back; one whose fate is unknown does so for a while only, and one that waits
 * for the end of quiet hours not at all: what is as quiet as that is put off itself, and what is urgent passes by. What hangs on a
 * topic also waits for the results of the task that are to stand there: nobody should find a card above the first of them.
 * Where the topic is gone it does not wait, because it goes with it.
 * Both name every open status, because only then does the index of open rows answer them.
 */
function unheld(now: number): Sql {
  const doubtful = now - limits.unknownHoldMs;
  return sql`not exists (select 1 from deliveries e where e.lane = d.lane and e.id < d.id
      and e.status in ('pending', 'blocked', 'sending', 'unknown')
      and (e.status <> 'unknown' or e.sent_at > ${doubtful}) and not ${held(now)})
    and (d.rank < ${raw(String(outboxRanks.card))} or not exists (select 1 from deliveries e where e.lane = ${taskLaneOf('d.task_id')}
      and e.lane <> d.lane and e.status in ('pending', 'blocked', 'sending', 'unknown') and e.status <> 'blocked'
      and (e.status <> 'unknown' or e.sent_at > ${doubtful}) and not ${held(now)}
      and exists (select 1 from tasks t where t.id = d.task_id and t.topic_state = 'ready')))`;
}

/**
 * Each chat once, however long its backlog: the recursion hops from chat to chat along the index. A chat that has nothing
 * but parts that are held back is passed over, or as many of them as the limit would keep all others waiting.
 */
function* chatsAfter(after: string, now: number, limit: number): Script<string[]> {
  const found = yield* all(
    selecting(
      turnFields,
      (list) => sql`with recursive heads(chat_id) as (
          select min(d.chat_id) from deliveries d where d.status in ('pending', 'blocked') and d.chat_id > ${after}
          union all
          select (select min(d.chat_id) from deliveries d
            where d.status in ('pending', 'blocked') and d.chat_id > heads.chat_id)
          from heads where heads.chat_id is not null)
        select ${list} from heads where chat_id is not null and exists (
          select 1 from deliveries d where d.chat_id = heads.chat_id and d.status in ('pending', 'blocked')
            and d.ready_at <= ${now} and ${unheld(now)})
        ${limited(limit)}`,
    ),
  );
  return found.map(({ chatId }) => chatId);
}

const turnFields = { chatId: columns.deliveries.chatId };

/** The most urgent part that no earlier part of its own thread holds back. */
function* headOf(chatId: string, { now, doubted }: Turn, rankMin = 0): Script<PartRow | undefined> {
  const rankMax = doubted.has(chatId) ? outboxRanks.answer : Math.max(...Object.values(outboxRanks));
  return yield* one(
    select(partFields)`from ${partSource}
      where d.chat_id = ${chatId} and d.rank >= ${rankMin} and d.rank <= ${rankMax}
        and d.status in ('pending', 'blocked') and d.ready_at <= ${now} and ${unheld(now)}
      order by d.rank, d.id limit 1 ${skipLocked('d')}`,
  );
}

const doubtFields = {
  ...pick(columns.deliveries, 'chatId'),
  readyAt: number(raw('ready_at')),
  sentAt: number(raw('sent_at')),
};

/** Parts that are looked for are few, so each claim knows them all. */
function* openDoubts(): Script<Answer<typeof doubtFields>[]> {
  return yield* all(select(doubtFields)`from deliveries where status = 'unknown' and ready_at is not null`);
}

function* doubtfulParts({ now, limit }: Batch): Script<PartRow[]> {
  return yield* all(
    select(partFields)`from ${partSource} where d.status = 'unknown' and d.ready_at <= ${now}
      order by d.ready_at ${limited(limit)} ${skipLocked('d')}`,
  );
}

/**
 * The status `sending` is committed before the call leaves. A part that still needs its topic stays as it is, because
 * nothing of it has left, and a part whose evidence is looked for stays `unknown`; the fence binds all three. A card is a
 * change of the card that its task has by now.
 */
export function* markClaimed(parts: readonly PartRow[], bootId: string, now: number): Script<readonly OutboxPart[]> {
  const claimed = yield* updateAll('deliveries', parts, {
    set: (part) => {
      const status = statusAfterClaim(part);
      const isSent = status === 'sending';
      return {
        status,
        fence: raw('fence + 1'),
        bootId,
        sends: sql`sends + ${isSent ? 1 : 0}`,
        sentAt: sql`coalesce(${int(isSent ? now : null)}, sent_at)`,
        edits: editsOf(part),
        silent: part.silent,
      };
    },
    where: (part) => sql`id = ${part.id} and fence = ${part.fence} and status = ${part.status}`,
  });
  return claimed.map((part) => claimedPart({ ...part, edits: editsOf(part) }, now));
}

function editsOf(part: PartRow): number | null {
  return part.kind === 'card' && part.status !== 'unknown' ? part.cardMessageId : part.edits;
}

/** The next instant at which something becomes ready. What is ready now but held back is rung for when its holder ends. */
function* nextPartAt(now: number): Script<number | null> {
  const waiting = yield* one(
    select(readyFields)`from deliveries where status in ('pending', 'blocked') and ready_at > ${now}`,
  );
  const unknown = yield* one(select(readyFields)`from deliveries where status = 'unknown' and ready_at is not null`);
  const doubted = yield* one(
    // Spelled so that the few that are unknown are looked through, and not the index of everything that was ever sent.
    select(
      doubtedFields,
    )`from deliveries where status = 'unknown' and coalesce(sent_at, 0) > ${now - limits.unknownHoldMs}`,
  );
  const heldUntil = typeof doubted?.at === 'number' ? doubted.at + limits.unknownHoldMs : null;
  const known = [waiting?.at, unknown?.at, heldUntil].filter((at): at is number => typeof at === 'number');
  return known.length === 0 ? null : Math.min(...known);
}

const readyFields = { at: least(columns.deliveries.readyAt) };
const doubtedFields = { at: numberOrNull(raw('min(coalesce(sent_at, 0))')) };
