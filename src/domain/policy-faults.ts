import { AppError } from './errors.ts';
import * as limits from './limits.ts';
import type { Translated } from './schedule/words/forms.ts';

/** Sentences of refusals of policies. `name` is the policy as it is written over the API. */
export const englishPolicyFaults = {
  quietOffWithHours: (name: string): string => `${name} is either off or has hours, not both.`,
  quietWithoutHours: (name: string): string => `${name} needs from and to as clock times such as 22:00 and 07:00.`,
  quietWithoutEnd: (name: string): string =>
    `${name} begins and ends at the same time; leave it out, or choose another end.`,
  keepsNothing: (name: string): string => `${name} names runs, days or both.`,
  budgetsNothing: (name: string): string =>
    `${name} names requests, tokens or money, such as {"requests": 100, "per": "day"}.`,
  endsBeforeStart: (name: string): string => `${name} lies before start_at.`,
  besideWatch: (name: string): string =>
    `${name} does not go with watch in the action, which does the same; keep one of them.`,
  autoPauseOut: (name: string): string => `${name} is 0 (off) or ${limits.autoPauseMin} to ${limits.autoPauseMax}.`,
  widerThanGap: (name: string): string => `${name} is shorter than the gap between two runs.`,
  noLength: (name: string): string =>
    `${name} is a duration such as PT90S, PT10M, PT2H or P1D; months and years have no fixed length.`,
  lengthOut: (name: string, leastS: number, mostS: number): string =>
    `${name} is out of range: ${leastS} s to ${mostS} s.`,
  noInstant: (name: string): string => `${name} is an instant with its offset, such as 2027-01-31T09:00:00Z.`,
} as const;

export type PolicyFaultWords = Translated<typeof englishPolicyFaults>;

/** A policy that is refused. It says why in English, and `told` in any language. */
export class PolicyFault extends AppError {
  readonly #reason: keyof PolicyFaultWords;
  readonly #bounds: readonly [leastS: number, mostS: number];

  /** Bounds are told where the sentence has some. */
  constructor(field: string, reason: keyof PolicyFaultWords, [leastS, mostS] = [0, 0]) {
    const name = `policies.${field}`;
    super('invalid_policy', englishPolicyFaults[reason](name, leastS, mostS), { details: { field: name } });
    this.#reason = reason;
    this.#bounds = [leastS, mostS];
  }

  told(words: PolicyFaultWords): string {
    return words[this.#reason](String(this.details?.['field']), ...this.#bounds);
  }
}
