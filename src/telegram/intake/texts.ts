import type { Message, Update } from 'grammy/types';
import { mediaOf, type Brought } from './payload.ts';

/** Words that intake says by itself, before or instead of a command. */

/** An owner needs the number, and hardly anybody knows their own. Which groups there are is nobody's business here. */
export function strangerRefused(userId: number): string {
  return [
    'Hello! I am a private bot, and you are not on my list yet.',
    `Ask the person who runs this bot to send me: /allow ${userId}`,
    'In a group where I am approved you can write to me right away.',
  ].join('\n');
}

/** While there is no owner, whoever writes is most likely the one who has just started the server. */
export const unclaimed =
  'Hello! Nobody owns this bot yet. If it is yours, send /start and the code that the server printed when it was started: /start CODE';

export const groupRefused = 'Hello! I only work in groups that my owner has approved.';

export const pressRefused = 'This bot is private.';

export const claimWrong = 'This is not the code that was printed at the last start of the server.';

export const claimLocked =
  'Too many wrong codes were sent. Start the server again; it prints a new code, and you can try with that.';

export const postAsYourself =
  'You are posting as the group, so I cannot tell who you are. Post as yourself (turn off “Remain anonymous” in your admin rights) and send it again.';

export const cannotTellWho = 'I cannot ask Telegram right now who you are in this chat. Please try again in a minute.';

export const tooFast = 'That was a lot at once. Please try again in a minute.';

/** To somebody who is not in the chat, or was denied. */
export const mayNot = 'You may not use me in this chat.';

export const notYours =
  'Somebody else wrote that, so I do not take it as a command. Write it yourself, or reply to it: /new tomorrow at 9 sends you its text then.';

export const textOnly =
  'I can schedule texts, pictures, videos, voice messages, audio and other files, but not this. Send /help to see what I understand.';

export const oldButton = 'This button is from an earlier time. Here is how things stand now.';

export const storeAway = 'My database is away for a moment. I have kept this and go on as soon as it is back.';

export function faultOf(errorId: string): string {
  return `Something went wrong on my side, and it was not your fault. Please try again. (Error ${errorId})`;
}

export function givenUp(errorId: string): string {
  return `Something went wrong: I tried this several times and could not do it. (Error ${errorId})`;
}

export const botBlocked = 'the bot was blocked';
export const botRemoved = 'the bot was removed';

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
