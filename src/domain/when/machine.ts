import { parseSchedule, type Schedule } from '../schedule/schedule.ts';
import { secondOfDayOf } from '../schedule/time/calendar.ts';
import { zoneName } from '../schedule/time/zone-name.ts';
import { toWall } from '../schedule/time/zone.ts';
import { refusal, withExamples } from './faults.ts';
import { english } from './languages/english.ts';
import { clock, type Note } from './meaning/reading.ts';
import { Cursor, plainLine } from './pieces/cursor.ts';
import { zoneAt } from './pieces/zones.ts';
import type { Setting } from './setting.ts';

/** A schedule in a notation for machines at the beginning of a text, and where its text ends. */
export interface MachineWhen {
  readonly schedule: Schedule;
  readonly end: number;
  readonly notes?: readonly Note[];
}

const ICAL_LINE = /^(?:(?:dtstart|rrule|exrule|exdate|rdate)[:;]|freq=)\S*?(?=[:;,.]?(?:\s|$))/i;
const ICAL_MORE = /\r?\n[ \t]*(?:dtstart|rrule|exrule|exdate|rdate)[:;]\S*?(?=[:;,.]?(?:\s|$))/iy;
const TZID = /;TZID="?([^:;"\s]+)"?/i;
const NICKNAME = /^@[a-z]+/i;
const DURATION = /^pt?\d[\dymwdths.,]*(?![^\s:;,-])/i;
const TIME_FIELD = String.raw`(?:[*?]|\d{1,2})[\d*,/?-]*`;
const DAY_FIELD = String.raw`(?:[*?l]|\d{1,2})[\d*,/?lw-]*`;
const NAMED_FIELD = String.raw`\+?(?:[*?]|\d{1,2}|[a-z]{3}(?![a-z]))(?:[\d*,/?#l-]|(?<=[,-])[a-z]{3})*`;
const CRON = new RegExp(
  String.raw`^${TIME_FIELD}[ \t]+${TIME_FIELD}[ \t]+${DAY_FIELD}[ \t]+${NAMED_FIELD}[ \t]+${NAMED_FIELD}(?=$|[\s:;.])`,
  'i',
);
const SIXTH_FIELD = new RegExp(String.raw`^[ \t]+(?:${NAMED_FIELD})(?=$|\s)`, 'i');
const ALMOST_CRON = new RegExp(String.raw`^(?:${TIME_FIELD}[ \t]+){2}(?:${DAY_FIELD}|${NAMED_FIELD})(?=$|\s)`, 'i');

/** A rule that leaves its hour open comes at that of now. */
const NO_HOUR = /^(?!.*(?:dtstart|byhour|byminute|freq=(?:hour|minute|second)ly))/is;

/** The lines of a rule; on the last of them the text may follow. */
function rule(text: string, setting: Setting): MachineWhen | null {
  const first = ICAL_LINE.exec(text);
  if (first === null) return null;
  let end = first[0].length;
  for (;;) {
    ICAL_MORE.lastIndex = end;
    const more = ICAL_MORE.exec(text);
    if (more === null) break;
    end = ICAL_MORE.lastIndex;
  }
  const rrule = text.slice(0, end);
  const zone = TZID.exec(rrule)?.[1];
  const timezone = (zone === undefined ? null : zoneName(zone)) ?? setting.timezone;
  // A rule that names its hours is meant at the full hour, and not at the minute in which it was written.
  const hours = /^(?!.*(?:dtstart|byminute)).*byhour=(?<hours>\d[\d,]*)/is.exec(rrule)?.groups?.['hours'];
  const whole = hours === undefined ? rrule : `${rrule};BYMINUTE=0`;
  const schedule = withExamples('machine', () => parseSchedule({ kind: 'rrule', rrule: whole, timezone }, setting.now));
  if (hours === undefined) {
    const now = clock(Math.floor(secondOfDayOf(toWall(timezone, setting.now)) / 60));
    return { schedule, end, notes: NO_HOUR.test(rrule) ? [{ what: 'hour', text: now, other: null }] : [] };
  }
  const said = hours.split(',').map((hour) => clock(Number(hour) * 60));
  return { schedule, end, notes: [{ what: 'hour', text: said.join(', '), other: null }] };
}

function zoneBehind(line: string, end: number, setting: Setting): { timezone: string; end: number } {
  const cursor = new Cursor(plainLine(line), english);
  cursor.at = end;
  const found = zoneAt(cursor);
  if (found?.isOffset === true) throw refusal('zone', 'zone_offset', (say) => say.offset);
  // A place without "in" begins the text there.
  if (found === null || found.isDoubtful) return { timezone: setting.timezone, end };
  return { timezone: found.zone, end: cursor.at };
}

function cronText(line: string): string | null {
  const nickname = NICKNAME.exec(line)?.[0];
  if (nickname !== undefined) return nickname;
  const cron = CRON.exec(line)?.[0];
  if (cron !== undefined) {
    if (!SIXTH_FIELD.test(line.slice(cron.length))) return cron;
    throw refusal('machine', 'field_count', (say) => say.sixFields);
  }
  const almost = ALMOST_CRON.exec(line)?.[0];
  if (almost === undefined || !almost.includes('*')) return null;
  throw refusal('machine', 'field_count', (say) => say.fewFields(almost));
}

const ISO_INSTANT =
  /^(\d{4}-\d\d-\d\d)(?:t|\s+(?=\d\d:\d\d(?::\d\d)?(?:z|[+-](?:0\d|1[0-4]):?\d\d)))(\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:z|[+-]\d\d:?\d\d)?)(?!\w|:\d)/i;

/** A full ISO instant; with an offset or a Z it is that instant, without one the clock of the zone. */
function instant(line: string, setting: Setting): MachineWhen | null {
  const match = ISO_INSTANT.exec(line);
  if (match === null) return null;
  const [whole, date = '', clock = ''] = match;
  const { timezone, end } = zoneBehind(line, whole.length, setting);
  const input = { kind: 'once', once_at: `${date}T${clock.toUpperCase()}`, timezone } as const;
  const schedule = withExamples('later', () => parseSchedule(input, setting.now));
  if (schedule.kind === 'once' && schedule.onceAt > setting.now) return { schedule, end };
  throw refusal('later', 'past', (say) => say.momentPast);
}

/** Cron, nickname, rule, duration or instant at a place of a text. */
export function machineRead(whole: string, begin: number, setting: Setting): MachineWhen | null {
  const text = whole.slice(begin).trimStart();
  const found = readMachine(text, /^[^\n]{0,520}/.exec(text)?.[0] ?? '', setting);
  return found === null ? null : { ...found, end: whole.length - text.length + found.end };
}

function readMachine(text: string, line: string, setting: Setting): MachineWhen | null {
  const found = rule(text, setting);
  if (found !== null) return found;
  const cron = cronText(line);
  if (cron !== null) {
    const { timezone, end } = zoneBehind(line, cron.length, setting);
    return {
      schedule: withExamples('machine', () => parseSchedule({ kind: 'cron', cron, timezone }, setting.now)),
      end,
    };
  }
  const interval = DURATION.exec(line)?.[0];
  if (interval === undefined) return instant(line, setting);
  const { timezone, end } = zoneBehind(line, interval.length, setting);
  return {
    schedule: withExamples('machine', () => parseSchedule({ kind: 'interval', interval, timezone }, setting.now)),
    end,
  };
}
