import { type ChatSettings, settingsOf, type DateStyle } from '../../domain/chat-settings.ts';
import { DAY_MS } from '../../domain/schedule/time/calendar.ts';
import type { Sum } from '../../domain/spending/usage.ts';
import { staleSince } from '../../domain/task.ts';
import type { ChatFacts, ChatNews } from '../ports/chat-facts.ts';
import type { ChatStore } from '../ports/chats.ts';
import type { SpendingStore } from '../ports/metering.ts';
import type { TruthStore } from '../ports/why.ts';
import { underRight, upcoming } from '../tasks/upcoming.ts';
import { momentsIn } from '../why/moments.ts';
import { type DigestWords, englishDigest } from '../words/digest.ts';
import type { Action, Job, Outcome } from './action.ts';
import { refuseUnknown } from './message.ts';

const english: DigestLocale = { tag: 'en', texts: { news: englishDigest } };

/** The first digest looks back so far, and so does one whose last one is nowhere to be found. */
const firstLookMs = DAY_MS;
const shownMax = 15;

/**
 * Tells the chat how its tasks stand. Where there is nothing to tell it tells nothing, unless somebody asked for it just
 * now. It remembers until when it has told.
 */
export function digestAction(read: ReadDigest): Action {
  return {
    kind: 'digest',
    isCut: true,
    check: (spec) => {
      refuseUnknown(spec, ['kind']);
      return [];
    },
    // It reads and does nothing.
    repeatable: () => true,
    run: (job) => digest(read, job),
  };
}

async function digest(read: ReadDigest, { input, startedAt: now, chatId, taskId }: Job): Promise<Outcome> {
  if (chatId === null || taskId === null) return { is: 'giveUp', error: 'a digest belongs to a task of a chat' };
  const told = input.context?.['told_until'];
  const since = typeof told === 'number' && told < now ? told : now - firstLookMs;
  const facts = await read({ chatId, taskId, since, now });
  const text = isNews(facts, since) ? digestText(facts, { since, now, timezone: input.timezone }) : '';
  if (input.byHand === true)
    return { is: 'done', text: text === '' ? (facts.locale ?? english).texts.news.nothing : text };
  return { is: 'done', text, context: { ...input.context, told_until: now } };
}

/** A pause that lasts is no news, nor is a result that stays too old, or a right that stays away; a new one is. */
function isNews({ paused, stale, noRight, ...facts }: DigestFacts, since: number): boolean {
  const lists = [facts.notDone, facts.coming, facts.failed, facts.succeeded, facts.snoozed, facts.waiting];
  return (
    lists.some((list) => list.length > 0) ||
    [...paused, ...stale, ...noRight].some(({ at }) => at !== null && at >= since)
  );
}

interface Stretch {
  readonly since: number;
  readonly now: number;
  readonly timezone: string;
}

function digestText(facts: DigestFacts, { since, now, timezone }: Stretch): string {
  const { locale = english } = facts;
  const { news } = locale.texts;
  const { heads, more } = news;
  const moments = momentsIn(timezone, now, facts.dates, locale.tag);
  const name = ({ number, title }: { readonly number: number; readonly title: string }) => news.name(number, title);
  const { notDone, coming, moreComing, failed, waiting, stale, noRight, snoozed, paused, succeeded, used } = facts;
  // Runs that nobody has done are told slot by slot, and not as something that ran.
  const ran = succeeded.filter((one) => one.notDone < one.count);
  const groups = [
    group(heads.notDone, notDone, { more, line: (one) => news.notDone(name(one), moments.beside(one.at, now)) }),
    group(heads.failed(moments.full(minuteOf(since))), failed, {
      more,
      line: (one) => news.failed(name(one), one.count, one.error === null ? null : short(one.error)),
    }),
    group(heads.waiting, waiting, {
      more,
      line: (one) => (one.for === 'done' ? news.waitsForDone : news.waitsForApproval)(name(one), one.count),
    }),
    group(heads.coming(moments.full(facts.until), timezone), coming, {
      more,
      line: (one) => news.coming(moments.beside(one.at, now), name(one), one.later),
      unread: moreComing,
    }),
    group(heads.noRight, noRight, { more, line: name }),
    group(heads.stale, stale, { more, line: (one) => news.stale(name(one), moments.full(minuteOf(one.at))) }),
    group(heads.snoozed, snoozed, {
      more,
      line: (one) => news.snoozed(moments.beside(minuteOf(one.at), now), name(one)),
    }),
    group(heads.paused, paused, { more, line: name }),
    group(heads.ran, ran, { more, line: (one) => news.ran(name(one), one.count, one) }),
    used.length === 0 ? '' : [heads.used, news.used(used)].join('\n'),
  ];
  return groups.filter((text) => text !== '').join('\n\n');
}

interface Group<T> {
  readonly line: (one: T) => string;
  readonly more: DigestWords['more'];
  /** Those that were too many to be read. */
  readonly unread?: number;
}

