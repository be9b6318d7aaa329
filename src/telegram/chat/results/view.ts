import type { ResultTask } from '../../../app/ports/outside.ts';
import type { AckView, NotedDone, OpenQuestion } from '../../../app/ports/questions.ts';
import type { TaskRun } from '../../../app/ports/runs.ts';
import { userIdOf } from '../../../domain/access.ts';
import { captionLengthMax, messagePartLengthMax } from '../../../domain/limits.ts';
import { isObstacle, isOfSecret } from '../../../domain/occurrence.ts';
import { policyOf } from '../../../domain/policy.ts';
import type { Drawn, View } from '../../../domain/shown.ts';
import { ownerGonePause, type Task } from '../../../domain/task.ts';
import { urlOf } from '../../../domain/thread.ts';
import type { Answer, ChatContext } from '../context.ts';
import { alerted, answer, forAsker, redrawn, toasted, toastOf } from '../kit/answers.ts';
import { taskName, topicUrl } from '../kit/card.ts';
import { aboutMoment, moment, pastMoment, type Setting } from '../kit/clock.ts';
import { button, dataOf, shortId, type Rows, keyboard } from '../kit/press.ts';
import { blocks, lines, type Rich, drawn } from '../kit/rich.ts';
import { texts } from '../texts.ts';

/** The place of a message that asks, and the state of the matter by now. */
export interface AskedFacts {
  /** It is over, and a line below says how: nothing is asked for any more. */
  readonly isOver?: true;
  readonly address: string;
  readonly topic: number | null;
  readonly ack: AckView | null;
  readonly question: OpenQuestion | null;
}

/** The view of that name. */
export type Of<Name extends View['view']> = Extract<View, { view: Name }>;
export type AskingView = Of<'nag' | 'escalated' | 'missed' | 'approval' | 'mayNotRun' | 'grantEnds'>;

export function isAsking(view: View): view is AskingView {
  return ['nag', 'escalated', 'missed', 'approval', 'mayNotRun', 'grantEnds'].includes(view.view);
}

interface AskingScene {
  readonly task: Task;
  readonly setting: Setting;
  readonly asked: AskedFacts;
  readonly ownerName: string | null;
}

/** Null when nobody has to be asked any more. */
export function askingDrawn(view: AskingView, scene: AskingScene): Drawn | null {
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
      return mayNotRunDrawn(view, scene);
    case 'grantEnds':
      return grantEndsDrawn(view, scene);
  }
}

/** The right is renewed by anybody who may change the task, with a right of their own. */
function mayNotRunDrawn({ reason, error }: Of<'mayNotRun'>, { task, ownerName }: AskingScene): Drawn {
  const { reminder } = texts;
  const words = reminder.mayNotRun(taskName(task), reason, task.action.kind);
  // No right brings back what the program cannot do any more, or a secret.
  if (reason === 'gone_kind') return drawn(words);
  if (isOfSecret(reason)) return drawn(lines(words, error === undefined ? null : reminder.secretError(error)));
  const who = isGroup(task) ? reminder.ownerOrAdmin(ownerName) : null;
  const lacks = error === undefined ? null : reminder.mayNotRunError(error);
  return drawn(blocks(lines(words, lacks), reminder.mayNotRunTodo(who)), renewRows(task, reason === 'grant_scope'));
}

function grantEndsDrawn({ expiresAt }: Of<'grantEnds'>, { task, setting, ownerName }: AskingScene): Drawn {
  const { reminder } = texts;
  const who = isGroup(task) ? reminder.ownerOrAdmin(ownerName) : null;
  const words = reminder.grantEnds(taskName(task), aboutMoment(expiresAt, setting));
  return drawn(blocks(words, reminder.grantEndsTodo(who)), renewRows(task));
}

/** Of a right that does not cover what the task does, more is asked for than of one that has ended. */
function renewRows({ id }: Task, isNarrow = false): Rows {
  return [[button(texts.reminder.button.renew, dataOf('renew', shortId(id), 'n', ...(isNarrow ? ['all'] : [])))]];
}

