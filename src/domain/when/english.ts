import { civilFromDays, weekdayOf } from '../schedule/time/calendar.ts';
import type { Unit } from '../schedule/words/facts.ts';
import type { Translated } from '../schedule/words/forms.ts';
import { counted, list, MONTH_NAMES, WEEKDAY_NAMES } from '../schedule/words/words.ts';

/**
 * The sentences of the reader: why words cannot be read, what it asks, what it assumed. Times are as figures, `said` is what a
 * person wrote; a day is its number since 1970, a weekday is counted from Sunday.
 */
export const englishReader = {
  /** A refusal, and what can be written instead. */
  withExamples: (sentence: string, one: string, two: string, three: string): string =>
    `${sentence} Try "${one}", "${two}" or "${three}".`,

  noTime: 'There is no time in this.',
  nothing: 'I could not find a time in that.',
  contradiction: 'Parts of this time do not fit together; keep one of them.',
  noRhythm: (value: number): string => `Every ${value} is not a rhythm; write a number from 1 to 1000.`,
  timesPerHour: 'Say how many minutes lie between the runs.',
  mixedRhythm: 'A rhythm of days or longer has one unit here.',
  zero: (unit: Unit): string => `0 ${unit}s is no time at all; write 1 or more.`,
  notWhole: (value: number, unit: Unit): string => `${value} ${unit}s is not a whole number; write a smaller unit.`,
  tooLong: (value: number, unit: Unit): string => `${value} ${unit}s is too long.`,
  wholeDays: 'Days and longer come in whole numbers here.',
  noSuchTime: (said: string): string => `"${said}" is not a time that a clock shows.`,
  noSeconds: (said: string): string => `Times go to the minute here; leave the seconds of "${said}" out.`,
  minutesOfHour: 'An hour has the minutes 0 to 59.',
  noSuchDate: (said: string): string => `"${said}" is not a date of any calendar.`,
  noSuchDay: (day: number): string => `That month has no day ${day}.`,
  fiveAtMost: 'No month has more than five of a weekday.',
  noRuns: 'A series of 0 runs never runs.',
  offset: 'A distance from UTC is not a time zone, because clocks change; name the place.',
  unknownZone: (said: string): string => `"${said}" is not a time zone; write its IANA name, such as Europe/Madrid.`,
  regionTime: 'Such a name holds for several places, whose clocks change at different times; name one.',
  sixFields:
    'A cron expression has five fields here, no seconds and no year; put the text on a new line if it begins like a sixth one.',
  fewFields: (said: string): string =>
    `"${said}" begins a cron expression, which has five fields: minute, hour, day, month and weekday.`,
  momentPast: 'That moment is in the past; write one to come.',
  isPast: (at: string, zone: string): string => `${at} in ${zone} is in the past; write a moment to come.`,
  waitAndTime: 'A wait of minutes or hours leads to its own time; leave the other one out.',
  tooLate: 'That is later than the calendar goes here.',
  noSuchDays: 'There is no such day, so this would never run.',
  unevenTimes: 'These times of the day cannot be said in one schedule; give them the same minutes.',
  endsBefore: (last: string | null): string =>
    last === null ? 'The series ends before its first run.' : `The series ends before its first run, on ${last}.`,
  tooEarly: 'That is too long before the date; name the date itself.',
  wholeMinutesToEnd: 'A rhythm with an end has whole minutes.',
  endless: 'A run every minute has no first or last day here.',
  whichHours: 'It is not said in which hours; say from when to when.',
  minutesOfHours: 'Minutes of the hour go with a rhythm of hours.',
  minutesTwice: 'The minutes are named twice; write the hours without minutes.',
  unevenRhythm: 'This rhythm does not come out even with the day; say from when to when it goes.',
  wholeMinutes: 'Inside certain hours or days a rhythm has whole minutes.',
  overMidnight: 'Hours that go over midnight stand beside days of the week; name two times of the day instead.',
  longerThanDay: 'This rhythm is longer than the day; name times of the day.',
  exceptionsOfSeries: 'Only a series has exceptions; begin with "every".',
  boundsOfSeries: 'Only a series has a start and an end; begin with "every".',
  neverRuns: 'This would never run.',
  twoEnds: 'A series has one end: a last day or a number of runs.',
  endsBeforeStart: 'The series would end before it begins.',
  startPast: 'The day on which the series would start is in the past.',
  noException: 'Such a day of the month cannot be left out here; name its dates.',
  notInPart: (time: string, part: 'morning' | 'afternoon' | 'evening' | 'night'): string =>
    `${time} is not clearly in the ${part}; write the time alone, on the clock of 24 hours.`,

  when: 'When?',
  howOften: 'How often?',
  whenToCome: 'When should it come?',
  whatTime: 'At what time?',
  turnOfDay: (said: string): string => `At what time is “${said}”?`,
  whatTimeToday: 'At what time today?',
  everyNight: 'Every night: at what time?',
  whatUnit: (figure: string): string => `In ${figure} what?`,
  whichWeekdays: 'Which days of the week?',
  weeksOrMonth: (said: string): string => `Does “${said}” count weeks, or the days of a month?`,
  halfOrTwice: (said: string, unit: Period): string => `Does “${said}” mean every 2 ${unit}s, or twice a ${unit}?`,
  whichHalf: (said: string, one: string, other: string): string => `Is ${said} ${one} or ${other}?`,
  dayOfNext: {
    week: 'Which day of next week?',
    month: 'Which day of next month?',
    year: 'Which day of next year?',
  },
  dayOfMonth: (month: number): string => `Which day of ${MONTH_NAMES[month] ?? ''}?`,
  timeOrText: (said: string): string => `Is the ${said} a time, or a part of the text?`,
  isTime: (said: string): string => `Is ${said} a time?`,
  isTheDay: (nth: string): string => `Is the ${nth} the day?`,
  isTheTime: (said: string): string => `Is ${said} the time?`,
  belongs: (said: string): string => `Does “${said}” belong to the time, or to the text?`,
  cannotBelong: (said: string): string =>
    `I cannot read “${said}” as time. Is it text? If not, write the time in other words.`,
  whereIs: (said: string): string => `Where is ${said}?`,
  oneZone: 'A task is in one zone. In which one?',
  dailyOrOnce: 'Every day, or once?',
  weeklyOrOnce: 'Every week, or once each?',
  otherWeekday: (day: number, weekday: number, said: number): string =>
    `${dateOf(day)} is a ${weekdayName(weekday)}, not a ${weekdayName(said)}. Which day is meant?`,
  whichDate: 'Which date is that?',
  whichWeekday: (weekday: number): string => `Which ${weekdayName(weekday)} is meant?`,
  monthlyOrOnce: 'Every month, or once?',
  passedToday: (time: string): string => `${time} has passed today. When is it meant?`,
  dayOrHour: (figure: number): string => `Is the ${figure} the day of the month, or the hour?`,
  onWhichDays: (unit: 'week' | 'month' | 'year', count: number | null): string =>
    count === null ? `On which day of the ${unit}?` : `On which ${count} days of the ${unit}?`,
  fromTo: 'From when to when?',
  isStart: 'Is that when it starts?',
  stepOrDays: (every: number): string => `Every ${every} days, or on the named days?`,
  onceOrEvery: (said: string): string => `Once, in ${said}, or every ${said}?`,
  dailyUntil: 'Every day until then?',
  twoTimes: 'Two times stand here. Which one is meant?',
  whichTime: (one: string, other: string): string => `Is that ${one} or ${other}?`,
  whichTimes: (count: number): string => `At what ${count} times of the day?`,

  /** The parts that were assumed. */
  everyDay: 'every day',
  everyWeek: 'every week',
  everyMonth: 'every month',
  onDaysAt: (weekdays: readonly number[], times: readonly string[]): string =>
    `${list(weekdays.map(weekdayName))} at ${list(times)}`,
  zoneOf: (said: string): string => `${said} time`,
  waitOf: (hours: number, minutes: number): string =>
    `in ${[...(hours === 0 ? [] : [counted(hours, 'hour')]), ...(minutes === 0 ? [] : [counted(minutes, 'minute')])].join(' ')}`,
  starting: (day: string): string => `starting ${day}`,
  until: (day: string): string => `until ${day}`,
  day: (day: number, hasYear: boolean): string =>
    `${weekdayName(weekdayOf(day)).slice(0, 3)} ${dateOf(day)}${hasYear ? ` ${civilFromDays(day).year}` : ''}`,
  dayAt: (day: string, time: string): string => `${day} ${time}`,

  /** Labels of buttons. */
  offers: {
    monday: 'Monday',
    wednesday: 'Wednesday',
    friday: 'Friday',
    onThe: (nth: string): string => `On the ${nth}`,
    first: 'The 1st',
    fifteenth: 'The 15th',
    lastDay: 'The last day',
    newYear: '1 January',
    monThu: 'Mon and Thu',
    tueFri: 'Tue and Fri',
    firstFifteenth: 'The 1st and 15th',
    everyWeek: 'Every week',
    onceEach: 'Once each',
    monWedFri: 'Mon, Wed, Fri',
    tueThu: 'Tue, Thu',
    tueThuSat: 'Tue, Thu, Sat',
    tenths: 'The 1st, 11th and 21st',
    inHour: 'in 1 hour',
    tonight: 'tonight',
    tomorrowAtNine: 'tomorrow at 9',
    aTime: 'A time',
    text: 'Text',
    secondIsText: 'The second is text',
    everyMonth: 'Every month',
    daily: 'Every day',
    onceOnly: 'Once',
    once: (day: string): string => `Once, ${day}`,
    onceIn: (said: string): string => `Once, in ${said}`,
    every: (said: string): string => `Every ${said}`,
    everyOther: (unit: Period): string => `Every 2 ${unit}s`,
    everyWeeks: (count: number): string => `Every ${count} weeks`,
    ofMonth: (nth: string, name: string): string => `The ${nth} ${name} of the month`,
    twice: (unit: Period): string => `Twice a ${unit}`,
    minutes: (figure: string): string => `${figure} minutes`,
    hours: (figure: string): string => `${figure} hours`,
    days: (figure: string): string => `${figure} days`,
    inUnits: (count: number, unit: Unit): string => `in ${counted(count, unit)}`,
    everyUnits: (count: number, unit: Unit): string => `every ${counted(count, unit)}`,
    at: (time: string): string => `At ${time}`,
    today: (time: string): string => `Today ${time}`,
    tomorrow: (time: string): string => `Tomorrow ${time}`,
    dayAndTime: (day: string, time: string): string => `${day}, ${time}`,
    times: (times: readonly string[]): string => list(times),
    onDaysOnly: (weekdays: readonly number[], times: readonly string[]): string =>
      `${list(weekdays.map(weekdayName))} only at ${list(times)}`,
    range: (from: string, to: string): string => `${from} to ${to}`,
    starting: (time: string): string => `Starting at ${time}`,
    textAt: (when: string): string => `Text, and ${when}`,
    isText: (said: string): string => `“${said}” is text`,
    isTime: (said: string): string => `“${said}” is time`,
  },
} as const;

export type Period = 'day' | 'week' | 'month' | 'year';

export type ReaderWords = Translated<typeof englishReader>;

/** A label that needs no values. */
export type FixedOffer = {
  [Name in keyof typeof englishReader.offers]: (typeof englishReader.offers)[Name] extends string ? Name : never;
}[keyof typeof englishReader.offers];

/** A text of the reader, in the words of the language in which it is told. */
export type Say = (words: ReaderWords) => string;

/** Figures and what a person wrote stand as they are. */
export type Text = string | Say;

export function told(text: Text, words: ReaderWords): string {
  return typeof text === 'string' ? text : text(words);
}

function weekdayName(weekday: number): string {
  return WEEKDAY_NAMES[weekday] ?? '';
}

function dateOf(day: number): string {
  const { month, day: date } = civilFromDays(day);
  return `${date} ${(MONTH_NAMES[month - 1] ?? '').slice(0, 3)}`;
}
