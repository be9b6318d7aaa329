import type { AnswerOf } from '../client.ts';
import { CliFault } from '../faults.ts';
import { facts, sentence, type Column } from '../layout.ts';
import { chosenTask, taskNamed, taskNames, wholeId, chosenPerson, threadNamed } from '../naming.ts';
import { given } from '../options.ts';
import { verb, type Flag, type Session, type Told } from '../session.ts';
import { counted, hostZone, timesIn } from '../times.ts';
import { named } from '../views/task.ts';
import { readGrantEnd } from './definition.ts';
import { listTold, pageFlags, pageOf } from './looking.ts';

type Grant = AnswerOf<'listGrants'>['grants'][number];
type State = 'active' | 'revoked' | 'expired';

const givenFlags = [
  { flags: '--expires <when>', about: 'from then on its slots are skipped; never for no end' },
] as const satisfies readonly Flag[];

export const grantVerbs = [
  verb({
    usage: 'list',
    summary: 'list the rights under which tasks run',
    about: 'Those of all threads; of one with --thread-key.',
    examples: ['cronogram grant list --task 3'],
    flags: [
      { flags: '--task <task>', about: 'of one task' },
      { flags: '--owner <person>', about: 'of one owner: a name, a number, or a key such as system:api' },
      { flags: '--account <thread>', about: 'those that spend the budget of this chat' },
      { flags: '--state <state>', about: 'how they stand', choices: ['active', 'revoked', 'expired'] },
      ...pageFlags,
    ],
    does: async (session, _args, { task, owner, account, state, ...page }) => {
      const chosen = {
        budget_account: account === undefined ? undefined : await threadNamed(session.client, account),
        task_id: await chosenTask(session, task),
        thread_key: session.namedThread,
      };
      const query = { ...chosen, owner: await chosenPerson(session.client, owner), state, ...pageOf(page) };
      const answer = await session.client.call('listGrants', { query });
      const times = timesIn(hostZone(), session.clock.now());
      const ids = answer.grants.flatMap((one) => one.task_ids);
      const nameOf = await taskNames(session, ids);
      const columns: readonly Column<Grant>[] = [
        { title: 'TASK', least: 12, of: (one) => one.task_ids.map(nameOf).join(', ') },
        { title: 'STATE', of: (one) => stateOf(one, session.clock.now()) },
        { title: 'OWNER', least: 8, of: (one) => one.owner_user_key },
        { title: times.titled('ENDS'), least: 8, of: ({ expires_at: at }) => (at === null ? 'never' : times.at(at)) },
        { title: 'GRANT', isExtra: true, of: (one) => one.grant_id },
        { title: 'SCOPES', isExtra: true, of: (one) => one.scopes.join(' ') },
      ];
      return listTold(session, { json: answer, none: 'No grants.', rows: answer.grants, columns });
    },
  }),
  verb({
    usage: 'renew <task>',
    summary: 'give a task a fresh grant in place of its own',
    about: 'A task that waited for its owner resumes. If the owner is gone, the person who approved the chat owns it.',
    examples: ['cronogram grant renew 3 --expires "2027-12-31 00:00"'],
    flags: [
      ...givenFlags,
      {
        flags: '--scope <scope>',
        about: 'these alone, such as action:message; may be given several times',
        isList: true,
      },
    ],
    does: (session, [name = ''], { scope, ...options }) => give(session, name, options, async () => scope?.slice()),
  }),
  verb({
    usage: 'give <task> <scope...>',
    summary: 'let a task do more: a fresh grant with what it has and these scopes',
    about:
      'A scope is exact, ends in * or names all hosts below a domain: host:api.example.com, host:*.example.com, secret:NAME, secret:CUSTOMER_*.',
    examples: ['cronogram grant give 3 "secret:CUSTOMER_*"', 'cronogram grant give 3 "host:*.example.com"'],
    flags: givenFlags,
    does: (session, [name = '', ...more], options) =>
      give(session, name, options, async (task) => {
        const query = { task_id: task.task_id };
        const [before] = (await session.client.call('listGrants', { query })).grants;
        return [...new Set([...(before?.scopes ?? []), ...more.flatMap((one) => one.split(/\s+/))])];
      }),
  }),
  verb({
    usage: 'revoke <task_or_grant>',
    summary: 'revoke a grant for good: the slots of its task are skipped',
    about: 'A grant is named by its whole id, or by its task.',
    examples: ['cronogram grant revoke 3', 'cronogram grant revoke 01989d4c-6c00-7000-8000-000000000000'],
    does: async (session, [name = '']) => {
      const isId = wholeId.test(name) || !/\w/.test(name);
      const whole = isId ? await revoked(session, name) : null;
      const id = whole === null ? await grantOf(session, name) : name;
      const answer = whole ?? (await session.client.call('revokeGrant', { params: { grant_id: id } }));
      const words = answer.entry_id === null ? 'was revoked already' : 'is revoked';
      return { json: answer, text: await sentence(session.terminal, `Grant ${id} ${words}.`) };
    },
  }),
];

