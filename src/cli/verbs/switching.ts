import type { Command } from 'commander';
import { usage } from '../faults.ts';
import { sentence } from '../layout.ts';
import { taskIdOf, taskNamed } from '../naming.ts';
import { given } from '../options.ts';
import type { Session, AddVerb, Flag, Told } from '../session.ts';
import { counted } from '../times.ts';
import { changedTold } from './doing.ts';
import { hostZone, dayOrInstantOf } from './moments.ts';

/** Verbs on one task, or on all of a tag or a subject. */

interface BulkOptions {
  readonly tag?: string;
  readonly subject?: string;
  readonly dryRun?: true;
  readonly until?: string;
}

const bulkFlags: readonly Flag[] = [
  { flags: '--tag <tag>', about: 'all tasks with this tag, instead of one' },
  { flags: '--subject <subject>', about: 'all tasks with this subject, instead of one' },
  { flags: '--dry-run', about: 'with --tag or --subject: only count' },
];
export const untilFlag: Flag = {
  flags: '--until <when>',
  about: 'when the pause ends by itself: 2h, "monday 9:00", an instant',
};

export function addBulkVerbs(task: Command, add: AddVerb): void {
  add<BulkOptions>(task, {
    usage: 'pause [task]',
    summary: 'pause a task, or all of a tag or a subject',
    examples: ['cronogram task pause 3 --until "monday 9:00"', 'cronogram task pause --tag team'],
    flags: [untilFlag, ...bulkFlags],
    does: pause,
  });
  add<BulkOptions>(task, {
    usage: 'resume [task]',
    summary: 'let a paused task go on, or all of a tag or a subject',
    examples: ['cronogram task resume 3', 'cronogram task resume --tag team'],
    flags: bulkFlags,
    does: async (session, [name], options) => {
      const chosen = chosenBy(name, options);
      if (chosen === null) {
        const params = { task_id: await taskIdOf(session, name ?? '') };
        return changedTold(session, await session.client.call('resumeTask', { params }), 'Resumed');
      }
      const answer = await session.client.call('resumeTasks', { body: bodyOf(session, chosen), query: dryOf(options) });
      return bulkTold(session, answer, options.dryRun === true ? 'would be resumed' : 'resumed');
    },
  });
  add<BulkOptions>(task, {
    usage: 'cancel [task]',
    summary: 'call off what a task runs now, or all of a tag or a subject',
    examples: ['cronogram task cancel 3', 'cronogram task cancel --subject backup'],
    flags: bulkFlags,
    does: async (session, [name], options) => {
      const chosen = chosenBy(name, options);
      if (chosen === null) {
        const params = { task_id: await taskIdOf(session, name ?? '') };
        const answer = await session.client.call('cancelTask', { params });
        return changedTold(session, answer, { did: 'Called off what ran of', idle: 'Nothing is running of' });
      }
      const answer = await session.client.call('cancelTasks', { body: bodyOf(session, chosen), query: dryOf(options) });
      return bulkTold(session, answer, options.dryRun === true ? 'would be called off' : 'called off');
    },
  });
}

async function pause(session: Session, [name]: readonly string[], options: BulkOptions): Promise<Told> {
  const chosen = chosenBy(name, options);
  if (chosen === null) {
    const found = await taskNamed(session, name ?? '');
    const until = await untilOf(session, options, found.schedule.timezone);
    const answer = await session.client.call('pauseTask', { params: { task_id: found.task_id }, body: until });
    return changedTold(session, answer, 'Paused');
  }
  const body = { ...bodyOf(session, chosen), ...(await untilOf(session, options, hostZone())) };
  const answer = await session.client.call('pauseTasks', { body, query: dryOf(options) });
  return bulkTold(session, answer, options.dryRun === true ? 'would be paused' : 'paused');
}

export async function untilOf(session: Session, { until }: { readonly until?: string }, timezone: string) {
  return until === undefined ? {} : { until: await dayOrInstantOf(session, until, { timezone, hour: '0:00' }) };
}

interface Chosen {
  readonly tag?: string;
  readonly subject?: string;
}

/** Null for one task. */
function chosenBy(name: string | undefined, { tag, subject, dryRun }: BulkOptions): Chosen | null {
  const chosen = given({ tag, subject });
  const isBulk = Object.keys(chosen).length > 0;
  if (isBulk && name !== undefined) throw usage('Name either one task, or all of a --tag or a --subject, not both.');
  if (!isBulk && name === undefined) {
    throw usage("Name a task by its id or its number (3, or '#3' in quotes), or all of a --tag or a --subject.");
  }
  if (!isBulk && dryRun === true) throw usage('--dry-run goes with --tag or --subject.');
  return isBulk ? chosen : null;
}

function bodyOf({ namedThread }: Session, chosen: Chosen) {
  return { ...chosen, ...given({ thread_key: namedThread ?? undefined }) };
}

function dryOf({ dryRun }: BulkOptions) {
  return given({ dry_run: dryRun === true ? ('true' as const) : undefined });
}

export async function bulkTold(
  { terminal }: Session,
  answer: { readonly changed: number; readonly left: number },
  done: string,
): Promise<Told> {
  const left =
    answer.left === 0 ? '' : ` ${counted(answer.left, 'other')} left as ${answer.left === 1 ? 'it is' : 'they are'}.`;
  return { json: answer, text: await sentence(terminal, `${counted(answer.changed, 'task')} ${done}.${left}`) };
}
