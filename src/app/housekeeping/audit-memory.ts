import { checks, type CheckName } from '../../domain/audit.ts';
import { missingKeptMs } from '../../domain/limits.ts';
import type { UpkeepStore } from '../ports/pipeline.ts';
import type { Missing } from './slot-sample.ts';
import type { AuditedTable } from '../ports/upkeep.ts';

/** A row that a check of its table has found. */
export interface Fault {
  readonly check: CheckName;
  readonly table: AuditedTable;
  readonly id: string;
}

export interface Told {
  readonly faults: readonly Fault[];
  readonly missing: readonly Missing[];
}

/** What the last look has told of and can be mended; in the store, because who reads a report may do so after a restart. */
const memoryNote = 'audit:open';

interface Stored {
  readonly faults: readonly (readonly [CheckName, AuditedTable, string])[];
  readonly missing: readonly (readonly [string, number])[];
}

/** Whoever is handed it looks again at each of them: it tells only where something was wrong. */
export async function recall(store: Pick<UpkeepStore, 'readNote'>, now: number): Promise<Told> {
  const { faults, missing } = stored(await store.readNote(memoryNote));
  return {
    faults: faults.map(([check, table, id]) => ({ check, table, id })),
    missing: missing
      .map(([taskId, slotAt]) => ({ taskId, slotAt }))
      .filter(({ slotAt }) => slotAt > now - missingKeptMs),
  };
}

export async function remember(
  store: Pick<UpkeepStore, 'readNote' | 'writeNote'>,
  seen: Told,
  now: number,
): Promise<void> {
  const note: Stored = {
    faults: seen.faults.filter(({ check }) => checks[check].mended).map(({ check, table, id }) => [check, table, id]),
    missing: seen.missing.map(({ taskId, slotAt }) => [taskId, slotAt]),
  };
  const before = stored(await store.readNote(memoryNote));
  const isEmpty = note.faults.length === 0 && note.missing.length === 0;
  if (isEmpty && before.faults.length === 0 && before.missing.length === 0) return;
  await store.writeNote(memoryNote, JSON.stringify(note), now);
}

function stored(note: string | null): Stored {
  try {
    return JSON.parse(note ?? '') as Stored;
  } catch {
    return { faults: [], missing: [] };
  }
}
