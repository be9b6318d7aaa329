import { durationText } from '../../domain/schedule/time/duration.ts';
import type { AnswerOf } from '../client.ts';
import { usage } from '../faults.ts';
import { facts, sentence } from '../layout.ts';
import { deletedToo, paramsOf, taskNamed, threadNamed } from '../naming.ts';
import { lengthOf } from '../options.ts';
import { verb, type Flag, type Options, type Session, type Told } from '../session.ts';
import { timesIn } from '../times.ts';
import { named, namedLast, stateFacts } from '../views/task.ts';
import { countFlag } from './looking.ts';
import { dayOrInstantOf } from './moments.ts';

const keyShape = /^[\u0021-\u007E]{1,200}$/;

export const keyFlag = {
  flags: '--idempotency-key <key>',
  about: 'the same key and request again have no second effect, for a day',
} as const satisfies Flag;

/** The verbs that do something to a task besides changing its definition. */
export const doingVerbs = [
  ...(['enable', 'disable'] as const).map((name) =>
    verb({
      usage: `${name} <task>`,
      summary:
        name === 'enable'
          ? 'let a task run by its schedule (the same as resume)'
          : 'keep a task from running by its schedule',
      examples: [`cronogram task ${name} 3`],
      does: async (session, [task = '']) => {
        const body = { enabled: name === 'enable' };
        const answer = await session.client.call('updateTask', { params: await paramsOf(session, task), body });
        return changedTold(session, answer, name === 'enable' ? 'Enabled' : 'Disabled');
      },
    }),
  ),
  verb({
    usage: 'skip <task>',
    summary: 'skip the next run of a task, or several',
    examples: ['cronogram task skip 3 --count 2'],
    flags: [countFlag, keyFlag],
    does: async (session, [name = ''], { count = 1, ...key }) => {
      const params = await paramsOf(session, name);
      const answer = await session.client.call('skipTask', { params, body: { count }, ...keyHeader(key) });
      return changedTold(
        session,
        answer,
        count === 1 ? 'Skipped the next run of' : `Skipped the next ${count} runs of`,
      );
    },
  }),
  verb({
    usage: 'unskip <task>',
    summary: 'take back what was skipped in advance',
    examples: ['cronogram task unskip 3'],
    does: async (session, [name = '']) => {
      const answer = await session.client.call('unskipTask', { params: await paramsOf(session, name) });
      return changedTold(session, answer, 'Took back the skipped runs of');
    },
  }),
  verb({
    usage: 'snooze <task> <when...>',
    summary: 'run a task once more later, beside its schedule',
    about:
      'When: how long from now, such as 10m, 2h or P1D, or when it is to be, such as "tomorrow 9:00" or an instant.',
    examples: ['cronogram task snooze 3 10m', 'cronogram task snooze 3 "monday 9:00"'],
    flags: [{ flags: '--result <task_run>', about: 'the result that is put off; the latest one otherwise' }, keyFlag],
    does: async (session, [name = '', when = ''], { result, ...key }) => {
      const found = await taskNamed(session, name);
      const ms = lengthOf(when);
      const body =
        ms === null
          ? { until: await dayOrInstantOf(session, when, { timezone: found.schedule.timezone, hour: '9:00' }) }
          : { for: durationText(ms) };
      const answer = await session.client.call('snoozeTask', {
        params: { task_id: found.task_id },
        body: { ...body, task_run_id: result },
        ...keyHeader(key),
      });
      const times = timesIn(found.schedule.timezone, session.clock.now());
      const instead = answer.moved_from === null ? '' : ` instead of ${times.about(answer.moved_from)}`;
      const words = `Snoozed ${named(answer.task)} until ${times.about(answer.until)}${instead}.`;
      return { json: answer, text: await sentence(session.terminal, words) };
    },
  }),
  verb({
    usage: 'undo <task>',
    summary: 'take back the latest change of a task, within a day',
    examples: ['cronogram task undo 3'],
    flags: [{ flags: '--entry <id>', about: 'another change, by its entry in the audit' }, keyFlag],
    does: async (session, [name = ''], { entry, ...key }) => {
      const params = await paramsOf(session, name, deletedToo);
      const answer = await session.client.call('undoTask', { params, body: { entry_id: entry }, ...keyHeader(key) });
      return changedTold(session, answer, `Took back "${answer.undone.verb}" of`);
    },
  }),
  verb({
    usage: 'restore <task>',
    summary: 'bring a deleted task back, within a day',
    examples: ['cronogram task list --state deleted', 'cronogram task restore 3'],
    does: async (session, [name = '']) => {
      const params = await paramsOf(session, name, deletedToo);
      const answer = await session.client.call('restoreTask', { params });
      return changedTold(session, answer, 'Restored');
    },
  }),
  verb({
    usage: 'answer <task>',
    summary: 'say whether missed slots run after all (policy missed=ask)',
    examples: ['cronogram task answer 3 --run latest'],
    flags: [{ flags: '--run <which>', about: 'which of the missed slots run', choices: ['latest', 'all', 'none'] }],
    does: async (session, [name = ''], { run }) => {
      if (run === undefined) throw usage('Say which slots run: --run latest, --run all or --run none.');
      const params = await paramsOf(session, name);
      const answer = await session.client.call('answerTask', { params, body: { answer: run } });
      return changedTold(session, answer, `Answered (${run}) for`);
    },
  }),
  verb({
    usage: 'attach <task> <thread>',
    summary: 'give a task a chat, where its results go to a topic of its own',
    examples: ['cronogram task attach 3 "The Lab"', 'cronogram task attach 3 telegram:chat:-1001234'],
    flags: [keyFlag],
    does: async (session, [name = '', thread = ''], key) => {
      const params = await paramsOf(session, name);
      const answer = await session.client.call('attachTask', {
        params,
        body: { thread_key: await threadNamed(session.client, thread) },
        ...keyHeader(key),
      });
      return changedTold(session, answer, `Attached to ${answer.task.creator_thread_key}:`);
    },
  }),
  verb({
    usage: 'delete <task>',
    summary: 'delete a task; for a day it can be restored',
    examples: ['cronogram task delete 3'],
    does: async (session, [name = '']) => {
      const found = await taskNamed(session, name);
      const answer = await session.client.call('deleteTask', { params: { task_id: found.task_id } });
      const text = await sentence(session.terminal, `Deleted ${namedLast(found)}`);
      return { json: answer, text, note: `To bring it back within a day:\n  cronogram task restore ${found.task_id}` };
    },
  }),
];

