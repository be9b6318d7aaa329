import type { AppError } from '../../domain/errors.ts';
import { durationText, fixedMs } from '../../domain/schedule/time/duration.ts';
import type { ActionSpec } from '../../domain/task.ts';

/**
 * The form of a kind of action is all there is to know of it without doing it: its settings and the words about it. The chat, the API, the
 * command line and the help follow from this, so that a new kind is a folder and its line in the registry.
 */
export interface ActionForm {
  readonly kind: string;
  readonly words: ActionWords;
  /** Settings beside the kind; `check` of the action alone judges them. */
  readonly fields: readonly ActionField[];
  /** `needed`: it works on the instructions of its task. `note`: it does its work without them. */
  readonly text: 'needed' | 'note';
  /** One that works, for docs. */
  readonly example: ActionSpec;
  /** A command that makes such a task in a chat; absent where nobody makes one by words. */
  readonly command?: ActionCommand;
  /** In short, what it does with these settings: `GET https://api.example.com/price`. */
  readonly brief?: (spec: ActionSpec) => string;
  /** The lines that one call sends, for whoever must allow it; the brief and the settings without it. */
  readonly sent?: (spec: ActionSpec) => readonly string[];
  /** The name of a task for which nobody chose one. */
  readonly title?: (spec: ActionSpec) => string;
}

export interface ActionField {
  readonly name: string;
  readonly is: FieldKind;
  /** For `choice`. */
  readonly of?: readonly string[];
  readonly isRequired?: true;
  readonly does: string;
  readonly example: unknown;
  /** The flag of the command line that sets it, and how it names the value: `--method <verb>`. */
  readonly flag?: string;
  /** The part of an object that a word alone stands for; the others may be left out. */
  readonly main?: string;
  /** For an object that people write and read in a few words; JSON does as well. */
  readonly words?: {
    /** Undefined where they cannot be read. */
    readonly read: (text: string) => unknown;
    /** Null where they cannot tell it. */
    readonly tell: (value: unknown) => string | null;
  };
  /** For `object`: what each of its parts can be. */
  readonly parts?: Readonly<Record<string, readonly string[]>>;
  /** For an object that is one of several kinds, each with parts of its own beside `kind`. */
  readonly kinds?: readonly FieldVariant[];
  /** For `pairs`: values may be numbers, true, false, and lists, which stand for a name that is there several times. */
  readonly isMany?: true;
  /** Its flag says as well that the task is one of this kind. */
  readonly names?: true;
  /** The words of a chat change it: `/edit #3 url ...`. */
  readonly isEditable?: true;
  /** The brief of the action tells it already. */
  readonly inBrief?: true;
}

/** A kind that an object can be. */
export interface FieldVariant<Kind extends string = string> {
  readonly kind: Kind;
  /** Short, as it stands behind an example. */
  readonly does: string;
  readonly fields: readonly ActionField[];
  readonly example: Readonly<Record<string, unknown>>;
  /** Has too many parts to be written by their places: each is named. */
  readonly isNamed?: true;
}

/**
 * `pairs` is an object of texts; `length` is an ISO-8601 duration; `secret` names a secret, or the place in the context where its name
 * stands; `any` takes whatever JSON can say.
 */
export type FieldKind = 'text' | 'choice' | 'length' | 'pairs' | 'whole' | 'wholes' | 'object' | 'secret' | 'any';

/** English, and the form that other languages fill in. */
export interface ActionWords {
  /** As people call it beside others: `http call`. */
  readonly name: string;
  /** The line of its command in the menu, which ends in an example. */
  readonly menu: string;
  /** The question for what is missing, before examples of it. */
  readonly ask: string;
  readonly tries: readonly string[];
  readonly when: string;
  /** At least three, each with what it does in short. */
  readonly examples: readonly (readonly [words: string, does: string])[];
  /** Notes to be read before using it. */
  readonly notes: readonly string[];
}

export interface ActionCommand {
  readonly name: string;
  /** Other words for it that people try. */
  readonly also: readonly string[];
  /** Takes the words apart; null where they name nothing to do. Throws `invalid_action` for what can never be done. */
  readonly read: (words: string) => ReadAction | null;
}

export interface ReadAction {
  /** The words before the settings, where the time stands. */
  readonly before: string;
  /** The words behind them. They are a setting, unless the time stands there. */
  readonly after: string;
  /** They begin on a line of their own, where no time is looked for. */
  readonly isApart?: true;
  /** A word right before the settings that looks like one of them; it is refused where it belongs to no time. */
  readonly doubt?: { readonly word: string; readonly fault: AppError };
  readonly spec: ActionSpec;
  /** Settings that the words did not name, told beside the other assumptions. */
  readonly assumed: readonly string[];
  /** The settings with these words behind them. */
  readonly with: (after: string) => ActionSpec;
}

/** The effect as it would be, for whoever must allow it. */
export function effectText(form: ActionForm | undefined, spec: ActionSpec): string {
  if (form === undefined) return spec.kind;
  const told = new Set(form.fields.flatMap(({ name, inBrief }) => (inBrief === true ? name : [])));
  const others = settingLines(form, spec).filter(([name]) => !told.has(name));
  const settings = others.map(([name, value]) => (value.includes('\n') ? `${name}:\n${value}` : `${name}: ${value}`));
  return [form.brief?.(spec) ?? form.words.name, ...(form.sent?.(spec) ?? settings)].join('\n');
}

