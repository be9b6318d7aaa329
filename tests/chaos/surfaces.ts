import type { MessageRequest } from '../../src/app/use-cases/messages.ts';
import type { ErrorCode } from '../../src/domain/errors.ts';
import { parseThreadKey } from '../../src/domain/thread.ts';
import { minute } from '../support/fakes.ts';
import { actor, judge } from './people.ts';
import type { Outcome, World } from './world.ts';

/** What clients of the API ask for besides tasks: words in a thread, another place for a task, and its right to run. */

/** Some words into a thread, again under the same key by a client that heard no answer, or by a nervous one. */
export async function post(world: World): Promise<string> {
  const { chance, journal } = world;
  const text = `P${journal.promised.posted.size} says ${chance.between(0, 999_999)}.${chance.is(0.05) ? ' Word.'.repeat(1500) : ''}`;
  journal.promised.posted.set(text, null);
  const isKeyed = chance.is(0.6);
  const request: MessageRequest = {
    threadKey: someThread(world),
    text,
    source: 'api',
    mode: chance.pick(['normal', 'silent', 'urgent']),
    idempotencyKey: isKeyed ? `post ${text.slice(0, 40)}` : null,
  };
  const first = await told(world, request);
  if (!isKeyed || first.is === 'died' || first.is === 'refused') return `${text.slice(0, 30)} -> ${first.said}`;
  const again = await told(world, request);
  return `${text.slice(0, 30)} -> ${first.said}, again -> ${again.said}`;
}

async function told(world: World, request: MessageRequest): Promise<{ readonly is: Outcome<0>['is']; said: string }> {
  const { posted } = world.journal.promised;
  const done = await world.ask((_tasks, { rooms }) => rooms.messages.post(request));
  if (done.is === 'answered') {
    const before = posted.get(request.text) ?? null;
    if (before !== null && before !== done.value.id)
      world.wrong.push(`the message "${request.text.slice(0, 30)}" is ${before} and ${done.value.id}`);
    posted.set(request.text, done.value.id);
  }
  return { is: done.is, said: `${request.threadKey} ${judge(world, done, ['not_found'])}` };
}

/** A chat, a topic of a task, or a thread that is delivered nowhere. */
function someThread({ chance, database, chat }: World): string {
  const base = chance.pick(['telegram:chat:-1001', 'telegram:chat:-1001', 'telegram:chat:-1002', 'cli:default']);
  const alive = chat.topics.filter(({ deleted }) => !deleted);
  if (alive.length === 0 || chance.is(0.6)) return base;
  const { id, chatId } = chance.pick(alive);
  const isKnown = database.prepare(`select 1 from chat_aliases where address = ?`).get(chatId) !== undefined;
  return isKnown ? `telegram:chat:${chatId}:topic:${id}` : base;
}

interface Known {
  readonly id: string;
  readonly title: string;
}

function someTask({ chance, database }: World): Known | null {
  const tasks = database.prepare('select id, title from tasks order by id').all() as Known[];
  return tasks.length === 0 ? null : chance.pick(tasks);
}

const unmoved: readonly ErrorCode[] = [
  'not_found',
  'task_not_found',
  'not_attachable',
  'run_in_progress',
  'quota_exceeded',
];

/** A task gets another chat, now and then under a key and once more. */
export async function attach(world: World): Promise<string> {
  const { chance, database, journal } = world;
  const task = someTask(world);
  if (task === null) return 'nobody there';
  const threadKey = chance.pick(['telegram:chat:-1001', 'telegram:chat:-1002', 'telegram:chat:-1003:topic:9']);
  const target = { taskId: task.id, actor, idempotencyKey: chance.is(0.5) ? `attach ${journal.lines.length}` : null };
  const done = await world.ask((tasks) => tasks.attach(target, threadKey));
  const said = `${task.title} to ${threadKey} -> ${judge(world, done, unmoved)}`;
  if (done.is !== 'answered' || target.idempotencyKey === null) return said;
  const entries = database.prepare(`select count(*) from audit where verb = 'attach'`).pluck();
  const before = entries.get();
  await world.ask((tasks) => tasks.attach(target, threadKey));
  if (entries.get() !== before) world.wrong.push(`${task.id} was attached twice under one key`);
  return `${said}, twice`;
}

export async function revoke(world: World): Promise<string> {
  const task = someTask(world);
  if (task === null) return 'nobody there';
  const grantId = grantOf(world, task);
  const done = await world.ask((tasks) => tasks.revoke(grantId, { actor }));
  return `${task.title} ${grantId} -> ${judge(world, done, ['not_found'])}`;
}

function grantOf({ database }: World, { id }: Known): string {
  return database.prepare('select grant_id from tasks where id = ?').pluck().get(id) as string;
}

/** A fresh right, for ever or for a while; what was taken away comes back so, and nothing else gives it back. */
export async function grant(world: World): Promise<string> {
  const { chance, database, journal, time } = world;
  const revoked = database
    .prepare(
      `select t.id, t.title from tasks t join grants g on g.id = t.grant_id
       where t.state <> 'deleted' and g.revoked_at is not null order by t.id`,
    )
    .all() as Known[];
  const task = revoked.length > 0 && chance.is(0.7) ? chance.pick(revoked) : someTask(world);
  if (task === null) return 'nobody there';
  const expiresAt = chance.is(0.6) ? null : time.now() + chance.between(1, chance.pick([5, 300, 3000])) * minute;
  const scopes = chance.is(0.5) ? null : ['action:*', 'host:*'];
  const target = { taskId: task.id, actor, idempotencyKey: chance.is(0.5) ? `grant ${journal.lines.length}` : null };
  const give = () => world.ask((tasks) => tasks.grant(target, { scopes, expiresAt }));
  const done = await give();
  const said = `${task.title} until ${expiresAt} -> ${judge(world, done, ['task_not_found'])}`;
  if (done.is !== 'answered' || target.idempotencyKey === null) return said;
  const again = await give();
  if (again.is === 'answered' && again.value.grant.id !== done.value.grant.id)
    world.wrong.push(`${task.id} was given two rights under one key`);
  return `${said}, twice`;
}

/** All tasks of a chat go at once, or none of them, whatever dies meanwhile; by a number that is right now and then. */
export async function purge(world: World): Promise<string> {
  const { chance, database } = world;
  const key = chance.pick(['telegram:chat:-1002', 'telegram:chat:-1003', 'cli:default']);
  const thread = parseThreadKey(key);
  const left = database.prepare(`select count(*) from tasks where state <> 'deleted'
    and chat_id = (select chat_id from chat_aliases where provider = ? and address = ?)`);
  const count = () => Number(left.pluck().get(thread.provider, thread.address));
  const before = count();
  const expected = chance.is(0.5) ? null : before + chance.between(0, 1);
  const done = await world.ask((_tasks, { rooms }) => rooms.bulk.purge({ thread }, { actor, expected }));
  const after = count();
  if (after !== 0 && after !== before) world.wrong.push(`a purge of ${key} left ${after} of ${before} tasks`);
  return `${key} ${before} (${String(expected)}) -> ${judge(world, done, [])}, ${after}`;
}
