import { z } from 'zod';
import type { Chance } from '../support/chance.ts';

/** Values that a schema asks for, and values that nobody asked for. */

type Json = Readonly<Record<string, unknown>>;

const prototypes = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'then', 'length'];

export const hostileTexts: readonly string[] = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\ud800',
  '\udfff\ud800',
  '\u202e\u200d\ufeff',
  '\u001b[2J\u001b]0;x\u0007',
  '😀'.repeat(40),
  'e\u0301'.repeat(300),
  'x'.repeat(5000),
  'ß İ K ſ',
  ...prototypes,
  '{{ x }}',
  '{% for i in (1..100000000) %}{{ i }}{% endfor %}',
  '{{',
  '%00',
  '%zz',
  '../../etc/passwd',
  "' or 1=1 --",
  '%_\\',
  '-1',
  '1e309',
  '0x10',
  '9'.repeat(40),
  '٣',
  'NaN',
  'null',
  'true',
  'P9999Y',
  '-PT1H',
  'PT0S',
  '+275760-09-13',
  '0001-01-01T00:00:00Z',
  '2027-02-30T09:00:00Z',
  '2027-03-28T02:30:00',
  'FREQ=SECONDLY;COUNT=99999',
  'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30',
  '0 0 30 2 *',
  '*/0 * * * *',
  'telegram:chat:0',
  'telegram:chat:-1:topic:99999999999999999999',
  'cli:',
  ':',
  'Etc/GMT+25',
  'LMT',
];

const hostileValues: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e21,
  -1e308,
  2 ** 53,
  Number.MIN_VALUE,
  [],
  {},
  [[]],
  [null],
  { a: { b: { c: {} } } },
];

/** What sound requests hold, by the name of the field. */
const sound: Readonly<Record<string, readonly string[]>> = {
  cron: ['0 9 * * 1-5', '*/15 * * * *', '59 23 31 12 *'],
  rrule: ['FREQ=DAILY;BYHOUR=9;BYMINUTE=0', 'FREQ=MONTHLY;BYDAY=-1FR;BYHOUR=17;BYMINUTE=0'],
  interval: ['PT15M', 'P1D', 'P1M'],
  once_at: ['2027-01-31T09:00:00Z', '2027-03-28T02:30:00'],
  timezone: ['UTC', 'Europe/Madrid', 'Australia/Lord_Howe'],
  when: ['every day at 9 stand up', 'tomorrow at 8 call', '2027-01-31 09:00 file the report'],
  for: ['PT10M', 'P1D'],
  kind: ['message', 'echo'],
  from: ['22:00', '07:30', '2027-01-31T09:00:00Z'],
  to: ['07:00'],
  title: ['Water the plants', 'Report', 'Ünïcödé 🌱'],
  instructions: ['Water the plants!', 'Report for {{ now }}', 'Two\nlines'],
  subject: ['daily', 'garden'],
  tag: ['garden', 'team'],
  q: ['plants', 'report'],
  text: ['Hello', 'A longer text\nwith lines'],
  scopes: ['action:message', 'action:*'],
};
const durations = ['PT10M', 'PT1H', 'P1D', 'PT30S'];
const instants = ['2027-01-31T09:00:00Z', '2026-11-18T09:00:00.000Z', '2030-06-01T12:00:00+02:00'];
const anything = ['x', 'plants', '17', 'UTC', '2027-01-31T09:00:00Z', 'PT10M'];

/** A request is described once; a fuzz asks for the description ten thousand times. */
const schemas = new Map<z.ZodType, Json>();

export function schemaOf(of: z.ZodType): Json {
  const known = schemas.get(of);
  if (known !== undefined) return known;
  const whole = z.toJSONSchema(of, { io: 'input', unrepresentable: 'any' }) as Json;
  const made = inlined(whole, (whole['$defs'] ?? {}) as Json) as Json;
  schemas.set(of, made);
  return made;
}

/** Whatever has a name in the description stands where it is named. No schema of a request names itself. */
function inlined(schema: unknown, named: Json): unknown {
  if (Array.isArray(schema)) return schema.map((one) => inlined(one, named));
  if (typeof schema !== 'object' || schema === null) return schema;
  if ('$ref' in schema && typeof schema.$ref === 'string')
    return inlined(named[schema.$ref.replace('#/$defs/', '')], named);
  return Object.fromEntries(Object.entries(schema).map(([name, field]) => [name, inlined(field, named)]));
}

