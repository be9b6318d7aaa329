import type { TaskInput } from '../../src/app/tasks/definition.ts';
import type { TaskPatch } from '../../src/app/tasks/edit.ts';
import type { Target, Tasks } from '../../src/app/tasks/tasks.ts';
import type { ErrorCode } from '../../src/domain/errors.ts';
import type { ScheduleInput } from '../../src/domain/schedule/schedule.ts';
import { iso, scheduleOf, type Row } from '../invariants/rows.ts';
import { hour, minute, second } from '../support/fakes.ts';
import { allLastingFaults } from './chat.ts';
import { someAction, somePolicies, someSchedule, someText } from './definitions.ts';
import { dooms, lastingTrouble } from './faults.ts';
import {
  actor,
  approve,
  beQuiet,
  comeAndGo,
  crossReminder,
  judge,
  letTopicGo,
  retryBlocked,
  sayDone,
  settleByHand,
} from './people.ts';
import { attach, grant, post, purge, revoke } from './surfaces.ts';
import type { World } from './world.ts';

/**
 * What may happen next in a world. A new verb is a new entry here; what it did is judged by the audit rows that it left,
 * and by what it was told, if a client may rely on that for ever.
 */
export interface Move {
  readonly name: string;
  readonly weight: number;
  /** Answers what is worth telling in the trace. */
  play(world: World): Promise<string>;
}

const threads = [
  'telegram:chat:-1001',
  'telegram:chat:-1001',
  'telegram:chat:-1002',
  'telegram:chat:-1003',
  'cli:default',
];

interface Known {
  readonly id: string;
  readonly title: string;
  readonly state: string;
}

function tasksOf({ database }: World): Known[] {
  return database.prepare('select id, title, state from tasks order by id').all() as Known[];
}

/** The part of a title that never changes, by which the chat knows a task. */
export const nameOf = (title: string) => title.split(' ', 1)[0] ?? '';

const badTiming: readonly ErrorCode[] = ['invalid_schedule', 'invalid_policy', 'schedule_exhausted'];

function someInput(world: World, title: string): TaskInput {
  const { chance, time } = world;
  return {
    title,
    instructions: someText(chance, nameOf(title)),
    action: someAction(chance),
    schedule: someSchedule(chance, time.now()),
    policies: somePolicies(chance, time.now()),
  };
}

/** One-offs, some of which come together. */
async function errands(world: World): Promise<string> {
  const { chance, time } = world;
  const told = [await beQuiet(world)];
  for (let left = chance.between(1, 3); left > 0; left -= 1) {
    const once_at = iso(time.now() + chance.between(1, 40) * minute);
    told.push(await create(world, { schedule: { kind: 'once', once_at, timezone: 'UTC' }, policies: {} }));
  }
  return told.join('; ');
}

async function create(world: World, asked: Partial<TaskInput> = {}): Promise<string> {
  const { chance, journal } = world;
  const title = `T${tasksOf(world).length + 1}-${journal.promised.created.size}-${journal.lines.length}`;
  const input = { ...someInput(world, title), ...asked };
  const idempotencyKey = chance.is(0.5) ? `create ${title}` : null;
  const request = { threadKey: chance.pick(threads), actor, input, idempotencyKey };
  const first = await world.ask((tasks) => tasks.create(request));
  if (first.is === 'answered') journal.promised.created.set(first.value.task.id, title);
  const told = `${title} ${JSON.stringify({ ...input, instructions: undefined })} -> ${judge(world, first, badTiming)}`;
  // A client that heard no answer asks again, and a nervous one does so anyway.
  if (idempotencyKey === null || first.is === 'died' || first.is === 'refused') return told;
  const again = await world.ask((tasks) => tasks.create(request));
  if (again.is === 'answered') journal.promised.created.set(again.value.task.id, title);
  const copies = tasksOf(world).filter((task) => task.title === title).length;
  if (copies > 1) world.wrong.push(`one request made ${copies} tasks called ${title}`);
  return `${told}, again -> ${judge(world, again, badTiming)}`;
}

