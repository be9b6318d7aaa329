import type { BlobStore } from '../../../src/app/ports/blobs.ts';
import type { ChatStore, UnknownPart } from '../../../src/app/ports/chats.ts';
import type { TelegramApi } from '../../../src/telegram/api.ts';
import type { DrawingDeps } from '../../../src/telegram/delivery/drawing.ts';

type Read = Pick<ChatStore, 'lastMessageBefore' | 'explainedAfter' | 'unknownParts' | 'orphanTopics' | 'isTopicTaken'> &
  DrawingDeps['store'] &
  Pick<BlobStore, 'readBlob'>;

/** What the store knows of the messages of chats, in memory: fed by the updates of the platform, and by what was sent. */
export interface Ledger extends Read {
  explain(address: string, messageId: number, at: number): void;
  /** Takes the updates that wait, as the inbox does. */
  hear(api: TelegramApi, at: number): Promise<void>;
  /** Files of all chats, by their hash. */
  readonly blobs: Map<string, Uint8Array>;
  readonly unknown: (UnknownPart & { readonly address: string })[];
}

export function memoryLedger(): Ledger {
  const known: { readonly address: string; readonly messageId: number; readonly at: number }[] = [];
  const topics: { readonly address: string; readonly name: string; readonly topicId: number; readonly at: number }[] =
    [];
  const unknown: Ledger['unknown'] = [];
  const blobs: Ledger['blobs'] = new Map();
  let offset = 0;
  const idsOf = (address: string) => known.filter((one) => one.address === address);
  return {
    unknown,
    blobs,
    readBlob: async (_chatId, sha256) => blobs.get(sha256) ?? null,
    explain: (address, messageId, at) => {
      known.push({ address, messageId, at });
    },
    hear: async (api, at) => {
      for (const { update_id: updateId, message } of await api.raw.getUpdates({ offset, timeout: 0 })) {
        offset = updateId + 1;
        if (message === undefined) continue;
        const address = String(message.chat.id);
        known.push({ address, messageId: message.message_id, at });
        const name = message.forum_topic_created?.name;
        if (name !== undefined) topics.push({ address, name, topicId: message.message_thread_id ?? 0, at });
      }
    },
    lastMessageBefore: async (address, at) => {
      const older = idsOf(address).filter((one) => one.at < at);
      const ids = older.length > 0 ? older : idsOf(address).filter((one) => one.at === at);
      return ids.length === 0 ? null : Math.max(...ids.map(({ messageId }) => messageId));
    },
    explainedAfter: async (address, messageId, limit) =>
      idsOf(address)
        .map((one) => one.messageId)
        .filter((id) => id > messageId)
        .toSorted((a, b) => a - b)
        .slice(0, limit),
    unknownParts: async (address, except) =>
      unknown.filter((part) => part.address === address && part.deliveryId !== except),
    orphanTopics: async (address, name, since) =>
      topics.filter((topic) => topic.address === address && topic.name === name && topic.at >= since),
    isTopicTaken: async () => false,
    findChat: async () => null,
    heldParts: async () => [],
    cleanedTopics: async () => ({ done: 0, failed: [] }),
    snoozesOf: async () => new Map(),
    readUser: async () => null,
    readTask: async () => null,
    readGrant: async () => null,
    isAwaited: async () => false,
    readPlanned: async () => null,
    listTaskRuns: async () => ({ items: [], next: null }),
    readAck: async () => null,
    readRun: async () => null,
    readQuestion: async () => null,
    lastAnswer: async () => null,
    isTold: async () => false,
    topicNaming: async () => null,
  };
}
