import { createHash } from 'node:crypto';
import type { ChatFacts, CleanedTopics } from '../../app/ports/chat-facts.ts';
import type { Chat, ChatStore, HeldTask } from '../../app/ports/chats.ts';
import type { Clock, Outgoing } from '../../app/ports/outside.ts';
import type { AckStore, QuestionStore } from '../../app/ports/questions.ts';
import type { TaskStore } from '../../app/ports/tasks.ts';
import { settingsOf } from '../../domain/chat-settings.ts';
import { type Drawn, isView, type View } from '../../domain/shown.ts';
import { urlOf } from '../../domain/thread.ts';
import { type FactsDeps, readFacts, taskName } from '../chat/kit/card.ts';
import { settingOf, clockIn } from '../chat/kit/clock.ts';
import { blocks, lines, link, say, type Rich, drawn } from '../chat/kit/rich.ts';
import { calledOf, shortName } from '../chat/kit/rights.ts';
import { isAsking, type AskedFacts, doneLine, doneShown, startedDrawn } from '../chat/results/view.ts';
import { texts } from '../chat/texts.ts';
import { draw, resultDrawn, type DrawnView } from './draw.ts';
import { type OverDeps, overLine, withOver } from './over.ts';

export interface DrawingDeps extends Pick<OverDeps, 'kinds'> {
  readonly store: Pick<ChatStore, 'findChat' | 'heldParts'> &
    Pick<ChatFacts, 'cleanedTopics'> &
    Pick<TaskStore, 'readTask'> &
    AskedStore &
    OverDeps['store'] &
    FactsDeps['store'];
  readonly clock: Clock;
  readonly defaultTimezone: string;
}

/** The content of a part by now; null when there is nothing to show any more. A result is drawn from its row alone. */
export async function drawnOf(deps: DrawingDeps, part: Outgoing): Promise<Drawn | null> {
  const { store, defaultTimezone } = deps;
  const { shown, route } = part;
  if (!isView(shown)) return shown;
  if (shown.view === 'result') return withDone(deps, part, shown);
  if (shown.view === 'started') {
    const task = part.taskId === null ? null : await store.readTask(part.taskId);
    const drawn = task === null ? null : startedDrawn(task);
    return drawn && { ...drawn, print: printOf(drawn) };
  }
  const chat = await store.findChat(route.address);
  if (shown.view === 'cleaned') return cleanedDrawn(shown.deed, await store.cleanedTopics(shown.cleaning));
  if (shown.view !== 'bundle') return drawnNow(deps, part, shown, chat);
  if (chat === null) return null;
  const { until } = shown;
  const held = await store.heldParts(chat.id, until);
  return bundle(chat, until, held, chat.timezone ?? defaultTimezone);
}

/** A result whose arrival was in doubt may have been done meanwhile: sent again, it is done all the same. */
async function withDone(
  { store, clock }: DrawingDeps,
  { taskId, wasSent, resultOf }: Outgoing,
  view: Extract<View, { view: 'result' }>,
): Promise<Drawn> {
  const { occurrenceId } = view;
  const drawn = resultDrawn(view, resultOf);
  if (!wasSent || taskId === null) return drawn;
  const { doneAt = null, doneBy = null, result = null } = (await store.readAck({ taskId, occurrenceId })) ?? {};
  const task = doneAt === null ? null : await store.readTask(taskId);
  if (doneAt === null || doneBy === null || task === null) return drawn;
  const name = shortName(await calledOf({ store }, doneBy));
  const setting = settingOf(task, clock.now());
  return doneShown(drawn, doneLine(name, doneAt, { result, setting, ends: null }), { taskId, occurrenceId });
}

async function drawnNow(deps: DrawingDeps, part: Outgoing, view: DrawnView, chat: Chat | null): Promise<Drawn | null> {
  const { about, setting } = await aboutOf(deps, part, view, chat);
  const { task, asked } = about;
  // A word that is over before it leaves is drawn as it is, or not at all.
  const line = part.edits === null || chat === null ? null : await overLine(deps, { view, task, chat, setting });
  const drawn = draw(view, line === null || asked === null ? about : { ...about, asked: beforeOver(view, asked) });
  if (drawn === null) return null;
  // A word stays as it is until it is over, however its times are told by then.
  const print = printOf(view.view === 'card' ? draw(view, { ...about, isTimeless: true }) : line);
  return { ...(line === null ? drawn : withOver(drawn, line)), print };
}

