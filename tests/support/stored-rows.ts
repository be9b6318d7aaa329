import type { Tables } from '../../src/store/tables/define.ts';

type Snake<S extends string> = S extends `${infer C}${infer R}`
  ? C extends Lowercase<C>
    ? `${C}${Snake<R>}`
    : `_${Lowercase<C>}${Snake<R>}`
  : '';

type Widened<T> = T extends string ? string : T;

/** A row as it lies in the database, under the names of SQL: nobody has said yet that what stands there is right. */
export type StoredRow<N extends keyof Tables> = {
  [K in keyof Tables[N]['$inferSelect'] as Snake<K & string>]: Widened<Tables[N]['$inferSelect'][K]>;
};
