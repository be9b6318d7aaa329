import type { ChatStore, OpenSnooze } from '../../../app/ports/chats.ts';
import type { World } from '../../../app/ports/outside.ts';
import type { GrantStore, TaskStore } from '../../../app/ports/tasks.ts';
import type { TruthStore } from '../../../app/ports/why.ts';
import { skippedAhead, upcoming } from '../../../app/tasks/upcoming.ts';
import { isUnreadable } from '../../../app/tasks/verbs.ts';
import { isPerson } from '../../../domain/access.ts';
import { type DateStyle, settingsOf } from '../../../domain/chat-settings.ts';
import { MINUTE_MS } from '../../../domain/schedule/time/calendar.ts';
import type { Button, Drawn } from '../../../domain/shown.ts';
import {
  executionThread,
  failuresPause,
  isBlank,
  ownerGonePause,
  staleSince,
  type Task,
} from '../../../domain/task.ts';
import { urlOf } from '../../../domain/thread.ts';
import type { ChatContext } from '../context.ts';
import { texts } from '../texts.ts';
import { actionLine, actionLines, filesOf } from './action.ts';
import { aboutMoment, dayMoment, moment, moments, scheduleWords, settingOf, zoneOf, type Setting } from './clock.ts';
import { type LastRun, lastRunOf, type LastRunStore, wasOf } from './last-run.ts';
import { contextText, grantText, policyLines, type Held } from './policy.ts';
import { button, dataOf, shortId, markFor } from './press.ts';
import { lines, type Rich, drawn } from './rich.ts';
import { nameOf, standstill } from './rights.ts';

/** Facts that a card tells beside the task itself. */
export interface CardFacts {
  readonly now: number;
  readonly next: readonly number[];
  readonly ownerName?: string | null;
  readonly pauserName?: string | null;
  /** When it was started by the press that draws this. */
  readonly startedAt?: number;
  /** The end of the last run; its own status where that is not known. */
  readonly last?: LastRun | null;
  /** When it comes once more beside its schedule. */
  readonly snoozes?: readonly OpenSnooze[];
  /** Runs ahead that somebody has skipped. */
  readonly skipped?: readonly number[];
  readonly grant?: Held | null;
  /** How the chat wants dates written. */
  readonly dates?: DateStyle | undefined;
  /** Without the time of which it is: what two drawings have in common where nothing has changed. */
  readonly isTimeless?: true;
  /** With what is seldom looked for as well. */
  readonly isUnfolded?: boolean;
  readonly standstill?: string | null;
  /**
   * Two presses of one button, as it was drawn, have one effect; a button that was drawn anew is another one. So each
   * drawing has its own mark.
   */
  readonly mark: string;
}

/** The card of a task: what it is, how it stands, and everything that can be done to it. */
export function card(task: Task, facts: CardFacts): Drawn {
  return drawn(cardText(task, facts), cardButtons(task, facts));
}

export function cardText(task: Task, facts: CardFacts): Rich {
  const { task: words } = texts;
  const [next, last] = [nextText(task, facts), lastTexts(task, facts)];
  const heading = words.heading(task.number, task.title);
  const isShort = isOneLine(task, facts);
  const isOver = isShort && isEnded(task);
  const [lastLine = null, ...errors] = last;
  const asOf = next === null && last.length === 0 ? null : asOfText(task, facts);
  const comes = next === null || asOf === null ? next : words.nextAsOf(next, asOf);
  const top = [heading, ...(isOver ? [words.completed, lastLine] : [...standing(task, facts), comes])];
  return lines(
    ...(isShort ? [words.oneLine(top.filter((part) => part !== null))] : top),
    actionLine(task, facts),
    skippedText(task, facts),
    snoozeText(task, facts),
    ...(isOver ? errors : last),
    standstillText(task, facts),
    staleText(task, facts),
    grantText(task, facts),
    topicText(task),
    ...(facts.isUnfolded === true ? foldedTexts(task, facts) : []),
    asOf === null || next !== null ? null : words.asOf(asOf),
  );
}

function standstillText({ state }: Task, { standstill: stands = null }: CardFacts): string | null {
  return state === 'active' ? stands : null;
}

