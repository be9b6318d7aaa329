import type { Warning } from '../../domain/schedule/schedule.ts';
import { editDistance } from '../../domain/when/spelling.ts';
import type { OutboxStore } from '../ports/outbox.ts';
import type { Timer } from '../ports/outside.ts';

/** Finds the task whose title people write where a number would do: in part, misspelt, in any case. */

export interface Found<T> {
  /** The tasks that fit best; several where nothing tells them apart. */
  readonly tasks: readonly T[];
  /** The words behind the name. */
  readonly rest: string;
  /** The name is misspelt, so that another one may be meant. */
  readonly isGuess: boolean;
}

/**
 * The longest beginning of the words that is the name of a task, with those that it fits best; null when none is. Of several,
 * it is the one whose title has the words that follow too, unless those are what was said of it.
 */
export function tasksNamed<T extends { readonly title: string }>(
  words: string,
  tasks: readonly T[],
  isSaid: (rest: string) => boolean = () => false,
): Found<T> | null {
  const titles = tasks.map((task) => ({ task, title: wordsIn(task.title) }));
  const chunks = [...words.matchAll(/\S+/g)].slice(0, nameWordsMax);
  for (const { 0: chunk, index: at } of chunks.toReversed()) {
    const end = at + chunk.length;
    const name = wordsIn(words.slice(0, end));
    if (name.length === 0) return null;
    const rated = titles.map(({ task, title }) => ({ task, fit: fitOf(name, title) }));
    const best = Math.max(...rated.map(({ fit }) => fit), 0);
    if (best === 0) continue;
    const fitting = rated.filter(({ fit }) => fit === best).map(({ task }) => task);
    const rest = behind(words, end);
    const only = fitting.length === 1 || best === 1 || isSaid(rest) ? null : onlyWith(words, chunks, fitting);
    return only ?? { tasks: fitting, rest, isGuess: best === 1 };
  }
  return null;
}

function behind(words: string, end: number): string {
  return words
    .slice(end)
    .replace(/^[\s:,–—-]+(?=\S)/u, '')
    .trim();
}

/** "Retro b" is "Retro team B" where no other title has both words in this order. */
function onlyWith<T extends { readonly title: string }>(
  words: string,
  chunks: readonly RegExpExecArray[],
  tasks: readonly T[],
): Found<T> | null {
  for (const { 0: chunk, index: at } of chunks.toReversed()) {
    const end = at + chunk.length;
    const name = wordsIn(words.slice(0, end));
    const [task, other] = tasks.filter(({ title }) => isWithin(name, wordsIn(title)));
    if (task !== undefined && other === undefined) return { tasks: [task], rest: behind(words, end), isGuess: false };
  }
  return null;
}

function isWithin(name: readonly string[], title: readonly string[]): boolean {
  const found = title.reduce((count, word) => (word === name[count] ? count + 1 : count), 0);
  return found === name.length;
}

/** True where the words begin with a whole title, which no argument of a command looks like by chance. */
export function isWholeTitle(words: string, { title }: { readonly title: string }): boolean {
  const [name, whole] = [wordsIn(words), wordsIn(title)];
  return whole.length > 0 && whole.every((word, index) => name[index] === word);
}

/** No name that people write out is longer. */
const nameWordsMax = 12;

/** Words as they are compared: without case, accents and signs. */
function wordsIn(text: string): readonly string[] {
  const bare = text
    .normalize('NFKD')
    .replaceAll(/\p{M}+/gu, '')
    .toLowerCase();
  return bare.match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** How well a name fits a title: 3 whole, 2 a part of it, 1 misspelt, 0 not at all. */
function fitOf(name: readonly string[], title: readonly string[]): number {
  if (name.join('') === title.join('')) return 3;
  const parts = title.map((_word, from) => title.slice(from, from + name.length));
  const isSome = (isWord: (written: string, meant: string, isLast: boolean) => boolean) =>
    parts.some((part) => name.every((word, index) => isWord(word, part[index] ?? '', index === name.length - 1)));
  if (isSome(isBegun)) return 2;
  return isSome(isNear) ? 1 : 0;
}

/** The last word may be only begun, from this many letters on. */
const begunMin = 3;

function isBegun(written: string, meant: string, isLast: boolean): boolean {
  return written === meant || (isLast && written.length >= begunMin && meant.startsWith(written));
}

/** One slip in four letters, as in "retor": in shorter words a slip makes another word. */
function isNear(written: string, meant: string): boolean {
  if (written === meant) return true;
  const slips = Math.min(2, Math.floor(Math.min(written.length, meant.length) / 4));
  return Math.abs(written.length - meant.length) <= slips && editDistance(written, meant) <= slips;
}

interface RenameDeps {
  readonly store: Pick<OutboxStore, 'topicNaming'>;
  readonly timer: Timer;
}

/** A client waits for its answer at most so long for what becomes of the topic's name; most are told within a tenth of it. */
const renameLooks = { count: 40, everyMs: 50 } as const;

/** The trouble of naming its topic anew, as far as that is known soon; the naming goes on by itself. */
export async function renameWarnings({ store, timer }: RenameDeps, taskId: string): Promise<readonly Warning[]> {
  for (let looks = 0; looks < renameLooks.count; looks += 1) {
    const naming = await store.topicNaming(taskId);
    if (naming === null) break;
    const { error } = naming;
    const message = `The topic keeps its old name for now, and is named again until that succeeds: ${error}`;
    if (error !== null) return [{ code: 'topic_not_renamed', message }];
    await new Promise<void>((resolve) => timer.after(renameLooks.everyMs, resolve));
  }
  return [];
}
