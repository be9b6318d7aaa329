import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Log, Timer } from '../../app/ports/outside.ts';
import type { Api, Method } from '../methods/access.ts';
import { chatMethods } from '../methods/chats.ts';
import { editingMethods } from '../methods/editing.ts';
import { sendingMethods } from '../methods/sending.ts';
import { settingMethods } from '../methods/settings.ts';
import { topicMethods } from '../methods/topics.ts';
import type { FaultRow } from '../world/rows.ts';
import type { State } from '../world/state.ts';
import type { Fault, FaultKind } from '../world/world.ts';
import type { Polling } from './polling.ts';
import { readArguments, type Arguments, Failure, tooManyRequests } from './request.ts';
import type { Webhook } from './webhook.ts';
import { topicJson } from './wire.ts';

/** Answers one HTTP request by itself. The path is the one below its root: `/bot<token>/<method>`. */
export type BotApi = (incoming: IncomingMessage, outgoing: ServerResponse, path: string) => void;

interface BotServerDeps {
  readonly api: Api;
  readonly polling: Polling;
  readonly webhook: Webhook;
  readonly timer: Timer;
  readonly log: Log;
  readonly token: string;
}

/** An answer before it is JSON: a result or a failure. */
interface Answer {
  readonly result?: unknown;
  readonly description?: string;
  readonly failure?: Failure;
}

type Respond = (answer: Answer) => void;

interface Line {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
}

interface Asked {
  readonly method: string;
  readonly args: Arguments;
  readonly fault: FaultKind | null;
}

const methods: Readonly<Record<string, Method>> = {
  ...sendingMethods,
  ...editingMethods,
  ...topicMethods,
  ...chatMethods,
  ...settingMethods,
};
const feedMethods = ['getUpdates', 'setWebhook', 'deleteWebhook', 'getWebhookInfo'];

/** Names count whatever their case. */
const names = new Map([...Object.keys(methods), ...feedMethods].map((name) => [name.toLowerCase(), name]));

const lateDefaultMs = 1000;
const retryAfterDefault = 5;
const gatewayPage =
  '<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>502 Bad Gateway</body>\r\n</html>\r\n';

export class BotServer {
  readonly #deps: BotServerDeps;
  readonly #hanging = new Set<ServerResponse>();
  readonly #late = new Set<() => void>();

  constructor(deps: BotServerDeps) {
    this.#deps = deps;
  }

