import type { ChatTasksQuery } from '../../../app/ports/chats.ts';
import { underRight } from '../../../app/tasks/upcoming.ts';
import type { Answer as WhyAnswer } from '../../../app/why/answers.ts';
import { questionOf, type WhyQuestion } from '../../../app/why/questions.ts';
import { isActor } from '../../../domain/access.ts';
import { AppError } from '../../../domain/errors.ts';
import { rightEnd } from '../../../domain/grant.ts';
import type { Drawn } from '../../../domain/shown.ts';
import type { Task } from '../../../domain/task.ts';
import { urlOf } from '../../../domain/thread.ts';
import type { Answer, ChatContext } from '../context.ts';
import { answer, answerWith, pageSize, triedTo } from '../kit/answers.ts';
import { cardOf, settingFor, settingHere, taskName } from '../kit/card.ts';
import { exceptionsText, aboutMoment, dateIn, moment, settingOf, capital } from '../kit/clock.ts';
import { readingFor, readingOf } from '../kit/drafts.ts';
import { onChat, onNamedTask } from '../kit/guards.ts';
import { lastRunOf } from '../kit/last-run.ts';
import { calledAlone, impliedBy, numberIn, subjectsHere } from '../kit/naming.ts';
import { grantText } from '../kit/policy.ts';
import { blocks, lines, type Rich, link, oneLine, say } from '../kit/rich.ts';
import { calledOf, nameOf } from '../kit/rights.ts';
import { currentLocale, texts } from '../texts.ts';
import { agendaOf, type AgendaSpan } from './agenda.ts';
import { historyDrawn } from './history.ts';
import { isFilter, listDrawn, type Listing, type RowFacts } from './list.ts';

/** Reading. Members of an approved chat may, so a refusal can only come from a chat that is none of theirs. */

export const listCommand = onChat('read', async (ctx) => {
  const words = ctx.args.trim().replace(/\s+/g, ' ');
  const word = words.toLowerCase() === 'done' ? 'completed' : words.toLowerCase();
  const listing: Listing = isFilter(word)
    ? { filter: word, text: null, page: 0 }
    : { filter: 'all', text: words === '' ? null : words, page: 0 };
  return answerWith(await listOf(listing, ctx));
});

export async function listOf(listing: Listing, { place, person, store, clock }: ChatContext): Promise<Drawn> {
  // A search may be for what has ended; in a list it would only be in the way.
  const isFolded = listing.text === null && (listing.filter === 'all' || listing.filter === 'mine');
  // "For Anna" is about the subject where a task has it, and a search like any other where none does.
  const subjects = listing.text === null ? [] : await subjectsHere({ place, store }, listing.text);
  const query: Omit<ChatTasksQuery, 'offset'> = {
    chatId: place.chat.id,
    filter: isFolded ? 'open' : listing.filter === 'mine' ? 'all' : listing.filter,
    ownerId: listing.filter === 'mine' ? person.actor : null,
    text: subjects.length === 0 ? listing.text : null,
    subjects: subjects.length === 0 ? null : subjects,
    limit: pageSize,
  };
  let page = listing.page;
  let found = await store.chatTasks({ ...query, offset: page * pageSize });
  if (found.tasks.length === 0 && found.total > 0) {
    // Tasks have gone since the buttons were drawn, so the last page is another one by now.
    page = Math.ceil(found.total / pageSize) - 1;
    found = await store.chatTasks({ ...query, offset: page * pageSize });
  }
  const snoozes = await store.snoozesOf(found.tasks.map(({ id }) => id));
  const ended = isFolded ? (await store.chatTasks({ ...query, filter: 'completed', offset: 0, limit: 1 })).total : 0;
  const rows = new Map<string, RowFacts>();
  for (const task of found.tasks) rows.set(task.id, await rowFactsOf(task, store));
  return listDrawn(
    { ...listing, page },
    { ...found, ...settingHere({ place, clock }), snoozes, ended, rows, subjects },
  );
}

