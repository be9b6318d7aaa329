import type { Chat, ChatStore } from '../../app/ports/chats.ts';
import type { Clock, Outgoing, Route } from '../../app/ports/outside.ts';
import { leftOutAhead } from '../../app/tasks/left-out.ts';
import type { TaskStore } from '../../app/ports/tasks.ts';
import type { Planned, TruthStore } from '../../app/ports/why.ts';
import { upcoming } from '../../app/tasks/upcoming.ts';
import { settingsOf } from '../../domain/chat-settings.ts';
import { type Drawn, isView, type View } from '../../domain/shown.ts';
import { nameOf } from '../chat/kit/rights.ts';
import { bundle } from './bundle.ts';
import { pastMoment, settingOf } from '../chat/kit/clock.ts';
import { draw } from './draw.ts';
import { isAsking } from '../chat/results/reminder.ts';
import { doneShown } from '../chat/results/result.ts';
import { oneLine } from '../chat/kit/rich.ts';
import { texts } from '../chat/texts.ts';
import { askedFacts, type AskedStore } from './asked-facts.ts';

export interface DrawingNeeds {
  readonly store: Pick<ChatStore, 'findChat' | 'readUser' | 'heldParts' | 'snoozesOf'> &
    Pick<TruthStore, 'readPlanned'> &
    Pick<TaskStore, 'listTaskRuns'> &
    AskedStore;
  readonly clock: Clock;
  readonly defaultTimezone: string;
}

const slotsShown = 3;
const nameMax = 40;

/** What a part shows by now; null when there is nothing to show any more. */
export async function drawnOf(needs: DrawingNeeds, part: Outgoing): Promise<Drawn | null> {
  const { store, defaultTimezone } = needs;
  const { shown, taskId, route } = part;
  if (!isView(shown)) return shown;
  const chat = await store.findChat(route.address);
  if (shown.view === 'bundle') {
    if (chat === null) return null;
    const { until } = shown;
    const held = await store.heldParts(chat.id, until);
    return bundle({ chat, until, held, timezone: chat.timezone ?? defaultTimezone });
  }
  const drawn = withMedia(shown, await drawnNow(needs, { view: shown, taskId, chat, route }));
  return shown.view === 'result' ? withDone(needs, { view: shown, taskId, drawn }) : drawn;
}

interface ResultDrawn {
  readonly view: Extract<View, { view: 'result' }>;
  readonly taskId: string | null;
  readonly drawn: Drawn | null;
}

/** Somebody may have said Done to a result of which nobody knew whether it had arrived: sent again, it is done all the same. */
async function withDone(
  { store, clock }: DrawingNeeds,
  { view: { occurrenceId }, taskId, drawn }: ResultDrawn,
): Promise<Drawn | null> {
  if (drawn === null || taskId === null) return drawn;
  const { doneAt = null, doneBy = null } = (await store.readAck(occurrenceId)) ?? {};
  const task = (await (doneAt === null ? null : store.readPlanned(taskId)))?.task;
  if (doneAt === null || doneBy === null || task === undefined) return drawn;
  const name = oneLine((await nameOf({ store }, doneBy)) ?? texts.chat.somebody, nameMax);
  const setting = settingOf(task, clock.now());
  return doneShown(drawn, texts.reminder.doneBy(name, pastMoment(doneAt, setting)), { taskId, occurrenceId });
}

/** A file stands above the words, whatever those are by now. */
function withMedia(view: View, drawn: Drawn | null): Drawn | null {
  return drawn === null || view.view !== 'result' || view.media === undefined ? drawn : { ...drawn, media: view.media };
}

interface Drawing {
  readonly view: View;
  readonly taskId: string | null;
  readonly chat: Chat | null;
  readonly route: Route;
}

async function drawnNow(needs: DrawingNeeds, { view, taskId, chat, route }: Drawing): Promise<Drawn | null> {
  const { store, clock, defaultTimezone } = needs;
  const { dates } = settingsOf(chat?.settings ?? {});
  const about = { now: clock.now(), timezone: chat?.timezone ?? defaultTimezone, dates };
  const planned = taskId === null ? null : await store.readPlanned(taskId);
  if (planned === null) return draw(view, { ...about, task: null, next: [] });
  const { task } = planned;
  const asked = isAsking(view) ? await askedFacts(store, view, { taskId, route }) : null;
  const ownerName = await nameOf({ store }, task.ownerId);
  const pauserName = task.paused === null ? null : await nameOf({ store }, task.paused.by);
  const snoozedTo = (await store.snoozesOf([task.id])).get(task.id) ?? null;
  const leftOut =
    view.view === 'card' ? await leftOutAhead((query) => store.listTaskRuns(query), task.id, about.now) : [];
  return draw(view, { ...about, task, next: comingOf(planned), leftOut, snoozedTo, ownerName, pauserName, asked });
}

/** A schedule that cannot be read any more has no slots to come, and neither has what was deleted. */
function comingOf(planned: Planned): readonly number[] {
  const { state, pausedReason } = planned.task;
  const isOver = state === 'deleted' || pausedReason?.startsWith('unreadable') === true;
  return isOver ? [] : upcoming(planned, slotsShown);
}
