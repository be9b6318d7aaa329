import type { FromMessage } from './payload.ts';

/** What somebody said, taken apart. */
export interface Wording {
  /** Lower case, without the slash and the name of the bot; null for plain text. */
  readonly command: string | null;
  readonly args: string;
  /** The command names this bot. */
  readonly isAddressed: boolean;
}

type Written = Pick<FromMessage, 'text' | 'caption' | 'entities' | 'caption_entities'>;

/** Null when there is nothing to read, or when the command is meant for another bot. */
export function readWording(written: Written, botUsername: string): Wording | null {
  const text = written.text ?? written.caption;
  if (text === undefined) return null;
  const entities = (written.text === undefined ? written.caption_entities : written.entities) ?? [];
  // The platform says what is a command: "/2 of it" is none, and neither is one in the middle of a sentence.
  const first = entities.find(({ type, offset }) => type === 'bot_command' && offset === 0);
  if (first === undefined) return { command: null, args: text, isAddressed: false };
  const [name = '', bot] = text.slice(1, first.length).split('@');
  if (bot !== undefined && bot.toLowerCase() !== botUsername.toLowerCase()) return null;
  return { command: name.toLowerCase(), args: text.slice(first.length).trim(), isAddressed: bot !== undefined };
}
