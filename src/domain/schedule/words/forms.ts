/** Forms of words that a language changes with a number, `{n}` in them, by the names that `Intl.PluralRules` gives them. */
export type Forms = Readonly<Partial<Record<Intl.LDMLPluralRule, string>>> & { readonly other: string };

/** The texts of another language: the same names, functions of the same values, and any words. Formatted text stays what it is. */
export type Translated<T> = T extends string
  ? string
  : T extends (...values: infer Values) => infer Said
    ? (...values: Values) => Translated<Said>
    : T extends { readonly entities: unknown }
      ? T
      : T extends object
        ? { readonly [Name in keyof T]: Translated<T[Name]> }
        : T;

/** Made when it is first asked for, and once. */
function onFirstUse<T extends object>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

/** Numbers, plural forms and lists of a language, by its BCP 47 tag. A formatter is made once and when it is needed, because that is slow. */
export function formsIn(tag: string) {
  const numbers = onFirstUse(() => new Intl.NumberFormat(tag));
  const cardinals = onFirstUse(() => new Intl.PluralRules(tag));
  const ordinals = onFirstUse(() => new Intl.PluralRules(tag, { type: 'ordinal' }));
  const both = onFirstUse(() => new Intl.ListFormat(tag, { type: 'conjunction' }));
  const either = onFirstUse(() => new Intl.ListFormat(tag, { type: 'disjunction' }));
  const formed = (rules: () => Intl.PluralRules, count: number, forms: Forms) =>
    (forms[rules().select(count)] ?? forms.other).replaceAll('{n}', numbers().format(count));
  return {
    /** `plural(3, { one: '{n} run', other: '{n} runs' })` is `3 runs`. */
    plural: (count: number, forms: Forms): string => formed(cardinals, count, forms),
    /** `ordinal(2, { one: '{n}st', two: '{n}nd', few: '{n}rd', other: '{n}th' })` is `2nd`. */
    ordinal: (count: number, forms: Forms): string => formed(ordinals, count, forms),
    /** `4,096` */
    number: (value: number): string => numbers().format(value),
    /** `a, b and c` */
    and: (items: readonly string[]): string => both().format(items),
    /** `a, b or c` */
    or: (items: readonly string[]): string => either().format(items),
  };
}

/** English without a comma before the last word of a list. */
export const englishForms = formsIn('en-GB');
