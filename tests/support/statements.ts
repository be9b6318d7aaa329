import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Ask, Engine, Script } from '../../src/store/engine/engine.ts';
import { written, type Dialect, type Shape } from '../../src/store/engine/sql.ts';

const folder = fileURLToPath(new URL('../../src/store/', import.meta.url));

/** A text of SQL in the sources: what stands between the parts that are put into it. */
export interface Written {
  readonly where: string;
  readonly chunks: readonly string[];
}

/** All that the store writes in SQL: templates, and texts that are handed to the engine as they stand. */
function writtenStatements(): readonly Written[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.ts') && !/^(?:engine|tables|files|jobs)\//.test(name),
  );
  return files.flatMap((name) => {
    const text = readFileSync(join(folder, name), 'utf8');
    const found: Written[] = [];
    templatesIn(text, { from: 0, until: '' }, (at, chunks) => {
      if (!isStatement(text.slice(0, at))) return;
      const line = text.slice(0, at).split('\n').length;
      found.push({ where: `${name}:${line}`, chunks: chunks.map(plain).filter((chunk) => chunk !== '') });
    });
    return found;
  });
}

/** Tagged, or handed to `raw`. */
function isStatement(before: string): boolean {
  return /[\w)]$/.test(before) || /\braw\(\s*$/.test(before);
}

interface Stretch {
  readonly from: number;
  /** The sign with which it ends; all of the text without one. */
  readonly until: '' | '}';
}

/** Walks code, and answers where it has ended; each template is told with what stands between its parts. */
function templatesIn(text: string, { from, until }: Stretch, tell: (at: number, chunks: string[]) => void): number {
  let depth = 0;
  for (let at = from; at < text.length; at += 1) {
    const sign = text[at] ?? '';
    const skipped = /^(?:\/\/[^\n]*|\/\*[^]*?\*\/|'(?:[^'\\\n]|\\.)*')/.exec(text.slice(at, at + 4000))?.[0];
    if (skipped !== undefined) at += skipped.length - 1;
    else if (sign === '`') at = templateAt(text, at, tell);
    else if (sign === '{') depth += 1;
    else if (sign === '}' && depth > 0) depth -= 1;
    else if (sign === '}' && until === '}') return at;
  }
  return text.length;
}

/** The end of the template that begins there. */
function templateAt(text: string, start: number, tell: (at: number, chunks: string[]) => void): number {
  const chunks = [''];
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === '`') {
      tell(start, chunks);
      return at;
    }
    if (text.startsWith('${', at)) {
      at = templatesIn(text, { from: at + 2, until: '}' }, tell);
      chunks.push('');
      continue;
    }
    if (text[at] === '\\') at += 1;
    chunks[chunks.length - 1] += text[at] ?? '';
  }
  return text.length;
}

/** One space where there are several, and one sign for whatever is bound. */
function plain(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

const run = new Set<string>();
let dialect: Dialect = 'sqlite';

/** Files that one process tests have one memory, which is emptied for each. */
export function forgetRun(): void {
  run.clear();
}

function note(ask: Ask): void {
  const text = (shape: Shape) => plain(written(shape, 'sqlite', () => '?'));
  if (ask.does === 'update')
    run.add(`update ${ask.change.table} set ${text(ask.change.set)} where ${text(ask.change.where)}`);
  else if (ask.does === 'insert') run.add(text(ask.into.conflict));
  else if (ask.does === 'rows' || ask.does === 'hold') run.add(text(ask.sql.shape));
}

/** The engine, which remembers what it was asked. */
export function remembering(engine: Engine): Engine {
  ({ dialect } = engine);
  function* noted<T>(script: Script<T>): Script<T> {
    let step = script.next();
    while (step.done !== true) {
      note(step.value);
      step = script.next(yield step.value);
    }
    return step.value;
  }
  return {
    ...engine,
    read: (script) => engine.read(() => noted(script())),
    transact: (script) => engine.transact(() => noted(script())),
    transactLightly: (script) => engine.transactLightly(() => noted(script())),
  };
}

/** What one of the engines alone knows. */
const ofPostgres = /\b(?:txid_|pg_)/;

/** Where a statement stands that the engine was never asked. */
export function neverRun(): readonly string[] {
  const texts = [...run];
  return writtenStatements()
    .filter(({ chunks }) => dialect === 'postgres' || !chunks.some((chunk) => ofPostgres.test(chunk)))
    .filter(({ chunks }) => !texts.some((text) => hasAll(text, chunks)))
    .map(({ where, chunks }) => `${where} ${chunks.join(' ... ').slice(0, 120)}`);
}

function hasAll(text: string, chunks: readonly string[]): boolean {
  let from = 0;
  for (const chunk of chunks) {
    const at = text.indexOf(chunk, from);
    if (at < 0) return false;
    from = at + chunk.length;
  }
  return true;
}
