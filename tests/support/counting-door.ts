import { connect, createServer, type Socket } from 'node:net';
import { opened } from './ports.ts';

/** A way to a Postgres server that counts what it is asked: each statement by itself, also those that begin or end a transaction. */
export interface CountingDoor {
  readonly url: string;
  /** Statements since it was opened, or since the last reset. */
  readonly texts: () => readonly string[];
  reset(): void;
  close(): void;
}

export async function openCountingDoor(databaseUrl: string): Promise<CountingDoor> {
  const database = new URL(databaseUrl);
  const [port, host] = [Number(database.port), database.hostname];
  const sockets = new Set<Socket>();
  let texts: string[] = [];
  const kept = (socket: Socket) => {
    sockets.add(socket.on('error', () => socket.destroy()));
    return socket.once('close', () => sockets.delete(socket));
  };
  const server = createServer((near) => {
    const far = kept(connect(port, host));
    const read = readingStatements((text) => texts.push(text));
    kept(near).on('data', read);
    near.pipe(far);
    far.pipe(near);
    near.once('close', () => far.destroy());
    far.once('close', () => near.destroy());
  });
  database.port = String(await opened(server));
  return {
    url: database.href,
    texts: () => texts,
    reset: () => {
      texts = [];
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

const headBytes = 5;
const [simple, parse, bind, execute] = ['Q', 'P', 'B', 'E'].map((sign) => sign.charCodeAt(0));

/** Reads what a client says: its first message has no type, and each other one has a type and its length. */
function readingStatements(tell: (text: string) => void): (bytes: Buffer) => void {
  let rest = Buffer.alloc(0);
  let isGreeted = false;
  const prepared = new Map<string, string>();
  let bound = '';
  const textIn = (from: Buffer, at = 0) => from.toString('utf8', at, from.indexOf(0, at));
  const take = (type: number, body: Buffer) => {
    if (type === simple) for (const one of textIn(body).split(';')) if (one.trim() !== '') tell(one.trim());
    if (type === parse) prepared.set(textIn(body), textIn(body, body.indexOf(0) + 1));
    if (type === bind) bound = prepared.get(textIn(body, body.indexOf(0) + 1)) ?? '';
    if (type === execute) tell(bound);
  };
  return (bytes) => {
    rest = Buffer.concat([rest, bytes]);
    for (;;) {
      const head = isGreeted ? headBytes : headBytes - 1;
      if (rest.length < head) return;
      const size = rest.readInt32BE(head - 4) + head - 4;
      if (rest.length < size) return;
      if (isGreeted) take(rest[0] ?? 0, rest.subarray(head, size));
      isGreeted = true;
      rest = rest.subarray(size);
    }
  };
}
