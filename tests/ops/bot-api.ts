import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** How a Telegram that is not well behaves. Texts repeat the path that was asked for, as proxies do, and the path holds the token. */
export type Behaviour =
  | 'ok'
  | 'hang'
  | 'conflict'
  | 'unauthorized'
  | 'tooMany'
  | 'refusedWithPath'
  | 'errorWithPath'
  | 'htmlWithPath'
  | 'cut'
  | 'notJson';

export interface BotApi {
  readonly root: string;
  /** Methods that were asked for, in order. */
  readonly asked: readonly string[];
  /** Texts that were sent to people. */
  readonly texts: readonly string[];
  /**
   * From now on; `*` for every method that has no behaviour of its own, `chat <id>` for everything in that chat. Of several
   * each meets one call, and the last one all that follow.
   */
  behave(what: string, ...how: readonly Behaviour[]): void;
  /** Updates that the next question brings. */
  bring(...updates: readonly object[]): void;
  close(): Promise<void>;
}

const botId = 4242;

export async function openBotApi(): Promise<BotApi> {
  const behaviours = new Map<string, Behaviour[]>();
  const asked: string[] = [];
  const texts: string[] = [];
  const updates: object[] = [];
  let lastMessage = 100;
  const answerTo = (method: string, body: Readonly<Record<string, unknown>>): unknown => {
    if (typeof body['text'] === 'string') texts.push(body['text']);
    if (method === 'getMe') return { id: botId, is_bot: true, first_name: 'Bot', username: 'the_bot' };
    if (method === 'getUpdates') return updates.splice(0);
    if (method === 'getChatMember')
      return { status: 'creator', user: { id: body['user_id'], is_bot: false, first_name: 'Ada' } };
    if (method.startsWith('send')) {
      lastMessage += 1;
      return messageOf(body, lastMessage);
    }
    if (method.startsWith('edit')) return messageOf(body, Number(body['message_id']));
    if (method === 'createForumTopic') return { message_thread_id: 7, name: body['name'], icon_color: 0 };
    return true;
  };
  const server = createServer((incoming, outgoing) => {
    void readBody(incoming).then((body) => {
      const path = incoming.url ?? '';
      const method = path.split('/').at(-1)?.split('?')[0] ?? '';
      asked.push(method);
      const [how = 'ok', ...next] =
        behaviours.get(`chat ${String(body['chat_id'])}`) ?? behaviours.get(method) ?? behaviours.get('*') ?? [];
      if (next.length > 0) behaviours.get(method)?.shift();
      if (how !== 'ok') return misbehave(outgoing, how, { path, told: JSON.stringify(body) });
      // A question for updates is answered at once as well: nobody knows how long it should wait by the clock of the test.
      json(outgoing, 200, { ok: true, result: answerTo(method, body) });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    root: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    texts,
    behave: (what, ...how) => behaviours.set(what, [...how]),
    bring: (...more) => updates.push(...more),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface Asked {
  readonly path: string;
  /** The body, which a server may repeat as well. */
  readonly told: string;
}

function misbehave(outgoing: ServerResponse, how: Exclude<Behaviour, 'ok'>, { path, told }: Asked): void {
  const fault = (status: number, description: string, parameters?: object) =>
    json(outgoing, status, {
      ok: false,
      error_code: status,
      description,
      ...(parameters === undefined ? {} : { parameters }),
    });
  switch (how) {
    case 'hang':
      return;
    case 'conflict':
      return fault(409, `Conflict: terminated by other getUpdates request at ${path}`);
    case 'unauthorized':
      return fault(401, `Unauthorized for ${path}`);
    case 'tooMany':
      return fault(429, `Too Many Requests: ${path}`, { retry_after: 1 });
    case 'refusedWithPath':
      return fault(
        400,
        `Bad Request: ${path} and ${encodeURIComponent(path)} and ${Buffer.from(tokenIn(path)).toString('base64')}`,
      );
    case 'errorWithPath':
      return fault(500, `Internal Server Error: ${path} with ${told}`);
    case 'htmlWithPath':
      outgoing.writeHead(502, { 'content-type': 'text/html' });
      outgoing.end(`<html><h1>502</h1>upstream http://10.0.0.1${path} is away</html>`);
      return;
    case 'notJson':
      outgoing.writeHead(200, { 'content-type': 'application/json' });
      outgoing.end(`{"ok":true,"result": ${path}`);
      return;
    case 'cut':
      outgoing.destroy();
  }
}

function tokenIn(path: string): string {
  return /^\/bot([^/]+)/.exec(path)?.[1] ?? '';
}

function json(outgoing: ServerResponse, status: number, body: unknown): void {
  if (outgoing.destroyed) return;
  outgoing.writeHead(status, { 'content-type': 'application/json' });
  outgoing.end(JSON.stringify(body));
}

async function readBody(incoming: IncomingMessage): Promise<Readonly<Record<string, unknown>>> {
  let text = '';
  for await (const chunk of incoming) text += String(chunk);
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return {};
  }
}

function messageOf(body: Readonly<Record<string, unknown>>, id: number) {
  const chat = Number(body['chat_id']);
  return {
    message_id: id,
    date: 0,
    chat: { id: chat, type: chat > 0 ? 'private' : 'supergroup' },
    ...(body['message_thread_id'] === undefined
      ? {}
      : { message_thread_id: body['message_thread_id'], is_topic_message: true }),
    text: body['text'],
  };
}
