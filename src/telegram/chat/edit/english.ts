import { blocks, code, lines, oneLine, say, type Rich } from '../kit/rich.ts';

interface Once {
  readonly number: number;
  /** When it runs, and in which zone. */
  readonly repeats: string;
  readonly at: string;
  /** What to write for the hour alone; null where the task has none. */
  readonly hour: string | null;
}

/** What is said about a new time that does not say all itself. */
export const retimeTexts = {
  once: (name: Rich, { number, repeats, at, hour }: Once): Rich =>
    blocks(
      lines(say`${name} repeats: ${oneLine(repeats, 200)}.`, `What you wrote is a single moment: ${at}.`),
      'Shall it run once then, and never again?',
      hour === null ? null : say`${code(`/edit #${number} ${hour}`)} moves the hour and keeps the days.`,
    ),
  which: (name: Rich, times: readonly string[], time: string): Rich =>
    say`${name} runs at ${both(times)}. Which of them shall be ${time}?`,
  noHour: (name: Rich, runs: string): Rich =>
    say`${name} runs ${oneLine(runs, 200)}, so there is no hour of the day to move. Nothing was changed.`,
  notSaid: (name: Rich, runs: string): Rich =>
    say`${name} runs ${oneLine(runs, 200)}, and that cannot be said with these times in one schedule. Nothing was changed.`,
  kept: (name: Rich, next: string): Rich => lines(say`Kept as it is: ${name}`, next),
  keptWord: 'Kept as it is',
  tries: ['8:30', 'weekdays', 'every day at 9'] as readonly string[],
  button: {
    once: 'Make it once',
    keep: 'Keep as it is',
    inPlace: (old: string, time: string): string => `${old} → ${time}`,
    alone: (time: string): string => `Only ${time}`,
  },
  /** The problem first, and what can be written instead; `number` is null where the words alone are waited for. */
  how: (sentence: Rich | string, tries: readonly string[], number: number | null): Rich =>
    blocks(
      sentence,
      lines('These can be read:', ...tries.map((each) => code(number === null ? each : `/edit #${number} ${each}`))),
    ),
  bareNumber: (number: number, word: string): Rich =>
    blocks(
      `${word} may be an hour or a task, so I have changed nothing.`,
      lines(
        'These can be read:',
        Number(word) < 24 ? code(`/edit #${number} ${word.padStart(2, '0')}:00`) : null,
        code(`/edit #${word}`),
      ),
    ),
  fields: ['text Water the plants'] as readonly string[],
} as const;

function both(times: readonly string[]): string {
  return times.length < 2 ? times.join('') : `${times.slice(0, -1).join(', ')} and ${times.at(-1)}`;
}
