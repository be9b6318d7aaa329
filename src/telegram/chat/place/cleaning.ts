import { topicsCleanedMax } from '../../../domain/limits.ts';
import type { Drawn } from '../../../domain/shown.ts';
import type { Answer, ChatContext } from '../context.ts';
import { answerWith, redrawn, Refused, toasted } from '../kit/answers.ts';
import { onChat } from '../kit/guards.ts';
import { arg, button, dataOf } from '../kit/press.ts';
import { drawn } from '../kit/rich.ts';
import { texts } from '../texts.ts';

/** `/topic clean`: topics of finished tasks are closed or deleted, once somebody has seen how many they are. */
export const cleanCommand = onChat('manage', async (ctx) => answerWith(await cleanDrawn(ctx)));

async function cleanDrawn(ctx: ChatContext): Promise<Drawn> {
  const { clean } = texts;
  const { place, store } = ctx;
  const { all, open } = await store.finishedTopics(place.chat.id);
  if (all === 0) return drawn(clean.none);
  const [closing, deleting] = [atOnce(open), atOnce(all)];
  // Telegram closes no topics of private chats.
  const mayClose = closing > 0 && place.chat.kind !== 'private';
  return drawn(clean.confirm(all, topicsCleanedMax), [
    [
      mayClose ? button(clean.close(closing), dataOf('clean', 'close', closing)) : null,
      button(clean.delete(deleting), dataOf('clean', 'delete', deleting)),
      button(texts.button.cancel, dataOf('clean', 'cancel')),
    ],
  ]);
}

/** What is left is asked about by the next `/topic clean`. */
function atOnce(count: number): number {
  return Math.min(count, topicsCleanedMax);
}

export const cleanPressed = onChat('manage', async (ctx): Promise<Answer> => {
  const { clean } = texts;
  const { place, store, person, clock, key } = ctx;
  const [what, expected] = [arg(ctx, 0), Number(arg(ctx, 1))];
  if (what === 'cancel') return redrawn(ctx, drawn(clean.kept));
  if ((what !== 'close' && what !== 'delete') || !Number.isSafeInteger(expected) || expected <= 0)
    throw new Refused(texts.chat.oldButton);
  const isBegun = await store.cleanTopics({
    id: key,
    chatId: place.chat.id,
    deed: what === 'close' ? 'close' : 'removeTopic',
    expected,
    limit: topicsCleanedMax,
    actor: person.actor,
    at: clock.now(),
    // The topic of a task may be one of those that go.
    thread: { topic: place.topicTask === null ? place.topic : null },
  });
  if (isBegun) return redrawn(ctx, drawn(clean.begun(what, expected)));
  const { all } = await store.finishedTopics(place.chat.id);
  // Pressed twice: the answer to the first press stays.
  return all === 0 ? toasted(clean.none) : redrawn(ctx, await cleanDrawn(ctx), clean.changed);
});
