import { AppError } from '../../domain/errors.ts';
import { albumMax } from '../../domain/files/limits.ts';
import { areOneAlbum } from '../../domain/files/parts.ts';
import { refuseSecrets } from '../../domain/secrets/mentions.ts';
import { type Media, mediaKinds } from '../../domain/shown.ts';
import { isBlank, type ActionSpec } from '../../domain/task.ts';
import type { Templates } from '../ports/outside.ts';
import type { Action, Job, Outcome } from './action.ts';
import { isTemplate, namesLast, sampleVariables, variablesOf, type LastOf } from './variables.ts';

/**
 * Sends its instructions. They are a template only if they look like one and nobody said `plain`; so a text with a brace
 * in it is just a text.
 */
export function messageAction(templates: Pick<Templates, 'render'>, lastOf: LastOf): Action {
  return {
    kind: 'message',
    isCut: true,
    check: (spec, instructions) => {
      refuseUnknown(spec, ['kind', 'plain', 'media']);
      const plain = spec['plain'];
      if (plain !== undefined && typeof plain !== 'boolean') throw invalid('action.plain is true or false.');
      checkMedia(spec['media']);
      if (!isRendered(spec, instructions)) return [];
      refuseSecrets('instructions', instructions);
      return [{ language: 'liquid', field: 'instructions', text: instructions, variables: sampleVariables }];
    },
    // Rendering has no effect outside; the sending is a delivery, which keeps its own truth.
    repeatable: () => true,
    // A plain text is ready at once.
    run: (job) =>
      isRendered(job.input.action, job.input.instructions) ? rendered(templates, lastOf, job) : shown(job),
  };
}

async function rendered(templates: Pick<Templates, 'render'>, lastOf: LastOf, job: Job): Promise<Outcome> {
  const { input, taskId, ownerId } = job;
  const last = taskId !== null && namesLast(input.instructions) ? await lastOf(taskId) : null;
  const made = await templates.render(input.instructions, ownerId, variablesOf(job, last));
  return made.is === 'done' ? shown(job, made.text) : made;
}

function shown({ input }: Job, text = input.instructions): Outcome {
  const sent = sentIn(input.action['media']);
  if (isBlank(text) && sent.length === 0) {
    return { is: 'giveUp', error: 'the text is empty: the template left nothing to send' };
  }
  const [media] = sent;
  if (media === undefined) return { is: 'done', text };
  return sent.length === 1 ? { is: 'done', text, media } : { is: 'done', text, album: sent };
}

/** Longer than any id that Telegram has given out. */
const fileIdLengthMax = 300;

/** Files that somebody sent to the bot, by the ids that Telegram gave them for this bot; no other name of a file will do. */
function checkMedia(media: unknown): void {
  if (media === undefined) return;
  const sent = sentIn(media);
  if (sent.length === 0)
    throw invalid(
      `action.media is {"kind": ${mediaKinds.map((kind) => `"${kind}"`).join(' | ')}, "file_id": "..."}, with the file_id under which this bot was sent the file; or a list of 2 to ${albumMax} of them, which are sent as one album.`,
    );
  if (sent.length > 1 && !areOneAlbum(sent.map(({ kind }) => kind)))
    throw invalid(
      'action.media: an album holds photos and videos, or documents alone, or audio alone. Send other files with a task of their own.',
    );
}

/** None where it cannot be read. */
function sentIn(media: unknown): readonly Media[] {
  const list: readonly unknown[] = Array.isArray(media) ? media : [media];
  const sent = list.map(mediaOf).filter((each) => each !== null);
  const isList = Array.isArray(media);
  const isCounted = !isList || (list.length > 1 && list.length <= albumMax);
  return isCounted && sent.length === list.length ? sent : [];
}

function mediaOf(media: unknown): Media | null {
  if (typeof media !== 'object' || media === null || Object.keys(media).length !== 2) return null;
  const { kind: named, file_id: fileId } = media as { readonly kind?: unknown; readonly file_id?: unknown };
  const kind = mediaKinds.find((one) => one === named);
  if (kind === undefined || typeof fileId !== 'string') return null;
  // An address on the web would be fetched by Telegram, and another file may stand there by then.
  return /^[\w-]+$/.test(fileId) && fileId.length <= fileIdLengthMax ? { kind, fileId } : null;
}

function isRendered(action: ActionSpec, text: string): boolean {
  return action['plain'] !== true && isTemplate(text);
}

export function refuseUnknown(spec: ActionSpec, known: readonly string[]): void {
  const unknown = Object.keys(spec).find((key) => !known.includes(key));
  if (unknown === undefined) return;
  throw invalid(`action.${unknown.slice(0, 40)} is not a setting of "${spec.kind}". Known are: ${known.join(', ')}.`);
}

export function invalid(message: string): AppError {
  return new AppError('invalid_action', message, { details: { field: 'action' } });
}
