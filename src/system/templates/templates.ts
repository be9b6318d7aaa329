import { createRecent } from '../../app/operations/recent.ts';
import type { Rendered, Templates } from '../../app/ports/outside.ts';
import { AppError } from '../../domain/errors.ts';
import * as limits from '../../domain/limits.ts';
import type { TemplateAnswer, TemplateAsk } from '../pool/child.ts';
import type { Work, Worked } from '../pool/pool.ts';

/** Texts whose late answers are remembered; the oldest goes first. */
const strikesKept = 100;

/** Templates are parsed and rendered in children of the pool. */
export function createTemplates(run: (work: Work<'template'>) => Promise<Worked<TemplateAnswer>>): Templates {
  const { timeZone: zone } = Intl.DateTimeFormat().resolvedOptions();
  const strikes = createRecent<number>(strikesKept);
  const evaluate = async (owner: string, about: Omit<TemplateAsk, 'zone'>) => {
    const ask = { ...about, zone };
    return run({ kind: 'template', ask, owner, maxMs: limits.templateMaxMs });
  };

  /** Ended children are no proof against a text, but so many of them in a row are. */
  const afterEnd = (text: string): Rendered => {
    const count = (strikes.get(text) ?? 0) + 1;
    strikes.drop(text);
    if (count >= limits.templateStrikesMax) return harmful('ran into its time limit again and again');
    strikes.put(text, count);
    return later(
      'the template took too long, or the process that rendered it was ended from outside',
      limits.poolRestartMs,
    );
  };

  const renderedBy = (text: string, worked: Worked<TemplateAnswer>): Rendered => {
    switch (worked.is) {
      case 'done':
        strikes.drop(text);
        if ('fault' in worked.answer) {
          const { fault } = worked.answer;
          return { is: 'giveUp', error: faultOf('instructions', fault).message, fault };
        }
        return { is: 'done', text: worked.answer.text };
      case 'died':
        return harmful('took down the process that rendered it');
      case 'spent':
        return later(spentText, worked.afterMs);
      case 'away':
        return later(awayText, limits.poolAwayMs);
      default:
        return afterEnd(text);
    }
  };

  return {
    check: async ({ field, text, variables }, owner) => {
      const worked = await evaluate(owner, { text, variables, isTrial: true });
      if (worked.is === 'spent') throw notNow(field, spentText, worked.afterMs);
      if (worked.is === 'away') throw notNow(field, awayText, limits.poolAwayMs);
      if (worked.is !== 'done') throw faultOf(field, 'it takes too much time or memory');
      if ('fault' in worked.answer) throw faultOf(field, worked.answer.fault, worked.answer.line);
    },
    render: async (text, owner, variables) => renderedBy(text, await evaluate(owner, { text, variables })),
  };
}

const spentText =
  'the templates of one person may use a quarter of the time of a processor, and yours have used that up';
const awayText = 'templates cannot be evaluated right now';

function later(error: string, afterMs: number): Rendered {
  return { is: 'retry', error, afterMs, isFree: true };
}

function harmful(what: string): Rendered {
  return {
    is: 'giveUp',
    isHarmful: true,
    fault: `it ${what}`,
    error: `The template ${what}. Make it simpler: fewer and shorter loops, smaller texts. Then resume the task.`,
  };
}

function faultOf(field: string, fault: string, line?: number): AppError {
  // A refusal names the setting; the sentence names the place in it.
  const [root = '', setting = ''] = field.split('.', 2);
  const named = setting === '' ? root : `${root}.${setting}`;
  const details = { field: named, fault, ...(line === undefined ? {} : { line }) };
  if (field === 'instructions') {
    return new AppError(
      'invalid_template',
      `The text looks like a template and cannot be read as one: ${fault}. Change it, or set action.plain to true to send it as plain text.`,
      { details },
    );
  }
  const example = 'Write for example {{ context.name }} or {{ context.name | default: "none" }}.';
  return new AppError('invalid_action', `${field} cannot be read as a template: ${fault}. ${example}`, { details });
}

function notNow(field: string, why: string, ms: number): AppError {
  const seconds = Math.ceil(ms / 1000);
  return new AppError('quota_exceeded', `The template was not looked at: ${why}. Try again in ${seconds} s.`, {
    details: { field, retry_after_seconds: seconds },
  });
}
