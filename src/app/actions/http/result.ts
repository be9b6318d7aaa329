import { sizeText } from '../../../domain/files/summary.ts';
import type { Watched, WatchStore } from '../../ports/blobs.ts';
import type { Digest, Expressions, Templates, Unevaluated } from '../../ports/outside.ts';
import type { Job, Outcome } from '../action.ts';
import { isTemplate, namesLast, variablesOf, type LastOf } from '../variables.ts';
import { type Answer, textBytesMax } from './answer.ts';
import type { HttpSettings } from './settings.ts';
import { dataOf } from './verdict.ts';

/** The result of a wanted answer: the value that is chosen from it, whether that is new, and the text about it. */

export interface ResultDeps {
  readonly templates: Pick<Templates, 'render'>;
  readonly expressions: Pick<Expressions, 'select' | 'difference'>;
  readonly watches: WatchStore;
  readonly digest: Digest;
  readonly lastOf: LastOf;
}

export interface Wanted {
  readonly settings: HttpSettings;
  readonly job: Job;
  readonly host: string;
  readonly answer: Answer;
}

/** A setting that could not be evaluated. */
export interface Unmade {
  readonly is: 'unmade';
  readonly field: string;
  readonly why: Unevaluated;
}

type Done = Extract<Outcome, { is: 'done' }>;

/** A value is kept for comparison up to this; above it only the change is known. */
const keptLengthMax = 65_536;

export async function resultOf(
  deps: ResultDeps,
  wanted: Wanted,
): Promise<Done | Unmade | Extract<Outcome, { is: 'giveUp' }>> {
  const { settings, job, answer } = wanted;
  const reader = answer.text === null ? readerOf(settings) : null;
  if (reader !== null) return { is: 'giveUp', error: unreadable(reader, answer), httpStatus: answer.status };
  const chosen =
    settings.select === null
      ? { is: 'done' as const, value: null }
      : await deps.expressions.select(settings.select, job.ownerId, answer.body);
  if (chosen.is !== 'done') return { is: 'unmade', field: 'action.select', why: chosen };
  const { value } = chosen;
  const seen = await look(deps, wanted, value);
  const told = await textOf(deps, wanted, { value, seen });
  if (typeof told !== 'string') return told;
  return {
    is: 'done',
    text: told,
    data: { ...dataOf(answer, true), ...(settings.select === null ? {} : { value }) },
    ...(answer.file === null ? {} : { attachments: [answer.file] }),
    ...(seen === null ? {} : { watched: seen.watched }),
    ...unshown(settings, seen),
  };
}

/** The setting that reads the body; null where none does. */
function readerOf({ select, template }: HttpSettings): 'select' | 'template' | null {
  if (select !== null) return 'select';
  return template !== null && isTemplate(template) && /\bbody\b/.test(template) ? 'template' : null;
}

function unreadable(reader: 'select' | 'template', { file, summary }: Answer): string {
  const size = sizeText(file?.bytes.byteLength ?? 0);
  const what = summary === null ? `a file (${file?.mime ?? ''})` : 'too long';
  return `${reader} reads text and JSON of ${sizeText(textBytesMax)} at most, and the answer is ${what}: ${size}`;
}

/** A watched value beside the one before. */
interface Seen {
  readonly is: 'first' | 'unchanged' | 'changed';
  readonly watched: Watched;
  /** Of a change, for people; null where it is too much to be read. */
  readonly difference: string | null;
}

async function look(deps: ResultDeps, { settings, job, answer }: Wanted, value: unknown): Promise<Seen | null> {
  const { watch } = settings;
  if (watch === null || job.taskId === null) return null;
  const text = watch.on === 'value' ? plain(value) : answer.text;
  const hash = deps.digest.of(text ?? binary(answer.file?.bytes ?? new Uint8Array()));
  const kept = text !== null && text.length <= keptLengthMax ? text : null;
  const watched = { hash, value: kept, at: job.startedAt };
  const before = await deps.watches.watchedBy(job.taskId);
  if (before === null) return { is: 'first', watched, difference: null };
  if (before.hash === hash) return { is: 'unchanged', watched, difference: null };
  const difference =
    before.value === null || kept === null ? null : await deps.expressions.difference(before.value, kept, job.ownerId);
  return { is: 'changed', watched, difference };
}

function unshown({ watch }: HttpSettings, seen: Seen | null): Pick<Done, 'unshown'> {
  if (seen?.is === 'unchanged') return { unshown: 'unchanged' };
  return seen?.is === 'first' && watch?.first === 'silent' ? { unshown: 'first' } : {};
}

/** Each byte as a sign, for a hash. */
function binary(bytes: Uint8Array): string {
  return new TextDecoder('latin1').decode(bytes);
}

interface Told {
  readonly value: unknown;
  readonly seen: Seen | null;
}

async function textOf(deps: ResultDeps, wanted: Wanted, told: Told): Promise<string | Unmade> {
  const { settings } = wanted;
  const own =
    settings.template === null ? null : await rendered(deps, wanted, { ...told, template: settings.template });
  if (own !== null && typeof own !== 'string') return own;
  const text = own ?? plainResult(wanted, told.value);
  if (told.seen?.is !== 'changed') return text;
  // A template that tells the change itself needs no help.
  if (settings.template !== null && /\b(?:previous|difference)\b/.test(settings.template)) return text;
  const { difference } = told.seen;
  if (own !== null) return difference === null ? own : `${own}\n\n${difference}`;
  const where = placeOf(wanted);
  return difference === null ? `${where} has changed.\n\n${text}` : `${where} has changed:\n\n${difference}`;
}

/** The address without what stands behind it, which may be long and may be a secret. */
function placeOf({ job, host }: Wanted): string {
  return job.input.title.trim() === '' ? host : job.input.title;
}

async function rendered(
  { templates, lastOf }: ResultDeps,
  { job, answer }: Wanted,
  { template, value, seen }: Told & { readonly template: string },
): Promise<string | Unmade> {
  if (!isTemplate(template)) return template;
  const names = (name: string) => new RegExp(`\\b${name}\\b`).test(template);
  const wantsLast = job.taskId !== null && (namesLast(template) || names('previous'));
  const last = wantsLast ? await lastOf(job.taskId) : null;
  const made = await templates.render(template, job.ownerId, {
    ...variablesOf(job, last),
    status: answer.status,
    headers: answer.headers,
    // It may be large, and most templates of watched values do not look at it.
    body: names('body') ? answer.body : null,
    value,
    previous: previousIn(last?.output?.['data']),
    difference: seen?.difference ?? null,
  });
  return made.is === 'done' ? made.text : { is: 'unmade', field: 'action.template', why: made };
}

/** The value of the last success, or its body where none was chosen. */
function previousIn(data: unknown): unknown {
  if (typeof data !== 'object' || data === null) return null;
  const { value, body } = data as { readonly value?: unknown; readonly body?: unknown };
  return value ?? body ?? null;
}

/** The answer as it reads, or a line that says what came. */
function plainResult({ settings, host, answer }: Wanted, value: unknown): string {
  if (settings.select !== null) return value === null ? 'select found nothing in the answer.' : plain(value);
  if (answer.file !== null) return answer.summary ?? `${answer.file.name}, ${sizeText(answer.file.bytes.byteLength)}`;
  const text = answer.text ?? '';
  return text.trim() === '' ? `${host} answered ${answer.status}.` : text;
}

function plain(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}
