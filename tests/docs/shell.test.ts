import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { operations } from '../../src/api/operations.ts';
import { composeCli } from '../../src/compose/cli.ts';
import { CONFIG_KEYS, unbuilt } from '../../src/config/config.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (name: string) => readFileSync(`${root}${name}`, 'utf8');
const below = (folder: string, end: string) =>
  readdirSync(`${root}${folder}`, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(end))
    .map((name) => `${folder}/${name}`);
const pages = ['README.md', ...below('docs', '.md')];
// What the measured table names was not typed.
const texts = [
  ...pages.filter((name) => !['docs/measured.md', 'docs/scale.md'].includes(name)),
  'fixtures/alerts.yaml',
  'compose.yaml',
  '.env.example',
  ...below('src', '.ts'),
];

const program = composeCli({
  terminal: {
    out: () => undefined,
    err: () => undefined,
    showsProgress: false,
    canAsk: false,
    hasColours: false,
    columns: 80,
    read: async () => '',
    ask: async () => '',
    askHidden: async () => '',
  },
  interrupted: new AbortController().signal,
  version: '1.2.3',
  environment: {},
}).command;

const asWords = (text: string) => text.match(/"[^"]*"|'[^']*'|\S+/g) ?? [];

/** Stands for what the program fills in. */
const filled = '…';

/** The first word that the command line would not take; null when all is well. In a sentence of a chat more words follow. */
function unknownIn(text: string, isSentence: boolean): string | null {
  let [at, words]: [Command, readonly string[]] = [program, asWords(text)];
  for (;;) {
    const [word] = words;
    const next = at.commands.find((one) => one.name() === word);
    if (next === undefined) break;
    [at, words] = [next, words.slice(1)];
  }
  const [first = null] = words;
  if (at.commands.length === 0)
    return unknownAmong(at, isSentence ? words.filter((word) => word.startsWith('-')) : words);
  return first === null || first === filled || first.startsWith('-') ? null : first;
}

function unknownAmong(verb: Command, words: readonly string[]): string | null {
  const options = [...verb.options, ...program.options];
  let places = verb.registeredArguments.some(({ variadic }) => variadic) ? Infinity : verb.registeredArguments.length;
  let isValue = false;
  for (const typed of words) {
    const word = typed.replace(/^\[(.*)\]$/, '$1');
    const [name = '', value] = word.split('=');
    const option = options.find(({ long, short }) => long === name || short === name);
    if (isValue) isValue = false;
    else if (option !== undefined) isValue = option.required && value === undefined;
    else if (word.startsWith('--') && word !== '--') return word;
    else if (word !== '--' && (places -= 1) < 0) return word;
  }
  return null;
}

/** Commands within a text: to the end of the quotes, the line, the pipe or the sentence. */
function commandsIn(name: string): readonly string[] {
  const text = read(name).replaceAll(/\$\{[^}]*\}|<[a-z][^>\n]*>/g, filled);
  const found = text.matchAll(/(?<![\w.@/:-])cronogram ((?!cronogram\b)(?:[a-z]|--)[^`\n|;&>()]*)/g);
  return [...found].map(([, line = '']) => {
    const isCode = name.startsWith('src/') || name.endsWith('.yaml');
    // A quote that is not opened in it is the end of the text in which it stands.
    const whole = isCode ? (/^(?:[^'"]|"[^"]*"(?=\s|$)|'[^']*'(?=\s|$))*/.exec(line)?.[0] ?? '') : line;
    return whole
      .replace(/\s#.*$/, '')
      .replace(/\.(?:\s.*)?$/, '')
      .trim();
  });
}

describe('a command of the shell', () => {
  it.each(texts.filter((name) => commandsIn(name).length > 0))('in %s exists, with its options', (name) => {
    const faults = commandsIn(name).filter((line) => unknownIn(line, name.includes('/chat/')) !== null);
    expect(faults).toEqual([]);
  });

  it('is in the list of the manual, and the list has no other', () => {
    const rows = read('docs/cli.md').split('## All commands')[1]?.split('\n##')[0] ?? '';
    const listed = rows.split('\n').flatMap((row) => {
      const [, cell = ''] = row.split('|');
      return [...cell.matchAll(/`([^`]+)`/g)].flatMap(([, span = '']) => {
        const [first = '', ...others] = span.replaceAll(/ (?:\[[^\]]*\]|<[^>]*>)/g, '').split(/, /);
        const group = /^(\w+) /.exec(first)?.[1];
        return [
          first,
          ...others.map((other) => (group === undefined || other.includes(' ') ? other : `${group} ${other}`)),
        ];
      });
    });
    const there = program.commands.flatMap((one) =>
      one.commands.length === 0 ? [one.name()] : one.commands.map((verb) => `${one.name()} ${verb.name()}`),
    );
    const silent = new Set(['help', 'complete']);
    expect(listed.toSorted()).toEqual(there.filter((line) => !silent.has(line)).toSorted());
  });
});

describe('a request that the pages and the alerts name', () => {
  const shape = (path: string) => path.replaceAll(/\{\w+\}/g, '{}').replaceAll(/\$\w+/g, '{}');
  const there = new Set(Object.values(operations).map(({ method, path }) => `${method.toUpperCase()} ${shape(path)}`));
  const named = [...pages, 'fixtures/alerts.yaml'].flatMap((name) =>
    [...read(name).matchAll(/\b(GET|POST|PUT|PATCH|DELETE) (\/(?:v1\/)?[a-z][\w/{}$-]*)/g)].map(
      ([, method = '', path = '']) => `${method} ${shape(path)}`,
    ),
  );

  it('is there', () => {
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((request) => !there.has(request))).toEqual([]);
  });
});

describe('a variable that the pages and the alerts name', () => {
  const known = [...CONFIG_KEYS, ...unbuilt, 'NO_COLOR'];
  const named = [...pages, 'fixtures/alerts.yaml'].flatMap((name) =>
    [...read(name).matchAll(/\b([A-Z]{2,}(?:_[A-Z]+)+)\b/g)].map(([, variable = '']) => variable),
  );

  it('is there', () => {
    // Names of secrets in examples begin with SHOP.
    const foreign = /^(?:CRONOGRAM_\w+|\w+_FILE|NODE_ENV|SHOP_\w+|(?:SECRET_)?WEATHER_KEY\w*)$/;
    expect(new Set(named).size).toBeGreaterThan(20);
    expect([...new Set(named)].filter((name) => !known.includes(name) && !foreign.test(name))).toEqual([]);
  });
});
