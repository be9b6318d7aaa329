import { alerted, redrawn } from '../kit/answers.ts';
import { letIn, waitingView } from './allowing.ts';
import { refusal } from '../kit/rights.ts';
import type { Answer, ConversationRooms, Pressed } from '../conversation.ts';
import { drawn } from '../kit/drawing.ts';
import { texts } from '../texts.ts';
import { arg } from '../kit/presser.ts';

/** The list goes on without whoever was let in. */
export async function allowPressed(pressed: Pressed, rooms: ConversationRooms): Promise<Answer> {
  const refused = await refusal(pressed, 'approve', { task: null, rooms });
  if (refused !== null) return alerted(refused);
  const address = arg(pressed, 0);
  if (!/^-?[1-9]\d{0,15}$/.test(address)) return alerted(texts.chat.oldButton);
  await letIn(rooms, pressed.person, { address, name: null });
  return redrawn(pressed, drawn(...(await waitingView(rooms))), texts.allow.allowedWord);
}
