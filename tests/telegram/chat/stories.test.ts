import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Person } from '../../../src/telegram/chat/context.ts';
import { minute } from '../../support/pipeline.ts';
import { ada, aTalk, bob, labels, root, type By, type Message, type Pressing, type Talk } from './talk.ts';

const folder = new URL('../../../fixtures/words/', import.meta.url);

/**
 * Each file of fixtures/words is a story. A line behind `> ` is done: `Ada: words`, `Ada in reply: words`, `Ada edits: words`, `Ada: [button]`,
 * `Ada: {callback data}`, `5 minutes later`, `Ada leaves` or `Ada is back`; the answer stands below. `npx vitest run tests/telegram/chat/stories.test.ts -u` writes the answers anew for review.
 */
test.each(readdirSync(folder))('%s is told to the letter', async (name) => {
  const script = readFileSync(new URL(name, folder), 'utf8').split('\n');
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
  const shown: Message[] = [];
  const told = [about.join('\n')];
  for (const step of steps) told.push([`> ${step}`, ...(await played({ talk, shown }, step))].join('\n'));
  await expect(`${told.join('\n\n')}\n`).toMatchFileSnapshot(new URL(name, folder).pathname);
});

const people = new Map([ada, bob, root].map((person) => [person.name, person]));

interface Stage {
  readonly talk: Talk;
  /** Every message of the bot, the newest last. */
  readonly shown: Message[];
}

/** Plays a step, and answers what it brings, line by line. */
async function played(stage: Stage, step: string): Promise<readonly string[]> {
  if (await happens(stage, step)) return [];
  const [, name = '', reply, what = ''] = /^(\w+)( in reply| edits)?: (.+)$/.exec(step) ?? [];
  const person = people.get(name);
  if (person === undefined) throw new Error(`nobody does this: ${step}`);
  const [, label, data] = /^(?:\[(.+)\]|\{(.*)\})$/.exec(what) ?? [];
  if (label !== undefined) return pressed(stage, { person, label });
  if (data !== undefined) return pressed(stage, { person, data });
  if (reply === ' edits') return edited(stage, what, person);
  return said(stage, what, { person, repliesTo: reply === undefined ? null : (stage.shown.at(-1)?.id ?? null) });
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

async function said({ talk, shown }: Stage, words: string, by: Pick<By, 'person' | 'repliesTo'>) {
  const answer = await talk.say(words.replaceAll('\\n', '\n'), by);
  if (answer === null) return ['(silence)'];
  shown.push(answer);
  return [...(answer.isForAsker ? [`(${by.person.name} alone sees it.)`] : []), seen(answer)];
}

type Press = { readonly person: Person } & ({ readonly label: string } | { readonly data: string });

/** Presses the newest button of that label, or sends data as if the newest message had such a button. */
async function pressed({ talk, shown }: Stage, press: Press): Promise<readonly string[]> {
  const message = shown.findLast((one) => 'data' in press || labels(one).flat().includes(press.label));
  if (message === undefined) throw new Error(`nothing can be pressed: ${JSON.stringify(press)}`);
  const before = seen(message);
  const { person } = press;
  const pressing =
    'data' in press
      ? await talk.send(message, press.data, { person })
      : await talk.press(message, press.label, { person });
  shown.push(...pressing.messages);
  const after = seen(message);
  return [toastOf(pressing), ...(after === before ? [] : [after]), ...pressing.messages.map(seen)];
}

function seen(message: Message): string {
  const rows = labels(message).map((row) => row.map((text) => `[${text}]`).join(' '));
  return [message.text.replace(/^(Database: ).*$/m, '$1…'), ...rows].join('\n');
}

function toastOf({ toast, isAlert }: Pressing): string {
  return `(${isAlert ? 'a window: ' : ''}${toast ?? ''})`;
}