export const messageVerbs = [
  verb({
    usage: 'send [text...]',
    summary: 'put a text into the thread that --thread-key names',
    about: 'The text is shown as it stands. Without one, or with -, it is read from the input.',
    examples: [
      'cronogram message send "Backup done" --thread-key telegram:chat:-1001234',
      'df -h | cronogram message send --thread-key telegram:chat:-1001234',
    ],
    flags: [
      { flags: '--mode <mode>', about: 'how it is heard', choices: ['normal', 'silent', 'urgent'] },
      { flags: '--source <name>', about: 'what sends it, in lower case (default: cli)' },
      { flags: '--user <key>', about: 'for whom it is; kept with the run' },
      keyFlag,
    ],
    does: async (session, [typed], { mode, source = 'cli', user, ...key }) => {
      const isPiped = typed === undefined && !session.terminal.canAsk;
      const text = typed === '-' || isPiped ? (await session.terminal.read()).trimEnd() : typed;
      if (text === undefined || text === '')
        throw usage('Say what is to be sent: as the last word, or - to read it from the input.');
      const { threadKey } = session;
      const body = { thread_key: threadKey, text, source, user_key: user, sound: mode };
      const answer = await session.client.call('postMessage', { body, ...keyHeader(key) });
      const words = `Taken up for ${threadKey}: run ${answer.run_id} (${answer.state}).`;
      return {
        json: answer,
        text: await sentence(session.terminal, words),
        note: session.isOffline
          ? 'It is sent when the server is started.'
          : `Wait for it with:\n  cronogram run wait ${answer.run_id}`,
      };
    },
  }),
];

export function keyHeader({ idempotencyKey }: Options<readonly [typeof keyFlag]>) {
  if (idempotencyKey !== undefined && !keyShape.test(idempotencyKey)) {
    throw usage('--idempotency-key has 1 to 200 printable ASCII characters without spaces.');
  }
  return idempotencyKey === undefined ? {} : { headers: { 'idempotency-key': idempotencyKey } };
}

type Changed = AnswerOf<'pauseTask'>;

/** A deed that has words of its own for when there was nothing to do. */
interface Deed {
  readonly did: string;
  readonly idle: string;
}

/** The change of a task, and how it stands by that. */
export async function changedTold(session: Session, answer: Changed, deed: string | Deed): Promise<Told> {
  const { terminal, clock } = session;
  const isIdle = answer.entry_id === null;
  const words = typeof deed === 'string' ? deed : isIdle ? deed.idle : deed.did;
  const nothing = isIdle && typeof deed === 'string' ? ' It was like that already.' : '';
  const head = await sentence(terminal, `${words} ${namedLast(answer.task)}${nothing}`);
  return { json: answer, text: head + (await facts(terminal, stateFacts(answer.task, clock.now()))) };
}
