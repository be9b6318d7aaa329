import type { Egress, Outbound } from '../../src/app/ports/outbound.ts';
import type { Timer, Transport } from '../../src/app/ports/outside.ts';
import type { Ask, Engine, Script } from '../../src/store/engine/engine.ts';
import { written } from '../../src/store/engine/sql.ts';
import type { Chance } from '../support/chance.ts';
import type { Siege } from './siege.ts';

/**
 * What may befall one process: its store fails it, and it dies between any two steps. A dead process touches nothing any
 * more: whatever it waits for never comes, so nothing that it would have done next is done.
 */
export interface Fate {
  readonly dead: boolean;
  /** Resolves when the process dies. */
  readonly died: Promise<void>;
  kill(): void;
  /** The process dies after so many more statements, commits, or things that it asks of the outside. */
  doom(where: Doom, countdown: number): void;
  /** Of the next transactions, some fail. */
  trouble(transactions: number, rate: number): void;
  /** The ends of attempts are written, and the answers to the next of these writes are lost. */
  loseEnds(writes: number): void;
  calm(): void;
  /** Faults that were dealt out, for the journal. */
  readonly dealt: { thrown: number; lost: number };
}

export type Doom = 'statement' | 'before a commit' | 'after a commit' | 'call' | 'answer' | 'timer';

export const dooms: readonly Doom[] = [
  'statement',
  'statement',
  'before a commit',
  'after a commit',
  'after a commit',
  'call',
  'answer',
  'timer',
];

class Death extends Error {}

interface Armed {
  readonly where: Doom;
  left: number;
}

interface State extends Fate {
  /** Counts a step towards the doom; true when the process dies here. */
  strikes(where: Doom): boolean;
  /** What befalls the next transaction. */
  draw(): 'throws' | 'answer lost' | null;
  /** Whether the answer to a write of ends is lost. */
  losesEnd(): boolean;
}

const never = () => new Promise<never>(() => undefined);

export function fateOf(chance: Chance): State {
  let armed: Armed | null = null;
  let [left, rate, endsToLose] = [0, 0, 0];
  let die = () => {};
  const died = new Promise<void>((resolve) => {
    die = resolve;
  });
  const state = {
    dead: false,
    died,
    dealt: { thrown: 0, lost: 0 },
    kill: () => {
      state.dead = true;
      die();
    },
    doom: (where: Doom, countdown: number) => {
      armed = { where, left: countdown };
    },
    trouble: (transactions: number, share: number) => {
      [left, rate] = [transactions, share];
    },
    loseEnds: (writes: number) => {
      endsToLose = writes;
    },
    losesEnd: () => {
      if (endsToLose === 0) return false;
      endsToLose -= 1;
      return true;
    },
    calm: () => {
      armed = null;
      [left, endsToLose] = [0, 0];
    },
    strikes: (where: Doom) => {
      if (state.dead) return true;
      if (armed?.where !== where) return false;
      armed.left -= 1;
      if (armed.left > 0) return false;
      state.kill();
      return true;
    },
    draw: () => {
      if (left === 0) return null;
      left -= 1;
      if (!chance.is(rate)) return null;
      return chance.is(0.5) ? ('throws' as const) : ('answer lost' as const);
    },
  };
  return state;
}

const storeFaults = [
  { code: 'SQLITE_BUSY', message: 'database is locked' },
  { code: 'SQLITE_FULL', message: 'database or disk is full' },
  { code: 'SQLITE_IOERR_FSYNC', message: 'disk I/O error' },
] as const;

export type StoreFault = (typeof storeFaults)[number];

const thrown = ({ code, message }: StoreFault): Error => Object.assign(new Error(message), { code });

/** Trouble that goes on: nothing works, or nothing can be written. */
export const lastingTrouble: readonly StoreFault[] = storeFaults.slice(0, 2);

interface Watching {
  readonly fate: State;
  readonly chance: Chance;
  readonly siege: Siege<StoreFault>;
}

