import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { isMap, isNode, isScalar, LineCounter, parseDocument, stringify, type Document } from 'yaml';
import { z } from 'zod';
import { createTask } from '../../api/tasks.ts';
import { CliFault, exitCodes, usage } from '../faults.ts';
import { fileVersion, type Entry } from './entry.ts';

/** Some hundred thousand tasks; what is larger is no file of tasks. */
const fileBytesMax = 64 * 1024 * 1024;
/** A file of tasks has no use for many; a file that has is out for harm. */
const aliasesMax = 100;

const head = `# Tasks of Cronogram. Read them in again with: cronogram import <file>
# A task is found again by its id, else by its thread, title and subject.
`;

export function fileText(entries: readonly Entry[]): string {
  return `${head}${stringify({ cronogram: fileVersion, tasks: entries }, { lineWidth: 0 })}`;
}

/** Whoever can read the tasks can read what is in their texts and headers, so it is for its owner alone. It is there whole or not at all. */
export function writeTasks(path: string, text: string): void {
  const made = `${path}.part`;
  try {
    writeFileSync(made, text, { mode: 0o600, flag: 'w' });
    renameSync(made, path);
  } catch (error) {
    throw unusable('written', path, error);
  }
}

export function readTasks(path: string): string {
  try {
    const bytes = readFileSync(path);
    if (bytes.byteLength > fileBytesMax)
      throw usage(`${path} is larger than ${fileBytesMax / 1024 / 1024} MiB: that is no file of tasks.`);
    return bytes.toString('utf8');
  } catch (error) {
    if (error instanceof CliFault) throw error;
    throw unusable('read', path, error);
  }
}

function unusable(done: string, path: string, cause: unknown): CliFault {
  const code = (cause as { code?: unknown }).code;
  const why =
    code === 'ENOENT' ? 'there is no such file or folder' : typeof code === 'string' ? code : 'for no known reason';
  return new CliFault('bad_file', `${path} cannot be ${done}: ${why}.`, { exitCode: exitCodes.usage, cause });
}

const wholeFile = z.strictObject({
  cronogram: z.literal(fileVersion, { error: `it is ${fileVersion}, the version of this kind of file` }),
  tasks: z.array(z.unknown()),
});

/** Exactly what the API takes, and where the task was. */
function entrySchema() {
  const { body } = createTask;
  if (body === undefined) throw new Error('a task cannot be made without a body');
  return body.extend({
    task_id: z.string().max(64).optional(),
    thread_key: z.string().optional(),
    enabled: z.boolean().optional(),
  });
}

/** The entries of a file; the first fault is told with its line. */
export function entriesIn(text: string, name: string): readonly Entry[] {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const [broken] = document.errors;
  if (broken !== undefined) throw fault(name, lines.linePos(broken.pos[0]).line, broken.message);
  const place = { document, lines, name };
  const { tasks } = checked(wholeFile, plainOf(document, name), { ...place, path: [] });
  const schema = entrySchema();
  return tasks.map((task, at) => checked(schema, task, { ...place, path: ['tasks', at] }));
}

function plainOf(document: Document.Parsed, name: string): unknown {
  try {
    return document.toJS({ maxAliasCount: aliasesMax });
  } catch (error) {
    if (error instanceof ReferenceError) throw fault(name, 1, error.message);
    throw error;
  }
}

interface Place {
  readonly document: Document.Parsed;
  readonly lines: LineCounter;
  readonly name: string;
  readonly path: readonly PropertyKey[];
}

function checked<S extends z.ZodType>(schema: S, value: unknown, place: Place): z.output<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  // A name that is misspelt explains best what is missing.
  const { issues } = result.error;
  const issue = issues.find(({ code }) => code === 'unrecognized_keys') ?? issues[0];
  const key = issue?.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [];
  const path = [...place.path, ...(issue?.path ?? []), ...key];
  const field = path.slice(place.path.length).map(String).join('.');
  const problem = (issue?.message ?? 'cannot be read').replace(/^Invalid input: /, '');
  throw fault(place.name, lineOf({ ...place, path }), field === '' ? problem : `${field}: ${problem}`);
}

/** The line on which a field is named; where it is missing, that of what it is missing from. */
function lineOf({ document, lines, path }: Place): number {
  for (let length = path.length; length >= 0; length -= 1) {
    const within = path.slice(0, length);
    const start = startOf(keyAt(document, within)) ?? startOf(nodeAt(document, within));
    if (start !== null) return lines.linePos(start).line;
  }
  return 1;
}

function nodeAt(document: Document.Parsed, path: readonly PropertyKey[]): unknown {
  return path.length === 0 ? document.contents : document.getIn(path, true);
}

function keyAt(document: Document.Parsed, path: readonly PropertyKey[]): unknown {
  const map = path.length === 0 ? null : nodeAt(document, path.slice(0, -1));
  const pair = isMap(map) ? map.items.find(({ key }) => isScalar(key) && key.value === path.at(-1)) : undefined;
  return pair?.key;
}

function startOf(node: unknown): number | null {
  return isNode(node) ? (node.range?.[0] ?? null) : null;
}

function fault(name: string, line: number, problem: string): CliFault {
  const text = `${problem.charAt(0).toLowerCase()}${problem.slice(1)}`.replace(/\.$/, '');
  return new CliFault('bad_file', `${name}, line ${line}: ${text}. Nothing was changed.`, {
    exitCode: exitCodes.usage,
    details: { line },
  });
}
