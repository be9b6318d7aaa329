import { alerted, redrawn } from '../kit/answers.ts';
import { refusal } from '../kit/rights.ts';
import { changed, readSetting, settingsFacts } from './settings.ts';
import { settingsOf } from '../../../domain/chat-settings.ts';
import type { Answer, ConversationRooms, Pressed } from '../conversation.ts';
import { dateStylesDrawn, settingsDrawn } from './view.ts';
import { texts } from '../texts.ts';
import { arg } from '../kit/presser.ts';

/** Each button says what a setting is to be, so that a second press changes nothing. */
export async function setPressed(pressed: Pressed, rooms: ConversationRooms): Promise<Answer> {
  const refused = await refusal(pressed, 'manage', { task: null, rooms });
  if (refused !== null) return alerted(refused);
  const [key, value] = [arg(pressed, 0), arg(pressed, 1)];
  if (key === 'open') {
    const facts = await settingsFacts(pressed, rooms);
    return redrawn(pressed, value === 'dates' ? dateStylesDrawn(facts) : settingsDrawn(facts));
  }
  const change = readSetting({ key, value }, settingsOf(pressed.place.chat.settings).quiet);
  if ('unread' in change) return alerted(texts.chat.oldButton);
  return redrawn(pressed, await changed(pressed, rooms, change.set), texts.settings.saved);
}
