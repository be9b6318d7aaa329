import { posix } from 'node:path';
import { parseAst } from 'vitest/node';
import { readText } from '../guard/source.ts';

/** Arguments for functions of a source file, as long as their types let them be. */

/** A node of the syntax tree, read as loosely as it comes. */
interface Node {
  readonly type: string;
  readonly [name: string]: unknown;
}

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'type' in value;
const nodeIn = (value: unknown): Node => (isNode(value) ? value : { type: 'Nothing' });
const nodesIn = (value: unknown): readonly Node[] => (Array.isArray(value) ? value.filter(isNode) : []);
const nameOf = (value: unknown): string => String(nodeIn(value)['name'] ?? nodeIn(value)['value']);

/** Values of any length, which a text must cut itself; all other words are dates, zones and the like. */
const endless = /^(?:text|title|error)$/;
const longText = 'Wide words '.repeat(500);
const longWord = 'America/Argentina/Buenos_Aires Wed 30 Sep 2026';
const clock = '12:30 PM (UTC+05:45)';
const longNumber = 1_234_567;
const itemsMax = 8;
const formatted = { text: '#1234567 A name that is as long as names are when they are told…', entities: [] };

interface Source {
  readonly path: string;
  readonly text: string;
  readonly body: readonly Node[];
}

export function sourceOf(path: string): Source {
  const text = readText(path);
  // What is to take its place is no part of vitest.
  // oxlint-disable-next-line typescript/no-deprecated
  return { path, text, body: nodesIn(nodeIn(parseAst(text, { lang: 'ts' }))['body']) };
}

/** Every declaration of the file, whether it is exported or not. */
function declared({ body }: Source): readonly Node[] {
  return body.map((node) => (node.type === 'ExportNamedDeclaration' ? nodeIn(node['declaration']) : node));
}

/** The value of a constant, without what is said of its type. */
export function constantIn(source: Source, name: string): Node {
  const all = declared(source).flatMap((node) => nodesIn(node['declarations']));
  return bare(nodeIn(all.find((node) => nameOf(node['id']) === name)?.['init']));
}

function functionIn(source: Source, name: string): Node {
  const own = declared(source).find((node) => node.type === 'FunctionDeclaration' && nameOf(node['id']) === name);
  return own ?? constantIn(source, name);
}

function bare(node: Node): Node {
  return ['TSAsExpression', 'TSSatisfiesExpression'].includes(node.type) ? bare(nodeIn(node['expression'])) : node;
}

/** The property of an object in the source; nothing where it is only named there. */
export function propertyIn(object: Node, name: string): Node {
  const found = nodesIn(object['properties']).find((node) => nameOf(node['key']) === name);
  return bare(nodeIn(found?.['value']));
}

/** Each way to call the function, which may be named only: one for each alternative in its types. */
export function callsOf(source: Source, node: Node): readonly (readonly unknown[])[] {
  const fn = node.type === 'Identifier' ? functionIn(source, nameOf(node)) : node;
  return combined(nodesIn(fn['params']).map((param) => samplesOf(source, typeOf(param), nameOf(param))));
}

/** One list for each choice of a sample at each place. */
function combined(places: readonly (readonly unknown[])[]): readonly (readonly unknown[])[] {
  return places.reduce<readonly (readonly unknown[])[]>(
    (lists, samples) => lists.flatMap((list) => samples.map((sample) => [...list, sample])),
    [[]],
  );
}

function typeOf(node: Node): Node {
  return nodeIn(nodeIn(node['typeAnnotation'])['typeAnnotation']);
}

const keywords: Readonly<Record<string, (name: string) => readonly unknown[]>> = {
  TSStringKeyword: (name) => [
    endless.test(name) ? longText : /^(?:old|time|clock)$/.test(name) ? clock : name === 'currency' ? 'IDR' : longWord,
  ],
  TSNumberKeyword: () => [longNumber, 1],
  TSBooleanKeyword: () => [true, false],
  TSNullKeyword: () => [null],
  TSUndefinedKeyword: () => [undefined],
};

function samplesOf(source: Source, type: Node, name: string): readonly unknown[] {
  const simple = keywords[type.type];
  if (simple !== undefined) return simple(name);
  switch (type.type) {
    case 'TSLiteralType':
      return [nodeIn(type['literal'])['value']];
    case 'TSUnionType':
      return nodesIn(type['types']).flatMap((each) => samplesOf(source, each, name));
    case 'TSTypeOperator':
      return samplesOf(source, nodeIn(type['typeAnnotation']), name);
    case 'TSTypeQuery':
      return nodesIn(constantIn(source, nameOf(type['exprName']))['properties']).map(({ key }) => nameOf(key));
    case 'TSIndexedAccessType': {
      const list = constantIn(source, nameOf(nodeIn(type['objectType'])['exprName']));
      return nodesIn(list['elements']).map((node) => node['value']);
    }
    case 'TSArrayType':
      return samplesOf(source, nodeIn(type['elementType']), name).map((item) =>
        Array.from({ length: itemsMax }, () => item),
      );
    case 'TSTupleType':
      return combined(
        nodesIn(type['elementTypes']).map((each) =>
          samplesOf(source, nodeIn(each['elementType']), nameOf(each['label'])),
        ),
      );
    case 'TSTypeLiteral':
      return objectsOf(source, nodesIn(type['members']));
    case 'TSTypeReference':
      return namedSamples(source, type, name);
    default:
      throw new Error(`${source.path}: no sample of ${type.type} for ${name}`);
  }
}

function objectsOf(source: Source, members: readonly Node[]): readonly object[] {
  return members.reduce<readonly object[]>(
    (objects, member) => {
      const key = nameOf(member['key']);
      const samples = samplesOf(source, typeOf(member), key);
      return objects.flatMap((object) => samples.map((sample) => ({ ...object, [key]: sample })));
    },
    [{}],
  );
}

function namedSamples(source: Source, type: Node, name: string): readonly unknown[] {
  const called = nameOf(type['typeName']);
  const [first, second] = nodesIn(nodeIn(type['typeArguments'])['params']);
  if (called === 'Rich') return [formatted];
  if (called === 'Readonly' && first !== undefined) return samplesOf(source, first, name);
  if (/^(?:Extract|Omit|Pick)$/.test(called) && first !== undefined) return samplesOf(source, first, name);
  if (called === 'Record' && second !== undefined)
    return samplesOf(source, second, name).map((value) => ({ one: value }));
  const own = declared(source).find((node) => nameOf(node['id']) === called);
  if (own?.type === 'TSInterfaceDeclaration') return objectsOf(source, nodesIn(nodeIn(own['body'])['body']));
  if (own?.type === 'TSTypeAliasDeclaration') return samplesOf(source, nodeIn(own['typeAnnotation']), name);
  const from = source.body.find((node) => nodesIn(node['specifiers']).some((each) => nameOf(each['local']) === called));
  if (from === undefined) throw new Error(`${source.path}: nothing is known of the type ${called}`);
  const path = posix.join(posix.dirname(source.path), String(nodeIn(from['source'])['value']));
  return namedSamples(sourceOf(path), type, name);
}
