import { request, type IncomingMessage } from 'node:http';
import { onTestFinished } from 'vitest';
import type { Timer } from '../../src/app/ports/outside.ts';
import type { EventQuery, EventPage } from '../../src/app/ports/why.ts';
import { AppError } from '../../src/domain/errors.ts';
import { createEventStreams, type EventStreams, type Listener } from '../../src/http/events.ts';
import { serveHttp } from '../../src/http/server.ts';
import type { Engine, Script } from '../../src/store/engine/engine.ts';
import { tellingOfEvents } from '../../src/store/engine/open.ts';
import { sqliteEngine } from '../../src/store/engine/sqlite.ts';
import { createStore } from '../../src/store/engine/store.ts';
import { tellEvents, type NewEvent } from '../../src/store/records/journal.ts';
import { systemTimer } from '../../src/system/clock.ts';
import { nine } from '../support/builders.ts';
import { manualTime, type MemoryLog } from '../support/fakes.ts';
import { freshSqlite } from '../support/fresh-sqlite.ts';
import { rows } from '../support/texts.ts';
import { aDoor, bearer, truth, type Door } from './door.ts';

/** An event that a client was sent, as the standard of server-sent events reads it. */
export interface Seen {
  readonly id: string;
  readonly kind: string;
  readonly data: { readonly ref: string; readonly task_id: string | null; readonly cursor: string };
}

export interface Client {
  readonly answer: IncomingMessage;
  readonly events: readonly Seen[];
  /** The id from which it would go on. */
  readonly lastId: () => string;
  retry(): string;
  text(): string;
  /** Waits until it was sent so many events, or the stream has ended. */
  until(isEnough: () => boolean): Promise<void>;
  leave(): void;
}

export interface Place {
  readonly door: Door;
  readonly streams: EventStreams;
  readonly url: string;
  readonly log: MemoryLog;
  /** How often events were read. */
  listener(drop?: () => void): Listener;
  reads(): number;
  tell(...events: Partial<NewEvent>[]): Promise<void>;
  listen(path?: string, headers?: Readonly<Record<string, string>>, stopAfter?: number): Promise<Client>;
  /** From now on the database is away. */
  breakStore(): void;
  close(): Promise<void>;
}

interface Options {
  readonly engine?: Engine;
  readonly timer?: Timer;
  /** Without it nothing of what is written here is told at once, as if another process had written it. */
  readonly hints?: boolean;
}

export function told(events: readonly Partial<NewEvent>[]): Script<void> {
  return tellEvents(events.map((event) => ({ kind: 'run.started', at: nine, taskId: null, ref: null, ...event })));
}

async function memoryEngine(): Promise<Engine> {
  const database = await freshSqlite();
  onTestFinished(() => void database.close());
  return sqliteEngine(database);
}

/** The door with its streams over a real database, asked over a real socket. */
export async function aListeningPlace(options: Options = {}): Promise<Place> {
  let hint = () => {};
  const plain = options.engine ?? (await memoryEngine());
  const engine = options.hints === false ? plain : tellingOfEvents(plain, () => hint());
  const store = createStore(engine);
  let reads = 0;
  let isAway = false;
  const counted = (query: EventQuery): Promise<EventPage> => {
    reads += 1;
    if (isAway) return Promise.reject(new AppError('store_unavailable', 'The database is away.'));
    return store.readEvents(query);
  };
  const time = manualTime(nine);
  const nothing = aDoor();
  const streams = createEventStreams({ timer: options.timer ?? systemTimer, log: nothing.log });
  ({ hint } = streams);
  const door = aDoor({}, { streams, log: nothing.log, stopwatch: time, truth: { ...truth, readEvents: counted } });
  const listening = await serveHttp({
    app: door.app,
    host: '127.0.0.1',
    port: 0,
    graceMs: 5000,
    leave: () => streams.close(),
  });
  onTestFinished(() => listening.close());
  const url = `http://127.0.0.1:${listening.port}`;
  return {
    door,
    streams,
    url,
    log: nothing.log,
    listener: (drop = () => {}) => ({ readEvents: counted, isHeld: async () => true, drop }),
    reads: () => reads,
    tell: (...events) => engine.transact(() => told(events)),
    listen: (path = '/v1/events', headers = {}, stopAfter = Infinity) => listenTo(`${url}${path}`, headers, stopAfter),
    breakStore: () => {
      isAway = true;
    },
    close: () => listening.close(),
  };
}

function listenTo(url: string, headers: Readonly<Record<string, string>>, stopAfter: number): Promise<Client> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { agent: false, headers: { ...bearer, accept: 'text/event-stream', ...headers } });
    asked.on('error', reject);
    asked.on('response', (answer) => {
      asked.off('error', reject);
      asked.on('error', () => {});
      resolve(clientOf(answer, stopAfter));
    });
    asked.end();
  });
}

function clientOf(answer: IncomingMessage, stopAfter: number): Client {
  const events: Seen[] = [];
  let [rest, all, lastId, retry] = ['', '', '', ''];
  let isOver = false;
  let isLeft = false;
  let changed = () => {};
  const block = (text: string) => {
    const fields = new Map(
      text
        .split('\n')
        .filter((line) => !line.startsWith(':'))
        .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)] as const),
    );
    lastId = fields.get('id') ?? lastId;
    retry = fields.get('retry') ?? retry;
    const data = fields.get('data');
    if (data === undefined) return;
    events.push({ id: lastId, kind: fields.get('event') ?? '', data: JSON.parse(data) as Seen['data'] });
  };
  answer.setEncoding('utf8');
  answer.on('data', (chunk: string) => {
    // Bytes that arrive after a client has left are not read by it.
    if (isLeft) return;
    rest += chunk;
    all += chunk;
    for (let end = rest.indexOf('\n\n'); end >= 0 && events.length < stopAfter; end = rest.indexOf('\n\n')) {
      block(rest.slice(0, end));
      rest = rest.slice(end + 2);
    }
    changed();
  });
  answer.on('error', () => {});
  answer.on('close', () => {
    isOver = true;
    changed();
  });
  return {
    answer,
    events,
    lastId: () => lastId,
    retry: () => retry,
    text: () => all,
    until: (isEnough) =>
      new Promise((resolve) => {
        changed = () => {
          if (isEnough() || isOver) resolve();
        };
        changed();
      }),
    leave: () => {
      isLeft = true;
      answer.destroy();
    },
  };
}

export function* orderOf(): Script<{ ref: string }[]> {
  return yield* rows<{ ref: string }>('select ref from events order by tx, id');
}
