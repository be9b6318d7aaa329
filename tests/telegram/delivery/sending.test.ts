import { describe, expect, it } from 'vitest';
import type { Fault } from '../../../src/sandbox/world/world.ts';
import { ada, idsOf, inPlace, lab, noRights, oneFault, part, type Place, plain } from './place.ts';

const done = [[{ text: 'Done', data: 'v1:done:1' }]];

async function aTopic(place: Place, name = 'Plants'): Promise<number> {
  const made = await place.transport.createTopic(part().route, name);
  if (made.is !== 'made') throw new Error(made.error);
  return made.topicId;
}

describe('sending', () => {
  it('puts the words into the topic, with their looks and buttons, and returns the ids of the platform', async () => {
    const place = await inPlace();
    const topic = await aTopic(place);
    const sent = await place.transport.send({
      ...part({ topic }),
      shown: {
        text: 'Water *the* <b>plants</b> today',
        entities: [
          { type: 'bold', offset: 0, length: 5 },
          { type: 'text_link', offset: 25, length: 5, url: 'https://example.org/' },
        ],
        buttons: [
          [
            { text: 'Done', data: 'v1:done:1' },
            { text: 'Open', url: 'https://example.org/' },
          ],
        ],
      },
    });
    const message = place.world.messages(lab, { thread: topic }).at(-1);
    expect(sent).toEqual({ is: 'sent', ids: { chatId: String(lab), threadId: topic, messageId: message?.messageId } });
    expect(message).toMatchObject({
      text: 'Water *the* <b>plants</b> today',
      entities: [
        { type: 'bold', offset: 0, length: 5 },
        { type: 'text_link', offset: 25, length: 5, url: 'https://example.org/' },
      ],
      buttons: [
        [
          { text: 'Done', data: 'v1:done:1' },
          { text: 'Open', url: 'https://example.org/' },
        ],
      ],
    });
    expect(place.world.calls().filter(({ method }) => method === 'sendMessage')).toHaveLength(1);
  });

  it('names no topic for the base thread, and asks for no preview of links', async () => {
    const place = await inPlace();
    const sent = await place.transport.send(part());
    expect(idsOf(sent).threadId).toBeNull();
    const { params } = place.world.calls().at(-1) ?? {};
    expect(params).not.toHaveProperty('message_thread_id');
    expect(params).not.toHaveProperty('parse_mode');
    expect(JSON.stringify(params?.['link_preview_options'])).toContain('is_disabled');
  });

  it('answers the message that it was asked about, and goes without it when that one is gone', async () => {
    const place = await inPlace();
    const { messageId } = place.world.say({ as: 'ada', chat: lab, text: '/tasks' });
    await place.transport.send({ ...part(), shown: { text: 'No tasks.', replyTo: messageId } });
    await place.transport.send({ ...part(), shown: { text: 'No tasks at all.', replyTo: 4711 } });
    expect(place.world.messages(lab).slice(-2)).toMatchObject([{ replyTo: messageId }, { replyTo: null }]);
  });

  it('draws a view when it is sent, and sends nothing when there is nothing to show', async () => {
    const place = await inPlace();
    expect(await place.transport.send(part({ shown: { view: 'notPinned' } }))).toMatchObject({ is: 'sent' });
    expect(place.world.messages(lab)).toMatchObject([{ text: expect.stringContaining('pin') as string }]);
    expect(await place.transport.send(part({ shown: { view: 'card' } }))).toMatchObject({ is: 'moot' });
    expect(place.world.calls()).toHaveLength(1);
  });

  it('sends the bare words when their looks are at fault, and spends budget for that', async () => {
    const place = await inPlace();
    const shown = { text: 'Water 🪴', entities: [{ type: 'bold', offset: 7, length: 1 }], buttons: done } as const;
    expect(await place.transport.send({ ...part(), shown })).toMatchObject({ is: 'sent' });
    expect(place.world.messages(lab)).toMatchObject([{ text: 'Water 🪴', entities: [], buttons: done }]);
    expect(place.budget.taken).toEqual([String(lab)]);
    expect(place.lines.lines).toMatchObject([{ level: 'warn', event: 'entities_refused' }]);
    place.budget.allow(0);
    expect(await place.transport.send({ ...part(), shown })).toMatchObject({ is: 'unreached' });
    expect(place.world.messages(lab)).toHaveLength(1);
  });

  it('says truly that words for a topic landed outside of it', async () => {
    const place = await inPlace();
    const topic = await aTopic(place);
    place.world.fault(oneFault('misroute'));
    const ids = idsOf(await place.transport.send(part({ topic })));
    expect(ids).toMatchObject({ threadId: null });
    await place.transport.remove(ids);
    expect(place.world.messages(lab).some(({ messageId }) => messageId === ids.messageId)).toBe(false);
  });

  it('takes back what a group without topics shows outside of its topic, and tries that no more while they are off', async () => {
    const place = await inPlace();
    const topic = await aTopic(place);
    const off = { is: 'blocked', cause: 'topics_off' };
    expect(await place.transport.send(part({ chat: plain, topic: 7 }))).toMatchObject(off);
    expect(place.world.messages(plain).filter(({ from }) => from === 'bot')).toEqual([]);

    place.world.setForum(lab, false);
    expect(await place.transport.send(part({ topic }))).toMatchObject(off);
    const before = place.world.calls(0, 1000).length;
    expect(await place.transport.send(part({ topic }))).toMatchObject(off);
    expect(
      place.world
        .calls(0, 1000)
        .slice(before)
        .map(({ method }) => method),
    ).toEqual(['getChat']);
    place.world.setForum(lab, true);
    expect(idsOf(await place.transport.send(part({ topic }))).threadId).toBe(topic);
  });
});