interface Ending {
  readonly expires?: string;
}

async function give(
  session: Session,
  name: string,
  { expires }: Ending,
  scopesOf: (task: Awaited<ReturnType<typeof taskNamed>>) => Promise<string[] | undefined>,
): Promise<Told> {
  const task = await taskNamed(session, name);
  const ends = await readGrantEnd(session, given({ grantExpires: expires }), task.schedule.timezone);
  const body = { task_id: task.task_id, scopes: await scopesOf(task), ...given({ expires_at: ends }) };
  const answer = await session.client.call('createGrant', { body });
  return { json: answer, text: await grantText(session, answer.grant) };
}

/** Null where the id is none of a grant: then it may be that of a task. */
async function revoked(session: Session, id: string): Promise<AnswerOf<'revokeGrant'> | null> {
  try {
    return await session.client.call('revokeGrant', { params: { grant_id: id } });
  } catch (error) {
    if (error instanceof CliFault && error.exitCode === 3 && wholeId.test(id)) return null;
    throw error;
  }
}

/** The right under which a task runs now. */
async function grantOf(session: Session, name: string): Promise<string> {
  const task = await taskNamed(session, name);
  const { grants } = await session.client.call('listGrants', { query: { task_id: task.task_id, state: 'active' } });
  const [grant] = grants;
  if (grant === undefined) throw new CliFault('not_found', `${named(task)} has no grant that could be revoked.`);
  return grant.grant_id;
}

function stateOf({ revoked_at: revoked, expires_at: expires }: Grant, now: number): State {
  if (revoked !== null) return 'revoked';
  return expires !== null && Date.parse(expires) <= now ? 'expired' : 'active';
}

function grantText({ terminal, clock }: Session, grant: Grant): Promise<string> {
  const times = timesIn(hostZone(), clock.now());
  return facts(terminal, [
    ['grant', grant.grant_id],
    ['state', stateOf(grant, clock.now())],
    ['tasks', grant.task_ids.join('\n')],
    ['owner', grant.owner_user_key],
    ['thread', grant.thread_key],
    ['scopes', grant.scopes.join(', ')],
    ['ends', grant.expires_at === null ? 'never' : times.full(grant.expires_at)],
  ]);
}

/* ---- who is let in ---- */

type Entry = AnswerOf<'listAccess'>['access'][number];

export const accessVerbs = [
  verb({
    usage: 'list',
    summary: 'list who is let in: owners of the bot, people, groups',
    examples: ['cronogram access list'],
    flags: pageFlags,
    does: async (session, _args, page) => {
      const answer = await session.client.call('listAccess', { query: pageOf(page) });
      const times = timesIn(hostZone(), session.clock.now());
      const columns: readonly Column<Entry>[] = [
        { title: 'ID', isWhole: true, of: (one) => one.id },
        { title: 'WHO', least: 8, of: (one) => one.who },
        { title: 'ROLE', of: (one) => one.role },
        { title: 'BY', least: 8, of: (one) => one.by },
        { title: times.titled('SINCE'), least: 8, of: ({ since }) => (since === null ? null : times.about(since)) },
      ];
      return listTold(session, { json: answer, none: 'Nobody is let in.', rows: answer.access, columns });
    },
  }),
  verb({
    usage: 'allow <user_or_chat>',
    summary: 'let a person or a group in',
    about:
      'By their number, as Telegram and the answer to strangers tell it; that of a group is negative. Those that are known also by their name.',
    examples: ['cronogram access allow 1001 --owner', 'cronogram access allow "The Lab"'],
    flags: [{ flags: '--owner', about: 'as an owner of the bot, who may do everything' }],
    does: async (session, [name = ''], { owner }) => {
      const id = await threadNamed(session.client, name);
      const body = owner === true ? { role: 'owner' as const } : {};
      const answer = await session.client.call('allowAccess', { params: { id }, body });
      const words = answer.entry_id === null ? 'was let in already' : 'is let in';
      return { json: answer, text: await sentence(session.terminal, `${calledIn(answer.access)} ${words}.`) };
    },
  }),
  verb({
    usage: 'deny <user_or_chat>',
    summary: 'deny a person or a group, until somebody approves them again',
    about: 'Their next message is refused, and their tasks stop at the next slot; the tasks of that chat are paused.',
    examples: ['cronogram access deny 1001', 'cronogram access deny ben'],
    does: async (session, [name = '']) => {
      const id = await threadNamed(session.client, name);
      const answer = await session.client.call('denyAccess', { params: { id } });
      const words = answer.entry_id === null ? 'was shut out already' : 'is shut out';
      const paused = answer.paused === 0 ? '' : ` ${counted(answer.paused, 'task')} there paused.`;
      return { json: answer, text: await sentence(session.terminal, `${name} ${words}.${paused}`) };
    },
  }),
];

function calledIn({ id, who, role }: Entry): string {
  return who === null ? `${id} (${role})` : `${who} (${id}, ${role})`;
}
