import { expect, it } from 'vitest';
import { answer } from '../../../src/telegram/chat/kit/answers.ts';
import { english, localeAmong, texts } from '../../../src/telegram/chat/texts.ts';
import { pseudo } from '../../support/pseudo.ts';
import { worldsOf } from '../../support/store-worlds.ts';
import { inPlace, part } from '../delivery/place.ts';
import { aSettledDoorway, lab } from './doorway.ts';

const localeOf = localeAmong([english, pseudo]);

it('a chat is answered in the language of its settings, also after the handler has waited', async () => {
  const world = await worldsOf('sqlite')();
  const said = async () => {
    await new Promise(setImmediate);
    return answer(texts.chat.seeHelp);
  };
  const doorway = await aSettledDoorway({ world, said, needs: { localeOf } });
  await doorway.says('ada', '/tasks');
  const chat = await world.store.findChat(String(lab));
  await world.store.changeChat(chat?.id ?? '', { settings: { language: pseudo.tag } }, doorway.time.now());
  await doorway.says('ada', '/tasks');
  expect(await doorway.words()).toEqual([english.texts.chat.seeHelp, pseudo.texts.chat.seeHelp]);
});

it('a message is drawn in the language of its chat', async () => {
  const place = await inPlace({ localeOf: () => pseudo });
  await place.deliver(part({ shown: { view: 'notPinned' } }));
  expect(place.world.messages(lab).map(({ text }) => text)).toEqual([pseudo.texts.notice.notPinned]);
});

it('a language that was changed anywhere is spoken a second later', async () => {
  let spoken = english;
  const place = await inPlace({ localeOf: () => spoken });
  await place.deliver(part({ shown: { view: 'notPinned' } }));
  spoken = pseudo;
  await place.time.advance(1000);
  await place.deliver(part({ shown: { view: 'notPinned' } }));
  expect(place.world.messages(lab).map(({ text }) => text)).toEqual([
    english.texts.notice.notPinned,
    pseudo.texts.notice.notPinned,
  ]);
});