/** The same subject and title again, with everything else as chance will have it. */
async function upsert(world: World): Promise<string> {
  const { chance } = world;
  const title = `S${chance.between(1, 2)}`;
  const input = { ...someInput(world, title), subject: 'the same', policies: sparse(world) };
  const onExisting = chance.pick(['upsert', 'upsert', 'fail'] as const);
  const request = { threadKey: threads[0] ?? '', actor, input, idempotencyKey: null, onExisting };
  const before = twinsOf(world, title);
  const done = await world.ask((tasks) => tasks.create(request));
  const twins = twinsOf(world, title);
  if (twins > Math.max(before, 1)) world.wrong.push(`${twins} tasks are ${title} with one subject`);
  const told = { ...input, instructions: undefined };
  return `${title} ${onExisting} ${JSON.stringify(told)} -> ${judge(world, done, [...badTiming, 'task_exists'])}`;
}

/** Tasks of one identity in the chat of the upserts; whoever attaches or restores one may make more of them. */
function twinsOf({ database }: World, title: string): number {
  return Number(
    database
      .prepare(
        `select count(*) from tasks where title = ? and subject is not null and state <> 'deleted'
           and chat_id = (select chat_id from chat_aliases where address = '-1001')`,
      )
      .pluck()
      .get(title),
  );
}

function sparse({ chance, time }: World) {
  return chance.is(0.5) ? {} : somePolicies(chance, time.now());
}

type Patching = (world: World, task: Known) => TaskPatch;

const patches: readonly { readonly weight: number; readonly make: Patching }[] = [
  { weight: 3, make: ({ chance, time }) => ({ schedule: someSchedule(chance, time.now()) }) },
  { weight: 2, make: ({ chance }, { title }) => ({ instructions: someText(chance, nameOf(title)) }) },
  { weight: 2, make: ({ chance, time }) => ({ policies: somePolicies(chance, time.now()) }) },
  { weight: 1, make: () => ({ policies: { max_runs: null, until: null, start_at: null } }) },
  { weight: 1, make: ({ chance }) => ({ policies: { max_runs: chance.between(1, 8) } }) },
  { weight: 2, make: ({ chance }) => ({ action: someAction(chance) }) },
  { weight: 1, make: ({ chance }, { title }) => ({ title: `${nameOf(title)} renamed ${chance.between(1, 99)}` }) },
  { weight: 1, make: ({ chance }) => ({ enabled: chance.is(0.6) }) },
  {
    weight: 1,
    make: ({ chance, time }) => ({ enabled: chance.is(0.6), schedule: someSchedule(chance, time.now()) }),
  },
];

/** A verb upon one of the tasks there are, whatever its state; what was deleted is asked for now and then as well. */
function upon(verb: (world: World, task: Known) => Promise<string>): Move['play'] {
  return async (world) => {
    const tasks = tasksOf(world);
    if (tasks.length === 0) return 'nobody there';
    const task = world.chance.pick(tasks);
    return `${task.title} ${task.id} ${await verb(world, task)}`;
  };
}

type Call<T> = (tasks: Tasks, target: Target) => Promise<T>;

/**
 * Asks for a change, now and then with a key, and then perhaps once more: what was answered under a key has no second
 * effect.
 */
async function change<T>(world: World, task: Known, refusals: readonly ErrorCode[], call: Call<T>): Promise<string> {
  const { chance, database, journal } = world;
  const idempotencyKey = chance.is(0.4) ? `key ${journal.lines.length}` : null;
  const target = { taskId: task.id, actor, idempotencyKey };
  const first = await world.ask((tasks) => call(tasks, target));
  const told = judge(world, first, ['task_not_found', ...refusals]);
  if (idempotencyKey === null || first.is !== 'answered' || chance.is(0.5)) return `-> ${told}`;
  // A pause that is over by now may end in the meantime, which nobody has asked for.
  const rows = database.prepare(`select count(*) from audit where actor <> 'system'`).pluck();
  const before = rows.get();
  await world.ask((tasks) => call(tasks, target));
  if (rows.get() !== before) world.wrong.push(`a change of ${task.id} was made twice under one key`);
  return `-> ${told}, twice`;
}

