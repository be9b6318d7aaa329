import { createServer, type AddressInfo, type Server } from 'node:net';

/** Opens a server on a port that nobody has, of the loopback interface as a rule, and answers which. */
export async function opened(server: Server, port = 0, host = '127.0.0.1'): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return (server.address() as AddressInfo).port;
}

/** Below those that a system gives to whoever asks for any: a server or a connection beside the test would be given it again. */
const [lowest, highest] = [10_240, 32_000];
/** Processes that run side by side begin apart from each other. */
let tried = process.pid * 97;

/** A port that nobody has, and that stays free until the test takes it, or after it has left it. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = lowest + ((tried += 1) % (highest - lowest));
    const server = createServer();
    try {
      await opened(server, port);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
      continue;
    }
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
}