function topicText({ topicState, state }: Task): string | null {
  return topicState === 'blocked' && state !== 'deleted' ? texts.task.topicBlocked : null;
}

/** A line that an event to come makes old tells its time. */
function asOfText(task: Task, { now, dates, isTimeless }: CardFacts): string | null {
  return isTimeless === true || task.state !== 'active' ? null : aboutMoment(now, settingOf(task, now, dates));
}

/** A one-off that comes as planned, or is over, has little to tell. */
function isOneLine({ schedule, state }: Task, { isUnfolded = false }: CardFacts): boolean {
  return schedule.kind === 'once' && !isUnfolded && (state === 'active' || state === 'completed');
}

/** A task that goes on as planned takes one line; every other state has its own. */
function standing(task: Task, facts: CardFacts): readonly (Rich | string | null)[] {
  const [state, schedule] = [stateText(task, facts), scheduleText(task, facts)];
  return task.state === 'active' && schedule !== null ? [texts.task.standing(state, schedule)] : [state, schedule];
}

/** The lines behind [More], which few look for every day. */
function foldedTexts(task: Task, facts: CardFacts): readonly (Rich | string | null)[] {
  const isSaid = isBlank(task.instructions) || task.instructions.trim() === task.title;
  return [
    placeText(task),
    contextText(task),
    ...actionLines(task),
    ...policyLines(task.policies, settingOf(task, facts.now, facts.dates)),
    originText(task, facts),
    isSaid ? null : texts.task.text(task.instructions),
  ];
}

function scheduleText(task: Task, { now, dates }: CardFacts): Rich | null {
  const schedule = scheduleWords(task, now, dates);
  return schedule === null ? null : texts.task.scheduled(schedule, zoneOf(task), filesOf(task.action));
}

/** The maker of a task is not always its owner: others take tasks over. */
function originText({ created, ownerId, ...task }: Task, { ownerName = null, now, dates }: CardFacts): string {
  const { task: words } = texts;
  const at = dayMoment(created.at, settingOf(task, now, dates));
  const isTakenOver = isPerson(created.by) && created.by !== ownerId;
  return isTakenOver && ownerName !== null ? words.takenOver(ownerName, at) : words.madeOn(ownerName, at);
}

function nextText(task: Task, { next, now, dates, isUnfolded }: CardFacts): string | null {
  const { state, schedule } = task;
  // The one run of a task is in its schedule.
  if (schedule.kind === 'once' && next.length > 0) return null;
  const told = next.slice(0, isUnfolded === true ? nextShown : 1);
  // Intervals that older versions began amid a minute come with seconds that nobody asked for.
  const shown = schedule.kind === 'interval' ? told.map((at) => Math.floor(at / MINUTE_MS) * MINUTE_MS) : told;
  if (told.length > 0) return texts.task.next(moments(shown, settingOf(task, now, dates)));
  return state === 'active' ? texts.task.noNext : null;
}

const skippedMax = 3;

function skippedText(task: Task, { skipped = [], now, dates }: CardFacts): string | null {
  const ahead = skipped.filter((slot) => slot > now);
  if (ahead.length === 0 || isEnded(task)) return null;
  const told = moments(ahead.slice(0, skippedMax), settingOf(task, now, dates));
  return texts.task.skipped(told, ahead.length - Math.min(ahead.length, skippedMax));
}

function isEnded({ state }: Task): boolean {
  return state === 'completed' || state === 'deleted';
}

function snoozeText(task: Task, { snoozes = [], now, dates }: CardFacts): Rich | string | null {
  const ahead = task.state === 'deleted' ? [] : snoozes.filter(({ at }) => at > now);
  const times = (isHeld: boolean) =>
    ahead
      .filter((snooze) => snooze.isHeld === isHeld)
      .map(({ at }) => aboutMoment(at, settingOf(task, now, dates)))
      .join(', ');
  const [free, held] = [times(false), times(true)];
  const { snoozedTo, snoozedHeld } = texts.task;
  return free === '' && held === ''
    ? null
    : lines(free === '' ? null : snoozedTo(free), held === '' ? null : snoozedHeld(held));
}

