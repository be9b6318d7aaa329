import { ordinal } from '../../../domain/ack.ts';
import type { AckView, OpenQuestion } from '../../../app/ports/questions.ts';
import type { Drawn, View } from '../../../domain/shown.ts';
import type { Task } from '../../../domain/task.ts';
import { button, dataOf, shortId, type Rows } from '../kit/press.ts';
import { taskName } from '../kit/card.ts';
import { aboutMoment, moment, pastMoment, type Setting } from '../kit/clock.ts';
import { resultButtons, withLine } from './result.ts';
import { blocks, lines, type Rich, drawn } from '../kit/rich.ts';
import { texts } from '../texts.ts';

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
  readonly ownerName: string | null;
}

/** Null when nobody has to be asked any more. */
export function askingDrawn(view: Asking, scene: AskingScene): Drawn | null {
  switch (view.view) {
    case 'nag':
      return nagDrawn(view, scene);
    case 'escalated':
      return scene.asked.topic === null ? escalatedDrawn(view, scene) : gaveUpDrawn(view, scene);
    case 'missed':
      return missedDrawn(view, scene);
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

function replyTo(shown: Drawn, { result }: AckView): Drawn {
  return result === null ? shown : { ...shown, replyTo: result.messageId };
}

/** The line below the reminders that came to nothing. */
function gaveUpDrawn({ nags, told }: Of<'escalated'>, { task, asked: { ack } }: AskingScene): Drawn | null {
  if (ack?.status !== 'given_up') return null;
  const { reminder } = texts;
  const times = reminder.times(nags);
  return replyTo(
    drawn(isGroup(task) ? reminder.gaveUpTold(times, told ?? reminder.theGroup) : reminder.gaveUp(times)),
    ack,
  );
}

/** To somebody who can do more than be reminded, beside the task or in their own chat, where only a link leads to it. */
function escalatedDrawn(view: Of<'escalated'>, scene: AskingScene): Drawn | null {
  const { task, setting } = scene;
  const { ack, address } = scene.asked;
  if (ack?.status !== 'given_up') return null;
  const { reminder, button: words } = texts;
  const isHere = address === task.home.address;
  const url = linkTo(task, ack.result?.messageId ?? null);
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
      isHere ? ownerWord(scene) : null,
      isHere || ack.chatTitle === null ? null : reminder.escalatedIn(ack.chatTitle),
    ),
    rows,
  );
}

function isGroup({ home }: Task): boolean {
  return home.address.startsWith('-');
}

/** Among many people it is told whose it is; what the API made is nobody's. */
function ownerWord({ task, ownerName }: AskingScene): string | null {
  const isOfPerson = task.ownerId.startsWith('telegram:user:');
  return isGroup(task) && isOfPerson && ownerName !== null ? texts.reminder.escalatedOwner(ownerName) : null;
}

/** Only messages of supergroups have addresses that everybody can open. */
function linkTo({ home, topicId }: Task, messageId: number | null): string | null {
  const group = /^-100(\d+)$/.exec(home.address)?.[1];
  if (group === undefined || messageId === null || topicId === null) return null;
  return `https://t.me/c/${group}/${topicId}/${messageId}`;
}

/** What is over is told of as it was asked about, without the buttons. */
function missedDrawn(view: Of<'missed'>, { task, setting, asked: { question } }: AskingScene): Drawn | null {
  const open = view.isOver === true ? view : question;
  if (open === null) return null;
  const { reminder } = texts;
  const { count, from, to, decideBy } = open;
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
  return view.isOver === true ? overDrawn(words, reminder.missedOver) : drawn(words, missedRows(task, count));
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

function overDrawn(words: Rich, line: string): Drawn {
  const shown = drawn(words);
  return withLine(shown, line) ?? shown;
}

function approvalDrawn(view: Of<'approval'>, { task, setting }: AskingScene): Drawn {
  const { reminder } = texts;
  const run = shortId(view.runId);
  const until = `${aboutMoment(view.decideBy, setting)} (${setting.timezone})`;
  const words = lines(
    reminder.approval(taskName(task), view.mediaKind),
    view.text.trim() === '' && view.mediaKind !== undefined ? null : reminder.approvalQuote(view.text),
    view.isOver === true ? null : reminder.approvalUntil(until, isGroup(task)),
  );
  if (view.isOver === true) return overDrawn(words, reminder.approvalExpired);
  return drawn(words, [
    [button(reminder.button.deliver, dataOf('deliver', run)), button(reminder.button.discard, dataOf('discard', run))],
  ]);
}
