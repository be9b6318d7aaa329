import type { OutboxPart, OutboxStore } from '../../app/ports/outbox.ts';
import type { Batch } from '../../app/ports/pipeline.ts';
import { outboxRanks } from '../../domain/delivery.ts';
import * as limits from '../../domain/limits.ts';
import { survivorOf } from '../chats/moves.ts';
import { each, row, rows, type Engine, type Script, type Tuple } from '../engine/engine.ts';
import { endParts } from './part-ends.ts';
import { claimedPart, faultOf, partSource, statusAfterClaim, type PartRow } from './part-rows.ts';
import { isHeld, quieted, tellQuietOver } from './quiet-parts.ts';
import { beginTopic, endTopic } from './topics.ts';

/** The outbox and the topics. A claim is one transaction; what a send brought is written under the claim's fence. */
export function outboxStore(engine: Engine): OutboxStore {
  return {
    claimParts: (at, bootId, busyChats) => engine.transact(() => claimParts({ at, bootId, busyChats })),
    endParts: (ends, now) => engine.transact(() => endParts(ends, now)),
    beginTopic: (topic, bootId, now) => engine.transact(() => beginTopic({ topic, bootId, now })),
    endTopic: (end) => engine.transact(() => endTopic(end)),
    nextPartAt: (now) => engine.transact(() => nextPartAt(now)),
  };
}

interface ClaimRequest {
  readonly at: Parameters<OutboxStore['claimParts']>[0];
  readonly bootId: string;
  readonly busyChats: ReadonlySet<string>;
}

function* claimParts({ at, bootId, busyChats }: ClaimRequest): Script<readonly OutboxPart[]> {
  yield* doubtLeftBehind(bootId, at.now);
  const parts: PartRow[] = [];
  const served = new Set(busyChats);
  // Looks for evidence are few and bounded, and come first: behind the backlog of a busy chat they would come too late.
  const doubts = yield* openDoubts();
  const isAnyReady = doubts.some(({ ready_at: readyAt }) => readyAt <= at.now);
  const ready = isAnyReady ? yield* doubtfulParts({ now: at.now, limit: at.limit + busyChats.size }) : [];
  for (const part of ready) {
    if (served.has(part.chat_id) || parts.length === at.limit || (yield* dropFaulty(part))) continue;
    parts.push(part);
    served.add(part.chat_id);
  }
  const young = doubts.filter(({ sent_at: sentAt }) => sentAt > at.now - limits.unknownHoldMs);
  const doubted = new Set(young.map(({ chat_id: chatId }) => chatId));
  yield* addHeads({ ...at, doubted }, parts, served);
  if (parts.length < at.limit) yield* tellQuietOver(at.now);
  return yield* markClaimed(parts, bootId, at.now);
}

/** Chats in which everything had to be put off take nobody's turn: others are looked for, but not for ever. */
const roundsMax = 20;
const chatsPerRound = 50;

/** While a chat has a part in doubt that is still looked for, nothing but answers leaves there: what is found must be that part. */
type Turn = ClaimRequest['at'] & { readonly doubted: ReadonlySet<string> };

function* addHeads(at: Turn, parts: PartRow[], served: Set<string>): Script<void> {
  for (let round = 0; round < roundsMax && parts.length < at.limit; round += 1) {
    const found = yield* chatsInTurn(at, served.size + (round === 0 ? 0 : chatsPerRound));
    const chats = found.filter((chatId) => !served.has(chatId));
    const asked = round === 0 ? chats.slice(0, at.limit - parts.length) : chats;
    let isAnyPutOff = false;
    for (const chatId of asked) {
      if (parts.length === at.limit) break;
      const part = yield* soundHeadOf(chatId, at);
      served.add(chatId);
      if (part === undefined) isAnyPutOff = true;
      else parts.push(part);
    }
    if (!isAnyPutOff) break;
  }
}

/** Faulty parts of one chat that a claim passes over; what is left is found by the next one. */
const faultyMax = 20;
/** The same for tasks whose results wait for the end of quiet hours: more than a chat may have. */
const quietMax = 500;