  readonly handle: BotApi = (incoming, outgoing, path) => {
    const line = { incoming, outgoing };
    this.#handle(line, path).catch((error: unknown) => {
      if (!(error instanceof Failure)) {
        this.#deps.log.error('sandbox.request_failed', { error: String(error) });
      }
      const failure = error instanceof Failure ? error : new Failure(500, 'Internal Server Error');
      write(line, { failure });
    });
  };

  close(): void {
    for (const stop of this.#late) stop();
    this.#late.clear();
    for (const outgoing of this.#hanging) outgoing.destroy();
    this.#hanging.clear();
  }

  async #handle(line: Line, path: string): Promise<void> {
    const { incoming } = line;
    const target = path.includes('?') ? path : `${path}${queryOf(incoming)}`;
    if (!URL.canParse(target, 'http://sandbox')) throw new Failure(404, 'Not Found');
    const url = new URL(target, 'http://sandbox');
    const [, kind = '', token = '', rest = ''] = /^(\/file)?\/bot([^/]*)\/(.*)$/.exec(url.pathname) ?? [];
    if (!/^(\/file)?\/bot/.test(url.pathname)) throw new Failure(404, 'Not Found');
    this.#checkToken(token.replaceAll('%3A', ':').replaceAll('%3a', ':'));
    if (kind === '/file') {
      this.#sendFile(line, rest);
      return;
    }
    if (incoming.method !== 'GET' && incoming.method !== 'POST') throw new Failure(405, 'Method Not Allowed');
    const method = names.get(rest.toLowerCase().replace(/\/$/, ''));
    if (method === undefined) throw new Failure(404, 'Not Found: method not found');
    const args = await readArguments(incoming, url.searchParams);
    this.#call(line, method, args);
  }

  #checkToken(token: string): void {
    if (token.length > 80 || !/^[1-9]\d*:./.test(token)) {
      throw new Failure(401, 'Unauthorized: invalid token specified');
    }
    if (token !== this.#deps.token) throw new Failure(401, 'Unauthorized');
  }

  #sendFile({ outgoing }: Line, path: string): void {
    const file = this.#deps.api.state.file(path.replace(/^files\//, ''));
    if (file === null) throw new Failure(404, 'Not Found');
    outgoing.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': file.bytes.byteLength });
    outgoing.end(file.bytes);
  }

  #call(line: Line, method: string, args: Arguments): void {
    const { state } = this.#deps.api;
    const fault = state.faults.isEmpty() ? null : state.transact(() => takeFault(state, method, args));
    if (fault !== null) this.#fail(line, { method, args, fault: fault.kind }, fault);
    else this.#run({ method, args, fault }, line);
  }

  #fail(line: Line, asked: Asked, { kind, retryAfter = retryAfterDefault, delayMs = lateDefaultMs }: Fault): void {
    const refuse = (failure: Failure) => {
      this.#record(asked, failure.status, failure.message);
      write(line, { failure });
    };
    const ways: Readonly<Record<FaultKind, () => void>> = {
      '429': () => refuse(tooManyRequests(retryAfter)),
      '500': () => refuse(new Failure(500, 'Internal Server Error')),
      bad_gateway_html: () => {
        this.#record(asked, 502, 'Bad Gateway');
        line.outgoing.writeHead(502, { 'content-type': 'text/html' }).end(gatewayPage);
      },
      hang: () => {
        this.#record(asked, 0, 'not processed, not answered');
        this.#hang(line);
      },
      reset_before: () => {
        this.#record(asked, 0, 'not processed, connection reset');
        reset(line);
      },
      reset_after: () => {
        this.#run(asked, null);
        reset(line);
      },
      answer_lost: () => {
        this.#run(asked, null);
        this.#hang(line);
      },
      late: () => {
        reset(line);
        const stop = this.#deps.timer.after(delayMs, () => {
          this.#late.delete(stop);
          this.#run(asked, null);
        });
        this.#late.add(stop);
      },
      wrong_shape: () => {
        if (asked.method === 'getUpdates') this.#record(asked, 200, 'not processed, answered with an empty object');
        else this.#run(asked, null);
        write(line, { result: {} });
      },
      misroute: () => {
        const place = ['message_thread_id', 'reply_parameters', 'reply_to_message_id'];
        this.#run({ ...asked, args: place.reduce((args, name) => args.without(name), asked.args) }, line);
      },
      wrong_topic: () => {
        const other = this.#otherTopic(asked.args);
        if (other === undefined) this.#run(asked, line);
        else if (asked.method !== 'createForumTopic')
          this.#run({ ...asked, args: asked.args.with('message_thread_id', String(other.threadId)) }, line);
        else {
          this.#record(asked, 200, `not processed, answered with topic ${other.threadId}`);
          write(line, { result: topicJson(other) });
        }
      },
    };
    ways[kind]();
  }

  #otherTopic(args: Arguments) {
    const [chat, asked] = [args.integer('chat_id'), args.integer('message_thread_id')];
    const all = this.#deps.api.state.topics.all();
    return all.find(({ chatId, threadId, isDeleted }) => chatId === chat && threadId !== asked && !isDeleted);
  }

  /** Does what is asked and answers on the line; without one, the answer is lost. */
  #run(asked: Asked, line: Line | null): void {
    const { method, args } = asked;
    const record = (answer: Answer) => {
      const status = answer.failure?.status ?? 200;
      this.#record(asked, line === null ? 0 : status, summary(answer));
    };
    const respond: Respond = (answer) => (line === null ? undefined : write(line, answer));
    if (method !== 'getUpdates') {
      respond(this.#answer(method, args, record));
      return;
    }
    const leave = this.#deps.polling.get(args, (result) => {
      const answer = result instanceof Failure ? { failure: result } : { result };
      // Polls that end without an update are the rule, and nothing to look at.
      if (result instanceof Failure || result.length > 0) record(answer);
      respond(answer);
    });
    line?.outgoing.once('close', leave);
  }

  #answer(method: string, args: Arguments, record: (answer: Answer) => void): Answer {
    const { api, log } = this.#deps;
    try {
      return api.state.transact(() => {
        const answer = this.#process(method, args);
        record(answer);
        return answer;
      });
    } catch (error) {
      const failure = error instanceof Failure ? error : new Failure(500, 'Internal Server Error');
      if (!(error instanceof Failure)) log.error('sandbox.call_failed', { method, error: String(error) });
      record({ failure });
      return { failure };
    }
  }

  #process(method: string, args: Arguments): Answer {
    const { api, webhook, polling } = this.#deps;
    if (method === 'setWebhook') {
      const description = webhook.set(args);
      api.state.afterwards(() => polling.endForWebhook());
      return { result: true, description };
    }
    if (method === 'deleteWebhook') return { result: true, description: webhook.delete(args) };
    if (method === 'getWebhookInfo') return { result: webhook.info() };
    const run = methods[method];
    if (run === undefined) throw new Failure(404, 'Not Found: method not found');
    return { result: run(api, args) };
  }

  #record({ method, args, fault }: Asked, status: number, answer: string): void {
    const { state } = this.#deps.api;
    state.transact(() => {
      state.addCall({ at: state.clock.now(), method, params: args.shown(), status, answer, fault });
      state.tell('call', null);
    });
  }

  #hang({ outgoing }: Line): void {
    this.#hanging.add(outgoing);
    outgoing.once('close', () => this.#hanging.delete(outgoing));
  }
}

