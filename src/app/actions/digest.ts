import { momentsIn } from '../why/moments.ts';
import type { DigestFacts, DigestSource } from './digest-source.ts';
import type { Action, Job, Outcome } from './action.ts';
import { refuseUnknown } from './message.ts';

/** The first digest looks back so far, and so does one whose last one is nowhere to be found. */
const firstLookMs = 86_400_000;
const shownMax = 15;

/**
 * Tells the chat how its tasks stand. Where there is nothing to tell it tells nothing, unless somebody asked for it just
 * now. It remembers until when it has told.
 */
export function digestAction(source: DigestSource): Action {
  return {
    kind: 'digest',
    check: (spec) => refuseUnknown(spec, ['kind']),
    // It reads and does nothing.
    repeatable: () => true,
    run: (job) => digest(source, job),
  };
}

async function digest(source: DigestSource, { input, startedAt: now, chatId, taskId }: Job): Promise<Outcome> {
  if (chatId === null || taskId === null) return { is: 'giveUp', error: 'a digest belongs to a task of a chat' };
  const told = input.context?.['told_until'];
  const since = typeof told === 'number' && told < now ? told : now - firstLookMs;
  const facts = await source.read({ chatId, taskId, since, now });
  const text = isNews(facts, since) ? digestText(facts, { since, now, timezone: input.timezone }) : '';
  if (input.byHand === true) return { is: 'done', text: text === '' ? 'There is nothing to tell right now.' : text };
  return { is: 'done', text, context: { ...input.context, told_until: now } };
}

/** That something is paused still is no news; that it was paused is. */
function isNews({ coming, failed, succeeded, snoozed, waiting, paused }: DigestFacts, since: number): boolean {
  const lists = [coming, failed, succeeded, snoozed, waiting];
  return lists.some((list) => list.length > 0) || paused.some(({ at }) => at !== null && at >= since);
}

interface Stretch {
  readonly since: number;
  readonly now: number;
  readonly timezone: string;
}

function digestText(facts: DigestFacts, { since, now, timezone }: Stretch): string {
  const moments = momentsIn(timezone, now, facts.dates);
  const { coming, moreComing, failed, waiting, snoozed, paused, succeeded } = facts;
  const groups = [
    group(`Coming until ${moments.full(facts.until)} (${timezone})`, coming, {
      line: (one) => `${moments.beside(one.at, now)} ${named(one)}${laterWord(one.later)}`,
      more: moreComing,
    }),
    group(`Failed since ${moments.full(minuteOf(since))}`, failed, {
      line: (one) => `${named(one)}${times(one.count)}${one.error === null ? '' : `: ${short(one.error)}`}`,
    }),
    group('Waiting for you', waiting, {
      line: (one) => `${named(one)}: ${one.for === 'done' ? 'Done' : 'Deliver or Discard'}${times(one.count)}`,
    }),
    group('Put off', snoozed, { line: (one) => `${moments.beside(minuteOf(one.at), now)} ${named(one)}` }),
    group('Paused', paused, { line: named }),
    group('Ran', succeeded, { line: (one) => `${named(one)}${times(one.count)}${doneWord(one.done)}` }),
  ];
  return groups.filter((text) => text !== '').join('\n\n');
}

interface Told<T> {
  readonly line: (one: T) => string;
  readonly more?: number;
}

function group<T>(title: string, all: readonly T[], { line, more = 0 }: Told<T>): string {
  if (all.length === 0) return '';
  const rows = all.slice(0, shownMax).map(line);
  const left = all.length - rows.length + more;
  return [title, ...rows, ...(left > 0 ? [`and ${left} more`] : [])].join('\n');
}

function named({ number, title }: { readonly number: number; readonly title: string }): string {
  return `#${number} ${title}`;
}

function laterWord(later: number): string {
  return later === 0 ? '' : `, and ${later} more ${later === 1 ? 'time' : 'times'}`;
}

function times(count: number): string {
  return count === 1 ? '' : `, ${count} times`;
}

function doneWord(done: number): string {
  return done === 0 ? '' : ', done';
}

const errorShownMax = 80;

function short(error: string): string {
  const line = error.replace(/\s+/g, ' ').trim();
  return line.length <= errorShownMax ? line : `${line.slice(0, errorShownMax - 1)}…`;
}

function minuteOf(instant: number): number {
  return Math.floor(instant / 60_000) * 60_000;
}
