import { afterEach, expect, it } from 'vitest';
import type { TelegramApi } from '../../../src/telegram/api.ts';
import { createAlone } from '../../../src/telegram/delivery/alone.ts';
import { ada, aPlace, lab, part, type Place } from './place.ts';

const open: Place[] = [];

afterEach(async () => {
  for (const place of open.splice(0)) await place.close();
});

/** A server that does not know messages for one person passes over what asks for one, and shows it to everybody. */
function older(api: TelegramApi): TelegramApi {
  return {
    ...api,
    ask: (call, ms) =>
      api.ask((raw, signal) => {
        const unknowing = new Proxy(raw, {
          get: (known, name): unknown =>
            name === 'sendMessage'
              ? ({ ephemeral_message_parameters: _unknown, ...rest }: Parameters<typeof raw.sendMessage>[0]) =>
                  known.sendMessage(rest, signal)
              : Reflect.get(known, name),
        });
        return call(unknowing, signal);
      }, ms),
  };
}

it('an answer for one person that a server shows to everybody is known by its number in the chat and its topic', async () => {
  const place = await aPlace();
  open.push(place);
  const topic = place.world.createTopic(lab, 'ada', 'One');
  const alone = createAlone({ api: older(place.api), clock: place.time, stopwatch: place.time });
  const asked = part({ topic, onlyFor: { userId: ada, until: place.time.now() + 15_000 } });
  const sent = await alone.send(asked, { text: 'Water the plants.' });
  const shown = place.world.messages(lab, { limit: 100 }).findLast(({ from }) => from === 'bot');
  expect(shown).toMatchObject({ onlyFor: null, ephemeralId: null, threadId: topic });
  expect(shown?.messageId).toBeGreaterThan(0);
  expect(sent).toEqual({
    is: 'sent',
    ids: { chatId: String(lab), threadId: topic, messageId: shown?.messageId },
  });
});