async function rowFactsOf(task: Task, store: ChatContext['store']): Promise<RowFacts> {
  const { state, paused, policies } = task;
  return {
    pausedBy: state === 'paused' && paused !== null ? await nameOf({ store }, paused.by) : null,
    mayRun: state !== 'active' || mayRunAt(rightEnd(await store.readGrant(task.grantId)), task.nextAt),
    done: policies.ack === undefined ? 'notAsked' : ((await lastRunOf(task, store))?.done ?? 'notAsked'),
  };
}

function mayRunAt(end: number | null, nextAt: number | null): boolean {
  return end === null || nextAt === null || nextAt < end;
}

/** Without a number it is the task of the topic; elsewhere its name, or words of its text, in a list where they fit several. */
export async function cardCommand(ctx: ChatContext): Promise<Answer> {
  const isSearch = /[^\d\s]/.test(ctx.args) && numberIn(ctx.place, ctx.args) === null;
  return isSearch && (await calledAlone(ctx, ctx.args)) === null ? listCommand(ctx) : cardNamed(ctx);
}

const cardNamed = onNamedTask({ deed: 'read', verb: 'task' }, async (ctx, { task }) =>
  answerWith(await cardOf(task, ctx)),
);

const historyShown = 10;

export const historyCommand = onNamedTask({ deed: 'read', verb: 'history' }, async (ctx, { task }) =>
  answerWith(await historyOf(task, ctx, null)),
);

/** The cursor is of the store, and comes back on a button; one that fits no button is left out there. */
export async function historyOf(task: Task, ctx: ChatContext, cursor: string | null): Promise<Drawn> {
  // The history of a deleted task can be looked at too, of which the API no longer tells.
  const query = { taskId: task.id, status: null, limit: historyShown, cursor } as const;
  const { items, next } = await ctx.store.listTaskRuns(query);
  const names = await namesOf(new Set(items.flatMap(({ ack }) => ack?.doneBy ?? [])), ctx);
  const setting = settingFor(task, ctx);
  // Slots that somebody has skipped in advance are not history yet.
  const runs = items.filter(({ slotAt }) => slotAt <= setting.now).toSorted((a, b) => b.slotAt - a.slotAt);
  return historyDrawn(task, { runs, from: cursor, older: next, names }, setting);
}

const comingShown = 10;

/** Runs that are coming for the task that is named or implied; without one, for all tasks of the chat. */
export async function nextCommand(ctx: ChatContext): Promise<Answer> {
  const span = spanNamed(ctx.args);
  const isChat = span !== null || (ctx.args.trim() === '' && (await impliedBy(ctx)) === null);
  return isChat ? nextOfAll(ctx, span ?? 'day') : nextNamed(ctx);
}

const nextOfAll = onChat('read', async (ctx, span: AgendaSpan) => answerWith(await agendaOf(span, ctx)));

const nextNamed = onNamedTask({ deed: 'read', verb: 'task' }, async (ctx, { task }) => {
  const { history } = texts;
  const setting = settingFor(task, ctx);
  const grant = await ctx.store.readGrant(task.grantId);
  const planned = await ctx.truth.upcoming(task.id, comingShown);
  const slots = underRight(planned, { rightEndsAt: rightEnd(grant) });
  const snoozes = (await ctx.store.snoozesOf([task.id])).get(task.id) ?? [];
  const out = exceptionsText(task, setting.now, setting.dates);
  const next = [
    ...slots.map((at) => ({ at, words: moment(at, setting) })),
    ...snoozes
      .filter(({ at }) => at > setting.now)
      .map(({ at, isHeld }) => ({
        at,
        words: (isHeld ? history.snoozedHeld : history.snoozedTo)(aboutMoment(at, setting)),
      })),
  ].toSorted((a, b) => a.at - b.at);
  return answer(
    blocks(
      history.upcoming(taskName(task)),
      next.length === 0
        ? planned.length === 0
          ? history.nothingComing
          : history.nothingRuns
        : lines(...next.slice(0, comingShown).map(({ words }) => words)),
      grantText(task, { grant, ...setting }),
      out === null ? null : history.notOn(out),
      texts.making.zone(setting.timezone),
    ),
  );
});

function spanNamed(args: string): AgendaSpan | null {
  const word = args.trim().toLowerCase();
  if (/^(?:today|24 ?h|24 hours|day)$/.test(word)) return 'day';
  return /^(?:week|7 ?d|7 days|this week)$/.test(word) ? 'week' : null;
}

