import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { call } from '../api.ts';
import { becomes, start, type Boot, type StartOptions } from '../program.ts';
import type { Host } from './network.ts';

export type Role = 'bot' | 'worker' | 'api';
export const roles: readonly Role[] = ['bot', 'worker', 'api'];

/** One process of the fleet, on a host of its own; whoever ends it starts it again. */
export interface Member {
  readonly name: string;
  readonly role: Role;
  readonly host: Host;
  readonly boots: Boot[];
  /** Whether a fault is done to it now. */
  isBusy: boolean;
}

export const bootOf = ({ boots, name }: Member): Boot => {
  const boot = boots.at(-1);
  if (boot === undefined) throw new Error(`${name} was never started.`);
  return boot;
};

export const urlOf = ({ host }: Member) => `http://${host.address}:8787`;

type Launch = Omit<StartOptions, 'host' | 'preload'> & { readonly skewsMs: Readonly<Record<string, number>> };

/** The clock of its host is off by so much, from its first moment on. */
const skewed = (byMs: number) =>
  `data:text/javascript,${encodeURIComponent(`const now = Date.now; Date.now = () => now() + ${byMs};`)}`;

export function launch(member: Member, { skewsMs, settings, ...options }: Launch): void {
  const skewMs = skewsMs[member.name];
  member.boots.push(
    start({
      ...options,
      host: member.host,
      settings: { ...settings, ROLE: member.role },
      ...(skewMs === undefined ? {} : { preload: skewed(skewMs) }),
    }),
  );
}

export async function isReady(member: Member): Promise<boolean> {
  return call(urlOf(member), { method: 'GET', path: '/readyz' }).then(
    ({ status }) => status === 200,
    () => false,
  );
}

/** Whoever is cut off never answers. */
const answerMs = 1500;

async function isReached(member: Member): Promise<boolean> {
  return fetch(`${urlOf(member)}/livez`, { signal: AbortSignal.timeout(answerMs) }).then(
    () => true,
    () => false,
  );
}

export const faultKinds = ['kill', 'freeze', 'cut'] as const;
export type FaultKind = (typeof faultKinds)[number];

export interface Suffered {
  readonly what: FaultKind | 'database';
  readonly name: string;
  readonly role: Role | null;
  readonly from: number;
  readonly to: number;
  /** Whether it was seen to be there, and not only asked for. */
  readonly isSeen: boolean;
}

export async function suffer(
  member: Member,
  what: FaultKind,
  { forMs, again }: { readonly forMs: number; readonly again: () => void },
): Promise<Suffered> {
  member.isBusy = true;
  const from = Date.now();
  const { pid } = bootOf(member);
  let isSeen = false;
  if (what === 'kill') {
    const { signal } = await bootOf(member).kill();
    isSeen = signal === 'SIGKILL';
    await pause(Math.min(forMs, 5000));
    again();
  } else if (what === 'freeze') {
    process.kill(pid, 'SIGSTOP');
    isSeen = await becomes(() => stateOf(pid) === 'T', 1000);
    await pause(forMs);
    process.kill(pid, 'SIGCONT');
  } else {
    await member.host.cut();
    isSeen = !(await isReached(member));
    await pause(forMs);
    await member.host.mend();
  }
  member.isBusy = false;
  return { what, name: member.name, role: member.role, from, to: Date.now(), isSeen };
}

function stateOf(pid: number): string | undefined {
  return readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /s, '')[0];
}