async function aboutOf(
  { store, clock, defaultTimezone }: DrawingDeps,
  { taskId, route }: Outgoing,
  view: DrawnView,
  chat: Chat | null,
) {
  const { dates } = settingsOf(chat?.settings ?? {});
  const timezone = chat?.timezone ?? defaultTimezone;
  const task = taskId === null ? null : await store.readTask(taskId);
  const here = { timezone, now: clock.now(), dates };
  if (task === null) return { about: { ...here, task, next: [], asked: null }, setting: here };
  const asked = isAsking(view) ? await askedFacts(store, view, { taskId, route }) : null;
  const about = { ...(await readFacts(task, { clock, store })), timezone, dates, task, asked };
  return { about, setting: settingOf(task, here.now, dates) };
}

/** The matter as it stood when the word was said. */
function beforeOver(view: View, asked: AskedFacts): AskedFacts {
  const { ack } = asked;
  return {
    ...asked,
    isOver: true,
    ack: ack === null ? null : { ...ack, status: 'given_up' },
    question: view.view === 'missed' ? view : asked.question,
  };
}

/** Buttons that have the same effect look the same, whatever mark tells their drawings apart. */
function printOf(shown: Drawn | string | null): string {
  return createHash('sha256').update(JSON.stringify(shown)).digest('base64url').slice(0, 22);
}

type AskedStore = Pick<AckStore, 'readAck'> & Pick<QuestionStore, 'readQuestion'>;

/** How that stands which a message asks people about; read for those messages alone. */
async function askedFacts(
  store: AskedStore,
  view: View,
  { taskId, route }: Pick<Outgoing, 'taskId' | 'route'>,
): Promise<AskedFacts> {
  const { address, topic } = route;
  const isAboutAck = view.view === 'nag' || view.view === 'escalated';
  return {
    address,
    topic,
    ack: isAboutAck && taskId !== null ? await store.readAck({ taskId, occurrenceId: view.occurrenceId }) : null,
    question: view.view === 'missed' && taskId !== null ? await store.readQuestion(taskId) : null,
  };
}

/** Topics that a missing right keeps are told with what to do. */
function cleanedDrawn(deed: 'close' | 'removeTopic', { done, failed }: CleanedTopics): Drawn {
  const { clean } = texts;
  const [first] = failed;
  const isRight = /rights|administrator|CHAT_ADMIN_REQUIRED/i.test(first?.error ?? '');
  const names = failed.map(({ name }) => name);
  return drawn(
    blocks(
      done > 0 || first === undefined ? clean.done(deed, done) : null,
      first === undefined ? null : clean.failed(names, first.error, isRight),
    ),
  );
}

/** More of them would make a list that nobody reads. */
const linesMax = 20;

/** One word for all that came in quiet hours, which ended then; null when nothing of it is left. */
function bundle(chat: Chat, until: number, held: readonly HeldTask[], timezone: string): Drawn | null {
  if (held.length === 0) return null;
  const { out } = texts;
  const to = clockIn(timezone, until);
  const { quiet } = settingsOf(chat.settings);
  const shown = held.slice(0, linesMax);
  return drawn(
    lines(
      // A task may have quiet hours of its own, and the chat may have others by now.
      quiet?.to === to ? out.bundleHead(quiet.from, to) : out.bundleHeadUntil(to),
      ...shown.map((one) => heldLine(chat.address, one)),
      held.length > shown.length ? out.bundleMore(held.length - shown.length) : null,
    ),
  );
}

function heldLine(address: string, one: HeldTask): Rich {
  const words = texts.out.messages(one.count);
  const url = one.messageId === null ? null : urlOf(address, one.topic, one.messageId);
  return say`${taskName(one)}: ${url === null ? words : link(words, url)}`;
}
