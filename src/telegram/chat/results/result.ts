import type { Drawn } from '../../../domain/shown.ts';
import { captionLengthMax, messagePartLengthMax } from '../../../domain/limits.ts';
import type { Task } from '../../../domain/task.ts';
import { button, dataOf, keyboard, shortId, type Rows } from '../kit/press.ts';
import { texts } from '../texts.ts';

/** What can be done with a result: a reminder is done or put off, all else is run again, and is done where it asks for that. */
export function resultButtons(task: Task | null, occurrenceId: string, mark: string): Rows {
  const { button: words } = texts;
  if (task === null || task.state === 'deleted') return [];
  const [id, occurrence] = [shortId(task.id), shortId(occurrenceId)];
  const done = button(words.done, dataOf('done', id, occurrence));
  if (task.action.kind === 'message') return [[done, button(words.snooze, dataOf('snooze', id, occurrence))]];
  const again = button(words.runAgain, dataOf('run', id, mark, occurrence));
  return [task.policies.ack === undefined ? [again] : [done, again]];
}

interface DoneOf {
  readonly taskId: string;
  readonly occurrenceId: string;
}

/** What is done says by whom, and has a button for whoever pressed by mistake. Where the text leaves no room, a button says it. */
export function doneShown(shown: Drawn, line: string, { taskId, occurrenceId }: DoneOf): Drawn {
  const back = button(texts.reminder.button.notDone, dataOf('notdone', shortId(taskId), shortId(occurrenceId)));
  const told = withLine(shown, line);
  return told === null ? withRows(shown, [[button(line, dataOf('seen'))], [back]]) : withRows(told, [[back]]);
}

/** A message keeps its words, and its file, when its buttons change. */
export function withRows({ text, entities, media }: Drawn, rows: Rows): Drawn {
  const buttons = keyboard(rows);
  return {
    text,
    ...(entities === undefined ? {} : { entities }),
    ...(media === undefined ? {} : { media }),
    ...(buttons.length === 0 ? {} : { buttons }),
  };
}

/** What a message was given after it was sent stands behind this, so that it can be told from what it said at first. */
const lineSign = '\n\n— ';

/** The last line says what became of the message; it takes the place of the one before. Null when there is no room for it. */
export function withLine(shown: Drawn, line: string): Drawn | null {
  const text = `${withoutLine(shown).text}${lineSign}${line}`;
  const max = shown.media === undefined ? messagePartLengthMax : captionLengthMax;
  return text.length > max ? null : { ...shown, text };
}

/** The message as it was at first. */
export function withoutLine(shown: Drawn): Drawn {
  const at = shown.text.lastIndexOf(lineSign);
  const isLast = at >= 0 && !shown.text.slice(at + lineSign.length).includes('\n');
  return isLast ? { ...shown, text: shown.text.slice(0, at) } : shown;
}

/** The buttons of a word about a failure; they follow the state of the task when one of them is pressed. */
export function noticeRows(task: Task, runId: string | null, isInterrupted = false): Rows {
  const { button: words } = texts;
  // Nobody knows what an interrupted run has done already, so to do it once more is more than to try again.
  const again = isInterrupted ? words.runAgain : words.retry;
  const id = shortId(task.id);
  const run = runId === null ? '' : shortId(runId);
  return [
    [
      runId === null ? null : button(again, dataOf('retry', run)),
      button(words.showError, runId === null ? dataOf('lasterror', id) : dataOf('error', run)),
      task.state === 'active' ? button(words.pause, dataOf('pause', id, 'n', run)) : null,
      task.state === 'paused' ? button(words.resume, dataOf('resume', id, 'n', run)) : null,
    ],
  ];
}
