import type { ResultTask } from '../../app/ports/outside.ts';
import { isUnreadable } from '../../app/tasks/verbs.ts';
import { checks } from '../../domain/audit.ts';
import { alarmTasksShownMax, backlogCountedMax, messagePartLengthMax } from '../../domain/limits.ts';
import { spanText } from '../../domain/schedule/words/words.ts';
import type { AlarmFacts, Drawn, View } from '../../domain/shown.ts';
import { raised, type BudgetLimit } from '../../domain/spending/budget.ts';
import { failuresPause, type Task } from '../../domain/task.ts';
import { card, type CardFacts, taskName } from '../chat/kit/card.ts';
import { aboutMoment, dayMoment, moment, moments, span, type Setting } from '../chat/kit/clock.ts';
import { button, dataOf, shortId, type Rows } from '../chat/kit/press.ts';
import { blocks, lines, pre, shortened, type Rich, drawn } from '../chat/kit/rich.ts';
import {
  askingDrawn,
  type AskedFacts,
  type AskingView,
  type Of,
  ownerGoneDrawn,
  namedResult,
  resultRows,
  noticeRows,
} from '../chat/results/view.ts';
import { texts } from '../chat/texts.ts';

/** Facts from which a message is drawn, as they stand now. */
export interface About extends Omit<CardFacts, 'mark' | 'startedAt'> {
  /** The task that it is about; null when it has none, or it is gone. */
  readonly task: Task | null;
  /** The zone in which the chat speaks of time. */
  readonly timezone: string;
  /** For questions to people: how that stands. */
  readonly asked?: AskedFacts | null;
}

/** A result is drawn from its row, and the word about what was held from the parts that were. */
export type DrawnView = Exclude<View, Of<'result' | 'bundle' | 'cleaned' | 'started'>>;

/** Draws a view from what is true now. Null when there is nothing left to show. */
export function draw(view: DrawnView, about: About): Drawn | null {
  const { notice, out } = texts;
  const { task } = about;
  switch (view.view) {
    case 'blocked':
      return blockedDrawn(view, about);
    case 'inDoubt':
      return inDoubtDrawn(view, about);
    case 'fallback':
      return fallbackDrawn(view, about);
    case 'topicRemade':
      return drawn(remadeText(view, task));
    case 'oneOffs':
      return oneOffsDrawn(view);
    case 'notRenamed':
      return drawn(blocks(notice.notRenamed(nameIn(about), view.cause), errorOf(view)));
    case 'notPinned':
      return drawn(notice.notPinned);
    case 'tested':
      return testedDrawn(view);
    case 'topicNotRemoved':
      return drawn(out.topicNotRemoved(view.cause, view.error));
    case 'downtime':
      return downtimeDrawn(view, about);
    case 'backlog':
      return backlogDrawn(view, about);
    case 'alarm':
      return alarmDrawn(view, about);
    default:
      if (isOfComing(view)) return comingDrawn(view, about);
      return task === null ? null : drawnAbout(task, view, about);
  }
}

/** A chat or a person went, or came back, or what they may spend is gone. */
type Coming = Of<'chatGone' | 'chatBack' | 'ownerGone' | 'budget'>;

function isOfComing(view: DrawnView): view is Coming {
  return ['chatGone', 'chatBack', 'ownerGone', 'budget'].includes(view.view);
}

function comingDrawn(view: Coming, about: About): Drawn {
  const { notice } = texts;
  switch (view.view) {
    case 'chatGone':
      return drawn(notice.chatGone(view.title, view.paused, view.cause));
    case 'chatBack':
      return drawn(notice.chatBack(view.paused));
    case 'ownerGone':
      return ownerGoneDrawn(view);
    case 'budget':
      return budgetDrawn(view, about);
  }
}

/** A budget that is nearly or wholly used up, with the way to raise it: a press of who may not is told so. */
function budgetDrawn(view: Of<'budget'>, { task, timezone, now }: About): Drawn {
  const { spending } = texts;
  const name =
    view.scope === 'task' && task !== null ? texts.task.plainName(task.number, task.title) : (view.name ?? null);
  const limit = { ...view, name };
  const words =
    view.is === 'near' ? spending.near(limit) : spending.spent(limit, dayMoment(view.until, { timezone, now }));
  return drawn(blocks(words, spending.whoRaises[view.scope]), raiseRows(view));
}

function raiseRows(limit: BudgetLimit): Rows {
  const { account } = limit;
  const quantity = raised(limit.quantity);
  if (quantity <= limit.quantity) return [];
  const who = account.startsWith('telegram:user:') ? account.slice('telegram:user:'.length) : shortId(account);
  const data = dataOf('raise', limit.scope, who, limit.kind, limit.per, quantity);
  return [[button(texts.spending.raise({ ...limit, quantity }), data)]];
}

/** How a trial ended; what it brought stands below. */
function testedDrawn({ title, status, durationMs, error, isEmpty }: Of<'tested'>): Drawn {
  const { action } = texts;
  if (error !== null) return drawn(lines(action.testFailed(title, status), pre(shortened(error, errorShownMax))));
  return drawn(
    lines(
      action.tested(title, status, durationMs < tookToldMs ? null : span(durationMs)),
      isEmpty ? action.testedNothing : null,
    ),
  );
}

