import { DAY_MS, YEAR_MS } from './time/calendar.ts';

/** Every bound on what a schedule may cost or contain, each with its reason. */
export const scheduleLimits = {
  /** A cron text of this length already names every minute of a day; a longer one is an attack on the parser. */
  cronLengthMax: 256,
  /** Room for a year of single days that are left out, nine characters each, beside the rules. */
  rruleLengthMax: 5_000,
  /** Every slot asks each rhythm, so more of them would be a list of dates written the hard way. */
  rulesMax: 24,
  /** A range of exceptions is written day by day: a year of holidays, and what is longer is an end. */
  exceptionDaysMax: 400,
  /** The longest duration anybody writes (`P1Y2M3W4DT5H6M7S`) is half as long. */
  durationLengthMax: 32,
  /** An instant with nanoseconds and an offset has 35 characters. */
  instantLengthMax: 40,
  /** The longest zone name has 32 characters. */
  timezoneLengthMax: 64,
  /** More times inside one period are a denser schedule written the hard way, and each of them costs work. */
  timesPerPeriodMax: 2_000,
  /** COUNT is walked once when the rule is read, so this bounds the walk to a few milliseconds. */
  countMax: 10_000,
  /** Nine digits keep every product of INTERVAL and a unit inside the exact integers. */
  stepDigitsMax: 9,
  /** The calendar repeats after 400 years: what has not matched by then never will. */
  horizonMs: 146_097 * DAY_MS,
  /** 9999-12-31T23:59:59Z, because every text form of an instant has four digits for the year. */
  lastInstant: 253_402_300_799_000,
  /** A longer step would place its second slot beyond the horizon. */
  durationYearsMax: 400,
  /** Steps of a sub-daily search: about three for each day of the horizon, some 20 ms at the very worst. */
  subDailyStepsMax: 450_000,
  /** A first run farther away than this is nearly always a slip of the pen. */
  farFirstRunMs: 5 * YEAR_MS,
  /** Thirteen months show each clock change of the year once, with room for a date that moves. */
  gapLookAheadMs: 400 * DAY_MS,
  /** Enough for the working set of a busy server; an entry weighs about a kilobyte. */
  parsedCacheMax: 4_096,
  /** Offsets are kept per zone and week: 60 years of 20 zones, a few megabytes. */
  offsetCacheMax: 65_536,
  /** A list of slots is for showing and for planning; nobody reads or plans more at once. */
  slotsPerCallMax: 10_000,
} as const;
