import { AppError } from '../../domain/errors.ts';
import { iso } from '../../domain/schedule/time/calendar.ts';
import { type Media, mediaKinds } from '../../domain/shown.ts';
import { isBlank, outcomeAt, type ActionSpec } from '../../domain/task.ts';
import type { Templates } from '../ports/outside.ts';
import type { LastResult } from '../ports/runs.ts';
import type { Action, Job, Outcome } from './action.ts';

/**
 * Sends its instructions. They are a template only if they look like one and nobody said `plain`; so a text with a brace
 * in it is just a text.
 */
export function messageAction(templates: Pick<Templates, 'render'>, lastOf: LastOf): Action {
  return {
    kind: 'message',
    check: (spec, instructions) => {
      refuseUnknown(spec, ['kind', 'plain', 'media']);
      const plain = spec['plain'];
      if (plain !== undefined && typeof plain !== 'boolean') throw invalid('action.plain is true or false.');
      checkMedia(spec['media']);
      return isTemplate(spec, instructions) ? { text: instructions, variables: sampleVariables } : null;
    },
    // Rendering has no effect outside; the sending is a delivery, which keeps its own truth.
    repeatable: () => true,
    // A plain text is ready at once.
    run: (job) =>
      isTemplate(job.input.action, job.input.instructions) ? rendered(templates, lastOf, job) : shown(job),
  };
}

type LastOf = (taskId: string) => Promise<LastResult | null>;

/** A name of its own, and neither the filter nor the end of a loop. */
const namesLast = /(?<![.|]\s*)\blast\b/;

async function rendered(templates: Pick<Templates, 'render'>, lastOf: LastOf, job: Job): Promise<Outcome> {
  const { input, taskId, ownerId } = job;
  const last = taskId !== null && namesLast.test(input.instructions) ? await lastOf(taskId) : null;
  const made = await templates.render(input.instructions, ownerId, variables(job, last));
  return made.is === 'done' ? shown(job, made.text) : made;
}

function shown({ input }: Job, text = input.instructions): Outcome {
  const media = mediaOf(input.action['media']);
  if (isBlank(text) && media === null) {
    return { is: 'giveUp', error: 'the text is empty: the template left nothing to send' };
  }
  return { is: 'done', text, ...(media === null ? {} : { media }) };
}

/** Longer than any id that Telegram has given out. */
const fileIdLengthMax = 300;

/** A file that somebody sent to the bot, by the id that Telegram gave it for this bot; no other name of a file will do. */
function checkMedia(media: unknown): void {
  if (media === undefined || mediaOf(media) !== null) return;
  throw invalid(
    `action.media is {"kind": ${mediaKinds.map((kind) => `"${kind}"`).join(' | ')}, "file_id": "..."}, with the file_id under which this bot was sent the file.`,
  );
}

function mediaOf(media: unknown): Media | null {
  if (typeof media !== 'object' || media === null || Object.keys(media).length !== 2) return null;
  const { kind: named, file_id: fileId } = media as { readonly kind?: unknown; readonly file_id?: unknown };
  const kind = mediaKinds.find((one) => one === named);
  if (kind === undefined || typeof fileId !== 'string') return null;
  // An address on the web would be fetched by Telegram, and another file may stand there by then.
  return /^[\w-]+$/.test(fileId) && fileId.length <= fileIdLengthMax ? { kind, fileId } : null;
}

function isTemplate(action: ActionSpec, text: string): boolean {
  return action['plain'] !== true && (text.includes('{{') || text.includes('{%'));
}

type Told = Pick<Job, 'input' | 'runId' | 'taskId' | 'runNumber' | 'attempt' | 'startedAt'>;

function variables({ input, runId, taskId, runNumber, attempt, startedAt }: Told, last: LastResult | null) {
  const slot = isoOrNull(input.slotAt);
  const { number, title, timezone } = input;
  return {
    task: { id: taskId, number, title, timezone, tz: timezone },
    run: {
      id: runId,
      number: runNumber,
      attempt,
      source: input.again?.kind ?? input.source ?? 'schedule',
      slot,
      scheduled_for: slot,
      started_at: iso(startedAt),
      late: input.late,
    },
    context: input.context ?? {},
    last: lastVariables(last ?? noResult, startedAt),
  };
}

const noResult: LastResult = { lastOutcome: null, skippedAt: null, number: null, at: null, output: null };

/** Null and not absent, so that the first run of a task may ask for them. */
function lastVariables(last: LastResult, now: number) {
  const { number, at, output } = last;
  const outcome = outcomeAt(last, now);
  return { text: output?.['text'] ?? null, data: output?.['data'] ?? null, at: isoOrNull(at), outcome, number };
}

/** What the first run of a task gives a template, by example. */
const sampleVariables = variables(
  {
    input: {
      title: 'Title',
      instructions: '',
      action: { kind: 'message' },
      timezone: 'UTC',
      number: 1,
      slotAt: 0,
      late: false,
      delivers: true,
    },
    runId: 'run',
    taskId: 'task',
    runNumber: 1,
    attempt: 1,
    startedAt: 0,
  },
  null,
);

function isoOrNull(at: number | null): string | null {
  return at === null ? null : iso(at);
}

export function refuseUnknown(spec: ActionSpec, known: readonly string[]): void {
  const unknown = Object.keys(spec).find((key) => !known.includes(key));
  if (unknown === undefined) return;
  throw invalid(`action.${unknown.slice(0, 40)} is not a setting of "${spec.kind}". Known are: ${known.join(', ')}.`);
}

export function invalid(message: string): AppError {
  return new AppError('invalid_action', message, { details: { field: 'action' } });
}
