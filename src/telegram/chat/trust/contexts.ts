import type { ContextWish } from '../../../app/tasks/context.ts';
import { jsonBytes, type Task } from '../../../domain/task.ts';
import { answer, Refused, triedTo } from '../kit/answers.ts';
import { taskName } from '../kit/card.ts';
import { onNamedTask, targetOf } from '../kit/guards.ts';
import type { Rich } from '../kit/rich.ts';
import { demand } from '../kit/rights.ts';
import { texts } from '../texts.ts';

/** What the runs of a task know, for people to look at, to mend and to empty. */

const order = /^(?:(reset|clear|empty)|(set|remove)\s+(\S+)(?:\s*=)?\s*([\s\S]*))$/i;

export const contextCommand = onNamedTask(
  { deed: 'read', verb: 'context', takes: (words) => (order.test(words) ? 'yes' : 'no') },
  async (ctx, { task, rest }) => {
    const said = rest.trim();
    const wish = said === '' ? null : wishIn(said);
    if (wish === null) return answer(said === '' ? shown(task) : texts.context.how(task.number));
    await demand(ctx, 'change', task);
    const tried = await triedTo(() => ctx.tasks.context(targetOf(ctx, task), wish));
    if ('refusal' in tried) throw new Refused(tried.refusal.message);
    const { entryId, task: changed } = tried.made;
    if (entryId === null) return answer(texts.context.same(taskName(task)));
    // Nothing takes it back, so what was there is shown once more.
    return answer(wish.is === 'reset' ? texts.context.emptied(taskName(task), textOf(task)) : shown(changed));
  },
);

function wishIn(words: string): ContextWish | null {
  const [, reset, verb, name = '', value = ''] = order.exec(words) ?? [];
  if (reset !== undefined) return { is: 'reset' };
  if (verb === undefined || name === '') return null;
  if (verb.toLowerCase() === 'remove') return { is: 'merged', fields: { [name]: null } };
  return value === '' ? null : { is: 'merged', fields: { [name]: valueIn(value) } };
}

/** Numbers, true, lists and objects are meant as JSON; everything else is a text. */
function valueIn(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function textOf({ context }: Pick<Task, 'context'>): string {
  return JSON.stringify(context, null, 2);
}

function shown(task: Task): Rich {
  const isEmpty = Object.keys(task.context).length === 0;
  if (isEmpty) return texts.context.none(taskName(task), task.number);
  return texts.context.shown(taskName(task), {
    text: textOf(task),
    bytes: jsonBytes(task.context),
    number: task.number,
  });
}