/** An engine that fails as the fate of its process says. */
export function faultyEngine(engine: Engine, { fate, chance, siege }: Watching): Engine {
  return {
    ...engine,
    read: (script) => engine.read(() => besieged(script(), { fate, siege })),
    transactLightly: (script) => engine.transactLightly(() => besieged(script(), { fate, siege })),
    transact: async <T>(script: () => Script<T>): Promise<T> => {
      if (fate.dead) return never();
      const fault = fate.draw();
      const failsAt = fault === 'throws' ? chance.between(1, 12) : 0;
      const played: Played = { fate, chance, siege, failsAt, endsAttempts: false };
      let result: T;
      try {
        result = await engine.transact(() => watched(besieged(script(), played), played));
      } catch (error) {
        if (error instanceof Death) return never();
        throw error;
      }
      if (fate.strikes('after a commit')) return never();
      if (fault === 'answer lost' || (played.endsAttempts && fate.losesEnd())) {
        fate.dealt.lost += 1;
        throw thrown(chance.pick(storeFaults));
      }
      return result;
    },
  };
}

/** A full disk can be read; what is locked or away answers nothing. */
function* besieged<T>(script: Script<T>, { fate, siege }: Pick<Watching, 'fate' | 'siege'>): Script<T> {
  let step = script.next();
  while (step.done !== true) {
    const { fault } = siege;
    const isWrite = step.value.does === 'insert' || step.value.does === 'update';
    if (fault !== null && (isWrite || fault.code !== 'SQLITE_FULL')) {
      fate.dealt.thrown += 1;
      throw thrown(fault);
    }
    step = script.next(yield step.value);
  }
  return step.value;
}

/** Only the end of an attempt says how long it took. */
function endsAttempt(ask: Ask): boolean {
  if (ask.does !== 'update' || ask.change.table !== 'attempts') return false;
  return written(ask.change.set, 'sqlite', () => '?').includes('duration_ms');
}

interface Played extends Watching {
  readonly failsAt: number;
  endsAttempts: boolean;
}

/** Plays a script, and fails or dies at its statements. A script that is shorter than the fault's place fails at its end. */
function* watched<T>(script: Script<T>, played: Played): Script<T> {
  const { fate, chance, failsAt } = played;
  const fail = () => {
    fate.dealt.thrown += 1;
    return thrown(chance.pick(storeFaults));
  };
  let statements = 0;
  let step = script.next();
  while (step.done !== true) {
    if (fate.strikes('statement')) throw new Death();
    statements += 1;
    if (endsAttempt(step.value)) played.endsAttempts = true;
    if (statements === failsAt) throw fail();
    step = script.next(yield step.value);
  }
  if (fate.strikes('before a commit')) throw new Death();
  if (statements < failsAt) throw fail();
  return step.value;
}

/** The chat as one process sees it: once dead, it asks nothing any more and hears no answer. */
export function mortalTransport(transport: Transport, fate: State): Transport {
  const asked = async <T>(call: () => Promise<T>): Promise<T> => {
    if (fate.strikes('call')) return never();
    try {
      return await call();
    } finally {
      // An answer that nobody is there to hear: neither what it says nor what it throws goes anywhere.
      if (fate.strikes('answer')) await never();
    }
  };
  return {
    send: (part) => asked(() => transport.send(part)),
    act: (part, deed) => asked(() => transport.act(part, deed)),
    settle: (part, look) => asked(() => transport.settle(part, look)),
    createTopic: (route, name) => asked(() => transport.createTopic(route, name)),
    findTopic: (route, name, askedAt) => asked(() => transport.findTopic(route, name, askedAt)),
    remove: (ids) => asked(() => transport.remove(ids)),
  };
}

/** Calls of tasks as one process sees them: once dead, it makes none any more and hears no answer. */
export function mortalOutbound(outbound: Outbound & Egress, fate: State): Outbound & Egress {
  return {
    judge: (url, narrowedTo) => outbound.judge(url, narrowedTo),
    call: async (request) => {
      if (fate.strikes('call')) return never();
      const end = await outbound.call(request);
      if (fate.strikes('answer')) await never();
      return end;
    },
  };
}

export function mortalTimer(timer: Timer, fate: State): Timer {
  return {
    after: (ms, call) =>
      timer.after(ms, () => {
        if (!fate.strikes('timer')) call();
      }),
    yield: async () => {
      await timer.yield();
      if (fate.dead) await never();
    },
  };
}
