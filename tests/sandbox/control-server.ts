import { createServer, request, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { AppError } from '../../src/domain/errors.ts';
import { createSandboxPages, type SandboxPagesDeps } from '../../src/sandbox/control/control.ts';
import type {
  ChatJson,
  FaultedJson,
  FaultJson,
  MessageJson,
  PressedJson,
  StateJson,
  Views,
} from '../../src/sandbox/control/shapes.ts';
import { openSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts';
import type { Travel } from '../../src/sandbox/world/world.ts';
import { manualTime, memoryLog, type ManualTime, type MemoryLog } from '../support/fakes.ts';

const token = '777000001:control-test';
export const startAt = Date.parse('2026-11-18T09:00:00.000Z');

export interface Told {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly json: Body;
}

/** Every field that a test reads of any answer; which of them are there is what the test finds out. */
export type Body = Omit<StateJson, 'chats'> &
  Views['messages'] &
  Views['calls'] &
  FaultedJson &
  PressedJson & {
    readonly message: MessageJson;
    readonly thread_id: number;
    readonly fault: FaultJson;
    readonly transcript: string;
    readonly chats: readonly (ChatJson & Views['messages'])[];
  };

export interface BotAnswer<T> {
  readonly ok: boolean;
  readonly result: T;
}

export interface Asking {
  readonly body?: unknown;
  /** Sent as it is, in the place of a JSON body. */
  readonly raw?: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ServedPages {
  readonly sandbox: Sandbox;
  readonly time: ManualTime;
  readonly log: MemoryLog;
  readonly port: number;
  readonly botRoot: string;
  readonly ask: (method: string, path: string, asking?: Asking) => Promise<Told>;
  readonly post: (path: string, body: unknown) => Promise<Told>;
  readonly get: (path: string) => Promise<Told>;
  /** A call of the bot. */
  readonly bot: <T = { readonly message_id: number }>(method: string, params: unknown) => Promise<BotAnswer<T>>;
  /** Stops the pages as a server does before it closes. */
  readonly stopPages: () => void;
}

/** The pages and the Bot API of a new world on a real port. */
export async function servePages(more: Partial<SandboxPagesDeps> = {}): Promise<ServedPages> {
  const time = manualTime(startAt);
  const log = memoryLog();
  const limits = { globalPerSecond: null, chatPerSecond: null, groupPerMinute: null };
  const sandbox = openSandbox({ clock: time, stopwatch: time, timer: time, log, file: ':memory:', token, limits });
  const pages = createSandboxPages({ world: sandbox.world, travel: null, log, timer: time, clock: time, ...more });
  const server = createServer((incoming, outgoing) => {
    const path = (incoming.url ?? '').split('?', 1)[0]?.replace(/^\/sandbox/, '') ?? '';
    if (path.startsWith('/bot')) sandbox.botApi(incoming, outgoing, path);
    else pages.handle(incoming, outgoing, path);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    pages.close();
    server.closeAllConnections();
    server.close();
    await sandbox.close();
  });
  const { port } = server.address() as AddressInfo;
  const ask = (method: string, path: string, asking: Asking = {}) => exchange(port, method, `/sandbox${path}`, asking);
  return {
    sandbox,
    time,
    log,
    port,
    botRoot: `http://127.0.0.1:${port}/sandbox/bot${token}`,
    ask,
    post: (path, body) => ask('POST', `/control/${path}`, { body }),
    get: (path) => ask('GET', `/control/${path}`),
    bot: async <T>(method: string, params: unknown) => {
      const { text } = await ask('POST', `/bot${token}/${method}`, { body: params });
      return JSON.parse(text) as BotAnswer<T>;
    },
    stopPages: () => pages.close(),
  };
}

function exchange(port: number, method: string, path: string, { body, raw, headers = {} }: Asking): Promise<Told> {
  const sent = raw ?? (body === undefined ? undefined : JSON.stringify(body));
  const type = sent === undefined ? {} : { 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, method, path, headers: { ...type, ...headers } }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        const isJson = response.headers['content-type']?.startsWith('application/json') === true && text !== '';
        const json = (isJson ? JSON.parse(text) : {}) as Body;
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json });
      });
    });
    asked.on('error', reject);
    asked.end(sent);
  });
}

/** A clock that jumps over the given slots, and remembers where it was told to go. */
export function slotTravel(slots: readonly number[]): Travel & { readonly asked: unknown[] } {
  let now = startAt;
  const asked: unknown[] = [];
  const nextAt = () => slots.find((slot) => slot > now) ?? null;
  return {
    asked,
    now: () => now,
    nextAt: async () => nextAt(),
    jump: async (to) => {
      asked.push(to);
      const target = to === 'next' ? (nextAt() ?? now) : 'at' in to ? to.at : now + to.byMs;
      if (target < now) throw new AppError('too_late', 'The clock never goes back.');
      const visited = slots.filter((slot) => slot > now && slot <= target).length;
      now = target;
      return { now, visited };
    },
  };
}

/** Lets the process work until something is so; the test's own time limit ends a wait in vain. */
export async function until<T>(look: () => T | undefined | null | false): Promise<T> {
  for (;;) {
    const found = look();
    if (found !== undefined && found !== null && found !== false) return found;
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}
