import { sendingMethods } from '../methods/sending.ts';
import type { FaultRow } from '../world/rows.ts';
import type { State } from '../world/state.ts';
import { faultKinds, SandboxRefusal, type Fault } from '../world/world.ts';
import type { Arguments } from './request.ts';

const sends = new Set(Object.keys(sendingMethods));
const countMax = 100_000;
const delayMaxMs = 600_000;
const retryAfterMax = 86_400;

export function addFault(state: State, fault: Fault): string {
  check(fault);
  const id = `fault-${state.count('lastFault')}`;
  state.faults.put({ ...fault, id, seen: 0 });
  state.tell('fault', fault.chat ?? null);
  return id;
}

function check({ kind, method, count, delayMs = 0, retryAfter = 1, chance = 1 }: Fault): void {
  if (!faultKinds.includes(kind)) throw bad(`There is no fault "${kind}"; choose ${faultKinds.join(', ')}.`);
  if (!/^(\*|\w{1,64})$/.test(method)) throw bad('The method is a name, "send" or "*".');
  if (!isWithin(count, 1, countMax)) throw bad(`The count is a whole number from 1 to ${countMax}.`);
  if (!isWithin(delayMs, 0, delayMaxMs)) throw bad(`The delay is from 0 to ${delayMaxMs} milliseconds.`);
  if (!isWithin(retryAfter, 1, retryAfterMax)) throw bad(`The pause is from 1 to ${retryAfterMax} seconds.`);
  if (!(chance > 0 && chance <= 1)) throw bad('The chance is above 0 and at most 1.');
}

function isWithin(value: number, least: number, most: number): boolean {
  return Number.isInteger(value) && value >= least && value <= most;
}

function bad(text: string): SandboxRefusal {
  return new SandboxRefusal('bad_input', text);
}

/** The first fault that meets this call, which is one fewer of its count then. */
export function takeFault(state: State, method: string, args: Arguments): Fault | null {
  const chat = args.integer('chat_id');
  const fitting = state.faults.all().filter((fault) => fits(fault, method, chat));
  for (const fault of fitting) {
    const isMet = Math.floor((fault.seen + 1) * (fault.chance ?? 1)) > Math.floor(fault.seen * (fault.chance ?? 1));
    const left = fault.count - (isMet ? 1 : 0);
    if (left === 0) state.faults.remove(fault.id);
    else state.faults.put({ ...fault, count: left, seen: fault.seen + 1 });
    if (isMet) {
      state.tell('fault', fault.chat ?? null);
      return fault;
    }
  }
  return null;
}

function fits(fault: FaultRow, method: string, chat: number): boolean {
  if (fault.chat !== undefined && fault.chat !== chat) return false;
  if (fault.method === '*') return true;
  return fault.method === 'send' ? sends.has(method) : fault.method.toLowerCase() === method.toLowerCase();
}
