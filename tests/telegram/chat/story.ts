import { readdirSync, readFileSync } from 'node:fs';
import type { Person } from '../../../src/telegram/chat/context.ts';
import { english, inLocale, type Locale } from '../../../src/telegram/chat/texts.ts';
import { minute } from '../../support/pipeline.ts';
import { ada, aTalk, bob, labels, root, type By, type Message, type Pressing, type Talk } from './talk.ts';

const folder = new URL('../../../fixtures/words/', import.meta.url);

export const stories = readdirSync(folder);

export function pathOf(name: string): string {
  return new URL(name, folder).pathname;
}

/** Each step of a story as it was played, with what everybody was shown. */
export interface Played {
  /** The lines above the first step. */
  readonly about: string;
  readonly steps: readonly { readonly step: string; readonly told: readonly string[] }[];
  readonly presses: readonly Place[];
  readonly shown: readonly Message[];
  readonly toasts: readonly string[];
}

/** A button, by its place: its label is another one in another language. */
interface Place {
  readonly message: number;
  readonly button: number;
}

/** Plays a story; in another language the buttons are pressed that were pressed in English. */
export async function playStory(
  name: string,
  locale: Locale = english,
  presses: readonly Place[] = [],
): Promise<Played> {
  const script = readFileSync(pathOf(name), 'utf8').split('\n');
  const about = script.slice(0, script.indexOf(''));
  const steps = script.filter((line) => line.startsWith('> ')).map((line) => line.slice(2));
  const isPrivate = about.some((line) => line.includes('private chat'));
  const talk = await aTalk({ kind: isPrivate ? 'private' : 'supergroup' });
  const { store, time } = talk.pipeline;
  await store.noteMember({
    chatId: (await talk.chat()).id,
    userId: ada.actor,
    status: 'admin',
    checkedAt: time.now(),
  });
  const stage: Stage = { talk, shown: [], toasts: [], presses: [], given: [...presses] };
  const told: Played['steps'][number][] = [];
  for (const step of steps) told.push({ step, told: await inLocale(locale, () => played(stage, step)) });
  return { about: about.join('\n'), steps: told, presses: stage.presses, shown: stage.shown, toasts: stage.toasts };
}

const people = new Map([ada, bob, root].map((person) => [person.name, person]));

interface Stage {
  readonly talk: Talk;
  /** Every message of the bot, the newest last. */
  readonly shown: Message[];
  readonly toasts: string[];
  /** The buttons that were pressed by their labels. */
  readonly presses: Place[];
  /** The buttons to press in their place. */
  readonly given: Place[];
}

/** Plays a step, and answers what it brings, line by line. */
async function played(stage: Stage, step: string): Promise<readonly string[]> {
  if (await happens(stage, step)) return [];
  const [, name = '', where = '', what = ''] = /^(\w+)( in reply| edits| in #\d+| about #\d+)?: (.+)$/.exec(step) ?? [];
  const person = people.get(name);
  if (person === undefined) throw new Error(`nobody does this: ${step}`);
  const [, label, data] = /^(?:\[(.+)\]|\{(.*)\})$/.exec(what) ?? [];
  if (label !== undefined) return pressed(stage, { person, label });
  if (data !== undefined) return pressed(stage, { person, data });
  if (where === ' edits') return edited(stage, what, person);
  return said(stage, what, { person, ...(await spotOf(stage, where.trim())) });
}

async function edited({ talk, shown }: Stage, words: string, person: Person) {
  const answer = await talk.edit(words, { person });
  if (answer === null) return ['(silence)'];
  if (!shown.includes(answer)) shown.push(answer);
  return [seen(answer)];
}

/** False where the step is one that a person does to the bot. */
async function happens({ talk }: Stage, step: string): Promise<boolean> {
  const { store, time, pass } = talk.pipeline;
  const [, minutes, name = '', move] = /^(?:(\d+) minutes? later|(\w+) (leaves|is back))$/.exec(step) ?? [];
  const userId = people.get(name)?.actor;
  if (minutes !== undefined) await pass(Number(minutes) * minute);
  else if (userId === undefined) return false;
  else {
    const status = move === 'leaves' ? 'out' : 'member';
    await store.noteMember({ chatId: (await talk.chat()).id, userId, status, checkedAt: time.now() });
  }
  return true;
}

type Spot = Pick<By, 'topic' | 'repliesTo'>;

async function spotOf({ talk, shown }: Stage, where: string): Promise<Spot> {
  const number = /#(\d+)$/.exec(where)?.[1];
  if (number === undefined) return { topic: null, repliesTo: where === '' ? null : (shown.at(-1)?.id ?? null) };
  const { store, rooms } = talk.pipeline;
  const task = await store.taskByNumber((await talk.chat()).id, Number(number));
  if (task === null) throw new Error(`there is no task ${where}`);
  if (where.startsWith('in')) return { topic: task.topicId, repliesTo: null };
  const { items } = await rooms.tasks.listRuns({ taskId: task.id, status: 'succeeded', limit: 1, cursor: null });
  return { topic: task.topicId, repliesTo: items[0]?.deliveries[0]?.messageId ?? null };
}

async function said({ talk, shown }: Stage, words: string, by: Spot & Pick<By, 'person'>) {
  const answer = await talk.say(words.replaceAll('\\n', '\n'), by);
  const [reaction, changed] = [talk.reaction(), talk.changed()];
  const beside = [
    ...(reaction === null ? [] : [`(a reaction: ${reaction})`]),
    ...(changed === null ? [] : [`(a message is changed:)`, seen(changed)]),
  ];
  if (answer !== null && !shown.includes(answer)) shown.push(answer);
  if (answer === null || answer === changed) return beside.length === 0 ? ['(silence)'] : beside;
  return [...beside, ...(answer.isForAsker ? [`(${by.person.name} alone sees it.)`] : []), seen(answer)];
}

type Press = { readonly person: Person } & ({ readonly label: string } | { readonly data: string });

/** Presses the newest button of that label, or sends data as if the newest message had such a button. */
async function pressed(stage: Stage, press: Press): Promise<readonly string[]> {
  const { talk, shown, toasts } = stage;
  const place = 'data' in press ? null : placeOf(stage, press.label);
  const message = place === null ? shown.at(-1) : shown[place.message];
  if (message === undefined) throw new Error(`nothing can be pressed: ${JSON.stringify(press)}`);
  const before = seen(message);
  const { person } = press;
  const pressing =
    'data' in press
      ? await talk.send(message, press.data, { person })
      : await talk.press(message, labels(message).flat()[place?.button ?? 0] ?? '', { person });
  shown.push(...pressing.messages);
  if (pressing.toast !== null) toasts.push(pressing.toast);
  const after = seen(message);
  return [toastOf(pressing), ...(after === before ? [] : [after]), ...pressing.messages.map(seen)];
}

function placeOf({ shown, presses, given }: Stage, label: string): Place {
  const message = shown.findLastIndex((one) => labels(one).flat().includes(label));
  const place = given.shift() ?? {
    message,
    button: labels(shown[message] ?? missing(label))
      .flat()
      .indexOf(label),
  };
  presses.push(place);
  return place;
}

function missing(label: string): never {
  throw new Error(`no message has the button ${label}`);
}

function seen(message: Message): string {
  const rows = labels(message).map((row) => row.map((text) => `[${text}]`).join(' '));
  return [message.text.replace(/^(Database: ).*$/m, '$1…'), ...rows].join('\n');
}

function toastOf({ toast, isAlert }: Pressing): string {
  return `(${isAlert ? 'a window: ' : ''}${toast ?? ''})`;
}