const errorShownMax = 1000;
/** Less is no time for a person. */
const tookToldMs = 100;

function remadeText({ isAstray = false }: Of<'topicRemade'>, task: Task | null): Rich | string {
  const { notice } = texts;
  return task?.isTopicShared === true ? notice.sharedRemade(isAstray) : notice.topicRemade(nameIn({ task }), isAstray);
}

/** Admins of the chat, and whoever else may change its settings, may choose. */
function oneOffsDrawn({ topics }: Of<'oneOffs'>): Drawn {
  const { settings } = texts;
  return drawn(settings.oneOffsOffer(topics), [
    [
      button(settings.oneOffsTogether, dataOf('set', 'oneoffs', 'together', 'offer')),
      button(settings.oneOffsKeep, dataOf('set', 'oneoffs', 'apart', 'offer')),
    ],
  ]);
}

function nameIn({ task }: Pick<About, 'task'>): Rich | null {
  return task === null ? null : taskName(task);
}

/** Draws views that are nothing without their task. */
function drawnAbout(
  task: Task,
  view: Of<'card' | 'failed' | 'recovered' | 'completed' | 'autoPaused' | 'contextLeft'> | AskingView,
  about: About,
): Drawn | null {
  switch (view.view) {
    case 'card':
      return card(task, { ...about, mark: about.isTimeless === true ? '' : markOf(task) });
    case 'failed':
      return failedDrawn(view, task, about);
    case 'recovered':
      return recoveredDrawn(view, task, about);
    case 'completed':
      return drawn(texts.notice.completed(taskName(task), view.runs, task.counters.runs > view.runs));
    case 'contextLeft':
      return drawn(texts.notice.contextLeft(taskName(task), view.size));
    case 'autoPaused':
      return autoPausedDrawn(view, task);
    default: {
      const { asked = null, ownerName = null } = about;
      return asked === null ? null : askingDrawn(view, { task, setting: settingFor(task, about), asked, ownerName });
    }
  }
}

function backlogDrawn({ waiting, oldestAt }: Of<'backlog'>, { timezone, now }: About): Drawn {
  const since = moment(oldestAt, { timezone, now });
  const count = waiting >= backlogCountedMax ? `More than ${backlogCountedMax}` : String(waiting);
  return drawn(texts.notice.backlog(count, since, timezone));
}

/**
 * The mark of a card that was not drawn by a callback. Drawing the same state again gives the same card, so that evidence can
 * compare the two.
 */
function markOf({ version, counters }: Pick<Task, 'version' | 'counters'>): string {
  return `${version.toString(36)}-${counters.runs.toString(36)}`;
}

/** A result is the text alone, to the letter, below its file; it was cut into parts that fit long before. */
export function resultDrawn(view: Of<'result'>, task: ResultTask | null): Drawn {
  const { text, occurrenceId, media } = view;
  const named = task === null ? text : namedResult(view, task);
  const words = drawn(shortened(named, messagePartLengthMax), resultRows(task, occurrenceId, 'r'));
  return media === undefined ? words : { ...words, media };
}

function settingFor(task: Task, { timezone, now, dates }: About): Setting {
  return {
    timezone: isUnreadable(task) ? timezone : task.schedule.timezone,
    now,
    dates,
  };
}

function failedDrawn(view: Of<'failed'>, task: Task, about: About): Drawn {
  const { notice } = texts;
  const setting = settingFor(task, about);
  const [next] = about.next;
  const shown = notice.error(view.error);
  return drawn(
    blocks(
      lines(
        notice.failed(taskName(task)),
        view.slotAt === null ? notice.byHand : notice.dueAt(moment(view.slotAt, setting), setting.timezone),
        notice.attempts(view.attempts),
      ),
      shown,
      lines(
        next === undefined ? null : notice.nextTry(moment(next, setting)),
        shown.text.length < view.error.trim().length ? notice.errorCut : null,
      ),
    ),
    noticeRows(task, view.runId, view.error.startsWith('interrupted')),
  );
}

function recoveredDrawn({ since, failures }: Of<'recovered'>, task: Task, about: About): Drawn {
  return drawn(texts.notice.recovered(taskName(task), moment(since, settingFor(task, about)), failures));
}

function autoPausedDrawn({ reason, failures, error }: Of<'autoPaused'>, task: Task): Drawn {
  const { notice } = texts;
  // The one who told of the pause may not have known the count; the task does.
  const count = Math.max(failures, task.counters.consecutiveFailures);
  const isForFailures = reason === failuresPause && count > 0;
  return drawn(
    blocks(
      isForFailures ? notice.autoPaused(taskName(task), count) : notice.autoPausedOther(taskName(task)),
      notice.pauseReasons[reason] ?? null,
      error === null ? null : notice.error(error),
      notice.autoPausedTodo,
    ),
    pausedButtons(task, error !== null),
  );
}

