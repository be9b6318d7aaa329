import { expect, it } from 'vitest';
import { AppError } from '../../../src/domain/errors.ts';
import type { Answer } from '../../../src/telegram/chat/context.ts';
import { worldsOf } from '../../support/store-worlds.ts';
import { lab, until, untilLater, type Doorway, type DoorwayOptions, aSettledDoorway } from './doorway.ts';

const open = worldsOf('sqlite');

/** A message of ours with one button, and a person who presses it. */
async function pressed(options: DoorwayOptions & { data?: string }, as = 'ada') {
  const doorway = await aSettledDoorway(options);
  const sent = await doorway.api.raw.sendMessage({
    chat_id: lab,
    text: '#1 Water the plants',
    entities: [{ type: 'bold', offset: 0, length: 2 }],
    reply_markup: { inline_keyboard: [[{ text: 'Press', callback_data: options.data ?? 'v1:run:abc' }]] },
  });
  const press = () =>
    doorway.served.world.press({ as, chat: lab, messageId: sent.message_id, button: 'Press' }).callbackId;
  return { doorway, press, messageId: sent.message_id };
}

const answersTo = ({ served }: Doorway) =>
  served.world.calls(0, 1000).filter(({ method }) => method === 'answerCallbackQuery').length;

it('tells the handler what was pressed and on what, and answers with its toast', async () => {
  const { doorway, press, messageId } = await pressed({});
  const id = press();
  await doorway.settled();
  expect(doorway.presses).toMatchObject([
    {
      messageId,
      press: { verb: 'run', args: ['abc'] },
      shown: { text: '#1 Water the plants', entities: [{ type: 'bold', offset: 0, length: 2 }] },
      person: { name: 'Ada' },
      place: { topic: null },
    },
  ]);
  expect(doorway.served.world.callbackAnswer(id)).toEqual({ text: 'pressed', alert: false });
  expect(answersTo(doorway)).toBe(1);
});

it('changes the message that was pressed', async () => {
  const edit: Answer = { replies: [{ is: 'edit', messageId: 9, shown: { text: 'done' } }] };
  const { doorway, press } = await pressed({ pressed: () => edit });
  const id = press();
  await doorway.settled();
  expect(await doorway.query('select edits, kind, expires_at is not null as expires from deliveries')).toEqual([
    { edits: 9, kind: 'answer', expires: 1 },
  ]);
  expect(doorway.served.world.callbackAnswer(id)).toEqual({ text: null, alert: false });
});

it('wakes the deliverer when a press lets something go that waits, though nothing is written', async () => {
  const toast = { text: 'Checking again now', isAlert: false };
  const { doorway, press } = await pressed({ pressed: () => ({ replies: [], toast }) });
  const before = doorway.rings.length;
  press();
  await doorway.settled();
  expect(doorway.rings.slice(before)).toEqual(['deliverer']);
});

it.each(['v1:juggle:7', 'v0:run', 'old data'])('shows how things stand for a button that says %j', async (data) => {
  const { doorway, press } = await pressed({ data });
  const id = press();
  await doorway.settled();
  expect(doorway.served.world.callbackAnswer(id)?.text).toBe('That button is old.');
  expect(await doorway.words()).toEqual(['the newest view']);
});

it.each([
  [new AppError('too_late', 'That was yesterday.'), /^That was yesterday\.$/],
  [new Error('a null where none may be'), /^Something went wrong/],
])('answers a press that ends in %s', async (fault, expected) => {
  const { doorway, press } = await pressed({
    pressed: () => {
      throw fault;
    },
  });
  const id = press();
  await doorway.settled();
  const given = doorway.served.world.callbackAnswer(id);
  expect(given?.text).toMatch(expected);
  expect(given?.alert).toBe(true);
  expect(answersTo(doorway)).toBe(1);
});

it('answers a press at once while the store is away, and does what it asks for later', async () => {
  const world = await open();
  let failures = 2;
  const store = {
    ...world.store,
    endUpdate: async (end: Parameters<typeof world.store.endUpdate>[0]) => {
      if (failures-- > 0) throw new AppError('store_unavailable', 'The disk is full.');
      return world.store.endUpdate(end);
    },
    beginUpdate: async (id: number, bootId: string) => {
      if (failures > 1) throw new AppError('store_unavailable', 'The disk is full.', { cause: (failures -= 1) });
      return world.store.beginUpdate(id, bootId);
    },
  };
  const doorway = await aSettledDoorway({ world, needs: { store } });
  const sent = await doorway.api.raw.sendMessage({
    chat_id: lab,
    text: 'x',
    reply_markup: { inline_keyboard: [[{ text: 'Press', callback_data: 'v1:run' }]] },
  });
  const { world: chats } = doorway.served;
  const { callbackId } = chats.press({ as: 'ada', chat: lab, messageId: sent.message_id, button: 'Press' });
  await until(() => chats.callbackAnswer(callbackId) !== null);
  expect(chats.callbackAnswer(callbackId)?.text).toMatch(/reach my database/);
  await untilLater(doorway.time, async () => (await statuses(doorway)).every((status) => status === 'done'));
  await doorway.settled();
  expect(answersTo(doorway)).toBe(1);
});

async function statuses({ query }: Doorway): Promise<readonly string[]> {
  return (await query<{ status: string }>('select status from inbox')).map(({ status }) => status);
}

it('warns of a fresh press that could not be answered, and not of an old one', async () => {
  const { doorway, press } = await pressed({});
  doorway.served.world.fault({ kind: '500', method: 'answerCallbackQuery', count: 1 });
  press();
  await doorway.settled();
  expect(doorway.log.lines.filter(({ event }) => event === 'press_answer_failed')).toHaveLength(1);
  expect(doorway.presses).toHaveLength(1);

  const slow = await pressed({ pressed: async () => (await slow.doorway.time.advance(20_000), { replies: [] }) });
  slow.doorway.served.world.fault({ kind: '500', method: 'answerCallbackQuery', count: 1 });
  slow.press();
  await slow.doorway.settled();
  expect(slow.doorway.log.lines.filter(({ event }) => event.startsWith('press_answer'))).toMatchObject([
    { level: 'debug', event: 'press_answer_late' },
  ]);
});

it('handles each press once, also when it is pressed twice', async () => {
  const { doorway, press } = await pressed({});
  const ids = [press(), press()];
  await doorway.settled();
  expect(new Set(doorway.presses.map(({ key }) => key)).size).toBe(2);
  expect(ids.map((id) => doorway.served.world.callbackAnswer(id)?.text)).toEqual(['pressed', 'pressed']);
});
