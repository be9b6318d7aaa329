import type { z } from 'zod';
import { actionOperations } from './actions.ts';
import type { Operation } from './operation.ts';
import { runOperations } from './runs.ts';
import { scheduleOperations } from './schedules.ts';
import { secretOperations } from './secrets.ts';
import { spendingOperations } from './spending.ts';
import { accessOperations, statusOperations } from './status.ts';
import { taskOperations } from './tasks.ts';
import { threadOperations } from './threads.ts';
import { tokenOperations } from './tokens.ts';
import { truthOperations } from './truth.ts';
import { verbOperations } from './verbs.ts';

/** All operations of the API, by their ids. */
export const operations = {
  ...taskOperations,
  ...verbOperations,
  ...threadOperations,
  ...runOperations,
  ...truthOperations,
  ...scheduleOperations,
  ...actionOperations,
  ...statusOperations,
  ...accessOperations,
  ...secretOperations,
  ...spendingOperations,
  ...tokenOperations,
} as const satisfies Readonly<Record<string, Operation>>;

type Operations = typeof operations;
export type OperationId = keyof Operations;

/** The parts of an operation: as a client sends them, as its handler reads them, and what is answered. */
export type PartsOf<K extends OperationId> =
  Operations[K] extends Operation<infer P, infer Q, infer B, infer A>
    ? {
        readonly sent: { readonly params: z.input<P>; readonly query: z.input<Q>; readonly body: z.input<B> };
        readonly read: { readonly params: z.output<P>; readonly query: z.output<Q>; readonly body: z.output<B> };
        readonly answer: z.output<A>;
      }
    : never;
