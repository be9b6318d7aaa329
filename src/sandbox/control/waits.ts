import type { Timer } from '../../app/ports/outside.ts';
import type { MessageShown, World } from '../world/world.ts';

/** A bot that has said something and then is silent for this long has said it all: its parts follow one another at once. */
const quietMs = 300;
/** As far back as an answer may be an edit of something older. */
const lookedAt = 200;

export interface Waiting {
  readonly world: World;
  readonly timer: Timer;
  readonly chatId: number;
  readonly waitMs: number;
  /** Ends the wait at once. */
  readonly signal: AbortSignal;
}

/**
 * Does something in a chat and waits until the bot has reacted there and fallen silent, at most `waitMs`. The answers are
 * the messages that the bot sent or changed meanwhile. `isDone` may ask for more than an answer before the silence counts.
 */
export async function answersTo<T>(
  { world, timer, chatId, waitMs, signal }: Waiting,
  deed: () => T,
  isDone: (result: T, answers: readonly MessageShown[]) => boolean,
): Promise<{ readonly result: T; readonly answers: readonly MessageShown[] }> {
  const look = () => world.messages(chatId, { limit: lookedAt });
  const before = new Set(waitMs === 0 ? [] : look().map(shape));
  const result = deed();
  if (waitMs === 0) return { result, answers: [] };
  const answers = () => look().filter((message) => message.from === 'bot' && !before.has(shape(message)));
  await silence({ world, timer, chatId, waitMs, signal }, () => isDone(result, answers()));
  return { result, answers: answers() };
}

function shape(message: MessageShown): string {
  return JSON.stringify(message);
}

function silence({ world, timer, chatId, waitMs, signal }: Waiting, isDone: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    let callOffQuiet = () => {};
    const end = () => {
      unwatch();
      callOffQuiet();
      callOffWait();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const look = () => {
      callOffQuiet();
      if (isDone()) callOffQuiet = timer.after(quietMs, end);
    };
    const callOffWait = timer.after(waitMs, end);
    const unwatch = world.watch((change) => {
      if (change.chatId === chatId || change.kind === 'callback') look();
    });
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
    else look();
  });
}
