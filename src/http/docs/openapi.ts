import type { OpenAPIHono } from '@hono/zod-openapi';
import type { ActionField, ActionForm, FieldVariant } from '../../app/actions/form.ts';
import { statusOf } from '../errors.ts';
import { answerHeaders } from './describing.ts';

/** As much of OpenAPI 3.1, and of the JSON Schema within, as we write ourselves. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly example?: unknown;
  readonly default?: unknown;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly oneOf?: readonly Schema[];
  readonly discriminator?: { readonly propertyName: string; readonly mapping: Readonly<Record<string, string>> };
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly pattern?: string;
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

export interface Content {
  readonly [type: string]: { readonly schema: Schema };
}

export interface DescribedAnswer {
  readonly description: string;
  readonly content?: Content;
  readonly headers?: Readonly<Record<string, { readonly $ref: string }>>;
  readonly 'x-error-codes'?: readonly string[];
}

export interface DescribedOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly 'x-scope'?: string;
  readonly 'x-body-max'?: number;
  readonly security: readonly object[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, DescribedAnswer>>;
}

export interface Description {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly headers: Readonly<Record<string, { readonly description: string; readonly schema: Schema }>>;
    readonly securitySchemes: Readonly<Record<string, object>>;
  };
}

const info = {
  title: 'Cronogram',
  description: [
    'Scheduled work for chats. Everything under /v1 takes a token as `authorization: Bearer <token>`; each operation names the scope that the token needs, and what lies outside of its chats does not exist.',
    'Bodies and answers are JSON with fields in snake_case; unknown fields are refused. Instants are ISO-8601: sent with an offset, answered in UTC. Errors are `{"error":{"code","message","details"?}}`: the code is for programs and never changes.',
    'The header `Idempotency-Key` makes a repeated request harmless for a day. Lists answer `next_cursor`, which is sent as `cursor`. Every answer has an `x-request-id`, yours or a new one.',
    'A path that takes other methods answers 405 with `allow`; no path takes requests of pages of other origins. To be read by people: /docs.',
  ].join('\n\n'),
  license: { name: 'MIT', identifier: 'MIT' },
};

const tags = [
  { name: 'tasks', description: 'What was scheduled.' },
  { name: 'threads', description: 'All tasks of one thread.' },
  { name: 'runs', description: 'What ran, and what is coming.' },
  { name: 'schedules', description: 'When something would run.' },
  { name: 'grants', description: 'The rights under which tasks run.' },
  { name: 'secrets', description: 'Keys that tasks may use and nobody is shown.' },
  { name: 'actions', description: 'What tasks can do.' },
  { name: 'tokens', description: 'Who may ask, for what, and in which chats.' },
  { name: 'operations', description: 'What the operator of the server wants to know and do.' },
  { name: 'health', description: 'Whether the server is well. Open to everybody.' },
];

const made = new WeakMap<OpenAPIHono, Description>();

/** The description of everything that is served, in OpenAPI 3.1. Made once, when all of it is there. */
export function describeApi(app: OpenAPIHono, version: string, forms: readonly ActionForm[]): Description {
  const known = made.get(app);
  if (known !== undefined) return known;
  const registry = app.openAPIRegistry;
  registry.registerComponent('securitySchemes', 'token', {
    type: 'http',
    scheme: 'bearer',
    description:
      'The API_TOKEN of the server, or without one the token in the file api-token beside its database: it may do everything. Or a named token, for some scopes and chats: x-scope of an operation is what it needs. Scopes are read, run, manage and admin; each includes those before it.',
  });
  for (const [name, header] of Object.entries(answerHeaders)) registry.registerComponent('headers', name, header);
  const document = app.getOpenAPI31Document({
    openapi: '3.1.0',
    info: { ...info, version },
    servers: [{ url: '/' }],
    tags,
  });
  const description = withActions(JSON.parse(JSON.stringify(document), closeCodes) as Description, forms);
  made.set(app, description);
  return description;
}

type Named = readonly (readonly [name: string, schema: Schema])[];

