import { setTimeout as pause } from 'node:timers/promises';
import type { Fault } from '../../src/sandbox/world/world.ts';
import { isOpen, isResult } from '../invariants/deliveries.ts';
import { groupBy, readRows, type Breach, type Row, type Rows } from '../invariants/rows.ts';
import type { Chance } from '../support/chance.ts';
import { breachesOf } from './account.ts';
import { create } from './api.ts';
import { becomes, readyUrl, start, type Boot, type StartOptions } from './program.ts';
import { threadOf, type Seen, type Telegram } from './telegram.ts';

/** A day on which Telegram answers badly, people delete topics, and the server is killed in the middle. */
export interface ChatPlan extends StartOptions {
  readonly random: Chance;
  readonly tasks: number;
  /** Results of each task, and the seconds between them. */
  readonly slots: number;
  readonly everySeconds: number;
  readonly faults: readonly Fault[];
  /** Faults that meet every call for a while, one after the other. */
  readonly spells?: readonly Spell[];
  readonly deletions: number;
  /** The server is killed when this share of the results is there. */
  readonly killedAt: number;
  /** How long what nobody knows the fate of is waited for; 0 leaves it open. */
  readonly settleMs: number;
}

interface Spell {
  readonly fault: Fault;
  readonly seconds: number;
}

export interface ChatResult {
  readonly rows: Rows;
  readonly seen: Seen;
  readonly breaches: readonly Breach[];
  readonly figures: readonly string[];
}

const countMax = 100_000;

/** One call in twenty gets no answer, one in twenty breaks off before or after it is processed, and some are told to wait. */
export const badFaults: readonly Fault[] = ['send', 'createForumTopic', 'editMessageText', 'pinChatMessage'].flatMap(
  (method) => {
    const fault = { method, count: countMax };
    return [
      { ...fault, kind: 'answer_lost', chance: 0.05 },
      { ...fault, kind: 'reset_before', chance: 0.025 },
      { ...fault, kind: 'reset_after', chance: 0.025 },
      { ...fault, kind: '429', chance: 0.03, retryAfter: 1 },
    ] as const;
  },
);

/** Telegram in trouble for minutes: away, overrun, answering nonsense, and showing what is for topics outside of them. */
export const badSpells = (forum: number): readonly Spell[] => [
  { seconds: 40, fault: { kind: '500', method: '*', count: countMax } },
  { seconds: 30, fault: { kind: '429', method: '*', count: countMax, retryAfter: 2 } },
  { seconds: 30, fault: { kind: 'wrong_shape', method: '*', count: countMax } },
  { seconds: 40, fault: { kind: 'misroute', method: 'send', chat: forum, count: countMax } },
  { seconds: 30, fault: { kind: 'bad_gateway_html', method: '*', count: countMax } },
];

/** Those whose end is known within seconds. */
export const quickFaults: readonly Fault[] = ['send', 'createForumTopic', 'editMessageText', 'pinChatMessage'].flatMap(
  (method) => {
    const fault = { method, count: countMax };
    return [
      { ...fault, kind: 'reset_after', chance: 0.06 },
      { ...fault, kind: '429', chance: 0.03, retryAfter: 1 },
    ] as const;
  },
);

const hands = 8;
/** For a busy machine; the scenario goes on as soon as it can. */
const patienceMs = 360_000;

