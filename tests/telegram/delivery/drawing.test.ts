import { expect, it } from 'vitest';
import { draw, type DrawnView } from '../../../src/telegram/delivery/draw.ts';
import { drawnOf } from '../../../src/telegram/delivery/drawing.ts';
import { scopesOf } from '../../support/actions.ts';
import { manualTime } from '../../support/fakes.ts';
import { start, withTask } from '../../support/pipeline.ts';
import { memoryLedger } from './ledger.ts';
import { part } from './place.ts';

it('draws a result from its row, and asks whether it is done only when it may have been there before', async () => {
  const { task } = await withTask();
  const asked: string[] = [];
  const store = {
    ...memoryLedger(),
    readAck: async ({ occurrenceId }: { occurrenceId: string }) => {
      asked.push(occurrenceId);
      const doneBy = 'telegram:user:1001' as const;
      return { status: 'done', nags: 0, doneAt: start, doneBy, result: null, chatTitle: null } as const;
    },
    readTask: async () => task,
    readUser: async () => null,
  };
  const deps = { store, clock: manualTime(start), kinds: { scopesOf }, defaultTimezone: 'UTC' };
  const resultOf = { ...task, state: 'active', action: { kind: 'message' }, policies: {} } as const;
  const result = { ...part({ shown: { view: 'result', text: 'Stand up!', occurrenceId: 'o-1' } }), taskId: task.id };
  const verbs = async (wasSent: boolean) => {
    const drawn = await drawnOf(deps, { ...result, resultOf, wasSent });
    return drawn?.buttons?.flat().map((button) => ('data' in button ? button.data.split(':')[1] : null));
  };
  expect([await verbs(false), asked]).toEqual([['done', 'snooze'], []]);
  expect(await verbs(true)).toEqual(['notdone']);
  expect(asked).toEqual(['o-1']);
});

it('tells in one word what became of topics that were to go, those that are still there by name', async () => {
  const drawnWith = async (done: number, failed: readonly string[], error: string) => {
    const cleanedTopics = async () => ({ done, failed: failed.map((name) => ({ name, error })) });
    const deps = {
      store: { ...memoryLedger(), cleanedTopics },
      clock: manualTime(start),
      kinds: { scopesOf },
      defaultTimezone: 'UTC',
    };
    return (await drawnOf(deps, part({ shown: { view: 'cleaned', cleaning: 'c', deed: 'removeTopic' } })))?.text;
  };
  expect(await drawnWith(2, [], '')).toBe('Deleted 2 topics.');
  const one = await drawnWith(2, ['#3 milk'], 'not enough rights to delete the topic');
  expect(one).toMatch(/Deleted 2 .*#3 milk\n.*Delete messages/s);
  const many = await drawnWith(
    0,
    Array.from({ length: 12 }, (_one, index) => `#${index} milk`),
    'CHAT_STRANGE',
  );
  expect(many).toMatch(/^Left as they were: 12 .*and 2 more.*CHAT_STRANGE/s);
});

it.each<[DrawnView, string, string[]]>([
  [
    { view: 'fallback', cause: 'no_topic_right' },
    'Shown here: I cannot show #1 Stand up! in its topic, because I may not manage topics in this group.',
    [],
  ],
  [
    { view: 'fallback', cause: 'topic_in_doubt' },
    'Shown here: I cannot show #1 Stand up! in its topic, because I asked Telegram for its topic and got no answer, so I do not know whether it exists.',
    ['Retry'],
  ],
  [
    { view: 'notRenamed', cause: 'other', error: 'CHAT_STRANGE' },
    'I could not rename this topic to #1 Stand up!, because Telegram refuses it. I will try again every ten minutes for a day.\n\nCHAT_STRANGE',
    [],
  ],
])('says of a topic in trouble which task it is about, and the cause: %j', async (view, words, buttons) => {
  const { task } = await withTask();
  const drawn = draw(view, { task, now: start, timezone: 'UTC', next: [] });
  expect([drawn?.text, drawn?.buttons?.flat().map(({ text }) => text) ?? []]).toEqual([words, buttons]);
});
