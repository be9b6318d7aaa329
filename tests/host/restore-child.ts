import { restoreDatabase } from '../../src/store/files/restoration.ts';

/** Restores, and is killed right after the step that it is told: a process of its own, as a person's would be. */
const [file = '', copy = '', last = ''] = process.argv.slice(2);

await restoreDatabase(
  {
    file,
    copy,
    holder: { pid: process.pid, host: 'child', since: 0 },
    reached: (step) => {
      if (step === last) process.kill(process.pid, 'SIGKILL');
    },
  },
  async () => true,
);
