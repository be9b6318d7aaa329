import { afterEach, describe, expect, it } from 'vitest';
import type { Evidence, Outgoing } from '../../../src/app/ports/outside.ts';
import { ada, aPlace, idsOf, lab, oneFault, part, type Place } from './place.ts';

const open: Place[] = [];

/** The Lab with two topics; everything in it is known. */
async function inLab(): Promise<Place & { readonly one: number; readonly two: number }> {
  const place = await aPlace();
  open.push(place);
  const one = place.world.createTopic(lab, 'ada', 'One');
  const two = place.world.createTopic(lab, 'ada', 'Two');
  await hear(place);
  return { ...place, one, two };
}

afterEach(async () => {
  for (const place of open.splice(0)) await place.close();
});

async function hear(place: Place): Promise<void> {
  await place.ledger.hear(place.api, place.time.now());
  await place.time.advance(10);
}

type Losing = 'reset_after' | 'reset_before' | 'late';

async function lose(place: Place, lost: Outgoing, kind: Losing = 'reset_after') {
  place.world.fault(oneFault(kind, 'send', kind === 'late' ? { delayMs: 5000 } : {}));
  expect(await place.deliver(lost)).toMatchObject({ is: 'lost' });
}

/** A part for the first topic, whose send got no answer. */
async function losing(kind: Losing = 'reset_after', facts: Parameters<typeof part>[0] = {}) {
  const place = await inLab();
  const lost = part({ topic: place.one, ...facts });
  await lose(place, lost, kind);
  return { place, lost };
}

function edits(place: Place): readonly number[] {
  return place.world
    .calls(0, 1000)
    .filter(({ method }) => method.startsWith('edit'))
    .map(({ params }) => Number(params['message_id']));
}

function shownIn(place: Place, thread: number | null, chat = lab) {
  return place.world
    .messages(chat, { thread })
    .filter(({ from, service }) => from === 'bot' && service === null)
    .map(({ messageId, text, buttons }) => ({ messageId, text, buttons: buttons.flat().map((button) => button.text) }));
}

const done = [[{ text: 'Done', data: 'v1:done:1' }]];
const evidenceOf = (found: Evidence) => JSON.parse(found.evidence) as Record<string, unknown>;