describe('a fault on the way', () => {
  const faults: readonly (readonly [Fault['kind'], Partial<Fault>, object, boolean])[] = [
    ['429', { retryAfter: 7 }, { is: 'wait', ms: 7000 }, false],
    ['500', {}, { is: 'unreached' }, false],
    ['bad_gateway_html', {}, { is: 'lost' }, false],
    ['reset_before', {}, { is: 'lost' }, false],
    ['reset_after', {}, { is: 'lost' }, true],
    ['late', { delayMs: 60_000 }, { is: 'lost' }, false],
    ['wrong_shape', {}, { is: 'lost' }, true],
  ];

  it.each(faults)('%s is told as what is known of it', async (kind, more, expected, arrives) => {
    const place = await inPlace();
    place.world.fault(oneFault(kind, 'send', more));
    const sent = await place.transport.send(part());
    expect(sent).toMatchObject(expected);
    expect(JSON.stringify(sent)).not.toContain(place.token);
    expect(place.world.messages(lab)).toHaveLength(arrives ? 1 : 0);
  });

  it.each([
    ['hang', false],
    ['answer_lost', true],
  ] as const)('%s is given up after fifteen seconds, and nobody knows more', async (kind, arrives) => {
    const place = await inPlace();
    place.world.fault(oneFault(kind));
    const sent = await place.givenUp(place.transport.send(part()));
    expect(sent).toEqual({ is: 'lost', error: 'no answer within 15 s' });
    expect(place.world.messages(lab)).toHaveLength(arrives ? 1 : 0);
  });

  it('that meets a pin, a closing or an opening leaves something that can be said again', async () => {
    const place = await inPlace();
    const topic = await aTopic(place);
    const { messageId } = idsOf(await place.transport.send(part({ topic })));
    const calls = [
      () => place.transport.act(part({ topic, edits: messageId }), 'pin'),
      () => place.transport.act(part({ topic }), 'close'),
      () => place.transport.act(part({ topic }), 'open'),
    ];
    for (const call of calls) {
      place.world.fault(oneFault('reset_after', '*'));
      expect(await call()).toMatchObject({ is: 'lost' });
      expect(await call()).toMatchObject({ is: 'sent' });
    }
  });
});

