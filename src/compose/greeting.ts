import { isLoopback } from '../config/config.ts';
import { typedPath } from '../host/words.ts';

/** A server that has started, as far as its greeting tells of it. */
export interface Greeted {
  readonly version: string;
  readonly url: string;
  /** Null where the database is a Postgres server. */
  readonly dataFile: string | null;
  readonly isSandboxed: boolean;
  /** The name of the bot in Telegram; null while Telegram has not answered. */
  readonly bot: string | null;
  /** The code that makes the first owner; null where there is one. */
  readonly claim: string | null;
}

/** The sentence to begin with, once somebody owns the bot. */
const firstWish = 'in 1 minute: it works';

/** A newcomer needs no terminal at hand: the page of the sandbox, which is for this computer alone, offers them as well. */
export function firstWords(claim: string | null): string[] {
  return [claim === null ? '/start' : `/start ${claim}`, `/new ${firstWish}`];
}

/** The page is for this computer alone, and a server that listens elsewhere cannot be asked from here. */
export function chatPage(url: string): string {
  const isHere = isLoopback(new URL(url).hostname.replace(/^\[|\]$/g, ''));
  return isHere ? `${url}/sandbox` : 'none, HTTP_HOST is not this computer alone; set it to 127.0.0.1';
}

/** Four lines for a person at a terminal: where to go, what to say there, where the data is, and where to read on. */
export function greetingText({ version, url, dataFile, ...greeted }: Greeted, folder: string): string {
  const sandbox = greeted.isSandboxed ? ', with a Telegram of its own to try things out' : '';
  const lines = [
    ['Open', placeOf({ url, ...greeted })],
    ['Say', wordsOf(greeted)],
    ['Data', dataFile === null ? 'the Postgres server of DATABASE_URL' : typedPath(dataFile, folder)],
    ['Docs', `${url}/docs (health: ${url}/healthz)`],
  ];
  const shown = lines.map(([name = '', text = '']) => `  ${name.padEnd(6)}${text}\n`).join('');
  return `\nCronogram ${version} is running${sandbox}. Ctrl-C stops it.\n\n${shown}\n`;
}

function placeOf({ url, isSandboxed, bot, claim }: Pick<Greeted, 'url' | 'isSandboxed' | 'bot' | 'claim'>): string {
  if (isSandboxed) return chatPage(url);
  if (bot === null) return 'your bot in Telegram, which has not answered yet';
  return `https://t.me/${bot}${claim === null ? '' : `?start=${claim}`}`;
}

/** The code makes an owner of whoever sends it, so it comes first. */
function wordsOf({ claim }: Pick<Greeted, 'claim'>): string {
  return claim === null ? firstWish : `/start ${claim}, then: ${firstWish}`;
}
