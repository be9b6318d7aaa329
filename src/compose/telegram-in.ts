import type { IncomingMessage, ServerResponse } from 'node:http';
import { createStatus } from '../app/operations/status.ts';
import type { Hints } from '../app/ports/hints.ts';
import type { Store } from '../app/ports/store.ts';
import { previewOf } from '../app/tasks/preview.ts';
import { isShared, type Config } from '../config/config.ts';
import { updateBytesMax } from '../domain/limits.ts';
import { newCode, sha256 } from '../system/ids.ts';
import type { Loop } from '../system/loop.ts';
import { asideApi, type AsideApi } from '../telegram/api.ts';
import { createChat } from '../telegram/chat/chat.ts';
import { commandsFor, nearCommand } from '../telegram/chat/commands.ts';
import { createTelegramIn, type TelegramIn as Inbound } from '../telegram/intake/inbound.ts';
import { createPlatform } from '../telegram/platform.ts';
import { readinessOf } from './api.ts';
import type { Rooms, World } from './assembly.ts';
import type { Wire } from './telegram-or-sandbox.ts';

export interface TelegramIn extends Omit<Inbound, 'webhook'> {
  /** Takes over what Telegram brings by webhook. */
  readonly takeOver: (incoming: IncomingMessage, outgoing: ServerResponse) => boolean;
}

interface TelegramInDeps {
  readonly config: Config;
  readonly world: World;
  readonly printClaim: (code: string) => void;
  readonly version: string;
  readonly wire: Wire;
  readonly rooms: Rooms;
  readonly store: Store;
  readonly loops: readonly Loop[];
  /** Heard from other processes, and told to them. */
  readonly hints: Hints;
  /** The world of this computer, whatever the database says. */
  readonly host: World;
}

/** The way in for what people say, with the answers to it. */
export function openTelegramIn(deps: TelegramInDeps): TelegramIn {
  const { config, world, printClaim, wire, rooms, store } = deps;
  // The status asks Telegram for its health when it is asked itself: by then the way in is there.
  const telegram = { name: 'telegram', health: (): ReturnType<Inbound['health']> => inbound.health() };
  const ready = readinessOf(deps, [telegram]);
  const { TELEGRAM_WEBHOOK_URL: url, TELEGRAM_WEBHOOK_SECRET: secret } = config;
  const aside = asideApi(wire.api, rooms.budget);
  const { access, secretQuestions } = rooms;
  const common = { ...world, store, access, secretQuestions, digest: sha256 };
  const inbound: Inbound = createTelegramIn({
    ...common,
    bootId: rooms.worker.id,
    others: isShared(config) ? { hints: deps.hints, processes: rooms.processes, wall: deps.host.clock } : null,
    api: wire.api,
    aside,
    platform: createPlatform(aside, { ...world, defaultTimezone: config.DEFAULT_TIMEZONE }),
    bell: rooms.bell,
    secret: newCode,
    printClaim,
    people: rooms.chats,
    chatDeps: {
      ...common,
      tasks: rooms.tasks,
      bulk: rooms.bulk,
      truth: rooms.truth,
      acks: rooms.acks,
      approvals: rooms.approvals,
      kinds: rooms.kinds,
      testRuns: rooms.testRuns,
      spending: rooms.spending,
      secrets: rooms.secrets,
      blobs: rooms.blobs,
      deleteSaid: (address, messageId) => deleteSaid(aside, address, messageId),
      preview: (schedule, words) =>
        previewOf(schedule, { after: world.clock.now(), minIntervalMs: config.MIN_INTERVAL, words }),
      alarms: rooms.alarms,
      kindPauses: rooms.kindPauses,
      status: createStatus({ ...deps, ...world, ...rooms, ready })(store),
      quota: { chat: config.QUOTA_PER_CHAT, user: config.QUOTA_PER_USER },
      defaultTimezone: config.DEFAULT_TIMEZONE,
    },
    conversation: { commands: commandsFor(rooms.kinds.forms), nearCommand, chat: createChat(rooms.kinds.forms) },
    settings: {
      owners: config.TELEGRAM_OWNERS.map(Number),
      chats: config.TELEGRAM_CHATS,
      webhook: url === undefined || secret === undefined ? null : { url, secret },
    },
  });
  return {
    ...inbound,
    takeOver: (incoming, outgoing) => {
      if (url === undefined || incoming.url !== webhookPath || incoming.method !== 'POST') return false;
      void take(inbound.webhook, incoming, outgoing);
      return true;
    },
  };
}

/** For a process that hears nobody. */
export const noTelegramIn: TelegramIn = {
  start: () => {},
  stop: async () => {},
  idle: async () => {},
  health: () => ({ ok: true, stillMs: 0, error: null }),
  bot: Promise.resolve(null),
  isClaimable: () => false,
  takeOver: () => false,
};

/** What is gone already is as good as deleted. */
async function deleteSaid(aside: AsideApi, address: string, messageId: number): Promise<boolean> {
  const gone = await aside.ask((raw, signal) => raw.deleteMessage({ chat_id: address, message_id: messageId }, signal));
  return gone.is === 'ok' || ('error' in gone && /message to delete not found/i.test(gone.error));
}

/** Where Telegram's requests arrive, whatever stands in front of this server. */
const webhookPath = '/telegram';

async function take(webhook: Inbound['webhook'], incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of incoming as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > updateBytesMax) return end(outgoing, 413);
      chunks.push(chunk);
    }
  } catch {
    // Telegram has broken off, and brings the update again.
    outgoing.destroy();
    return;
  }
  end(outgoing, await webhook.handle(namesOnce(incoming), Buffer.concat(chunks).toString('utf8')));
}

function end(outgoing: ServerResponse, status: number): void {
  outgoing.writeHead(status, { 'content-length': 0, connection: status === 413 ? 'close' : 'keep-alive' });
  outgoing.end();
}

function namesOnce({ headers }: IncomingMessage): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
  );
}
