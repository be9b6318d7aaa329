import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Fault } from '../../../src/sandbox/world/world.ts';
import { pressRetry } from '../chat.ts';
import { openTelegram, type Seen, type Telegram } from '../telegram.ts';

/** A Telegram in a process of its own, so that neither the load of the test nor its waits reach the server by it. */
export interface TelegramApart extends Pick<Telegram, 'settings' | 'forums'> {
  fault(fault: Fault): Promise<void>;
  clearFaults(): Promise<void>;
  seen(): Promise<Seen>;
  close(): Promise<void>;
}

type Ask = { readonly fault: Fault } | 'clear' | 'seen';

const pressEveryMs = 2000;

export async function forkTelegram(forums: number): Promise<TelegramApart> {
  const child = fork(fileURLToPath(import.meta.url), ['--forums', String(forums)]);
  const exit = once(child, 'exit');
  const [opened] = (await once(child, 'message')) as [Pick<Telegram, 'settings' | 'forums'>];
  // One question at a time, as the faults come one after the other.
  const ask = async <T>(asked: Ask): Promise<T> => {
    child.send(asked);
    return ((await once(child, 'message')) as [T])[0];
  };
  return {
    ...opened,
    fault: (fault) => ask({ fault }),
    clearFaults: () => ask('clear'),
    seen: () => ask('seen'),
    close: async () => {
      child.kill();
      await exit;
    },
  };
}

/** The process itself. People there press Retry wherever they are asked to. */
async function serve(forums: number): Promise<void> {
  const telegram = await openTelegram({ forums });
  const pressed = new Set<string>();
  setInterval(() => {
    for (const chat of telegram.forums) pressRetry(telegram, chat, pressed);
  }, pressEveryMs);
  process.on('message', (asked: Ask) => {
    if (asked === 'seen') process.send?.(telegram.seen());
    else {
      if (asked === 'clear') telegram.world.clearFault();
      else telegram.world.fault(asked.fault);
      process.send?.({});
    }
  });
  process.once('disconnect', () => process.exit());
  process.send?.({ settings: telegram.settings, forums: telegram.forums });
}

if (process.argv[2] === '--forums' && process.argv[1] === fileURLToPath(import.meta.url))
  await serve(Number(process.argv[3]));
