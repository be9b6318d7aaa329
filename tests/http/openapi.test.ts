import { describe, expect, it } from 'vitest';
import { aDoor } from './door.ts';

interface Operation {
  readonly operationId?: string;
  readonly summary?: string;
  readonly security?: readonly object[];
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly required?: boolean }[];
  readonly requestBody?: {
    readonly required?: boolean;
    readonly content: Readonly<Record<string, { readonly schema: unknown }>>;
  };
  readonly responses: Readonly<
    Record<
      string,
      { readonly description?: string; readonly content: Readonly<Record<string, { readonly schema: unknown }>> }
    >
  >;
}

interface Description {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

async function describedBy(app: ReturnType<typeof aDoor>['app']): Promise<Description> {
  return (await (await app.request('/openapi.json')).json()) as Description;
}

async function operations() {
  const { paths } = await describedBy(aDoor().app);
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
}

describe('the description', () => {
  it('holds every route that is served, and no other', async () => {
    const { app } = aDoor();
    const served = app.routes
      .filter(({ method }) => method !== 'ALL')
      .map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`);
    const told = (await operations()).map(({ path, method }) => `${method.toUpperCase()} ${path}`);
    expect(told.toSorted()).toEqual(served.toSorted());
    expect(told.length).toBeGreaterThanOrEqual(17);
  });

  it('gives each operation a name, its parameters, its answers and the envelope of its errors', async () => {
    const all = await operations();
    expect(new Set(all.map(({ operation }) => operation.operationId)).size).toBe(all.length);
    for (const { path, operation } of all) {
      expect(operation.summary, path).toBeTruthy();
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      expect(
        operation.parameters?.filter((parameter) => parameter.in === 'path').map(({ name }) => name) ?? [],
        path,
      ).toEqual(inPath);
      const statuses = Object.keys(operation.responses);
      expect(
        statuses.some((status) => status.startsWith('2')),
        path,
      ).toBe(true);
      for (const [status, { description, content }] of Object.entries(operation.responses)) {
        expect(description, path).toBeTruthy();
        const isFault = Number(status) >= 400 && path !== '/readyz' && path !== '/livez' && path !== '/healthz';
        if (isFault)
          expect(content['application/json']?.schema, `${path} ${status}`).toEqual({
            $ref: '#/components/schemas/Error',
          });
      }
    }
  });

  it('asks for the token under /v1 alone', async () => {
    for (const { path, operation } of await operations()) {
      const isGuarded = path.startsWith('/v1/');
      expect(operation.security, path).toEqual(isGuarded ? [{ token: [] }] : []);
      expect('401' in operation.responses, path).toBe(isGuarded);
    }
  });

  it('refers only to what it holds', async () => {
    const described = await describedBy(aDoor().app);
    expect(described.openapi).toBe('3.1.0');
    expect(described.components['securitySchemes']).toEqual({ token: { type: 'http', scheme: 'bearer' } });
    const references = [...JSON.stringify(described).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)].map(
      ([, name]) => name,
    );
    expect(references.length).toBeGreaterThan(20);
    for (const name of references) expect(described.components['schemas']).toHaveProperty(name ?? '');
  });

  it('says which bodies are needed and that their fields are closed', async () => {
    const bodies = (await operations()).flatMap(({ operation: { operationId, requestBody } }) =>
      requestBody === undefined ? [] : [[operationId, requestBody.required ?? false]],
    );
    expect(Object.fromEntries(bodies)).toEqual({
      createTask: true,
      updateTask: true,
      previewSchedule: true,
      runTaskNow: false,
      pauseTask: false,
      runAudit: false,
      reconcile: false,
      resumeTask: false,
      cancelTask: false,
      answerTask: true,
      skipTask: false,
      unskipTask: false,
      snoozeTask: true,
      restoreTask: false,
      undoTask: false,
      pauseThread: false,
      resumeThread: false,
      cancelRun: false,
      retryRun: false,
      replayRun: false,
    });
    const { components } = await describedBy(aDoor().app);
    expect(components['schemas']?.['TaskCreate']).toMatchObject({
      additionalProperties: false,
      required: ['instructions', 'schedule'],
    });
  });
});
