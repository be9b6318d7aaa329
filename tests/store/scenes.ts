import type { Chat, NewMessage } from '../../src/app/ports/chats.ts';
import type { OutboxPart, PartEnd } from '../../src/app/ports/outbox.ts';
import type { NewDelivery } from '../../src/app/ports/pipeline.ts';
import { noChange, type NewTask, type TaskChange, type TaskScene } from '../../src/app/ports/tasks.ts';
import type { Once } from '../../src/app/use-cases/kept-answers.ts';
import type { Actor } from '../../src/domain/access.ts';
import type { Task } from '../../src/domain/task.ts';
import type { Thread } from '../../src/domain/thread.ts';
import { ample, aRunningTask, aTask, bootId, endOf, minute, nine, startOne } from '../support/builders.ts';
import type { OpenWorld, World } from '../support/store-worlds.ts';

/** Scenes that several tests of the store begin with: chats, tasks with a topic, parts and their ends. */

export const owner = 'telegram:user:7';
export const someone = 'telegram:user:8';

export function aChat({ store, make }: Pick<World, 'store' | 'make'>, address = '-100', at = nine): Promise<Chat> {
  return store.noteChat({ newId: make.id(), address, title: 'Garden', kind: 'group', at });
}

export function threadOf(address: string, topic: number | null = null): Thread {
  return { provider: 'telegram', address, topic };
}

export function aMessage({ make }: Pick<World, 'make'>, facts: Partial<NewMessage> = {}): NewMessage {
  return {
    id: make.id(),
    kind: 'answer',
    thread: threadOf('-100'),
    taskId: null,
    shown: { text: 'Here you are.' },
    edits: null,
    expiresAt: null,
    ...facts,
  };
}

/** What stands in the outbox, oldest first, as far as a test asks for it. */
export async function outbox<R extends object>(world: World, columns: string, where = '1 = 1'): Promise<R[]> {
  return world.query<R>(`select ${columns} from deliveries where ${where} order by id`);
}

/** A task whose topic exists, and whose card has been shown before, so that nothing but results is left to be sent. */
export async function aReadyTask(world: World, facts: Partial<NewTask> = {}): Promise<Task> {
  const task = await aTask(world, facts);
  const cardId = world.make.id();
  await world.store.beginTopic({ taskId: task.id, name: task.title }, bootId, nine);
  await world.store.endTopic({ taskId: task.id, state: 'ready', id: 77, cardId, remadeId: world.make.id(), at: nine });
  await world.query(`delete from deliveries where id = ?t`, cardId);
  return task;
}

interface Placed {
  readonly world: World;
  readonly task: Task;
}

/** An empty world with a task in it. */
export async function withTask(open: OpenWorld, facts: Partial<NewTask> = {}): Promise<Placed> {
  const world = await open();
  return { world, task: await aTask(world, facts) };
}

export async function withReadyTask(open: OpenWorld, facts: Partial<NewTask> = {}): Promise<Placed> {
  const world = await open();
  return { world, task: await aReadyTask(world, facts) };
}

export async function withRunningTask(open: OpenWorld, facts: Partial<NewTask> = {}) {
  const world = await open();
  return { world, ...(await aRunningTask(world, facts)) };
}

/** A run of the task that has ended, with these parts to be shown. */
export async function show(world: World, task: Task, parts: readonly NewDelivery[], finishedAt = nine): Promise<void> {
  await world.store.addRun(world.make.newRun({ taskId: task.id, taskVersion: 1, chatId: task.chatId }));
  await world.store.finishRuns([endOf(await startOne(world, nine), { finishedAt, deliveries: parts })]);
}

interface Claiming {
  readonly now?: number;
  readonly limit?: number;
  readonly after?: string;
  readonly boot?: string;
  readonly busy?: ReadonlySet<string>;
}

const nobody: ReadonlySet<string> = new Set();

export function claimParts({ store }: Pick<World, 'store'>, claiming: Claiming = {}): Promise<readonly OutboxPart[]> {
  const { now = nine + minute, limit = 100, after = '', boot = bootId, busy = nobody } = claiming;
  return store.claimParts({ now, limit, after }, boot, busy);
}

