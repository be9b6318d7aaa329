import { connect } from 'node:net';
import { onTestFinished } from 'vitest';
import type { Tasks } from '../../src/app/tasks/tasks.ts';
import { serveHttp } from '../../src/http/server.ts';
import { aDoor } from './door.ts';

/** The door over a real socket. */
export async function aServer(own: Partial<Tasks> = {}, more: Partial<Parameters<typeof serveHttp>[0]> = {}) {
  const door = aDoor(own);
  const listening = await serveHttp({ app: door.app, host: '127.0.0.1', port: 0, graceMs: 5000, ...more });
  onTestFinished(() => listening.close());
  return { ...door, ...listening, url: `http://127.0.0.1:${listening.port}` };
}

/** Bytes as they are, for what no client would send; answers all that came back once the connection was closed. */
export function raw(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => (answer += chunk));
    socket.on('close', () => resolve(answer));
    socket.on('error', reject);
  });
}