/** `basic USERNAME SECRET`, as it may be written; with many parts each by its name. Those in brackets may be missing. */
export function variantText({ kind, fields, isNamed }: FieldVariant): string {
  const parts = fields.map(({ name, isRequired }) => {
    const shown = isNamed === true ? `${name}=...` : name.toUpperCase();
    return isRequired === true ? shown : `[${shown}]`;
  });
  return [kind, ...parts].join(' ');
}

/** The words that take a setting away. */
const gone = /^(?:remove|none|off|default)$/i;

/**
 * A setting as people write it: null takes it away, and undefined stands for what cannot be read. Of pairs one is written, and
 * the others stay.
 */
export function settingFrom(field: ActionField, text: string, before?: unknown): unknown {
  // A setting that must be there is never taken away by a word that may be its value.
  if (text === '' || (gone.test(text) && field.isRequired !== true)) return null;
  return field.words?.read(text) ?? readers[field.is](text, field, before);
}

type Reader = (text: string, field: ActionField, before: unknown) => unknown;

const readers: Readonly<Record<FieldKind, Reader>> = {
  text: (text) => text,
  choice: (text, { of }) => of?.find((one) => one.toLowerCase() === text.toLowerCase()),
  length: lengthFrom,
  secret: (text) => text,
  whole: numbersFrom,
  wholes: numbersFrom,
  object: (text, { main }) =>
    /^\w+$/.test(text) && main !== undefined ? { [main]: text.toLowerCase() } : jsonFrom(text),
  any: (text) => (/^\s*[{[]/.test(text) ? (jsonFrom(text) ?? text) : text),
  pairs: (text, _field, before) => pairsFrom(text, before),
};

function numbersFrom(text: string): number | number[] | undefined {
  const numbers = text.split(/[\s,]+/).map(Number);
  if (numbers.some((one) => !Number.isInteger(one))) return undefined;
  return numbers.length === 1 ? numbers[0] : numbers;
}

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** `10 s`, `2 minutes`, `PT10S`. */
function lengthFrom(text: string): string | undefined {
  const [, amount, unit = ''] =
    /^(\d{1,6})\s*(ms|s|m|h)(?:ec(?:ond)?s?|in(?:ute)?s?|(?:ou)?rs?)?$/i.exec(text.trim()) ?? [];
  if (amount !== undefined) return durationText(Number(amount) * (unitMs[unit.toLowerCase()] ?? 1));
  return fixedMs(text.trim().toUpperCase()) === null ? undefined : text.trim().toUpperCase();
}

/** Braces alone make no JSON: a template begins with them too. */
function jsonFrom(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** `accept: text/plain`, `page=2`; a name without a value takes that one away. Behind a sign "off" is a value like any other. */
function pairsFrom(text: string, before: unknown): Readonly<Record<string, unknown>> | null | undefined {
  const [, name = '', sign = '', value = ''] = /^\s*([^\s:=]+)\s*([:=]?)\s*(.*)$/s.exec(text) ?? [];
  if (name === '') return undefined;
  const { [name]: _replaced, ...others } = (before ?? {}) as Readonly<Record<string, unknown>>;
  const isGone = value === '' || (sign === '' && gone.test(value));
  const all = isGone ? others : { ...others, [name]: value.trim() };
  return Object.keys(all).length === 0 ? null : all;
}

const shownMax = 400;

/** The settings by their names, as people read them, without what somebody should keep to themselves. */
export function settingLines(
  { fields }: Pick<ActionForm, 'fields'>,
  spec: ActionSpec,
): readonly (readonly [name: string, value: string])[] {
  const known = fields.map(({ name }) => name);
  const fieldOf = (name: string) => fields.find((field) => field.name === name);
  const others = Object.keys(spec).filter((name) => name !== 'kind' && !known.includes(name));
  return [...known, ...others].flatMap((name) => {
    const value = spec[name];
    return value === undefined ? [] : [[name, settingText(value, fieldOf(name))] as const];
  });
}

export function settingText(value: unknown, field?: Pick<ActionField, 'words'>): string {
  const text = field?.words?.tell(value) ?? (typeof value === 'string' ? withoutSecrets(value) : pairsText(value));
  return text.length <= shownMax ? text : `${text.slice(0, shownMax - 1)}…`;
}

function pairsText(value: unknown): string {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.entries(value)
        .map(([name, one]) => `${name}: ${hidden(name, typeof one === 'string' ? one : JSON.stringify(one))}`)
        .join('\n')
    : withoutSecrets(JSON.stringify(value));
}

const secretive = /authorization|cookie|token|secret|password|passwd|signature|api[-_]?key/i;
const hiddenSign = '•••';

/** The name of a secret alone may be read by everybody. */
function hidden(name: string, value: string): string {
  const isNamed = /^\s*(?:\w+\s+)?\{\{[^}]*\}\}\s*$/.test(value);
  return secretive.test(name) && !isNamed ? hiddenSign : withoutSecrets(value);
}

/** Addresses carry keys as parameters and as userinfo. */
export function withoutSecrets(text: string): string {
  return text
    .replace(/([?&][^=&\s]*(?:key|token|secret|signature|password)[^=&\s]*=)(?!\{\{)[^&#\s]+/gi, `$1${hiddenSign}`)
    .replace(/(:\/\/)[^/@\s]+@/g, `$1${hiddenSign}@`);
}
