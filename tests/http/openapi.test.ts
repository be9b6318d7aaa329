import { describe, expect, it } from 'vitest';
import { operations as known } from '../../src/api/operations.ts';
import { manualPages } from '../../src/http/docs/manual.ts';
import type { Description, Schema } from '../../src/http/docs/openapi.ts';
import { exampleOf } from '../../src/http/docs/page.ts';
import { statusOf } from '../../src/http/errors.ts';
import { aDoor } from './door.ts';
import { faultsOf } from './json-schema.ts';

async function describedBy(app: ReturnType<typeof aDoor>['app']): Promise<Description> {
  return (await (await app.request('/openapi.json')).json()) as Description;
}

async function operations() {
  const { paths } = await describedBy(aDoor().app);
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
}

/** For people, and so no operations. */
const pages = ['GET /', 'GET /docs', 'GET /docs/sandbox.png', ...manualPages.map(({ name }) => `GET /docs/${name}`)];

/** Every schema of a description, wherever it stands. */
function schemasIn(value: unknown): readonly Schema[] {
  if (typeof value !== 'object' || value === null) return [];
  const isSchema = ['type', '$ref', 'oneOf', 'anyOf', 'properties'].some((name) => name in value);
  return [...(isSchema ? [value as Schema] : []), ...Object.values(value).flatMap(schemasIn)];
}

