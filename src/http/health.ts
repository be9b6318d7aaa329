import type { OpenAPIHono } from '@hono/zod-openapi';
import * as api from '../api/health.ts';
import { describeApi } from './docs/openapi.ts';
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

/** What watchers ask without a token. None of it names a task, a chat or a secret. */
export function serveHealth(app: OpenAPIHono, { health, version }: { health: Health; version: string }): void {
  const stateAnswer = (state: State) => ({ status: state.ok ? 200 : 503, body: { ...state } }) as const;
  serve(app, api.isLive, async () => stateAnswer(health.live()));
  serve(app, api.isHealthy, async () => stateAnswer(health.live()));
  serve(app, api.isReady, async () => stateAnswer(await health.ready()));
  serve(app, api.getVersion, async () => ({
    status: 200,
    body: { name: 'cronogram' as const, version, node: process.versions.node },
  }));
  let described: ReturnType<typeof describeApi> | undefined;
  serve(app, api.getDescription, async () => {
    described ??= describeApi(app, version);
    return { status: 200, body: { ...described } };
  });
}