/** A few words about an answer: the error text, the ids that were made, or how many there were. */
function summary({ result, failure }: Answer): string {
  if (failure !== undefined) return failure.message;
  if (Array.isArray(result)) return `${result.length} entries`;
  if (typeof result !== 'object' || result === null) return String(result);
  const blank = { message_id: 0, ephemeral_message_id: 0, message_thread_id: 0 };
  const { message_id: message, ephemeral_message_id: ephemeral, message_thread_id: thread } = { ...blank, ...result };
  const ids = { message, 'ephemeral message': ephemeral, topic: thread };
  const words = Object.entries(ids).flatMap(([word, id]) => (id > 0 ? [`${word} ${id}`] : []));
  return words.join(', ') || 'ok';
}

function write({ incoming, outgoing }: Line, answer: Answer): void {
  if (outgoing.headersSent || outgoing.destroyed) return;
  const { failure } = answer;
  const body = JSON.stringify(failure === undefined ? success(answer) : refusal(failure));
  const isTooLarge = failure?.status === 413;
  const retryAfter = failure?.parameters?.['retry_after'];
  outgoing.writeHead(failure?.status ?? 200, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    ...(typeof retryAfter === 'number' ? { 'retry-after': String(retryAfter) } : {}),
    ...(isTooLarge ? { connection: 'close' } : {}),
  });
  if (!isTooLarge || incoming.complete) return void outgoing.end(body);
  // Whoever still sends would hear of nothing but a broken connection: the rest is read, and thrown away.
  outgoing.write(body);
  incoming.once('end', () => outgoing.end()).resume();
}

function success({ result, description }: Answer): object {
  return { ok: true, result, ...(description === undefined ? {} : { description }) };
}

function refusal({ status, message, parameters }: Failure): object {
  return { ok: false, error_code: status, description: message, ...(parameters === null ? {} : { parameters }) };
}

function reset({ incoming }: Line): void {
  incoming.socket.resetAndDestroy();
}

function queryOf({ url = '' }: IncomingMessage): string {
  const at = url.indexOf('?');
  return at < 0 ? '' : url.slice(at);
}

/* ---- faults that were set ---- */

const sends = new Set(Object.keys(sendingMethods));

/** The control API has checked the fault. */
export function addFault(state: State, fault: Fault): string {
  const id = `fault-${state.count('lastFault')}`;
  state.faults.put({ ...fault, id, seen: 0 });
  state.tell('fault', fault.chat ?? null);
  return id;
}

/** The first fault that meets this call, which is one fewer of its count then. */
function takeFault(state: State, method: string, args: Arguments): Fault | null {
  const chat = args.integer('chat_id');
  const fitting = state.faults.all().filter((fault) => fits(fault, method, chat));
  for (const fault of fitting) {
    const isMet = Math.floor((fault.seen + 1) * (fault.chance ?? 1)) > Math.floor(fault.seen * (fault.chance ?? 1));
    const left = fault.count - (isMet ? 1 : 0);
    if (left === 0) state.faults.remove(fault.id);
    else state.faults.put({ ...fault, count: left, seen: fault.seen + 1 });
    if (isMet) {
      state.tell('fault', fault.chat ?? null);
      return fault;
    }
  }
  return null;
}

function fits(fault: FaultRow, method: string, chat: number): boolean {
  if (fault.chat !== undefined && fault.chat !== chat) return false;
  if (fault.method === '*') return true;
  return fault.method === 'send' ? sends.has(method) : fault.method.toLowerCase() === method.toLowerCase();
}