export async function badDay(plan: ChatPlan): Promise<ChatResult> {
  const { telegram } = plan;
  let boot = start(plan);
  const boots = [boot];
  await createTasks(plan, await readyUrl(boot));
  for (const fault of plan.faults) telegram.world.fault(fault);
  const people = beThere(plan);
  const results = plan.tasks * plan.slots;
  const spells = goThrough(plan);
  const isHalfDone = async () => (await delivered(plan)) >= results * plan.killedAt;
  const wasUnderWay = await becomes(isHalfDone, patienceMs);
  const killedAt = Date.now();
  await boot.kill();
  boot = start(plan);
  boots.push(boot);
  await readyUrl(boot);
  await spells;
  const isDone = await becomes(
    async () => people.deeds.deleted === plan.deletions && everySettled(await readRows(plan.databaseUrl), plan),
    patienceMs,
  );
  await people.leave();
  telegram.world.clearFault();
  if (plan.settleMs > 0) await becomes(async () => nothingOpen(await readRows(plan.databaseUrl)), plan.settleMs);
  const asked = Date.now();
  const { code, at } = await boot.stop();
  const rows = await readRows(plan.databaseUrl);
  const seen = telegram.seen();
  return {
    rows,
    seen,
    breaches: [
      ...(wasUnderWay && isDone ? [] : [{ promise: 'the results come', rows: open(rows).slice(0, 5) }]),
      ...(code === 0 ? [] : [{ promise: 'a stop by SIGTERM ends with code 0', rows: code }]),
      ...breachesOf(rows, seen, { stop: { asked, ended: at }, kills: [killedAt], log: calm(boots) }),
      ...everyResultOnce(rows, plan),
      ...(plan.settleMs > 0 ? everyTopicHasItsCard(rows, seen) : []),
    ],
    figures: figuresOf(rows, seen, people.deeds),
  };
}

async function goThrough({ telegram, spells = [] }: ChatPlan): Promise<void> {
  for (const { fault, seconds } of spells) {
    const id = telegram.world.fault(fault);
    await pause(seconds * 1000);
    telegram.world.clearFault(id);
  }
}

/** What Telegram was made to do is told in the log as it should be. */
function calm(boots: readonly Boot[]) {
  return boots.flatMap(({ log }) => log).filter(({ event }) => event !== 'message_left_rewritten');
}

async function createTasks({ telegram, tasks, slots, everySeconds }: ChatPlan, url: string): Promise<void> {
  const { forums } = telegram;
  let next = 0;
  const hand = async () => {
    while (next < tasks) {
      const index = next;
      next += 1;
      await create(url, threadOf(forums[index % forums.length]), {
        title: `Task ${index}`,
        instructions: `${index} at {{ run.scheduled_for }}`,
        schedule: { kind: 'interval', interval: `PT${everySeconds}S`, timezone: 'UTC' },
        policies: { max_runs: slots, missed: 'all', missed_limit: slots },
      });
    }
  };
  await Promise.all(Array.from({ length: hands }, hand));
}

interface People {
  readonly deeds: { deleted: number; pressed: number };
  leave(): Promise<void>;
}

/** They delete a topic now and then, and press the button of whatever asks them to look at something. */
function beThere({ telegram, random, deletions, everySeconds, slots }: ChatPlan): People {
  const deeds = { deleted: 0, pressed: 0 };
  // A topic that is deleted twice within the hour is not made again before that is over.
  const deleted = new Set<string>();
  const pauseMs = (everySeconds * slots * 1000) / (deletions + 1);
  let isHere = true;
  const deleting = (async () => {
    while (isHere && deeds.deleted < deletions) {
      await pause(random.between(pauseMs / 2, pauseMs * 1.5));
      const chat = random.pick(telegram.forums.slice(1));
      const isInUse = (thread: number) => telegram.world.messages(chat, { thread }).length > 0;
      const standing = telegram.world
        .topics(chat)
        .filter(({ isDeleted, name, threadId }) => !isDeleted && !deleted.has(name) && isInUse(threadId));
      if (!isHere || standing.length === 0) continue;
      const { threadId, name } = random.pick(standing);
      deleted.add(name);
      telegram.deleteTopic(chat, threadId);
      deeds.deleted += 1;
    }
  })();
  const pressing = (async () => {
    const pressed = new Set<string>();
    while (isHere) {
      for (const chat of telegram.forums) deeds.pressed += pressRetry(telegram, chat, pressed);
      await pause(500);
    }
  })();
  return {
    deeds,
    leave: async () => {
      isHere = false;
      await Promise.all([deleting, pressing]);
    },
  };
}

export function pressRetry({ world }: Telegram, chat: number, pressed: Set<string>): number {
  let count = 0;
  for (const { messageId, buttons } of world.messages(chat, { thread: null })) {
    const key = `${chat}:${messageId}`;
    const retry = buttons.flat().find(({ text }) => text === 'Retry');
    if (retry === undefined || pressed.has(key)) continue;
    pressed.add(key);
    world.press({ as: 'ada', chat, messageId, button: retry.text });
    count += 1;
  }
  return count;
}

