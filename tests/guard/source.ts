import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix, relative } from 'node:path';

/** One file of the tree. Guards take a list of these, so that a test can hand them a tree that exists only in memory. */
export interface SourceFile {
  /** From the root of the repository, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

export interface Import {
  readonly file: string;
  readonly line: number;
  readonly specifier: string;
  /** The file meant by a relative specifier, without knowing whether it exists; null for a package. */
  readonly target: string | null;
}

const root = join(import.meta.dirname, '../..');

/** All TypeScript files below the folders. A folder that is missing is an error: a guard must not see nothing. */
export function readTree(...folders: readonly string[]): readonly SourceFile[] {
  return folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .map((name) => posix.join(folder, name.replaceAll('\\', '/')))
      .filter((path) => path.endsWith('.ts'))
      .map((path) => ({ path, text: readText(path) })),
  );
}

/** Every file below the folders, whatever it is; a folder that is not there holds none. */
export function readAll(...folders: readonly string[]): readonly SourceFile[] {
  return folders
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
        .map((path) => ({ path, text: /\.(?:ts|js|css|html|md|json)$/.test(path) ? readText(path) : '' })),
    );
}

export function readText(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

/** What stands for the specifier of an import whose target is computed, and which nobody can judge therefore. */
export const computed = '(computed)';

/** Static, dynamic and type-only imports, and re-exports: every way in which a file names another. */
export function importsOf(file: SourceFile): readonly Import[] {
  const code = codeOf(file.text);
  const naming = /\bfrom\s*(?=['"])|(?<!\.)\bimport\s*\(\s*|\bimport\s*(?=['"])/g;
  return [...code.matchAll(naming)].map((match) => {
    const specifier = plainStringAt(file.text, match.index + match[0].length);
    const target = specifier.startsWith('.') ? posix.join(posix.dirname(file.path), specifier) : null;
    return { file: file.path, line: lineAt(file.text, match.index), specifier, target };
  });
}

function plainStringAt(text: string, index: number): string {
  const quote = text.charAt(index);
  return quote === "'" || quote === '"' ? text.slice(index + 1, text.indexOf(quote, index + 1)) : computed;
}

export function lineAt(text: string, index: number): number {
  return text.slice(0, index).split('\n').length;
}

const blankable = {
  comment: /\/\/[^\n]*|\/\*[\s\S]*?\*\//y,
  quoted: /'(?:\\[\s\S]|[^'\\\n])*'|"(?:\\[\s\S]|[^"\\\n])*"/y,
  regex: /\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/\w*/y,
  /** From a backtick, or from the brace that ends an expression, to the next backtick or expression. */
  template: /[`}](?:\\[\s\S]|\$(?!\{)|[^\\`$])*(?:`|\$\{)/y,
};
const word = /[\w$]+/y;
const wordsBeforeValue = new Set([
  'return',
  'typeof',
  'case',
  'in',
  'of',
  'do',
  'else',
  'void',
  'delete',
  'throw',
  'await',
]);

/**
 * The text with everything blanked that is not code: comments, and the insides of strings, templates and regular
 * expressions. Offsets and lines stay as they were. Expressions inside a template are code and stay.
 */
export function codeOf(text: string): string {
  const out: string[] = [];
  // For each open brace, whether it is the `${` of a template.
  const braces: boolean[] = [];
  let before = '';
  let at = 0;
  while (at < text.length) {
    const token = tokenAt(text, at, { before, inTemplate: braces.at(-1) ?? false });
    at += token.raw.length;
    out.push(token.code);
    if (token.raw.startsWith('}')) braces.pop();
    if (token.code.endsWith('{')) braces.push(token.raw.endsWith('${'));
    if (token.code.trim() !== '') before = token.code;
  }
  return out.join('');
}

function tokenAt(
  text: string,
  at: number,
  context: { before: string; inTemplate: boolean },
): { raw: string; code: string } {
  const char = text.charAt(at);
  const take = (pattern: RegExp): string => {
    pattern.lastIndex = at;
    return pattern.exec(text)?.[0] ?? '';
  };
  if (char === '/') {
    const comment = take(blankable.comment);
    if (comment !== '') return { raw: comment, code: blank(comment) };
    const regex = startsValue(context.before) ? take(blankable.regex) : '';
    if (regex !== '') return { raw: regex, code: `/${blank(regex.slice(1, -1))}/` };
  }
  const literal = literalAt(char, context.inTemplate, take);
  if (literal !== '') return { raw: literal, code: emptied(literal) };
  const plain = take(word) || char;
  return { raw: plain, code: plain };
}

function literalAt(char: string, inTemplate: boolean, take: (pattern: RegExp) => string): string {
  if (char === "'" || char === '"') return take(blankable.quoted);
  if (char === '`' || (char === '}' && inTemplate)) return take(blankable.template);
  return '';
}

/** A slash begins a regular expression where a value may begin, and divides where a value has just ended. */
function startsValue(before: string): boolean {
  return wordsBeforeValue.has(before) || !/[\w$)\]}'"`]$/.test(before);
}

function emptied(literal: string): string {
  const ending = literal.endsWith('${') ? '${' : literal.slice(-1);
  return literal.charAt(0) + blank(literal.slice(1, -ending.length)) + ending;
}

function blank(text: string): string {
  return text.replace(/[^\n]/g, ' ');
}
