import type { Description, Schema } from './openapi.ts';

type Schemas = Description['components']['schemas'];

/** What a schema refers to, or the schema itself. */
export function resolved(schema: Schema, schemas: Schemas): Schema {
  const name = nameOf(schema);
  return name === null ? schema : resolved(schemas[name] ?? {}, schemas);
}

/** The name of the component that a schema stands for. */
export function nameOf({ $ref, allOf }: Schema): string | null {
  const [only] = allOf ?? [];
  if ($ref === undefined) return only?.$ref === undefined ? null : nameOf(only);
  return $ref.slice($ref.lastIndexOf('/') + 1);
}

/** The smallest value that a schema takes, made of its examples. */
export function exampleOf(schema: Schema, schemas: Schemas): unknown {
  const one = resolved(schema, schemas);
  const given = schema.example ?? givenBy(one);
  if (given !== undefined) return given;
  const [first] = one.oneOf ?? one.anyOf ?? [];
  if (first !== undefined && one.properties === undefined) return exampleOf(first, schemas);
  return plainOf(one, schemas);
}

function plainOf(schema: Schema, schemas: Schemas): unknown {
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

function objectOf({ properties = {}, required = [] }: Schema, schemas: Schemas): unknown {
  const needed = Object.entries(properties).filter(([name]) => required.includes(name));
  return Object.fromEntries(needed.map(([name, schema]) => [name, exampleOf(schema, schemas)]));
}
