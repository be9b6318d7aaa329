import type { Expressions, Unevaluated } from '../../app/ports/outside.ts';
import { AppError } from '../../domain/errors.ts';
import * as limits from '../../domain/limits.ts';
import type { Pool, Worked } from '../pool/pool.ts';

/** Longer than the child needs to stop itself by, so that who is late here was kept from working. */
const selectionMaxMs = 1500;
const differenceMaxMs = 1000;

/** Expressions and differences are evaluated in children of the pool. */
export function createExpressions(run: Pool['run']): Expressions {
  const selected = (expression: string, owner: string, input?: string) =>
    run({
      kind: 'selection',
      ask: { expression, ...(input === undefined ? {} : { input }) },
      owner,
      maxMs: selectionMaxMs,
    });
  return {
    check: async ({ field, text }, owner) => {
      const worked = await selected(text, owner);
      if (worked.is === 'spent') throw notNow(field, worked.afterMs);
      if (worked.is === 'away') throw notNow(field, limits.poolAwayMs);
      if (worked.is !== 'done') throw faultOf(field, 'it takes too much time or memory');
      if ('fault' in worked.answer) throw faultOf(field, worked.answer.fault, worked.answer.position);
    },
    select: async (expression, owner, input) => {
      const worked = await selected(expression, owner, JSON.stringify(input));
      if (worked.is !== 'done') return unevaluated(worked);
      const { answer } = worked;
      if ('fault' in answer)
        return { is: 'giveUp', error: `the expression fails: ${answer.fault}`, fault: answer.fault };
      return { is: 'done', value: answer.value ?? null };
    },
    difference: async (before, after, owner) => {
      const worked = await run({ kind: 'difference', ask: { before, after }, owner, maxMs: differenceMaxMs });
      return worked.is === 'done' ? worked.answer.text : null;
    },
  };
}

function unevaluated(worked: Exclude<Worked<unknown>, { is: 'done' }>): Unevaluated {
  switch (worked.is) {
    case 'died':
      return {
        is: 'giveUp',
        isHarmful: true,
        fault: 'it takes more memory than there is',
        error: 'The expression took down the process that evaluated it. Make it simpler. Then resume the task.',
      };
    case 'spent':
      return { is: 'retry', isFree: true, error: spentText, afterMs: worked.afterMs };
    case 'away':
      return { is: 'retry', isFree: true, error: awayText, afterMs: limits.poolAwayMs };
    default:
      return {
        is: 'retry',
        isFree: true,
        error: 'the process that evaluated the expression was kept from working',
        afterMs: limits.poolRestartMs,
      };
  }
}

const spentText =
  'the expressions of one person may use a quarter of the time of a processor, and yours have used that up';
const awayText = 'expressions cannot be evaluated right now';

function faultOf(field: string, fault: string, position?: number): AppError {
  const where = position === undefined ? '' : ` (at character ${position})`;
  return new AppError(
    'invalid_action',
    `${field} cannot be read as JSONata: ${fault}${where}. Example: "items[price < 10].name"`,
    { details: { field, fault, example: 'items[price < 10].name', ...(position === undefined ? {} : { position }) } },
  );
}

function notNow(field: string, ms: number): AppError {
  const seconds = Math.ceil(ms / 1000);
  return new AppError('quota_exceeded', `The expression was not looked at: ${awayText}. Try again in ${seconds} s.`, {
    details: { field, retry_after_seconds: seconds },
  });
}
