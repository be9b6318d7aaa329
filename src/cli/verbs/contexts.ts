import { usage } from '../faults.ts';
import { sentence } from '../layout.ts';
import { taskNamed } from '../naming.ts';
import { verb, type Session } from '../session.ts';
import { named } from '../views/task.ts';

/** What the runs of a task know and hand on to each other. */
export const contextVerbs = [
  verb({
    usage: 'show <task>',
    summary: 'show what the runs of a task know',
    examples: ['cronogram context show 3'],
    does: async (session, [name = '']) => {
      const { task_id } = await taskNamed(session, name);
      const answer = await session.client.call('getContext', { params: { task_id } });
      return { json: answer, text: `${JSON.stringify(answer.context, null, 2)}\n` };
    },
  }),
  verb({
    usage: 'set <task> <field> <value...>',
    summary: 'set one field; a value that is JSON is taken as that, anything else as a text',
    about: 'null takes the field away. A run that is under way keeps the context that it was given.',
    examples: ['cronogram context set 3 count 0', 'cronogram context set 3 city Oslo'],
    does: async (session, [name = '', field = '', ...words]) => {
      const text = words.join(' ');
      if (text === '') throw usage('Name the value too, such as: cronogram context set 3 count 0');
      return changed(session, name, { context: { [field]: valueIn(text) } });
    },
  }),
  verb({
    usage: 'reset <task>',
    summary: 'empty the context of a task',
    about: 'Nothing takes that back: show it first.',
    examples: ['cronogram context reset 3'],
    does: (session, [name = '']) => changed(session, name, null),
  }),
];

async function changed(session: Session, name: string, body: { context: Record<string, unknown> } | null) {
  const task = await taskNamed(session, name);
  const params = { task_id: task.task_id };
  const answer =
    body === null
      ? await session.client.call('resetContext', { params })
      : await session.client.call('changeContext', { params, body });
  const is = Object.keys(answer.context).length === 0 ? 'an empty context' : `${answer.bytes} bytes of context`;
  const words = answer.entry_id === null ? 'was like that already' : `has ${is} now`;
  return { json: answer, text: await sentence(session.terminal, `${named(task)} ${words}.`) };
}

function valueIn(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