const edit = upon(async (world, task) => {
  // The name of an upserted task is what identifies it.
  const patch = world.chance.weigh(patches).make(world, task);
  if (patch.title !== undefined && task.title.startsWith('S')) return 'keeps its name';
  const told = await change(world, task, badTiming, (tasks, target) => tasks.edit(target, patch));
  return `${JSON.stringify(patch).slice(0, 300)} ${told}`;
});

const pause = upon((world, task) => change(world, task, [], (tasks, target) => tasks.pause(target, null)));

const pauseUntil = upon(async (world, task) => {
  const { time } = world;
  const until = time.now() + world.chance.between(1, world.chance.pick([5 * minute, 3 * hour, 30 * hour]));
  return `${until} ${await change(world, task, [], (tasks, target) => tasks.pause(target, until))}`;
});

const resume = upon((world, task) =>
  change(world, task, ['schedule_exhausted'], (tasks, target) => tasks.resume(target)),
);

const remove = upon((world, task) => change(world, task, [], (tasks, target) => tasks.delete(target)));

const restore = upon((world, task) => change(world, task, ['too_late'], (tasks, target) => tasks.restore(target)));

const skip = upon(async (world, task) => {
  const count = world.chance.between(1, 4);
  const told = await change(world, task, ['nothing_to_skip'], (tasks, target) =>
    tasks.skip(target, { count, from: null }),
  );
  return `${count} ${told}`;
});

const unskip = upon((world, task) => change(world, task, [], (tasks, target) => tasks.unskip(target)));

const snooze = upon(async (world, task) => {
  const forMs = world.chance.between(1, world.chance.pick([5 * minute, 3 * hour]));
  const told = await change(world, task, ['run_in_progress'], (tasks, target) => tasks.snooze(target, { forMs }));
  return `${forMs} ${told}`;
});

const answer = upon((world, task) => {
  const choice = world.chance.pick(['latest', 'all', 'none'] as const);
  return change(world, task, ['nothing_to_answer'], (tasks, target) => tasks.answer(target, choice));
});

/** What is taken back goes through the checks of any other change, and the world may have moved on. */
const movedOn: readonly ErrorCode[] = [
  'nothing_to_undo',
  'nothing_to_skip',
  'too_late',
  'invalid_request',
  ...badTiming,
];

const undo = upon((world, task) => change(world, task, movedOn, (tasks, target) => tasks.undo(target, null)));

const cancel = upon((world, task) => change(world, task, [], (tasks, target) => tasks.cancel(target)));

const runNow = upon(async (world, task) => {
  const { promised } = world.journal;
  promised.asked.set(task.id, (promised.asked.get(task.id) ?? 0) + 1);
  return change(world, task, ['run_in_progress'], async (tasks, target) => {
    const { taskRun } = await tasks.runNow(target);
    promised.runsByHand.add(taskRun.id);
  });
});

/** One of the latest runs is done again, if it has ended. */
async function repeat(world: World): Promise<string> {
  const { chance, database, journal } = world;
  const recent = database.prepare('select id, status from runs order by id desc limit 12').all() as { id: string }[];
  if (recent.length === 0) return 'nothing has run';
  const kind = chance.pick(['retry', 'replay'] as const);
  const { id } = chance.pick(recent);
  const done = await world.ask((tasks) => tasks.repeat(kind, id, { actor }));
  if (done.is === 'answered') journal.promised.runsByHand.add(done.value.taskRun.id);
  return `${kind} ${id} -> ${judge(world, done, ['task_not_found', 'run_in_progress', 'not_repeatable'])}`;
}

async function live(world: World): Promise<string> {
  const ms = world.chance.pick([50, 5 * second, 3 * minute, 20 * minute, 3 * hour]);
  const span = world.chance.between(1, ms);
  await world.live(span);
  return `${span} ms`;
}

/** The process is stuck, or the machine slept: what came due in the meantime is found late. */
async function oversleep(world: World): Promise<string> {
  const span = world.chance.between(1, world.chance.pick([10 * minute, 3 * hour, 30 * hour]));
  await world.time.advance(span);
  await world.settle();
  return `${span} ms`;
}

