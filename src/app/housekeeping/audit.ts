import { checks, type CheckName, type Finding } from '../../domain/audit.ts';
import { isAway } from '../../domain/errors.ts';
import * as limits from '../../domain/limits.ts';
import { isDelay, isSlot, nextSlots } from '../../domain/schedule/schedule.ts';
import { DAY_MS, iso } from '../../domain/schedule/time/calendar.ts';
import { memo } from '../operations/recent.ts';
import { policyFor } from '../pipeline/run-requests.ts';
import { slotFromNow } from '../pipeline/slot-plans.ts';
import type { World } from '../ports/outside.ts';
import type { Counts, DueTask } from '../ports/pipeline.ts';
import type { TaskStore } from '../ports/tasks.ts';
import { auditedTables, type HousekeepingStore, type MissingSlot, type UpkeepStore } from '../ports/upkeep.ts';
import { inSteps, type Chore } from './chore.ts';
import { differenceSentence, standingDifferences } from './slot-review.ts';

export interface AuditReport {
  readonly at: number;
  readonly findings: readonly Finding[];
  readonly checked: Seen['checked'];
}

/**
 * Looks for states that must never occur. It reports and never repairs, because nobody looks into a fault that mends itself in
 * the night; `reconcile` is said by hand.
 */
export interface Audit {
  /** The audit of the night, which looks farther back than anybody would wait for. */
  readonly chore: Chore;
  /** Looks now; all who ask while a look is under way are told what that one sees. */
  run(): Promise<AuditReport>;
  /** Looks as far back as the night and tells nobody: for `reconcile`. */
  look(): Promise<Seen>;
}

/** The sight of a whole look: more than its findings show. */
export interface Seen {
  readonly findings: readonly Finding[];
  /** Rows looked at, by table, and tasks whose slots were computed again. */
  readonly checked: Readonly<Record<string, number>>;
  readonly faults: readonly { readonly check: CheckName; readonly id: string }[];
  readonly missing: readonly Missing[];
}

interface AuditDeps extends Pick<World, 'clock' | 'stopwatch' | 'timer' | 'log'> {
  readonly store: Pick<
    HousekeepingStore,
    'auditPage' | 'sampleTasks' | 'pageOfActive' | 'standingTask' | 'slotAccount' | 'tellFindings'
  > &
    Pick<UpkeepStore, 'readNote' | 'writeNote'> &
    Pick<TaskStore, 'readTask'>;
  readonly bootId: string;
  /** The scheduler has more to do than it could take: what is late then is on its way, and no finding. */
  readonly schedulerBehind: () => boolean;
}

const afterRetentionMs = 20 * 60_000;

export function createAudit(deps: AuditDeps): Audit {
  const look = async (rowsMax: number): Promise<Seen> => {
    const steps = auditSteps(deps, rowsMax);
    for (;;) {
      const step = await steps.next();
      if (step.done === true) return step.value;
      await deps.timer.yield();
    }
  };
  const night = async function* () {
    await tell(deps, yield* auditSteps(deps, limits.auditRowsMax));
  };
  return {
    chore: { name: 'audit', when: { nightly: afterRetentionMs }, step: inSteps(night) },
    look: () => look(limits.auditRowsMax),
    run: memo(deps.stopwatch, 0, async () => tell(deps, await look(limits.auditRowsNowMax))),
  };
}

/** The note with the last report. */
const auditNote = 'audit';

async function tell({ store, clock, log }: AuditDeps, { findings, checked }: Seen): Promise<AuditReport> {
  const at = clock.now();
  for (const { check, count, examples, sentence } of findings)
    log.warn('audit_finding', { check, count, examples, sentence });
  log.info('audit', { findings: findings.length, checked });
  await store.tellFindings(findings, at);
  await store.writeNote(auditNote, JSON.stringify({ at: iso(at), findings, checked }), at);
  return { at, findings, checked };
}

/** The last report, as far as others need it. */
export interface AuditFound {
  readonly at: number;
  readonly findings: readonly Pick<Finding, 'check' | 'count'>[];
}

/** A report that another version wrote, and this one cannot read, is as good as none. */
export async function lastAudit(store: Pick<UpkeepStore, 'readNote'>): Promise<AuditFound | null> {
  const text = await store.readNote(auditNote);
  try {
    const note = JSON.parse(text ?? '') as { readonly at: string; readonly findings: AuditFound['findings'] };
    const at = Date.parse(note.at);
    return Number.isNaN(at) || !Array.isArray(note.findings) ? null : { at, findings: note.findings };
  } catch {
    return null;
  }
}

