import { sendingMethods } from '../methods/sending.ts';
import type { FaultRow } from '../world/rows.ts';
import type { State } from '../world/state.ts';
import type { Fault } from '../world/world.ts';
import type { Arguments } from './request.ts';

const sends = new Set(Object.keys(sendingMethods));

/** The control API has checked the fault. */
export function addFault(state: State, fault: Fault): string {
  const id = `fault-${state.count('lastFault')}`;
  state.faults.put({ ...fault, id, seen: 0 });
  state.tell('fault', fault.chat ?? null);
  return id;
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
