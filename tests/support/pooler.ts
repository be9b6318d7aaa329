import { connect, createServer, type Socket } from 'node:net';

/** The modes of pgbouncer: its server connections are lent to a client until it leaves, or for one transaction or statement at a time. */
export type PoolMode = 'session' | 'transaction' | 'statement';

/** A connection to the server, past its greeting. */
interface Far {
  readonly socket: Socket;
  /** Who it is lent to. */
  near: Near | null;
}

interface Near {
  readonly socket: Socket;
  far: Far | null;
  waiting: Buffer[];
}

const [terminate, readyForQuery, idle] = ['X', 'Z', 'I'].map((sign) => sign.charCodeAt(0));

function message(type: string, body: string): Buffer {
  const head = Buffer.alloc(5, type);
  head.writeInt32BE(4 + Buffer.byteLength(body), 1);
  return Buffer.concat([head, Buffer.from(body)]);
}

const noTransactions = Buffer.concat([
  message('E', 'SERROR\0C08P01\0Mtransaction blocks not allowed in statement pooling mode\0\0'),
  message('Z', 'I'),
]);

/** A pooler in front of a Postgres server. Each client greets the server itself, and its connection goes into the pool. */
export async function openPooler(databaseUrl: string, mode: PoolMode) {
  const database = new URL(databaseUrl);
  const [port, host] = [Number(database.port), database.hostname];
  const free: Far[] = [];
  const sockets = new Set<Socket>();
  let now = mode;
  const kept = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => sockets.delete(socket));
    return socket;
  };

  const giveBack = (far: Far) => {
    if (far.near !== null) far.near.far = null;
    far.near = null;
    free.push(far);
  };
  const fromServer = (far: Far) => (bytes: Buffer) => {
    far.near?.socket.write(bytes);
    // The state of the transaction ends what the server says.
    const isDone = bytes.at(-6) === readyForQuery && bytes.at(-1) === idle;
    if (isDone && now !== 'session' && far.near !== null) giveBack(far);
  };
  const fromClient = (near: Near) => (bytes: Buffer) => {
    if (bytes[0] === terminate) return;
    // As pgbouncer answers there: an error with its code, and that it is ready.
    if (now === 'statement' && bytes.includes('begin')) return void near.socket.write(noTransactions);
    near.far ??= free.pop() ?? null;
    if (near.far === null) return void near.waiting.push(bytes);
    near.far.near = near;
    near.far.socket.write(bytes);
  };
  const serveWaiting = (nears: Iterable<Near>) => {
    for (const near of nears) {
      if (near.waiting.length === 0 || free.length === 0) continue;
      const bytes = Buffer.concat(near.waiting);
      near.waiting = [];
      fromClient(near)(bytes);
    }
  };

  const nears = new Set<Near>();
  const server = createServer((socket) => {
    const near: Near = { socket: kept(socket), far: null, waiting: [] };
    const far: Far = { socket: kept(connect(port, host)), near };
    near.far = far;
    nears.add(near);
    const onServer = fromServer(far);
    far.socket.on('data', (bytes) => {
      onServer(bytes);
      serveWaiting(nears);
    });
    const onClient = fromClient(near);
    socket.on('data', onClient);
    socket.once('close', () => {
      nears.delete(near);
      // Nothing is left of a session, and a transaction that is open is taken back.
      if (near.far !== null) near.far.socket.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  database.port = String(typeof address === 'object' && address !== null ? address.port : 0);
  return {
    url: database.href,
    turnTo: (next: PoolMode) => {
      now = next;
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
