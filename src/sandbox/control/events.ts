import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock, Timer } from '../../app/ports/outside.ts';
import { AppError } from '../../domain/errors.ts';
import type { World } from '../world/world.ts';
import { commonHeaders } from './answers.ts';
import type { ChangeJson } from './shapes.ts';

/** Proxies and sleeping laptops drop a silent connection; a page notices a dead one by the missing beat. */
const heartbeatMs = 15_000;
/** A page that was away for more changes than this reads everything anew. */
const keptMax = 1000;
const streamsMax = 50;
/** A page that does not read is cut off, and resumes when it does. */
const waitingBytesMax = 1_048_576;

interface Numbered {
  readonly n: number;
  readonly kind: ChangeJson['kind'];
  readonly chatId: number | null;
}

export interface Events {
  /** Streams the changes after `after`; a page that cannot resume there is told so by the event `stale`. */
  open(incoming: IncomingMessage, outgoing: ServerResponse, after: string | undefined): void;
  /** The clock was moved, which is no change of the world. */
  readonly clockMoved: () => void;
  close(): void;
}

/** Changes as server-sent events: `event: change`, `data: {kind, chat_id}`, with ids `<boot>-<n>` to resume from. */
export function createEvents({ world, timer, clock }: { world: World; timer: Timer; clock: Clock }): Events {
  const boot = clock.now().toString(36);
  const kept: Numbered[] = [];
  const streams = new Set<ServerResponse>();
  let last = 0;

  const publish = (kind: Numbered['kind'], chatId: number | null) => {
    last += 1;
    const change = { n: last, kind, chatId };
    kept.push(change);
    if (kept.length > keptMax) kept.shift();
    for (const stream of streams) write(stream, told(boot, change));
  };
  const unwatch = world.watch(({ kind, chatId }) => publish(kind, chatId));

  const missed = (after: string): readonly Numbered[] | null => {
    const [, theirs, number] = /^([0-9a-z]+)-(\d{1,12})$/.exec(after) ?? [];
    const n = Number(number);
    const isKnown = theirs === boot && n <= last && n >= last - kept.length;
    return isKnown ? kept.filter((change) => change.n > n) : null;
  };

  return {
    open: (incoming, outgoing, after) => {
      if (streams.size >= streamsMax) {
        throw new AppError('quota_exceeded', `At most ${streamsMax} pages can watch at once. Close some of them.`);
      }
      outgoing.writeHead(200, { ...commonHeaders, 'content-type': 'text/event-stream; charset=utf-8' });
      const resumed = after === undefined ? null : missed(after);
      const first = after === undefined || resumed !== null ? 'hello' : 'stale';
      write(outgoing, `retry: 2000\n\n`);
      for (const change of resumed ?? []) write(outgoing, told(boot, change));
      write(outgoing, `id: ${boot}-${last}\nevent: ${first}\ndata: {}\n\n`);
      streams.add(outgoing);
      const rest = beat(timer, outgoing);
      outgoing.once('close', () => {
        rest();
        streams.delete(outgoing);
      });
      incoming.resume();
    },
    clockMoved: () => publish('clock', null),
    close: () => {
      unwatch();
      for (const stream of streams) stream.end();
    },
  };
}

function told(boot: string, { n, kind, chatId }: Numbered): string {
  return `id: ${boot}-${n}\nevent: change\ndata: ${JSON.stringify({ kind, chat_id: chatId } satisfies ChangeJson)}\n\n`;
}

function write(stream: ServerResponse, text: string): void {
  if (stream.writableLength > waitingBytesMax) stream.destroy();
  else if (!stream.writableEnded) stream.write(text);
}

function beat(timer: Timer, stream: ServerResponse): () => void {
  let callOff = () => {};
  const next = () => {
    callOff = timer.after(heartbeatMs, () => {
      write(stream, ': still here\n\n');
      next();
    });
  };
  next();
  return () => callOff();
}
