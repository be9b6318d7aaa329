import type { Hint, Hints } from '../../app/ports/hints.ts';
import type { Log, Timer } from '../../app/ports/outside.ts';
import { backoffMs } from '../../domain/limits.ts';
import { connect, type Connected } from '../engine/connect.ts';

/** Hints between processes by LISTEN and NOTIFY, over a connection of their own and never within a transaction. */
export interface NotifyHints extends Hints {
  /** Resolves when the first connection hears. */
  readonly open: () => Promise<void>;
  close(): Promise<void>;
}

interface NotifyDeps {
  /** Of a connection that stays. */
  readonly url: string;
  readonly processId: string;
  readonly timer: Pick<Timer, 'after'>;
  readonly log: Log;
  /** Nothing is heard over this address, because it is that of a pooler: everybody looks each second instead. */
  readonly isDeaf?: boolean;
  /** The connection was lost: others over the same way may be as well, without knowing it. */
  readonly onLost?: () => void;
  readonly pace?: typeof paceMs;
}

const channel = 'cronogram';
/**
 * `gather`: hints in a row are told by one statement, events later than the rest, because they come with every commit. `beat`: a connection that was cut without a word is found out by a word to itself;
 * more often would be most of what an idle process asks. `answer`: how long that word may take. `retry`: the longest pause
 * before the next try, so that a database that is back is heard within seconds.
 */
const paceMs = { gather: 10, gatherEvents: 100, beat: 30_000, answer: 4000, look: 1000, retry: 1000 };

export function createNotifyHints(given: NotifyDeps): NotifyHints {
  const { onLost = () => undefined, pace = paceMs, isDeaf = false } = given;
  const deps = { ...given, onLost, pace, isDeaf };
  const listeners = createListeners();
  const ear = createEar(deps, listeners.tell);
  const line = createLine(deps, ear, {
    opened: () => void outbox.flush(),
    heardAgain: listeners.tellAll,
  });
  const outbox = createOutbox(deps, line);
  return {
    publish: outbox.put,
    on: listeners.on,
    open: async () => {
      await line.open();
      if (isDeaf) lookEachSecond(deps, line.isClosed, listeners.tellAll);
    },
    close: async () => {
      const last = line.close();
      if (last !== null) await outbox.sayLast(last);
      last?.drop();
    },
  };
}

/** With everything that may be left out. */
type LineDeps = Required<NotifyDeps>;

/** Listeners, which are called when something is told. */
function createListeners() {
  const listeners = new Map<Hint, Set<() => void>>();
  const tell = (hints: Iterable<Hint>): void => {
    for (const hint of hints) for (const call of listeners.get(hint) ?? []) call();
  };
  return {
    on: (hint: Hint, call: () => void) => {
      const calls = listeners.get(hint) ?? new Set();
      listeners.set(hint, calls.add(call));
      return () => calls.delete(call);
    },
    tell,
    tellAll: (): void => tell(listeners.keys()),
  };
}

/** Takes words from the channel. Its own come back as well, and say nothing new. */
function createEar({ processId }: LineDeps, tell: (hints: readonly Hint[]) => void) {
  let wasHeard = false;
  return {
    /** Whether it has heard anything, whoever said it, since this was last asked. */
    wasHeard: (): boolean => {
      const was = wasHeard;
      wasHeard = false;
      return was;
    },
    heard: (payload: string | undefined): void => {
      wasHeard = true;
      const { from, hints } = readWord(payload);
      if (from !== processId) tell(hints);
    },
  };
}

interface LineCalls {
  readonly opened: () => void;
  /** After a time in which nothing could be heard. */
  readonly heardAgain: () => void;
}

