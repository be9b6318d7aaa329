import { createServer, type Server } from 'node:http';
import { fault, send } from './control/answers.ts';
import { createSandboxPages, foreignness } from './control/control.ts';
import { openSandbox, type Sandbox, type SandboxNeeds } from './sandbox.ts';

export interface Standalone {
  readonly sandbox: Sandbox;
  readonly port: number;
  /** The address of the chat page. */
  readonly page: string;
  /** What a bot takes as the root of its Bot API. */
  readonly apiRoot: string;
  /** Ends streams, polls and connections, and closes the file. */
  close(): Promise<void>;
}

const root = '/sandbox';

/**
 * The sandbox as a server of its own, on the loopback interface; port 0 takes a free one. Its clock is the real one: only
 * the product knows its next run, so only a product that carries the sandbox inside can jump there.
 */
export async function serveStandalone(needs: SandboxNeeds, port: number, host = '127.0.0.1'): Promise<Standalone> {
  const sandbox = openSandbox(needs);
  const { world } = sandbox;
  const { log, timer, clock } = needs;
  const pages = createSandboxPages({ world, travel: null, log, timer, clock });
  const server = createServer((incoming, outgoing) => {
    const path = (incoming.url ?? '').split('?', 1)[0] ?? '';
    const below = path === root || path.startsWith(`${root}/`) ? path.slice(root.length) : null;
    const reason = foreignness(incoming);
    if (reason !== null) send(outgoing, fault(403, 'forbidden', reason));
    else if (below === null) send(outgoing, away(path));
    else if (/^\/(?:file\/)?bot/.test(below)) sandbox.botApi(incoming, outgoing, below);
    else pages.handle(incoming, outgoing, below);
  });
  try {
    await listen(server, port, host);
  } catch (error) {
    pages.close();
    await sandbox.close();
    throw error;
  }
  const address = server.address();
  const taken = typeof address === 'object' && address !== null ? address.port : port;
  const apiRoot = `http://${host.includes(':') ? `[${host}]` : host}:${taken}${root}`;
  return {
    sandbox,
    port: taken,
    page: apiRoot,
    apiRoot,
    close: async () => {
      pages.close();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      await sandbox.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function away(path: string) {
  const found = fault(404, 'not_found', `There is nothing at this address. The page is ${root}.`);
  return path === '/' ? { ...found, status: 302, headers: { location: root } } : found;
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}