/** The outcome of a run by hand that does not run: it waits for its turn, or may not run. */
export function notStarted(
  task: Task,
  { status, reason }: Pick<TaskRun, 'status' | 'reason'>,
): { readonly words: string; readonly rows: Rows; readonly waits: boolean } | null {
  const { reminder, deed } = texts;
  const name = texts.task.plainName(task.number, task.title);
  if (status === 'pending') {
    const isReplacing = task.policies.overlap === 'replace';
    return { words: (isReplacing ? deed.takesOver : deed.waitsTurn)(name), rows: [], waits: true };
  }
  if (reason === 'budget') return { words: texts.spending.skippedNow(name), rows: [], waits: false };
  if (!isObstacle(reason)) return null;
  const isOrphan = task.pausedReason === ownerGonePause;
  const words = isOrphan ? reminder.waitsForOwner(name) : reminder.mayNotRunNow(name, reason, task.action.kind);
  if (reason === 'gone_kind' || isOfSecret(reason)) return { words, rows: [], waits: false };
  return { words: `${words} ${reminder.whoRenews}`, rows: renewRows(task), waits: false };
}

/** The answer to whoever has started a run elsewhere than in its topic. It may be known that the first run joins the others. */
export function startedDrawn(task: Task, isShared = task.isTopicShared): Drawn {
  const { deed } = texts;
  const waits = task.topicState === 'blocked';
  return drawn(
    waits
      ? deed.startedWaits(taskName(task))
      : (isShared ? deed.startedShared : deed.started)(taskName(task), topicUrl(task)),
  );
}

/** The same for a press: in a toast where it waits, and with the way out below the message where it may not run. */
export function notStartedPressed(task: Task, run: Pick<TaskRun, 'status' | 'reason'>): Answer | null {
  const told = notStarted(task, run);
  if (told === null) return null;
  return told.waits
    ? toasted(told.words)
    : { ...forAsker(answer(told.words, told.rows)), ...toastOf(told.words, true) };
}

/** One word for all tasks of a person who is gone. */
export function ownerGoneDrawn({ ownerId, name, tasks }: Of<'ownerGone'>): Drawn {
  const { reminder } = texts;
  return drawn(reminder.ownerGone(name, tasks), [
    [button(reminder.button.renew, dataOf('renewall', userIdOf(ownerId) ?? ''))],
  ]);
}

function nagDrawn(
  { occurrenceId, text, dueAt, number }: Of<'nag'>,
  { task, setting, asked: { ack } }: AskingScene,
): Drawn | null {
  if (ack?.status !== 'open') return null;
  const { reminder } = texts;
  const { ack: asks } = policyOf(task.policies, { actionKind: task.action.kind, minGapMs: null });
  const words = lines(
    reminder.stillOpen(taskName(task), pastMoment(dueAt, setting), {
      nag: number,
      of: Math.max(number, asks?.nagLimit ?? 0),
    }),
    text.trim() === '' || task.title.startsWith(text.trim()) ? null : reminder.quote(text),
  );
  return replyTo(drawn(words, resultRows(task, occurrenceId, 'r')), ack);
}

function replyTo(shown: Drawn, { result }: AckView): Drawn {
  return result === null ? shown : { ...shown, replyTo: result.messageId };
}

