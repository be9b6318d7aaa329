import { createWriteStream, existsSync, renameSync, rmSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { sizeText } from '../../domain/files/summary.ts';
import { urlOf } from '../../domain/thread.ts';
import type { AnswerOf, Asked } from '../client.ts';
import { CliFault, unusable, usage, exitCodes, interrupted, type ExitCode } from '../faults.ts';
import { sentence, shown, toned, type Column } from '../layout.ts';
import { chosenTask, paramsOf, runIdOf, shortIds, taskNames } from '../naming.ts';
import { millisecondsOf } from '../options.ts';
import { noteOf, verb, pause, type Flag, type Options, type Session, type Told } from '../session.ts';
import { durationWords, hostZone, timesIn } from '../times.ts';
import { deliverySentence, runCell, isOnItsWay, type Run } from '../views/run.ts';
import { named } from '../views/task.ts';
import { keyFlag, keyHeader } from './doing.ts';
import { listTold, pageFlags, pageOf, runText, sentWords } from './looking.ts';
import { stretchOf } from './moments.ts';

export const waitFlags = [
  { flags: '--timeout <length>', about: 'how long to wait: seconds, or 500ms, 5m, PT1M (default: 60)' },
  {
    flags: '--interval-ms <ms>',
    about: 'how often to look, 1 to 60000 (default: 500)',
    whole: { min: 1, max: 60_000 },
  },
] as const satisfies readonly Flag[];

const timeoutDefaultMs = 60_000;
/** A day; a longer wait is a mistaken unit. */
const timeoutMaxMs = 86_400_000;
const intervalDefaultMs = 500;

/** How long to wait, and how often to look meanwhile. */
type Pace = ReturnType<typeof paceOf>;

export function paceOf({ timeout, intervalMs = intervalDefaultMs }: Options<typeof waitFlags>) {
  const timeoutMs = timeout === undefined ? timeoutDefaultMs : millisecondsOf('--timeout', timeout);
  if (timeoutMs < 1 || timeoutMs > timeoutMaxMs) throw usage('--timeout is from 1 ms to a day.');
  return { timeoutMs, intervalMs };
}

interface Waited {
  readonly run: Run;
  /** The run has ended, and what it says is where it belongs, or never will be. */
  readonly isSettled: boolean;
}

const finals = new Set<Run['state']>(['succeeded', 'failed', 'cancelled']);

/** Looks at a run again and again until it has ended and its parts are delivered, or until the time is over. */
export async function waitForRun(session: Session, runId: string, { timeoutMs, intervalMs }: Pace): Promise<Waited> {
  const { client, stopwatch } = session;
  const started = stopwatch.elapsed();
  for (;;) {
    const run = await look(session, runId);
    const waitedMs = stopwatch.elapsed() - started;
    const isFinal = finals.has(run.state);
    if (isFinal && !run.deliveries.some(isOnItsWay)) return ended(session, { run, isSettled: true });
    if (waitedMs >= timeoutMs) return ended(session, { run, isSettled: false });
    session.progress(`${progressWords(run, isFinal)} ${durationWords(waitedMs)}, at ${client.place}`);
    await pause(session, Math.min(intervalMs, timeoutMs - waitedMs));
    if (session.interrupted.aborted) throw goesOn(session, runId);
  }
}

async function look(session: Session, runId: string): Promise<Run> {
  try {
    return await session.client.call('getRun', { params: { run_id: runId } });
  } catch (error) {
    if (session.interrupted.aborted) throw goesOn(session, runId);
    throw error;
  }
}

function goesOn(session: Session, runId: string): CliFault {
  session.progress('');
  return interrupted(`No longer waiting; the run continues. Look at it with:\n  cronogram run get ${runId}`);
}

function ended(session: Session, waited: Waited): Waited {
  session.progress('');
  return waited;
}

function progressWords({ state, attempts }: Run, isFinal: boolean): string {
  if (isFinal) return `${state}, being delivered`;
  return attempts.length > 1 ? `${state}, attempt ${attempts.length}` : state;
}

/** A run that has not ended in time is no success, whatever becomes of it later. */
function exitCodeOfRun({ run }: Waited): ExitCode {
  return run.status === 'succeeded' ? exitCodes.done : exitCodes.failed;
}

/** The id of the run that was asked for. */
function askedRunId({ task_run: asked }: AnswerOf<'runTaskNow'>): string {
  if (asked.run_id !== null) return asked.run_id;
  throw new CliFault(
    'no_run',
    `It was asked for, but no run has begun: it is ${asked.status}${asked.reason === null ? '' : ` (${asked.reason})`}. Look at it with:\n  cronogram task history ${asked.task_id}`,
  );
}

const runFlags = [
  { flags: '--wait', about: 'wait for its end and say what was delivered where' },
  ...waitFlags,
  keyFlag,
] as const satisfies readonly Flag[];

type RanNow = AnswerOf<'runTaskNow'>;

function paceOfWait({ isOffline }: Session, options: Options<typeof runFlags>) {
  if (options.wait !== true) {
    if (options.timeout !== undefined || options.intervalMs !== undefined)
      throw usage('--timeout and --interval-ms go with --wait.');
    return null;
  }
  if (isOffline) throw usage('--wait needs a running server: with --offline nothing runs. Leave one of the two out.');
  return paceOf(options);
}

async function askedTold(session: Session, answer: RanNow): Promise<Told> {
  const { task, task_run: asked } = answer;
  const note = session.isOffline
    ? 'It runs when the server is started.'
    : asked.run_id === null
      ? `Look at it with:\n  cronogram task history ${task.task_id}`
      : `Wait for it with:\n  cronogram run wait ${asked.run_id}`;
  return {
    json: answer,
    text: await sentence(session.terminal, startedWords(answer)),
    ...noteOf(note, topicOf(task)),
  };
}

/** A run that waits, or may not begin, is not told as one that runs. */
function startedWords({ task, task_run: { run_id: runId, status, reason }, waits_for: stands }: RanNow): string {
  const name = named(task);
  if (status === 'pending')
    return `${name} has a run that has not ended, so this run waits for its end (policy overlap).`;
  if (status === 'skipped') return `Not started: ${name} was skipped (${reason ?? 'skipped'}).`;
  if (stands !== null) {
    const since = timesIn(hostZone(), Date.parse(stands.since)).about(stands.since);
    return stands.reason === 'no_worker'
      ? `Scheduler paused since ${since}: no worker is alive. ${name} starts when one is back.`
      : `Kind ${task.action.kind} is paused since ${since}, by ${stands.by ?? 'somebody'}. ${name} starts when it is resumed.`;
  }
  return `Started ${name}:${runId === null ? '' : ` run ${runId}`} (${status}).`;
}

/** The way to the topic in which the result comes; none before the first run, and in a private chat. */
function topicOf({ delivery_target: target }: RanNow['task']): string | null {
  const { chat_id: chat, message_thread_id: topic } = target?.route ?? {};
  const url = urlOf(chat, topic);
  return url === null ? null : `The result comes in ${url}`;
}

async function waitedTold(session: Session, answer: RanNow, pace: Pace): Promise<Told> {
  const waited = await waitForRun(session, askedRunId(answer), pace);
  const json = { ...answer, run: waited.run };
  return { json, ...(await endTold(session, waited, named(answer.task))) };
}

/** How it ended, how long it took, and where it is to be read. */
export async function endTold(session: Session, waited: Waited, name: string): Promise<Omit<Told, 'json'>> {
  const { terminal } = session;
  const { run, isSettled } = waited;
  const exitCode = exitCodeOfRun(waited);
  const isOver = run.finished_at !== null;
  if (!isOver) {
    const text = `${name} has not ended in that time: it is ${run.state}.`;
    return {
      text: await sentence(terminal, text),
      note: `It is still running. Look at it with:\n  cronogram run get ${run.run_id}`,
      exitCode,
    };
  }
  const took =
    run.started_at === null || run.finished_at === null
      ? ''
      : ` in ${durationWords(Date.parse(run.finished_at) - Date.parse(run.started_at))}`;
  const { text: state, tone } = runCell(run.state);
  const why = run.error_message === null ? '.' : `: ${run.error_message}`;
  const head = await sentence(terminal, `${name} ${state}${took}${why}`);
  const delivered = run.state === 'cancelled' ? '' : await sentence(terminal, deliveryWords(run));
  const note = isSettled ? {} : { note: 'Not everything was delivered in that time; delivery continues.' };
  return {
    text: `${head.replace(` ${state}`, ` ${toned(state, tone, terminal.hasColours)}`)}${delivered}`,
    exitCode,
    ...note,
  };
}

/** A result that is delivered nowhere is told here instead. */
function deliveryWords({ deliveries, output, thread_key: thread, status }: Waited['run']): string {
  if (deliveries.length > 0) return deliverySentence(deliveries);
  const place = `Nothing is delivered to ${thread ?? 'a thread'}: it is kept in the history.`;
  const text = output?.['text'];
  return status === 'succeeded' && typeof text === 'string' ? `${place}\n${text}` : place;
}

type RunState = NonNullable<Asked<'listRuns'>['query']>['state'];
const states: readonly NonNullable<RunState>[] = [
  'live',
  'queued',
  'running',
  'backoff',
  'succeeded',
  'failed',
  'cancelled',
];

const repeats = {
  retry: 'make good a run that failed: once more, from where its task stands now',
  replay: 'do a run once more with all that it was given',
} as const;

export const runVerb = verb({
  usage: 'run <task>',
  summary: 'run a task now, beside its schedule',
  examples: ['cronogram task run 3', 'cronogram task run 3 --wait --timeout 2m'],
  flags: runFlags,
  does: async (session, [name = ''], options) => {
    const pace = paceOfWait(session, options);
    const params = await paramsOf(session, name);
    const answer = await session.client.call('runTaskNow', { params, ...keyHeader(options) });
    return pace === null ? askedTold(session, answer) : waitedTold(session, answer, pace);
  },
});

const runAbout = 'A run is named by its id, by the beginning of it, or by its task, whose newest run it is then.';

/** Writes a file as it comes, and answers its size. It is there whole or not at all, and what is there is not written over. */
async function saveFile(path: string, chunks: AsyncIterable<Uint8Array>): Promise<number> {
  if (existsSync(path)) throw usage(`${path} is there already. Name another file with --output.`);
  const made = `${path}.part`;
  let size = 0;
  const counted = async function* () {
    for await (const chunk of chunks) {
      size += chunk.byteLength;
      yield chunk;
    }
  };
  try {
    await pipeline(counted(), createWriteStream(made));
    renameSync(made, path);
    return size;
  } catch (error) {
    rmSync(made, { force: true });
    throw unusable('written', path, error);
  }
}

export const runVerbs = [
  verb({
    usage: 'list',
    summary: 'list runs, newest first',
    about: 'The runs of all threads; those of one with --thread-key.',
    examples: ['cronogram run list --status live', 'cronogram run list --task 3 --from "2027-01-31 09:00"'],
    flags: [
      { flags: '--status <status>', about: 'runs that stand so; live: not ended yet', choices: states },
      { flags: '--task <task>', about: 'of one task' },
      { flags: '--source <source>', about: 'task:<id>, task for those of all tasks, or what a message named' },
      { flags: '--subject <subject>', about: 'of tasks with this subject' },
      { flags: '--tag <tag>', about: 'of tasks with this tag; may be given several times', isList: true },
      { flags: '-q, --query <text>', about: 'text in what it was given, or in its error' },
      { flags: '--from <when>', about: 'made then or later' },
      { flags: '--to <when>', about: 'made then or earlier' },
      ...pageFlags,
    ],
    does: async (session, _args, { task, query: q, from, to, tag, status: state, source, subject, ...page }) => {
      const chosen = { task_id: await chosenTask(session, task), thread_key: session.namedThread, tag: tag?.slice() };
      const stretch = await stretchOf(session, { from, to });
      const query = { ...chosen, state, source, subject, q, ...stretch, ...pageOf(page) };
      const answer = await session.client.call('listRuns', { query });
      const times = timesIn(hostZone(), session.clock.now());
      const short = shortIds(answer.runs.map((one) => one.run_id));
      const ids = answer.runs.map((one) => one.task_id);
      const nameOf = await taskNames(session, ids);
      const columns: readonly Column<AnswerOf<'getRun'>>[] = [
        { title: 'RUN', isWhole: true, of: (one) => short(one.run_id) },
        { title: times.titled('MADE'), of: (one) => times.about(one.created_at) },
        { title: 'STATUS', of: (one) => runCell(one.state) },
        { title: 'SENT', of: (one) => sentWords(one.deliveries) },
        { title: 'OF', least: 12, of: (one) => (one.task_id === null ? one.source : nameOf(one.task_id)) },
        { title: 'ERROR', least: 12, wraps: true, of: (one) => one.error_message },
        { title: 'THREAD', isExtra: true, of: (one) => one.thread_key },
      ];
      return listTold(session, { json: answer, none: 'No runs.', rows: answer.runs, columns });
    },
  }),
  verb({
    usage: 'result <run>',
    summary: 'tell what a run has brought about',
    examples: ['cronogram run result 01989d4c-6c00-70'],
    does: async (session, [id = '']) => {
      const answer = await session.client.call('getRunResult', { params: { run_id: await runIdOf(session, id) } });
      const text = answer.output?.['text'];
      const result = typeof text === 'string' ? text : JSON.stringify(answer.output, null, 2);
      return {
        json: answer,
        text: `${shown(answer.status === 'succeeded' ? result : (answer.error_message ?? answer.state))}\n`,
      };
    },
  }),
  verb({
    usage: 'attachment <run> <n>',
    summary: 'save a file that a run has brought',
    about:
      'The first, second and so on of the attachments in its result. A file that is there already is not written over.',
    examples: [
      'cronogram run attachment 01989d4c-6c00-70 1',
      'cronogram run attachment 01989d4c-6c00-70 2 -o photo.jpg',
    ],
    flags: [
      { flags: '-o, --output <file>', about: 'write to this file (default: under its own name, in this folder)' },
    ],
    does: async (session, [id = '', n = ''], { output }) => {
      const params = { run_id: await runIdOf(session, id), n };
      const { name, mime, chunks } = await session.client.fetch('getRunAttachment', { params });
      const file = output ?? (name || `attachment-${n}`);
      const size = await saveFile(file, chunks);
      return {
        json: { file, name, mime, size },
        text: await sentence(session.terminal, `Saved ${file} (${sizeText(size)}).`),
      };
    },
  }),
  verb({
    usage: 'get <run>',
    summary: 'show a run, its attempts and what was delivered',
    about: runAbout,
    examples: ['cronogram run get 01989d4c-6c00-70', 'cronogram run get "weekly report"'],
    does: async (session, [id = '']) => {
      const answer = await session.client.call('getRun', { params: { run_id: await runIdOf(session, id) } });
      return { json: answer, text: await runText(session, answer) };
    },
  }),
  verb({
    usage: 'wait <run>',
    summary: 'wait until a run has ended',
    examples: ['cronogram run wait 01989d4c-6c00-70 --timeout 2m'],
    flags: waitFlags,
    does: async (session, [id = ''], options) => {
      if (session.isOffline) throw usage('wait needs a running server: with --offline nothing runs.');
      const waited = await waitForRun(session, await runIdOf(session, id), paceOf(options));
      return { json: waited.run, ...(await endTold(session, waited, `Run ${waited.run.run_id}`)) };
    },
  }),
  verb({
    usage: 'cancel <run>',
    summary: 'call off a run',
    examples: ['cronogram run cancel 01989d4c-6c00-70'],
    does: async (session, [id = '']) => {
      const answer = await session.client.call('cancelRun', { params: { run_id: await runIdOf(session, id) } });
      if (answer.cancelled) return { json: answer, text: `Called off the run ${answer.run.run_id}.\n` };
      throw new CliFault('too_late', `Run ${answer.run.run_id} had ended already: it is ${answer.run.state}.`);
    },
  }),
  ...(['retry', 'replay'] as const).map((kind) =>
    verb({
      usage: `${kind} <run>`,
      summary: repeats[kind],
      examples: [`cronogram run ${kind} 01989d4c-6c00-70 --wait`],
      flags: runFlags,
      does: async (session, [id = ''], options) => {
        const pace = paceOfWait(session, options);
        const asked = { params: { run_id: await runIdOf(session, id) }, ...keyHeader(options) };
        const answer = await session.client.call(kind === 'retry' ? 'retryRun' : 'replayRun', asked);
        return pace === null ? askedTold(session, answer) : waitedTold(session, answer, pace);
      },
    }),
  ),
];
