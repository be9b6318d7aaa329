import { checks, type CheckName, type Finding } from '../../domain/audit.ts';
import * as limits from '../../domain/limits.ts';
import { missingKeptMs } from '../../domain/limits.ts';
import type { TaskStore } from '../ports/tasks.ts';
import type { AuditedTable, HousekeepingStore, UpkeepStore } from '../ports/upkeep.ts';
import { differenceSentence, standingDifferences } from './slot-review.ts';
import { slotSample, type Missing } from './slot-sample.ts';

/** What a whole walk has seen; more of it than its findings show, for whoever mends it. */
export interface Seen extends Told {
  readonly findings: readonly Finding[];
  /** Rows looked at, by table, and tasks whose slots were computed again. */
  readonly checked: Readonly<Record<string, number>>;
}

export interface AuditWalk {
  /** Looks at one page; null while there is more to see. */
  step(): Promise<Seen | null>;
}

export interface WalkNeeds {
  readonly store: Pick<HousekeepingStore, 'auditPage' | 'sampleTasks' | 'slotAccount'> &
    Pick<UpkeepStore, 'readNote' | 'writeNote'> &
    Pick<TaskStore, 'readTask'>;
  readonly bootId: string;
  /** The scheduler has more to do than it could take: what is late then is on its way, and no finding. */
  readonly schedulerBehind: () => boolean;
}

const tables: readonly AuditedTable[] = ['tasks', 'occurrences', 'runs', 'deliveries'];
const lateChecks: ReadonlySet<CheckName> = new Set(['slot_overdue', 'question_overdue', 'pause_overdue']);

interface WalkLimits {
  readonly now: number;
  /** Rows of each table. */
  readonly rowsMax: number;
}

/**
 * One walk over the tables, newest rows first, over a sample of tasks, and over what the walks before have told of: the
 * one of the night sees farther than others, and each looks at another part of the tasks, but what was told once is told
 * until it is mended.
 */
export function auditWalk(needs: WalkNeeds, { now, rowsMax }: WalkLimits): AuditWalk {
  const tallies = createTallies(needs);
  const stages = [
    ...tables.map((table) => tableWalk(needs, tallies, { table, now, rowsMax })),
    slotWalk(needs, tallies, now),
    differenceWalk(needs, tallies, now),
    memoryWalk(needs, tallies, now),
  ];
  return {
    step: async () => {
      if ((await stages[0]?.()) === true) stages.shift();
      return stages.length === 0 ? tallies.seen() : null;
    },
  };
}

/** Looks at one page, and answers whether it was the last one. */
type Stage = () => Promise<boolean>;

interface Page {
  readonly table: AuditedTable;
  readonly now: number;
}

function tableWalk({ store, bootId }: WalkNeeds, tallies: Tallies, { table, now, rowsMax }: Page & WalkLimits): Stage {
  let below: string | null = null;
  let rows = 0;
  return async () => {
    const page = await store.auditPage({ table, below, limit: limits.auditPageMax, now, bootId });
    rows += page.seen;
    tallies.look(table, page.seen);
    for (const { check, ids } of page.found) tallies.find(check, table, ids);
    below = page.next;
    return below === null || rows >= rowsMax;
  };
}

function slotWalk({ store }: WalkNeeds, tallies: Tallies, now: number): Stage {
  const window = { from: now - limits.slotSampleWindowMs, through: now - limits.overdueMs };
  const sample = slotSample({ store }, window, now);
  return async () => {
    const page = await sample.step();
    if (page === null) return true;
    tallies.look('slots', page.tasks);
    tallies.miss(page.missing);
    return false;
  };
}

/** What the review of the slots has seen, with both answers. */
function differenceWalk({ store }: WalkNeeds, tallies: Tallies, now: number): Stage {
  return async () => {
    for (const difference of await standingDifferences(store, now)) {
      tallies.find('slots_differ', 'tasks', [difference.taskId]);
      tallies.say('slots_differ', differenceSentence(difference));
    }
    return true;
  };
}

