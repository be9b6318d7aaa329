import type { TaskRun } from '../../../app/task-store.ts';
import type { DeliveryStatus } from '../../../domain/delivery.ts';
import { isByHand, type OccurrenceSource } from '../../../domain/occurrence.ts';
import type { Task } from '../../../domain/task.ts';
import type { Drawn } from '../../../domain/shown.ts';
import { button, dataOf, shortId } from '../buttons/press.ts';
import { aboutMoment, moment, settingOf, zoneOf, type Setting } from './clock.ts';
import { drawn } from './drawing.ts';
import { taskName } from './card.ts';
import { blocks, lines } from './rich.ts';
import { texts } from './texts.ts';

/** The last runs, newest first, with the way back to the card. */
export function historyDrawn(task: Task, runs: readonly TaskRun[], now: number): Drawn {
  const { history } = texts;
  const rows = runs.map((run) => rowOf(run, task, now));
  return drawn(
    blocks(
      history.heading(taskName(task)),
      rows.length === 0 ? history.none : lines(...rows),
      rows.length === 0 ? null : history.footer(zoneOf(task)),
    ),
    [[button(texts.button.back, dataOf('task', shortId(task.id)))]],
  );
}

function rowOf(run: TaskRun, task: Task, now: number): string {
  const { history, status } = texts;
  const attempts = run.attempts.length > 1 ? history.attempts(run.attempts.length) : '';
  const error = run.status === 'failed' && run.error !== null ? history.error(run.error) : '';
  const more = `${sourceWords[run.source]}${attempts}${deliveryText(run)}${error}`;
  return history.row(whenOf(run, settingOf(task, now)), status[run.status] ?? run.status, more);
}

/** A slot is exact; what somebody asked for by hand came about then. */
function whenOf({ slotAt, source }: TaskRun, setting: Setting): string {
  return isByHand(source) ? aboutMoment(slotAt, setting) : moment(slotAt, setting);
}

const sourceWords: Readonly<Record<OccurrenceSource, string>> = {
  schedule: '',
  catch_up: texts.history.catchUp,
  run_now: texts.history.byHand,
  snooze: texts.history.snoozed,
  retry: texts.history.retried,
  replay: texts.history.replayed,
};

/** That the work was done and that people saw it are two things. The worst part counts. */
function deliveryText({ status, deliveries }: TaskRun): string {
  const { history } = texts;
  if (status !== 'succeeded' || deliveries.length === 0) return '';
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
