import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { patienceMs } from '../../support/patience.ts';
import { sourceFlags } from '../../support/sources.ts';
import type { Account } from './program.ts';

/** Everything leads to this process there: real connections to 169.254.169.254, 10/8, fd00::/8 and all the rest. */
const set = [
  'ip link set lo up',
  'ip route add local 0.0.0.0/0 dev lo',
  'ip -6 route add local ::/0 dev lo',
  // A public address that is one of this computer.
  'ip address add 93.184.215.99/32 dev lo',
].join(' && ');

/** A namespace of one's own: as root, or where the system lets people make one. */
function inNamespace(command: string, args: readonly string[]): string {
  const isRoot = process.getuid?.() === 0;
  const inside = [isRoot ? '-n' : '-rn', 'sh', '-ec', `${set} && exec "$@"`, 'sh', command, ...args];
  return execFileSync('unshare', inside, { encoding: 'utf8', stdio: 'pipe', timeout: patienceMs });
}

function whyNot(): string | null {
  try {
    inNamespace('true', []);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message.split('\n').slice(0, 2).join(' ') : String(error);
  }
}

it('lets none of the hostile targets through, in a network where each of them is there', (context) => {
  const reason = whyNot();
  if (reason !== null) {
    const note = `NOT SHOWN: the corpus of hostile targets needs a network namespace (unshare, and ip of iproute2): ${reason}`;
    process.stderr.write(`${note}\n`);
    context.skip(note);
  }
  const program = fileURLToPath(new URL('program.ts', import.meta.url));
  const account = JSON.parse(inNamespace(process.execPath, [...sourceFlags, program])) as Account;
  expect(account.through).toEqual([]);
  expect(account.targets).toBeGreaterThanOrEqual(200);
  // The network is real: without the guard the same addresses answer, and with it the public ones do.
  expect(account.reachable).toEqual(['169.254.169.254', '10.0.0.1', 'fd00::1', '127.0.0.1', '93.184.215.14']);
  expect(account.good).toEqual(['answered', 'answered', 'answered', 'answered']);
  expect(account.rebound.answered + account.rebound.refused).toBe(40);
  expect(account.rebound.answered).toBeGreaterThan(0);
  expect(account.rebound.refused).toBeGreaterThan(0);
  expect(account.dnsQuestions).toBeGreaterThan(100);
});
