import type { AnswerOf } from '../client.ts';
import { usage } from '../faults.ts';
import { sentence, type Column } from '../layout.ts';
import { paramsOf, taskNamed, type Task, personNamed, threadNamed, zoneOf } from '../naming.ts';
import { verb, confirmed, yesFlag, type Flag, type Options, type Session, type Told } from '../session.ts';
import { counted } from '../times.ts';
import { changedTold } from './doing.ts';
import { listTold, pageFlags, pageOf } from './looking.ts';
import { dayOrInstantOf } from './moments.ts';

/* ---- verbs on one task, or on all of a tag or a subject ---- */

const bulkFlags = [
  { flags: '--tag <tag>', about: 'all tasks with this tag, instead of one' },
  { flags: '--subject <subject>', about: 'all tasks with this subject, instead of one' },
  { flags: '--dry-run', about: 'with --tag or --subject: only count' },
] as const satisfies readonly Flag[];
const untilFlag = {
  flags: '--until <when>',
  about: 'when the pause ends by itself: 2h, "monday 9:00", an instant',
} as const satisfies Flag;

type Schedule = Task['schedule'];
type BulkOptions = Options<typeof bulkFlags>;

/** The end of a pause, read in the zone of the task, else in that of the thread. */
async function untilOf(
  session: Session,
  { until }: { readonly until?: string },
  of: Pick<Schedule, 'timezone'> | string,
) {
  if (until === undefined) return {};
  const { timezone } = typeof of === 'string' ? await zoneOf(session.client, of) : of;
  return { until: await dayOrInstantOf(session, until, { timezone, hour: '0:00' }) };
}

/** The request for all of a tag or a subject; null for one task. */
function chosenBy(session: Session, name: string | undefined, { tag, subject, dryRun }: BulkOptions) {
  const isBulk = tag !== undefined || subject !== undefined;
  if (isBulk && name !== undefined) throw usage('Name either one task, or all of a --tag or a --subject, not both.');
  if (!isBulk && name === undefined) {
    throw usage(
      "Name a task by its title, its id or its number (3, or '#3' in quotes), or all of a --tag or a --subject.",
    );
  }
  if (!isBulk && dryRun === true) throw usage('--dry-run goes with --tag or --subject.');
  if (!isBulk) return null;
  const query = { dry_run: dryRun === true ? ('true' as const) : undefined };
  return { body: { tag, subject, thread_key: session.namedThread }, query };
}

async function bulkTold(
  { terminal }: Session,
  answer: { readonly changed: number; readonly left: number },
  done: string,
): Promise<Told> {
  const left =
    answer.left === 0 ? '' : ` ${counted(answer.left, 'other')} left as ${answer.left === 1 ? 'it is' : 'they are'}.`;
  return { json: answer, text: await sentence(terminal, `${counted(answer.changed, 'task')} ${done}.${left}`) };
}

export const bulkVerbs = [
  verb({
    usage: 'pause [task]',
    summary: 'pause a task, or all of a tag or a subject',
    examples: ['cronogram task pause 3 --until "monday 9:00"', 'cronogram task pause --tag team'],
    flags: [untilFlag, ...bulkFlags],
    does: async (session, [name], options) => {
      const chosen = chosenBy(session, name, options);
      if (chosen === null) {
        const { task_id: id, schedule } = await taskNamed(session, name ?? '');
        const body = await untilOf(session, options, schedule);
        return changedTold(
          session,
          await session.client.call('pauseTask', { params: { task_id: id }, body }),
          'Paused',
        );
      }
      const body = { ...chosen.body, ...(await untilOf(session, options, session.threadKey)) };
      const answer = await session.client.call('pauseTasks', { ...chosen, body });
      return bulkTold(session, answer, options.dryRun === true ? 'would be paused' : 'paused');
    },
  }),
  verb({
    usage: 'resume [task]',
    summary: 'resume a paused task, or all of a tag or a subject',
    examples: ['cronogram task resume 3', 'cronogram task resume --tag team'],
    flags: bulkFlags,
    does: async (session, [name], options) => {
      const chosen = chosenBy(session, name, options);
      if (chosen === null) {
        const params = await paramsOf(session, name ?? '');
        return changedTold(session, await session.client.call('resumeTask', { params }), 'Resumed');
      }
      const answer = await session.client.call('resumeTasks', chosen);
      return bulkTold(session, answer, options.dryRun === true ? 'would be resumed' : 'resumed');
    },
  }),
  verb({
    usage: 'cancel [task]',
    summary: 'call off what a task runs now, or all of a tag or a subject',
    examples: ['cronogram task cancel 3', 'cronogram task cancel --subject backup'],
    flags: bulkFlags,
    does: async (session, [name], options) => {
      const chosen = chosenBy(session, name, options);
      if (chosen === null) {
        const params = await paramsOf(session, name ?? '');
        const answer = await session.client.call('cancelTask', { params });
        return changedTold(session, answer, { did: 'Called off what ran of', idle: 'Nothing is running of' });
      }
      const answer = await session.client.call('cancelTasks', chosen);
      return bulkTold(session, answer, options.dryRun === true ? 'would be called off' : 'called off');
    },
  }),
];

/* ---- verbs on threads, and on all tasks of a person ---- */

