import type { Actor } from '../../src/domain/access.ts';
import type { ErrorCode } from '../../src/domain/errors.ts';
import { hour, minute } from '../support/fakes.ts';
import { someQuietHours } from './definitions.ts';
import type { Outcome, World } from './world.ts';

/** What people say and press about what is there already: it is theirs to decide, and nothing else decides it. */

export const actor: Actor = 'telegram:user:1001';

/** Remarks on an answer, which is wrong if nobody should get it. */
export function judge<T>(world: World, outcome: Outcome<T>, refusals: readonly ErrorCode[]): string {
  if (outcome.is !== 'refused') return outcome.is;
  if (!refusals.includes(outcome.code)) world.wrong.push(`a client was refused with ${outcome.code}`);
  return `refused: ${outcome.code}`;
}

/** A person presses the button of a part whose fate nobody knows, and tells the truth. */
export async function settleByHand(world: World): Promise<string> {
  const asked = world.database
    .prepare(`select id from deliveries where status = 'unknown' and ready_at is null order by id`)
    .pluck()
    .all() as string[];
  if (asked.length === 0) return 'nothing is asked';
  const id = world.chance.pick(asked);
  if (world.chat.isOnItsWay(id)) return `${id} is on its way, and nobody can know`;
  const arrived = world.chat.messages.some(({ deliveryId, gone }) => deliveryId === id && gone === null);
  const done = await world.ask((_tasks, { store, rooms }) => {
    rooms.bell.ring('deliverer');
    return store.settleByHand(id, arrived, world.time.now());
  });
  return `${id} ${arrived ? 'arrived' : 'did not arrive'} -> ${done.is}`;
}

/** A chat gets quiet hours, others, or none, and one topic for its one-offs or one for each. */
export async function beQuiet(world: World): Promise<string> {
  const { chance, database, time } = world;
  const chats = database.prepare(`select id from chats order by id`).pluck().all() as string[];
  if (chats.length === 0) return 'there is no chat yet';
  const chatId = chance.pick(chats);
  const settings = {
    ...(chance.is(0.35) ? {} : { quiet: someQuietHours(chance) }),
    ...(chance.is(0.3) ? {} : { oneOffs: 'together' }),
  };
  const done = await world.ask((_tasks, { store, rooms }) => {
    rooms.bell.ring('deliverer');
    return store.changeChat(chatId, { settings }, time.now());
  });
  return `${chatId} ${JSON.stringify(settings)} -> ${done.is}`;
}

/** `/topic delete`: the task lets go of its topic, which is removed then. */
export async function letTopicGo(world: World): Promise<string> {
  const { chance, database, time, journal } = world;
  const found = database
    .prepare(
      `select t.id as taskId, t.topic_id as topic, c.address from tasks t join chats c on c.id = t.chat_id
       where t.topic_id is not null order by t.id`,
    )
    .all() as { taskId: string; topic: number; address: string }[];
  if (found.length === 0) return 'there is none';
  const { taskId, topic, address } = chance.pick(found);
  const done = await world.ask(async (tasks, { store, rooms }) => {
    const unbound = await tasks.unbindTopic({ taskId, actor }, topic);
    const thread = { provider: 'telegram', address, topic };
    const shown = { text: '' };
    const id = `removal-${topic}-${journal.lines.length}`;
    const removal = { id, kind: 'removeTopic', thread, taskId, shown, edits: null, expiresAt: null } as const;
    if (unbound === 'unbound') await store.addMessages([removal], time.now());
    rooms.bell.ring('deliverer');
    return unbound;
  });
  return `${topic} of ${taskId} -> ${done.is === 'answered' ? done.value : done.is}`;
}

/** Whoever owns the tasks leaves a chat, or comes back. */
export async function comeAndGo(world: World): Promise<string> {
  const { chance, database, time } = world;
  const chats = database
    .prepare(`select id from chats where provider = 'telegram' and address like '-%' order by id`)
    .pluck()
    .all() as string[];
  if (chats.length === 0) return 'there is no chat yet';
  const chatId = chance.pick(chats);
  const status = chance.is(0.65) ? 'member' : 'out';
  const done = await world.ask((_tasks, { store, rooms }) => {
    rooms.bell.ring('scheduler');
    return store.noteMember({ chatId, userId: actor, status, checkedAt: time.now() });
  });
  return `${chatId} ${status} -> ${done.is}`;
}

