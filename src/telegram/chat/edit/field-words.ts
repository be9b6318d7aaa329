import type { TaskPatch } from '../../../app/tasks/edit.ts';
import { nagLimitMax } from '../../../domain/limits.ts';
import { quietFault, type QuietInput } from '../../../domain/pacing/quiet.ts';
import { type Form, type Policies, type PolicyName, policyTable } from '../../../domain/policy.ts';
import { inZone } from '../../../domain/schedule/schedule.ts';
import { iso } from '../../../domain/schedule/time/calendar.ts';
import { durationText, fixedMs } from '../../../domain/schedule/time/duration.ts';
import { zoneNamed } from '../../../domain/schedule/time/places.ts';
import { readBudget } from '../../../domain/spending/words.ts';
import type { Task } from '../../../domain/task.ts';
import { Refused } from '../kit/answers.ts';
import { momentIn } from '../kit/days.ts';
import { misspeltOf } from '../kit/nearest.ts';
import { keepRead } from '../kit/policy.ts';
import { texts } from '../texts.ts';

/** Fields that `/edit` understands beside a new time: their names, and their values in plain words. */

export interface FieldReading {
  readonly task: Task;
  /** When it was said. */
  readonly now: number;
  /** The currency of the prices, in which money is; without it nobody asks. */
  readonly currency?: string | null;
}

interface Field {
  /** The words by which it is called, the first one in answers. */
  readonly names: readonly string[];
  readonly example: string;
  /** Null where the value cannot be read. */
  readonly read: (value: string, reading: FieldReading) => TaskPatch | null;
}

const none = /^(?:off|no|none|never|default|usual|remove)$/i;
const usual = /^(?:default|usual)$/i;
const isOn = (value: string): boolean | null =>
  /^(?:on|yes|required|needed)$/i.test(value) ? true : none.test(value) ? false : null;

/** The value of a policy: null takes it back to its default, and undefined stands for what cannot be read. */
type Value<N extends PolicyName> = NonNullable<Policies[N]> | null | undefined;

/** A policy by its words; without a reader of its own it is read by its form in the table. */
function policy<N extends PolicyName>(
  name: N,
  names: readonly string[],
  example: string,
  read: (value: string, reading: FieldReading) => Value<N> | string | number = (value, reading) =>
    readByForm(name, value, reading),
): Field {
  return {
    names,
    example,
    read: (value, reading) => {
      const found = read(value, reading);
      return found === undefined ? null : { policies: { [name]: found } };
    },
  };
}

const fields: readonly Field[] = [
  { names: ['title'], example: 'title Water the plants', read: (value) => ({ title: value }) },
  { names: ['text'], example: 'text Water the plants', read: (value) => ({ instructions: value }) },
  { names: ['zone', 'in'], example: 'zone Europe/Madrid', read: readZone },
  policy('missed', ['missed'], 'missed ask'),
  policy('overlap', ['overlap'], 'overlap queue'),
  policy('retry', ['retry', 'retries', 'attempts'], 'retry 3', readRetry),
  policy('quiet', ['quiet'], 'quiet 22:00-07:00', readQuiet),
  policy('quiet', ['urgent'], 'urgent on', (value) => switched(value, { mode: 'off' })),
  policy('ack', ['ack', 'confirm', 'nag', 'done'], 'ack every 15 minutes 5 times', readAck),
  policy('approval', ['approval'], 'approval on', (value) => switched(value, 'required')),
  policy('skip_if_unchanged', ['unchanged', 'same'], 'unchanged skip', (value, reading) =>
    /^show$/i.test(value) || none.test(value) ? null : readByForm('skip_if_unchanged', value, reading),
  ),
  policy('keep', ['keep', 'history'], 'keep 10 runs, 30 days', keepRead),
  policy('budget', ['budget'], 'budget 100 requests a day', readTaskBudget),
  policy('fallback', ['fallback'], 'fallback creator'),
  policy('until', ['until', 'ends', 'end'], 'until 2027-01-31'),
  policy('start_at', ['start', 'starts', 'starting', 'beginning'], 'start 2027-01-31'),
  policy('max_runs', ['max runs', 'runs'], 'max runs 10'),
  policy('refresh_after', ['refresh', 'refresh after'], 'refresh 6 hours'),
  { names: ['grant until', 'grant'], example: 'grant until 1 march', read: readGrantEnd },
  { names: ['subject'], example: 'subject Anna', read: (value) => ({ subject: none.test(value) ? null : value }) },
  { names: ['tags', 'tag'], example: 'tags home, garden', read: readTags },
  policy('grace', ['grace'], 'grace 10 minutes'),
  { names: ['media'], example: 'media remove', read: readMedia },
  policy('jitter', ['jitter'], 'jitter 5 minutes'),
  policy('priority', ['priority'], 'priority 8'),
];

