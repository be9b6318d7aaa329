import { describe, expect, test } from 'vitest';
import { aTalk, labels, tasksIn } from '../talk.ts';

/** The preview of these words, and what the task of it gets. */
const proposed = async (words: string) => {
  const talk = await aTalk({ kind: 'private' });
  const preview = await talk.ask(`/new ${words}`);
  const { text } = preview.shown;
  if (!text.startsWith('New task')) return { text, task: null, preview, talk };
  await talk.press(preview, 'Create');
  const [task] = await tasksIn(talk);
  return { text, task: task ?? null, preview, talk };
};

const tenMinutes = { nag_every: 'PT10M', nag_limit: 3 };

describe('what is asked for beside the time', () => {
  test.each([
    ['every day at 8 until done Take the pill', 'PT10M'],
    ['every day at 8, until done Take the pill', 'PT10M'],
    ['every day at 8 until done: Take the pill', 'PT10M'],
    ['every day at 8 until done\nTake the pill', 'PT10M'],
    ['every day at 8 until confirmed Take the pill', 'PT10M'],
    ['every day at 8 until I confirm Take the pill', 'PT10M'],
    ['every day at 8 till it is done: Take the pill', 'PT10M'],
    ['every day at 8 ask until done Take the pill', 'PT10M'],
    ['every day at 8 [until done] Take the pill', 'PT10M'],
    ['every day at 8 and nag me every 15 minutes: Take the pill', 'PT15M'],
    ['every day at 8 until done and nag me every 2h Take the pill', 'PT2H'],
    ['every day at 8, nag me every hour until done: Take the pill', 'PT1H'],
    ['every day at 8 until done, remind me every 5 min: Take the pill', 'PT5M'],
    ['every day at 8 Take the pill, until done', 'PT10M'],
    ['every day at 8 Take the pill [until done]', 'PT10M'],
    ['every day at 8: Take the pill, until done.', 'PT10M'],
    ['every day at 8\nTake the pill, until done and nag me every 15 minutes', 'PT15M'],
    ['Take the pill every day at 8 until done', 'PT10M'],
    ['Take the pill every day at 8, until done', 'PT10M'],
    ['every day 8 until done Take the pill', 'PT10M'],
    ['remind me every day at 8 until done to Take the pill', 'PT10M'],
  ])('is understood: %s', async (words, nagEvery) => {
    const { text, task } = await proposed(words);
    expect(text).toMatch(/^New task: Take the pill\nEvery day at 08:00\n/);
    expect(task).toMatchObject({
      instructions: 'Take the pill',
      policies: { ack: { nag_every: nagEvery, nag_limit: 3 } },
      schedule: { cron: '0 8 * * *' },
    });
  });

  test('leaves more of the time behind it to the time', async () => {
    const { task } = await proposed('every day at 8 until done in Europe/Madrid: Take the pill');
    expect(task).toMatchObject({ policies: { ack: tenMinutes }, schedule: { timezone: 'Europe/Madrid' } });
    const ended = await proposed('every day at 8 until done until 5 december: Take the pill');
    expect(ended.task).toMatchObject({ policies: { ack: tenMinutes }, instructions: 'Take the pill' });
    expect(ended.text).toContain('until Sat 5 Dec');
  });

  test.each([
    ['every sunday at 15:00 Bake until done', 'Bake until done'],
    ['every sunday at 15:00: stir until done, then rest', 'stir until done, then rest'],
    ['every sunday at 15:00 Stay until I confirm', 'Stay until I confirm'],
    ['every sunday at 15:00 Bake, until done with it', 'Bake, until done with it'],
    ['every sunday at 15:00 Work, until done, and rest', 'Work, until done, and rest'],
    ['every sunday at 15:00: urgent call to Bob', 'urgent call to Bob'],
    ['every sunday at 15:00 urgent call to Bob', 'urgent call to Bob'],
    ['every sunday at 15:00 call Bob, urgent', 'call Bob, urgent'],
    ['every sunday at 15:00 Tell me to nag me every hour', 'Tell me to nag me every hour'],
    ['every sunday at 15:00 Bake\nuntil done\nand eat', 'Bake\nuntil done\nand eat'],
    ['every sunday at 15:00 Read [until done] and file', 'Read [until done] and file'],
    ['every sunday at 15:00 Ask Bob, remind me every hour', 'Ask Bob, remind me every hour'],
  ])('is text everywhere else: %s', async (words, instructions) => {
    const { task } = await proposed(words);
    expect(task).toMatchObject({ instructions, policies: {}, schedule: { cron: '0 15 * * 0' } });
  });

  test('is told in the preview, as on the card, and Don’t ask drops it', async () => {
    const talk = await aTalk();
    const preview = await talk.ask('/new every day at 8 until done: Take the pill');
    const line = preview.text.split('\n').find((each) => each.startsWith('Asks for Done'));
    expect(line).toMatch(/every 10 minutes, up to 3 times$/);
    expect(labels(preview)).toEqual([
      ['Create', 'Change time', 'Cancel'],
      ['Change text', 'Don’t ask'],
    ]);
    const second = await talk.ask('/new every day at 9 until done: Take the pill');
    await talk.press(second, 'Don’t ask');
    expect(second.text).not.toContain('Done');
    expect(labels(second)).toEqual([['Create', 'Change time', 'Cancel'], ['Change text']]);
    await talk.press(second, 'Create');
    expect(await tasksIn(talk)).toMatchObject([{ instructions: 'Take the pill', policies: {} }]);
    const third = await talk.ask('/new every day at 10 until done: Take the drops');
    await talk.press(third, 'Create');
    expect(third.text.split('\n')).toContain(line);
  });

  test('waits for the text, and stays when the time is changed', async () => {
    const talk = await aTalk({ kind: 'private' });
    const asked = await talk.ask('/new every day at 8 until done');
    expect(asked.text).toMatch(/^Every day at 08:00 \(UTC\)\. What should I say\?/);
    const preview = await talk.ask('Take the pill');
    await talk.press(preview, 'Change time');
    const later = await talk.ask('every day at 10');
    await talk.press(later, 'Create');
    expect(await tasksIn(talk)).toMatchObject([{ policies: { ack: tenMinutes }, schedule: { cron: '0 10 * * *' } }]);
  });

  test('is understood with the time alone, too: at the clock of the buttons, and when the time is changed', async () => {
    const talk = await aTalk({ kind: 'private' });
    const message = await talk.ask('/new');
    await talk.press(message, 'Every day');
    await talk.ask('8:30 until done');
    const preview = await talk.ask('Take the pill');
    expect(preview.text).toMatch(/\nEvery day at 08:30\n[\s\S]*\nAsks for Done/);
    await talk.press(preview, 'Don’t ask');
    await talk.press(preview, 'Change time');
    const again = await talk.ask('every day at 9 and nag me every 15 minutes');
    expect(again.text).toMatch(/\nEvery day at 09:00\n[\s\S]*every 15 minutes, up to 3 times/);
  });

  test('survives another zone, on whose clocks the words are read again', async () => {
    const talk = await aTalk({ timezone: null });
    await talk.ask('/new every day at 8 until done: Take the pill');
    const message = await talk.ask('/tz Berlin');
    expect(message.text).toMatch(
      /New task: Take the pill\nEvery day at 08:00\nZone: Europe\/Berlin\n[\s\S]*Asks for Done/,
    );
  });

  test.each([
    'tomorrow at 9 urgent: Call Bob',
    'tomorrow at 9, urgent: Call Bob',
    'tomorrow at 9 [urgent] Call Bob',
    'tomorrow at 9 Call Bob [urgent]',
    'tomorrow at 9 urgent\nCall Bob',
  ])('urgent, set apart, comes in quiet hours as well: %s', async (words) => {
    const { text, task } = await proposed(words);
    expect(text).toMatch(/urgent/);
    expect(task).toMatchObject({ instructions: 'Call Bob', policies: { quiet: { mode: 'off' } } });
  });

  test('Not urgent drops that', async () => {
    const talk = await aTalk();
    const preview = await talk.ask('/new tomorrow at 9 urgent: Call Bob');
    await talk.press(preview, 'Not urgent');
    await talk.press(preview, 'Create');
    expect(await tasksIn(talk)).toMatchObject([{ instructions: 'Call Bob', policies: {} }]);
  });
});

describe('words that were nearly read', () => {
  test('are named with the line that would be, and make nothing', async () => {
    const talk = await aTalk({ kind: 'private' });
    for (const words of ['/new evry day at 9 Water', 'evry day at 9 Water']) {
      const { text } = (await talk.ask(words)).shown;
      expect(text).toMatch(/^I do not know “evry”\. Did you mean “every”\?\n/);
      expect(text.split('\n')).toContain('every day at 9 Water');
    }
    await talk.ask('/cancel');
    const bare = await talk.ask('/new every day 9 Water');
    expect(bare.text).toMatch(/^If the 9 is the hour, write "at 9"\.\n/);
    expect(bare.text.split('\n')).toContain('every day at 9 Water');
    expect(await tasksIn(talk)).toEqual([]);
  });

  test('a sum of money before the days is no time', async () => {
    const talk = await aTalk({ kind: 'private' });
    expect(await talk.tells('Pay 8.45 every friday')).not.toContain('New task');
    expect(await talk.tells('Stand up weekdays 8.45')).toMatch(/^New task: Stand up\nEvery weekday at 08:45/);
  });
});