/** A sign and the word, because a colour or a sign alone says nothing to many. */
function stateText(task: Task, facts: Pick<CardFacts, 'now' | 'pauserName' | 'dates'>): string {
  const { task: words } = texts;
  const setting = settingOf(task, facts.now, facts.dates);
  switch (task.state) {
    case 'active': {
      const { consecutiveFailures } = task.counters;
      return consecutiveFailures === 0 ? words.active : words.failing(consecutiveFailures);
    }
    case 'paused':
      return pausedText(task, facts.pauserName ?? null, setting);
    case 'completed':
      return words.completed;
    case 'deleted':
      return task.deleted === null ? words.deleted : words.deletedAt(aboutMoment(task.deleted.at, setting));
  }
}

function pausedText(task: Task, by: string | null, setting: Setting): string {
  const { task: words } = texts;
  const { pausedReason, resumeAt, paused } = task;
  const at = paused === null ? null : aboutMoment(paused.at, setting);
  if (resumeAt !== null) return words.pausedUntil(moment(resumeAt, setting));
  if (pausedReason === failuresPause) return words.pausedForFailures(at);
  if (isUnreadable(task)) return words.pausedUnreadable;
  if (pausedReason === 'chat_gone') return words.pausedForChat;
  if (pausedReason === 'harmful_template') return words.pausedForTemplate;
  if (pausedReason === ownerGonePause) return words.pausedForOwner;
  return at === null ? words.paused : words.pausedBy(by, at);
}

function lastTexts(task: Task, facts: CardFacts): readonly (Rich | string)[] {
  const { now, startedAt, last = null, dates } = facts;
  const { task: words } = texts;
  const { lastRunAt, lastRunStatus, lastError } = task;
  const setting = settingOf(task, now, dates);
  if (startedAt !== undefined) return [startedLine(task, aboutMoment(startedAt, setting))];
  if (lastRunAt === null || lastRunStatus === null) return [];
  const { was, done } = last ?? { was: wasOf(lastRunStatus, []), done: 'notAsked' };
  const told = words.last(words.lastWas[was], aboutMoment(lastRunAt, setting), {
    done: typeof done === 'object' ? words.doneBy(done.by) : words.done[done],
    zone: isEnded(task) && isOneLine(task, facts) ? setting.timezone : null,
    runs: task.counters.runs,
  });
  return [told, ...(lastRunStatus === 'failed' && lastError !== null ? [words.lastError(lastError)] : [])];
}

function startedLine(task: Task, at: string): Rich {
  const words = texts.task;
  return (task.isTopicShared ? words.startedShared : words.started)(at, topicUrl(task));
}

function staleText(task: Task, { now, dates }: CardFacts): string | null {
  const since = staleSince(task, now);
  return since === null ? null : texts.task.stale(aboutMoment(since, settingOf(task, now, dates)));
}

function placeText(task: Task): Rich | string | null {
  const { task: words } = texts;
  if (task.state === 'deleted' || task.topicState === 'blocked') return null;
  if (task.topicState !== 'ready') return words.topicLater;
  return task.isTopicShared ? words.inShared(topicUrl(task)) : words.inTopic(topicUrl(task));
}

export function topicUrl(task: Task): string | null {
  const thread = executionThread(task);
  return urlOf(thread?.address, thread?.topic);
}

/** An ended task offers what still works. Delete stands apart from buttons that only look. */
export function cardButtons(
  task: Task,
  { next, mark, isUnfolded = false }: Pick<CardFacts, 'next' | 'mark' | 'isUnfolded'>,
): (Button | null)[][] {
  const { button: words } = texts;
  const id = shortId(task.id);
  const history = button(words.history, dataOf('history', id));
  if (task.state === 'deleted') return [[button(words.undo, dataOf('restore', id)), history]];
  const goesOn = task.state === 'active';
  const [first] = next;
  return [
    [
      button(isEnded(task) ? words.runAgain : words.runNow, dataOf('run', id, mark)),
      goesOn ? button(words.pause, dataOf('pause', id)) : null,
      task.state === 'paused' ? goOnButton(task) : null,
      goesOn && first !== undefined ? button(words.skip, dataOf('skip', id, first.toString(36))) : null,
    ],
    [
      button(words.edit, dataOf('edit', id)),
      history,
      isUnfolded ? button(words.less, dataOf('task', id)) : button(words.more, dataOf('task', id, 'more')),
      button(words.delete, dataOf('delete', id)),
    ],
  ];
}

