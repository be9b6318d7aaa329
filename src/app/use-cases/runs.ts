import type { Actor } from '../../domain/access.ts';
import { AppError, missing } from '../../domain/errors.ts';
import { cancelBatchMax, runLooksMax } from '../../domain/limits.ts';
import { liveStatuses } from '../../domain/run.ts';
import { parseThreadKey } from '../../domain/thread.ts';
import type { BlobStore, FileRef } from '../ports/blobs.ts';
import type { Timer, World } from '../ports/outside.ts';
import type { RunQuery, RunView, Page } from '../ports/runs.ts';
import type { TaskStore } from '../ports/tasks.ts';

interface By {
  readonly actor: Actor;
  readonly traceId?: string | null | undefined;
}

interface CalledOff {
  readonly cancelled: number;
  /** Runs that ended by themselves before they could be called off. */
  readonly left: number;
}

type RunsDeps = Pick<World, 'clock' | 'timer' | 'bell'> & {
  readonly store: Pick<TaskStore, 'listRuns' | 'readRun' | 'broughtBack' | 'liveRunsOf' | 'cancelRuns'>;
  readonly blobs: Pick<BlobStore, 'openBlob'>;
};

/** Runs of the present and the past, whatever asked for them. */
export type Runs = ReturnType<typeof createRuns>;

export function createRuns(deps: RunsDeps) {
  return {
    list: list.bind(null, deps),
    result: result.bind(null, deps),
    attachment: attachment.bind(null, deps),
    cancelThread: cancelThread.bind(null, deps),
  };
}

/** How a run has ended; one that lives is refused with its status. */
async function result({ store }: RunsDeps, runId: string): Promise<RunView> {
  const run = await store.readRun(runId);
  if (run === null) throw missing('run');
  if (!liveStatuses.includes(run.status)) return { ...run, output: await envelopeOf(store, run) };
  const details = { run_id: runId, status: 'running', state: run.status };
  throw new AppError('not_finished', 'This run has not ended yet. Ask again later, or cancel it.', { details });
}

/** The same for every kind of action: what it lacks is null, or an empty list. */
async function envelopeOf({ broughtBack }: RunsDeps['store'], { id, output }: RunView): Promise<RunView['output']> {
  if (output === null) return null;
  const usage = (await broughtBack(id))?.usage ?? [];
  return { type: null, text: null, data: null, attachments: [], ...output, usage };
}

/** A file on its way out. */
export interface Attachment extends Pick<FileRef, 'name' | 'mime' | 'size'> {
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** The file of a result that stands there as the first, the second and so on. */
async function attachment({ store, blobs }: RunsDeps, runId: string, n: number): Promise<Attachment> {
  const run = await store.broughtBack(runId);
  if (run === null) throw missing('run');
  const files = filesIn(run.output);
  const file = files[n - 1];
  if (file === undefined) throw noFile(countWords(files.length));
  if (file.file_id !== undefined) throw noFile('Telegram keeps this one, under its file_id.');
  if (file.missing !== undefined) throw noFile(`This one was not kept: ${file.missing}.`);
  const chunks = await blobs.openBlob(run.chatId ?? '', file.sha256);
  if (chunks === null) throw noFile('The bytes of this one are not kept any more.');
  return { name: file.name, mime: file.mime, size: file.size, chunks };
}

type KeptFile = FileRef & { readonly file_id?: string; readonly missing?: string };

function filesIn(output: RunView['output']): readonly KeptFile[] {
  const files = output?.['attachments'];
  return Array.isArray(files) ? (files as readonly KeptFile[]) : [];
}

function countWords(count: number): string {
  if (count === 0) return 'This run has brought no files.';
  return count === 1
    ? 'This run has brought one file: ask for 1.'
    : `This run has brought ${count} files: ask for 1 to ${count}.`;
}

function noFile(why: string): AppError {
  return new AppError('not_found', why);
}

function list({ store, timer }: RunsDeps, query: RunQuery): Promise<Page<RunView>> {
  return filled(timer, query, { most: runLooksMax, look: (part) => store.listRuns(part) });
}

interface Looks<Q, T> {
  readonly look: (query: Q) => Promise<Page<T>>;
  /** Looks that one page may take; a search through a large table ends there, and hands its cursor on. */
  readonly most: number;
}

/** One look of the store may find less than a page; several are worth a request, and others have their turn between. */
export async function filled<T, Q extends Pick<RunQuery, 'limit' | 'cursor'>>(
  timer: Timer,
  query: Q,
  { look, most }: Looks<Q, T>,
): Promise<Page<T>> {
  const items: T[] = [];
  let { cursor } = query;
  for (let looks = 1; ; looks += 1) {
    const page = await look({ ...query, cursor, limit: query.limit - items.length });
    items.push(...page.items);
    cursor = page.next;
    if (cursor === null || items.length >= query.limit || looks >= most) return { items, next: cursor };
    await timer.yield();
  }
}

/** Calls off whatever the thread has under way: what its tasks run, and messages that wait. */
async function cancelThread({ store, clock, timer, bell }: RunsDeps, threadKey: string, by: By): Promise<CalledOff> {
  const thread = parseThreadKey(threadKey);
  let [cancelled, left] = [0, 0];
  for (;;) {
    const runIds = await store.liveRunsOf(thread, cancelBatchMax);
    if (runIds.length === 0) break;
    const stopped = await store.cancelRuns({ runIds, ...by, at: clock.now() });
    cancelled += stopped;
    left += runIds.length - stopped;
    if (runIds.length < cancelBatchMax) break;
    await timer.yield();
  }
  // Runs that waited behind them have their turn, and those that run are told by their runner.
  if (cancelled > 0) for (const loop of ['runner', 'scheduler', 'deliverer'] as const) bell.ring(loop);
  return { cancelled, left };
}
