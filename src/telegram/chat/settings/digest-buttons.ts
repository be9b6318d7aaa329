import { alerted, redrawn } from '../kit/answers.ts';
import { digestChoices, digestDrawn, digestNow, readDigestWhen, scheduled, switchedOff, type Told } from './digest.ts';
import type { Answer, ConversationRooms, Pressed } from '../conversation.ts';
import { drawn } from '../kit/drawing.ts';
import { texts } from '../texts.ts';
import { button, dataOf } from '../kit/press.ts';
import { arg } from '../kit/presser.ts';

export async function digestPressed(pressed: Pressed, rooms: ConversationRooms): Promise<Answer> {
  const what = arg(pressed, 0);
  const back = [[button(texts.button.back, dataOf('set', 'open', 'all'))]];
  if (what === 'open') return redrawn(pressed, await digestDrawn(pressed, rooms, back));
  if (what === 'off') return told(pressed, await switchedOff(pressed, rooms));
  if (what === 'now') return told(pressed, await digestNow(pressed, rooms));
  const when = Object.hasOwn(digestChoices, what) ? digestChoices[what] : undefined;
  const preview = when === undefined ? null : readDigestWhen(when, pressed, rooms);
  if (preview === null) return alerted(texts.chat.oldButton);
  return told(pressed, await scheduled(pressed, rooms, preview));
}

function told(pressed: Pressed, { words, rows, isRefused }: Told): Answer {
  if (isRefused === true) return alerted(typeof words === 'string' ? words : words.text);
  return redrawn(pressed, drawn(words, rows));
}
