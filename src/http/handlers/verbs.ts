import type { PartsOf } from '../../api/operations.ts';
import { wire } from '../../api/wire.ts';
import type { MissedAnswer } from '../../app/ports/questions.ts';
import type { Changed, Whose } from '../../app/ports/tasks.ts';
import type { Chosen } from '../../app/tasks/bulk.ts';
import { actorNamed } from '../../domain/access.ts';
import { AppError } from '../../domain/errors.ts';
import { iso } from '../../domain/schedule/time/calendar.ts';
import { durationMs } from '../../domain/schedule/time/duration.ts';
import { parseThreadKey } from '../../domain/thread.ts';
import type { Handlers, HttpRooms } from '../serving.ts';
import { byOf, instantOf, targetOf, threadOf, wireAsked, wireTask } from './wire.ts';

/** Verbs on a task, and on all tasks of a thread, a subject or a tag. */
export const verbHandlers = {
  runTaskNow: async (asked, rooms) => {
    const { task, taskRun } = await rooms.tasks.runNow(targetOf(asked, rooms));
    return { task: wireTask(task, rooms), ...(await wireAsked(task, taskRun, rooms)) };
  },
  cancelTask: async (asked, rooms) => told(await rooms.tasks.cancel(targetOf(asked, rooms)), rooms),
  answerTask: async (asked, rooms) =>
    told(await rooms.tasks.answer(targetOf(asked, rooms), choiceOf(asked.body)), rooms),
  pauseTask: async (asked, rooms) =>
    told(await rooms.tasks.pause(targetOf(asked, rooms), instantOf(asked.body?.until)), rooms),
  resumeTask: async (asked, rooms) => told(await rooms.tasks.resume(targetOf(asked, rooms)), rooms),
  skipTask: async (asked, rooms) => {
    const { count, from } = asked.body;
    return told(await rooms.tasks.skip(targetOf(asked, rooms), { count, from: instantOf(from) }), rooms);
  },
  unskipTask: async (asked, rooms) => told(await rooms.tasks.unskip(targetOf(asked, rooms)), rooms),
  snoozeTask: async (asked, rooms) => {
    const of = asked.body.task_run_id ?? null;
    const changed = await rooms.tasks.snooze(targetOf(asked, rooms), endOf(asked.body), of);
    const { until, movedFrom } = changed;
    return { ...told(changed, rooms), until: iso(until), moved_from: movedFrom === null ? null : iso(movedFrom) };
  },
  restoreTask: async (asked, rooms) => told(await rooms.tasks.restore(targetOf(asked, rooms)), rooms),
  undoTask: async (asked, rooms) => {
    const changed = await rooms.tasks.undo(targetOf(asked, rooms), asked.body.entry_id ?? null);
    const { id, verb, at } = changed.undone;
    return { ...told(changed, rooms), undone: { entry_id: id, verb, at: iso(at) } };
  },
  attachTask: async (asked, rooms) =>
    told(await rooms.tasks.attach(targetOf(asked, rooms), asked.body.thread_key), rooms),

  purgeThread: (asked, rooms) => purge({ thread: parseThreadKey(asked.params.thread_key) }, asked, rooms),
  purgePerson: (asked, rooms) => {
    const thread = threadOf(asked.query.thread_key);
    return purge({ thread, ownerId: actorNamed('actor', asked.params.actor) }, asked, rooms);
  },
  pauseThread: (asked, rooms) =>
    rooms.bulk.pause(chosenBy(asked.params), byOf(asked, rooms), instantOf(asked.body?.until)),
  resumeThread: (asked, rooms) => rooms.bulk.resume(chosenBy(asked.params), byOf(asked, rooms)),
  cancelThread: async (asked, rooms) => {
    const { thread_key: key } = asked.params;
    const { cancelled: runs, left } = await rooms.runs.cancelThread(key, byOf(asked, rooms));
    return { thread_key: key, cancelled: runs > 0, runs, left };
  },

  pauseTasks: (asked, rooms) =>
    rooms.bulk.pause(
      chosenBy(asked.body),
      { ...byOf(asked, rooms), isDry: isDryRun(asked) },
      instantOf(asked.body.until),
    ),
  resumeTasks: (asked, rooms) =>
    rooms.bulk.resume(chosenBy(asked.body), { ...byOf(asked, rooms), isDry: isDryRun(asked) }),
  cancelTasks: (asked, rooms) =>
    rooms.bulk.cancel(chosenBy(asked.body), { ...byOf(asked, rooms), isDry: isDryRun(asked) }),
} satisfies Partial<Handlers>;

type PurgeAsked = Parameters<typeof isDryRun>[0] & Parameters<typeof byOf>[0];

async function purge(whose: Whose, asked: PurgeAsked, rooms: HttpRooms) {
  const isDry = isDryRun(asked);
  const counts = isDry ? await rooms.bulk.count(whose) : (await rooms.bulk.purge(whose, byOf(asked, rooms))).counts;
  const tasks = counts.active + counts.paused + counts.completed;
  return { deleted: !isDry, counts: { tasks, ...wire(counts) } };
}

function told({ task, entryId }: Changed, rooms: Pick<HttpRooms, 'clock'>) {
  return { task: wireTask(task, rooms), entry_id: entryId };
}

function choiceOf(body: PartsOf<'answerTask'>['read']['body']): MissedAnswer {
  if ('answer' in body) return body.answer;
  return body.run ? 'all' : 'none';
}

function endOf(body: PartsOf<'snoozeTask'>['read']['body']) {
  if (body.until !== undefined) return Date.parse(body.until);
  try {
    return { forMs: durationMs(body.for ?? '') };
  } catch {
    throw new AppError('invalid_request', 'for: a snooze lasts for a duration such as PT10M, PT2H or P1D.', {
      details: { field: 'for' },
    });
  }
}

function isDryRun({ query }: { readonly query: { readonly dry_run: 'true' | 'false' } }): boolean {
  return query.dry_run === 'true';
}

function chosenBy({ subject, tag, thread_key: key }: PartsOf<'resumeTasks'>['read']['body']): Chosen {
  return { thread: threadOf(key), subject: subject ?? null, tag: tag ?? null };
}