/** What the schema asks for, or nearly so. */
export function fitting(chance: Chance, schema: Json, name = ''): unknown {
  const variants = (schema['anyOf'] ?? schema['oneOf']) as readonly Json[] | undefined;
  if (variants !== undefined) {
    // An action that is made of chance is hardly ever one that could be done, but for a message.
    const [first] = variants;
    return fitting(
      chance,
      name === 'action' && first !== undefined && chance.is(0.7) ? first : chance.pick(variants),
      name,
    );
  }
  if ('const' in schema) return schema['const'];
  if (Array.isArray(schema['enum'])) return chance.pick(schema['enum'] as unknown[]);
  const make = makers[String(schema['type'])];
  if (make !== undefined) return make(chance, schema, name);
  return chance.is(0.5) ? chance.pick(anything) : { note: 1 };
}

const makers: Readonly<Record<string, (chance: Chance, schema: Json, name: string) => unknown>> = {
  object: objectOf,
  array: (chance, schema, name) =>
    Array.from({ length: chance.between(0, 3) }, () => fitting(chance, (schema['items'] ?? {}) as Json, name)),
  string: textOf,
  integer: numberOf,
  number: numberOf,
  boolean: (chance) => chance.is(0.5),
  null: () => null,
};

function objectOf(chance: Chance, schema: Json): Json {
  const required = new Set((schema['required'] ?? []) as readonly string[]);
  const fields = Object.entries((schema['properties'] ?? {}) as Readonly<Record<string, Json>>);
  const chosen = fields.filter(([name]) => required.has(name) || chance.is(fields.length > 8 ? 0.2 : 0.4));
  return Object.fromEntries(chosen.map(([name, field]) => [name, fitting(chance, field, name)]));
}

function textOf(chance: Chance, schema: Json, name: string): string {
  if (Object.hasOwn(sound, name)) return chance.pick(sound[name] ?? anything);
  if (schema['format'] === 'date-time' || /_at$|^(?:until|after|at|before|since|now)$/.test(name))
    return chance.pick(instants);
  if (/every|grace|timeout|base|cap|age|jitter/.test(name)) return chance.pick(durations);
  if (/^(?:limit|count)$/.test(name)) return String(chance.between(1, 50));
  return chance.pick(anything);
}

function numberOf(chance: Chance, { minimum, maximum }: Json): number {
  const from = typeof minimum === 'number' ? Math.max(minimum, -10) : -10;
  const to = typeof maximum === 'number' ? Math.min(maximum, 1000) : 1000;
  return chance.between(Math.ceil(from), Math.floor(to));
}

export function hostile(chance: Chance, depth = 2): unknown {
  const roll = chance.next();
  if (roll < 0.55) return chance.pick(hostileTexts);
  if (roll < 0.8 || depth === 0) return chance.pick(hostileValues);
  if (roll < 0.9) return Array.from({ length: chance.between(0, 4) }, () => hostile(chance, depth - 1));
  return Object.fromEntries([[chance.pick([...prototypes, 'kind', 'id', '']), hostile(chance, depth - 1)]]);
}

/** The same value with something put out of order, somewhere within. */
export function broken(chance: Chance, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || chance.is(0.15)) return hostile(chance);
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value;
    if (items.length === 0 || chance.is(0.3)) return [...items, hostile(chance)];
    const at = chance.between(0, items.length - 1);
    return items.map((item, index) => (index === at ? broken(chance, item) : item));
  }
  const entries = Object.entries(value);
  if (entries.length === 0 || chance.is(0.2))
    return { ...value, [chance.pick([...prototypes, 'nonsense', ''])]: hostile(chance) };
  const at = chance.between(0, entries.length - 1);
  if (chance.is(0.2)) return Object.fromEntries(entries.filter((_entry, index) => index !== at));
  return Object.fromEntries(
    entries.map(([name, field], index) => [name, index === at ? broken(chance, field) : field]),
  );
}

/** A body as it goes over the wire, which need not be JSON. */
export function bytesOf(chance: Chance, value: unknown): string | Uint8Array {
  const json = JSON.stringify(value) ?? '';
  const roll = chance.next();
  if (roll < 0.86) return json;
  if (roll < 0.88) return json.slice(0, chance.between(0, json.length));
  if (roll < 0.9) return `${'['.repeat(3000)}${json}`;
  if (roll < 0.92) return `${'{"a":'.repeat(60)}1${'}'.repeat(60)}`;
  if (roll < 0.94) return Buffer.concat([Buffer.from(json.slice(0, -1)), Buffer.from([0xff, 0xfe, 0xc0])]);
  if (roll < 0.95) return `\ufeff${json}`;
  if (roll < 0.96) return json.replace('{', '{"__proto__":{"polluted":true},');
  if (roll < 0.97) return json.replace('{', '{"title":"a","title":"b",');
  if (roll < 0.975) return JSON.stringify({ instructions: 'x'.repeat(300_000) });
  return chance.pick([
    'null',
    '1',
    '"text"',
    '[]',
    ' ',
    '\0',
    '{"a":1e999}',
    '{"\\u0000":1}',
    '{"a":"\\ud800"}',
    '{}{}',
  ]);
}
