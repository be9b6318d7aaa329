import { connect, createServer, type Socket } from 'node:net';

/** A way to a Postgres server that can be blocked, and that can lead to another. */
export async function openWay(databaseUrl: string) {
  const own = new URL(databaseUrl);
  let to = new URL(databaseUrl);
  const open = new Set<Socket>();
  const fars = new Set<Socket>();
  const frozen = new Set<Socket>();
  let [isCut, isBlocked, refusals] = [false, false, 0];
  const server = createServer((near) => {
    open.add(near);
    if (isBlocked) frozen.add(near);
    near.on('error', () => near.destroy());
    near.once('close', () => open.delete(near));
    if (isCut) near.destroy();
    else if (refusals > 0) near.once('data', () => near.end(startingUp));
    // Connections that come while it is blocked lead nowhere: the server knows nothing of them.
    else if (!isBlocked) lead(near);
    refusals = Math.max(0, refusals - 1);
  });
  const lead = (near: Socket) => {
    const far = connect(Number(to.port || 5432), to.hostname);
    fars.add(far);
    far.on('error', () => far.destroy());
    near.on('data', (bytes) => void (frozen.has(near) || far.write(bytes)));
    far.on('data', (bytes) => void (frozen.has(near) || near.write(bytes)));
    // What is frozen leads nowhere, and neither end sees that the other is gone.
    near.once('close', () => void (frozen.has(near) || far.destroy()));
    far.once('close', () => void (frozen.has(near) || near.destroy()));
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  own.hostname = '127.0.0.1';
  own.port = String(typeof address === 'object' && address !== null ? address.port : 0);
  const cut = () => {
    isCut = true;
    for (const socket of open) socket.destroy();
  };
  return {
    url: own.href,
    /** From now on the connections that are open take what is sent, and it leads nowhere. */
    freeze: () => {
      for (const socket of open) frozen.add(socket);
    },
    /** The same for those to come. */
    block: () => {
      isBlocked = true;
      for (const socket of open) frozen.add(socket);
    },
    cut,
    /** For connections to come. */
    leadTo: (url: string) => {
      to = new URL(url);
    },
    mend: () => {
      [isCut, isBlocked] = [false, false];
    },
    /** So many connections are told that the server is starting up. */
    startUp: (count: number) => {
      refusals = count;
    },
    close: () => {
      cut();
      for (const far of fars) far.destroy();
      server.close();
    },
  };
}

const startingUp = errorMessage({ S: 'FATAL', C: '57P03', M: 'the database system is starting up' });

function errorMessage(fields: Readonly<Record<string, string>>): Buffer {
  const body = Object.entries(fields).map(([kind, text]) => `${kind}${text}\0`);
  const bytes = Buffer.from(`E....${body.join('')}\0`);
  bytes.writeInt32BE(bytes.length - 1, 1);
  return bytes;
}
