import { onTestFinished } from 'vitest';
import type { Budget, Evidence, Outgoing, Sent, SentIds, Transport } from '../../../src/app/ports/outside.ts';
import type { Drawn, Shown } from '../../../src/domain/shown.ts';
import type { Fault, World } from '../../../src/sandbox/world/world.ts';
import { createTelegramApi, type TelegramApi } from '../../../src/telegram/api.ts';
import type { LocaleOf } from '../../../src/telegram/chat/texts.ts';
import { telegramTransport } from '../../../src/telegram/delivery/transport.ts';
import { scopesOf } from '../../support/actions.ts';
import { manualTime, memoryLog, type ManualTime, type MemoryLog } from '../../support/fakes.ts';
import {
  aSandbox,
  sandboxStart,
  type SandboxOptions,
  type ServedWorld,
  ada,
  lab,
  noRights,
  plain,
} from '../../support/sandbox.ts';
import { memoryLedger, type Ledger } from './ledger.ts';

export { ada, lab, noRights, plain };

/** The chats of the first world. */

interface CountingBudget extends Budget {
  readonly taken: readonly string[];
  readonly held: readonly { readonly address: string; readonly ms: number }[];
  /** So many calls more may be made. */
  allow(calls: number): void;
}

function countingBudget(): CountingBudget {
  const taken: string[] = [];
  const held: { address: string; ms: number }[] = [];
  let left = Infinity;
  return {
    taken,
    held,
    allow: (calls) => {
      left = calls;
    },
    take: async (address, messages = 1) => {
      if (left === 0) return false;
      left -= 1;
      for (let message = 0; message < messages; message += 1) taken.push(address);
      return true;
    },
    aside: (call) => call(),
    hold: async (address, ms) => {
      held.push({ address, ms });
    },
  };
}

/** Telegram out over a real connection to a sandbox, with the store's part in memory. */
export interface Place extends ServedWorld {
  readonly api: TelegramApi;
  readonly transport: Transport;
  readonly time: ManualTime;
  readonly ledger: Ledger;
  readonly budget: CountingBudget;
  readonly lines: MemoryLog;
  /** Starts something that gets no answer, and lets the time pass until it is given up. */
  givenUp<T>(work: Promise<T>, calls?: number): Promise<T>;
  /** Sends, and writes down what is known then, as the deliverer does. */
  deliver(part: Outgoing): Promise<Sent>;
  settle(part: Outgoing, resentAs?: SentIds | null): Promise<Evidence>;
  /** Another process with the same store: what was only remembered is gone. */
  restart(): Transport;
}

export interface PlaceOptions extends SandboxOptions {
  /** A token that the platform may not know. */
  readonly ownToken?: string;
  readonly localeOf?: LocaleOf;
}

/** A place for one test. */
export async function inPlace(options: PlaceOptions = {}): Promise<Place> {
  const place = await aPlace(options);
  onTestFinished(() => place.close());
  return place;
}

export async function aPlace(options: PlaceOptions = {}): Promise<Place> {
  const time = manualTime(sandboxStart);
  const served = await aSandbox({ time, ...options });
  const { world, apiRoot } = served;
  const token = options.ownToken ?? served.token;
  const lines = memoryLog();
  const ledger = memoryLedger();
  const budget = countingBudget();
  const api = createTelegramApi({ token, apiRoot, timer: time });
  const make = () =>
    telegramTransport({
      api,
      store: ledger,
      blobs: ledger,
      budget,
      clock: time,
      stopwatch: time,
      log: lines,
      kinds: { scopesOf },
      defaultTimezone: 'UTC',
      ...(options.localeOf === undefined ? {} : { localeOf: options.localeOf }),
    });
  let transport = make();
  const place: Place = {
    ...served,
    token,
    api,
    transport,
    time,
    ledger,
    budget,
    lines,
    givenUp: async (work, calls = 1) => {
      await called(world, calls);
      await time.advance(15_000);
      return work;
    },
    deliver: async (part) => {
      const sentAt = time.now();
      const sent = await transport.send(part);
      await time.advance(10);
      const { address, topic } = part.route;
      if (sent.is === 'sent') for (const id of idsIn(sent.ids)) ledger.explain(address, id, time.now());
      if (sent.is === 'lost') {
        const { deliveryId, shown, taskId } = part;
        ledger.unknown.push({ address, deliveryId, topic, shown, taskId, sentAt });
      }
      return sent;
    },
    settle: async (part, resentAs = null) => {
      const at = ledger.unknown.findIndex(({ deliveryId }) => deliveryId === part.deliveryId);
      const sentAt = ledger.unknown[at]?.sentAt ?? 0;
      const found = await transport.settle(part, { sentAt, resentAs });
      if (found.is !== 'undecided' && at >= 0) ledger.unknown.splice(at, 1);
      if (found.is === 'arrived') for (const id of idsIn(found.ids)) ledger.explain(found.ids.chatId, id, time.now());
      return found;
    },
    restart: () => {
      transport = make();
      return transport;
    },
    close: async () => {
      api.close();
      await served.close();
      if (JSON.stringify(lines.lines).includes(token)) throw new Error('the token stands in the log');
    },
  };
  return place;
}

/** Resolves when the sandbox has seen so many more calls. */
function called(world: World, calls = 1): Promise<void> {
  let left = calls;
  return new Promise((resolve) => {
    const stop = world.watch(({ kind }) => {
      if (kind !== 'call') return;
      left -= 1;
      if (left > 0) return;
      stop();
      resolve();
    });
  });
}

export interface PartFacts {
  readonly id?: string;
  readonly chat?: number | string;
  readonly topic?: number | null;
  readonly text?: string;
  readonly buttons?: Drawn['buttons'];
  readonly shown?: Shown;
  readonly edits?: number | null;
  readonly media?: Drawn['media'];
  readonly silent?: boolean;
  readonly onlyFor?: Outgoing['onlyFor'];
}

export function part({
  id = 'part-1',
  chat = lab,
  topic = null,
  text = 'Water the plants.',
  ...rest
}: PartFacts = {}): Outgoing {
  const { buttons, media, edits = null, silent = false, onlyFor = null } = rest;
  return {
    deliveryId: id,
    chatId: 'chat-1',
    taskId: null,
    runId: null,
    route: { provider: 'telegram', address: String(chat), topic },
    shown: rest.shown ?? {
      text,
      ...(buttons === undefined ? {} : { buttons }),
      ...(media === undefined ? {} : { media }),
    },
    edits,
    silent,
    onlyFor,
    resultOf: null,
    wasSent: false,
  };
}

function idsIn({ messageId, more = [] }: SentIds): readonly number[] {
  return [messageId, ...more];
}

export function idsOf(sent: Sent | Evidence): SentIds {
  if (sent.is !== 'sent' && sent.is !== 'arrived') throw new Error(`it is ${sent.is}: ${JSON.stringify(sent)}`);
  return sent.ids;
}

export const oneFault = (kind: Fault['kind'], method = 'send', more: Partial<Fault> = {}): Fault => ({
  kind,
  method,
  count: 1,
  ...more,
});
