import { AppError } from '../errors.ts';

/** What can be written instead, by the kind of mistake. Every one of these is read by a test. */
export const examples = {
  any: ['in 20 minutes', 'tomorrow at 8am', 'every weekday at 9:00'],
  hour: ['every day at 9', 'every monday and thursday at 18:30', 'every month on the 1st at 9'],
  moment: ['tomorrow at 8am', 'friday at 17:30', '31 january at 9'],
  later: ['in 20 minutes', 'tomorrow at 9', '2027-01-31 09:00'],
  date: ['12 may at 9', '5 december at 9', '2027-05-12 09:00'],
  clock: ['every day at 09:30', 'tomorrow at 9pm', 'every day at noon'],
  clocks: ['every day at 08:00 and 20:00', 'every day at 8am, noon and 18:30', 'every weekday at 9: water the plants'],
  wait: ['in 20 minutes', 'in 2 hours', 'in 3 days at 9'],
  rhythm: ['every 15 minutes', 'every 2 hours from 8 to 18', 'every 30 minutes from 9 to 16:30 on weekdays'],
  week: ['every week on monday at 9', 'every 2 weeks on monday at 10:00', 'every monday and thursday at 18:30'],
  month: ['every month on the 1st at 9', 'last friday of the month at 17:00', 'on the last day of the month at 18:00'],
  year: ['every year on 24 december at 18:00', 'every 1 july at 9', 'every year on the first monday of may at 9'],
  other: ['every other day at 8', 'every other tuesday at 9', 'every second tuesday of the month at 9'],
  end: ['every day at 9 until 31 march', 'every monday at 9 for 10 times', 'every day at 9 starting monday'],
  zone: ['every day at 9 in Europe/Madrid', 'tomorrow at 9 America/New_York', 'every weekday at 14:30 UTC'],
  text: ['every day at 9: water the plants', 'tomorrow at 8am, call mum', 'every 15 minutes - stand up'],
  machine: ['0 9 * * 1-5', 'FREQ=WEEKLY;BYDAY=MO;BYHOUR=9;BYMINUTE=0', 'P1M'],
} as const satisfies Record<string, readonly [string, string, string]>;

export type Topic = keyof typeof examples;

/** A when that cannot be read. `sentence` says what is wrong; what can be written instead is added here. */
export function refusal(topic: Topic, reason: string, sentence: string): AppError {
  const [first, second, third] = examples[topic];
  return new AppError('invalid_schedule', `${sentence} Try "${first}", "${second}" or "${third}".`, {
    details: { field: 'when', reason, examples: [first, second, third] },
  });
}

/** A longer line is no help as an example. */
export const MENDED_LENGTH_MAX = 120;

/** The same where the line itself could be mended: it comes first among what can be written instead. */
export function mendedRefusal(mended: string, reason: string, sentence: string): AppError {
  const [first, second] = examples.hour;
  return new AppError('invalid_schedule', `${sentence} Try "${mended}", "${first}" or "${second}".`, {
    details: { field: 'when', reason, examples: [mended, first, second] },
  });
}

/** The schedule's own refusal says what is wrong with it; what can be written instead is added. */
export function withExamples<T>(topic: Topic, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'invalid_schedule') throw error;
    const { examples: named, reason } = error.details ?? {};
    throw named === undefined
      ? refusal(topic, typeof reason === 'string' ? reason : 'unreadable', error.message)
      : error;
  }
}