const whyShown = 12;

export const whyCommand = onNamedTask(
  { deed: 'read', verb: 'why', isForDeleted: true, takes: takesQuestion },
  async (ctx, { task, rest, runId = null }) => {
    // A reply asks about the run of the message that it answers.
    const slot = rest === '' && runId !== null ? await slotOf(runId, ctx) : null;
    return answer(await whyWords(task, slot ?? rest, ctx));
  },
);

function takesQuestion(words: string, ctx: ChatContext): 'yes' | 'no' {
  return questionOf(words, readingOf(ctx)) === null ? 'no' : 'yes';
}

/** The slot of a run as the question takes it; null when nobody remembers the run any more. */
async function slotOf(runId: string, ctx: ChatContext): Promise<string | null> {
  const read = await triedTo(() => ctx.tasks.getRun(runId));
  if ('refusal' in read) return null;
  return /:scheduled_for:(\S+)$/.exec(read.made.idempotencyKey)?.[1] ?? null;
}

/** The truth about a day, about a moment, or about the last runs and the next one when no time is named. */
export async function whyWords(task: Task, when: string, ctx: ChatContext): Promise<Rich> {
  const { history } = texts;
  const question = questionOf(when, readingFor(task, ctx));
  if (question === null) return history.whyUnread();
  try {
    const told = await whyTold(task, question, ctx);
    const names = await namesOf(idsIn(told.answers), ctx);
    const rows = told.answers.map((one) => whyLine(one, names));
    return blocks(
      history.why(taskName(task)),
      ...(rows.length === 0 ? [history.whyNothing] : rows),
      told.hasMore ? history.whyMore(task.number, dateIn(settingOf(task, ctx.clock.now()), 0)) : null,
      texts.making.zone(told.timezone),
    );
  } catch (error) {
    if (error instanceof AppError && error.code === 'invalid_request') return history.whyUnread();
    throw error;
  }
}

/** Without a time it is what happened last and what comes next, and of a busy task not all of that. */
async function whyTold({ id }: Task, question: WhyQuestion, { truth }: ChatContext) {
  if (question.at === undefined && question.from === undefined)
    return { ...(await truth.lately(id, currentLocale())), hasMore: false };
  const told = await truth.why(id, { ...question, after: null, limit: whyShown, locale: currentLocale() });
  return { ...told, hasMore: told.next !== null };
}

/** The records know people by their ids. */
async function namesOf(ids: ReadonlySet<string>, ctx: ChatContext): Promise<Names> {
  const names = new Map<string, string>();
  for (const id of ids) if (isActor(id)) names.set(id, await calledOf(ctx, id));
  return names;
}

const lineLengthMax = 280;
/** How people are called whom the records know by their ids. */
type Names = ReadonlyMap<string, string>;

/** One line of the truth as a chat shows it: people by their names, and the way to the message that it tells of. */
export function whyLine({ line, evidence }: WhyAnswer, names: Names): Rich {
  const { runNumber } = evidence;
  const ran = runNumber === undefined ? '' : texts.history.whyRun(runNumber);
  const text = capital(named(line, names)) + ran;
  const sent = evidence.deliveries?.find(({ status, messageId }) => status === 'delivered' && messageId !== null);
  const url = urlOf(sent?.thread.address, sent?.thread.topic, sent?.messageId);
  const { delivered } = texts.why;
  const match = new RegExp(`[;,] ${delivered}(?=[;.]| [^.;]*\\d)`).exec(line);
  if (url === null || match === null || text.length > lineLengthMax) {
    return { text: oneLine(text, lineLengthMax), entities: [] };
  }
  const sign = match[0].slice(0, 2);
  const [before, after] = [line.slice(0, match.index), line.slice(match.index + match[0].length)];
  return say`${capital(named(before, names))}${sign}${link(delivered, url)}${named(after, names)}${ran}`;
}

function idsIn(answers: readonly WhyAnswer[]): ReadonlySet<string> {
  return new Set(answers.flatMap(({ line }) => line.match(/telegram:user:\d+/g) ?? []));
}

function named(text: string, names: Names): string {
  return text.replaceAll(/telegram:user:\d+/g, (id) => names.get(id) ?? id);
}
