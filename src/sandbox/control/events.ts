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
  /** The newest changes as they are told, up to the last one. */
  const kept: string[] = [];
  const streams = new Set<ServerResponse>();
  let last = 0;

  const publish = (kind: ChangeJson['kind'], chatId: number | null) => {
    last += 1;
    const data = JSON.stringify({ kind, chat_id: chatId } satisfies ChangeJson);
    const told = `id: ${boot}-${last}\nevent: change\ndata: ${data}\n\n`;
    kept.push(told);
    if (kept.length > keptMax) kept.shift();
    for (const stream of streams) write(stream, told);
  };
  const unwatch = world.watch(({ kind, chatId }) => publish(kind, chatId));

  const missed = (after: string): readonly string[] | null => {
    const [, theirs, number] = /^([0-9a-z]+)-(\d{1,12})$/.exec(after) ?? [];
    const behind = last - Number(number);
    return theirs === boot && behind >= 0 && behind <= kept.length ? kept.slice(kept.length - behind) : null;
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
      for (const told of resumed ?? []) write(outgoing, told);
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
