import { people } from './first-world.ts';
import type { ChatRow, MessageRow, TopicRow } from './rows.ts';
import type { State } from './state.ts';
import { serviceWords, speaker } from './transcript.ts';
import type { Call, ChatShown, MessagePage, MessageShown, TopicShown } from './world.ts';

/** The world as it is shown to people: rows without what only the server needs. */
const pageDefault = 100;
const pageMax = 1000;

export function chatShown(chat: ChatRow): ChatShown {
  return {
    id: chat.id,
    kind: chat.kind,
    title: chat.title,
    isForum: chat.isForum,
    members: people.flatMap(({ key }) => {
      const status = chat.members[key];
      return status === undefined || status === 'left' ? [] : [{ key, status }];
    }),
    bot: { status: chat.botStatus, rights: chat.botRights },
    person: chat.person,
    isStarted: chat.isStarted,
    isGeneralClosed: chat.isGeneralClosed,
    migratedTo: chat.migratedTo,
  };
}

export function topicShown({ threadId, name, isClosed, isDeleted, createdBy }: TopicRow): TopicShown {
  return { threadId, name, isClosed, isDeleted, createdBy };
}

export function messageShown(row: MessageRow): MessageShown {
  return {
    chatId: row.chatId,
    messageId: row.messageId,
    ephemeralId: row.ephemeral?.id ?? null,
    onlyFor: row.ephemeral?.person ?? null,
    replaces: row.ephemeral?.replaces ?? null,
    threadId: row.threadId,
    from: row.from,
    date: row.date,
    editDate: row.editDate,
    text: row.service === null ? row.text : `${speaker(row.from)} ${serviceWords(row)}`,
    entities: row.entities,
    buttons: (row.keyboard ?? []).map((buttons) =>
      buttons.map(({ text, callback_data: data, url }) => ({
        text,
        ...(typeof data === 'string' ? { data } : {}),
        ...(typeof url === 'string' ? { url } : {}),
      })),
    ),
    replyTo: row.replyTo,
    isPinned: row.isPinned,
    isSilent: row.isSilent,
    service: row.service?.field ?? null,
    document: row.document,
    reactions: row.reactions,
  };
}

export function messagesShown(state: State, chatId: number, page: MessagePage): readonly MessageShown[] {
  const { thread, before = Infinity, limit = pageDefault, as } = page;
  const most = Math.min(Math.max(limit, 1), pageMax);
  return state.messages
    .all()
    .filter((row) => row.chatId === chatId && (row.ephemeral?.after ?? row.messageId) < before)
    .filter(({ threadId }) => thread === undefined || threadId === thread)
    .filter(({ ephemeral }) => as === undefined || ephemeral === null || ephemeral.person === as)
    .slice(-most)
    .map(messageShown);
}

export function callsShown(state: State, after: number, limit: number): readonly Call[] {
  return state.calls
    .all()
    .filter(({ seq }) => seq > after)
    .slice(0, limit);
}

export function transcriptOf(state: State, chatId: number | undefined): string {
  return state.lines
    .all()
    .filter((line) => chatId === undefined || line.chatId === chatId)
    .map(({ text }) => text)
    .filter((text) => text !== '')
    .join('\n');
}