describe('a refusal', () => {
  const hundred = 'x'.repeat(4097);
  const rows: readonly (readonly [string, (place: Place) => Promise<unknown>, object])[] = [
    [
      'an unknown chat',
      ({ transport }) => transport.send(part({ chat: -1_009_999 })),
      { is: 'blocked', cause: 'chat_gone' },
    ],
    [
      'a stranger who never wrote',
      ({ transport }) => transport.send(part({ chat: 1003 })),
      { is: 'blocked', cause: 'chat_gone' },
    ],
    [
      'a person who has blocked the bot',
      ({ transport, world }) => {
        world.say({ as: 'ada', chat: ada, text: '/start' });
        world.setBotStatus(ada, 'kicked', 'ada');
        return transport.send(part({ chat: ada }));
      },
      { is: 'blocked', cause: 'chat_gone', error: expect.stringContaining('blocked by the user') as string },
    ],
    [
      'a group that has removed the bot',
      ({ transport, world }) => {
        world.setBotStatus(lab, 'kicked', 'ada');
        return transport.send(part());
      },
      { is: 'blocked', cause: 'chat_gone' },
    ],
    [
      'a group that the bot has left',
      ({ transport, world }) => {
        world.setBotStatus(plain, 'left', 'ada');
        return transport.send(part({ chat: plain }));
      },
      { is: 'blocked', cause: 'chat_gone' },
    ],
    ['a topic that never was', ({ transport }) => transport.send(part({ topic: 4711 })), { is: 'topicGone' }],
    [
      'a topic that was deleted',
      async (place) => {
        const topic = await aTopic(place);
        place.world.deleteTopic(lab, topic);
        return place.transport.send(part({ topic }));
      },
      { is: 'topicGone' },
    ],
    [
      'a closed topic of others, without the right',
      ({ transport, world }) => {
        const topic = world.createTopic(noRights, 'ada', 'Plants');
        world.closeTopic(noRights, topic, 'ada');
        return transport.send(part({ chat: noRights, topic }));
      },
      { is: 'blocked', cause: 'topic_closed' },
    ],
    [
      'a group that became a supergroup',
      ({ transport, world }) => {
        world.migrate(plain);
        return transport.send(part({ chat: plain }));
      },
      { is: 'moved', address: expect.stringMatching(/^-100\d+$/) as string },
    ],
    ['too long a text', ({ transport }) => transport.send(part({ text: hundred })), { is: 'refused' }],
    [
      'a button that says too much',
      ({ transport }) => transport.send(part({ buttons: [[{ text: 'Done', data: 'x'.repeat(65) }]] })),
      { is: 'refused', error: expect.stringContaining('BUTTON_DATA_INVALID') as string },
    ],
    [
      'a topic where the bot has no right to make one',
      ({ transport }) => transport.createTopic(part({ chat: noRights }).route, 'Plants'),
      { is: 'blocked', cause: 'no_topic_right' },
    ],
    [
      'a topic in a group without topics',
      ({ transport, world }) => {
        world.setForum(lab, false);
        return transport.createTopic(part().route, 'Plants');
      },
      { is: 'blocked', cause: 'topics_off', error: 'Bad Request: the chat is not a forum' },
    ],
    [
      'a topic in a private chat without topics',
      ({ transport, world }) => {
        world.say({ as: 'ben', chat: 1002, text: '/start' });
        return transport.createTopic(part({ chat: 1002 }).route, 'Plants');
      },
      { is: 'blocked', cause: 'topics_off', error: expect.stringContaining('BotFather') as string },
    ],
    ['a pin of what is not there', ({ transport }) => transport.act(part({ edits: 4711 }), 'pin'), { is: 'moot' }],
    [
      'a pin without the right',
      async ({ transport }) => {
        const { messageId } = idsOf(await transport.send(part({ chat: noRights })));
        return transport.act(part({ chat: noRights, edits: messageId }), 'pin');
      },
      { is: 'refused' },
    ],
    ['an edit of what is not there', ({ transport }) => transport.send(part({ edits: 4711 })), { is: 'moot' }],
    [
      'an edit of what a person wrote',
      ({ transport, world }) => {
        const { messageId } = world.say({ as: 'ada', chat: lab, text: 'hello' });
        return transport.send(part({ edits: messageId }));
      },
      { is: 'moot' },
    ],
    [
      'a closing in a private chat',
      ({ transport, world }) => {
        world.say({ as: 'ada', chat: ada, text: '/start' });
        const topic = world.createTopic(ada, 'ada', 'Plants');
        return transport.act(part({ chat: ada, topic }), 'close');
      },
      { is: 'moot' },
    ],
    [
      'a closing of what is not there',
      ({ transport }) => transport.act(part({ topic: 4711 }), 'close'),
      { is: 'moot' },
    ],
    ['a closing outside of any topic', ({ transport }) => transport.act(part(), 'close'), { is: 'moot' }],
  ];

  it.each(rows)('%s is told as what can be done about it', async (_, call, expected) => {
    const place = await inPlace();
    const answer = await call(place);
    expect(answer).toMatchObject(expected);
    expect(JSON.stringify(answer)).not.toContain(place.token);
  });

  it('of the token lets it wait until the token is taken again, and is told to the log once', async () => {
    const place = await inPlace({ ownToken: '777000001:one-that-nobody-has-given-out-yet' });
    const refused = { is: 'unreached', error: expect.stringContaining('Unauthorized') as string };
    expect(await place.transport.send(part())).toMatchObject(refused);
    expect(await place.transport.createTopic(part().route, 'Plants')).toMatchObject(refused);
    expect(place.lines.lines).toMatchObject([{ level: 'error', event: 'telegram_token_refused' }]);
  });
});

