import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createContext, Script } from 'node:vm';
import type { JsonataOptions } from 'jsonata';
import { errorText, faultCodeOf } from '../../domain/errors.ts';
import type { SelectionAnswer, SelectionAsk } from '../pool/child.ts';

/**
 * JSONata within bounds. Each step of an expression is a promise, and what happens between two of them no timeout of a call would
 * stop; so it runs in a context of its own, whose promises all settle within the call that began them, or are stopped with it. It
 * knows nothing of the process either.
 */

/** The library looks at these itself, so that most faults are told in its words. */
const bounds: JsonataOptions = { timeout: 300, stack: 300, sequence: 20_000 };
/** Stops what the library does not look at, such as a regular expression. */
const stoppedAfterMs = 500;
/** The answer as a run keeps it, and a template may read it. */
const jsonLengthMax = 262_144;

const library = new Script(readFileSync(createRequire(import.meta.url).resolve('jsonata'), 'utf8'));

const evaluation = new Script(`
  told = undefined;
  (async () => {
    try {
      const made = jsonata(ask.expression, bounds);
      const value = ask.input === undefined ? undefined : await made.evaluate(JSON.parse(ask.input));
      const isCode = value?._jsonata_lambda === true || value?._jsonata_function === true;
      told = JSON.stringify(isCode ? { fault: 'it chooses a function and no value' } : { value });
    } catch (error) {
      told = JSON.stringify({ fault: String(error?.message ?? error), position: error?.position });
    }
  })();
`);

interface Place {
  ask: SelectionAsk;
  told: string | undefined;
  readonly bounds: JsonataOptions;
}

let place: Place | null = null;

function freshPlace(): Place {
  const made = createContext({ ask: { expression: '' }, told: undefined, bounds } satisfies Place, {
    microtaskMode: 'afterEvaluate',
    codeGeneration: { strings: false, wasm: false },
  }) as Place;
  library.runInContext(made);
  return made;
}

/** Evaluates the expression with the input, or looks whether it can be read where there is none. */
export function select(ask: SelectionAsk): SelectionAnswer {
  place ??= freshPlace();
  place.ask = ask;
  try {
    evaluation.runInContext(place, { timeout: stoppedAfterMs });
  } catch (error) {
    // A context in which something was stopped may be left half done.
    place = null;
    const isLate = faultCodeOf(error) === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
    return { fault: isLate ? `it takes more than ${stoppedAfterMs} ms` : errorText(error) };
  }
  return answerOf(place.told);
}

function answerOf(told: string | undefined): SelectionAnswer {
  if (told === undefined) return { fault: 'it waits for something that never comes' };
  if (told.length > jsonLengthMax) return { fault: `it makes more than ${jsonLengthMax} characters` };
  return JSON.parse(told) as SelectionAnswer;
}
