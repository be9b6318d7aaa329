import type { KindChanged, KindDeed } from '../../app/ports/processes.ts';
import type { KindPause } from '../../domain/processes/process.ts';
import type { Script } from '../engine/engine.ts';
import { columns, pick } from '../engine/fields.ts';
import { raw, sql } from '../engine/sql.ts';
import { all, insertReturning, one, returning, select } from '../engine/statements.ts';
import { recordOther } from '../records/journal.ts';

/** Kinds of actions that are paused for all processes. */
export const kindPauseStore = { pauseKind, resumeKind };
export const kindPauseReads = { pausedKinds };

const fields = pick(columns.pausedKinds, 'kind', 'since', 'by');

function* pausedKinds(): Script<KindPause[]> {
  return yield* all(select(fields)`from paused_kinds order by since, kind`);
}

function* pauseKind({ kind, by, at, traceId }: KindDeed): Script<KindChanged> {
  const nobodyDid = raw('on conflict (kind) do nothing');
  const pause = yield* insertReturning('pausedKinds', { kind, since: at, by }, fields, nobodyDid);
  if (pause === undefined) {
    const known = yield* one(select(fields)`from paused_kinds where kind = ${kind}`);
    return { pause: known ?? null, entryId: null };
  }
  const deed = { at, actor: by, chatId: null, traceId };
  const entryId = yield* recordOther({ ...deed, verb: 'kind_pause', kind: 'kind.pause', after: { kind } });
  return { pause, entryId };
}

function* resumeKind({ kind, by, at, traceId }: KindDeed): Script<KindChanged> {
  const paused = yield* one(returning(fields, sql`delete from paused_kinds where kind = ${kind}`));
  if (paused === undefined) return { pause: null, entryId: null };
  const before = { kind, since: paused.since, by: paused.by };
  const deed = { at, actor: by, chatId: null, traceId };
  const entryId = yield* recordOther({ ...deed, verb: 'kind_resume', kind: 'kind.resume', before });
  return { pause: null, entryId };
}
