import { markup, prose, type Markup } from './markdown.ts';
import type { Description, Schema } from './openapi.ts';

type Schemas = Description['components']['schemas'];

interface Row {
  readonly name: string;
  readonly schema: Schema;
  readonly isNeeded: boolean;
}

/** Deep enough for what we have; deeper objects have names and places of their own. */
const depthMax = 4;

/** The fields of an object, one row each; those of a nameless object within it follow it. */
function rowsOf(schema: Schema, prefix = ''): readonly Row[] {
  const { properties = {}, required = [] } = schema;
  return Object.entries(properties).flatMap(([name, field]) => {
    const way = prefix + name;
    const inner = innerOf(field);
    const isShown = inner !== null && way.split('.').length < depthMax;
    const below = isShown ? rowsOf(inner.schema, `${way}${inner.sign}.`) : [];
    return [{ name: way, schema: field, isNeeded: required.includes(name) }, ...below];
  });
}

function innerOf(field: Schema): { readonly schema: Schema; readonly sign: string } | null {
  if (nameOf(field) !== null) return null;
  if (field.properties !== undefined) return { schema: field, sign: '' };
  const { items } = field;
  const isOpen = items !== undefined && nameOf(items) === null && items.properties !== undefined;
  return isOpen ? { schema: items, sign: '[]' } : null;
}

/** `isAsked` where a client sends it, and must know what is needed. */
export function fieldTable(schema: Schema, schemas: Schemas, isAsked: boolean): Markup {
  const one = resolved(schema, schemas);
  const variants = one.oneOf ?? [];
  if (variants.length > 0 && one.properties === undefined) {
    return markup`${variants.map(
      (variant) =>
        markup`<h5>${variantTitle(variant)}</h5>
          ${fieldTable(variant, schemas, isAsked)}`,
    )}`;
  }
  const rows = rowsOf(one).filter(({ schema: field }) => field.type !== 'null');
  if (rows.length === 0) return markup`<p class="soft">${typeText(one)}</p>`;
  return markup`<table class="fields">
    <tbody>
      ${rows.map((row) => fieldRow(row, isAsked))}
    </tbody>
  </table>`;
}

/** Variants of a union are told apart by a field of a single value. */
function variantTitle({ properties = {} }: Schema): string {
  const named = Object.entries(properties).find(([, field]) => field.enum?.length === 1);
  return named === undefined ? 'Or' : `${named[0]}: ${String(named[1].enum?.[0])}`;
}

function fieldRow({ name, schema, isNeeded }: Row, isAsked: boolean): Markup {
  const mark = isAsked && isNeeded ? markup` <b class="needed">needed</b>` : null;
  return markup`<tr>
    <th scope="row"><code>${name}</code>${mark}</th>
    <td>${typeMarkup(schema)}${aboutOf(schema)}</td>
  </tr>`;
}

export function aboutOf({ description, example }: Schema): Markup | null {
  const sample =
    example === undefined ? null : markup` <span class="soft">Such as <code>${shown(example)}</code>.</span>`;
  return description === undefined && sample === null
    ? null
    : markup`<p>${description === undefined ? null : prose(description)}${sample}</p>`;
}

function shown(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

export function typeMarkup(schema: Schema): Markup {
  const name = nameOf(schema);
  if (name !== null) return markup`<span class="type">${linkTo(name)}${orNull(schema)}</span>`;
  const inner = schema.items === undefined ? null : nameOf(schema.items);
  if (inner !== null) return markup`<span class="type">list of ${linkTo(inner)}${orNull(schema)}</span>`;
  return markup`<span class="type">${typeText(schema)}</span>`;
}

function linkTo(name: string): Markup {
  return markup`<a href="#object-${name}">${name}</a>`;
}

function typeText(schema: Schema): string {
  const { anyOf, enum: values } = schema;
  if (anyOf !== undefined && schema.properties === undefined) return anyOf.map(typeText).join(' or ');
  const known = values?.map(String).join(' | ');
  const base = known ?? baseText(schema);
  return [base + (known === undefined ? orNull(schema) : ''), ...limitsOf(schema)].join(', ');
}

const names: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'whole number',
  number: 'number',
  boolean: 'true or false',
  object: 'object',
  array: 'list',
};

function baseText({ type, format, items }: Schema): string {
  const one = (typeof type === 'object' ? type.find((each) => each !== 'null') : type) ?? 'anything';
  if (format === 'date-time') return 'instant';
  if (one === 'array' && items !== undefined) return `list of ${typeText(items)}`;
  return names[one] ?? one;
}

function orNull({ type }: Schema): string {
  return typeof type === 'object' && type.includes('null') ? ' or null' : '';
}

function limitsOf(schema: Schema): readonly string[] {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems } = schema;
  return [
    range(minimum, maximum),
    range(minLength, maxLength, ' characters'),
    range(minItems, maxItems, ' entries'),
    ...(schema.default === undefined ? [] : [`default ${shown(schema.default)}`]),
  ].filter((text) => text !== '');
}

/** Bounds that only say that a number is one are of no use to anybody. */
const boundless = Number.MAX_SAFE_INTEGER;

function range(min: number | undefined, max: number | undefined, unit = ''): string {
  const [low, high] = [min ?? null, max ?? null];
  const isLow = low !== null && Math.abs(low) < boundless;
  const isHigh = high !== null && Math.abs(high) < boundless;
  if (isLow && isHigh) return `${low} to ${high}${unit}`;
  if (isHigh) return `at most ${high}${unit}`;
  return isLow ? `at least ${low}${unit}` : '';
}

type ExampleSchemas = Description['components']['schemas'];

/** What a schema refers to, or the schema itself. */
function resolved(schema: Schema, schemas: ExampleSchemas): Schema {
  const name = nameOf(schema);
  return name === null ? schema : resolved(schemas[name] ?? {}, schemas);
}

/** The name of the component that a schema stands for. */
function nameOf({ $ref, allOf }: Schema): string | null {
  const [only] = allOf ?? [];
  if ($ref === undefined) return only?.$ref === undefined ? null : nameOf(only);
  return $ref.slice($ref.lastIndexOf('/') + 1);
}

/** The smallest value that a schema takes, made of its examples. */
export function exampleOf(schema: Schema, schemas: ExampleSchemas): unknown {
  const one = resolved(schema, schemas);
  const given = schema.example ?? givenBy(one);
  if (given !== undefined) return given;
  const [first] = one.oneOf ?? one.anyOf ?? [];
  if (first !== undefined && one.properties === undefined) return exampleOf(first, schemas);
  return plainOf(one, schemas);
}

function plainOf(schema: Schema, schemas: ExampleSchemas): unknown {
  const { type, items, minimum = 1 } = schema;
  switch (typeof type === 'object' ? type[0] : type) {
    case 'object':
      return objectOf(schema, schemas);
    case 'array':
      return items === undefined ? [] : [exampleOf(items, schemas)];
    case 'integer':
      return minimum;
    case 'number':
      return 1;
    case 'boolean':
      return true;
    case 'string':
      return 'text';
    default:
      return null;
  }
}

function givenBy({ example, const: only, default: preset, enum: values }: Schema): unknown {
  return example ?? only ?? preset ?? values?.[0];
}

function objectOf({ properties = {}, required = [] }: Schema, schemas: ExampleSchemas): unknown {
  const needed = Object.entries(properties).filter(([name]) => required.includes(name));
  return Object.fromEntries(needed.map(([name, schema]) => [name, exampleOf(schema, schemas)]));
}
