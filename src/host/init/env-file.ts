import { closeSync, fsyncSync, openSync, readFileSync, realpathSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { isSystemError } from '../../cli/faults.ts';

/** Changes of a `.env` file: a text sets a variable, null takes it away. */
export type Changes = Readonly<Record<string, string | null>>;

export function readEnvText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return '';
    throw error;
  }
}

/** The text with the changes. Everything else stays as it is: order, comments, variables that we do not know. */
export function changedEnv(text: string, changes: Changes): string {
  return Object.entries(changes).reduce((rest, [name, value]) => changedOne(rest, name, value), text);
}

function changedOne(text: string, name: string, value: string | null): string {
  const line = value === null ? '' : `${name}=${quoted(value)}\n`;
  // The last one counts where a variable is set twice; one is enough.
  let isSet = false;
  const changed = text.replace(assignments, (written, set: string) => {
    if (set !== name) return written;
    const isFirst = !isSet;
    isSet = true;
    return isFirst ? line : '';
  });
  if (isSet) return changed;
  if (value === null) return text;
  // Where the variable is explained is where people look for it.
  const explained = new RegExp(`^#\\s?${name}=.*\\n?`, 'm').exec(text);
  if (explained !== null) {
    const end = explained.index + explained[0].length;
    const head = text.slice(0, end);
    return `${head}${endOf(head)}${line}${text.slice(end)}`;
  }
  return `${text}${endOf(text)}${line}`;
}

function endOf(text: string): string {
  return text === '' || text.endsWith('\n') ? '' : '\n';
}

/**
 * Assignments as the server reads them: a value that begins with a quote goes on to the next one, over lines as
 * well, and what stands in it sets nothing; any other quote is a character like others.
 */
const assignments = /^[ \t]*(?:export[ \t]+)?([\w.-]+)[ \t]*=[ \t]*(?:"[^"]*"|'[^']*'|`[^`]*`)?[^\n]*\n?/gm;

function quoted(value: string): string {
  return /^[\w:/.,@+-]*$/.test(value) ? value : `'${value}'`;
}

/** Puts the whole file there at once, for its owner alone. A link stays one. */
export function writeEnvText(file: string, text: string, prepare: (partial: string) => void): void {
  const place = placeOf(file);
  const partial = `${place}.partial`;
  rmSync(partial, { force: true });
  try {
    writeWhole(partial, text);
    prepare(partial);
    renameSync(partial, place);
  } catch (error) {
    // Half of it may hold a token.
    rmSync(partial, { force: true });
    throw error;
  }
  const folder = openSync(dirname(place), 'r');
  fsyncSync(folder);
  closeSync(folder);
}

function writeWhole(file: string, text: string): void {
  const handle = openSync(file, 'wx', 0o600);
  try {
    writeSync(handle, text);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

function placeOf(file: string): string {
  try {
    return realpathSync(file);
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return file;
    throw error;
  }
}
