import fc from 'fast-check';
import type { Opinion, SlotQuestion } from '../../../src/app/housekeeping/second-opinion.ts';
import { createSlotReview } from '../../../src/app/housekeeping/slot-review.ts';
import type { Finding } from '../../../src/domain/audit.ts';
import { nextSlot, parseSchedule, type Schedule } from '../../../src/domain/schedule/schedule.ts';
import type { ScheduleKind } from '../../../src/domain/schedule/shapes.ts';
import type { Task } from '../../../src/domain/task.ts';
import { answerTo } from '../../../src/system/second-opinion/answer.ts';
import { manualTime, memoryLog } from '../../support/fakes.ts';
import { askedOf, type Asked } from './schedules.ts';

export interface Agreement {
  /** How often each result came. */
  readonly results: Readonly<Record<string, number>>;
  readonly findings: readonly Pick<Finding, 'check' | 'count'>[];
  readonly differences: readonly string[];
}

/** Draws schedules of one kind and reviews each of them, as the product does after a creation. */
export async function reviewRandom(kind: ScheduleKind, runs: number, seed: number): Promise<Agreement> {
  const results: Record<string, number> = {};
  const findings: Agreement['findings'][number][] = [];
  const differences: string[] = [];
  const add = (result: string) => {
    results[result] = (results[result] ?? 0) + 1;
  };
  for (const asked of fc.sample(askedOf(kind), { numRuns: runs, seed })) {
    const schedule = readable(asked);
    if (schedule === null) continue;
    const found = await review(schedule, asked.now, add);
    findings.push(...found);
    if (found.length > 0) differences.push(`${new Date(asked.now).toISOString()} ${JSON.stringify(schedule)}`);
  }
  return { results, findings, differences };
}

/** Null for what creation would refuse. */
function readable({ input, now }: Asked): Schedule | null {
  try {
    const schedule = parseSchedule(input, now);
    return nextSlot(schedule, now) === null ? null : schedule;
  } catch {
    return null;
  }
}

/** The calculation of the child, in this process. */
const opinion = { slotsOf: (question: SlotQuestion): Promise<Opinion> => Promise.resolve(answerTo(question)) };

async function review(schedule: Schedule, now: number, add: (result: string) => void): Promise<Agreement['findings']> {
  const findings: Agreement['findings'][number][] = [];
  const time = manualTime(now);
  const task = {
    id: 'task',
    number: 1,
    title: 'Task',
    state: 'active',
    schedule,
    policies: {},
    action: { kind: 'message' },
  };
  const notes = new Map<string, string>();
  const reviewing = createSlotReview({
    store: {
      readTask: () => Promise.resolve({ ...task, minGapMs: null, pausedReason: null } as unknown as Task),
      listTasks: () => Promise.resolve({ items: [], next: null }),
      readNote: (key) => Promise.resolve(notes.get(key) ?? null),
      writeNote: (key, value) => Promise.resolve(void notes.set(key, value)),
      tellFindings: (told) => Promise.resolve(void findings.push(...told)),
    },
    opinion,
    clock: time,
    timer: time,
    bell: { ring: () => undefined },
    meter: { count: (_name, labels) => add(String(Object.values(labels).at(-1))), took: () => undefined },
    log: memoryLog(),
  });
  reviewing.look('task');
  await reviewing.chores[0].step(now, 100);
  return findings;
}