describe('a send without an answer', () => {
  it('that arrived is found with one edit, which changes nothing', async () => {
    const { place, lost } = await losing('reset_after', { buttons: done });
    const before = shownIn(place, place.one);
    const found = await place.settle(lost);
    const [messageId = 0] = before.map((message) => message.messageId);
    expect(idsOf(found)).toEqual({ chatId: String(lab), threadId: place.one, messageId });
    expect(evidenceOf(found)).toMatchObject({ said: { [messageId]: 'the same' }, found: messageId });
    expect(shownIn(place, place.one)).toEqual(before);
    expect(edits(place)).toEqual([messageId]);
    expect(place.budget.taken).toEqual([String(lab)]);
  });

  it('that arrived without buttons is asked for its topic as well, and left as it was', async () => {
    const { place, lost } = await losing();
    const before = shownIn(place, place.one);
    expect(idsOf(await place.settle(lost))).toMatchObject({ threadId: place.one });
    expect(shownIn(place, place.one)).toEqual(before);
    expect(place.budget.taken).toHaveLength(3);
  });

  it('that went astray is found outside of its topic', async () => {
    const place = await inLab();
    const lost = part({ topic: place.one });
    await lose(place, { ...lost, route: { ...lost.route, topic: null } });
    expect(idsOf(await place.settle(lost))).toMatchObject({ threadId: null });
  });

  it('that did not arrive leaves no trace, and is proven absent once it was sent again', async () => {
    const { place, lost } = await losing('reset_before');
    const found = await place.settle(lost);
    expect(found.is).toBe('undecided');
    expect(Object.values(evidenceOf(found)['said'] as object)).toEqual(['not found', 'not found', 'not found']);
    const resent = idsOf(await place.transport.send(lost));
    expect(await place.settle(lost, resent)).toMatchObject({ is: 'absent' });
  });

  it('that arrives late is found by a later look', async () => {
    const { place, lost } = await losing('late');
    expect(await place.settle(lost)).toMatchObject({ is: 'undecided' });
    await place.time.advance(5000);
    expect(idsOf(await place.settle(lost))).toMatchObject({ threadId: place.one });
  });

  it('is looked for among the messages of others, which are touched once', async () => {
    const place = await inLab();
    place.world.say({ as: 'ben', chat: lab, thread: place.one, text: 'hello' });
    const lost = part({ topic: place.one, buttons: done });
    await lose(place, lost, 'late');
    const foreign = place.world.messages(lab).at(-1)?.messageId ?? 0;
    const first = await place.settle(lost);
    expect(evidenceOf(first)).toMatchObject({ said: { [foreign]: "someone else's" } });
    await place.time.advance(5000);
    expect(idsOf(await place.settle(lost)).messageId).toBe(foreign + 1);
    expect(edits(place).filter((id) => id === foreign)).toHaveLength(1);
    expect(place.world.messages(lab).find(({ messageId }) => messageId === foreign)).toMatchObject({ text: 'hello' });
  });

  it('is never looked for among messages that are explained', async () => {
    const { place, lost } = await losing('reset_before', { buttons: done });
    const known = [
      idsOf(await place.deliver(part({ id: 'part-2', topic: place.one, buttons: done }))).messageId,
      place.world.say({ as: 'ben', chat: lab, text: 'hello' }).messageId,
    ];
    await hear(place);
    expect(await place.settle(lost)).toMatchObject({ is: 'undecided' });
    expect(edits(place).filter((id) => known.includes(id))).toEqual([]);
  });

  it('that a person has deleted is not proven absent', async () => {
    const { place, lost } = await losing();
    const [message] = shownIn(place, place.one);
    await place.api.raw.deleteMessage({ chat_id: lab, message_id: message?.messageId ?? 0 });
    expect(await place.settle(lost)).toMatchObject({ is: 'undecided' });
    const resent = idsOf(await place.transport.send(lost));
    const found = await place.settle(lost, resent);
    expect(found).toMatchObject({ is: 'undecided' });
    expect(found).not.toHaveProperty('asks');
  });

  it('is absent when all that stands before the one sent again is of others', async () => {
    const { place, lost } = await losing('reset_before');
    place.world.say({ as: 'ben', chat: lab, thread: place.one, text: 'hello' });
    const resent = idsOf(await place.transport.send(lost));
    expect(await place.settle(lost, resent)).toMatchObject({ is: 'absent' });
  });

  it('and its double is told from the first one, which is the older', async () => {
    const { place, lost } = await losing('reset_after', { buttons: done });
    const resent = idsOf(await place.transport.send(lost));
    const first = idsOf(await place.settle(lost, resent));
    expect(first.messageId).toBeLessThan(resent.messageId);
    await place.transport.remove(resent);
    expect(shownIn(place, place.one)).toMatchObject([{ messageId: first.messageId, text: 'Water the plants.' }]);
  });

  it('and its double are told apart when one of them is known', async () => {
    const { place, lost } = await losing('reset_after', { buttons: done });
    await lose(place, lost);
    place.ledger.unknown.length = 0;
    const [first, second] = shownIn(place, place.one);
    const besides = { chatId: String(lab), threadId: place.one, messageId: first?.messageId ?? 0 };
    const found = await place.transport.settle(lost, { sentAt: place.time.now() - 20, resentAs: null, besides });
    expect(idsOf(found).messageId).toBe(second?.messageId);
  });

  it("is not mistaken for what says the same in another topic and is nobody's any more", async () => {
    const place = await inLab();
    const lost = part({ topic: place.one });
    await place.api.raw.sendMessage({ chat_id: lab, message_thread_id: place.two, text: 'Water the plants.' });
    await lose(place, lost, 'reset_before');
    const before = shownIn(place, place.two);
    expect(await place.settle(lost)).toMatchObject({ is: 'undecided' });
    expect(await place.settle(lost)).toMatchObject({ is: 'undecided' });
    expect(shownIn(place, place.two)).toEqual(before);
    expect(edits(place).filter((id) => id === before[0]?.messageId)).toHaveLength(3);
  });

  it('is looked for once where something is missing that cannot come any more', async () => {
    const { place, lost } = await losing();
    const messageId = shownIn(place, place.one)[0]?.messageId ?? 0;
    await place.api.raw.deleteMessage({ chat_id: lab, message_id: messageId });
    place.world.say({ as: 'ben', chat: lab, text: 'hello' });
    await hear(place);
    await place.settle(lost);
    await place.settle(lost);
    expect(edits(place).filter((id) => id === messageId)).toHaveLength(1);
  });

  it('is not looked for above what is read of a chat in which very much was said since', async () => {
    const { place, lost } = await losing('reset_before');
    for (let id = 3; id <= 700; id += 1) place.ledger.explain(String(lab), id, place.time.now());
    expect(await place.settle(lost)).toMatchObject({ is: 'undecided' });
    expect(await place.settle(lost, { chatId: String(lab), threadId: null, messageId: 699 })).toMatchObject({
      is: 'undecided',
    });
    expect(edits(place)).toEqual([]);
  });

  it('of which no message before is known is not looked for', async () => {
    const place = await aPlace();
    open.push(place);
    await lose(place, part());
    expect(await place.settle(part())).toMatchObject({ is: 'undecided' });
    expect(place.budget.taken).toEqual([]);
  });
});

