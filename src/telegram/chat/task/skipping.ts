import type { Within } from '../../../app/tasks/skip.ts';
import { skipMax } from '../../../domain/limits.ts';
import type { Answer, ConversationRooms, Said } from '../conversation.ts';
import { taskName } from './card.ts';
import { moment, moments, type Setting } from '../kit/clock.ts';
import { dayIn, nextMonday, startOf } from '../kit/days.ts';
import { texts } from '../texts.ts';
import { answer } from '../kit/answers.ts';
import { nextSentence, settingFor } from '../kit/cards.ts';
import { targetOf } from './doing.ts';
import { undoRow } from '../edit/editing.ts';
import { momentIn } from '../kit/moments.ts';
import { namedTask } from '../kit/naming.ts';

/** `/skip [n]`: the next run; `/skip [n] 2`: the next two; `/skip [n] friday`: those of that day. */
export async function skipCommand(said: Said, rooms: ConversationRooms): Promise<Answer> {
  const named = await namedTask(said, rooms, { deed: 'change', verb: 'skip', fits: 'active', isCounting: true });
  if ('answer' in named) return named.answer;
  const setting = await settingFor(named.task, rooms);
  const wish = wishIn(named.rest, said, { rooms, setting });
  if (wish === null) return answer(texts.deed.skipHow(skipMax, named.task.number));
  const skip = typeof wish === 'number' ? { count: wish, from: null } : { count: skipMax, from: null, within: wish };
  const { task, entryId, slots } = await rooms.tasks.skip(targetOf(said, named.task), skip);
  const words = texts.deed.leftOut(taskName(task), leftOutWords(slots, setting), setting.timezone);
  return answer(texts.deed.leftOutNext(words, await nextSentence(task, rooms)), undoRow(task, entryId));
}

interface Reading {
  readonly rooms: Pick<ConversationRooms, 'preview'>;
  readonly setting: Setting;
}

const span = /^(?:in|for)\b|^\d+\s*[a-z]/i;

/** A number of runs, or a stretch of time; null for what is neither. A day is that of the clocks of the task. */
function wishIn(rest: string, { date }: Pick<Said, 'date'>, { rooms, setting }: Reading): number | Within | null {
  const words = rest.replace(/^(?:on|the (?:run|one) on)\s+/i, '').trim();
  if (words === '' || /^(?:next|once|it|this)$/i.test(words)) return 1;
  if (/^\d{1,6}$/.test(words)) return Number(words) >= 1 && Number(words) <= skipMax ? Number(words) : null;
  const now = setting.now;
  if (/^(?:all |the rest of )?(?:this|the) week$/i.test(words)) {
    return { from: now, to: startOf(nextMonday(dayIn(setting, now)), setting) };
  }
  const until = /^until\s+/i.test(words);
  if (span.test(words) && !/^\d{4}-/.test(words)) return null;
  const at = momentIn(words, { rooms, timezone: setting.timezone, now: date }, '23:59');
  if (at === null) return null;
  const day = dayIn(setting, at);
  return { from: until ? now : startOf(day, setting), to: startOf(until ? day : day + 1, setting) };
}

const toldMax = 5;

/** What was left out, as far as anybody reads on. */
export function leftOutWords(slots: readonly number[], setting: Setting): string {
  const last = slots.at(-1);
  if (last === undefined || slots.length <= toldMax) return moments(slots, setting);
  return texts.deed.andMore(moments(slots.slice(0, 2), setting), slots.length - 2, moment(last, setting));
}