describe('the description', () => {
  it('holds every route that is served, and no other', async () => {
    const { app } = aDoor();
    const served = app.routes
      .filter(({ method }) => method !== 'ALL')
      .map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`)
      .filter((route) => !pages.includes(route));
    const told = (await operations()).map(({ path, method }) => `${method.toUpperCase()} ${path}`);
    expect(told.toSorted()).toEqual(served.toSorted());
    expect(told.length).toBeGreaterThanOrEqual(17);
  });

  it('holds every operation that a client can ask for, under its id', async () => {
    const told = (await operations()).map(({ operation }) => operation.operationId);
    expect(told.toSorted()).toEqual(Object.keys(known).toSorted());
  });

  it('gives each operation a name, its place, its parameters and its answers', async () => {
    const { tags } = await describedBy(aDoor().app);
    const all = await operations();
    expect(new Set(all.map(({ operation }) => operation.operationId)).size).toBe(all.length);
    for (const { path, operation } of all) {
      expect(operation.summary, path).toMatch(/^[A-Z].*[^.]$/);
      expect(
        tags.map(({ name }) => name),
        path,
      ).toContain(operation.tags[0]);
      expect(operation.tags, path).toHaveLength(1);
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const parameters = operation.parameters ?? [];
      expect(
        parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name),
        path,
      ).toEqual(inPath);
      expect(Object.keys(operation.responses).some((status) => status.startsWith('2'))).toBe(true);
      for (const [status, answer] of Object.entries(operation.responses)) {
        expect(answer.description, `${path} ${status}`).toBeTruthy();
        expect(answer.headers, `${path} ${status}`).toHaveProperty('x-request-id');
      }
    }
  });

  it('says of each refusal with which codes it comes, in the envelope of errors', async () => {
    for (const { path, operation } of await operations()) {
      for (const [status, { content, 'x-error-codes': codes }] of Object.entries(operation.responses)) {
        if (codes === undefined) continue;
        const place = `${path} ${status}`;
        expect(content?.['application/json']?.schema, place).toEqual({ $ref: '#/components/schemas/Error' });
        expect(codes.length, place).toBeGreaterThan(0);
        expect(
          codes.map((code) => statusOf[code as keyof typeof statusOf]),
          place,
        ).toEqual(codes.map(() => Number(status)));
      }
      const told = Object.values(operation.responses).flatMap(({ 'x-error-codes': codes }) => codes ?? []);
      const hasBody = operation.requestBody !== undefined;
      expect(told.includes('unsupported_media_type'), path).toBe(hasBody);
      expect(told.includes('rate_limited'), path).toBe(path.startsWith('/v1/'));
    }
    const create = (await operations()).find(({ operation }) => operation.operationId === 'createTask');
    expect(create?.operation.responses['400']?.['x-error-codes']).toEqual([
      'invalid_request',
      'invalid_thread_key',
      'invalid_template',
      'invalid_action',
      'invalid_schedule',
      'invalid_policy',
      'ambiguous_schedule',
      'incomplete_schedule',
    ]);
  });

  it('closes the list of codes', async () => {
    const { components } = await describedBy(aDoor().app);
    const { Error: fault } = components.schemas;
    expect(fault?.properties?.['error']?.properties?.['code']?.enum).toEqual(Object.keys(statusOf));
  });

  it('asks for the token under /v1 alone', async () => {
    for (const { path, operation } of await operations()) {
      const isGuarded = path.startsWith('/v1/');
      expect(operation.security, path).toEqual(isGuarded ? [{ token: [] }] : []);
      expect('401' in operation.responses, path).toBe(isGuarded);
    }
  });

  it('tells of the headers that a client needs', async () => {
    const all = new Map((await operations()).map(({ operation }) => [operation.operationId, operation]));
    const headersOf = (id: string, status: string) => Object.keys(all.get(id)?.responses[status]?.headers ?? {});
    expect(headersOf('createTask', '201')).toEqual([
      'x-request-id',
      'ratelimit-limit',
      'ratelimit-remaining',
      'ratelimit-reset',
      'idempotency-replayed',
    ]);
    expect(headersOf('createTask', '429')).toContain('retry-after');
    expect(headersOf('getTask', '503')).toContain('retry-after');
    expect(headersOf('getTask', '401')).toContain('www-authenticate');
    expect(headersOf('isLive', '200')).toEqual(['x-request-id']);
    const keyed = [...all.values()].filter(({ parameters = [] }) =>
      parameters.some(({ name }) => name === 'Idempotency-Key'),
    );
    expect(keyed.map(({ operationId }) => operationId)).toContain('runTaskNow');
  });

  it('tells of the stream of events beside its pages', async () => {
    const { paths } = await describedBy(aDoor().app);
    const events = paths['/v1/events']?.['get'];
    expect(Object.keys(events?.responses['200']?.content ?? {})).toEqual(['application/json', 'text/event-stream']);
    expect(events?.parameters?.map(({ name, in: place }) => `${place} ${name}`)).toEqual([
      'query after',
      'query task_id',
      'query kind',
      'query limit',
      'header Last-Event-ID',
    ]);
  });

  it('refers only to what it holds, and holds nothing that nobody refers to', async () => {
    const described = await describedBy(aDoor().app);
    expect(described.openapi).toBe('3.1.0');
    expect(described.components.securitySchemes['token']).toMatchObject({ type: 'http', scheme: 'bearer' });
    const references = [...JSON.stringify(described).matchAll(/"\$ref":"#\/components\/(\w+)\/([\w-]+)"/g)].map(
      ([, kind, name]) => `${kind}/${name}`,
    );
    expect(references.length).toBeGreaterThan(20);
    expect(JSON.stringify(described).match(/"\$ref"/g)).toHaveLength(references.length);
    const { schemas, headers } = described.components;
    const held = [
      ...Object.keys(schemas).map((name) => `schemas/${name}`),
      ...Object.keys(headers).map((name) => `headers/${name}`),
    ];
    expect([...new Set(references)].toSorted()).toEqual(held.toSorted());
  });

  it('gives examples that are what they stand for', async () => {
    const described = await describedBy(aDoor().app);
    const withExample = schemasIn(described).filter(({ example }) => example !== undefined);
    expect(withExample.length).toBeGreaterThan(20);
    for (const schema of withExample)
      expect(faultsOf(schema.example, schema, described), JSON.stringify(schema)).toEqual([]);
    for (const { operation } of await operations()) {
      const body = operation.requestBody?.content['application/json']?.schema;
      if (body === undefined || operation.requestBody?.required !== true) continue;
      expect(faultsOf(exampleOf(body, described), body, described), operation.operationId).toEqual([]);
    }
  });

  it('says which bodies are needed and that their fields are closed', async () => {
    const bodies = (await operations()).flatMap(({ operation: { operationId, requestBody } }) =>
      requestBody?.required === true ? [operationId] : [],
    );
    expect(bodies.toSorted()).toEqual([
      'answerTask',
      'attachTask',
      'cancelTasks',
      'changeContext',
      'createGrant',
      'createTask',
      'createToken',
      'pauseTasks',
      'postMessage',
      'previewAction',
      'previewSchedule',
      'resumeTasks',
      'setBudgets',
      'setSecret',
      'snoozeTask',
      'testAction',
      'updateTask',
    ]);
    const described = await describedBy(aDoor().app);
    expect(described.components.schemas['TaskCreate']).toMatchObject({
      additionalProperties: false,
      anyOf: [
        { required: ['schedule', 'instructions'] },
        { required: ['schedule', 'action'] },
        { required: ['when', 'timezone'] },
      ],
    });
  });
});
