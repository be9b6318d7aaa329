import { people, bot, botKey } from './first-world.ts';
import type { ChatRow, MessageRow, TopicRow } from './rows.ts';
import type { State } from './state.ts';
import type { BotCommand, Call, ChatShown, MessagePage, MessageShown, TopicShown, MediaKind } from './world.ts';

/** The world as it is shown to people: rows without what only the server needs. */
const pageDefault = 100;
const pageMax = 1000;

export function chatShown(row: ChatRow): ChatShown {
  const { members, botStatus, botRights, lastMessageId: _last, lastEphemeralId: _lastEphemeral, ...chat } = row;
  return {
    ...chat,
    members: people.flatMap(({ key }) => {
      const status = members[key];
      return status === undefined || status === 'left' ? [] : [{ key, status }];
    }),
    bot: { status: botStatus, rights: botRights },
  };
}

export function topicShown({ chatId: _chat, iconColor: _color, ...topic }: TopicRow): TopicShown {
  return topic;
}

export function messageShown(row: MessageRow): MessageShown {
  const {
    ephemeral,
    service,
    keyboard,
    replyRoot: _root,
    hasReplyKeyboard: _other,
    isHidden: _hidden,
    ...message
  } = row;
  return {
    ...message,
    ephemeralId: ephemeral?.id ?? null,
    onlyFor: ephemeral?.person ?? null,
    replaces: ephemeral?.replaces ?? null,
    text: service === null ? row.text : `${speaker(row.from)} ${serviceWords(row)}`,
    buttons: (keyboard ?? []).map((buttons) =>
      buttons.map(({ text, callback_data: data, url }) => ({
        text,
        ...(typeof data === 'string' ? { data } : {}),
        ...(typeof url === 'string' ? { url } : {}),
      })),
    ),
    service: service?.field ?? null,
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

/** Menus are kept under their scope and their language, with a blank between them. */
export function offeredCommands({ settings }: State): readonly BotCommand[] {
  const menus = Object.entries(settings.commands).flatMap(([key, menu]) => (key.endsWith(' ') ? [menu] : []));
  return menus.toSorted((one, other) => other.length - one.length).at(0) ?? [];
}

export function transcriptOf(state: State, chatId: number | undefined): string {
  return state.lines
    .all()
    .filter((line) => chatId === undefined || line.chatId === chatId)
    .map(({ text }) => text)
    .filter((text) => text !== '')
    .join('\n');
}

/** The words of the transcript. It has neither times nor ids, so that equal input gives equal text. */
export function speaker(key: string): string {
  return key === botKey ? bot.name : (people.find((person) => person.key === key)?.firstName ?? key);
}

export function placeName(state: State, chatId: number, threadId: number | null): string {
  const chat = state.chat(chatId);
  const title = chat?.title ?? String(chatId);
  const topic = threadId === null ? undefined : state.topics.get(`${chatId}:${threadId}`);
  return topic === undefined ? `[${title}]` : `[${title} > ${topic.name}]`;
}

export function messageLine(state: State, row: MessageRow, verb: 'says' | 'edits' = 'says'): string {
  const place = placeName(state, row.chatId, row.threadId);
  const name = speaker(row.from);
  if (row.service !== null) return `${place} ${name} ${serviceWords(row)}`;
  const file = row.document === null ? [] : [`<${fileWord(row.document.kind)} ${row.document.name}>`];
  const rows = (row.keyboard ?? []).map((buttons) => buttons.map(({ text }) => `[${text}]`).join(' '));
  const [first = '', ...rest] = [...file, ...(row.text === '' ? [] : row.text.split('\n')), ...rows];
  const verbs = verb === 'edits' ? ' edits' : '';
  const lines = [`${place} ${name}${verbs}${marks(row)}: ${first}`, ...rest.map((line) => `    ${line}`)];
  return lines.join('\n');
}

function fileWord(kind: MediaKind): string {
  return kind === 'document' ? 'file' : kind;
}

/** Marks for the only person who sees it, and for one that came without a sound. */
function marks({ ephemeral, isSilent }: MessageRow): string {
  return `${onlyWords(ephemeral)}${isSilent ? ' (silent)' : ''}`;
}

export function onlyWords(ephemeral: MessageRow['ephemeral']): string {
  return ephemeral === null ? '' : ` (only ${speaker(ephemeral.person)} sees this)`;
}

interface Named {
  readonly name?: string;
}

const words: Readonly<Record<string, (value: Named) => string>> = {
  forum_topic_created: ({ name }) => `made the topic "${name ?? ''}"`,
  forum_topic_edited: ({ name }) => `named the topic "${name ?? ''}"`,
  forum_topic_closed: () => 'closed the topic',
  forum_topic_reopened: () => 'reopened the topic',
  pinned_message: () => 'pinned a message',
  left_chat_member: () => 'left',
  migrate_to_chat_id: () => 'made this group a supergroup',
  migrate_from_chat_id: () => 'made this supergroup out of a group',
};

/** The words of a service message for people. */
function serviceWords({ service, from }: MessageRow): string {
  if (service === null) return '';
  if (service.field === 'new_chat_members') return comingWords(service.value, speaker(from));
  const value: Named = typeof service.value === 'object' && service.value !== null ? { ...service.value } : {};
  return words[service.field]?.(value) ?? service.field;
}

function comingWords(members: unknown, who: string): string {
  const names = (Array.isArray(members) ? members : []).map(
    (member: { readonly first_name?: string }) => member.first_name,
  );
  return names.includes(who) ? 'joined' : `brought ${names.join(', ')} in`;
}
