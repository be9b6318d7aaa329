import type { Translated } from './forms.ts';
import { spanText } from './words.ts';

/** Sentences of refusals and warnings about a schedule. Values are as they are typed, or times on the clock of its zone. */
export const englishAdvice = {
  tooDense: (gapMs: number, leastMs: number): string =>
    `It would run ${spanText(gapMs)} apart at its densest; the least allowed is ${spanText(leastMs)}. Choose a longer interval.`,
  isOver: (last: string): string => `Its last time, ${last}, is over. Choose a time in the future.`,
  untilIsOver: (until: string): string => `Its policy until, ${until}, is over. Choose a later one.`,
  cutOff: 'No run lies between the policies start_at and until. Widen them, or change the schedule.',
  allOut: 'It never runs: its exceptions leave nothing of the next 400 years. Take one of them away.',
  never: 'It never runs: the next 400 years have no such time. Check the days and the months.',
  noSecond: 'The rule names no second, so it runs at second 00. Name another one with BYSECOND.',
  farFirstRun: (first: string): string =>
    `The first run is more than five years away, on ${first}. Check that this is meant.`,
  bothDayFields:
    'Both day fields are set, so it runs on every day that matches either of them. Put a + before the weekday to ask for both.',
  stepsOfDay: (rule: string): string =>
    `${rule} goes on through a clock change: a skipped hour has no runs, a doubled one has them twice.`,
  shortMonths: (day: number, isCron: boolean): string =>
    `A month without a day ${day} has no run. Use ${isCron ? 'L as the day' : 'BYMONTHDAY=-1'} for the last day of every month.`,
  clampedMonths: (day: number): string =>
    `It counts from day ${day}; in a shorter month it runs on the last day instead.`,
  gapDropped: (at: string): string => `On ${at} does not exist; it will not run on that date.`,
  gapMoved: (at: string, to: string): string => `On ${at} does not exist; it will run at ${to}.`,
  keptShorter: (days: number, kept: number): string =>
    `Nothing is kept for longer than ${kept} days here, so ${days} days of history count as ${kept}.`,
  skipsDropped: (count: number): string =>
    count === 1
      ? 'The run that was skipped is not skipped at the new time. Skip again where it is still wanted.'
      : `The ${count} runs that were skipped are not skipped at the new time. Skip again where it is still wanted.`,
} as const;

export type AdviceWords = Translated<typeof englishAdvice>;