function group<T>(title: string, all: readonly T[], { line, more, unread = 0 }: Group<T>): string {
  if (all.length === 0) return '';
  const rows = all.slice(0, shownMax).map(line);
  const left = all.length - rows.length + unread;
  return [title, ...rows, ...(left > 0 ? [more(left)] : [])].join('\n');
}

const errorShownMax = 80;

function short(error: string): string {
  const line = error.replace(/\s+/g, ' ').trim();
  return line.length <= errorShownMax ? line : `${line.slice(0, errorShownMax - 1)}…`;
}

function minuteOf(instant: number): number {
  return Math.floor(instant / 60_000) * 60_000;
}

/** Contents of a digest. */
export interface DigestFacts extends ChatNews {
  /** Until when `coming` looks ahead: the next digest. */
  readonly until: number;
  /** The next run of each task, and how many follow it until then. */
  readonly coming: readonly {
    readonly number: number;
    readonly title: string;
    readonly at: number;
    readonly later: number;
  }[];
  /** Tasks whose result is too old, and since when. */
  readonly stale: readonly { readonly number: number; readonly title: string; readonly at: number }[];
  /** Tasks that would run until then if they had a right to, and the end of that; 0 where it was taken away. */
  readonly noRight: readonly { readonly number: number; readonly title: string; readonly at: number }[];
  /** By runs that were let in since then. */
  readonly used: readonly Sum[];
  /** Tasks that were too many to be looked at. */
  readonly moreComing: number;
  readonly dates: DateStyle;
  /** In which the chat is spoken to; English without it. */
  readonly locale?: DigestLocale;
}

interface DigestLocale {
  readonly tag: string;
  readonly texts: { readonly news: DigestWords };
}

export interface DigestQuery {
  readonly chatId: string;
  readonly taskId: string;
  readonly since: number;
  readonly now: number;
}

/** Reads what has become of the tasks of a chat, and what is coming. */
export type ReadDigest = (query: DigestQuery) => Promise<DigestFacts>;

interface DigestDeps {
  readonly store: Pick<ChatFacts & ChatStore & TruthStore, 'chatNews' | 'chatSettings' | 'chatTasks' | 'readPlanned'> &
    Pick<SpendingStore, 'spentInChat'>;
  readonly localeOf: (settings: Pick<ChatSettings, 'language'>) => DigestLocale;
}

/** Lines of one kind that a digest shows at most. */
const rowsMax = 50;
/** Runs of one task that are counted. */
const slotsMax = 100;
/** Reads the contents of a digest from the store. */
export async function readDigest({ store, localeOf }: DigestDeps, query: DigestQuery): Promise<DigestFacts> {
  const { chatId, taskId: except, since } = query;
  const until = await nextDigest({ store }, query);
  const settings = settingsOf(await store.chatSettings(chatId));
  return {
    ...(await store.chatNews({ chatId, since, except, limit: rowsMax })),
    ...(await comingUntil({ store }, query, until)),
    used: await store.spentInChat(chatId, since),
    until,
    dates: settings.dates,
    locale: localeOf(settings),
  };
}

/** The last digest of all looks a day ahead. */
async function nextDigest({ store }: Pick<DigestDeps, 'store'>, { taskId, now }: DigestQuery): Promise<number> {
  const planned = await store.readPlanned(taskId);
  const next = planned === null ? undefined : upcoming(planned, 1)[0];
  return next !== undefined && next > now ? next : now + DAY_MS;
}

async function comingUntil(
  { store }: Pick<DigestDeps, 'store'>,
  { chatId, taskId, now }: DigestQuery,
  until: number,
): Promise<Pick<DigestFacts, 'coming' | 'moreComing' | 'stale' | 'noRight'>> {
  // By their next run, so that what is left out comes last.
  const query = { chatId, filter: 'active', ownerId: null, text: null, offset: 0, limit: rowsMax } as const;
  const { tasks, total } = await store.chatTasks(query);
  const coming: DigestFacts['coming'][number][] = [];
  const stale: DigestFacts['stale'][number][] = [];
  const noRight: DigestFacts['noRight'][number][] = [];
  for (const task of tasks) {
    const { id, number, title } = task;
    if (id === taskId) continue;
    const old = staleSince(task, now);
    if (old !== null) stale.push({ number, title, at: old });
    const planned = await store.readPlanned(id);
    if (planned === null) continue;
    const slots = upcoming(planned, slotsMax).filter((slot) => slot > now && slot <= until);
    const [at, ...later] = underRight(slots, planned.ahead);
    const end = planned.ahead.rightEndsAt;
    if (at !== undefined) coming.push({ number, title, at, later: later.length });
    else if (slots.length > 0 && end !== null) noRight.push({ number, title, at: end });
  }
  const moreComing = Math.max(0, total - tasks.length);
  return { coming: coming.toSorted((a, b) => a.at - b.at), moreComing, stale, noRight };
}
