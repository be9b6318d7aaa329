import { settingsOf } from '../../../domain/chat-settings.ts';
import { DAY_MS, dayOfWall } from '../../../domain/schedule/time/calendar.ts';
import { resolveShifted, toWall } from '../../../domain/schedule/time/zone.ts';
import type { Answer, ConversationRooms, Said } from '../conversation.ts';
import { clockIn } from '../kit/clock.ts';
import { blocks } from '../kit/rich.ts';
import { checklist, privateText } from './setup.ts';
import { chatStatus, serverStatus, usageText } from './status-view.ts';
import { answer, forAsker, turnedDown } from '../kit/answers.ts';
import { threadOf } from './purging.ts';
import { refusal } from '../kit/rights.ts';

/** How things stand: the chat for everybody in it, the server for its owners. */
export async function statusCommand(said: Said, rooms: ConversationRooms): Promise<Answer> {
  const refused = await refusal(said, 'read', { task: null, rooms });
  if (refused !== null) return turnedDown(refused);
  const { place, person } = said;
  const { timezone, isZoneConfirmed, chat } = place;
  const now = rooms.clock.now();
  const setUp = await rooms.setUp(place);
  const standing = { isApproved: chat.state === 'approved', timezone, isZoneConfirmed, clock: clockIn(timezone, now) };
  const words = blocks(
    setUp.isPrivate ? privateText(setUp, `@${rooms.botUsername()}`) : checklist(setUp, standing),
    chatStatus(await rooms.threads.count(threadOf(place))),
    person.isOwner
      ? serverStatus(await rooms.status(), { timezone, now, dates: settingsOf(chat.settings).dates })
      : null,
  );
  return forAsker(answer(words));
}

/** What this chat has used, and what it and the one who asks may still make. */
export async function usageCommand(said: Said, rooms: ConversationRooms): Promise<Answer> {
  const refused = await refusal(said, 'read', { task: null, rooms });
  if (refused !== null) return turnedDown(refused);
  const { place, person } = said;
  const { chat, timezone } = place;
  const { store, clock, quota } = rooms;
  const today = dayOfWall(toWall(timezone, clock.now()));
  const since = (days: number) => store.chatUsage(chat.id, resolveShifted(timezone, (today - days) * DAY_MS));
  const facts = { today: await since(0), week: await since(6), month: await since(29) };
  const used = await store.quotaUsed(chat.id, person.actor);
  return forAsker(answer(usageText({ ...facts, used, quota, timezone })));
}
