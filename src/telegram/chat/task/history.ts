import type { Delivery, TaskRun } from '../../../app/ports/runs.ts';
import type { DeliveryStatus } from '../../../domain/delivery.ts';
import { isByHand, type OccurrenceSource } from '../../../domain/occurrence.ts';
import type { Drawn } from '../../../domain/shown.ts';
import type { Task } from '../../../domain/task.ts';
import { urlOf } from '../../../domain/thread.ts';
import { answeredIn } from '../kit/action.ts';
import { taskName } from '../kit/card.ts';
import { aboutMoment, moment, span, zoneOf, type Setting, pastMoment } from '../kit/clock.ts';
import { button, dataOf, shortId } from '../kit/press.ts';
import { blocks, lines, link, type Rich, drawn } from '../kit/rich.ts';
import { texts, type Texts } from '../texts.ts';

export interface HistoryPage {
  readonly runs: readonly TaskRun[];
  /** The cursor at which this page began; null for the newest runs. */
  readonly from: string | null;
  /** The cursor of the older ones; null when there are none. */
  readonly older: string | null;
  /** How people are called of whom the runs tell. */
  readonly names?: ReadonlyMap<string, string>;
}

/** More buttons than this would hide the runs. */
const whysShown = 4;

/** Runs, newest first, with the way to older ones and to the reasons of those that went wrong. */
export function historyDrawn(task: Task, { runs, from, older, names }: HistoryPage, setting: Setting): Drawn {
  const { history, button: words } = texts;
  const id = shortId(task.id);
  const wrong = runs.filter(({ status }) => status === 'failed' || status === 'missed' || status === 'skipped');
  const whys = wrong
    .slice(0, whysShown)
    .map((run) => button(words.why(whenOf(run, setting)), dataOf('why', id, run.slotAt.toString(36))));
  return drawn(
    blocks(
      history.heading(taskName(task)),
      runs.length === 0 ? history.none : lines(...runs.map((run) => rowOf(run, setting, names))),
      runs.length === 0 ? null : history.footer(zoneOf(task)),
    ),
    [
      whys.slice(0, 2),
      whys.slice(2),
      [
        from === null ? null : button(words.newest, dataOf('history', id)),
        older === null ? null : button(words.older, dataOf('history', id, older)),
      ],
      [button(words.back, dataOf('task', id))],
    ],
  );
}

/** Delays and durations below these are not worth telling. */
const lateToldMs = 60_000;
const tookToldMs = 1_000;

function rowOf(run: TaskRun, setting: Setting, names: HistoryPage['names']): Rich {
  const { history, status } = texts;
  const { attempts, lateMs, runNumber, error } = run;
  const took = attempts.at(-1)?.durationMs ?? 0;
  const answered = answeredIn(run);
  const facts = [
    status[run.status] ?? run.status,
    sourceWords[run.source](history),
    lateMs >= lateToldMs ? history.late(span(lateMs)) : null,
    answered === null ? null : history.answered(answered),
    took >= tookToldMs ? history.took(span(took)) : null,
    attempts.length > 1 ? history.attempts(attempts.length) : null,
    run.reason === 'unchanged' ? history.unchanged : null,
    deliveryText(run, setting),
    doneText(run, setting, names),
    runNumber === null ? null : history.run(runNumber),
  ].filter((fact) => fact !== null);
  const when = whenOf(run, setting);
  const url = messageUrl(run);
  return history.row(url === null ? when : link(when, url), facts, run.status === 'failed' ? error : null);
}

function messageUrl({ deliveries }: TaskRun): string | null {
  const shown = deliveries.find(({ status, messageId }) => status === 'delivered' && messageId !== null);
  return urlOf(shown?.platformChatId, shown?.messageThreadId, shown?.messageId);
}

/** A slot is exact; what somebody asked for by hand came about then. */
function whenOf({ slotAt, source }: TaskRun, setting: Setting): string {
  return isByHand(source) ? aboutMoment(slotAt, setting) : moment(slotAt, setting);
}

const sourceWords: Readonly<Record<OccurrenceSource, (words: Texts['history']) => string | null>> = {
  schedule: () => null,
  catch_up: ({ catchUp }) => catchUp,
  run_now: ({ byHand }) => byHand,
  snooze: ({ snoozed }) => snoozed,
  retry: ({ retried }) => retried,
  replay: ({ replayed }) => replayed,
  stale_refresh: ({ refreshed }) => refreshed,
};

/** Delivery is told apart from the work: both can go wrong alone. The worst part counts. */
function deliveryText({ status, reason, deliveries }: TaskRun, setting: Setting): string | null {
  const { history } = texts;
  const [first] = deliveries;
  if (status !== 'succeeded') return null;
  if (first === undefined) return reason === 'unchanged' ? history.notShown : null;
  const kept = keptText(first, setting);
  if (kept !== null) return kept;
  const order: readonly (readonly [DeliveryStatus, string])[] = [
    ['failed', history.deliveryFailed],
    ['blocked', history.deliveryBlocked],
    ['unknown', history.deliveryUnknown],
    ['sending', history.notDelivered],
    ['pending', history.notDelivered],
  ];
  const worst = order.find(([which]) => deliveries.some((part) => part.status === which));
  return worst?.[1] ?? history.delivered;
}

/** Results that are kept back on purpose; null for all others. */
function keptText({ status, cause, decision, createdAt, heldUntil }: Delivery, setting: Setting): string | null {
  const { history } = texts;
  if (status === 'blocked' && cause === 'approval') return history.forApproval(pastMoment(createdAt, setting));
  if (decision?.isGiven === false) return history.discarded;
  const isHeld = status === 'pending' && heldUntil !== null && heldUntil > setting.now;
  return isHeld ? history.held(pastMoment(heldUntil, setting)) : null;
}

/** Whether somebody has confirmed it, where somebody was asked or has said so. */
function doneText({ ack }: TaskRun, setting: Setting, names: HistoryPage['names']): string | null {
  const { history } = texts;
  if (ack === null) return null;
  if (ack.status === 'open') return history.notDoneYet(ack.nags);
  if (ack.doneAt === null) return history.notDone(ack.nags);
  return history.doneBy(names?.get(ack.doneBy ?? '') ?? texts.chat.somebody, pastMoment(ack.doneAt, setting));
}
