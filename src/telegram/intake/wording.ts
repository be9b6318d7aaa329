import { mediaOf, type FromMessage } from './payload.ts';

/** What somebody said, taken apart. */
export interface Wording {
  /** Lower case, without the slash and the name of the bot; null for plain text. */
  readonly command: string | null;
  readonly args: string;
  /** The command names this bot. */
  readonly isAddressed: boolean;
}

type Written = Pick<FromMessage, 'text' | 'caption' | 'entities' | 'caption_entities'> & Parameters<typeof mediaOf>[0];

/** A file that came without words. */
const wordless: Wording = { command: null, args: '', isAddressed: false };

/** Null when there is nothing to read, or when the command is meant for another bot. */
export function readWording(written: Written, botUsername: string): Wording | null {
  const text = written.text ?? written.caption;
  if (text === undefined) return mediaOf(written) === null ? null : wordless;
  const entities = (written.text === undefined ? written.caption_entities : written.entities) ?? [];
  // The platform says what is a command: "/2 of it" is none, and neither is one in the middle of a sentence.
  const first = entities.find(({ type, offset }) => type === 'bot_command' && offset === 0);
  if (first === undefined) return plainWording(text, botUsername);
  const [name = '', bot] = text.slice(1, first.length).split('@');
  if (bot !== undefined && bot.toLowerCase() !== botUsername.toLowerCase()) return null;
  return { command: name.toLowerCase(), args: text.slice(first.length).trim(), isAddressed: bot !== undefined };
}

/** Whoever calls the bot by its name, first or last, speaks to it; the name itself says nothing more. */
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
