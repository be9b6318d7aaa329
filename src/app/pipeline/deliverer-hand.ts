import type { OutboxPart, OutboxStore, PartEnd } from '../ports/outbox.ts';
import type { Bell, Timer } from '../ports/outside.ts';
import { createCollector, tellTraced } from './collector.ts';
import { servePart, type PartDeps } from './deliverer-parts.ts';
import type { Pacer } from './pacer.ts';

/** The parts that are on their way, one for each chat, until what became of them is written. */
export interface PartsInHand {
  serve(part: OutboxPart): void;
  size(): number;
  chats(): Iterable<string>;
  partIds(): readonly string[];
  /** Resolves when nothing is in hand any more but what waits for the pace of its chat, which takes time to pass. */
  idle(): Promise<void>;
  /** Resolves when what is in hand now has ended and is written. */
  done(): Promise<void>;
}

export interface HandDeps extends PartDeps {
  readonly store: PartDeps['store'] & Pick<OutboxStore, 'endParts'>;
  readonly pacer: PartDeps['pacer'] & Pick<Pacer, 'start'>;
  readonly timer: Timer;
  readonly bell: Bell;
  readonly batchMax: number;
}

export function createPartsInHand(deps: HandDeps): PartsInHand {
  const { store, bell, pacer, clock, log } = deps;
  const busy = new Map<string, { readonly partId: string; readonly done: Promise<void> }>();
  /** Parts whose topic was gone, until they have ended. */
  const remade = new Set<string>();

  const ends = createCollector<EndedPart>(deps, deps.batchMax, {
    write: async (batch) => {
      await store.endParts(
        batch.map(({ end }) => end),
        clock.now(),
      );
      // The chat is free only now: its next part must find this one ended.
      for (const { chatId } of batch) busy.delete(chatId);
      bell.ring('deliverer');
    },
    instead: ({ chatId, end }, error) => ({ chatId, end: unwritable(end, error) }),
  });

  /** Chats whose part waits for its next call, and what to do when there is one more. */
  const waiting = new Set<string>();
  let onPause = () => {};
  const takeFor = (chatId: string) => async (address: string) => {
    waiting.add(chatId);
    onPause();
    const isTaken = await pacer.take(address);
    waiting.delete(chatId);
    return isTaken;
  };
  const underWay = () => [...busy].filter(([chatId]) => !waiting.has(chatId)).map(([, { done }]) => done);
  const allDone = () => Promise.all([...busy.values()].map(({ done }) => done));

  return {
    serve: (part) => {
      const { chatId } = part;
      const turn = pacer.start({ chatId, address: part.route.address });
      const paced = { ...pacer, take: takeFor(chatId) };
      const done = servePart({ ...deps, pacer: paced, part, turn, remade }).then((end) => {
        turn.end();
        tellPart(log, part, end);
        if (end.status === 'delivered' || end.status === 'failed') remade.delete(part.id);
        ends.add({ chatId, end });
      });
      busy.set(chatId, { partId: part.id, done });
    },
    size: () => busy.size,
    chats: () => busy.keys(),
    partIds: () => [...busy.values()].map(({ partId }) => partId),
    idle: async () => {
      for (let parts = underWay(); parts.length > 0; parts = underWay()) {
        const paused = new Promise<void>((resolve) => (onPause = resolve));
        await Promise.race([Promise.all(parts), paused]);
        await ends.idle();
      }
    },
    done: async () => {
      await allDone();
      await ends.idle();
    },
  };
}

/** Answers to people, cards and their like have no run; the platform's own log is the place for them. */
function tellPart(log: PartDeps['log'], { id, runId, traceId, kind }: OutboxPart, { status }: PartEnd): void {
  // What is put off is told of when it comes to something.
  if (runId !== null && status !== 'pending')
    tellTraced(log, 'delivery_status', { runId, traceId, delivery_id: id, kind, status });
}

interface EndedPart {
  readonly chatId: string;
  readonly end: PartEnd;
}

function unwritable({ id, fence, taskId = null }: PartEnd, reason: string): PartEnd {
  const error = `what became of it could not be written: ${reason}`;
  return { id, fence, taskId, status: 'failed', error, evidence: null };
}
