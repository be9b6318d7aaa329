import { bot, botKey, people } from './first-world.ts';
import type { MessageRow } from './rows.ts';
import type { State } from './state.ts';
import type { MediaKind } from './world.ts';

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

/** Who alone sees it, and whether it came without a sound. */
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
  forum_topic_edited: ({ name }) =>
    name === undefined ? 'changed the icon of the topic' : `named the topic "${name}"`,
  forum_topic_closed: () => 'closed the topic',
  forum_topic_reopened: () => 'reopened the topic',
  general_forum_topic_hidden: () => 'hid the General topic',
  general_forum_topic_unhidden: () => 'showed the General topic',
  pinned_message: () => 'pinned a message',
  left_chat_member: () => 'left',
  migrate_to_chat_id: () => 'made this group a supergroup',
  migrate_from_chat_id: () => 'made this supergroup out of a group',
};

/** What a service message says to people. */
export function serviceWords({ service, from }: MessageRow): string {
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
