import type { z } from 'zod';
import { wire } from '../../api/wire.ts';
import type { Log } from '../../app/ports/outside.ts';
import { iso } from '../../domain/schedule/time/calendar.ts';
import {
  SandboxRefusal,
  type ChatShown,
  type MessageShown,
  type World,
  type Fault,
  type Features,
  type Travel,
} from '../world/world.ts';
import { given, json, read, type Answer } from './answers.ts';
import { callsQuery, documentQuery, messagesQuery, noQuery, transcriptQuery } from './bodies.ts';
import type { ChatJson, FaultJson, MessageJson, PageLink, PlatformJson, StateJson, Views } from './shapes.ts';

interface ViewDeps {
  readonly world: World;
  readonly travel: Travel | null;
  readonly log: Log;
  readonly now: () => number;
  /** Other places of the product, shown at the head of the page. */
  readonly links: readonly PageLink[];
  /** Texts that are worth saying first, for an empty chat. */
  readonly starters: () => readonly string[];
}

/** A GET is given its query, not yet checked. */
type View = (query: unknown) => Promise<Answer> | Answer;

function view<S extends z.ZodType>(schema: S, look: (asked: z.output<S>) => unknown): View {
  return async (query) => json(await look(read(schema, query)));
}

/** Messages among which the newest of each topic is looked for; a topic that was silent for longer has no mark. */
const lookedAt = 300;
/** A transcript in JSON is for checks, whose worlds are small. */
const transcriptMessagesMax = 10_000;

/** Views of the world, each by the name of its GET. */
export function createViews(deps: ViewDeps): Readonly<Record<string, View>> {
  const { world } = deps;
  return {
    state: view(noQuery, () => stateOf(deps)),
    messages: view(messagesQuery, ({ chat: name, thread, before, as, limit }) => {
      const { id } = chatOf(world, name);
      const place = thread === 'general' ? null : thread;
      const found = world.messages(id, { ...given({ thread: place, before, as }), limit: limit + 1 });
      const messages = found.slice(-limit).map(messageJson);
      return { chat_id: id, messages, has_older: found.length > limit } satisfies Views['messages'];
    }),
    calls: view(callsQuery, ({ after, limit }) => {
      const calls = after === undefined ? world.calls(0, Infinity).slice(-limit) : world.calls(after, limit);
      return { calls: calls.map(wire) } satisfies Views['calls'];
    }),
    fault: view(noQuery, () => ({ faults: world.faults().map(faultJson) })),
    transcript: (query) => transcriptOf(world, query),
    document: (query) => documentOf(world, query),
  };
}

async function stateOf({ world, travel, log, now, links, starters }: ViewDeps): Promise<StateJson> {
  const nextAt = travel === null ? null : await travel.nextAt().catch(unread(log));
  return {
    bot: { ...world.bot, commands: world.commands() },
    people: world.people.map(wire),
    chats: world.chats().map((chat) => chatJson(world, chat)),
    platform: platformJson(world.features()),
    clock: { now: iso(now()), next_at: nextAt === null ? null : iso(nextAt), can_jump: travel !== null },
    faults: world.faults().map(faultJson),
    links,
    starters: starters(),
  };
}

/** The rest of the page is worth showing while the store of the product is away. */
function unread(log: Log): (error: unknown) => null {
  return (error) => {
    log.warn('sandbox_clock_unread', { error: error instanceof Error ? error.name : typeof error });
    return null;
  };
}

function chatJson(world: World, chat: ChatShown): ChatJson {
  // The list of chats is the same for everybody.
  const messages = world.messages(chat.id, { limit: lookedAt }).filter(({ onlyFor }) => onlyFor === null);
  const newest = messages.at(-1);
  const lastOf = (thread: number | null) => messages.findLast(({ threadId }) => threadId === thread)?.messageId ?? null;
  const { id, ...shown } = chat;
  return {
    ...wire(shown),
    chat_id: id,
    key: keyOf(chat),
    last: newest === undefined ? null : { from: newest.from, text: preview(newest), date: newest.date },
    general_last_message_id: lastOf(null),
    topics: world.topics(id).map((topic) => ({ ...wire(topic), last_message_id: lastOf(topic.threadId) })),
  };
}

const previewLength = 80;

function preview({ text, document }: MessageShown): string {
  const words = text === '' ? (document?.name ?? '') : text;
  return [...words.replaceAll(/\s+/g, ' ')].slice(0, previewLength).join('');
}

function transcriptOf(world: World, query: unknown): Answer {
  const { chat: name, format } = read(transcriptQuery, query);
  const chat = name === undefined ? null : chatOf(world, name);
  const transcript = world.transcript(chat?.id);
  if (format === 'text') return { status: 200, type: 'text/plain; charset=utf-8', body: transcript };
  const chats = chat === null ? world.chats() : [chat];
  return json({
    transcript,
    chats: chats.map((each) => ({
      chat_id: each.id,
      key: keyOf(each),
      title: each.title,
      messages: world.messages(each.id, { limit: transcriptMessagesMax }).map(messageJson),
    })),
  });
}

/** Always as a download, never as a page: what a task fetched may be hostile. */
function documentOf(world: World, query: unknown): Answer {
  const { id } = read(documentQuery, query);
  const file = world.file(id);
  if (file === null) {
    throw new SandboxRefusal('no_message', 'There is no such document. Take the file_id from a message.');
  }
  const name = encodeURIComponent(file.name).replaceAll(/['()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`);
  return {
    status: 200,
    type: /^[\w.+-]+\/[\w.+-]+$/.test(file.mimeType) ? file.mimeType : 'application/octet-stream',
    body: file.bytes,
    headers: {
      'content-disposition': `attachment; filename*=UTF-8''${name}`,
      'content-security-policy': "default-src 'none'; sandbox",
    },
  };
}

/**
 * The short key of a chat: of a private one, the person's (`ada`); of a group, its title in small letters without "The",
 * joined by `_` (`lab`, `no_rights`, `plain`). A group that was migrated leaves its key to its successor.
 */
export function keyOf(chat: ChatShown): string {
  if (chat.person !== null) return chat.person;
  const words = chat.title
    .toLowerCase()
    .replace(/^the\s+/, '')
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^_|_$/g, '');
  return chat.migratedTo === null ? words : `${words}_old`;
}

/** A chat by its id or its short key. */
export function chatOf(world: World, name: number | string): ChatShown {
  const chats = world.chats();
  const id = typeof name === 'string' && /^-?\d{1,16}$/.test(name) ? Number(name) : name;
  const words = String(name).toLowerCase();
  const found = chats.find(
    (chat) =>
      chat.id === id || keyOf(chat) === words || (chat.migratedTo === null && chat.title.toLowerCase() === words),
  );
  if (found !== undefined) return found;
  const shown = String(name).slice(0, 40);
  throw new SandboxRefusal('no_chat', `There is no chat "${shown}". The chats are: ${chats.map(keyOf).join(', ')}.`);
}

export function messageJson({ document, ...message }: MessageShown): MessageJson {
  return {
    ...wire(message),
    document: document === null ? null : { ...wire(document), is_photo: document.kind === 'photo' },
  };
}

export function platformJson({ isEphemeralOn, isPrivacyOn }: Features): PlatformJson {
  return { ephemeral: isEphemeralOn, privacy: isPrivacyOn };
}

export function faultJson({ chat, ...fault }: Fault): FaultJson {
  return { ...wire(fault), chat: chat ?? null };
}