export type FieldWords =
  | { readonly is: 'patch'; readonly patch: TaskPatch }
  | { readonly is: 'unread' | 'unknown'; readonly word: string; readonly field: string; readonly example: string };

/** True where the words begin with the name of a field. */
export function isField(words: string): boolean {
  return fields.some(({ names }) => names.some((name) => !ofTime.has(name) && patternOf(name).test(words)));
}

function patternOf(name: string): RegExp {
  return new RegExp(`^${name.replace(' ', '[\\s_-]*')}(?:\\s*[:=]\\s*|\\s+|$)`, 'i');
}

/** A time may begin with these too: "starting monday every 2 weeks", "in 2 hours". */
const ofTime: ReadonlySet<string> = new Set(['starting', 'beginning', 'in']);

/** The field with which the words begin, and its new value; null when they begin with none, as a time does. */
export function fieldIn(words: string, reading: FieldReading): FieldWords | null {
  for (const field of fields) {
    for (const name of field.names) {
      const match = patternOf(name).exec(words);
      if (match === null) continue;
      const value = words.slice(match[0].length).trim();
      const patch = value === '' ? null : field.read(value, reading);
      if (patch === null && ofTime.has(name)) continue;
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

/** How the field of that name is written, for the menu in which it can be pressed. */
export function exampleOf(name: string): string {
  return fields.find(({ names }) => names.includes(name))?.example ?? '';
}

/** The choices are words of the command, so that both mean the same and are checked alike. */
const choices: Readonly<Record<string, (value: string) => string>> = {
  zone: (value) => `zone ${value}`,
  missed: (value) => `missed ${value}`,
  ack: (value) => (value === 'off' ? 'ack off' : `ack every ${value.replace(/(?<=[mh])(\d+)$/, ' $1 times')}`),
  quiet: (value) => `quiet ${value.replace(/^(\d\d)(\d\d)-(\d\d)(\d\d)$/, '$1:$2-$3:$4')}`,
  approval: (value) => `approval ${value}`,
  unchanged: (value) => `unchanged ${value}`,
  keep: (value) => `keep ${value}`,
  ends: (value) => {
    const runs = /^r(\d+)$/.exec(value)?.[1];
    if (runs !== undefined) return `max runs ${runs}`;
    return value === 'never' ? 'until never' : `until in ${value.replace('d', ' days')}`;
  },
};

/** The change behind a button of a menu. Its data can be made up, and the words of the command check it: then null. */
export function choicePatch(task: Task, name: string, value: string, now: number): TaskPatch | null {
  const words = Object.hasOwn(choices, name) ? choices[name]?.(value) : undefined;
  const read = words === undefined ? null : fieldIn(words, { task, now });
  if (read?.is !== 'patch') return null;
  const isEndless = name === 'ends' && value === 'never';
  return isEndless ? { policies: { until: null, max_runs: null } } : read.patch;
}

function called({ names, example }: Field): { readonly field: string; readonly example: string } {
  return { field: names[0] ?? '', example };
}

function readZone(value: string, { task }: FieldReading): TaskPatch | null {
  const timezone = zoneNamed(value);
  return timezone === null ? null : { schedule: inZone(task.schedule, timezone) };
}

/** A policy by its form in the table. The words for the default are fewer where one of them could be a value. */
function readByForm(name: PolicyName, value: string, reading: FieldReading): string | number | null | undefined {
  const form: Form = policyTable[name];
  if ((form.kind === 'choice' ? usual : none).test(value)) return null;
  switch (form.kind) {
    case 'choice':
      return form.of.find((each) => each === value.toLowerCase());
    case 'whole':
      return wholeIn(value.replace(/\s*(?:runs?|times)$/i, ''), form) ?? undefined;
    case 'length':
      return spanIn(value) ?? undefined;
    case 'instant':
      return boundIn(name, value, reading);
    default:
      return undefined;
  }
}

function switched<T>(value: string, on: T): T | null | undefined {
  const isWanted = isOn(value);
  return isWanted === null ? undefined : isWanted ? on : null;
}

function readRetry(value: string, { task }: FieldReading): Value<'retry'> {
  if (usual.test(value)) return null;
  const { attempts: form } = policyTable.retry.fields;
  const attempts = none.test(value) ? 1 : wholeIn(value.replace(/\s*(?:times|attempts?|tries)$/i, ''), form);
  return attempts === null ? undefined : { ...task.policies.retry, attempts };
}

const hours = /^(\d{1,2})(?:[:.](\d\d))?\s*(?:-|–|to)\s*(\d{1,2})(?:[:.](\d\d))?(?:[,\s]+(hold|silent))?$/i;

function readQuiet(value: string): Value<'quiet'> {
  if (/^(?:chat|default|usual|like the chat)$/i.test(value)) return null;
  if (/^(?:off|never|none)$/i.test(value)) return { mode: 'off' };
  const match = hours.exec(value);
  if (match === null) return undefined;
  const quiet: QuietInput = {
    from: clockOf(match[1], match[2]),
    to: clockOf(match[3], match[4]),
    mode: /silent/i.test(match[5] ?? '') ? 'silent' : 'hold',
  };
  return quietFault(quiet) === null ? quiet : undefined;
}

function clockOf(hour = '', minute = '00'): string {
  return `${hour.padStart(2, '0')}:${minute}`;
}

function readAck(value: string): Value<'ack'> {
  const on = switched(value, {});
  if (on !== undefined) return on;
  const untilDone = /^(?:on\b)?(.*?)[,\s]*until done$/i.exec(value)?.[1];
  // As often as people can be reminded at all.
  if (untilDone === '') return { nag_limit: nagLimitMax };
  return readNags(untilDone === undefined ? value : `${untilDone.trim()} ${nagLimitMax} times`);
}

function readNags(value: string): Value<'ack'> {
  const [, span = '', times] =
    /^(?:every\s+)?(.+?)(?:[,\s]+(?:at most\s+)?(\d{1,4})\s*(?:times|x))?$/i.exec(value) ?? [];
  const every = spanIn(span);
  const limit = times === undefined ? undefined : wholeIn(times, { min: 1, max: nagLimitMax });
  if (every === null || limit === null) return undefined;
  return { nag_every: every, ...(limit === undefined ? {} : { nag_limit: limit }) };
}

/** A day alone is meant with all of it: until its last minute, and from its first one. */
function boundIn(name: PolicyName, value: string, { task, now }: FieldReading): string | null | undefined {
  const isStart = name === 'start_at';
  if (isStart && /^(?:now|at once)$/i.test(value)) return null;
  const at = momentIn(value, { timezone: task.schedule.timezone, now }, isStart ? '0:00' : '23:59');
  return at === null ? undefined : iso(at);
}

/** A day alone is meant with all of it. */
function readGrantEnd(value: string, { task, now }: FieldReading): TaskPatch | null {
  if (/^(?:never|forever|no end|off|none)$/i.test(value)) return { grantExpiresAt: null };
  const at = momentIn(
    value.replace(/^(?:until|for)\s+/i, (word) => (/^for/i.test(word) ? 'in ' : '')),
    { timezone: task.schedule.timezone, now },
    '23:59',
  );
  return at === null ? null : { grantExpiresAt: at };
}

function readTags(value: string): TaskPatch | null {
  if (none.test(value)) return { tags: [] };
  const tags = value.split(/[,\s]+/u).map((tag) => tag.replace(/^#/, ''));
  return { tags: [...new Set(tags.filter((tag) => tag !== ''))] };
}

function readMedia(value: string, { task }: FieldReading): TaskPatch | null {
  if (!/^(?:remove|off|none|no|delete)$/i.test(value)) return null;
  const { media: _removed, ...action } = task.action;
  return { action };
}

function wholeIn(value: string, { min, max }: { readonly min: number; readonly max: number }): number | null {
  const number = /^\d{1,7}$/.test(value.trim()) ? Number(value) : Number.NaN;
  return number >= min && number <= max ? number : null;
}

/** `15 minutes` as an ISO duration; elapsed time, so it is measured where no clock ever changes. */
function spanIn(value: string): string | null {
  const iso = value.toUpperCase();
  if (iso.startsWith('P')) return fixedMs(iso) === null ? null : iso;
  const until = momentIn(`in ${value.replace(/^in\s+/i, '')}`, { timezone: 'UTC', now: 0 }, null);
  return until === null ? null : durationText(until);
}

/** Several stand with a comma or an "and" between them, and are all for the same time. */
function readTaskBudget(value: string, { currency = null }: FieldReading): Value<'budget'> {
  if (none.test(value)) return null;
  const read = value.split(/\s*;\s*|\s+and\s+/).map(readBudget);
  const [first] = read;
  if (first === undefined || first === null) return undefined;
  if (!read.every((one) => one !== null && one.per === first.per)) return undefined;
  const isForeign = read.some((one) => one !== null && one.currency !== null && one.currency !== currency);
  if (currency !== null && isForeign) throw new Refused(texts.spending.otherCurrency(currency));
  return {
    ...Object.fromEntries(read.flatMap((one) => (one === null ? [] : [[one.kind, one.quantity]]))),
    per: first.per,
  };
}