/** One look over the tables, newest rows first, and over a sample of tasks. Each `yield` is the end of a page. */
async function* auditSteps(deps: AuditDeps, rowsMax: number): AsyncGenerator<number, Seen> {
  const { store, bootId, clock } = deps;
  const now = clock.now();
  const tally = createTally(deps);
  for (const table of auditedTables) {
    let [below, rows]: [string | null, number] = [null, 0];
    do {
      const page = await store.auditPage({ table, below, limit: limits.auditPageMax, now, bootId });
      for (const { check, ids } of page.found) tally.find(check, ids);
      tally.look(table, page.seen);
      [below, rows] = [page.next, rows + page.seen];
      yield page.seen;
    } while (below !== null && rows < rowsMax);
  }
  for await (const page of nextSlotsOf(deps)) {
    tally.look('next_slots', page.seen);
    tally.find('next_slot_drifted', page.drifted);
    yield page.seen;
  }
  const missing: Missing[] = [];
  for await (const page of missingSlots(store, now)) {
    tally.look('slots', page.tasks);
    tally.find('slot_unaccounted', page.missing.map(slotName));
    missing.push(...page.missing.slice(0, limits.reconcileMax - missing.length));
    yield 1;
  }
  for (const difference of await standingDifferences(store, now))
    tally.find('slots_differ', [difference.taskId], differenceSentence(difference));
  return { ...tally.seen(), missing };
}

const lateChecks: ReadonlySet<CheckName> = new Set(['slot_overdue', 'question_overdue', 'pause_overdue']);

function createTally({ schedulerBehind }: Pick<AuditDeps, 'schedulerBehind'>) {
  const checked: Record<string, number> = {};
  const found = new Map<CheckName, { count: number; readonly ids: string[]; readonly sentences: string[] }>();
  return {
    look: (what: string, count: number) => {
      checked[what] = (checked[what] ?? 0) + count;
    },
    find: (check: CheckName, ids: readonly string[], sentence?: string) => {
      // Asked at the moment of the look: what was late a second ago may be taken up by now.
      if (ids.length === 0 || (lateChecks.has(check) && schedulerBehind())) return;
      const known = found.get(check) ?? { count: 0, ids: [], sentences: [checks[check].sentence] };
      known.count += ids.length;
      known.ids.push(...ids.slice(0, limits.reconcileMax - known.ids.length));
      if (sentence !== undefined && known.count <= limits.auditExamplesMax) known.sentences.push(sentence);
      found.set(check, known);
    },
    seen: (): Pick<Seen, 'findings' | 'checked' | 'faults'> => ({
      findings: [...found]
        .map(([check, { count, ids, sentences }]) => {
          return { check, count, examples: ids.slice(0, limits.auditExamplesMax), sentence: sentences.join(' ') };
        })
        .sort((a, b) => (a.check < b.check ? -1 : 1)),
      checked,
      faults: [...found].flatMap(([check, { ids }]) => ids.map((id) => ({ check, id }))),
    }),
  };
}

export function slotName({ taskId, slotAt }: Missing): string {
  return `${taskId}@${iso(slotAt)}`;
}

/* ---- slots, computed again ---- */

/** A slot for which nothing stands: no row, no gap. */
type Missing = Pick<MissingSlot, 'taskId' | 'slotAt'>;

interface AccountPage {
  /** Tasks whose slots have been begun. */
  readonly tasks: number;
  readonly missing: readonly Missing[];
}

type AccountStore = Pick<HousekeepingStore, 'sampleTasks' | 'pageOfActive' | 'standingTask' | 'slotAccount'>;

/** Multiples of it spread evenly over a stretch, however many there are of them. */
const goldenRatio = (Math.sqrt(5) - 1) / 2;

/**
 * The slots of the last day of some tasks, computed again and compared. Each day has its part of the tasks, so whoever looks
 * twice on one day sees the same.
 */
async function* missingSlots(store: AccountStore, now: number): AsyncGenerator<AccountPage, void> {
  const part = (Math.floor(now / DAY_MS) * goldenRatio) % 1;
  const from = now - limits.slotSampleWindowMs;
  const window = { from, through: now - limits.overdueMs, untouchedSince: from };
  let slots = 0;
  for (const taskId of await store.sampleTasks({ part, now, limit: limits.slotSampleMax })) {
    if (slots >= limits.slotSampleSlotsMax) return;
    const task = await store.standingTask(taskId, window.from);
    // A row that cannot be read is the scheduler's to report.
    if (task === null || 'unreadable' in task) continue;
    yield { tasks: 1, missing: [] };
    for await (const { seen, lost } of accountOf(store, task, window)) {
      slots += seen;
      yield { tasks: 0, missing: lost.map((slotAt) => ({ taskId, slotAt })) };
    }
  }
}