/** The actions that this server has, each with its settings, in the place of one of which nothing is known. */
function withActions(description: Description, forms: readonly ActionForm[]): Description {
  const { components } = description;
  if (forms.length === 0) return description;
  const { description: about } = components.schemas['Action'] ?? {};
  const kinds = forms.map(({ kind }) => [kind, `Action_${kind}`] as const);
  const action: Schema = { ...(about === undefined ? {} : { description: about }), ...oneOfKinds(kinds) };
  const schemas = { ...components.schemas, ...Object.fromEntries(forms.flatMap(schemasOf)), Action: action };
  return { ...description, components: { ...components, schemas } };
}

function oneOfKinds(kinds: readonly (readonly [kind: string, name: string])[]): Schema {
  const refs = kinds.map(([kind, name]) => [kind, `#/components/schemas/${name}`] as const);
  return {
    oneOf: refs.map(([, $ref]) => ({ $ref })),
    discriminator: { propertyName: 'kind', mapping: Object.fromEntries(refs) },
  };
}

/** The schema of an action, and those of the kinds that a setting of it can be. */
function schemasOf({ kind, words, fields, example }: ActionForm): Named {
  const name = `Action_${kind}`;
  const does = words.menu.replace(/: \/.*$/, '');
  const kinds = fields.flatMap((field) =>
    (field.kinds ?? []).map((one) => [nameOf(name, field, one), kindSchema(one, name)] as const),
  );
  return [[name, kindSchema({ kind, does, fields, example }, name)], ...kinds];
}

function nameOf(owner: string, { name }: ActionField, { kind }: FieldVariant): string {
  return `${owner}_${name}_${kind}`;
}

function kindSchema({ kind, does, fields, example }: FieldVariant, owner: string): Schema {
  const settings = fields.map((field) => [field.name, { ...typeOf(field, owner), description: field.does }] as const);
  return {
    type: 'object',
    description: does,
    properties: { kind: { type: 'string', enum: [kind] }, ...Object.fromEntries(settings) },
    required: ['kind', ...fields.filter(({ isRequired }) => isRequired).map(({ name }) => name)],
    additionalProperties: false,
    example,
  };
}

function typeOf(field: ActionField, owner: string): Schema {
  const { is, of = [], example, isMany, kinds } = field;
  switch (is) {
    case 'text':
      return { type: 'string', example };
    case 'secret':
      return { type: 'string', pattern: secretRef, example };
    case 'choice':
      return { enum: of, example };
    case 'length':
      return { type: 'string', format: 'duration', example };
    case 'pairs':
      return { type: 'object', additionalProperties: isMany === true ? manyValues : { type: 'string' }, example };
    case 'whole':
      return { type: 'integer', example };
    case 'wholes':
      return { anyOf: [{ type: 'integer' }, { type: 'array', items: { type: 'integer' } }], example };
    case 'object':
      if (kinds !== undefined)
        return { ...oneOfKinds(kinds.map((one) => [one.kind, nameOf(owner, field, one)])), example };
      return { ...partsOf(field), example };
    case 'any':
      return { example };
  }
}

/** The name of a secret, or the place in the context where that name stands. */
const secretRef = String.raw`^\s*([A-Z][A-Z0-9_]{0,63}|\{\{\s*context(\.\w+)+\s*\}\})\s*$`;

const plainValue = { type: ['string', 'number', 'boolean'] };
const manyValues = { anyOf: [plainValue, { type: 'array', items: plainValue }] };

function partsOf({ parts, main }: ActionField): Schema {
  if (parts === undefined) return { type: 'object' };
  return {
    type: 'object',
    properties: Object.fromEntries(Object.entries(parts).map(([name, of]) => [name, { enum: of }])),
    ...(main === undefined ? {} : { required: [main] }),
    additionalProperties: false,
  };
}

/** The codes of errors are a closed list, which the domain keeps as a type alone. */
function closeCodes(name: string, value: unknown): unknown {
  const isError = name === 'Error' && typeof value === 'object' && value !== null && 'properties' in value;
  if (!isError) return value;
  const schema = value as { properties: { error: { properties: { code: object } } } };
  const { error } = schema.properties;
  const code = { ...error.properties.code, enum: Object.keys(statusOf) };
  return { ...schema, properties: { error: { ...error, properties: { ...error.properties, code } } } };
}