async function setClock(world: World): Promise<string> {
  const { chance, time, journal } = world;
  const forward = !mayGoBack(world) || chance.is(0.4);
  const step = chance.between(1, chance.pick([500, 90 * second, 2 * hour, 26 * hour]));
  if (forward) journal.clockWentForward();
  else journal.clockWentBack();
  time.setWall(time.now() + (forward ? step : -step));
  if (chance.is(0.7)) await world.settle();
  return `${forward ? '+' : '-'}${step} ms`;
}

/** The clock is ahead for a while, and is put right while somebody is there. By years nothing can be held to account: retention takes the records. */
async function trustWrongClock(world: World): Promise<string> {
  const { chance, time, journal } = world;
  if (!mayGoBack(world)) return 'not in this world';
  const step = chance.between(1, chance.pick([5 * minute, hour, 3 * hour, 30 * hour]));
  journal.clockWentForward();
  time.setWall(time.now() + step);
  await world.settle();
  await world.live(chance.between(1, chance.pick([5 * second, 20 * minute])));
  // A process that died of it may have acted on the wrong clock all the same.
  world.observe(false);
  journal.clockWentBack();
  time.setWall(time.now() - step);
  if (chance.is(0.7)) await world.settle();
  return `+${step} ms and back`;
}

/** Slots that were taken up already come again when the clock has gone back and a task is planned anew. */
async function relive(world: World): Promise<string> {
  const { chance, time, journal } = world;
  if (!mayGoBack(world)) return 'not in this world';
  journal.clockWentBack();
  time.setWall(time.now() - chance.between(10 * minute, 6 * hour));
  const told: string[] = [];
  for (const task of tasksOf(world)) {
    if (task.state !== 'active') continue;
    const target = { taskId: task.id, actor };
    // A step to another schedule and back plans the old slots again; so does a pause, but for those that have a row.
    const detour: TaskPatch = { schedule: { kind: 'cron', cron: '0 0 1 1 *', timezone: 'UTC' } };
    const schedule = scheduleInputOf(world, task.id);
    if (schedule === null) continue;
    const away = await world.ask((tasks) => tasks.edit(target, detour));
    const back = await world.ask((tasks) => tasks.edit(target, { schedule }));
    told.push(`${task.title} -> ${judge(world, away, badTiming)}, ${judge(world, back, badTiming)}`);
  }
  await world.settle();
  return told.join(', ');
}

/** What a client would have to send to get the same slots. */
function scheduleInputOf({ database }: World, taskId: string): ScheduleInput | null {
  const task = database.prepare('select * from tasks where id = ?').get(taskId) as Row<'tasks'>;
  const schedule = scheduleOf(task);
  if (schedule.kind === 'interval' && schedule.from === 'start')
    return { ...schedule, start_at: new Date(schedule.startAt).toISOString(), startAt: undefined } as ScheduleInput;
  return schedule.kind === 'cron' || schedule.kind === 'rrule' ? schedule : null;
}

/** In half of the worlds the clock never goes back, because there the slots can be held to a stricter account. */
const mayGoBack = ({ seed }: World) => seed % 2 === 1;

function doom(world: World): Promise<string> {
  const where = world.chance.pick(dooms);
  const countdown = world.chance.between(1, where === 'statement' ? 60 : 8);
  world.life().fate.doom(where, countdown);
  return Promise.resolve(`at ${where} ${countdown}`);
}

function kill(world: World): Promise<string> {
  world.life().fate.kill();
  return Promise.resolve('now');
}

function trouble(world: World): Promise<string> {
  const transactions = world.chance.between(1, 25);
  world.life().fate.trouble(transactions, 0.4);
  return Promise.resolve(`in ${transactions} transactions`);
}

function loseEnds(world: World): Promise<string> {
  const writes = world.chance.between(1, 3);
  world.life().fate.loseEnds(writes);
  return Promise.resolve(`of ${writes} writes`);
}

/** Intake first, then what runs, as at the end of a process that is asked to go. */
async function stop(world: World): Promise<string> {
  const { rooms, fate } = world.life();
  const stopped = Promise.race([Promise.all([rooms.runner.stop(10_000), rooms.deliverer.stop(10_000)]), fate.died]);
  await world.time.advance(25_000);
  await stopped;
  await Promise.race([rooms.downtimes.close(), fate.died]).catch(() => undefined);
  fate.kill();
  return '';
}

