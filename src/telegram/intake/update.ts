import type { Update } from 'grammy/types';
import type { NewMessage, OnlyFor, StoredUpdate, UpdateEnd } from '../../app/ports/chats.ts';
import type { Ids } from '../../app/ports/outside.ts';
import type { Drawn } from '../../domain/shown.ts';
import type { Thread } from '../../domain/thread.ts';
import type { Answer, BotContext, Reaction, Reply } from '../chat/context.ts';
import type { Locale } from '../chat/texts.ts';
import type { Toast } from './errands.ts';
import { wordingOf, type Wording } from './wording.ts';

/** A stored update on its way to its handler: it is parsed once, and its words are taken apart once. */
export interface Taken {
  readonly stored: StoredUpdate;
  /** Null when it cannot be read. */
  readonly update: Update | null;
  readonly wording: Wording | null;
}

export function takenOf(stored: StoredUpdate, update: Update | null, bot: string): Taken {
  return { stored, update, wording: update === null ? null : wordingOf(update, bot) };
}

/** The context of a stored update, inside of which the chat's own handlers run. */
export type IntakeContext = BotContext & { readonly taken: Taken; handled: Handled; locale?: Locale };

/** The outcome of an update. It is written down together with the update being done. */
export interface Handled extends Omit<UpdateEnd, 'id' | 'at'> {
  /** For a callback. */
  readonly toast: Toast | null;
  /** For what was said. */
  readonly reaction: Reaction | null;
  /** The run whose end the reaction tells. */
  readonly follows: string | null;
}

export const nothingToSay: Handled = {
  status: 'done',
  error: null,
  messages: [],
  draft: null,
  toast: null,
  reaction: null,
  follows: null,
};

/** An answer that comes an hour late answers a question that nobody remembers. */
const answerKeptMs = 3_600_000;

export interface Writing {
  readonly ids: Ids;
  readonly now: number;
  readonly thread: Thread;
  /** The asker, in a group: for answers that nobody else needs to read. */
  readonly asker?: OnlyFor;
}

function messageOf({ ids, now, thread }: Writing, shown: Drawn, edits: number | null = null): NewMessage {
  return { id: ids.next(), kind: 'answer', thread, taskId: null, shown, edits, expiresAt: now + answerKeptMs };
}

export function handledBy(writing: Writing, { replies, draft = null, toast = null, ...answer }: Answer): Handled {
  const messages = replies.map((reply) => replied(writing, reply));
  const { reaction = null, follows = null } = answer;
  return { ...nothingToSay, messages, draft, toast, reaction, follows };
}

function replied(writing: Writing, reply: Reply): NewMessage {
  const { asker, thread } = writing;
  switch (reply.is) {
    case 'message': {
      const begun = messageOf({ ...writing, thread: reply.inBase === true ? base(thread) : thread }, reply.shown);
      const { id = begun.id, stands } = reply;
      const made = { ...begun, id, ...(stands === undefined ? {} : { stands }) };
      const isAlone = asker !== undefined && (reply.isForAsker === true || asker.ephemeralId !== undefined);
      return isAlone ? { ...made, onlyFor: withoutMessage(asker) } : made;
    }
    case 'edit': {
      const { stands } = reply;
      if (reply.messageId > 0)
        return { ...messageOf(writing, reply.shown, reply.messageId), ...(stands === undefined ? {} : { stands }) };
      // A message that one person alone sees has no number of its own, and is named by another one. Where that is not
      // known, as in what somebody has replied to, the same is said anew.
      const made = messageOf(writing, reply.shown);
      return asker === undefined ? made : { ...made, onlyFor: asker };
    }
    case 'remove':
      return { ...messageOf(writing, { text: '' }, reply.messageId), kind: 'remove' };
    case 'removeTopic':
      return {
        ...messageOf({ ...writing, thread: { ...thread, topic: reply.topic } }, { text: '' }),
        kind: 'removeTopic',
      };
  }
}

/** Telegram says below a card that it was pinned, which tells nobody anything; that goes. */
export function withoutService(writing: Writing, messageId: number): Handled {
  const removal = { ...messageOf(writing, { text: '' }, messageId), kind: 'remove', isTidying: true } as const;
  return { ...nothingToSay, messages: [removal] };
}

function base(thread: Thread): Thread {
  return { ...thread, topic: null };
}

function withoutMessage({ ephemeralId: _changed, ...asker }: OnlyFor): OnlyFor {
  return asker;
}

/** One sentence: in a toast for a callback, as a message otherwise. */
export function saying(writing: Writing, text: string, isPress = false): Handled {
  if (isPress) return { ...nothingToSay, toast: { text, isAlert: true } };
  return { ...nothingToSay, messages: [messageOf(writing, { text })] };
}

/** A message that makes no sound. */
export function sayingQuietly(writing: Writing, shown: Drawn): Handled {
  return { ...nothingToSay, messages: [{ ...messageOf(writing, shown), silent: true }] };
}
