import type { IncomingHttpHeaders, RequestListener, ServerResponse } from 'node:http';
import type { ActionSpec } from '../../../../src/domain/task.ts';
import { anOutbound } from '../../../support/outbound.ts';
import { aPipeline, hourly, type PipelineOptions } from '../../../support/pipeline.ts';
import { aStub } from '../../../support/place.ts';

interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export type Answer = (response: ServerResponse, seen: Seen) => void;

/** A pipeline whose tasks may call one server of the test. */
export async function caller(answer: Answer, options: PipelineOptions = {}) {
  const seen: Seen[] = [];
  const listener: RequestListener = (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const one = { method, url, headers, body: Buffer.concat(chunks).toString() };
      seen.push(one);
      answer(response, one);
    });
  };
  const { port } = new URL(await aStub(listener));
  const base = `http://api.example.com:${port}`;
  const p = await aPipeline({ outbound: anOutbound(), ...options });
  const settle = async () => {
    // Calls that are under way go on in real time.
    for (let before = -1; before !== seen.length;) {
      before = seen.length;
      await p.settle();
      await p.rooms.runner.idle();
    }
    await p.settle();
  };
  const pass = async (ms: number) => {
    await p.time.advance(ms);
    await settle();
  };
  const fetching = (action: Omit<ActionSpec, 'kind'>, more: object = {}) =>
    p.create({
      title: 'Price',
      instructions: '',
      schedule: hourly,
      action: { kind: 'http', url: `${base}/price`, ...action },
      ...more,
    });
  const lastOutput = async (taskId: string) =>
    (await p.store.readRun((await p.history(taskId)).at(-1)?.runId ?? ''))?.output;
  return { p, seen, base, pass, settle, fetching, lastOutput };
}

export const json =
  (value: unknown): Answer =>
  (response) => {
    response.setHeader('content-type', 'application/json').end(JSON.stringify(value));
  };

export const failing =
  (status: number, headers: Record<string, string> = {}): Answer =>
  (response) => {
    response.writeHead(status, headers).end('no luck');
  };
