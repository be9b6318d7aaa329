import { type ActionField, type ActionForm, settingFrom, settingText } from '../../../app/actions/form.ts';
import { forms } from '../../../app/actions/forms.ts';
import type { TaskPatch } from '../../../app/tasks/edit.ts';
import type { ActionSpec, Task } from '../../../domain/task.ts';
import { texts } from '../texts.ts';
import type { FieldWords } from './field-words.ts';

/** Settings of an action that `/edit` understands: each by its name, with its value behind it. */

function editable(form: ActionForm | undefined): readonly ActionField[] {
  return (form?.fields ?? []).filter(({ isEditable }) => isEditable === true);
}

/** Pairs are written one by one, so that one is called by the singular; and names in several words as people write them. */
function namesOf({ name, is }: ActionField): readonly string[] {
  return is === 'pairs' ? [name, name.replace(/s$/, '')] : [...new Set([name, name.replaceAll('_', ' ')])];
}

/** True where the words begin with the name of a setting of any kind. */
export function isSetting(words: string, forms: readonly ActionForm[]): boolean {
  return forms.some((form) => fieldNamed(words, form) !== null);
}

function fieldNamed(words: string, form: ActionForm | undefined) {
  for (const field of editable(form)) {
    for (const name of namesOf(field)) {
      const match = new RegExp(`^${name}(?:\\s*[:=]\\s*|\\s+|$)`, 'i').exec(words);
      if (match !== null) return { field, value: words.slice(match[0].length).trim() };
    }
  }
  return null;
}

/** The setting with which the words begin, and its new value; null where they begin with none. */
export function settingIn(words: string, task: Task, form: ActionForm | undefined): FieldWords | null {
  const found = fieldNamed(words, form);
  if (found === null) return null;
  const { field, value } = found;
  const read = value === '' ? undefined : settingFrom(field, value, task.action[field.name]);
  if (read === undefined) {
    const example = `${namesOf(field).at(-1) ?? field.name} ${exampleText(field, value)}`;
    return { is: 'unread', word: value, field: field.name, example };
  }
  return { is: 'patch', patch: patchOf(task, form, { ...task.action, [field.name]: read }) };
}

/** Of the kind with which what cannot be read begins, where it begins with one. */
function exampleText({ example: usual, main, is, words, kinds = [] }: ActionField, written: string): string {
  const [word = ''] = written.toLowerCase().split(/\s/, 1);
  const example = kinds.find(({ kind }) => kind === word)?.example ?? usual;
  const settings = typeof example === 'object' && example !== null ? Object.entries(example) : [];
  if (main !== undefined) return String(settings.find(([name]) => name === main)?.[1] ?? '');
  if (is === 'pairs')
    return settings
      .slice(0, 1)
      .map(([name, value]) => `${name}: ${String(value)}`)
      .join();
  if (Array.isArray(example)) return example.join(', ');
  return settingText(example, words === undefined ? {} : { words });
}

/** A title that told what was called goes along with it; one that somebody chose stays. */
function patchOf({ title, action }: Task, form: ActionForm | undefined, settings: object): TaskPatch {
  const next = Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== null)) as ActionSpec;
  const isDerived = form?.title?.(action) === title;
  const named = form?.title?.(next) ?? '';
  return { action: next, ...(isDerived && named !== '' && named !== title ? { title: named } : {}) };
}

/** A name that several kinds have means the same in each. */
const fieldsByName = new Map(
  Object.values<ActionForm>(forms).flatMap(({ fields }) => fields.map((field) => [field.name, field])),
);

/** The settings that are not what they were, in words: their name, before and after. */
export function settingChanges(before: unknown, after: unknown): readonly (readonly [string, string, string])[] {
  const [had, has] = [recordOf(before), recordOf(after)];
  const names = [...new Set([...Object.keys(had), ...Object.keys(has)])].filter((name) => name !== 'media');
  return names
    .filter((name) => JSON.stringify(had[name]) !== JSON.stringify(has[name]))
    .map((name) => [name, told(name, had[name]), told(name, has[name])] as const);
}

function told(name: string, value: unknown): string {
  return value === undefined ? texts.field.byDefault : settingText(value, fieldsByName.get(name));
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
