import type { TaskPatch } from '../../../app/tasks/edit.ts';
import { maxRunsMax, nagLimitMax, retryAttemptsMax } from '../../../domain/limits.ts';
import type { AckInput, MissedPolicy, OverlapPolicy } from '../../../domain/policy.ts';
import { quietFault, type QuietInput } from '../../../domain/quiet.ts';
import { inputOf } from '../../../domain/schedule/schedule.ts';
import { durationText, fixedMs } from '../../../domain/schedule/time/duration.ts';
import type { Task } from '../../../domain/task.ts';
import { momentIn } from '../kit/days.ts';
import { misspeltOf } from '../kit/nearest.ts';
import { zoneNamed } from '../kit/zones.ts';

/** What `/edit` understands beside a new time: the name of a field and a value in plain words. */

export interface FieldReading {
  readonly task: Task;
  /** When it was said. */
  readonly now: number;
}

interface Field {
  /** The words by which it is called, the first one in answers. */
  readonly names: readonly string[];
  readonly example: string;
  /** Null where the value cannot be read. */
  readonly read: (value: string, reading: FieldReading) => TaskPatch | null;
}

const none = /^(?:off|no|none|never|default|usual|remove)$/i;
const isOn = (value: string): boolean | null =>
  /^(?:on|yes|required|needed)$/i.test(value) ? true : none.test(value) ? false : null;

const fields: readonly Field[] = [
  { names: ['title'], example: 'title Water the plants', read: (value) => ({ title: value }) },
  { names: ['text'], example: 'text Water the plants', read: (value) => ({ instructions: value }) },
  { names: ['zone'], example: 'zone Europe/Madrid', read: readZone },
  { names: ['missed'], example: 'missed ask', read: readMissed },
  { names: ['overlap'], example: 'overlap queue', read: readOverlap },
  { names: ['retry', 'retries', 'attempts'], example: 'retry 3', read: readRetry },
  { names: ['quiet'], example: 'quiet 22:00-07:00', read: readQuiet },
  { names: ['urgent'], example: 'urgent on', read: readUrgent },
  { names: ['ack', 'confirm', 'nag', 'done'], example: 'ack every 15 minutes 5 times', read: readAck },
  { names: ['approval'], example: 'approval on', read: readApproval },
  { names: ['until', 'ends', 'end'], example: 'until 2027-01-31', read: (value, by) => readBound('until', value, by) },
  { names: ['start', 'starts'], example: 'start 2027-01-31', read: (value, by) => readBound('start_at', value, by) },
  { names: ['max runs', 'runs'], example: 'max runs 10', read: readRuns },
  { names: ['tags', 'tag'], example: 'tags home, garden', read: readTags },
  { names: ['grace'], example: 'grace 10 minutes', read: (value, by) => readSpan('grace', value, by) },
  { names: ['media'], example: 'media remove', read: readMedia },
  { names: ['jitter'], example: 'jitter 5 minutes', read: (value, by) => readSpan('jitter', value, by) },
  { names: ['priority'], example: 'priority 8', read: readPriority },
];

export type FieldWords =
  | { readonly is: 'patch'; readonly patch: TaskPatch }
  | { readonly is: 'unread' | 'unknown'; readonly word: string; readonly field: string; readonly example: string };

/** The field with which the words begin, and its new value; null when they begin with none, as a time does. */
export function fieldIn(words: string, reading: FieldReading): FieldWords | null {
  for (const field of fields) {
    for (const name of field.names) {
      const match = new RegExp(`^${name.replace(' ', '[\\s_-]*')}(?:\\s*[:=]\\s*|\\s+|$)`, 'i').exec(words);
      if (match === null) continue;
      const value = words.slice(match[0].length).trim();
      const patch = value === '' ? null : field.read(value, reading);
      return patch === null ? { is: 'unread', word: value, ...called(field) } : { is: 'patch', patch };
    }
  }
  return null;
}

/** The field that was probably meant by words that are no time either. */
export function nearField(words: string): FieldWords | null {
  const [word = ''] = words.toLowerCase().split(/[\s:=]+/u);
  const near = misspeltOf(
    word,
    fields.flatMap(({ names }) => names),
  );
  const field = near === null ? undefined : fields.find(({ names }) => names.includes(near));
  return field === undefined ? null : { is: 'unknown', word, ...called(field) };
}

function called({ names, example }: Field): { readonly field: string; readonly example: string } {
  return { field: names[0] ?? '', example };
}

function readZone(value: string, { task }: FieldReading): TaskPatch | null {
  const timezone = zoneNamed(value);
  return timezone === null ? null : { schedule: { ...inputOf(task.schedule), timezone } };
}

const missed: readonly MissedPolicy[] = ['skip', 'once', 'all', 'ask'];
const overlap: readonly OverlapPolicy[] = ['skip', 'queue', 'replace', 'allow'];

function readMissed(value: string): TaskPatch | null {
  const word = missed.find((each) => each === value.toLowerCase());
  if (word === undefined) return /^(?:default|usual)$/i.test(value) ? { policies: { missed: null } } : null;
  return { policies: { missed: word } };
}

function readOverlap(value: string): TaskPatch | null {
  const word = overlap.find((each) => each === value.toLowerCase());
  if (word === undefined) return /^(?:default|usual)$/i.test(value) ? { policies: { overlap: null } } : null;
  return { policies: { overlap: word } };
}

