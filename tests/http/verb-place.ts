import { onTestFinished } from 'vitest';
import type { PartsOf } from '../../src/api/operations.ts';
import { serveHttp } from '../../src/http/server.ts';
import { aPipeline, start, type Pipeline, type PipelineOptions } from '../support/pipeline.ts';
import { bearer, told, type Asked } from './door.ts';
import { appOver } from './pipeline-door.ts';

type Told = Omit<Asked, 'json'> & { readonly json: Asked['json'] & Answers };

/** Fields that the verbs answer besides a task. */
type Answers = PartsOf<'updateTask'>['answer'] &
  PartsOf<'undoTask'>['answer'] &
  PartsOf<'cancelRun'>['answer'] &
  PartsOf<'purgeThread'>['answer'] &
  PartsOf<'listTaskVersions'>['answer'];

interface Place {
  readonly p: Pipeline;
  readonly ask: (
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<Told>;
  /** Makes an hourly task and answers its path. */
  readonly make: (more?: object, key?: string) => Promise<string>;
}

const hourly = { kind: 'cron', cron: '0 * * * *', timezone: 'UTC' };
export const thread = 'telegram:chat:-1001234';
export const iso = (ms: number) => new Date(start + ms).toISOString();

/** The door before the whole pipeline on a real database, asked over a real socket. */
export async function aPlace(options: PipelineOptions = {}): Promise<Place> {
  const p = await aPipeline(options);
  const app = appOver(p);
  const listening = await serveHttp({ app, host: '127.0.0.1', port: 0 });
  onTestFinished(() => listening.close());
  const ask: Place['ask'] = async (method, path, body, headers = {}) => {
    const sent = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) };
    const type = body === undefined ? {} : { 'content-type': 'application/json' };
    const url = `http://127.0.0.1:${listening.port}${path}`;
    return (await told(await fetch(url, { method, headers: { ...bearer, ...type, ...headers }, ...sent }))) as Told;
  };
  const make: Place['make'] = async (more = {}, key = thread) => {
    const made = await ask('POST', `/v1/threads/${key}/tasks`, {
      instructions: 'Stand up!',
      schedule: hourly,
      ...more,
    });
    return `/v1/tasks/${made.json.task.task_id}`;
  };
  return { p, ask, make };
}

/** The outcome of a request in one line. */
export const said = ({ status, json }: Told) => (status === 200 ? '200' : `${status} ${json.error.code}`);