function pausedButtons(task: Task, hasError: boolean): Rows {
  const { button: words } = texts;
  const id = shortId(task.id);
  return [
    [
      task.state === 'paused' ? button(words.resume, dataOf('resume', id, 'n', '')) : null,
      hasError ? button(words.showError, dataOf('lasterror', id)) : null,
      button(words.edit, dataOf('edit', id)),
    ],
  ];
}

function blockedDrawn({ cause, error }: Of<'blocked'>, { task }: About): Drawn {
  const { notice, button: words } = texts;
  return drawn(
    blocks(
      notice.blocked(nameIn({ task }), cause),
      notice.blockedTodo(cause, task === null ? 'unknown' : task.home.address.startsWith('-') ? 'group' : 'private'),
      errorOf({ cause, error }),
    ),
    [[button(words.retry, dataOf('unblock', task === null ? '' : shortId(task.id)))]],
  );
}

/** Words of Telegram say more than ours where the cause is not known. */
function errorOf({ cause, error }: Pick<Of<'blocked'>, 'cause' | 'error'>): Rich | null {
  return cause === 'other' || cause === 'no_write_right' ? texts.notice.error(error) : null;
}

/** Whether a topic was made only a person can tell; every other cause is looked at with the next result. */
function fallbackDrawn({ cause }: Of<'fallback'>, { task }: About): Drawn {
  const { notice, button: words } = texts;
  const retry = button(words.retry, dataOf('unblock', task === null ? '' : shortId(task.id)));
  return drawn(notice.fallback(nameIn({ task }), cause), cause === 'topic_in_doubt' ? [[retry]] : []);
}

function inDoubtDrawn({ deliveryId, sentAt }: Of<'inDoubt'>, about: About): Drawn {
  const { notice, button: words } = texts;
  const { task } = about;
  const setting = task === null ? about : settingFor(task, about);
  const id = shortId(deliveryId);
  return drawn(notice.inDoubt(nameIn(about), moment(sentAt, setting)), [
    [button(words.itArrived, dataOf('arrived', id)), button(words.sendAgain, dataOf('resend', id))],
  ]);
}

function downtimeDrawn(view: Of<'downtime'>, about: About): Drawn {
  const { notice } = texts;
  const names: readonly Rich[] = view.tasks.map(taskName);
  return drawn(
    blocks(
      lines(
        notice.downtime(aboutMoment(view.from, about), aboutMoment(view.to, about), about.timezone, view.cause),
        notice.downtimeCounts(view),
      ),
      names.length === 0 ? null : notice.downtimeTasks(names, view.moreTasks),
      names.length === 0 ? null : notice.downtimeWhy,
    ),
  );
}

/** Trouble of the product itself, as its owners are told of it. What was over when it was told needs no word about that. */
function alarmDrawn({ since, over, facts }: Of<'alarm'>, setting: Setting): Drawn {
  const isPassing = facts.cause === 'clock' || facts.cause === 'downtime';
  const end = over === null || isPassing ? null : texts.alarm.over(at(over, setting));
  return drawn(blocks(end, ...trouble(facts, since, setting)));
}

function at(instant: number, setting: Setting): string {
  return `${aboutMoment(instant, setting)} (${setting.timezone})`;
}

function trouble(facts: AlarmFacts, since: number, setting: Setting): Rich[] {
  const { alarm, notice } = texts;
  switch (facts.cause) {
    case 'database':
    case 'disk':
      return [alarm[facts.cause](at(since, setting)), lines(facts.error), lines(alarm.nothingLost)];
    case 'clock':
      return [alarm.clock(spanText(facts.byMs), at(facts.to, setting), facts.moved)];
    case 'downtime': {
      const [from, to] = [aboutMoment(since, setting), aboutMoment(facts.to, setting)];
      const hasLost = facts.late + facts.missed + facts.asked + facts.skipped > 0;
      return [
        lines(notice.downtime(from, to, setting.timezone, facts.why), notice.downtimeCounts(facts)),
        ...(hasLost ? [lines(alarm.chatsTold)] : []),
      ];
    }
    case 'audit': {
      const { sentence, mended } = checks[facts.check];
      return [
        alarm.audit(at(since, setting)),
        lines(alarm.finding(sentence, facts.count)),
        lines(alarm.auditTodo(mended)),
      ];
    }
    case 'auto_pause': {
      const shown = facts.tasks.slice(0, alarmTasksShownMax);
      const names = notice.downtimeTasks(shown.map(taskName), facts.tasks.length - shown.length);
      return [alarm.autoPause(facts.tasks.length, at(since, setting)), names, lines(alarm.autoPauseTodo)];
    }
    case 'second_opinion':
      return differing(facts, setting);
  }
}

function differing(facts: Extract<AlarmFacts, { cause: 'second_opinion' }>, { now, dates }: Setting): Rich[] {
  const { number, title, timezone, library, ours, theirs } = facts;
  const setting = { timezone, now, dates };
  const { alarm } = texts;
  return [
    alarm.differ(taskName({ number, title })),
    lines(
      alarm.slotsOf('Cronogram', moments(ours, setting)),
      alarm.slotsOf(library, moments(theirs, setting)),
      alarm.slotsZone(timezone),
    ),
    lines(alarm.differTodo),
  ];
}
