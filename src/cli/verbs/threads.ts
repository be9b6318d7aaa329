import type { AnswerOf } from '../client.ts';
import { usage } from '../faults.ts';
import { sentence } from '../layout.ts';
import { confirmed, verb, yesFlag, type Session, type Told } from '../session.ts';
import { counted } from '../times.ts';
import { hostZone } from './moments.ts';
import { bulkTold, untilFlag, untilOf } from './switching.ts';

/** The thread of the flag or the variable where none is written. */
function paramsOf({ threadKey }: Session, key: string | undefined) {
  return { thread_key: key ?? threadKey };
}

async function purge(session: Session, thread: string | undefined, isDry: boolean, yes: boolean): Promise<Told> {
  if (thread === undefined)
    throw usage('Name the thread that is to lose its tasks:\n  cronogram thread purge cli:default');
  const params = { thread_key: thread };
  const counted = await session.client.call('purgeThread', { params, query: { dry_run: 'true' } });
  const words = countWords(counted, thread);
  if (isDry || counted.counts.tasks === 0)
    return { json: counted, text: await sentence(session.terminal, `${words}.`) };
  await confirmed(session, { question: `${words}. Delete them?`, yes });
  const answer = await session.client.call('purgeThread', { params });
  return { json: answer, text: await sentence(session.terminal, `Deleted: ${countWords(answer, thread)}.`) };
}

function countWords({ counts }: AnswerOf<'purgeThread'>, thread: string): string {
  if (counts.tasks === 0) return `${thread} has no tasks`;
  const work = [
    counts.live_runs === 0 ? [] : [counted(counts.live_runs, 'run under way', 'runs under way')],
    counts.open_deliveries === 0 ? [] : [counted(counts.open_deliveries, 'delivery waiting', 'deliveries waiting')],
  ].flat();
  const states = `${counts.active} active, ${counts.paused} paused, ${counts.completed} completed`;
  return [`${counted(counts.tasks, 'task')} of ${thread} (${states})`, ...work].join(', ');
}

export const threadVerbs = [
  verb({
    usage: 'pause [thread_key]',
    summary: 'pause all tasks of a thread',
    examples: ['cronogram thread pause telegram:chat:-1001234 --until "monday 9:00"'],
    flags: [untilFlag],
    does: async (session, [key], options) => {
      const body = await untilOf(session, options, hostZone());
      const answer = await session.client.call('pauseThread', { params: paramsOf(session, key), body });
      return bulkTold(session, answer, 'paused');
    },
  }),
  verb({
    usage: 'resume [thread_key]',
    summary: 'let all tasks of a thread go on that somebody paused',
    examples: ['cronogram thread resume telegram:chat:-1001234'],
    does: async (session, [key]) => {
      const answer = await session.client.call('resumeThread', { params: paramsOf(session, key) });
      return bulkTold(session, answer, 'resumed');
    },
  }),
  verb({
    usage: 'cancel [thread_key]',
    summary: 'call off everything that a thread has under way',
    examples: ['cronogram thread cancel telegram:chat:-1001234'],
    does: async (session, [key]) => {
      const answer = await session.client.call('cancelThread', { params: paramsOf(session, key) });
      const left = answer.left === 0 ? '' : ` ${counted(answer.left, 'run')} had ended already.`;
      return {
        json: answer,
        text: await sentence(session.terminal, `Called off ${counted(answer.cancelled, 'run')}.${left}`),
      };
    },
  }),
  verb({
    usage: 'purge [thread_key]',
    summary: 'delete all tasks of a thread, after counting them',
    examples: ['cronogram thread purge cli:default --dry-run', 'cronogram thread purge cli:default --yes'],
    flags: [{ flags: '--dry-run', about: 'only count what would go' }, yesFlag],
    does: (session, [key], { dryRun = false, yes = false }) => purge(session, key ?? session.namedThread, dryRun, yes),
  }),
];
