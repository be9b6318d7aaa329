import { settingText } from '../../../app/actions/form.ts';
import { type Policies, policyNames, policyOf } from '../../../domain/policy.ts';
import type { Drawn } from '../../../domain/shown.ts';
import type { Task } from '../../../domain/task.ts';
import { formOf } from '../kit/action.ts';
import { cardText, type CardFacts } from '../kit/card.ts';
import { dayMoment, settingOf, zoneOf } from '../kit/clock.ts';
import { policyName, policyWords } from '../kit/policy.ts';
import { button, dataOf, shortId, inRows } from '../kit/press.ts';
import { blocks, drawn, type Rich } from '../kit/rich.ts';
import { texts } from '../texts.ts';
import { choicePatch, exampleOf } from './field-words.ts';
import { isRepeating } from './retiming.ts';

/** The menus in which a task is changed, in place of the card's own buttons. */

export function editMenu(task: Task, facts: CardFacts): Drawn {
  const { button: words, edit, field } = texts;
  const id = shortId(task.id);
  const told = blocks(cardText(task, { ...facts, isUnfolded: true }), edit.menu, settingsHint(task));
  return drawn(told, [
    [
      button(field.button.time, dataOf('editwhat', id, 'time')),
      hasText(task) ? button(field.button.text, dataOf('editwhat', id, 'text')) : null,
      button(field.button.title, dataOf('editwhat', id, 'title')),
    ],
    [
      isRepeating(task) ? button(field.button.days, dataOf('field', id, 'days')) : null,
      button(field.button.zone, dataOf('field', id, 'zone')),
      button(field.button.more, dataOf('field', id, 'more')),
    ],
    [button(words.back, dataOf('task', id))],
  ]);
}

/** An action that needs no text has settings, which are written. */
function hasText({ action }: Task): boolean {
  return formOf(action.kind)?.text !== 'note';
}

function settingsHint({ number, action }: Task): Rich | null {
  const [first, ...others] = (formOf(action.kind)?.fields ?? []).filter(({ isEditable }) => isEditable === true);
  if (first === undefined) return null;
  const names = [first, ...others].map(({ name }) => name);
  return texts.action.editHint(number, first.name, settingText(first.example), names);
}

/** The settings that have a menu of their own. */
export const settings = ['missed', 'ack', 'quiet', 'approval', 'unchanged', 'keep', 'ends'] as const;
export type SettingName = (typeof settings)[number];

export function isSetting(name: string): name is SettingName {
  return settings.some((each) => each === name);
}

/** The other settings that can be changed, with how they stand. */
export function moreMenu(task: Task, facts: CardFacts): Drawn {
  const { field, button: words } = texts;
  const id = shortId(task.id);
  const row = (names: readonly SettingName[]) =>
    names.map((name) => button(field.button[name], dataOf('field', id, name)));
  return drawn(blocks(cardText(task, { ...facts, isUnfolded: true }), field.menu.more), [
    row(['missed', 'ack', 'unchanged']),
    row(['quiet', 'approval']),
    row(['keep', 'ends']),
    [button(words.back, dataOf('edit', id))],
  ]);
}

/** One setting: how it stands, what else it can be, and how to write what has no button. */
export function settingMenu(task: Task, name: SettingName, now: number): Drawn {
  const { field, button: words } = texts;
  const id = shortId(task.id);
  const choices = Object.entries(field.choices[name] ?? {}).map(([value, label]) =>
    button(isChosen(task, name, value, now) ? words.chosen(label) : label, dataOf('fieldset', id, name, value)),
  );
  const label = name === 'ack' ? policyName(name) : field.button[name];
  return drawn(field.menu.ask(label, valueOf(task, name, now), `#${task.number} ${exampleOf(name)}`), [
    ...inRows(choices, 2),
    [button(words.back, dataOf('field', id, 'more'))],
  ]);
}

export function zoneMenu(task: Task, zones: readonly string[]): Drawn {
  const { field, button: words } = texts;
  const id = shortId(task.id);
  const own = zoneOf(task);
  const rows = [...new Set([own, ...zones])].map((zone) =>
    button(zone === own ? words.chosen(zone) : zone, dataOf('fieldset', id, 'zone', zone)),
  );
  return drawn(field.menu.ask(field.button.zone, own, `#${task.number} zone Europe/Madrid`), [
    ...inRows(rows, 2),
    [button(words.back, dataOf('edit', id))],
  ]);
}

function valueOf(task: Task, name: SettingName, now: number): string {
  const setting = settingOf(task, now);
  const { policies } = task;
  if (name !== 'ends') {
    const policy = name === 'unchanged' ? 'skip_if_unchanged' : name;
    return policyWords(policy, policies[policy], setting);
  }
  const { until, max_runs: runs } = policies;
  const ends = [
    until === undefined ? null : dayMoment(Date.parse(until), setting),
    runs === undefined ? null : `${policyName('max_runs').toLowerCase()} ${policyWords('max_runs', runs, setting)}`,
  ].filter((each) => each !== null);
  return ends.length === 0 ? texts.field.never : ends.join(', ');
}

/** The button that says what holds now; none where its value is another one. */
function isChosen(task: Task, name: SettingName, value: string, now: number): boolean {
  const { policies = {} } = choicePatch(task, name, value, now) ?? {};
  const force = (chosen: Policies) => JSON.stringify(policyOf(chosen, { actionKind: 'message', minGapMs: null }));
  const named = policyNames.filter((each) => each in policies);
  const holds = named.filter((each) => {
    const [has, had] = [policies[each] ?? undefined, task.policies[each]];
    return has === undefined || had === undefined ? has === had : force({ [each]: has }) === force({ [each]: had });
  });
  return named.length > 0 && holds.length === named.length;
}
