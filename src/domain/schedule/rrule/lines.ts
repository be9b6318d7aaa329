import { scheduleLimits } from '../limits.ts';
import { quoted, unreadable } from '../shapes.ts';
import { DAY_MS, dayOfWall, pad, civilFromDays, SECOND_MS, secondOfDayOf } from '../time/calendar.ts';
import { isSameZone } from '../time/zone-name.ts';
import { resolveShifted, toWall, wallOfMatch } from '../time/zone.ts';
import { parseRruleParts, type RruleParts } from './parts.ts';

/** A date of an iCalendar line: a wall time of the zone, an instant, or a whole day. */
export interface IcalDate {
  readonly form: 'wall' | 'instant' | 'day';
  readonly value: number;
}

/** One RRULE or EXRULE line. */
export interface RuleLine {
  readonly body: string;
  readonly parts: RruleParts;
  readonly until: IcalDate | null;
}

export interface RruleLines {
  readonly start: IcalDate | null;
  /** One rhythm each; a slot that several of them name is one slot. */
  readonly rules: readonly [RuleLine, ...RuleLine[]];
  /** Days that come again and again and have no slots. */
  readonly exceptions: readonly RuleLine[];
  readonly excluded: readonly IcalDate[];
  readonly added: readonly IcalDate[];
}

interface Line {
  readonly name: string;
  readonly zone: string | null;
  readonly value: string;
}

const DATE = /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)(Z)?)?$/i;
const LINE = /^([A-Za-z-]+)((?:;[^:;]*)*):(.*)$/;

function fault(reason: string, message: string): Error {
  return unreadable({ field: 'rrule', reason }, message);
}

/** Long iCalendar lines are folded: a line that begins with a blank continues the one before. */
function unfold(text: string): string[] {
  const lines = text
    .replace(/\r\n?/g, '\n')
    .trim()
    .replace(/\n[ \t]/g, '')
    .split('\n');
  return lines.map((line) => line.trim()).filter((line) => line !== '');
}

function zoneOfParameters(parameters: string, timezone: string): string | null {
  let zone: string | null = null;
  for (const parameter of parameters.split(';').slice(1)) {
    const [key = '', value = ''] = parameter.split('=');
    if (key.toUpperCase() === 'TZID') zone = value.replaceAll('"', '').trim();
    else if (key.toUpperCase() !== 'VALUE' || !/^DATE(-TIME)?$/i.test(value)) {
      throw fault('unknown_parameter', `${quoted(parameter)} is not understood here; leave it out.`);
    }
  }
  if (zone !== null && !isSameZone(zone, timezone)) {
    throw fault('other_zone', `The rule says TZID=${zone} but the schedule is in ${timezone}; make them the same.`);
  }
  return zone;
}

function readLine(text: string, timezone: string): Line {
  const match = LINE.exec(text);
  if (match === null) {
    if (!/^\s*[A-Za-z]+\s*=/.test(text))
      throw fault(
        'syntax',
        `${quoted(text)} is not a recurrence rule; write it like FREQ=WEEKLY;BYDAY=MO;BYHOUR=9;BYMINUTE=0.`,
      );
    return { name: 'RRULE', zone: null, value: text };
  }
  const [, name = '', parameters = '', value = ''] = match;
  return { name: name.toUpperCase(), zone: zoneOfParameters(parameters, timezone), value: value.trim() };
}

function readDate(text: string, name: string, zone: string | null): IcalDate {
  const match = DATE.exec(text.trim());
  const value = match === null ? null : wallOfMatch(match);
  if (value === null) {
    throw fault('bad_date', `${name} has ${quoted(text)}; write it like 20270131T090000, with a Z at the end for UTC.`);
  }
  if (match?.[7] === undefined) return { form: match?.[4] === undefined ? 'day' : 'wall', value };
  if (zone !== null) throw fault('bad_date', `${name} has both TZID and a Z at the end; keep one of them.`);
  return { form: 'instant', value };
}

function readDates(lines: readonly Line[], name: string): IcalDate[] {
  return lines
    .filter((line) => line.name === name)
    .flatMap((line) => line.value.split(',').map((text) => readDate(text, name, line.zone)));
}

const NAMES = new Set(['DTSTART', 'RRULE', 'EXRULE', 'EXDATE', 'RDATE']);

function only(lines: readonly Line[], name: string): Line | null {
  const found = lines.filter((line) => line.name === name);
  if (found.length > 1) throw fault('duplicate_line', `There are ${found.length} ${name} lines; keep one.`);
  return found[0] ?? null;
}

function ruleLine({ value }: Line): RuleLine {
  const body = value.toUpperCase().replace(/\s+/g, '').replace(/;$/, '');
  const parts = parseRruleParts(body);
  return { body, parts, until: parts.until === null ? null : readDate(parts.until, 'UNTIL', null) };
}

/** A rule that stands twice is one; so many of them would be a list of dates written the hard way. */
function ruleLines(lines: readonly Line[], name: string): RuleLine[] {
  const found = lines.filter((line) => line.name === name).map(ruleLine);
  const once = found.filter(({ body }, index) => found.findIndex((other) => other.body === body) === index);
  const most = scheduleLimits.rulesMax;
  if (once.length > most) throw fault('too_many_rules', `There are ${once.length} ${name} lines; at most ${most} fit.`);
  return once;
}

