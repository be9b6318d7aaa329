import { coarse, daysIn, momentsIn } from '../app/why/moments.ts';
import { zoneName } from '../domain/schedule/time/zone-name.ts';

/** Instants of the API as people read them, on the clock of one zone. */
export interface Times {
  readonly zone: string;
  /** The title of a column of such times: with the zone, where that is not the one of this computer. */
  titled(name: string): string;
  /** `Wed 18 Nov`. */
  day(day: number): string;
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
    titled: (name) => (zone === hostZone() ? name : `${name} (${zone})`),
    day: daysIn(zone, now),
    at,
    about: (instant) => coarse(moments).full(Date.parse(instant)),
    full: (instant) => `${at(instant)} (${zone}), ${distance(Date.parse(instant), now)}`,
  };
}

/** The zone of this computer, for what a person types without a zone. */
export function hostZone(): string {
  return new Intl.DateTimeFormat('en-US').resolvedOptions().timeZone;
}

/** `in 3 h`, `2 days ago`. */
export function distance(instant: number, now: number): string {
  const words = durationWords(Math.abs(instant - now));
  if (Math.abs(instant - now) < 1000) return 'now';
  return instant > now ? `in ${words}` : `${words} ago`;
}

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** `4 ms`, `1.2 s`, `3 min`, `2 h`, `5 days`: how long something took, as exactly as anybody wants to know. */
export function durationWords(ms: number): string {
  if (ms < second) return `${Math.round(ms)} ms`;
  if (ms < 9.95 * second) return `${(ms / second).toFixed(1).replace(/\.0$/, '')} s`;
  if (ms < minute) return `${Math.round(ms / second)} s`;
  if (ms < 1.5 * hour) return `${Math.round(ms / minute)} min`;
  if (ms < 2 * day) return `${Math.round(ms / hour)} h`;
  return `${Math.round(ms / day)} days`;
}

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
