import { createServer } from 'node:http';
import type { Sandbox } from './sandbox.ts';

export interface ServedSandbox {
  readonly port: number;
  /** What grammY takes as its apiRoot. */
  readonly apiRoot: string;
  close(): Promise<void>;
}

const host = '127.0.0.1';

/** The Bot API alone, on the loopback interface; port 0 takes a free one. */
export async function serveSandbox(sandbox: Sandbox, port: number): Promise<ServedSandbox> {
  const server = createServer((incoming, outgoing) => sandbox.botApi(incoming, outgoing, incoming.url ?? '/'));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const address = server.address();
  const bound = typeof address === 'object' && address !== null ? address.port : port;
  return {
    port: bound,
    apiRoot: `http://${host}:${bound}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
