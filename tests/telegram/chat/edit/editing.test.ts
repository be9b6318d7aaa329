import { describe, expect, test } from 'vitest';
import { bob, dataBehind, labels, type Message, type Talk, taskIn, withTask } from '../talk.ts';

const edit = (talk: Talk, words: string) => talk.tells(`/edit #1 ${words}`);

describe('/edit by words', () => {
  test.each([
    ['missed ask', 'Missed runs', 'as usual', 'ask', { missed: 'ask' }],
    ['overlap queue', 'When it still runs', 'as usual', 'wait for its turn', { overlap: 'queue' }],
    ['retry 3', 'Attempts', 'as usual', '3 attempts', { retry: { attempts: 3 } }],
    ['retry off', 'Attempts', 'as usual', '1 attempt', { retry: { attempts: 1 } }],
    [
      'quiet 22:00-07:00',
      'Quiet hours',
      'as in this chat',
      '22:00-07:00, results wait',
      { quiet: { from: '22:00', to: '07:00', mode: 'hold' } },
    ],
    [
      'quiet 22 to 7 silent',
      'Quiet hours',
      'as in this chat',
      '22:00-07:00, without a sound',
      { quiet: { from: '22:00', to: '07:00', mode: 'silent' } },
    ],
    ['quiet off', 'Quiet hours', 'as in this chat', 'off, it is urgent', { quiet: { mode: 'off' } }],
    ['urgent on', 'Quiet hours', 'as in this chat', 'off, it is urgent', { quiet: { mode: 'off' } }],
    [
      'ack every 15 minutes 5 times',
      'Asks for Done',
      'no',
      'again every 15 minutes, up to 5 times',
      { ack: { nag_every: 'PT15M', nag_limit: 5 } },
    ],
    ['ack on', 'Asks for Done', 'no', 'again every 10 minutes, up to 3 times', { ack: {} }],
    ['nag until done', 'Asks for Done', 'no', 'again every 10 minutes, up to 50 times', { ack: { nag_limit: 50 } }],
    [
      'done every 30 minutes until done',
      'Asks for Done',
      'no',
      'again every 30 minutes, up to 50 times',
      { ack: { nag_every: 'PT30M', nag_limit: 50 } },
    ],
    ['confirm every 1h', 'Asks for Done', 'no', 'again every hour, up to 3 times', { ack: { nag_every: 'PT1H' } }],
    ['approval on', 'Approval', 'not needed', 'needed before each delivery', { approval: 'required' }],
    ['until 2027-01-31', 'Ends', 'never', 'Sun 31 Jan 2027 23:59', { until: '2027-01-31T23:59:00.000Z' }],
    ['start 2027-01-31', 'Starts', 'at once', 'Sun 31 Jan 2027 00:00', { start_at: '2027-01-31T00:00:00.000Z' }],
    ['max runs 5', 'Ends after', 'never', '5 runs', { max_runs: 5 }],
    ['grace 5 minutes', 'May be late', 'as usual', '5 min', { grace: 'PT5M' }],
    ['jitter PT90S', 'Spread', 'as usual', '1 min 30 s', { jitter: 'PT90S' }],
    ['priority: 8', 'Priority', 'as usual', '8', { priority: 8 }],
  ])('%s', async (words, name, before, after, policies) => {
    const talk = await withTask();
    const message = await talk.ask(`/edit #1 ${words}`);
    expect(message.text).toContain(`Changed: #1 Lunch\n\n${name}:\n  before: ${before}\n  now: ${after}\n`);
    expect(message.text).toMatch(/\nNext: .* \(UTC\)$/);
    expect((await taskIn(talk)).policies).toEqual(policies);
    const sign = name === 'Asks for Done' ? ',' : ':';
    expect(await talk.tells('/task #1')).toContain(`\n${name}${sign} ${after}\n`);
    expect(await edit(talk, words)).toContain('Nothing to change');
    await talk.press(message, 'Undo');
    expect(message.text).toMatch(/^Undone: the change of the settings of #1 by Ada at 09:00\.\n/);
    expect((await taskIn(talk)).policies).toEqual({});
  });

  test.each([
    ['missed once', 'missed usual'],
    ['quiet 22:00-07:00', 'quiet chat'],
    ['urgent on', 'urgent off'],
    ['ack on', 'ack off'],
    ['approval on', 'approval off'],
    ['until friday', 'until never'],
    ['max runs 5', 'max runs off'],
    ['grace 1h', 'grace default'],
    ['priority 1', 'priority usual'],
  ])('%s, and back by %s', async (there, back) => {
    const talk = await withTask();
    expect(await edit(talk, there)).toContain('Changed');
    expect(await edit(talk, back)).toContain('Changed');
    expect((await taskIn(talk)).policies).toEqual({});
  });

  test('tags, and the attachment', async () => {
    const talk = await withTask();
    expect(await edit(talk, 'tags home, #garden home')).toContain('Tags:\n  before: none\n  now: home, garden');
    expect((await taskIn(talk)).tags).toEqual(['home', 'garden']);
    expect(await edit(talk, 'tags none')).toContain('now: none');
    expect(await edit(talk, 'media remove')).toContain('Nothing to change');
    const { id } = await taskIn(talk);
    const action = { kind: 'message', media: { kind: 'photo', file_id: 'a-file' } };
    await talk.pipeline.rooms.tasks.edit({ taskId: id, actor: 'system' }, { action });
    expect(await edit(talk, 'media remove')).toContain('Attachment:\n  before: photo\n  now: none');
    expect((await taskIn(talk)).action).toEqual({ kind: 'message' });
  });

  test('another timing says what came next before', async () => {
    const talk = await withTask();
    expect(await edit(talk, 'every day at 13')).toContain(
      'Next runs before: Wed 18 Nov 12:00, Thu 19 Nov 12:00, Fri 20 Nov 12:00 (UTC)\nNext: Wed 18 Nov 13:00',
    );
    expect(await edit(talk, 'max runs 1')).toMatch(/Next runs before: .*\nNext: Wed 18 Nov 13:00 \(UTC\)$/);
    expect(await edit(talk, 'title Brunch')).not.toContain('before: Wed');
  });

  test('runs that were skipped are not lost in silence', async () => {
    const talk = await withTask();
    await talk.ask('/skip #1');
    expect(await edit(talk, 'zone Madrid')).toContain(
      'Note: The run that was skipped is not skipped at the new time. Skip again where it is still wanted.',
    );
  });

  test.each([
    ['missed never mind', 'missed ask'],
    ['missed', 'missed ask'],
    ['overlap !', 'overlap queue'],
    ['retry 0', 'retry 3'],
    ['retry 999999999999', 'retry 3'],
    ['quiet 25:00-07:00', 'quiet 22:00-07:00'],
    ['quiet 22:00-22:00', 'quiet 22:00-07:00'],
    ['quiet at night', 'quiet 22:00-07:00'],
    ['urgent maybe', 'urgent on'],
    ['ack every day at 9', 'ack every 15 minutes 5 times'],
    ['ack every 5 minutes 999 times', 'ack every 15 minutes 5 times'],
    ['approval 7', 'approval on'],
    ['until the cows come home', 'until 2027-01-31'],
    ['until every day', 'until 2027-01-31'],
    ['start ' + 'x'.repeat(500), 'start 2027-01-31'],
    ['max runs -1', 'max runs 10'],
    ['grace P1Y', 'grace 10 minutes'],
    ['jitter soon', 'jitter 5 minutes'],
    ['priority 11', 'priority 8'],
    ['media add', 'media remove'],
  ])('%s is answered with an example', async (words, example) => {
    const talk = await withTask();
    expect(await edit(talk, words)).toContain(`/edit #1 ${example}`);
    expect((await taskIn(talk)).version).toBe(1);
  });

  test.each([
    ['titel Plants', 'title'],
    ['mised ask', 'missed'],
    ['aproval on', 'approval'],
    ['overlp queue', 'overlap'],
    ['prioritty 8', 'priority'],
  ])('%s is answered with the nearest', async (words, field) => {
    const talk = await withTask();
    expect(await edit(talk, words)).toMatch(new RegExp(`Did you mean ${field}\\?\\nWrite /edit #1 ${field} `));
  });

  test.each(['ack every 1 second', 'grace 400 days', 'until 2020-01-01', 'jitter 26 hours'])(
    '%s is refused in words',
    async (words) => {
      const talk = await withTask();
      expect((await edit(talk, words)).length).toBeGreaterThan(10);
      expect((await taskIn(talk)).policies).toEqual({});
    },
  );

  test('every example that is given is understood', async () => {
    const talk = await withTask();
    const faults = [
      'title',
      'text',
      'zone',
      'missed',
      'overlap',
      'retry',
      'quiet',
      'urgent',
      'ack',
      'approval',
      'until',
    ];
    for (const field of [...faults, 'start', 'max runs', 'tags', 'grace', 'media', 'jitter', 'priority']) {
      const example = /`?\/edit #1 ([^\n]+)/.exec(await edit(talk, field))?.[1] ?? '';
      expect([field, example !== '']).toEqual([field, true]);
      expect(await edit(talk, example)).toMatch(/^(?:Changed|Nothing to change)/);
    }
  });
});

describe('the Edit menu', () => {
  const open = async (talk: Talk, ...path: readonly string[]): Promise<Message> => {
    const menu = await talk.ask('/edit #1');
    for (const label of path) await talk.press(menu, label);
    return menu;
  };

  test('leads to every setting in one message, with what holds now', async () => {
    const talk = await withTask();
    const menu = await open(talk, 'More');
    expect(labels(menu)).toEqual([['Missed', 'Ask for Done'], ['Quiet hours', 'Approval', 'Ends'], ['Back']]);
    await talk.press(menu, 'Ask for Done');
    expect(menu.text).toBe('Asks for Done: no\nPress one, or write /edit #1 ack every 15 minutes 5 times');
    expect(labels(menu)).toEqual([
      ['✓ Off', 'Every 10 min, 3 times'],
      ['Every 10 min, 20 times', 'Every 30 min, 3 times'],
      ['Every hour, 3 times'],
      ['Back'],
    ]);
    await talk.press(menu, 'Every 10 min, 3 times');
    expect(menu.text).toContain('now: again every 10 minutes, up to 3 times');
    expect(labels(menu)).toEqual([['Undo', 'Back']]);
    await talk.press(menu, 'Back');
    await talk.press(menu, 'More');
    await talk.press(menu, 'Ask for Done');
    expect(labels(menu)[0]).toEqual(['Off', '✓ Every 10 min, 3 times']);
    await talk.press(menu, 'Every 10 min, 20 times');
    expect(menu.text).toContain('now: again every 10 minutes, up to 20 times');
    await talk.press(menu, 'Back');
    await talk.press(menu, 'More');
    await talk.press(menu, 'Ask for Done');
    expect(labels(menu)[1]?.[0]).toBe('✓ Every 10 min, 20 times');
  });

  test.each([
    [['Zone'], 'Europe/Madrid', { schedule: { timezone: 'Europe/Madrid' } }],
    [['More', 'Missed'], 'Ask', { policies: { missed: 'ask' } }],
    [['More', 'Quiet hours'], 'Off (urgent)', { policies: { quiet: { mode: 'off' } } }],
    [['More', 'Quiet hours'], '22:00-07:00', { policies: { quiet: { from: '22:00', to: '07:00', mode: 'hold' } } }],
    [['More', 'Approval'], 'Needed', { policies: { approval: 'required' } }],
    [['More', 'Ends'], 'After 5 runs', { policies: { max_runs: 5 } }],
    [['More', 'Ends'], 'In a week', { policies: { until: '2026-11-25T09:00:00.000Z' } }],
  ])('%s, %s', async (path, label, expected) => {
    const talk = await withTask();
    const menu = await open(talk, ...path);
    const all = labels(menu).flat();
    const target = all.includes(label) ? label : (all.find((each) => each.includes('Europe')) ?? '');
    await talk.press(menu, target);
    expect(menu.text).toMatch(/^Changed: #1 Lunch\n\n/);
    if (target === label) expect(await taskIn(talk)).toMatchObject(expected);
    await talk.press(menu, 'Undo');
    expect(menu.text).toMatch(/^Undone: /);
    expect((await taskIn(talk)).policies).toEqual({});
  });

  test('two presses of one choice change once', async () => {
    const talk = await withTask();
    const menu = await open(talk, 'More', 'Missed');
    const data = dataBehind(menu, 'Ask');
    await talk.send(menu, data);
    await talk.send(menu, data);
    expect(menu.text).toContain('Nothing to change');
    expect((await taskIn(talk)).version).toBe(2);
  });

  test('is only for who may change the task', async () => {
    const talk = await withTask();
    const menu = await open(talk, 'More', 'Missed');
    expect(await talk.press(menu, 'Ask', { person: bob })).toMatchObject({
      toast: 'Only Ada or an admin may do that.',
      isAlert: true,
    });
  });

  test.each(['zone:Nowhere/At_All', 'missed:x', 'ends:r0', 'ends:99999999d', 'quiet:9999-0000', '__proto__:x', ''])(
    'a made up choice %s changes nothing',
    async (choice) => {
      const talk = await withTask();
      const menu = await open(talk);
      const pressed = await talk.send(menu, `v1:fieldset:${(await taskIn(talk)).id}:${choice}`);
      expect(pressed.isAlert).toBe(true);
      expect((await taskIn(talk)).version).toBe(1);
    },
  );
});
