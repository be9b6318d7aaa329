import { readFileSync } from 'node:fs';
import { AppError } from '../../../src/domain/errors.ts';
import { nextSlots, parseSchedule, type Schedule, wallText } from '../../../src/domain/schedule/schedule.ts';
import { readAnywhere } from '../../../src/domain/when/asked.ts';
import { NOW } from './phrases.ts';

const timezone = 'Europe/Madrid';

/** A phrase with what its writer meant, which was written down before the reader saw it. */
export interface Meant {
  readonly phrase: string;
  readonly meaning: string;
  readonly text: string;
}

export const corpus: readonly Meant[] = readFileSync(
  new URL('../../../fixtures/phrases/corpus.txt', import.meta.url),
  'utf8',
)
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => {
    const [phrase = '', rest = ''] = line.split(' => ');
    const [meaning = '', text = ''] = rest.split(' |');
    return { phrase, meaning: meaning.trim(), text: text.trim().replaceAll('\\n', '\n') };
  });

const SHOWN = 5;

function walls(schedule: Schedule): string[] {
  return nextSlots(schedule, NOW, { count: SHOWN }).map((slot) => wallText(slot, schedule.timezone));
}

function meantWalls(meaning: string, zone: string): string[] {
  if (meaning.startsWith('next ')) return meaning.slice(5).split(', ');
  if (/^\d{4}-\d\d-\d\d \d\d:\d\d$/.test(meaning)) return [meaning, 'end'];
  const [rule = '', from] = meaning.split(' from ');
  const at = (from ?? '').replaceAll(/[-:]/g, '').replace(' ', 'T');
  if (rule.startsWith('FREQ')) {
    return walls(parseSchedule({ kind: 'rrule', rrule: `DTSTART:${at}00\nRRULE:${rule}`, timezone: zone }, NOW));
  }
  if (rule.startsWith('P')) {
    return walls(
      parseSchedule(
        { kind: 'interval', interval: rule, start_at: (from ?? '').replace(' ', 'T'), timezone: zone },
        NOW,
      ),
    );
  }
  return walls(parseSchedule({ kind: 'cron', cron: rule, timezone: zone }, NOW));
}

/** Null where the reading is what was meant, else what was read; a question or a refusal begins with its code. */
export function misreadingOf({ phrase, meaning, text }: Meant): string | null {
  const isQuestion = meaning === 'ASK' || meaning === 'NO';
  try {
    const asked = readAnywhere(phrase, { timezone, now: NOW });
    const said = [asked.forWhom, asked.text].filter((part) => part !== null && part !== '').join(' ');
    const read = walls(asked.schedule);
    const told = `${read.join(', ')} ${asked.timezone} | ${said}`;
    if (isQuestion) return told;
    const [what = '', zone = timezone] = meaning.split(' @');
    const meant = meantWalls(what, zone);
    const isEnded = meant.at(-1) === 'end';
    const times = isEnded ? meant.slice(0, -1) : meant;
    const isSame = isEnded ? read.join() === times.join() : read.slice(0, times.length).join() === times.join();
    return isSame && asked.timezone === zone && said === text ? null : told;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return isQuestion ? null : `${error.code}: ${error.message}`;
  }
}