/** Somebody says that it is done, of what asks for that or of anything else, or takes it back. */
export async function sayDone(world: World): Promise<string> {
  const { chance, database } = world;
  const found = database
    .prepare(
      `select task_id as taskId, id as occurrenceId from occurrences where status = 'succeeded'
       order by id in (select occurrence_id from acks) desc, id desc limit 5`,
    )
    .all() as { taskId: string; occurrenceId: string }[];
  if (found.length === 0) return 'nothing has run yet';
  const request = { ...chance.pick(found), actor };
  const isBack = chance.is(0.25);
  const done = await world.ask(async (_tasks, { rooms }) => {
    if (isBack) await rooms.acks.notDone(request);
    else await rooms.acks.done(request);
  });
  return `${request.occurrenceId} ${isBack ? 'is not done' : 'is done'} -> ${done.is}`;
}

/** A reminder leaves, and before anybody knows what became of it somebody says Done, or the task is put off or switched off. */
export async function crossReminder(world: World): Promise<string> {
  const { chance, database, time } = world;
  await world.settle();
  const found = database
    .prepare(
      `select task_id as taskId, occurrence_id as occurrenceId, nag_at as at from acks
       where status = 'open' and nag_at is not null order by nag_at limit 3`,
    )
    .all() as { taskId: string; occurrenceId: string; at: number }[];
  if (found.length === 0) return 'nobody is to be reminded';
  const { taskId, occurrenceId, at } = chance.pick(found);
  if (at - time.now() > 2 * hour) return 'that is too far ahead';
  await time.advance(Math.max(0, at - time.now()));
  await world.ask((_tasks, life) => life.remind(time.now()));
  await world.ask((_tasks, life) => life.deliver(time.now()));
  const deed = chance.pick(['done', 'done', 'snooze', 'pause', 'delete'] as const);
  const target = { taskId, actor };
  const done = await world.ask(async (tasks, { rooms }) => {
    if (deed === 'done') await rooms.acks.done({ ...target, occurrenceId });
    else if (deed === 'snooze') await tasks.snooze(target, { forMs: 5 * minute });
    else if (deed === 'pause') await tasks.pause(target, null);
    else await tasks.delete(target);
  });
  return `${occurrenceId} ${deed} -> ${judge(world, done, ['task_not_found', 'run_in_progress'])}`;
}

/** Somebody decides about a result that waits for that. */
export async function approve(world: World): Promise<string> {
  const { chance, database } = world;
  const waiting = database
    .prepare(`select distinct run_id from deliveries where status = 'blocked' and cause = 'approval' order by run_id`)
    .pluck()
    .all() as string[];
  if (waiting.length === 0) return 'nothing waits for approval';
  const approval = { runId: chance.pick(waiting), actor, isGiven: chance.is(0.6) };
  const done = await world.ask((_tasks, { rooms }) => rooms.approvals.decide(approval));
  const told = `${approval.runId} ${approval.isGiven ? 'given' : 'refused'} -> ${done.is}`;
  if (done.is !== 'answered' || chance.is(0.5)) return told;
  const other = await world.ask((_tasks, { rooms }) =>
    rooms.approvals.decide({ ...approval, actor: 'telegram:user:1002', isGiven: !approval.isGiven }),
  );
  const isOverruled = other.is === 'answered' && other.value.is === 'decided' && other.value.isFirst;
  if (isOverruled && done.value.is === 'decided')
    world.wrong.push(`what was decided about ${approval.runId} was decided anew`);
  return `${told}, and the other way -> ${other.is}`;
}

/** A person presses Retry in one of the chats. */
export async function retryBlocked(world: World): Promise<string> {
  const done = await world.ask((_tasks, { store }) =>
    store.retryBlocked({ chatId: null, taskId: null, inDoubt: false }, world.time.now()),
  );
  return `-> ${done.is}`;
}
