import type { OpenAPIHono } from '@hono/zod-openapi';
import { document, healthAnswer, versionAnswer } from './answers.ts';
import { describeApi } from './openapi.ts';
import { serve } from './operation.ts';

interface State {
  readonly ok: boolean;
  readonly [detail: string]: unknown;
}

export interface Health {
  /** The process turns. */
  live(): State;
  /** The process can do its work now. */
  ready(): Promise<State>;
}

const probe = { tag: 'health', method: 'get', open: true } as const;

/** What watchers ask without a token. None of it names a task, a chat or a secret. */
export function serveHealth(app: OpenAPIHono, { health, version }: { health: Health; version: string }): void {
  const statuses = [200, 503] as const;
  const answer = healthAnswer;
  const stateAnswer = (state: State) => ({ status: state.ok ? 200 : 503, body: { ...state } }) as const;
  serve(
    app,
    { ...probe, id: 'isLive', summary: 'Whether the process turns', path: '/livez', answer, statuses },
    async () => stateAnswer(health.live()),
  );
  serve(
    app,
    { ...probe, id: 'isHealthy', summary: 'The same as /livez', path: '/healthz', answer, statuses },
    async () => stateAnswer(health.live()),
  );
  serve(
    app,
    { ...probe, id: 'isReady', summary: 'Whether work can be done now', path: '/readyz', answer, statuses },
    async () => stateAnswer(await health.ready()),
  );
  serve(
    app,
    { ...probe, id: 'getVersion', summary: 'Which version this is', path: '/version', answer: versionAnswer },
    async () => ({
      status: 200,
      body: { name: 'cronogram' as const, version },
    }),
  );
  let described: ReturnType<typeof describeApi> | undefined;
  serve(
    app,
    { ...probe, id: 'getDescription', summary: 'This document', path: '/openapi.json', answer: document },
    async () => {
      described ??= describeApi(app, version);
      return { status: 200, body: { ...described } };
    },
  );
}
