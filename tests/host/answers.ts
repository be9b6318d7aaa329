import type { Asking } from '../../src/host/init/asking.ts';

interface Given {
  readonly confirm?: readonly boolean[];
  readonly choose?: readonly (string | null)[];
  readonly secret?: readonly string[];
  readonly text?: readonly string[];
}

export interface Answers extends Asking {
  /** All that was said and asked. */
  readonly heard: string[];
}

/**
 * A person who answers as told. A choice of null is a person who waits: the question ends when what is waited for has come.
 */
export function answers(given: Given): Answers {
  const left = {
    confirm: [...(given.confirm ?? [])],
    choose: [...(given.choose ?? [])],
    secret: [...(given.secret ?? [])],
    text: [...(given.text ?? [])],
  };
  const heard: string[] = [];
  const next = <T>(list: T[], question: string): T => {
    heard.push(question);
    const [answer] = list.splice(0, 1);
    if (answer === undefined) throw new Error(`no answer to "${question}"`);
    return answer;
  };
  const say = (text: string) => void heard.push(text);
  const checked = (list: string[], question: string, fault: (text: string) => string | undefined) => {
    for (;;) {
      const text = next(list, question);
      const problem = fault(text);
      if (problem === undefined) return text;
      heard.push(problem);
    }
  };
  return {
    heard,
    intro: say,
    outro: say,
    say,
    good: say,
    warn: say,
    secret: async (question, fault) => checked(left.secret, question, fault),
    text: async (question, fault) => checked(left.text, question, fault),
    confirm: async (question) => next(left.confirm, question),
    choose: async (question, options, until) => {
      const answer = next(left.choose, question);
      if (answer !== null) return options.find(({ value }) => value === answer)?.value ?? null;
      await new Promise<void>((resolve) => {
        if (until?.aborted === true) resolve();
        until?.addEventListener('abort', () => resolve());
      });
      return null;
    },
  };
}
