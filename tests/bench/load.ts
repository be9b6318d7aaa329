import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** A request as it goes over the wire. */
export interface Shot {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: string;
}

export interface Answered {
  readonly status: number;
  readonly body: Buffer;
}

/**
 * Connections that are kept alive, each with one request at a time, over bare sockets: a client of the runtime would cost
 * more than the server that is measured, on the same machine.
 */
export interface Client {
  ask(shot: Shot): Promise<Answered>;
  close(): void;
}

export async function openClient(port: number, connections: number): Promise<Client> {
  const free = await Promise.all(Array.from({ length: connections }, () => openConnection(port)));
  const all = [...free];
  const waiting: ((connection: Connection) => void)[] = [];
  const give = (connection: Connection) => {
    const next = waiting.shift();
    if (next === undefined) free.push(connection);
    else next(connection);
  };
  const take = () => {
    const connection = free.pop();
    return connection ?? new Promise<Connection>((resolve) => waiting.push(resolve));
  };
  return {
    ask: async (shot) => {
      const connection = await take();
      const answered = await connection.ask(textOf(shot));
      give(connection);
      return answered;
    },
    close: () => {
      for (const { socket } of all) socket.destroy();
    },
  };
}

export const token = 'the-token-of-the-bench';

function textOf({ method, path, body }: Shot): string {
  const head = `${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${token}\r\n`;
  if (body === undefined) return `${head}\r\n`;
  return `${head}content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

interface Connection {
  readonly socket: Socket;
  ask(text: string): Promise<Answered>;
}

async function openConnection(port: number): Promise<Connection> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  let got: Buffer = Buffer.alloc(0);
  let settle: ((answered: Answered) => void) | null = null;
  let fail: ((error: Error) => void) | null = null;
  socket.on('data', (chunk) => {
    got = got.length === 0 ? chunk : Buffer.concat([got, chunk]);
    const answered = readAnswer(got);
    if (answered === null) return;
    got = Buffer.alloc(0);
    settle?.(answered);
  });
  const lost = (error?: Error) => fail?.(error ?? new Error('the server closed a connection'));
  socket.on('close', () => lost()).on('error', lost);
  return {
    socket,
    ask: (text) =>
      new Promise((resolve, reject) => {
        [settle, fail] = [resolve, reject];
        socket.write(text);
      }),
  };
}

/** Null while it is not complete. */
function readAnswer(bytes: Buffer): Answered | null {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return null;
  const head = bytes.toString('latin1', 0, end);
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? Number.NaN);
  if (Number.isNaN(length)) throw new Error(`an answer without its length:\n${head}`);
  if (bytes.length < end + 4 + length) return null;
  return { status: Number(head.slice(9, 12)), body: bytes.subarray(end + 4, end + 4 + length) };
}

export interface Load {
  readonly shot: (index: number) => Shot;
  readonly perSecond: number;
  readonly seconds: number;
}

/**
 * Requests at a steady rate, whatever becomes of those before. Each is counted from the moment at which it was meant to be
 * sent, so a server that stops for a moment pays for everybody who came meanwhile. Milliseconds, in the order of sending;
 * `from` is the instant of the first.
 */
export async function openLoop(
  client: Client,
  load: Load,
): Promise<{ readonly taken: number[]; readonly from: number }> {
  const count = load.perSecond * load.seconds;
  const gapMs = 1000 / load.perSecond;
  const from = performance.now() + 20;
  const taken: Promise<number>[] = [];
  while (taken.length < count) {
    for (; taken.length < count && from + taken.length * gapMs <= performance.now();) {
      taken.push(timed(client, load.shot(taken.length), from + taken.length * gapMs));
    }
    await pause(1);
  }
  return { taken: await Promise.all(taken), from: Date.now() - performance.now() + from };
}

async function timed(client: Client, shot: Shot, meantAt: number): Promise<number> {
  sound(shot, await client.ask(shot));
  return performance.now() - meantAt;
}

/** What was not done is no figure. */
function sound({ method, path }: Shot, { status, body }: Answered): void {
  if (status >= 300) throw new Error(`${method} ${path}: ${status} ${body.toString().slice(0, 300)}`);
}

/** As many requests as there are connections, each followed by the next at once. Requests per second. */
export async function closedLoop(
  client: Client,
  { shot, seconds, connections }: Pick<Load, 'shot' | 'seconds'> & { readonly connections: number },
): Promise<number> {
  let sent = 0;
  const from = performance.now();
  const until = from + seconds * 1000;
  const lane = async () => {
    while (performance.now() < until) {
      const next = shot(sent);
      sent += 1;
      sound(next, await client.ask(next));
    }
  };
  await Promise.all(Array.from({ length: connections }, lane));
  return sent / ((performance.now() - from) / 1000);
}
