import type { TimeFacts } from './facts.ts';
import { stepOf } from './words.ts';

/** More times than these are no list that anybody reads, and so many even ones are a rhythm. */
const TIMES_SHOWN_MAX = 12;
const RHYTHM_FROM = 6;

const hourSeconds = 3_600;

/** Every hour with every minute, as one list of times, as an even rhythm, or as minutes of hours. */
export function timesFacts({
  hours,
  minutes,
  fixedTimes,
}: {
  readonly hours: readonly number[];
  readonly minutes: readonly number[];
  /** The times were named one by one, and not as a rhythm. */
  readonly fixedTimes: boolean;
}): TimeFacts {
  const times = hours.flatMap((hour) => minutes.map((minute) => hour * hourSeconds + minute * 60));
  const [minute = 0] = minutes;
  const [from = 0, twelveLater = 0] = times;
  if (!fixedTimes && times.length === 2 && twelveLater - from === 12 * hourSeconds)
    return { is: 'steps', step: { value: 12, unit: 'hour' }, from, to: null };
  const even = hours.length === 24 ? null : evenFacts(times, fixedTimes ? RHYTHM_FROM : 3);
  if (even !== null) return even;
  if (times.length <= TIMES_SHOWN_MAX && hours.length < 24 && (fixedTimes || times.length < RHYTHM_FROM))
    return { is: 'at', times };
  return minutes.length === 1 ? { is: 'hourly', minute, hours } : { is: 'grid', hours, minutes };
}

/** Times of the day that were named one by one. */
export function listFacts(times: readonly number[]): TimeFacts | null {
  return evenFacts(times, RHYTHM_FROM) ?? (times.length <= TIMES_SHOWN_MAX ? { is: 'at', times } : null);
}

function evenFacts(times: readonly number[], least: number): TimeFacts | null {
  const step = times.length >= least ? stepOf(times) : null;
  if (step === null || times.some((time) => time % 60 !== 0)) return null;
  const [from = 0] = times;
  const minutes = step / 60;
  const unit =
    minutes % 60 === 0
      ? ({ value: minutes / 60, unit: 'hour' } as const)
      : ({ value: minutes, unit: 'minute' } as const);
  return { is: 'steps', step: unit, from, to: times.at(-1) ?? from };
}
