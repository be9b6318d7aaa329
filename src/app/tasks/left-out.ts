import type { Page } from '../ports/page.ts';
import type { TaskRun, TaskRunQuery } from '../ports/runs.ts';

/** As many as one word can skip, so that the nearest are among them. */
const lookedAt = 100;

/** The runs ahead that a person has skipped, earliest first. Those that lie farthest ahead are the newest rows. */
export async function leftOutAhead(
  list: (query: TaskRunQuery) => Promise<Page<TaskRun>>,
  taskId: string,
  now: number,
): Promise<readonly number[]> {
  const { items } = await list({ taskId, status: 'skipped', limit: lookedAt, cursor: null });
  return items
    .filter(({ slotAt, reason }) => slotAt > now && reason === 'skip')
    .map(({ slotAt }) => slotAt)
    .toSorted((a, b) => a - b);
}
