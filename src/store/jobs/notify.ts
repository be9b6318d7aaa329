import type { Hint, Hints } from '../../app/ports/hints.ts';
import type { Log, Timer } from '../../app/ports/outside.ts';
import { backoffMs } from '../../domain/limits.ts';
import { connect, type Connected } from '../engine/connect.ts';

/** Hints between processes by LISTEN and NOTIFY, over a connection of their own and never within a transaction. */
export interface NotifyHints extends Hints {
  /** Resolves when the first connection hears. */
  readonly open: () => Promise<void>;
  /** Nothing is heard over this address, because it is that of a pooler: everybody looks each second instead. */
  readonly isDeaf: () => boolean;
  close(): Promise<void>;
}

interface NotifyDeps {
  /** Of a connection that stays. */
  readonly url: string;
  readonly processId: string;
  readonly timer: Pick<Timer, 'after'>;
  readonly log: Log;
  /** The connection was lost: others over the same way may be as well, without knowing it. */
  readonly onLost?: () => void;
  readonly pace?: typeof paceMs;
}

const channel = 'cronogram';
/**
 * `gather`: hints in a row are told by one statement, events later than the rest, because they come with every commit. `beat`: a connection that was cut without a word is found out by a word to itself;
 * more often would be most of what an idle process asks. `answer`: how long that word may take, and `echo` how long until it is heard. `retry`: the longest pause
 * before the next try, so that a database that is back is heard within seconds.
 */
const paceMs = { gather: 10, gatherEvents: 100, beat: 30_000, answer: 4000, echo: 1000, look: 1000, retry: 1000 };

export function createNotifyHints(deps: NotifyDeps): NotifyHints {
  const { url, processId, timer, log, onLost = () => undefined, pace = paceMs } = deps;
  const listeners = new Map<Hint, Set<() => void>>();
  const waiting = new Set<Hint>();
  let connection: Connected | null = null;
  let [isClosed, isDeaf, failures] = [false, true, 0];
  let flushAt = Infinity;
  let callOffBeat = () => {};

  const callAll = (hints: Iterable<Hint>) => {
    for (const hint of hints) for (const call of listeners.get(hint) ?? []) call();
  };
  const heard = (payload: string | undefined) => {
    const { from, hints } = readWord(payload);
    if (from === processId) isDeaf = false;
    else callAll(hints);
  };
  const say = async (on: Connected, hints: readonly Hint[]) => {
    await on.client.query('select pg_notify($1, $2)', [channel, JSON.stringify({ from: processId, hints })]);
  };

  const lose = (from: Connected, error: unknown) => {
    if (from !== connection || isClosed) return;
    connection = null;
    callOffBeat();
    from.drop();
    log.warn('hints_unheard', { error: String(error) });
    onLost();
    void connectAgain();
  };
  const flush = async () => {
    flushAt = Infinity;
    const on = connection;
    if (on === null || waiting.size === 0) return;
    const hints = [...waiting];
    waiting.clear();
    try {
      await say(on, hints);
    } catch (error) {
      for (const hint of hints) waiting.add(hint);
      lose(on, error);
    }
  };
  const beat = (on: Connected) => {
    callOffBeat = timer.after(pace.beat, () => {
      say(on, []).then(
        () => on === connection && beat(on),
        (error: unknown) => lose(on, error),
      );
    });
  };
  const listen = async () => {
    const made = await connect(url, `cronogram hints ${processId}`.slice(0, 63), pace.answer);
    try {
      made.client.on('notification', ({ payload }) => heard(payload));
      await made.client.query(`listen ${channel}`);
    } catch (error) {
      made.drop();
      throw error;
    }
    if (isClosed) return made.drop();
    connection = made;
    made.client.on('error', (error) => lose(made, error));
    made.client.on('end', () => lose(made, 'the connection has ended'));
    if (isDeaf) {
      await say(made, []);
      await echo();
    }
    beat(made);
    void flush();
  };
  const echo = async () => {
    for (let waited = 0; isDeaf && waited < pace.echo; waited += pace.gather)
      await new Promise<void>((resolve) => timer.after(pace.gather, resolve));
  };
  const lookEachSecond = () => {
    log.warn('hints_deaf', { advice: 'set DATABASE_DIRECT_URL to the address of the Postgres server itself' });
    const look = () => {
      if (isClosed) return;
      callAll(listeners.keys());
      timer.after(pace.look, look);
    };
    look();
  };
  const connectAgain = async () => {
    while (!isClosed) {
      try {
        await listen();
        break;
      } catch {
        failures += 1;
        await new Promise<void>((resolve) => timer.after(Math.min(backoffMs(failures), pace.retry), resolve));
      }
    }
    if (isClosed) return;
    failures = 0;
    log.info('hints_heard_again');
    callAll(listeners.keys());
  };

  return {
    publish: (hint) => {
      waiting.add(hint);
      const ms = hint === 'events' ? pace.gatherEvents : pace.gather;
      if (flushAt <= ms) return;
      flushAt = ms;
      timer.after(ms, () => void flush());
    },
    on: (hint, call) => {
      const calls = listeners.get(hint) ?? new Set();
      listeners.set(hint, calls.add(call));
      return () => calls.delete(call);
    },
    open: async () => {
      await listen();
      if (isDeaf) lookEachSecond();
    },
    isDeaf: () => isDeaf,
    close: async () => {
      isClosed = true;
      callOffBeat();
      const last = connection;
      connection = null;
      if (last !== null && waiting.size > 0) await say(last, [...waiting]).catch(() => undefined);
      last?.drop();
    },
  };
}

interface Word {
  readonly from: string;
  readonly hints: readonly Hint[];
}

/** A word of somebody else on the channel says nothing. */
function readWord(payload: string | undefined): Word {
  try {
    const { from = '', hints = [] } = JSON.parse(payload ?? '') as Partial<Word>;
    return { from, hints: Array.isArray(hints) ? hints : [] };
  } catch {
    return { from: '', hints: [] };
  }
}
