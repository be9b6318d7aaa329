import { createServer, type AddressInfo, type Server } from 'node:net';

/** Opens a server on a port that nobody has, of the loopback interface as a rule, and answers which. */
export async function opened(server: Server, host = '127.0.0.1'): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, host, resolve);
  });
  return (server.address() as AddressInfo).port;
}

/** A port that nobody has just now. */
export async function freePort(): Promise<number> {
  const server = createServer();
  const port = await opened(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}
