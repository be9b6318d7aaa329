import type { Description, Schema } from '../../src/http/docs/openapi.ts';

type Json = Readonly<Record<string, unknown>>;

/** Faults of a value, place by place, by the part of JSON Schema that the description uses. */
export function faultsOf(value: unknown, schema: Schema, { components }: Description): readonly string[] {
  const check = (one: unknown, by: Schema, place: string): string[] => {
    if (by.$ref !== undefined) {
      const name = by.$ref.replace('#/components/schemas/', '');
      const named = components.schemas[name];
      return named === undefined ? [`${place}: ${name} is not described`] : check(one, named, place);
    }
    return [
      ...typeFaults(one, by, place),
      ...sizeFaults(one, by, place),
      ...(by.allOf ?? []).flatMap((each) => check(one, each, place)),
      ...oneOfFaults(one, by, place),
      ...(Array.isArray(one) && by.items !== undefined
        ? one.flatMap((each, index) => check(each, by.items ?? {}, `${place}[${index}]`))
        : []),
      ...(isObject(one) ? fieldFaults(one, by, place) : []),
    ];
  };
  const oneOfFaults = (one: unknown, { oneOf, anyOf }: Schema, place: string): string[] => {
    const fits = (all: readonly Schema[]) => all.filter((each) => check(one, each, place).length === 0).length;
    if (oneOf !== undefined && fits(oneOf) !== 1) return [`${place}: fits ${fits(oneOf)} of the variants`];
    return anyOf !== undefined && fits(anyOf) === 0 ? [`${place}: fits none of the variants`] : [];
  };
  const fieldFaults = (one: Json, { properties = {}, required = [], additionalProperties }: Schema, place: string) =>
    [
      ...required.filter((name) => !(name in one)).map((name) => `${place}.${name}: is missing`),
      ...Object.entries(one).flatMap(([name, field]) => {
        const own = Object.hasOwn(properties, name) ? properties[name] : undefined;
        if (own !== undefined) return check(field, own, `${place}.${name}`);
        if (additionalProperties === false) return [`${place}.${name}: is not described`];
        return typeof additionalProperties === 'object' ? check(field, additionalProperties, `${place}.${name}`) : [];
      }),
    ] as string[];
  return check(value, schema, '$');
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value === 'number' && Number.isInteger(value) ? 'integer' : typeof value;
}

const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;

function typeFaults(value: unknown, { type, enum: values, format }: Schema, place: string): string[] {
  const types = type === undefined ? null : typeof type === 'string' ? [type] : type;
  const found = typeOf(value);
  const isType = types === null || types.includes(found) || (found === 'integer' && types.includes('number'));
  return [
    ...(isType ? [] : [`${place}: is ${found}, and not ${String(types)}`]),
    ...(values === undefined || values.includes(value) ? [] : [`${place}: is none of ${values.join(', ')}`]),
    ...(format === 'date-time' && typeof value === 'string' && !instant.test(value) ? [`${place}: is no instant`] : []),
  ];
}

function sizeFaults(value: unknown, schema: Schema, place: string): string[] {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems, pattern } = schema;
  const out = (size: number, min = -Infinity, max = Infinity) =>
    size < min || size > max ? [`${place}: ${size} is out of bounds`] : [];
  if (typeof value === 'number') return out(value, minimum, maximum);
  if (Array.isArray(value)) return out(value.length, minItems, maxItems);
  if (typeof value !== 'string') return [];
  const isShaped = pattern === undefined || new RegExp(pattern, 'u').test(value);
  return [...out(value.length, minLength, maxLength), ...(isShaped ? [] : [`${place}: does not match ${pattern}`])];
}