/** The thread of the flag or the variable where none is written. */
async function threadOf({ client, threadKey }: Session, key: string | undefined) {
  return { thread_key: key === undefined ? threadKey : await threadNamed(client, key) };
}

interface Purging {
  /** How those are called whose tasks go. */
  readonly whose: string;
  readonly ask: (query: { readonly dry_run?: 'true' }) => Promise<AnswerOf<'purgeThread'>>;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

const purgeFlags = [
  { flags: '--dry-run', about: 'only count what would go' },
  yesFlag,
] as const satisfies readonly Flag[];

async function purge(session: Session, { whose, ask, dryRun = false, yes = false }: Purging): Promise<Told> {
  const counted = await ask({ dry_run: 'true' });
  const words = countWords(counted, whose);
  if (dryRun || counted.counts.tasks === 0)
    return { json: counted, text: await sentence(session.terminal, `${words}.`) };
  await confirmed(session, { question: `${words}. Delete them?`, yes });
  const answer = await ask({});
  return { json: answer, text: await sentence(session.terminal, `Deleted: ${countWords(answer, whose)}.`) };
}

function countWords({ counts }: AnswerOf<'purgeThread'>, whose: string): string {
  if (counts.tasks === 0) return `${whose} has no tasks`;
  const work = [
    counts.live_runs === 0 ? [] : [counted(counts.live_runs, 'run under way', 'runs under way')],
    counts.open_deliveries === 0 ? [] : [counted(counts.open_deliveries, 'delivery waiting', 'deliveries waiting')],
  ].flat();
  const states = `${counts.active} active, ${counts.paused} paused, ${counts.completed} completed`;
  return [`${counted(counts.tasks, 'task')} of ${whose} (${states})`, ...work].join(', ');
}

export const personVerbs = [
  verb({
    usage: 'purge <person>',
    summary: 'delete all tasks of a person, after counting them',
    about: 'A person is named by their name, their number or their key. In all chats; in one with --thread-key.',
    examples: ['cronogram task purge ben --dry-run', 'cronogram task purge telegram:user:1001 --yes'],
    flags: purgeFlags,
    does: async (session, [name = ''], options) => {
      const thread = session.namedThread;
      const actor = await personNamed(session.client, name);
      const ask: Purging['ask'] = (query) =>
        session.client.call('purgePerson', { params: { actor }, query: { ...query, thread_key: thread } });
      return purge(session, { whose: thread === undefined ? actor : `${actor} in ${thread}`, ask, ...options });
    },
  }),
];

type Thread = AnswerOf<'listThreads'>['threads'][number];

const threadColumns: readonly Column<Thread>[] = [
  { title: 'THREAD', isWhole: true, of: (one) => one.thread_key },
  { title: 'TITLE', least: 12, of: (one) => one.title },
  { title: 'STATE', of: (one) => one.state },
  { title: 'ZONE', least: 8, of: (one) => one.timezone },
];

export const threadVerbs = [
  verb({
    usage: 'list',
    summary: 'list the chats that are known, newest first',
    about: 'Those that are new are not let in; those that are gone can be reached no more.',
    examples: ['cronogram thread list'],
    flags: pageFlags,
    does: async (session, _args, page) => {
      const query = { thread_key: session.namedThread, ...pageOf(page) };
      const answer = await session.client.call('listThreads', { query });
      return listTold(session, { json: answer, none: 'No chats.', rows: answer.threads, columns: threadColumns });
    },
  }),
  verb({
    usage: 'pause [thread]',
    summary: 'pause all tasks of a thread',
    examples: ['cronogram thread pause "The Lab" --until "monday 9:00"'],
    flags: [untilFlag],
    does: async (session, [key], options) => {
      const params = await threadOf(session, key);
      const body = await untilOf(session, options, params.thread_key);
      const answer = await session.client.call('pauseThread', { params, body });
      return bulkTold(session, answer, 'paused');
    },
  }),
  verb({
    usage: 'resume [thread]',
    summary: 'resume all tasks of a thread that somebody paused',
    examples: ['cronogram thread resume telegram:chat:-1001234'],
    does: async (session, [key]) => {
      const answer = await session.client.call('resumeThread', { params: await threadOf(session, key) });
      return bulkTold(session, answer, 'resumed');
    },
  }),
  verb({
    usage: 'cancel [thread]',
    summary: 'call off everything that a thread has under way',
    examples: ['cronogram thread cancel telegram:chat:-1001234'],
    does: async (session, [key]) => {
      const answer = await session.client.call('cancelThread', { params: await threadOf(session, key) });
      const left = answer.left === 0 ? '' : ` ${counted(answer.left, 'run')} had ended already.`;
      return {
        json: answer,
        text: await sentence(session.terminal, `Called off ${counted(answer.runs, 'run')}.${left}`),
      };
    },
  }),
  verb({
    usage: 'purge [thread]',
    summary: 'delete all tasks of a thread, after counting them',
    examples: ['cronogram thread purge cli:default --dry-run', 'cronogram thread purge cli:default --yes'],
    flags: purgeFlags,
    does: async (session, [key], options) => {
      if (key === undefined && session.namedThread === undefined)
        throw usage('Name the thread that is to lose its tasks:\n  cronogram thread purge cli:default');
      const params = await threadOf(session, key);
      return purge(session, {
        whose: params.thread_key,
        ask: (query) => session.client.call('purgeThread', { params, query }),
        ...options,
      });
    },
  }),
];