/** Parts that cannot go out, ever, must not keep the others of their chat waiting. */
function* soundHeadOf(chatId: string, at: Turn): Script<PartRow | undefined> {
  for (let [faulty, quiet] = [0, 0]; faulty < faultyMax && quiet < quietMax;) {
    const part = (yield* headInTurn(chatId, at)) ?? (yield* headOfMerged(chatId, at));
    if (part === undefined) return undefined;
    if (yield* dropFaulty(part)) {
      faulty += 1;
      continue;
    }
    const going = yield* quieted(part, at.now);
    if (going !== null) return going;
    quiet += 1;
  }
  return undefined;
}

/** What people wait for comes first, but not for ever: a chat that is full of commands would have no results any more. */
function* headInTurn(chatId: string, at: Turn): Script<PartRow | undefined> {
  const isTurnOfResults = at.resultsFirst?.has(chatId) === true;
  const result = isTurnOfResults ? yield* headOf(chatId, at, outboxRanks.result) : undefined;
  return result ?? (yield* headOf(chatId, at));
}

/** A run that was under way while its chat became one with another leaves its parts with a chat that is not there any more. */
function* headOfMerged(chatId: string, at: Turn): Script<PartRow | undefined> {
  const survivor = yield* survivorOf(chatId);
  if (survivor === null) return undefined;
  yield* rows(`update deliveries set chat_id = ?t where chat_id = ?t`, survivor, chatId);
  return yield* headOf(survivor, at);
}

/** What cannot be read fails with the reason; what hangs on a topic that is not there any more has nothing to hang on. */
function* dropFaulty(part: PartRow): Script<boolean> {
  const fault = faultOf(part);
  if (fault === null) return false;
  yield* rows(
    `update deliveries set status = 'failed', error = ?t, ready_at = null
     where id = ?t and fence = ?i and status in ('pending', 'blocked', 'unknown')`,
    fault,
    part.id,
    part.fence,
  );
  return true;
}

/** A part that a dead process was sending: nobody knows whether it left, so evidence must settle it. */
function* doubtLeftBehind(bootId: string, now: number): Script<void> {
  yield* rows(
    `update deliveries set status = 'unknown', error = 'the process ended while this part was being sent',
       ready_at = ?i, settles = 0, doubted_at = coalesce(doubted_at, sent_at)
     where status = 'sending' and boot_id <> ?t`,
    now + (limits.settleDelaysMs[0] ?? 0),
    bootId,
  );
}

