import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The oldest Node that carries what is native here; package.json says the same (engines). */
export const nodeMin = '22.19';

/** How a program ends that was started in a way that cannot work. */
const badStart = 78;

/**
 * Runs a program if this Node can carry it. On an older one a segmentation fault would be all that people see, so nothing
 * native is loaded before this has looked: an entry imports this file alone, and the program when it is asked for.
 */
export async function onFitNode(run: () => Promise<void>): Promise<void> {
  if (isFit(process.versions.node)) await run();
  else refuse();
}

/** A command that was installed globally is run by whatever Node is installed there: it looks for the one it has brought. */
export async function onFitOrBroughtNode(run: () => Promise<void>): Promise<void> {
  if (isFit(process.versions.node)) return run();
  const brought = broughtNode();
  if (brought === null) return refuse();
  await runAgain(brought);
}

export function isFit(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [majorMin = 0, minorMin = 0] = nodeMin.split('.').map(Number);
  return major > majorMin || (major === majorMin && minor >= minorMin);
}

function refuse(): void {
  process.stderr.write(
    `This is Node ${process.versions.node}, and Cronogram needs ${nodeMin} or newer: start it by npm start, npm run or npx, which use the Node that it brings, or install a newer one.\n`,
  );
  process.exitCode = badStart;
}

/** The Node among the packages of this program, wherever npm has put it. */
function broughtNode(): string | null {
  try {
    const name = `node-${process.platform}-${process.arch}`;
    const place = fileURLToPath(import.meta.resolve(`${name}/package.json`));
    const node = join(dirname(place), 'bin', 'node');
    return existsSync(node) ? node : null;
  } catch {
    // No such package: it is optional, and there is none for every platform.
    return null;
  }
}

/** Passes on everything in both directions: arguments, streams, signals and the code with which it ends. */
async function runAgain(node: string): Promise<void> {
  const child = spawn(node, [...process.execArgv, ...process.argv.slice(1)], { stdio: 'inherit' });
  // A terminal sends Ctrl-C to both of them, and the second within a moment means nothing; a supervisor knows only this one.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
  const { code, signal } = await new Promise<{ code: number | null; signal: NodeJS.Signals | null }>(
    (resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (ended, by) => resolve({ code: ended, signal: by }));
    },
  );
  process.exitCode = code ?? 1;
  if (signal === null) return;
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}