function readRetry(value: string, { task }: FieldReading): TaskPatch | null {
  if (/^(?:default|usual)$/i.test(value)) return { policies: { retry: null } };
  const attempts = none.test(value)
    ? 1
    : wholeIn(value.replace(/\s*(?:times|attempts?|tries)$/i, ''), [1, retryAttemptsMax]);
  return attempts === null ? null : { policies: { retry: { ...task.policies.retry, attempts } } };
}

const hours = /^(\d{1,2})(?:[:.](\d\d))?\s*(?:-|–|to)\s*(\d{1,2})(?:[:.](\d\d))?(?:[,\s]+(hold|silent))?$/i;

function readQuiet(value: string): TaskPatch | null {
  if (/^(?:chat|default|usual|like the chat)$/i.test(value)) return { policies: { quiet: null } };
  if (/^(?:off|never|none)$/i.test(value)) return { policies: { quiet: { mode: 'off' } } };
  const match = hours.exec(value);
  if (match === null) return null;
  const quiet: QuietInput = {
    from: clockOf(match[1], match[2]),
    to: clockOf(match[3], match[4]),
    mode: /silent/i.test(match[5] ?? '') ? 'silent' : 'hold',
  };
  return quietFault(quiet) === null ? { policies: { quiet } } : null;
}

function clockOf(hour = '', minute = '00'): string {
  return `${hour.padStart(2, '0')}:${minute}`;
}

function readUrgent(value: string): TaskPatch | null {
  const on = isOn(value);
  return on === null ? null : { policies: { quiet: on ? { mode: 'off' } : null } };
}

function readAck(value: string, reading: FieldReading): TaskPatch | null {
  const on = isOn(value);
  if (on !== null) return { policies: { ack: on ? {} : null } };
  const untilDone = /^(?:on\b)?(.*?)[,\s]*until done$/i.exec(value)?.[1];
  // As often as people can be reminded at all.
  if (untilDone === '') return { policies: { ack: { nag_limit: nagLimitMax } } };
  return readNags(untilDone === undefined ? value : `${untilDone.trim()} ${nagLimitMax} times`, reading);
}

function readNags(value: string, reading: FieldReading): TaskPatch | null {
  const [, span = '', times] =
    /^(?:every\s+)?(.+?)(?:[,\s]+(?:at most\s+)?(\d{1,4})\s*(?:times|x))?$/i.exec(value) ?? [];
  const every = spanIn(span, reading);
  const limit = times === undefined ? undefined : wholeIn(times, [1, nagLimitMax]);
  if (every === null || limit === null) return null;
  const ack: AckInput = { nag_every: every, ...(limit === undefined ? {} : { nag_limit: limit }) };
  return { policies: { ack } };
}

function readApproval(value: string): TaskPatch | null {
  const on = isOn(value);
  return on === null ? null : { policies: { approval: on ? 'required' : null } };
}

/** A day alone is meant with all of it: until its last minute, and from its first one. */
function readBound(field: 'until' | 'start_at', value: string, { task, now }: FieldReading): TaskPatch | null {
  if (none.test(value) || (field === 'start_at' && /^(?:now|at once)$/i.test(value))) {
    return { policies: { [field]: null } };
  }
  const reading = { timezone: task.schedule.timezone, now };
  const instant = momentIn(value, reading, field === 'until' ? '23:59' : '0:00');
  return instant === null ? null : { policies: { [field]: new Date(instant).toISOString() } };
}

function readRuns(value: string): TaskPatch | null {
  if (none.test(value)) return { policies: { max_runs: null } };
  const runs = wholeIn(value.replace(/\s*(?:runs?|times)$/i, ''), [1, maxRunsMax]);
  return runs === null ? null : { policies: { max_runs: runs } };
}

function readTags(value: string): TaskPatch | null {
  if (none.test(value)) return { tags: [] };
  const tags = value.split(/[,\s]+/u).map((tag) => tag.replace(/^#/, ''));
  return { tags: [...new Set(tags.filter((tag) => tag !== ''))] };
}

function readSpan(field: 'grace' | 'jitter', value: string, reading: FieldReading): TaskPatch | null {
  if (none.test(value)) return { policies: { [field]: null } };
  const span = spanIn(value, reading);
  return span === null ? null : { policies: { [field]: span } };
}

function readMedia(value: string, { task }: FieldReading): TaskPatch | null {
  if (!/^(?:remove|off|none|no|delete)$/i.test(value)) return null;
  const { media: _removed, ...action } = task.action;
  return { action };
}

function readPriority(value: string): TaskPatch | null {
  if (none.test(value)) return { policies: { priority: null } };
  const priority = wholeIn(value, [1, 10]);
  return priority === null ? null : { policies: { priority } };
}

function wholeIn(value: string, [min, max]: readonly [number, number]): number | null {
  const number = /^\d{1,7}$/.test(value.trim()) ? Number(value) : Number.NaN;
  return number >= min && number <= max ? number : null;
}

/** `15 minutes` as an ISO duration; elapsed time, so it is measured where no clock ever changes. */
function spanIn(value: string, { now }: FieldReading): string | null {
  const iso = value.toUpperCase();
  if (iso.startsWith('P')) return fixedMs(iso) === null ? null : iso;
  const until = momentIn(`in ${value.replace(/^in\s+/i, '')}`, { timezone: 'UTC', now }, null);
  return until === null ? null : durationText(until - now);
}