/** The line below the reminders that came to nothing. */
function gaveUpDrawn({ nags, told }: Of<'escalated'>, { task, asked: { ack, isOver } }: AskingScene): Drawn | null {
  if (ack?.status !== 'given_up') return null;
  const { reminder } = texts;
  const times = reminder.times(nags);
  if (isOver === true) return replyTo(drawn(reminder.gaveUpOver(times)), ack);
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
  const messageId = ack.result?.messageId ?? null;
  const url = task.topicId === null || messageId === null ? null : urlOf(task.home.address, task.topicId, messageId);
  const rows: Rows = [
    [
      isHere ? button(words.done, dataOf('done', shortId(task.id), shortId(view.occurrenceId))) : null,
      url === null ? null : { text: reminder.button.open, url },
    ],
  ];
  const due = `${aboutMoment(view.dueAt, setting)} (${setting.timezone})`;
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

/** A question that is over is told as it was asked, without the buttons. */
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
  if (view.isEffect === true) return effectDrawn(view, { task, until });
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

/** Something that a run would do, and does only when somebody lets it. */
function effectDrawn(view: Of<'approval'>, { task, until }: { readonly task: Task; readonly until: string }): Drawn {
  const { reminder } = texts;
  const run = shortId(view.runId);
  const words = lines(
    reminder.effect(taskName(task)),
    reminder.approvalQuote(view.text),
    view.isOver === true ? null : reminder.effectUntil(until, isGroup(task)),
  );
  if (view.isOver === true) return overDrawn(words, reminder.effectExpired);
  return drawn(words, [
    [button(reminder.button.doIt, dataOf('deliver', run)), button(reminder.button.discard, dataOf('discard', run))],
  ]);
}

/** Buttons of a result: a reminder is done or put off, all else is run again, and is done where it asks for that. */
export function resultRows(task: ResultTask | null, occurrenceId: string, mark: string): Rows {
  const { button: words } = texts;
  if (task === null || task.state === 'deleted') return [];
  const [id, occurrence] = [shortId(task.id), shortId(occurrenceId)];
  const done = button(words.done, dataOf('done', id, occurrence));
  // A digest is news of the day, and /digest now makes another one.
  if (task.action.kind === 'digest') return [];
  if (task.action.kind === 'message') return [[done, button(words.snooze, dataOf('snooze', id, occurrence))]];
  const again = button(words.runAgain, dataOf('run', id, mark, occurrence));
  return [task.policies.ack === undefined ? [again] : [done, again]];
}

type Named = Pick<ResultTask, 'number' | 'title' | 'isTopicShared'>;

/** Before the words of a result that stands among those of other tasks. A text that begins with the title is not told it twice. */
function headOf(text: string, { number, title }: Named): string {
  return text.startsWith(title.replace(/…$/, '')) ? `#${number} ` : `#${number} ${title}\n`;
}

/** In the topic that one-offs share a result names its task, where there is room for that. */
export function namedResult({ text, media }: Pick<Drawn, 'text' | 'media'>, task: Named): string {
  const named = task.isTopicShared ? `${headOf(text, task)}${text}`.trimEnd() : text;
  return named.length > (media === undefined ? messagePartLengthMax : captionLengthMax) ? text : named;
}

/** The texts that a result may have had before it was given the name of its task. */
export function unnamedResult(shown: string, task: Named): readonly string[] {
  if (!task.isTopicShared) return [shown];
  const heads = [`#${task.number} `, `#${task.number} ${task.title}\n`];
  return [shown, ...heads.filter((head) => shown.startsWith(head)).map((head) => shown.slice(head.length))];
}

/** A result as it was at first. */
export function firstShown(result: NotedDone['result'], task: Named): Drawn | null {
  if (result === null || !('text' in result.shown)) return null;
  const text = namedResult(result.shown, task);
  return 'media' in result.shown && result.shown.media !== undefined ? { text, media: result.shown.media } : { text };
}

/** Stays below the result for good, so the line names the day when that is not the day of the result. `ends`: the snooze that it ends. */
export function doneLine(
  name: string,
  at: number,
  {
    result,
    setting,
    ends,
  }: { readonly result: AckView['result']; readonly setting: Setting; readonly ends: string | null },
): string {
  const { doneBy, doneForGoodBy } = texts.reminder;
  const when = pastMoment(at, { ...setting, now: result?.at ?? setting.now });
  return ends === null ? doneBy(name, when) : doneForGoodBy(name, when, ends);
}

/** A result that is done says by whom, and has a button against mistakes. Where the text leaves no room, a button says it. */
export function doneShown(
  shown: Drawn,
  line: string,
  done: { readonly taskId: string; readonly occurrenceId: string },
): Drawn {
  const back = button(
    texts.reminder.button.notDone,
    dataOf('notdone', shortId(done.taskId), shortId(done.occurrenceId)),
  );
  const told = withLine(shown, line);
  return told === null ? withRows(shown, [[button(line, dataOf('seen'))], [back]]) : withRows(told, [[back]]);
}

/** The question with what became of it, and without its buttons. */
export function settled(ctx: ChatContext, line: string, toast: string): Answer {
  if (ctx.shown === null) return alerted(line);
  return redrawn(ctx, withRows(withLine(ctx.shown, line) ?? ctx.shown, []), toast);
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

/** Marks the line that a message was given after it was sent, so that it can be told from the message itself. */
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
  // An interrupted run may have done its work already, so to do it once more is more than to try again.
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