describe('a view without an answer', () => {
  it('is looked for as it was drawn when it left', async () => {
    const place = await inLab();
    const shown = { view: 'inDoubt', deliveryId: 'part-0', sentAt: place.time.now() } as const;
    const lost = part({ topic: place.one, shown });
    await lose(place, lost);
    const before = shownIn(place, place.one);
    await place.time.advance(400 * 86_400_000);
    expect(idsOf(await place.settle(lost)).messageId).toBe(before[0]?.messageId);
    expect(shownIn(place, place.one)).toEqual(before);
    expect(place.lines.lines).toEqual([]);
  });

  it('is found by another process too, and shows what is true by then', async () => {
    const place = await inLab();
    const shown = { view: 'inDoubt', deliveryId: 'part-0', sentAt: place.time.now() } as const;
    const lost = part({ topic: place.one, shown });
    await lose(place, lost);
    const before = shownIn(place, place.one);
    await place.time.advance(400 * 86_400_000);
    place.restart();
    expect(idsOf(await place.settle(lost)).messageId).toBe(before[0]?.messageId);
    expect(shownIn(place, place.one)).toHaveLength(1);
    expect(shownIn(place, place.one)).not.toEqual(before);
  });
});

describe('a look that is disturbed', () => {
  it.each([
    ['429', [{ address: String(lab), ms: 5000 }]],
    ['500', []],
    ['bad_gateway_html', []],
    ['reset_before', []],
    ['reset_after', []],
  ] as const)('by %s decides nothing, and the next one goes on', async (kind, held) => {
    const { place, lost } = await losing('reset_after', { buttons: done });
    place.world.fault(oneFault(kind, 'editMessageText'));
    expect(await place.settle(lost)).toMatchObject({ is: 'undecided' });
    expect(place.budget.held).toEqual(held);
    expect(await place.settle(lost)).toMatchObject({ is: 'arrived' });
  });

  it('by a chat that must be left alone makes no call', async () => {
    const { place, lost } = await losing('reset_after', { buttons: done });
    place.budget.allow(0);
    expect(await place.settle(lost)).toMatchObject({ is: 'undecided' });
    expect(edits(place)).toEqual([]);
  });

  it('by many messages of others stops after ten of them, and goes on from there', async () => {
    const place = await inLab();
    for (let count = 0; count < 12; count += 1) place.world.say({ as: 'ben', chat: lab, text: 'hello' });
    const lost = part({ topic: place.one, buttons: done });
    await lose(place, lost);
    const before = shownIn(place, place.one);
    expect(await place.settle(lost)).toMatchObject({ is: 'undecided' });
    expect(edits(place)).toHaveLength(10);
    expect(idsOf(await place.settle(lost)).messageId).toBe(before[0]?.messageId);
    expect(edits(place)).toHaveLength(13);
    expect(shownIn(place, place.one)).toEqual(before);
  });
});

