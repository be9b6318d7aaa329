import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import type { Arrival, Witness } from '../invariants/calls.ts';
import { chanceFrom } from '../support/chance.ts';
import { opened } from '../support/ports.ts';

/** Somebody whom tasks call, over a real connection, and who honours the key. */
export interface Target extends Witness {
  readonly url: string;
  /** For the server that calls it: it lies on this computer. */
  readonly settings: Readonly<Record<string, string>>;
  close(): void;
}

/** So long after the effect the answer may come, for a kill to meet the time between the effect and its commit. */
const answerMaxMs = 600;
const lostRate = 0.15;

/** Some answers are lost after the effect, and what comes again under a key is answered as before. */
export async function openTarget(seed: number, host = '127.0.0.1'): Promise<Target> {
  const chance = chanceFrom(seed);
  const arrivals: Arrival[] = [];
  const effects = new Set<string>();
  const serve = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const asked = (await json(incoming)) as { run_id: string; attempt: number; payload: { text: string } };
    const key = String(incoming.headers['idempotency-key']);
    arrivals.push({ key, runId: asked.run_id, attempt: asked.attempt });
    effects.add(key);
    setTimeout(
      () => {
        if (chance.is(lostRate)) outgoing.destroy();
        else outgoing.writeHead(200, { 'content-type': 'text/plain' }).end(asked.payload.text);
      },
      chance.between(0, answerMaxMs),
    );
  };
  const server = createServer((incoming, outgoing) => {
    // A caller that was killed sends no whole body.
    serve(incoming, outgoing).catch(() => outgoing.destroy());
  });
  const place = `${host}:${await opened(server, 0, host)}`;
  return {
    arrivals,
    effects,
    url: `http://${place}/orders`,
    settings: { EGRESS_ALLOW: place, HOST_CONCURRENCY: '50', HOST_RATE: '200' },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