/** The chats after the one served last come first, so that no chat starves behind those with smaller ids. */
function* chatsInTurn(at: ClaimRequest['at'], busy: number): Script<string[]> {
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
const unheld = `not exists (select 1 from deliveries e where e.lane = d.lane and e.id < d.id
         and e.status in ('pending', 'blocked', 'sending', 'unknown')
         and (e.status <> 'unknown' or e.sent_at > ?i) and not ${isHeld})
       and (d.rank < ${outboxRanks.card} or not exists (select 1 from deliveries e where e.lane = 'task:' || d.task_id
         and e.lane <> d.lane and e.status in ('pending', 'blocked', 'sending', 'unknown') and e.status <> 'blocked'
         and (e.status <> 'unknown' or e.sent_at > ?i) and not ${isHeld}
         and exists (select 1 from tasks t where t.id = d.task_id and t.topic_state = 'ready')))`;

function unheldAt(now: number): readonly number[] {
  return [now - limits.unknownHoldMs, now, now - limits.unknownHoldMs, now];
}

/**
 * Each chat once, however long its backlog: the recursion hops from chat to chat along the index. A chat that has nothing
 * but parts that are held back is passed over, or as many of them as the limit would keep all others waiting.
 */
function* chatsAfter(after: string, now: number, limit: number): Script<string[]> {
  const found = yield* rows<{ chat_id: string | null }>(
    `with recursive heads(chat_id) as (
       select min(d.chat_id) from deliveries d where d.status in ('pending', 'blocked') and d.chat_id > ?t
       union all
       select (select min(d.chat_id) from deliveries d where d.status in ('pending', 'blocked') and d.chat_id > heads.chat_id)
       from heads where heads.chat_id is not null)
     select chat_id from heads where chat_id is not null and exists (
       select 1 from deliveries d where d.chat_id = heads.chat_id and d.status in ('pending', 'blocked') and d.ready_at <= ?i
         and ${unheld})
     limit ?i`,
    after,
    now,
    ...unheldAt(now),
    limit,
  );
  return found.flatMap(({ chat_id }) => (chat_id === null ? [] : [chat_id]));
}

/** The most urgent part that no earlier part of its own thread holds back. */
function* headOf(chatId: string, { now, doubted }: Turn, rankMin = 0): Script<PartRow | undefined> {
  const rankMax = doubted.has(chatId) ? outboxRanks.answer : Math.max(...Object.values(outboxRanks));
  return yield* row<PartRow>(
    `${partSource}
     where d.chat_id = ?t and d.rank >= ?i and d.rank <= ?i and d.status in ('pending', 'blocked') and d.ready_at <= ?i
       and ${unheld}
     order by d.rank, d.id limit 1 [for update of d skip locked]`,
    chatId,
    rankMin,
    rankMax,
    now,
    ...unheldAt(now),
  );
}

interface OpenDoubt {
  readonly chat_id: string;
  readonly ready_at: number;
  readonly sent_at: number;
}

/** Parts that are looked for are few, so each claim knows them all. */
function* openDoubts(): Script<OpenDoubt[]> {
  return yield* rows<OpenDoubt>(
    `select chat_id, ready_at, coalesce(sent_at, 0) as sent_at from deliveries where status = 'unknown' and ready_at is not null`,
  );
}

function* doubtfulParts({ now, limit }: Batch): Script<PartRow[]> {
  return yield* rows<PartRow>(
    `${partSource} where d.status = 'unknown' and d.ready_at <= ?i order by d.ready_at limit ?i [for update of d skip locked]`,
    now,
    limit,
  );
}

/**
 * The status `sending` is committed before the call leaves. A part that still needs its topic stays as it is, because
 * nothing of it has left, and a part whose evidence is looked for stays `unknown`; the fence binds all three. A card is a
 * change of the card that its task has by now.
 */
function* markClaimed(parts: readonly PartRow[], bootId: string, now: number): Script<readonly OutboxPart[]> {
  const claimed = yield* each(
    `update deliveries set status = ?t, fence = fence + 1, boot_id = ?t, sends = sends + ?i,
       sent_at = coalesce(?i, sent_at), edits = ?i, silent = ?i
     where id = ?t and fence = ?i and status = ?t`,
    parts.map((part): Tuple => {
      const status = statusAfterClaim(part);
      const sends = status === 'sending';
      return [
        status,
        bootId,
        sends ? 1 : 0,
        sends ? now : null,
        editsOf(part),
        part.silent,
        part.id,
        part.fence,
        part.status,
      ];
    }),
  );
  return parts
    .filter((_part, index) => claimed[index])
    .map((part) => claimedPart({ ...part, edits: editsOf(part) }, now));
}

function editsOf(part: PartRow): number | null {
  return part.kind === 'card' && part.status !== 'unknown' ? part.card_message_id : part.edits;
}

/** The next instant at which something becomes ready. What is ready now but held back is rung for when its holder ends. */
function* nextPartAt(now: number): Script<number | null> {
  const waiting = yield* row<{ at: number | null }>(
    `select min(ready_at) as at from deliveries where status in ('pending', 'blocked') and ready_at > ?i`,
    now,
  );
  const unknown = yield* row<{ at: number | null }>(
    `select min(ready_at) as at from deliveries where status = 'unknown' and ready_at is not null`,
  );
  const held = yield* row<{ at: number | null }>(
    // Spelled so that the few that are unknown are looked through, and not the index of everything that was ever sent.
    `select min(coalesce(sent_at, 0)) as at from deliveries where status = 'unknown' and coalesce(sent_at, 0) > ?i`,
    now - limits.unknownHoldMs,
  );
  const instants = [waiting?.at, unknown?.at, typeof held?.at === 'number' ? held.at + limits.unknownHoldMs : null];
  const known = instants.filter((at): at is number => typeof at === 'number');
  return known.length === 0 ? null : Math.min(...known);
}