function memoryWalk({ store, bootId }: WalkNeeds, tallies: Tallies, now: number): Stage {
  let left: { readonly faults: Fault[]; readonly missing: Missing[] } | null = null;

  const lookAgain = async ({ check, table, id }: Fault) => {
    // A page of one row: what stands at this id, or would stand there if it were not missing.
    const page = await store.auditPage({ table, below: `${id}0`, limit: 1, now, bootId });
    if (page.found.some((found) => found.check === check && found.ids.includes(id))) tallies.find(check, table, [id]);
  };

  const countAgain = async ({ taskId, slotAt }: Missing) => {
    const before = slotAt - 1;
    const account = await store.slotAccount({ taskId, untouchedSince: before, from: before, through: slotAt });
    if (account?.slots.length === 0 && account.gaps.length === 0) tallies.miss([{ taskId, slotAt }]);
  };

  return async () => {
    if (left === null) {
      const told = await recall(store, now);
      left = { faults: [...told.faults], missing: [...told.missing] };
    }
    const [fault] = left.faults;
    const [missing] = left.missing;
    if (fault !== undefined) {
      if (!tallies.hasFault(fault)) await lookAgain(fault);
      left.faults.shift();
    } else if (missing !== undefined) {
      if (!tallies.hasMissing(missing)) await countAgain(missing);
      left.missing.shift();
    }
    return left.faults.length === 0 && left.missing.length === 0;
  };
}

interface Tallies {
  look(what: string, count: number): void;
  find(check: CheckName, table: AuditedTable, ids: readonly string[]): void;
  /** More about what was found. */
  say(check: CheckName, sentence: string): void;
  miss(missing: readonly Missing[]): void;
  /** It stands in here, or so many like it that nobody knows. */
  hasFault(fault: Fault): boolean;
  hasMissing(missing: Missing): boolean;
  seen(): Seen;
}

interface Tally {
  count: number;
  readonly ids: string[];
  readonly sentences: string[];
  readonly table: AuditedTable;
}

function createTallies({ schedulerBehind }: WalkNeeds): Tallies {
  const checked: Record<string, number> = {};
  const tallies = new Map<CheckName, Tally>();
  const missing: Missing[] = [];

  const count = (check: CheckName, table: AuditedTable, ids: readonly string[]) => {
    const tally = tallies.get(check) ?? { count: 0, ids: [], sentences: [], table };
    tally.count += ids.length;
    tally.ids.push(...ids.slice(0, limits.reconcileMax - tally.ids.length));
    tallies.set(check, tally);
  };
  const has = (check: CheckName, id: string) => {
    const ids = tallies.get(check)?.ids ?? [];
    return ids.length >= limits.reconcileMax || ids.includes(id);
  };

  return {
    look: (what, number) => {
      checked[what] = (checked[what] ?? 0) + number;
    },
    find: (check, table, ids) => {
      // Asked at the moment of the look: what was late a second ago may be taken up by now.
      if (!lateChecks.has(check) || !schedulerBehind()) count(check, table, ids);
    },
    say: (check, sentence) => tallies.get(check)?.sentences.push(sentence),
    miss: (more) => {
      missing.push(...more.slice(0, limits.reconcileMax - missing.length));
      if (more.length > 0) count('slot_unaccounted', 'tasks', more.map(slotName));
    },
    hasFault: ({ check, id }) => has(check, id),
    hasMissing: (one) => has('slot_unaccounted', slotName(one)),
    seen: () => seenBy(tallies, checked, missing),
  };
}

export function slotName({ taskId, slotAt }: Missing): string {
  return `${taskId}@${new Date(slotAt).toISOString()}`;
}

function seenBy(tallies: ReadonlyMap<CheckName, Tally>, checked: Seen['checked'], missing: readonly Missing[]): Seen {
  const found = [...tallies].filter(([, tally]) => tally.count > 0).sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    findings: found.map(([check, { count, ids, sentences }]) => ({
      check,
      count,
      examples: ids.slice(0, limits.auditExamplesMax),
      sentence: [checks[check].sentence, ...sentences.slice(0, limits.auditExamplesMax)].join(' '),
    })),
    checked,
    faults: found
      .filter(([check]) => check !== 'slot_unaccounted')
      .flatMap(([check, { ids, table }]) => ids.map((id) => ({ check, table, id }))),
    missing,
  };
}

/** A row that a check of its table has found. */
interface Fault {
  readonly check: CheckName;
  readonly table: AuditedTable;
  readonly id: string;
}

interface Told {
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
async function recall(store: Pick<UpkeepStore, 'readNote'>, now: number): Promise<Told> {
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
