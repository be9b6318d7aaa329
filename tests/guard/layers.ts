import { computed, importsOf } from './source.ts';
import type { Import, SourceFile } from './source.ts';

/** Rooms that talk to what is outside of the product; none of them knows another. */
const outer = ['store', 'telegram', 'http', 'cli', 'host', 'system', 'sandbox', 'outbound'] as const;

/** domain <- app <- the outer rooms <- compose <- the entries; api, the words of the wire, beside app; host is a part of the cli. What each may see besides itself: */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  domain: [],
  app: ['domain'],
  // What is said over HTTP, for the side that asks and the side that answers.
  api: ['domain'],
  ...Object.fromEntries(outer.map((room) => [room, ['domain', 'app', 'api']])),
  // The verbs of this computer, which look at what a server would open.
  host: ['domain', 'app', 'cli', 'config', 'store', 'system', 'telegram'],
  config: ['domain'],
  compose: ['domain', 'app', 'api', ...outer, 'config'],
  // An entry looks at the Node that runs it before anything else is loaded.
  'runtime.ts': [],
  'main.ts': ['runtime.ts', 'compose'],
  'cli.ts': ['runtime.ts', 'compose'],
};

/** Libraries for children of the pool alone, and where they are used: they may hang, and grow without end. */
const rooms = {
  opinions: 'src/system/second-opinion/',
  templates: 'src/system/templates/',
  expressions: 'src/system/expressions/',
};
const evaluating: Readonly<Record<string, string>> = {
  croner: rooms.opinions,
  luxon: rooms.opinions,
  rrule: rooms.opinions,
  liquidjs: rooms.templates,
  jsonata: rooms.expressions,
  diff: rooms.expressions,
};

/** Libraries of one room. Requests that go around the client of tasks would go around the rules of where they may go. */
const ofOneRoom: Readonly<Record<string, string>> = { undici: 'src/outbound/', oauth4webapi: 'src/outbound/' };

export interface LayerReport {
  readonly edges: number;
  readonly faults: readonly string[];
}

export function checkLayers(files: readonly SourceFile[]): LayerReport {
  const imports = files.flatMap(importsOf);
  const paths = new Set(files.map((file) => file.path));
  const graph = graphOf(imports);
  const faults = [
    ...files.filter((file) => roomOf(file.path) === null).map((file) => `${file.path}: belongs to no room`),
    ...imports.flatMap((each) => faultOf(each, paths)),
    ...cycles(graph).map((path) => `${path.join(' -> ')}: imports in a circle`),
    ...evaluatorsReached(files, imports),
  ];
  return { edges: imports.length, faults };
}

/** The folder below src, or the name of a file that stands there by itself; null when a file has no room. */
export function roomOf(path: string): string | null {
  const [, room = ''] = /^src\/([^/]+)/.exec(path) ?? [];
  return room in mayImport ? room : null;
}

function faultOf(each: Import, paths: ReadonlySet<string>): readonly string[] {
  const where = `${each.file}:${each.line}: ${each.specifier}`;
  const from = roomOf(each.file);
  if (from === null) return [];
  if (each.target === null) return packageFault(from, each).map((fault) => `${where}: ${fault}`);
  if (!paths.has(each.target)) return [`${where}: there is no such file`];
  const to = roomOf(each.target);
  if (to === null || to === from || mayImport[from]?.includes(to) === true) return [];
  return [`${where}: ${from} must not import ${to}`];
}

function packageFault(from: string, { file, specifier }: Import): readonly string[] {
  if (specifier === computed) return ['the target of an import must be a plain string'];
  // Both name our own files in a way that hides which room is meant.
  if (/^(?:#|cronogram(?:\/|$))/.test(specifier)) return ['rooms are named by relative paths'];
  if (from === 'app' || from === 'domain') return [`${from} imports no package`];
  const room = evaluating[specifier] ?? ofOneRoom[specifier];
  if (room !== undefined && !file.startsWith(room)) return [`only ${room} imports it`];
  return [];
}

/** From each file to the files it imports, types included. */
export type Graph = ReadonlyMap<string, readonly string[]>;

export function graphOf(imports: readonly Import[]): Graph {
  const graph = new Map<string, string[]>();
  for (const { file, target } of imports) {
    if (target !== null) graph.set(file, [...(graph.get(file) ?? []), target]);
  }
  return graph;
}

/** The shortest chain of imports from a file to one that `wanted` names, both ends included. */
export function chain(graph: Graph, from: string, wanted: (path: string) => boolean): readonly string[] | null {
  const seen = new Set<string>();
  let front: readonly (readonly string[])[] = [[from]];
  while (front.length > 0) {
    const longer = front.flatMap((path) => (graph.get(path.at(-1) ?? '') ?? []).map((next) => [...path, next]));
    const found = longer.find((path) => wanted(path.at(-1) ?? ''));
    if (found !== undefined) return found;
    front = longer.filter((path) => unseen(seen, path.at(-1) ?? ''));
  }
  return null;
}

function unseen(seen: Set<string>, path: string): boolean {
  const isNew = !seen.has(path);
  seen.add(path);
  return isNew;
}

/** No process but a child of the pool loads what may hang, or grow without end. */
function evaluatorsReached(files: readonly SourceFile[], imports: readonly Import[]): readonly string[] {
  const graph = graphOf(imports);
  const users = new Set(imports.filter(({ specifier }) => specifier in evaluating).map(({ file }) => file));
  const entries = files.map(({ path }) => path).filter((path) => /^src\/[^/]+\.ts$/.test(path));
  return entries.flatMap((entry) => {
    const found = chain(graph, entry, (path) => users.has(path));
    return found === null ? [] : [`${found.join(' -> ')}: loads into this process what belongs into the pool`];
  });
}

/** One circle for each file that is part of one; a circle of three files is found three times, which harms nobody. */
function cycles(graph: Graph): readonly (readonly string[])[] {
  return [...graph.keys()].flatMap((file) => {
    const circle = chain(graph, file, (path) => path === file);
    return circle === null ? [] : [circle];
  });
}
