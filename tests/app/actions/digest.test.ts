import { expect, test } from 'vitest';
import type { Job } from '../../../src/app/actions/action.ts';
import { digestAction, type DigestFacts, type DigestQuery } from '../../../src/app/actions/digest.ts';
import { runInput } from '../../support/builders.ts';
import { day, hour, start } from '../../support/pipeline.ts';

const nothing: DigestFacts = {
  until: start + day,
  coming: [],
  used: [],
  moreComing: 0,
  stale: [],
  noRight: [],
  notDone: [],
  failed: [],
  succeeded: [],
  snoozed: [],
  paused: [],
  waiting: [],
  dates: 'en',
};

const job: Job = {
  input: { ...runInput, timezone: 'Europe/Madrid', action: { kind: 'digest' } },
  runId: 'run-1',
  taskId: 'task-1',
  chatId: 'chat-1',
  ownerId: 'telegram:user:1',
  scopes: ['action:digest'],
  unconfirmed: [],
  runNumber: 1,
  attempt: 1,
  fence: 1,
  placeAt: null,
  startedAt: start,
  outgoingKey: 'key',
  progress: () => {},
  signal: new AbortController().signal,
};

/** The digest of these facts, and what it asked for. */
async function told(facts: Partial<DigestFacts>, more: Partial<Job> = {}) {
  const asked: DigestQuery[] = [];
  const action = digestAction(async (query) => {
    asked.push(query);
    return { ...nothing, ...facts };
  });
  const outcome = await action.run({ ...job, ...more });
  return { asked, outcome, text: outcome.is === 'done' ? outcome.text : null };
}

test('is grouped, on the clocks of its task, and counts what happened more than once', async () => {
  const { text } = await told({
    coming: [
      { number: 3, title: 'Stand up', at: start + hour, later: 6 },
      { number: 4, title: 'Lunch', at: start + 20 * hour, later: 0 },
    ],
    moreComing: 2,
    notDone: [{ number: 2, title: 'Open the shop', at: start - 20 * hour }],
    failed: [{ number: 5, title: 'Backup', count: 2, error: 'the disk\n is full' }],
    waiting: [
      { number: 6, title: 'Pills', for: 'done', count: 1 },
      { number: 7, title: 'Newsletter', for: 'approval', count: 2 },
    ],
    succeeded: [
      { number: 1, title: 'Tea', count: 3, done: 0, notDone: 0 },
      { number: 2, title: 'Open the shop', count: 1, done: 0, notDone: 1 },
      { number: 4, title: 'Bins', count: 4, done: 2, notDone: 2 },
      { number: 6, title: 'Pills', count: 1, done: 1, notDone: 0 },
    ],
    used: [
      { kind: 'requests', quantity: 12, currency: null },
      { kind: 'money', quantity: 2_500_000, currency: 'EUR' },
    ],
  });
  expect(text?.split('\n')).toEqual([
    'Not done',
    '#2 Open the shop, Tue 17 Nov 14:00',
    '',
    'Failed since Tue 17 Nov 10:00',
    '#5 Backup, 2 times: the disk is full',
    '',
    'Waiting for you',
    '#6 Pills: Done',
    '#7 Newsletter: Deliver or Discard, 2 times',
    '',
    'Coming until Thu 19 Nov 10:00 (Europe/Madrid)',
    '11:00 #3 Stand up, and 6 more times',
    'Thu 19 Nov 06:00 #4 Lunch',
    'and 2 more',
    '',
    'Ran',
    '#1 Tea, 3 times',
    '#4 Bins, 4 times, 2 done, 2 not done',
    '#6 Pills, done',
    '',
    'Used',
    '12 requests, €2.50',
  ]);
});

test('a long list is cut, and says by how much', async () => {
  const succeeded = Array.from({ length: 20 }, (_one, index) => ({
    number: index + 1,
    title: 'Tea',
    count: 1,
    done: 0,
    notDone: 0,
  }));
  const rows = (await told({ succeeded })).text?.split('\n') ?? [];
  expect([rows.length, rows.at(-1)]).toEqual([17, 'and 5 more']);
});

test('what rests since long ago is no news, and what rests since the last one is', async () => {
  const resting = { number: 2, title: 'Water' };
  expect((await told({ paused: [{ ...resting, at: start - 3 * day }] })).text).toBe('');
  expect((await told({ paused: [{ ...resting, at: start - hour }] })).text).toBe('Paused\n#2 Water');
  expect((await told({ stale: [{ ...resting, at: start - 3 * day }] })).text).toBe('');
  expect((await told({ stale: [{ ...resting, at: start - hour }] })).text).toBe(
    'Stale\n#2 Water, since Wed 18 Nov 09:00',
  );
  expect((await told({ noRight: [{ ...resting, at: 0 }] })).text).toBe('');
  expect((await told({ noRight: [{ ...resting, at: start - hour }] })).text).toBe(
    'Without a right to run (/grants renews it)\n#2 Water',
  );
});

test('goes on where the last one has ended, also where that told nothing; by hand it does not move that', async () => {
  const { asked, outcome } = await told(
    {},
    { input: { ...job.input, context: { told_until: start - hour, mine: 1 } } },
  );
  expect(asked).toEqual([{ chatId: 'chat-1', taskId: 'task-1', since: start - hour, now: start }]);
  expect(outcome).toEqual({ is: 'done', text: '', context: { told_until: start, mine: 1 } });
  const byHand = await told({}, { input: { ...job.input, byHand: true } });
  expect(byHand.outcome).toEqual({ is: 'done', text: 'There is nothing to tell right now.' });
  for (const context of [{}, { told_until: 'soon' }, { told_until: start + day }]) {
    expect((await told({}, { input: { ...job.input, context } })).asked[0]?.since).toBe(start - day);
  }
});

test('belongs to a task of a chat, and takes no settings', async () => {
  expect((await told({}, { chatId: null })).outcome).toMatchObject({ is: 'giveUp' });
  const action = digestAction(async () => nothing);
  expect(() => action.check({ kind: 'digest', hour: 8 }, 'text')).toThrow('action.hour is not a setting of "digest"');
});
