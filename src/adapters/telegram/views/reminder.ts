import { ordinal } from '../../../domain/ack.ts';
import type { AckView } from '../../../app/acks/store.ts';
import type { OpenQuestion } from '../../../app/questions.ts';
import type { Drawn, View } from '../../../domain/shown.ts';
import type { Task } from '../../../domain/task.ts';
import { button, dataOf, shortId, type Rows } from '../buttons/press.ts';
import { taskName } from './card.ts';
import { aboutMoment, moment, pastMoment, type Setting } from './clock.ts';
import { drawn } from './drawing.ts';
import { resultButtons } from './result.ts';
import { blocks, lines } from './rich.ts';
import { texts } from './texts.ts';

/** Where a message of this kind goes, and how that stands by now which it asks about. */
export interface Asked {
  readonly address: string;
  readonly topic: number | null;
  readonly ack: AckView | null;
  readonly question: OpenQuestion | null;
}

type Of<Name extends View['view']> = Extract<View, { view: Name }>;
export type Asking = Of<'nag' | 'escalated' | 'missed' | 'approval' | 'mayNotRun'>;

export function isAsking(view: View): view is Asking {
  return ['nag', 'escalated', 'missed', 'approval', 'mayNotRun'].includes(view.view);
}

export interface AskingScene {
  readonly task: Task;
  readonly setting: Setting;
  readonly asked: Asked;
}

/** Null when nobody has to be asked any more. */
export function askingDrawn(view: Asking, scene: AskingScene): Drawn | null {
  switch (view.view) {
    case 'nag':
      return nagDrawn(view, scene);
    case 'escalated':
      return scene.asked.topic === null ? escalatedDrawn(view, scene) : gaveUpDrawn(view, scene);
    case 'missed':
      return missedDrawn(scene);
    case 'approval':
      return approvalDrawn(view, scene);
    case 'mayNotRun':
      return drawn(texts.reminder.mayNotRun(taskName(scene.task), view.reason, view.hasLeft));
  }
}

function nagDrawn(
  { occurrenceId, text, dueAt, number }: Of<'nag'>,
  { task, setting, asked: { ack } }: AskingScene,
): Drawn | null {
  if (ack?.status !== 'open') return null;
  const { reminder } = texts;
  const words = lines(
    reminder.stillOpen(taskName(task), pastMoment(dueAt, setting), ordinal(number)),
    text.trim() === '' || task.title.startsWith(text.trim()) ? null : reminder.quote(text),
  );
  return replyTo(drawn(words, resultButtons(task, occurrenceId, 'r')), ack);
}

function replyTo(shown: Drawn, { resultMessageId }: AckView): Drawn {
  return resultMessageId === null ? shown : { ...shown, replyTo: resultMessageId };
}

/** The line below the reminders that came to nothing. */
function gaveUpDrawn({ nags }: Of<'escalated'>, { task, asked: { ack } }: AskingScene): Drawn | null {
  if (ack?.status !== 'given_up') return null;
  const { reminder } = texts;
  const isGroup = task.home.address.startsWith('-');
  const times = reminder.times(nags);
  return replyTo(drawn(isGroup ? reminder.gaveUpTold(times) : reminder.gaveUp(times)), ack);
}

/** To somebody who can do more than be reminded, beside the task or in their own chat, where only a link leads to it. */
function escalatedDrawn(view: Of<'escalated'>, { task, setting, asked: { ack, address } }: AskingScene): Drawn | null {
  if (ack?.status !== 'given_up') return null;
  const { reminder, button: words } = texts;
  const isHere = address === task.home.address;
  const url = linkTo(task, ack.resultMessageId);
  const rows: Rows = [
    [
      isHere ? button(words.done, dataOf('done', shortId(task.id), shortId(view.occurrenceId))) : null,
      url === null ? null : { text: reminder.button.open, url },
    ],
  ];
  const due = `${pastMoment(view.dueAt, setting)} (${setting.timezone})`;
  return drawn(
    blocks(
      reminder.escalated(taskName(task), due, reminder.times(view.nags)),
      isHere || ack.chatTitle === null ? null : reminder.escalatedIn(ack.chatTitle),
    ),
    rows,
  );
}

/** Only messages of supergroups have addresses that everybody can open. */
function linkTo({ home, topicId }: Task, messageId: number | null): string | null {
  const group = /^-100(\d+)$/.exec(home.address)?.[1];
  if (group === undefined || messageId === null || topicId === null) return null;
  return `https://t.me/c/${group}/${topicId}/${messageId}`;
}

function missedDrawn({ task, setting, asked: { question } }: AskingScene): Drawn | null {
  if (question === null) return null;
  const { reminder } = texts;
  const { count, from, to, decideBy } = question;
  const name = taskName(task);
  const until = `${aboutMoment(decideBy, setting)} (${setting.timezone})`;
  const zone = setting.timezone;
  const words =
    count === 1
      ? lines(reminder.missedOne(name, moment(to, setting), zone), reminder.missedUntilOne(until))
      : lines(
          reminder.missedMany(name, { count, from: moment(from, setting), to: moment(to, setting), zone }),
          reminder.missedUntil(until),
        );
  return drawn(words, missedRows(task, count));
}

function missedRows(task: Task, count: number): Rows {
  const { button: words } = texts.reminder;
  const id = shortId(task.id);
  const skip = button(words.skip, dataOf('missed', id, 'none'));
  if (count === 1) return [[button(words.runIt, dataOf('missed', id, 'latest')), skip]];
  return [
    [button(words.runLatest, dataOf('missed', id, 'latest')), button(words.runAll(count), dataOf('missed', id, 'all'))],
    [skip],
  ];
}

function approvalDrawn({ runId, text, decideBy }: Of<'approval'>, { task, setting }: AskingScene): Drawn {
  const { reminder } = texts;
  const run = shortId(runId);
  const until = `${aboutMoment(decideBy, setting)} (${setting.timezone})`;
  return drawn(lines(reminder.approval(taskName(task), until), reminder.approvalQuote(text)), [
    [button(reminder.button.deliver, dataOf('deliver', run)), button(reminder.button.discard, dataOf('discard', run))],
  ]);
}