/** A task that waits for its owner goes on under another right than theirs. */
function goOnButton({ id, pausedReason }: Task): Button | null {
  const [verb, words] =
    pausedReason === ownerGonePause ? ['renew', texts.reminder.button.renew] : ['resume', texts.button.resume];
  return button(words, dataOf(verb, shortId(id)));
}

export function taskName({ number, title }: Pick<Task, 'number' | 'title'>): Rich {
  return texts.task.name(number, title);
}

const nextShown = 3;

type Here = Pick<ChatContext, 'place' | 'clock'>;

/** On the clocks of the chat, in the words that it has chosen for dates. */
export function settingHere({ place, clock }: Here): Setting {
  return { timezone: place.timezone, now: clock.now(), dates: settingsOf(place.chat.settings).dates };
}

/** On the clocks of the task, in the words that the chat has chosen for dates. */
export function settingFor(
  task: Pick<Task, 'schedule'>,
  { place, clock }: Pick<ChatContext, 'place' | 'clock'>,
): Setting {
  return settingOf(task, clock.now(), settingsOf(place.chat.settings).dates);
}

export interface FactsDeps extends Pick<World, 'clock'> {
  readonly store: Pick<ChatStore, 'snoozesOf' | 'readUser'> &
    Pick<TaskStore, 'listTaskRuns'> &
    Pick<GrantStore, 'readGrant'> &
    Pick<TruthStore, 'readPlanned'> &
    LastRunStore;
}

/** Facts about a task as they stand now, wherever it is shown. */
export async function readFacts(task: Task, { clock, store }: FactsDeps): Promise<Omit<CardFacts, 'dates' | 'mark'>> {
  const now = clock.now();
  // A schedule that cannot be read any more has no slots to come, and neither has what was deleted.
  const isOver = task.state === 'deleted' || isUnreadable(task);
  const planned = isOver ? null : await store.readPlanned(task.id);
  return {
    now,
    snoozes: (await store.snoozesOf([task.id])).get(task.id) ?? [],
    skipped: isOver ? [] : await skippedAhead((query) => store.listTaskRuns(query), task.id, now),
    next: planned === null ? [] : upcoming(planned, nextShown),
    ownerName: await nameOf({ store }, task.ownerId),
    pauserName: task.paused === null ? null : await nameOf({ store }, task.paused.by),
    last: await lastRunOf(task, store),
    grant: isOver ? null : await store.readGrant(task.grantId),
  };
}

/** Facts of a card that is drawn for a word or a press here. */
export async function factsOf(task: Task, ctx: ChatContext): Promise<CardFacts> {
  const { dates } = settingsOf(ctx.place.chat.settings);
  const stands = await standstill(ctx, task.action.kind, settingFor(task, ctx));
  return { ...(await readFacts(task, ctx)), dates, mark: markFor(ctx), standstill: stands };
}

export const cardOf = async (task: Task, ctx: ChatContext): Promise<Drawn> => card(task, await factsOf(task, ctx));

/** The card of a task that this person has made a moment ago: nothing has happened to it that would have to be read. */
export function newCard(task: Task, ctx: ChatContext): Drawn {
  const { dates } = settingsOf(ctx.place.chat.settings);
  const ahead = { skipped: [], reserved: 0, awaitsEnd: false, rightEndsAt: null };
  const next = upcoming({ task, ahead }, nextShown);
  return card(task, { now: ctx.clock.now(), next, ownerName: ctx.person.name, dates, mark: markFor(ctx) });
}

/** The next slots with their zone; null where there are none, as in a row that cannot be read. */
export async function comingWords(task: Task, ctx: ChatContext): Promise<string | null> {
  const next = task.state === 'active' ? await ctx.truth.upcoming(task.id, nextShown) : [];
  const setting = settingFor(task, ctx);
  return next.length === 0 ? null : `${moments(next, setting)} (${setting.timezone})`;
}

/** `Next: ... (zone)`, or that nothing is planned: every answer about a time says both. */
export async function nextSentence(task: Task, ctx: ChatContext): Promise<string> {
  const coming = await comingWords(task, ctx);
  return coming === null ? texts.task.noNext : texts.task.next(coming);
}
