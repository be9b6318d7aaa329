import type { Chat, HeldTask } from '../../app/ports/chats.ts';
import { settingsOf } from '../../domain/chat-settings.ts';
import type { Drawn } from '../../domain/shown.ts';
import { taskName } from '../chat/task/card.ts';
import { clockIn } from '../chat/kit/clock.ts';
import { drawn } from '../chat/kit/drawing.ts';
import { lines, link, say, type Rich } from '../chat/kit/rich.ts';
import { texts } from '../chat/texts.ts';

export interface BundleFacts {
  readonly chat: Chat;
  /** When the quiet hours ended. */
  readonly until: number;
  readonly timezone: string;
  readonly held: readonly HeldTask[];
}

/** More of them would make a list that nobody reads. */
const linesMax = 20;

/** One word for all that came in quiet hours; null when nothing of it is left. */
export function bundle({ chat, until, timezone, held }: BundleFacts): Drawn | null {
  if (held.length === 0) return null;
  const { out } = texts;
  const to = clockIn(timezone, until);
  const { quiet } = settingsOf(chat.settings);
  const shown = held.slice(0, linesMax);
  return drawn(
    lines(
      // A task may have quiet hours of its own, and the chat may have others by now.
      quiet?.to === to ? out.bundleHead(quiet.from, to) : out.bundleHeadUntil(to),
      ...shown.map((one) => heldLine(chat.address, one)),
      held.length > shown.length ? out.bundleMore(held.length - shown.length) : null,
    ),
  );
}

function heldLine(address: string, one: HeldTask): Rich {
  const words = texts.out.messages(one.count);
  const url = messageUrl(address, one);
  return say`${taskName(one)}: ${url === null ? words : link(words, url)}`;
}

/** Only supergroups have links that lead to a message. */
function messageUrl(address: string, { topic, messageId }: HeldTask): string | null {
  const group = /^-100(\d+)$/.exec(address)?.[1];
  if (group === undefined || messageId === null) return null;
  return topic === null ? `https://t.me/c/${group}/${messageId}` : `https://t.me/c/${group}/${topic}/${messageId}`;
}