function weather(world: World): Promise<string> {
  const rate = world.chance.pick([0, 0, 0.1, 0.4, 0.8]);
  world.chat.weather(rate);
  return Promise.resolve(String(rate));
}

/** A fault that goes on for minutes, with everything that happens meanwhile. */
function suffer({ chance, chat, siege }: World): Promise<string> {
  const ms = chance.between(1, chance.pick([5, 30, 150])) * minute;
  if (chance.is(0.35)) {
    const fault = chance.pick(lastingTrouble);
    siege.lay(fault, ms);
    return Promise.resolve(`${fault.message} for ${ms} ms`);
  }
  const fault = chance.pick(allLastingFaults);
  chat.siege.lay(fault, ms);
  return Promise.resolve(`${fault} for ${ms} ms`);
}

function mend(world: World): Promise<string> {
  world.chat.mend();
  return Promise.resolve('');
}

function deleteTopic(world: World): Promise<string> {
  const alive = world.chat.topics.filter(({ deleted }) => !deleted);
  if (alive.length === 0) return Promise.resolve('there is none');
  const { id, name } = world.chance.pick(alive);
  world.chat.deleteTopic(id);
  return Promise.resolve(`${id} of ${name}`);
}

function moveChat(world: World): Promise<string> {
  const from = world.chance.pick(['-1001', '-1002', '-1003']);
  return Promise.resolve(`${from} to ${world.chat.move(from)}`);
}

export const moves: readonly Move[] = [
  { name: 'live', weight: 14, play: live },
  { name: 'oversleep', weight: 4, play: oversleep },
  { name: 'set the clock', weight: 2, play: setClock },
  { name: 'set the clock ahead and back', weight: 2, play: trustWrongClock },
  { name: 'relive', weight: 2, play: relive },
  { name: 'create', weight: 4, play: (world) => create(world) },
  { name: 'errands', weight: 2, play: errands },
  { name: 'upsert', weight: 2, play: upsert },
  { name: 'edit', weight: 5, play: edit },
  { name: 'pause', weight: 2, play: pause },
  { name: 'pause until', weight: 2, play: pauseUntil },
  { name: 'resume', weight: 3, play: resume },
  { name: 'delete', weight: 1, play: remove },
  { name: 'restore', weight: 1, play: restore },
  { name: 'skip', weight: 2, play: skip },
  { name: 'unskip', weight: 1, play: unskip },
  { name: 'snooze', weight: 2, play: snooze },
  { name: 'answer', weight: 2, play: answer },
  { name: 'undo', weight: 3, play: undo },
  { name: 'run now', weight: 4, play: runNow },
  { name: 'cancel', weight: 1, play: cancel },
  { name: 'repeat a run', weight: 2, play: repeat },
  { name: 'doom', weight: 5, play: doom },
  { name: 'kill', weight: 1, play: kill },
  { name: 'stop', weight: 1, play: stop },
  { name: 'trouble with the store', weight: 4, play: trouble },
  { name: 'lose the answers to ends', weight: 2, play: loseEnds },
  { name: 'weather', weight: 3, play: weather },
  { name: 'suffer', weight: 1.5, play: suffer },
  { name: 'mend', weight: 2, play: mend },
  { name: 'delete a topic', weight: 1, play: deleteTopic },
  { name: 'move a chat', weight: 0.3, play: moveChat },
  { name: 'settle by hand', weight: 1, play: settleByHand },
  { name: 'retry what is blocked', weight: 1, play: retryBlocked },
  { name: 'be quiet', weight: 2, play: beQuiet },
  { name: 'let a topic go', weight: 1, play: letTopicGo },
  { name: 'say done', weight: 2, play: sayDone },
  { name: 'cross a reminder', weight: 3, play: crossReminder },
  { name: 'approve', weight: 2, play: approve },
  { name: 'come and go', weight: 2, play: comeAndGo },
  { name: 'post', weight: 3, play: post },
  { name: 'attach', weight: 2, play: attach },
  { name: 'revoke', weight: 0.7, play: revoke },
  { name: 'grant', weight: 1.5, play: grant },
  { name: 'purge', weight: 0.4, play: purge },
];

/** Every world begins with something to do. */
export const opening = create;