/** An exception is of whole days, which come again for ever: a part that says otherwise would be taken for one of them. */
function checkException({ body, parts }: RuleLine): RuleLine {
  const { frequency, interval, count, until, hours, minutes, seconds, positions } = parts;
  const ofDays = ['DAILY', 'WEEKLY', 'MONTHLY', 'YEARLY'].includes(frequency);
  const plain = interval === 1 && count === null && until === null && positions.length === 0;
  const named = /;BY(?:MONTH|WEEKNO|YEARDAY|MONTHDAY|DAY)=/.test(body);
  if (ofDays && plain && named && hours.length + minutes.length + seconds.length === 0)
    return { body, parts, until: null };
  throw fault(
    'exrule',
    'EXRULE names whole days that are left out for ever, as in EXRULE:FREQ=WEEKLY;BYDAY=SU or EXRULE:FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=25; for single days write EXDATE;VALUE=DATE:20261224.',
  );
}

/** Takes a bare rule, or the lines DTSTART, RRULE, EXRULE, EXDATE and RDATE in any order. */
export function readRruleLines(text: string, timezone: string): RruleLines {
  if (text.length > scheduleLimits.rruleLengthMax) {
    throw fault('too_long', `A rule has at most ${scheduleLimits.rruleLengthMax} characters; shorten its lists.`);
  }
  const lines = unfold(text).map((line) => readLine(line, timezone));
  for (const { name } of lines) {
    if (!NAMES.has(name))
      throw fault(
        'unknown_line',
        `${quoted(name)} is not understood here; keep DTSTART, RRULE, EXRULE, EXDATE and RDATE.`,
      );
  }
  const [first, ...more] = ruleLines(lines, 'RRULE');
  if (first === undefined)
    throw fault('no_rule', 'There is no RRULE; write it like FREQ=WEEKLY;BYDAY=MO;BYHOUR=9;BYMINUTE=0.');
  const start = only(lines, 'DTSTART');
  const added = readDates(lines, 'RDATE');
  if (added.some(({ form }) => form === 'day'))
    throw fault('bad_date', 'RDATE needs a time; write it like 20270131T090000.');
  return {
    start: start === null ? null : readDate(start.value, 'DTSTART', start.zone),
    rules: [first, ...more],
    exceptions: ruleLines(lines, 'EXRULE').map(checkException),
    excluded: readDates(lines, 'EXDATE'),
    added,
  };
}

/** The wall time of a date in the zone; a whole day begins at midnight. */
export function wallOfDate(date: IcalDate, timezone: string): number {
  return date.form === 'instant' ? Math.floor(toWall(timezone, date.value) / SECOND_MS) * SECOND_MS : date.value;
}

export function instantOfDate(date: IcalDate, timezone: string): number {
  return date.form === 'instant' ? date.value : resolveShifted(timezone, date.value);
}

/** A whole day as an end means through its last millisecond. */
export function endOfDate(date: IcalDate, timezone: string): number {
  return date.form === 'day' ? resolveShifted(timezone, date.value + DAY_MS) - 1 : instantOfDate(date, timezone);
}

function icalText(wall: number): string {
  const { year, month, day } = civilFromDays(dayOfWall(wall));
  const second = secondOfDayOf(wall);
  const clock = `${pad(Math.floor(second / 3_600), 2)}${pad(Math.floor(second / 60) % 60, 2)}${pad(second % 60, 2)}`;
  return `${pad(year, 4)}${pad(month, 2)}${pad(day, 2)}T${clock}`;
}

function datesLine(name: string, dates: readonly IcalDate[], timezone: string): string[] {
  const of = (form: IcalDate['form']) => dates.filter((date) => date.form === form);
  const line = (head: string, values: string[]) => (values.length === 0 ? [] : [`${name}${head}:${values.join(',')}`]);
  return [
    ...line(
      '',
      of('instant').map(({ value }) => `${icalText(value)}Z`),
    ),
    ...line(
      `;TZID=${timezone}`,
      of('wall').map(({ value }) => icalText(value)),
    ),
    ...line(
      ';VALUE=DATE',
      of('day').map(({ value }) => icalText(value).slice(0, 8)),
    ),
  ];
}

/** A rule with its end in the place of its COUNT. */
export function endedBody(body: string, until: number): string {
  return body.replace(/(?<=^|;)COUNT=\d+/, `UNTIL=${icalText(until)}Z`);
}

/** The text that is stored: DTSTART first and always there, then a line for each rule, and never a COUNT. */
export function writeRruleLines(
  lines: Pick<RruleLines, 'excluded' | 'added'>,
  timezone: string,
  { start, rules, exceptions }: { start: number; rules: readonly string[]; exceptions: readonly string[] },
): string {
  return [
    `DTSTART;TZID=${timezone}:${icalText(start)}`,
    ...rules.map((body) => `RRULE:${body}`),
    ...exceptions.map((body) => `EXRULE:${body}`),
    ...datesLine('EXDATE', lines.excluded, timezone),
    ...datesLine('RDATE', lines.added, timezone),
  ].join('\n');
}

/** A stored rule at the same times on the wall of another zone; instants in it, such as its end, move along. */
export function ruleInZone(rule: string, from: string, to: string): string {
  const moved = (text: string) => {
    const wall = toWall(from, instantOfDate(readDate(text, 'A date', null), from));
    return `${icalText(toWall('UTC', resolveShifted(to, wall)))}Z`;
  };
  return rule.replaceAll(`TZID=${from}`, `TZID=${to}`).replaceAll(/\d{8}T\d{6}Z/g, moved);
}