/** The connection: opened again whenever it is lost, until it is closed. */
function createLine(deps: LineDeps, ear: ReturnType<typeof createEar>, { opened, heardAgain }: LineCalls) {
  const { timer, log, onLost, pace } = deps;
  let connection: Line | null = null;
  let [isClosed, failures] = [false, 0];
  const beat = createBeat(deps, {
    isOn: (on) => on === connection,
    failed: (on, error) => lose(on, error),
    wasHeard: ear.wasHeard,
  });

  const lose = (from: Line, error: unknown) => {
    if (from !== connection || isClosed) return;
    connection = null;
    beat.stop();
    from.drop();
    log.warn('hints_unheard', { error: String(error) });
    onLost();
    void openAgain();
  };
  const open = async () => {
    const made = await listen(deps, ear.heard);
    if (isClosed) return made.drop();
    connection = made;
    made.client.on('error', (error) => lose(made, error));
    made.client.on('end', () => lose(made, 'the connection has ended'));
    beat.start(made);
    opened();
  };
  const openAgain = async () => {
    while (!isClosed) {
      try {
        await open();
        break;
      } catch {
        failures += 1;
        await new Promise<void>((resolve) => timer.after(Math.min(backoffMs(failures), pace.retry), resolve));
      }
    }
    if (isClosed) return;
    failures = 0;
    log.info('hints_heard_again');
    heardAgain();
  };
  return {
    open,
    lose,
    /** Null while it is lost. */
    current: (): Line | null => connection,
    isClosed: () => isClosed,
    /** Answers what was open until now, for the last words. */
    close: (): Line | null => {
      isClosed = true;
      beat.stop();
      const last = connection;
      connection = null;
      return last;
    },
  };
}

interface BeatCalls {
  readonly isOn: (on: Line) => boolean;
  readonly failed: (on: Line, error: unknown) => void;
  readonly wasHeard: () => boolean;
}

/** A word on the connection from time to time, as long as it is on and nothing is heard: each renewal of a process says one. */
function createBeat({ timer, pace }: LineDeps, { isOn, failed, wasHeard }: BeatCalls) {
  let callOff = () => {};
  const start = (on: Line): void => {
    callOff = timer.after(pace.beat, () => {
      if (wasHeard() && isOn(on)) return start(on);
      on.say([]).then(
        () => isOn(on) && start(on),
        (error: unknown) => failed(on, error),
      );
    });
  };
  return { start, stop: (): void => callOff() };
}

/** Hints for the others, kept until they are told. */
function createOutbox({ timer, pace }: LineDeps, line: ReturnType<typeof createLine>) {
  const waiting = new Set<Hint>();
  let flushAt = Infinity;
  const flush = async (): Promise<void> => {
    flushAt = Infinity;
    const on = line.current();
    if (on === null || waiting.size === 0) return;
    const hints = [...waiting];
    waiting.clear();
    try {
      await on.say(hints);
    } catch (error) {
      for (const hint of hints) waiting.add(hint);
      line.lose(on, error);
    }
  };
  return {
    put: (hint: Hint): void => {
      waiting.add(hint);
      const ms = hint === 'events' ? pace.gatherEvents : pace.gather;
      if (flushAt <= ms) return;
      flushAt = ms;
      timer.after(ms, () => void flush());
    },
    flush,
    sayLast: async (on: Line): Promise<void> => {
      if (waiting.size > 0) await on.say([...waiting]).catch(() => undefined);
    },
  };
}

/** A connection that hears what is said on the channel, and takes one word after the other to say. */
interface Line extends Connected {
  say(hints: readonly Hint[]): Promise<void>;
}

async function listen({ url, processId, pace, isDeaf }: LineDeps, heard: (payload?: string) => void): Promise<Line> {
  const made = await connect(url, `cronogram-hints ${processId}`.slice(0, 63), pace.answer);
  const { client } = made;
  let last: Promise<unknown> = Promise.resolve();
  try {
    client.on('notification', ({ payload }) => heard(payload));
    if (!isDeaf) await client.query(`listen ${channel}`);
  } catch (error) {
    made.drop();
    throw error;
  }
  return {
    ...made,
    say: async (hints) => {
      const word = JSON.stringify({ from: processId, hints });
      const said = last.then(() => client.query('select pg_notify($1, $2)', [channel, word]));
      last = said.catch(() => undefined);
      await said;
    },
  };
}

function lookEachSecond({ timer, log, pace }: LineDeps, isClosed: () => boolean, tellAll: () => void): void {
  log.warn('hints_deaf', { advice: 'set DATABASE_DIRECT_URL to the address of the Postgres server itself' });
  const look = () => {
    if (isClosed()) return;
    tellAll();
    timer.after(pace.look, look);
  };
  look();
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
