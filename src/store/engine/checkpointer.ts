import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';

/**
 * Moves what was committed from the write-ahead log into the database file, in a thread of its own: the copying and the
 * wait for the disk would otherwise stop everything else of the process for a while, again and again under load. A passive
 * checkpoint never holds up a writer or a reader, and a commit is durable before it, so nothing depends on it in time.
 */
export interface Checkpointer {
  /** Counts what was written; now and then the thread is asked to work it off. */
  wrote(rows: number): void;
  stop(): Promise<void>;
}

/** About a thousand pages of the log, which is when the database itself would start to copy. */
const rowsPerCheckpoint = 2000;

/**
 * What is written during a checkpoint stays in the log, and only a log of which nothing is left begins anew; one that grows
 * on and on would be worked off by whoever writes next, all at once. So the thread looks again until nothing was added
 * since its last look, which is short work, and gives up while somebody writes without a pause.
 */
const chase = { tries: 12, gapMs: 50 };

/**
 * The thread is a text, because a file would have another name in the sources than in what is built of them, and five lines
 * are easier to keep than that.
 */
const thread = `
  const { parentPort, workerData } = require('node:worker_threads');
  const connection = new (require(workerData.driver))(workerData.file);
  const gap = new Int32Array(new SharedArrayBuffer(4));
  parentPort.on('message', () => {
    let before = -1;
    for (let tries = 0; tries < workerData.tries; tries += 1) {
      const [{ log, checkpointed }] = connection.pragma('wal_checkpoint(PASSIVE)');
      if (log === before && log === checkpointed) break;
      before = log;
      Atomics.wait(gap, 0, 0, workerData.gapMs);
    }
    parentPort.postMessage('done');
  });
`;

/** `onFailure` is called once when the thread cannot work; the database must then see to its log by itself. */
export function createCheckpointer(file: string, onFailure: () => void): Checkpointer {
  let worker: Worker | null = null;
  let rows = 0;
  let busy = false;

  let failed = false;

  const fail = () => {
    if (failed) return;
    failed = true;
    onFailure();
  };

  const start = (): Worker | null => {
    try {
      const driver = fileURLToPath(import.meta.resolve('better-sqlite3'));
      const started = new Worker(thread, { eval: true, workerData: { file, driver, ...chase }, execArgv: [] });
      started.on('message', () => {
        busy = false;
      });
      started.once('error', fail);
      started.once('exit', fail);
      // A process that has nothing else to do may end; the log is worked off at the next start.
      started.unref();
      return started;
    } catch {
      // The log is a matter of comfort; a write must not fail for want of a thread.
      fail();
      return null;
    }
  };

  return {
    wrote: (more) => {
      rows += more;
      if (failed || busy || rows < rowsPerCheckpoint) return;
      worker ??= start();
      rows = 0;
      busy = true;
      worker?.postMessage('checkpoint');
    },
    stop: async () => {
      // From here on its end is no failure.
      failed = true;
      await worker?.terminate();
    },
  };
}
