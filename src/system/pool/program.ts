import { Script } from 'node:vm';
import type { SlotQuestion } from '../../app/housekeeping/second-opinion.ts';
import type { FromChild, Kind, Kinds, TemplateAsk, ToChild } from './child.ts';

/**
 * A child of the pool: a question comes in as a message, its answer goes out as one, and the parent ends it when that takes
 * too long. A kind is loaded when it is first asked for. What an evaluation throws ends the process. It ends by itself when
 * the parent is gone.
 */

type Loaders = { readonly [K in Kind]: () => Promise<(ask: Kinds[K]['ask']) => Kinds[K]['answer']> };

const kinds: Loaders = {
  slots: once(async () => {
    const { answerTo } = await import('../second-opinion/answer.ts');
    return guarded((ask: SlotQuestion) => inZone('UTC', () => answerTo(ask)));
  }),
  // Its library ends loops by itself, and the guard costs four times as much as a template.
  template: once(async () => {
    const { evaluate } = await import('../templates/liquid.ts');
    return (ask: TemplateAsk) => inZone(ask.zone, () => evaluate(ask));
  }),
  // It guards itself, because a guard outside would not hold its promises.
  selection: once(async () => (await import('../expressions/jsonata.ts')).select),
  difference: once(async () => guarded((await import('../expressions/difference.ts')).difference)),
};

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => (made ??= { value: make() }).value;
}

const longestMs = 2000;
/** `vm` stops what runs inside it after a while, whatever it does; the work itself is plain code of this process. */
const work = new Script('answerNow()');
const world: typeof globalThis & { answerNow?: () => unknown } = globalThis;

/** For what may never end: a busy process does not notice that the parent is gone. Longer than any parent waits. */
function guarded<A, T>(evaluate: (ask: A) => T): (ask: A) => T {
  return (ask) => {
    world.answerNow = () => evaluate(ask);
    return work.runInThisContext({ timeout: longestMs }) as T;
  };
}

/** Libraries read the zone of the process. */
function inZone<T>(zone: string, evaluate: () => T): T {
  if (process.env['TZ'] !== zone) process.env['TZ'] = zone;
  return evaluate();
}

async function serve<K extends Kind>({ kind, ask }: ToChild<K>): Promise<void> {
  const evaluate = await kinds[kind]();
  if (ask === undefined) return tell({ cpuMs: 0 });
  const began = process.cpuUsage();
  const answer = evaluate(ask);
  const { user, system } = process.cpuUsage(began);
  tell({ answer, cpuMs: (user + system) / 1000 });
}

function tell(message: FromChild): void {
  process.send?.(message);
}

process.on('disconnect', () => process.exit(0));
process.on('message', (message: ToChild) => void serve(message));
