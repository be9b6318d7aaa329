import { AppError } from './errors.ts';
import { chatIdMax, threadKeyLengthMax, topicIdMax } from './limits.ts';

/**
 * A place where results are shown. Telegram threads are delivered; a thread of any other provider is kept in history
 * and delivered nowhere. Topic 1 of a forum is its General topic, which Telegram addresses without a number, so it
 * folds into the base thread.
 */
export interface Thread {
  readonly provider: string;
  readonly address: string;
  readonly topic: number | null;
}

const telegram = /^telegram:chat:(-?[1-9]\d{0,15})(?::topic:([1-9]\d{0,9}))?$/;
const other = /^([a-z][a-z0-9_-]{0,31}):([\w.:@-]{1,200})$/i;

export function parseThreadKey(key: string): Thread {
  const refused = (message: string) => new AppError('invalid_thread_key', message, { details: { thread_key: key } });
  if (key.length > threadKeyLengthMax) throw refused(`A thread key has at most ${threadKeyLengthMax} characters.`);
  const chat = telegram.exec(key);
  const topic = chat?.[2] === undefined ? null : Number(chat[2]);
  if (chat?.[1] !== undefined && Math.abs(Number(chat[1])) <= chatIdMax && (topic ?? 1) <= topicIdMax) {
    return telegramThread(chat[1], topic === 1 ? null : topic);
  }
  // In capitals too it means Telegram, and must not pass as the name of another provider.
  if (/^telegram:/i.test(key)) {
    throw refused('A Telegram thread key looks like telegram:chat:-1001234 or telegram:chat:-1001234:topic:7.');
  }
  const rest = other.exec(key);
  if (rest?.[1] === undefined || rest[2] === undefined) {
    throw refused('A thread key looks like telegram:chat:-1001234, telegram:chat:-1001234:topic:7 or cli:default.');
  }
  return { provider: rest[1].toLowerCase(), address: rest[2], topic: null };
}

/** A topic of a chat, or its base thread. */
export function telegramThread(address: string, topic: number | null = null): Thread {
  return { provider: 'telegram', address, topic };
}

export function threadKeyOf(thread: Thread): string {
  if (thread.provider !== 'telegram') return `${thread.provider}:${thread.address}`;
  const base = `telegram:chat:${thread.address}`;
  return thread.topic === null ? base : `${base}:topic:${thread.topic}`;
}

export function isDeliverable(thread: Pick<Thread, 'provider'>): boolean {
  return thread.provider === 'telegram';
}

/** The way to a topic, or to a message. Only supergroups have links that everybody in them can open. */
export function urlOf(
  address: string | null | undefined,
  ...path: readonly (number | null | undefined)[]
): string | null {
  const group = /^-100(\d+)$/.exec(address ?? '')?.[1];
  const ids = path.filter((id) => id !== null && id !== undefined);
  return group === undefined || ids.length === 0 ? null : ['https://t.me/c', group, ...ids].join('/');
}
