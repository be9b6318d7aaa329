import type { Timer } from '../../app/ports/outside.ts';
import { AppError, errorText, faultCodeOf } from '../../domain/errors.ts';
import { lockRetryMs } from '../../domain/limits.ts';
import { pulseAnswerMs, pulseWaitMs } from '../../domain/processes/limits.ts';
import { connect } from './connect.ts';
import type { Client } from './engine.ts';
import type { Connections } from './postgres.ts';

/**
 * The pulse of a Postgres server. A statement may take long for good reasons, so when one has not been answered for a moment, the
 * server is asked for a sign of life over a connection of its own. Without one it is silent: whoever waits is told within two
 * seconds, what was asked is given up, and nobody waits for it again until it has answered.
 */
export interface Pulse {
  /** Makes connections wait for an answer for as long as the server shows signs of life. */
  over(pool: Connections): Connections;
  stop(): void;
}

interface PulseDeps {
  readonly timer: Pick<Timer, 'after'>;
  /** A sign of life; a refusal of the server is one too. */
  readonly ask: (answerMs: number) => Promise<void>;
  /** Why the server is silent, and null when it has answered. */
  readonly onSilent: (error: Error | null) => void;
  readonly pace?: typeof pulsePaceMs | undefined;
}

export const pulsePaceMs = { wait: pulseWaitMs, answer: pulseAnswerMs, retry: lockRetryMs };

/** The answer to one question may be there while this process has no turn to read it. */
const triesMax = 2;

class Silent extends AppError {
  constructor(cause: unknown) {
    super('store_unavailable', `The database does not answer (${errorText(cause)}).`, { cause });
  }
}

export function createPulse({ timer, ask, onSilent, pace = pulsePaceMs }: PulseDeps): Pulse {
  let silent: Silent | null = null;
  let asked: Promise<boolean> | null = null;
  let isStopped = false;
  let callOff = () => {};
  const waiting = new Set<(error: Silent) => void>();

  const tries = async (): Promise<boolean> => {
    for (let tried = 1; ; tried += 1) {
      try {
        await atMost(timer, pace.answer, ask(pace.answer));
        return true;
      } catch (error) {
        if (silent === null && tried < triesMax) continue;
        fallSilent(error);
        return false;
      }
    }
  };
  /** Asks one question for all who want to know. */
  const isAlive = (): Promise<boolean> => {
    asked ??= tries().finally(() => {
      asked = null;
    });
    return asked;
  };

  const fallSilent = (cause: unknown) => {
    if (isStopped) return;
    const isNews = silent === null;
    silent = new Silent(cause);
    for (const tell of waiting) tell(silent);
    waiting.clear();
    if (isNews) onSilent(silent);
    // One look at a time, also where several have found it silent.
    callOff();
    callOff = timer.after(pace.retry, () => void lookAgain());
  };
  const lookAgain = async () => {
    if (!(await isAlive()) || isStopped) return;
    silent = null;
    onSilent(null);
  };

  const patiently = <T>(work: Promise<T>): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      let callOffWait = () => {};
      const wait = () => {
        callOffWait = timer.after(pace.wait, () => void isAlive().then((is) => is && waiting.has(reject) && wait()));
      };
      waiting.add(reject);
      wait();
      work.then(resolve, reject).finally(() => {
        waiting.delete(reject);
        callOffWait();
      });
    });

  return {
    over: (pool) => lending(pool, { patiently, silence: () => silent }),
    stop: () => {
      isStopped = true;
      callOff();
    },
  };
}

interface Patience {
  readonly patiently: <T>(work: Promise<T>) => Promise<T>;
  readonly silence: () => Silent | null;
}

function lending(pool: Connections, { patiently, silence }: Patience): Connections {
  return {
    ...pool,
    connect: async () => {
      const silent = silence();
      if (silent !== null) throw silent;
      const lent = pool.connect();
      try {
        return watched(await patiently(lent), patiently);
      } catch (error) {
        // A connection that comes after it was given up is lent to nobody.
        void lent.then(
          (client) => client.release(true),
          () => undefined,
        );
        throw error;
      }
    },
  };
}

function watched(client: Client, patiently: Patience['patiently']): Client {
  let givenUp: Silent | null = null;
  return {
    query: async (text, values) => {
      // A transaction is not gone on with when one of its statements was given up.
      if (givenUp !== null) throw givenUp;
      try {
        return await patiently(client.query(text, values));
      } catch (error) {
        if (error instanceof Silent) givenUp = error;
        throw error;
      }
    },
    release: (broken) => client.release(broken === true || givenUp !== null),
  };
}

async function atMost<T>(timer: Pick<Timer, 'after'>, ms: number, work: Promise<T>): Promise<T> {
  let callOff = () => {};
  const late = new Promise<never>((_resolve, reject) => {
    callOff = timer.after(ms, () => reject(new Error(`no answer within ${ms} ms`)));
  });
  return Promise.race([work, late]).finally(callOff);
}

/** A sign of life over a connection of its own; whoever is refused has been answered. */
export async function signOfLife(url: string, answerMs: number): Promise<void> {
  try {
    const { client, drop } = await connect(url, 'cronogram', answerMs);
    await client.query('select 1').finally(drop);
  } catch (error) {
    if (!/^[0-9A-Z]{5}$/.test(faultCodeOf(error))) throw error;
  }
}