const open = (rows: Rows) => rows.deliveries.filter((part) => isResult(part) && isOpen(part));

async function delivered({ databaseUrl }: ChatPlan): Promise<number> {
  const { deliveries } = await readRows(databaseUrl);
  return deliveries.filter((part) => isResult(part) && part.status === 'delivered').length;
}

/** Every result is there, or waits for one that a first look has not found; it is waited for only where there is the time. */
function everySettled(rows: Rows, { tasks, slots, settleMs }: ChatPlan): boolean {
  if (rows.deliveries.filter(isResult).length < tasks * slots) return false;
  const left = open(rows);
  if (settleMs > 0) return left.length === 0;
  const searched = new Set(rows.tasks.filter(({ topic_state: state }) => state === 'creating').map(({ id }) => id));
  const hasLooked = ({ status, settles }: Row<'deliveries'>) => status === 'unknown' && settles > 0;
  for (const part of left.filter(hasLooked)) searched.add(part.task_id ?? '');
  return left.every(({ task_id: task }) => searched.has(task ?? ''));
}

function nothingOpen({ deliveries }: Rows): boolean {
  return !deliveries.some(isOpen);
}

/** Whatever happened, each slot of each task has one result, and where one is not known to be there its row says why. */
function everyResultOnce(rows: Rows, { slots, settleMs }: ChatPlan): Breach[] {
  const results = groupBy(rows.deliveries.filter(isResult), ({ task_id: task }) => task);
  const fewer = rows.tasks.filter(({ id }) => results.get(id)?.length !== slots);
  const unexplained = open(rows).filter(
    ({ status, evidence }) => settleMs > 0 || (status === 'unknown' && evidence === null),
  );
  return [
    ...(fewer.length === 0 ? [] : [{ promise: 'each slot brings one result', rows: fewer.slice(0, 5) }]),
    ...(unexplained.length === 0 ? [] : [{ promise: 'every result ends', rows: unexplained.slice(0, 5) }]),
  ];
}

/** One card is pinned in each topic that stands, but where a row says that it could not be. */
function everyTopicHasItsCard(rows: Rows, seen: Seen): Breach[] {
  const failed = new Set(
    rows.deliveries
      .filter(({ kind, status }) => status === 'failed' && (kind === 'card' || kind === 'pin'))
      .map(({ task_id: task }) => task),
  );
  const address = new Map(rows.chats.map(({ id, address: at }) => [id, Number(at)]));
  const pinned = groupBy(
    seen.messages.filter(({ isPinned, isGone }) => isPinned && !isGone),
    ({ chatId, threadId }) => `${chatId} ${threadId}`,
  );
  const standing = new Set(
    seen.topics.filter(({ isDeleted }) => !isDeleted).map(({ chatId, threadId }) => `${chatId} ${threadId}`),
  );
  const bare = rows.tasks.filter((task) => {
    const place = `${address.get(task.chat_id)} ${task.topic_id}`;
    const [card, ...more] = pinned.get(place) ?? [];
    const isRight = card?.text.startsWith(`#${task.number}`) === true && more.length === 0;
    return standing.has(place) && !failed.has(task.id) && !isRight;
  });
  return bare.length === 0 ? [] : [{ promise: 'a topic has its card pinned', rows: bare.slice(0, 5) }];
}

function figuresOf(rows: Rows, seen: Seen, { deleted, pressed }: People['deeds']): string[] {
  const results = rows.deliveries.filter(isResult);
  const counts = groupBy([...seen.calls], ({ fault }) => fault);
  const searched = results.filter(({ evidence }) => evidence !== null);
  const undecided = searched.filter(({ evidence }) => evidence?.includes('undecided') === true);
  return [
    `${results.length} results of ${rows.tasks.length} tasks in ${rows.chats.length} chats, ${seen.calls.length} calls; ${deleted} topics deleted, ${pressed} questions answered`,
    `faults: ${[...counts].map(([kind, calls]) => `${calls.length} ${kind}`).join(', ') || 'none'}`,
    `${searched.length} results were searched for, of which ${undecided.length} could not be decided; ${open(rows).length} are open`,
  ];
}
