import type { Clock, Stopwatch, Timer } from '../../src/app/ports/outside.ts';
import { openSandbox, type Sandbox, type SandboxDeps, serveSandbox } from '../../src/sandbox/sandbox.ts';
import type { World } from '../../src/sandbox/world/world.ts';
import { manualTime, memoryLog, type MemoryLog } from './fakes.ts';

export const sandboxToken = '777000001:AAF-sandbox-token-of-the-tests-0123';

/** A Monday, 09:00 UTC. */
export const sandboxStart = Date.UTC(2027, 0, 4, 9);

/** The chats and people of every first world; a person and the private chat with that person have one number. */
export const lab = -1_001_000_000_001;
export const noRights = -1_001_000_000_002;
export const plain = -2_000_003;
export const ada = 1001;
export const ben = 1002;
export const mallory = 1003;

export interface ServedWorld {
  readonly sandbox: Sandbox;
  readonly world: World;
  /** What a client takes as the root of the Bot API. */
  readonly apiRoot: string;
  readonly token: string;
  readonly log: MemoryLog;
  close(): Promise<void>;
}

export interface SandboxOptions extends Partial<Pick<SandboxDeps, 'file' | 'limits' | 'token'>> {
  /** All that the sandbox knows of time; by default a clock of its own that stands still. */
  readonly time?: Clock & Stopwatch & Timer;
}

const unlimited = { globalPerSecond: null, chatPerSecond: null, groupPerMinute: null };

/** A Bot API on a free port of the loopback interface, with its first world. No limits unless they are given. */
export async function aSandbox(options: SandboxOptions = {}): Promise<ServedWorld> {
  const { time = manualTime(sandboxStart), file = ':memory:', limits = unlimited, token = sandboxToken } = options;
  const log = memoryLog();
  const sandbox = openSandbox({ clock: time, stopwatch: time, timer: time, log, file, limits, token });
  const served = await serveSandbox(sandbox, 0);
  return {
    sandbox,
    world: sandbox.world,
    apiRoot: served.apiRoot,
    token,
    log,
    close: async () => {
      await sandbox.close();
      await served.close();
    },
  };
}