interface Window {
  readonly from: number;
  readonly through: number;
  readonly untouchedSince: number;
}

/** Slots that were computed again, and those of them for which nothing stands. */
interface Account {
  readonly seen: number;
  readonly lost: readonly number[];
}

/**
 * A page at a time, so that a task with thousands of slots does not hold up the loop. Whatever lies before the next slot of a
 * task must have been decided.
 */
async function* accountOf(store: AccountStore, task: DueTask, window: Window): AsyncGenerator<Account, void> {
  const end = Math.min(window.through, task.nextAt - 1);
  for (let { from } = window; from < end;) {
    const slots = slotsOf(task, { from, through: end });
    const through = slots.length < limits.slotAccountPage ? end : (slots.at(-1) ?? end);
    if (slots.length === 0) return;
    const account = await store.slotAccount({ taskId: task.id, untouchedSince: window.untouchedSince, from, through });
    // A task that was changed a moment ago does not tell any more what its slots were.
    if (account === null) return;
    const known = new Set(account.slots);
    const inGap = (slot: number) => account.gaps.some(({ fromAt, toAt }) => fromAt <= slot && slot <= toAt);
    yield { seen: slots.length, lost: slots.filter((slot) => !known.has(slot) && !inGap(slot)) };
    from = through;
  }
}

/** A schedule that cannot be computed is the scheduler's to report. */
function slotsOf(task: DueTask, { from, through }: Pick<Window, 'from' | 'through'>): number[] {
  try {
    const bounds = policyFor(task);
    return nextSlots(task.schedule, from, { count: limits.slotAccountPage, upTo: through, bounds });
  } catch {
    return [];
  }
}

/* ---- the next slot, computed again ---- */

/** The next slots of all active tasks, oldest task first: whatever else is wrong, this one decides whether a task ever runs. */
async function* nextSlotsOf({ store, clock }: Pick<AuditDeps, 'store' | 'clock'>) {
  for (let after = ''; ;) {
    const began = clock.now();
    const page = await store.pageOfActive(after, { now: began, limit: limits.auditPageMax });
    const drifted: string[] = [];
    for (const task of page)
      if (!('unreadable' in task) && (await isDrifted(store, task, { began, now: clock.now() }))) drifted.push(task.id);
    yield { seen: page.length, drifted };
    const last = page.at(-1);
    if (last === undefined || page.length < limits.auditPageMax) return;
    after = last.id;
  }
}

/**
 * A slot that is due is the scheduler's to take. One that lies ahead may be a later one than the first where those before it
 * have their rows, because the clock went back behind them. Whoever changes the task while it is looked at is not contradicted.
 */
async function isDrifted(
  store: AccountStore,
  task: DueTask,
  { began: untouchedSince, now }: { readonly began: number; readonly now: number },
): Promise<boolean> {
  const { id: taskId, schedule, nextAt } = task;
  if (nextAt <= now || !mayDrift(task, now)) return false;
  if (isDelay(schedule) || !isSlot(schedule, nextAt, policyFor(task)))
    return (await store.slotAccount({ taskId, untouchedSince, from: now, through: now })) !== null;
  for await (const { lost } of accountOf(store, task, { from: now, through: nextAt, untouchedSince }))
    if (lost.length > 0) return true;
  return false;
}

/** A schedule that cannot be computed is the scheduler's to report. */
function mayDrift(task: DueTask, now: number): boolean {
  try {
    return slotFromNow(task, now) !== task.nextAt;
  } catch {
    return false;
  }
}

/* ---- whether the scheduler is behind ---- */

interface Stepping {
  step(now: number, limit: number): Promise<Counts>;
}

/**
 * Tells whether the last of these steps has left something undone. True until the first has ended; a loop whose steps fail is
 * not working anything off, and so not behind.
 */
export function watchSteps<S extends Stepping>(steps: S) {
  let behind = true;
  let fault: unknown = null;
  const step: S['step'] = async (now, limit) => {
    try {
      const counts = await steps.step(now, limit);
      behind = counts.more;
      fault = null;
      return counts;
    } catch (error) {
      behind = false;
      fault = error;
      throw error;
    }
  };
  const watched: S = { ...steps, step };
  /** `away`: why the last one failed for want of the database; null when it did not. */
  return { watched, behind: () => behind, away: () => (isAway(fault) ? fault.message : null) };
}