describe('two sends without an answer in one chat', () => {
  it('touch nothing: a look for one could overwrite the other', async () => {
    const place = await inLab();
    const a = part({ id: 'a', topic: place.one, buttons: done });
    const b = part({ id: 'b', topic: place.two, text: 'Feed the cat.' });
    await lose(place, a);
    await lose(place, b);
    const before = [shownIn(place, place.one), shownIn(place, place.two)];
    for (const lost of [a, b]) expect(await place.settle(lost)).toMatchObject({ is: 'undecided' });
    expect(edits(place)).toEqual([]);
    expect([shownIn(place, place.one), shownIn(place, place.two)]).toEqual(before);
  });
});

describe('a message of ours that nothing explains', () => {
  it('in the right topic is the part from then on', async () => {
    const place = await inLab();
    const lost = part({ topic: place.one });
    await lose(place, { ...lost, shown: { text: 'As it was drawn at first.' } });
    place.restart();
    expect(idsOf(await place.settle(lost)).threadId).toBe(place.one);
    expect(shownIn(place, place.one)).toMatchObject([{ text: 'Water the plants.' }]);
    expect(place.lines.lines).toMatchObject([{ event: 'message_rewritten' }]);
  });

  it('in another topic does not keep the words of the part that was looked for', async () => {
    const place = await inLab();
    await place.api.raw.sendMessage({ chat_id: lab, message_thread_id: place.two, text: 'of nobody' });
    const lost = part({ topic: place.one });
    await lose(place, lost, 'reset_before');
    expect(await place.settle(lost)).toMatchObject({ is: 'undecided' });
    expect(shownIn(place, place.two)).toEqual([]);
    expect(place.lines.lines).toMatchObject([{ event: 'message_rewritten' }]);
  });

  it('is not taken for the part when a look whose own answer was lost has written those words onto it', async () => {
    const { place, lost } = await losing('reset_before', { buttons: done });
    await place.api.raw.sendMessage({ chat_id: lab, message_thread_id: place.two, text: 'of nobody' });
    place.world.fault(oneFault('reset_after', 'editMessageText'));
    expect(await place.settle(lost)).toMatchObject({ is: 'undecided' });
    expect(await place.settle(lost)).toMatchObject({ is: 'undecided' });
    expect([shownIn(place, place.one), shownIn(place, place.two)]).toEqual([[], []]);
  });

  it('is written anew by the next look when the button that asked for its topic could not be taken away', async () => {
    const { place, lost } = await losing();
    const before = shownIn(place, place.one);
    place.budget.allow(2);
    expect(await place.settle(lost)).toMatchObject({ is: 'undecided' });
    expect(shownIn(place, place.one)).toMatchObject([{ buttons: ['…'] }]);
    place.budget.allow(20);
    expect(idsOf(await place.settle(lost)).threadId).toBe(place.one);
    expect(shownIn(place, place.one)).toEqual(before);
  });
});

describe('in a private chat, whose ids count on for every chat of the bot', () => {
  async function withAda(): Promise<Place & { readonly topic: number }> {
    const place = await aPlace();
    open.push(place);
    place.world.say({ as: 'ada', chat: ada, text: '/start' });
    const made = await place.transport.createTopic(part({ chat: ada }).route, 'Plants');
    await hear(place);
    return { ...place, topic: made.is === 'made' ? made.topicId : 0 };
  }

  it('a part that arrived is found', async () => {
    const place = await withAda();
    const lost = part({ chat: ada, topic: place.topic });
    await lose(place, lost);
    place.world.say({ as: 'ben', chat: 1002, text: 'hello' });
    expect(idsOf(await place.settle(lost))).toMatchObject({ chatId: String(ada), threadId: place.topic });
  });

  it('a person is asked rather than ten messages probed that are of other chats', async () => {
    const place = await withAda();
    const lost = part({ chat: ada, topic: place.topic });
    await lose(place, lost, 'reset_before');
    for (let count = 0; count < 12; count += 1) place.world.say({ as: 'ben', chat: 1002, text: 'hello' });
    place.world.say({ as: 'ada', chat: ada, text: '/tasks' });
    await hear(place);
    expect(await place.settle(lost)).toMatchObject({ is: 'undecided', asks: true });
    expect(edits(place)).toEqual([]);
  });
});
