import type { Log, Stopwatch, Timer } from '../../app/ports/outside.ts';
import type { NoOpinion, Opinion, SecondOpinion, SlotQuestion } from '../../app/ports/second-opinion.ts';
import { errorText } from '../../domain/errors.ts';
import { startChild, type Child } from './child.ts';

export interface ProcessDeps {
  readonly stopwatch: Stopwatch;
  readonly timer: Timer;
  readonly log: Log;
  /** How long one answer may take. */
  readonly answerMs?: number;
  readonly start?: () => Child;
}

/** Long enough for every schedule that people write. */
const answerMaxMs = 250;
/** A start takes a tenth of a second, and much longer on a machine that has other things to do. */
const startMaxMs = 10_000;
const betweenStartsMs = 1000;
/** After a start that failed nothing is asked for so long. */
const awayMs = 60_000;

/**
 * Asks a child process for the second opinion, one question at a time. An answer that takes too long ends the child; the
 * next question starts another, at most once a second.
 */
export function createSecondOpinion(deps: ProcessDeps): SecondOpinion {
  const { timer, answerMs = answerMaxMs } = deps;
  const waits = createWaits(timer);
  const children = createChildren(deps, waits);
  let last: Promise<unknown> = Promise.resolve();

  const ask = async (question: SlotQuestion): Promise<Opinion> => {
    const child = await children.take();
    if (child === null) return none('away');
    const late = waits.wait(answerMs);
    const opinion = await Promise.race([child.ask(question), late.over.then(() => none('timeout'))]);
    late.end();
    if (children.isClosed()) return none('away');
    if (opinion.is === 'none' && opinion.reason === 'timeout') children.end();
    return opinion;
  };

  return {
    slotsOf: (question) => {
      const answer = last.then(() => ask(question));
      last = answer;
      return answer;
    },
    close: () => {
      children.close();
      waits.endAll();
    },
  };
}

function none(reason: NoOpinion): Opinion {
  return { is: 'none', reason };
}

/** One child at a time. */
function createChildren({ stopwatch, log, start = startChild }: ProcessDeps, waits: Waits) {
  let child: Child | null = null;
  let startedAt = Number.NEGATIVE_INFINITY;
  let awayUntil = Number.NEGATIVE_INFINITY;
  let isClosed = false;

  const end = () => {
    child?.end();
    child = null;
  };

  const begin = async (): Promise<Child | null> => {
    startedAt = stopwatch.elapsed();
    const began = await begun(start, waits.wait(startMaxMs));
    if (isClosed) return null;
    if ('child' in began) {
      child = began.child;
      return child;
    }
    awayUntil = stopwatch.elapsed() + awayMs;
    log.warn('second_opinion_away', { error: began.error });
    return null;
  };

  return {
    end,
    isClosed: () => isClosed,
    close: () => {
      isClosed = true;
      end();
    },
    /** The child that can be asked; null when there is none. */
    take: async (): Promise<Child | null> => {
      if (isClosed || stopwatch.elapsed() < awayUntil) return null;
      if (child?.isGone() === false) return child;
      const pause = startedAt + betweenStartsMs - stopwatch.elapsed();
      if (pause > 0) await waits.wait(pause).over;
      return isClosed ? null : begin();
    },
  };
}

type Begun = { readonly child: Child } | { readonly error: string };

async function begun(start: () => Child, late: Wait): Promise<Begun> {
  try {
    const child = start();
    const became = await Promise.race([child.ready, late.over.then(() => 'it took too long to start')]);
    if (became !== null) child.end();
    return became === null ? { child } : { error: became };
  } catch (error) {
    return { error: errorText(error) };
  } finally {
    late.end();
  }
}

interface Wait {
  readonly over: Promise<void>;
  /** Ends it now. */
  end(): void;
}

type Waits = ReturnType<typeof createWaits>;

/** Waits that can be ended all at once. */
function createWaits(timer: Timer) {
  const open = new Set<() => void>();
  return {
    wait: (ms: number): Wait => {
      let end = () => {};
      const over = new Promise<void>((resolve) => {
        const callOff = timer.after(ms, () => end());
        end = () => {
          open.delete(end);
          callOff();
          resolve();
        };
      });
      open.add(end);
      return { over, end };
    },
    endAll: () => {
      for (const end of open) end();
    },
  };
}
