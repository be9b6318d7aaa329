import { iso } from '../domain/schedule/time/calendar.ts';
type Snake<Name extends string> = Name extends `${infer Head}${infer Rest}`
  ? `${Head extends Lowercase<Head> ? Head : `_${Lowercase<Head>}`}${Snake<Rest>}`
  : Name;

/** A view as it is told over HTTP: names in snake_case, and every `at` and `...At` as text. */
export type Wire<T> = {
  -readonly [K in keyof T as K extends string ? Snake<K> : never]: K extends 'at' | `${string}At`
    ? T[K] extends number | undefined
      ? string
      : T[K] extends number | null
        ? string | null
        : T[K]
    : T[K];
};

interface Named {
  readonly name: string;
  readonly isInstant: boolean;
}

/** The names of views are few, and each is told thousands of times. */
const known = new Map<string, Named>();

function named(name: string): Named {
  const found = known.get(name);
  if (found !== undefined) return found;
  const made = {
    name: name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    isInstant: name === 'at' || name.endsWith('At'),
  };
  known.set(name, made);
  return made;
}

/** Renames what a view holds, and nothing within: what people wrote keeps its own names. */
export function wire<T extends object>(view: T): Wire<T> {
  const told: Record<string, unknown> = {};
  for (const field of Object.keys(view)) {
    const { name, isInstant } = named(field);
    const value: unknown = view[field as keyof T];
    told[name] = isInstant && typeof value === 'number' ? iso(value) : value;
  }
  // By the same rule as the type, which the compiler holds against the schema of the answer.
  return told as Wire<T>;
}
