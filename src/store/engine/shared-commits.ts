import type { Database } from 'better-sqlite3';
import type { Script } from './engine.ts';

/**
 * Transactions that are asked for in one turn of the process share a commit, because the wait for the disk is most of what
 * a small one costs. Each is still all of it or nothing: one that throws is taken back alone, and nobody is told anything
 * before the commit is on the disk. They run in the order in which they were asked for.
 */
export interface SharedCommits {
  run<T>(script: () => Script<T>): Promise<T>;
  /** Commits what is still waiting. */
  drain(): void;
}

export interface Committing {
  readonly connection: Database;
  /** Plays a script within the open transaction. */
  readonly play: <T>(script: () => Script<T>) => T;
  /** Resolves when everybody who is ready in this turn of the process has had a chance to ask. */
  readonly turn: () => Promise<void>;
  /** Rows that were written so far. */
  readonly written: () => number;
}

/** After so many rows a commit takes nobody else along, so that no turn of the process lasts much longer than a claim does. */
const rowsPerCommit = 500;

interface Waiting {
  /** Plays its script; the answer tells its caller how that went. */
  readonly play: () => () => void;
  readonly refuse: (error: unknown) => void;
}

export function createSharedCommits(committing: Committing): SharedCommits {
  const { play, turn } = committing;
  const committer = createCommitter(committing);
  let waiting: Waiting[] = [];
  let isAsked = false;

  const commit = () => {
    const batch = waiting;
    waiting = [];
    waiting = [...committer.commit(batch), ...waiting];
  };

  const ask = () => {
    if (isAsked) return;
    isAsked = true;
    void turn().then(() => {
      isAsked = false;
      commit();
      if (waiting.length > 0) ask();
    });
  };

  return {
    run: (script) =>
      new Promise((resolve, reject) => {
        waiting.push({
          play: () => {
            const answer = play(script);
            return () => resolve(answer);
          },
          refuse: reject,
        });
        ask();
      }),
    drain: () => {
      while (waiting.length > 0) commit();
    },
  };
}

interface Committer {
  /** Answers those that have to wait for the next commit. */
  commit(batch: readonly Waiting[]): readonly Waiting[];
}

function createCommitter({ connection, written }: Committing): Committer {
  const begin = connection.transaction((run: () => void) => run());
  const playApart = savepointOf(connection);

  const commitAlone = (one: Waiting) => {
    let tell = () => {};
    try {
      begin.immediate(() => {
        tell = one.play();
      });
    } catch (error) {
      tell = () => one.refuse(error);
    }
    tell();
  };

  const commitTogether = (batch: readonly Waiting[]) => {
    const tells: (() => void)[] = [];
    let isBegun = false;
    try {
      begin.immediate(() => {
        isBegun = true;
        const from = written();
        for (const one of batch) {
          if (written() - from > rowsPerCommit) break;
          tells.push(playApart(one));
        }
      });
    } catch (error) {
      // Nothing of it stands: each is done by itself, and the one that is to blame hears of it.
      for (const one of batch) {
        if (isBegun) commitAlone(one);
        else one.refuse(error);
      }
      return [];
    }
    for (const tell of tells) tell();
    return batch.slice(tells.length);
  };

  return {
    commit: (batch) => {
      const [first] = batch;
      if (batch.length > 1) return commitTogether(batch);
      if (first !== undefined) commitAlone(first);
      return [];
    },
  };
}

/** A statement may fail so badly that the whole transaction is gone; then the others have lost their work as well. */
function savepointOf(connection: Database): (one: Waiting) => () => void {
  const savepoint = connection.prepare('savepoint shared');
  const release = connection.prepare('release shared');
  const rollback = connection.prepare('rollback to shared');
  return (one) => {
    savepoint.run();
    try {
      const tell = one.play();
      release.run();
      return tell;
    } catch (error) {
      if (!connection.inTransaction) throw error;
      rollback.run();
      release.run();
      return () => one.refuse(error);
    }
  };
}
