import { isBounded } from '../../invariants/account.ts';
import { textOf } from '../../invariants/deliveries.ts';
import { groupBy, tell, type Breach, type Row } from '../../invariants/rows.ts';
import type { Turn } from '../journal.ts';
import type { Lived } from '../world.ts';

/** What was done agrees with what was asked for, step by step. */
export function proveDeeds(account: Lived): Breach[] {
  return [nothingUnasked, nothingWhileOff, deletionStops, textsAreMeant].flatMap((prove) => prove(account));
}

function nothingUnasked({ rows, world }: Lived): Breach[] {
  const { asked } = world.journal.promised;
  const byHand = groupBy(
    rows.occurrences.filter(({ source }) => source === 'run_now'),
    ({ task_id }) => task_id,
  );
  const tooMany = [...byHand].filter(([taskId, made]) => made.length > (asked.get(taskId) ?? 0));
  return tell(
    'more was run by hand than was asked for',
    tooMany.map(([taskId, made]) => ({ taskId, made: made.length, asked: asked.get(taskId) })),
  );
}

/** While a task is paused its slots do not run, and once it is deleted nothing of it does. */
function nothingWhileOff(account: Lived): Breach[] {
  const wrong: unknown[] = [];
  for (const [taskId, turns] of account.world.journal.turns) {
    for (const [index, turn] of turns.entries()) {
      if (turn.state !== 'deleted' && turn.state !== 'paused') continue;
      const end = turns[index + 1];
      // The beginning of a schedule may be moved along with the clock right before.
      const over = turns.slice(index + 1).find(({ state }) => state !== turn.state);
      const during = (account.runsOf.get(taskId) ?? []).filter(
        (run) => run.id > turn.mark && run.id <= (end?.mark ?? '~') && !belongsTo(over, run),
      );
      wrong.push(...during.filter((run) => turn.state === 'deleted' || isBounded(run, account)));
    }
  }
  return tell('something ran while its task was off', wrong);
}

/** A deletion asks what runs to stop; what has not heard of it ran on in vain. */
function deletionStops({ world, runsOf }: Lived): Breach[] {
  // With a clock that went back nobody can say what ended before the deletion.
  if (world.journal.setBack) return [];
  const wrong: unknown[] = [];
  for (const [taskId, turns] of world.journal.turns) {
    for (const { state, at, mark } of turns.filter((turn) => turn.state === 'deleted')) {
      const after = (runsOf.get(taskId) ?? []).filter((run) => run.id <= mark && (run.finished_at ?? 0) > at);
      const unasked = after.filter((run) => run.cancel_requested_at === null && run.status !== 'cancelled');
      wrong.push(...unasked.map((run) => ({ state, at, run })));
    }
  }
  return tell('a run went on after its task was deleted', wrong);
}

/** A pause that ends by itself is seen together with the slots that run at once. */
function belongsTo(end: Turn | undefined, run: Row<'runs'>): boolean {
  return end?.actor === 'system' && end.verb === 'resume' && run.created_at >= end.at;
}

/** A run says what its task was to say when it was admitted, and brings nothing else. */
function textsAreMeant({ rows, world }: Lived): Breach[] {
  const squeezed = (text: string) => text.replaceAll(/\s+/g, '');
  const ofTasks = rows.runs.filter(({ task_id }) => task_id !== null);
  const wrong = ofTasks.filter(({ task_id: taskId, instructions, output, status }) => {
    if (world.journal.texts.get(taskId ?? '')?.has(instructions) !== true) return true;
    if (status !== 'succeeded') return false;
    const [said, meant] = [squeezed(textOf({ content: output ?? '{}' })), squeezed(instructions)];
    return said !== meant && !said.startsWith(`${meant}Late:`);
  });
  return tell('a run says what its task was never to say', wrong);
}