/** The one part that goes out next. */
export async function nextPart(world: Pick<World, 'store'>, claiming: Claiming = {}): Promise<OutboxPart> {
  return only(await claimParts(world, claiming));
}

export function only<T>(found: readonly T[]): T {
  const [one, another] = found;
  if (one === undefined || another !== undefined) throw new Error(`${found.length} were found, not one`);
  return one;
}

type Claimed = Pick<OutboxPart, 'id' | 'fence'> & Partial<Pick<OutboxPart, 'taskId' | 'route'>>;
type Ended<S extends PartEnd['status']> = Extract<PartEnd, { status: S }>;

const claimOf = ({ id, fence, taskId = null }: Claimed) => ({ id, fence, taskId });

export function delivered(part: Claimed, messageId = 5001, facts: Partial<Ended<'delivered'>> = {}): PartEnd {
  const { address = '-100', topic = 77 } = part.route ?? {};
  const ids = { chatId: address, threadId: topic, messageId };
  return { ...claimOf(part), status: 'delivered', ids, at: nine + minute, evidence: null, pinId: null, ...facts };
}

export function lost(part: Claimed, afterMs: number | null = 0, guidance: NewMessage | null = null): Ended<'unknown'> {
  return { ...claimOf(part), status: 'unknown', afterMs, error: 'no answer', evidence: '{}', guidance };
}

export function putOff(part: Claimed, facts: Partial<Ended<'pending'>> = {}): PartEnd {
  const unsent = { unsent: true, inDoubt: false, afterMs: 0, error: 'later', evidence: null };
  return { ...claimOf(part), status: 'pending', ...unsent, ...facts };
}

export function blocked(part: Claimed, facts: Partial<Ended<'blocked'>> = {}): PartEnd {
  const refused = { afterMs: 60 * minute, cause: 'no_topic_right', error: 'refused', guidance: null } as const;
  return { ...claimOf(part), status: 'blocked', ...refused, ...facts };
}

export function refused(part: Claimed, facts: Partial<Ended<'failed'>> = {}): PartEnd {
  return { ...claimOf(part), status: 'failed', error: 'too long', evidence: null, ...facts };
}

interface Asking {
  readonly actor?: Actor;
  readonly at?: number;
  readonly once?: Once | null;
}

/** Changes the task under its lock. */
export function change(
  { store }: Pick<World, 'store'>,
  { id }: Pick<Task, 'id'>,
  plan: Partial<TaskChange> | ((scene: TaskScene) => Partial<TaskChange>),
  { actor = owner, at = nine, once = null }: Asking = {},
) {
  return store.changeTask({ taskId: id, actor, at, once, quota: ample }, (scene) => ({
    ...noChange,
    ...(typeof plan === 'function' ? plan(scene) : plan),
  }));
}

export const paused = { set: { state: 'paused', nextAt: null }, endWaiting: 'paused' } as const;

export const removed = {
  set: { state: 'deleted', nextAt: null },
  stamp: 'deleted',
  endWaiting: 'deleted',
  cancelLive: true,
} as const;

/** All occurrences of the task, the newest first. */
export async function slotsOf({ store }: Pick<World, 'store'>, { id }: Pick<Task, 'id'>) {
  return (await store.listTaskRuns({ taskId: id, status: null, limit: 100, cursor: null })).items;
}

/** How they stand, the newest first, each with the reason of it. */
export async function standings(world: Pick<World, 'store'>, task: Pick<Task, 'id'>): Promise<string[]> {
  return (await slotsOf(world, task)).map(({ status, reason }) => [status, reason ?? []].flat().join(' '));
}

/** The kinds of the events about the task, those that a pattern names. */
export async function eventsOf(world: World, { id }: Pick<Task, 'id'>, like: string): Promise<string[]> {
  const events = `select kind from events where task_id = ?t and kind like ?t order by id`;
  return (await world.query<{ kind: string }>(events, id, like)).map(({ kind }) => kind);
}
