import type { Twice } from '../../app/ports/why.ts';

/** How far a stretch of changes was read, and in which order they hold. */

/** Where a list that is longer than one may read is cut: nothing before that instant was left unread. */
export function cutAt(found: readonly { readonly at: number }[], max: number): number | null {
  return found.length > max ? (found.at(-1)?.at ?? null) : null;
}

/** A change holds for the slots after it, so at the cut itself nothing is missing. Each page comes on by something. */
export function readTo(cut: number | null, from: number): number | null {
  return cut === null ? null : Math.max(cut, from + 1);
}

/** In the order in which they were made, without those whose time came again under a later one. */
export function standing<T extends { readonly at: number }>(all: readonly T[], order: (one: T) => number): T[] {
  const kept: T[] = [];
  for (const one of all.toSorted((a, b) => order(a) - order(b))) {
    while ((kept.at(-1)?.at ?? one.at) > one.at) kept.pop();
    kept.push(one);
  }
  return kept;
}

/** Where of two things the later one has the earlier time, the clock was set back between them. */
export function stepsBack(made: readonly { readonly at: number }[]): Twice[] {
  const found: Twice[] = [];
  let latest = Number.NEGATIVE_INFINITY;
  for (const { at } of made) {
    if (at < latest) found.push({ from: at, to: latest });
    latest = Math.max(latest, at);
  }
  return found;
}
