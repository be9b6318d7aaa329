import { existsSync, readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { captionLengthMax, titleLengthMax } from '../../../src/domain/limits.ts';
import { english } from '../../../src/telegram/chat/texts.ts';
import { callsOf, constantIn, propertyIn, sourceOf } from '../../support/longest.ts';
import { pseudo } from '../../support/pseudo.ts';

const folder = 'src/telegram/chat';
const stories = readdirSync(folder)
  .map((name) => `${folder}/${name}/english.ts`)
  .filter((path) => existsSync(path));
/** Tables below the chat, whose words it gives them. */
const below = [
  'src/app/words/digest.ts',
  'src/domain/policy-faults.ts',
  'src/domain/schedule/advice.ts',
  'src/domain/when/english.ts',
];
/** Told by facts that no type bounds; `tests/domain/schedule` writes their longest. */
const byFacts = new Set(['schedule', 'why']);
const modules = await Promise.all(
  [...stories, ...below].map(async (path) => {
    const exported: unknown = await import(/* @vite-ignore */ resolve(path));
    return { path, exported: Object.entries(exported ?? {}) };
  }),
);

type Place = ReturnType<typeof constantIn>;

interface Told {
  readonly path: string;
  readonly text: string;
}

function isSaying(value: unknown): value is (...args: readonly unknown[]) => unknown {
  return typeof value === 'function';
}

/** Every text below a value, functions called with the longest that they can be given. */
function told(source: ReturnType<typeof sourceOf>, place: Place, value: unknown, path: string): readonly Told[] {
  if (typeof value === 'string') return [{ path, text: value }];
  if (isSaying(value)) {
    return callsOf(source, place).flatMap((call) => told(source, place, value(...call), path));
  }
  if (typeof value !== 'object' || value === null) return [];
  if ('text' in value && 'entities' in value) return [{ path, text: String(value.text) }];
  return Object.entries(value).flatMap(([name, each]) =>
    told(source, propertyIn(place, name), each, `${path}.${name}`),
  );
}

const subjects = Object.keys(english.texts)
  .filter((subject) => !byFacts.has(subject))
  .map((subject) => {
    for (const { path, exported } of modules) {
      const [name] = exported.find(([, value]) => value === Reflect.get(english.texts, subject)) ?? [];
      if (name !== undefined) return { subject, name, path };
    }
    throw new Error(`no file has the texts of ${subject}`);
  });

test.each(subjects)('the texts of $subject fit at their longest in another language', ({ subject, name, path }) => {
  const source = sourceOf(path);
  const all = told(source, constantIn(source, name), Reflect.get(pseudo.texts, subject), subject);
  expect(all.length).toBeGreaterThan(0);
  expect(
    all.filter(({ path: at, text }) => text.length > maxOf(at)).map(({ path: at, text }) => `${at}: ${text.length}`),
  ).toEqual([]);
  expect(all.filter(({ text }) => /undefined|\[object|NaN/.test(text)).map(({ path: at }) => at)).toEqual([]);
});

/** Limits of Telegram, and the width of a phone for buttons. A line below a result may stand in the caption of its file. */
function maxOf(path: string): number {
  if (/\bmenu\.\w+$/.test(path) && path.startsWith('help.')) return 256;
  if (/^(?:digest\.title|setup\.testTitle|wizard\.kinds\b)/.test(path)) return titleLengthMax;
  if (/Line\b/.test(path)) return captionLengthMax;
  if (/Word\b|\btoast\b/.test(path)) return 200;
  return /\b(?:button|choices)\b|^wizard\.rhythms/.test(path) ? 64 : 4096;
}