describe('what is already as it was asked for', () => {
  it('counts as done: an edit without a change, a pin of the pinned, a closing of the closed', async () => {
    const place = await inPlace();
    const topic = await aTopic(place);
    const ids = idsOf(await place.transport.send(part({ topic })));
    const changed = part({ topic, edits: ids.messageId, text: 'Watered.' });
    expect(await place.transport.send(changed)).toEqual({ is: 'sent', ids });
    expect(await place.transport.send(changed)).toEqual({ is: 'sent', ids });
    expect(place.world.messages(lab).at(-1)).toMatchObject({ text: 'Watered.' });
    for (const again of [1, 2]) {
      expect({ again, ...(await place.transport.act(part({ topic, edits: ids.messageId }), 'pin')) }).toMatchObject({
        ids,
      });
      expect({ again, ...(await place.transport.act(part({ topic }), 'close')) }).toMatchObject({ is: 'sent' });
    }
    expect(place.world.topics(lab)).toMatchObject([{ isClosed: true }]);
    expect(await place.transport.act(part({ topic }), 'open')).toMatchObject({ is: 'sent' });
    expect(place.world.topics(lab)).toMatchObject([{ isClosed: false }]);
  });
});

describe('making a topic', () => {
  it('works in a private chat as well, and its messages tell where they stand', async () => {
    const place = await inPlace();
    place.world.say({ as: 'ada', chat: ada, text: '/start' });
    const made = await place.transport.createTopic(part({ chat: ada }).route, 'Plants');
    const topic = made.is === 'made' ? made.topicId : null;
    expect(topic).not.toBeNull();
    expect(idsOf(await place.transport.send(part({ chat: ada, topic }))).threadId).toBe(topic);
  });

  it('without an answer leaves a trace in the updates, by which it is adopted', async () => {
    const place = await inPlace();
    place.world.fault(oneFault('reset_after', 'createForumTopic'));
    expect(await place.transport.createTopic(part().route, 'Plants')).toMatchObject({ is: 'lost' });
    expect(await place.transport.findTopic(part().route, 'Plants', place.time.now())).toBeNull();
    await place.ledger.hear(place.api, place.time.now());
    const [topic] = place.world.topics(lab);
    expect(await place.transport.findTopic(part().route, 'Plants', place.time.now())).toBe(topic?.threadId);
    expect(await place.transport.findTopic(part().route, 'Other', place.time.now())).toBeNull();
    expect(await place.transport.findTopic(part().route, 'Plants', place.time.now() + 1)).toBeNull();
  });

  it('adopts the oldest of several since it was asked, because a younger one is that of another task', async () => {
    const place = await inPlace();
    const oldest = await aTopic(place);
    await aTopic(place);
    await place.ledger.hear(place.api, place.time.now());
    expect(await place.transport.findTopic(part().route, 'Plants', place.time.now())).toBe(oldest);
  });

  it('is known not to have happened when the platform says wait', async () => {
    const place = await inPlace();
    place.world.fault(oneFault('429', 'createForumTopic', { retryAfter: 3 }));
    expect(await place.transport.createTopic(part().route, 'Plants')).toMatchObject({
      is: 'wait',
      ms: 3000,
    });
  });
});

describe('taking back', () => {
  it('asks again after a fault, spends budget for it, and says in the log when it stays', async () => {
    const place = await inPlace();
    const ids = idsOf(await place.transport.send(part()));
    place.world.fault(oneFault('429', 'deleteMessage', { retryAfter: 3 }));
    await place.transport.remove(ids);
    expect(place.world.messages(lab)).toEqual([]);
    expect(place.budget.taken).toHaveLength(2);
    expect(place.budget.held).toEqual([{ address: String(lab), ms: 3000 }]);
    await place.transport.remove(ids);
    expect(place.lines.lines).toMatchObject([{ event: 'message_not_removed' }]);
  });
});
