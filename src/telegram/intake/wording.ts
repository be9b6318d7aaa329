import type { Message, Update } from 'grammy/types';
import { mediaOf, type Brought } from './payload.ts';

/** The words of a message, taken apart. */
export interface Wording {
  /** Lower case, without the slash and the name of the bot; null for plain text. */
  readonly command: string | null;
  readonly args: string;
  /** The command names this bot. */
  readonly isAddressed: boolean;
}

type Written = Brought & Partial<Pick<Message, 'text' | 'caption' | 'entities' | 'caption_entities'>>;

/** The words of an update; null where there are none for us. */
export function wordingOf({ message, edited_message: edited }: Update, bot: string): Wording | null {
  const spoken = message ?? edited;
  return spoken === undefined ? null : readWording(spoken, bot);
}

/** Servers of the Bot API before 7.0 tell of a forwarded message by its date. */
const othersMarks = ['forward_origin', 'forward_date', 'via_bot', 'sender_business_bot'];

/** Words of somebody else, in a message of the one who sent it: forwarded, or made by another bot. */
export function isOfAnother(message: Message | undefined): boolean {
  return message !== undefined && othersMarks.some((mark) => mark in message);
}

/** A file that came without words. */
const wordless: Wording = { command: null, args: '', isAddressed: false };

/** Null when there is nothing to read, or when the command is meant for another bot. */
export function readWording(written: Written, botUsername: string): Wording | null {
  const text = written.text ?? written.caption;
  if (text === undefined) return mediaOf(written) === null ? null : wordless;
  const entities = (written.text === undefined ? written.caption_entities : written.entities) ?? [];
  // Telegram says what is a command: "/2 of it" is none, and neither is one in the middle of a sentence.
  const first = entities.find(({ type, offset }) => type === 'bot_command' && offset === 0);
  if (first === undefined) return plainWording(text, botUsername);
  const [name = '', bot] = text.slice(1, first.length).split('@');
  if (bot !== undefined && bot.toLowerCase() !== botUsername.toLowerCase()) return null;
  return { command: name.toLowerCase(), args: text.slice(first.length).trim(), isAddressed: bot !== undefined };
}

/** The name of the bot, first or last, says that it is spoken to, and nothing more. */
function plainWording(text: string, botUsername: string): Wording {
  const name = `@${botUsername}`.toLowerCase();
  const trimmed = text.trim();
  const lower = trimmed.toLowerCase();
  if (lower.startsWith(name) && !/^\w/.test(lower.slice(name.length))) {
    return { command: null, args: trimmed.slice(name.length).replace(/^[\s,:]+/, ''), isAddressed: true };
  }
  if (lower.endsWith(` ${name}`)) {
    return { command: null, args: trimmed.slice(0, -name.length).trimEnd(), isAddressed: true };
  }
  return { command: null, args: text, isAddressed: false };
}
