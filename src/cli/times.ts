import { coarse, momentsIn } from '../app/why/moments.ts';
import { durationWords } from './lengths.ts';
import { zoneName } from '../domain/schedule/time/zone-name.ts';

/** Instants of the API as people read them, on the clock of one zone. */
export interface Times {
  readonly zone: string;
  /** `Wed 18 Nov 09:00`, with seconds where it has some: for what was planned. */
  at(instant: string): string;
  /** To the minute: for what happened. */
  about(instant: string): string;
  /** `Wed 18 Nov 09:00 (Europe/Madrid), in 3 h`. */
  full(instant: string): string;
}

export function timesIn(timezone: string, now: number): Times {
  const zone = zoneName(timezone) ?? 'UTC';
  const moments = momentsIn(zone, now);
  const at = (instant: string) => moments.full(Date.parse(instant));
  return {
    zone,
    at,
    about: (instant) => coarse(moments).full(Date.parse(instant)),
    full: (instant) => `${at(instant)} (${zone}), ${distance(Date.parse(instant), now)}`,
  };
}

/** `in 3 h`, `2 days ago`. */
export function distance(instant: number, now: number): string {
  const words = durationWords(Math.abs(instant - now));
  if (Math.abs(instant - now) < 1000) return 'now';
  return instant > now ? `in ${words}` : `${words} ago`;
}
