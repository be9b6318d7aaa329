import { alerted, redrawn } from '../kit/answers.ts';
import { sentenceOf, triedTo } from '../kit/refusals.ts';
import { refusal } from '../kit/rights.ts';
import { stepDrawn, turned } from './steps.ts';
import { chosen } from './wizard.ts';
import type { Answer, ConversationRooms, Pressed } from '../conversation.ts';
import { texts } from '../texts.ts';
import { held } from './draft-buttons.ts';
import { arg } from '../kit/presser.ts';
import { sameTitlePressed } from './same-title.ts';

/** Every choice while a task is made: `wizard:<draft>:<what>[:<value>[:<more>]]`. */
export async function wizardPressed(pressed: Pressed, rooms: ConversationRooms): Promise<Answer> {
  const refused = await refusal(pressed, 'create', { task: null, rooms });
  if (refused !== null) return alerted(refused);
  const found = await held(pressed, rooms);
  if ('answer' in found) return found.answer;
  const { row, step } = found.draft;
  if (step.step === 'edit' || step.step === 'made') return alerted(texts.making.over);
  const that = thatActions.find((each) => each === arg(pressed, 1));
  if (that !== undefined && step.step === 'preview')
    return sameTitlePressed(pressed, rooms, { row, step, action: that });
  const [action, value, more] = [arg(pressed, 1), arg(pressed, 2), arg(pressed, 3)];
  const moved = await triedTo(async () => {
    const next = chosen(step, action, { speaking: pressed, rooms, value, more });
    return next === null ? null : turned(pressed, rooms, { draftId: row.id, step: next });
  });
  if ('refusal' in moved) return alerted(short(sentenceOf(moved.refusal) ?? moved.refusal.message));
  if (moved.made !== null) return moved.made;
  // The button was of an earlier step: nothing changes, and the message shows the one that is open.
  return redrawn(pressed, await stepDrawn(pressed, rooms, { draftId: row.id, step }));
}

const thatActions = ['that', 'thattime', 'thattext'] as const;

/** Without what could be written instead, because it was pressed. */
function short(sentence: string): string {
  return sentence.replace(/ Try "[\s\S]*$/, '');
}
