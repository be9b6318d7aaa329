import { describe, expect, it } from 'vitest';
import { type ActionForm, variantText } from '../../../../src/app/actions/form.ts';
import { forms } from '../../../../src/app/actions/forms.ts';
import { commands, commandsFor } from '../../../../src/telegram/chat/commands.ts';
import { commandExamples, wordExamples } from '../../../../src/telegram/chat/help/topics.ts';
import { ada, aTalk, bob, type Message, refused, root, type TalkOptions } from '../talk.ts';

const names = commands.map(({ name }) => name);
const isOwners = (name: string) => name === 'allow';

async function help(words: string, options: TalkOptions = {}, person = ada): Promise<string> {
  const { shown } = await (await aTalk(options)).ask(`/help ${words}`.trim(), { person });
  return shown.text;
}

/** The lines that can be copied, without what stands behind them. */
function copied({ shown }: Message): readonly string[] {
  return (shown.entities ?? [])
    .filter(({ type }) => type === 'code')
    .map(({ offset, length }) => shown.text.slice(offset, offset + length));
}

describe('/help', () => {
  it('is about everyday things, and fits a phone', async () => {
    const text = await help('');
    const lines = text.split('\n').filter((line) => line !== '');
    expect(lines.length).toBeLessThanOrEqual(22);
    for (const name of ['new', 'tasks', 'edit', 'snooze', 'skip', 'pause', 'resume', 'why', 'undo', 'next']) {
      expect(text).toContain(`/${name}`);
    }
    for (const words of ['until done', 'done', 'later', 'in 1 hour', 'schedule this', 'file']) {
      expect(text).toContain(words);
    }
    expect(text.split('\n').at(-1)).toBe('More: /help all or /help snooze');
  });

  it('says in a group how the bot is called there, and in a private chat only what to write', async () => {
    expect(await help('')).toContain('@cronogram_bot schedule this tomorrow at 9');
    expect(await help('', { kind: 'private' })).not.toContain('@cronogram_bot');
  });

  it('leads to every command that there is, and to those of owners only owners', async () => {
    const forOwner = await help('all', {}, root);
    const forMember = await help('all', {}, bob);
    for (const name of names) {
      expect(forOwner).toContain(`/${name}`);
      expect(forMember.includes(`/${name}`)).toBe(!isOwners(name));
    }
    const all = commandsFor(Object.values(forms)).map(({ name }) => name);
    const named = [...forOwner.matchAll(/(?<![\w/])\/([a-z]+)/g)].map(([, name]) => name);
    expect(named.filter((name) => name === undefined || !all.includes(name))).toEqual([]);
    expect(forOwner.length).toBeLessThan(4096);
  });

  it('leads to every word that it explains', async () => {
    const text = await help('all');
    for (const word of Object.keys(wordExamples)) expect(text).toContain(word);
  });

  it('explains each command by up to five examples, each with what it does', async () => {
    expect(Object.keys(commandExamples).toSorted()).toEqual(names.toSorted());
    for (const name of names) {
      const text = await help(name, {}, root);
      expect(text).toMatch(new RegExp(`^/${name} – \\S`));
      const [, ...examples] = text.split('\n').filter((line) => line !== '');
      expect(examples.length).toBeGreaterThan(0);
      expect(examples.length).toBeLessThanOrEqual(6);
      for (const line of examples) expect(line).toMatch(/^\S.* – \S/);
    }
  });

  it('explains words that are no commands, whatever people call them', async () => {
    for (const [word, { also, examples }] of Object.entries(wordExamples)) {
      const text = await help(word);
      expect(examples.length).toBeLessThanOrEqual(6);
      for (const [words, does] of examples) expect(text).toContain(`${words} – ${does}`);
      for (const other of also) expect(await help(other.toUpperCase())).toBe(text);
    }
    for (const word of ['confirm', 'done', 'remind', 'quiet', 'files', 'reply', 'zone']) {
      expect(Object.keys(wordExamples)).toContain(word);
    }
    expect(await help('quiet hours')).toBe(await help('quiet'));
    expect(await help('/undo')).toBe(await help('undo'));
  });

  it('names each kind of a setting that has several, with its parts and what it does', async () => {
    const text = await help('http');
    expect(text).toContain('basic USERNAME SECRET – signs in with a name');
    expect(text).toContain('oauth2 token_url=... client_id=... [secret=...]');
    const kinds = Object.values<ActionForm>(forms).flatMap(({ fields }) =>
      fields.flatMap((field) => field.kinds ?? []),
    );
    for (const one of kinds) expect(text).toContain(`${variantText(one)} – ${one.does}`);
    expect(kinds.length).toBeGreaterThan(5);
    expect(text.length).toBeLessThan(4096);
  });

  it('says so when it knows nothing about a word, and what it knows', async () => {
    const text = await help('weather');
    expect(text).toContain('I have no help on “weather”.');
    expect(text).toContain('/snooze');
    expect(text).toContain('confirm');
    expect(text).not.toContain('/allow');
    expect(await help('allow', {}, bob)).toContain('I have no help on “allow”.');
    expect(await help('constructor')).toContain('I have no help on “constructor”.');
  });

  it('shows nothing that does not work as it stands', async () => {
    const all = [...Object.values(commandExamples), ...Object.values(wordExamples).map(({ examples }) => examples)];
    const written = [...new Set(all.flat().map(([words]) => words))].filter((words) => words.startsWith('/'));
    const shortHelp = await (await aTalk()).ask('/help');
    const tried = [...written, ...copied(shortHelp).filter((words) => words.startsWith('/'))];
    const failing: string[][] = [];
    for (const words of tried.filter((one) => !isAlone(one))) {
      const talk = await aTalk();
      for (const title of ['Water the plants', 'Bins out', 'Lunch']) {
        await talk.press(await talk.ask(`/new every day at 12 ${title}`), 'Create');
      }
      await talk.ask(before.find(([pattern]) => pattern.test(words))?.[1] ?? '/tasks', { person: root });
      const { shown } = await talk.ask(words, { person: root });
      if (refused.test(shown.text)) failing.push([words, shown.text]);
    }
    expect(failing).toEqual([]);
  });
});

/** Settings that must hold before it makes a difference. */
const before: readonly (readonly [RegExp, string])[] = [
  [/^\/(?:undo|resume)/, '/pause #3'],
  [/^\/digest (?:now|off)/, '/digest daily 8:00'],
  [/^\/allow off/, '/allow 123456789'],
];

/** These are said in the topic of a task, below a file or as a reply, and ask where they stand alone. */
function isAlone(words: string): boolean {
  return /^\/(?:task|run|pause|skip|delete|history|cancel|topic delete)$/.test(words) || words === '/new tomorrow at 9';
}
