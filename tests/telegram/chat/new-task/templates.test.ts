import { describe, expect, test } from 'vitest';
import { previewSchedule } from '../../../../src/app/tasks/preview.ts';
import { checkPolicies } from '../../../../src/domain/policy.ts';
import { titleFrom } from '../../../../src/domain/task.ts';
import { templates } from '../../../../src/telegram/chat/new-task/wizard-english.ts';
import { minute } from '../../../support/pipeline.ts';
import { aTalk, labels, tasksIn } from '../talk.ts';

/** In a group, words are meant for the bot when they answer it. */
const reply = { repliesTo: 1 };

describe('the templates', () => {
  test('are a dozen, each with a name, a title and an id of its own', () => {
    expect(templates).toHaveLength(12);
    for (const of of ['id', 'name', 'text'] as const) {
      expect(new Set(templates.map((one) => one[of])).size).toBe(12);
    }
    for (const { text } of templates) expect(titleFrom(text).length).toBeLessThanOrEqual(60);
  });

  test.each(templates.map((one) => [one.id, one] as const))(
    '%s has a time that can be read',
    (_id, { when, policies }) => {
      const now = Date.UTC(2026, 10, 18, 9);
      const read = previewSchedule({ when, timezone: 'Europe/Berlin', now }, { now, minIntervalMs: minute });
      expect(read.text).toBe('');
      expect(read.warnings).toEqual([]);
      expect(read.next.length).toBeGreaterThan(1);
      checkPolicies(policies ?? {});
    },
  );

  test('make a task with two presses', async () => {
    const talk = await aTalk();
    const message = await talk.ask('/new templates');
    expect(message.shown.text).toMatch(/^Choose a template/);
    expect(labels(message).flat()).toHaveLength(14);
    await talk.press(message, '💊 Medication');
    expect(message.shown.text).toBe(
      [
        'New task: Take your medication',
        'Every day at 08:00',
        'Zone: UTC',
        'Next: Thu 19 Nov 08:00, Fri 20 Nov 08:00, Sat 21 Nov 08:00',
        'Asks for Done, again every 10 minutes, up to 3 times',
      ].join('\n'),
    );
    expect(labels(message)).toEqual([
      ['Create', 'Change time', 'Cancel'],
      ['Change text', 'Don’t ask'],
    ]);
    await talk.press(message, 'Create');
    expect(await tasksIn(talk)).toMatchObject([
      {
        title: 'Take your medication',
        schedule: { kind: 'cron', cron: '0 8 * * *' },
        policies: { ack: { nag_every: 'PT10M', nag_limit: 3 } },
      },
    ]);
  });

  test.each(templates.filter(({ yearlyAt }) => yearlyAt === undefined).map(({ id, name }) => [id, name] as const))(
    '%s makes a task that is taken as it is',
    async (_id, name) => {
      const talk = await aTalk();
      const message = await talk.ask('/new');
      await talk.press(message, 'Templates');
      await talk.press(message, name);
      await talk.press(message, 'Create');
      expect(await tasksIn(talk)).toHaveLength(1);
    },
  );

  test('a birthday asks for its day, by buttons or in words, and for nothing else', async () => {
    const talk = await aTalk();
    const message = await talk.ask('/new templates');
    await talk.press(message, '🎂 Birthday');
    expect(message.shown.text).toMatch(/^On which day of the year\?\n/);
    await talk.press(message, 'Feb');
    expect(message.shown.text).toMatch(/^On which day of February\?\n/);
    expect(labels(message).flat()).toHaveLength(29 + 2);
    await talk.press(message, 'Back');
    await talk.press(message, 'May');
    await talk.press(message, '12');
    expect(message.shown.text).toMatch(/^New task: Somebody has a birthday today\.\nEvery year on 12 May at 09:00/i);
    await talk.press(message, 'Create');
    expect(await tasksIn(talk)).toMatchObject([{ schedule: { cron: '0 9 12 5 *' } }]);
  });

  test.each([
    ['12 may', /at 09:00/],
    ['on the 12th of may at 8:30', /at 08:30/],
  ] as const)('a birthday on %s is understood', async (words, time) => {
    const talk = await aTalk();
    const message = await talk.ask('/new templates');
    await talk.press(message, '🎂 Birthday');
    expect((await talk.ask('some day', reply)).shown.text).toMatch(/^I cannot read that as a day of the year/);
    const preview = await talk.ask(words, reply);
    expect(preview.shown.text).toMatch(/^New task: Somebody has a birthday today/);
    expect(preview.shown.text).toMatch(time);
  });

  test('a birthday leads back to the templates, and leaves no text behind', async () => {
    const talk = await aTalk();
    const message = await talk.ask('/new templates');
    for (const label of ['🎂 Birthday', 'Back', '🏠 Rent']) await talk.press(message, label);
    expect(message.shown.text).toMatch(/^New task: Pay the rent\n/);
  });

  test('give the text alone where the time is chosen already', async () => {
    const talk = await aTalk();
    const message = await talk.ask('/new every sunday at 11');
    await talk.press(message, 'Templates');
    expect(message.shown.text).toBe('Every Sunday at 11:00. Which text?');
    await talk.press(message, 'Back');
    expect(message.shown.text).toContain('What should I say?');
    await talk.press(message, 'Templates');
    await talk.press(message, '🪴 Water the plants');
    expect(message.shown.text).toMatch(/^New task: Water the plants\nEvery Sunday at 11:00\n/);
  });

  test('can be changed before they are made, in text and in time, and keep what goes with them', async () => {
    const talk = await aTalk();
    const message = await talk.ask('/new templates');
    await talk.press(message, '🏠 Rent');
    await talk.press(message, 'Change text');
    expect(message.shown.text).toMatch(/the new text for Pay the rent\.$/);
    await talk.press(message, 'Back');
    await talk.press(message, 'Change text');
    const preview = await talk.ask('Pay the rent of the garage', reply);
    expect(preview.shown.text).toMatch(
      /^New task: Pay the rent of the garage\n[\s\S]*Asks for Done, again every hour, up to 2 times/,
    );
    await talk.press(preview, 'Change time');
    const later = await talk.ask('every month on the 3rd at 8', reply);
    expect(later.shown.text).toMatch(/^New task: Pay the rent of the garage\nOn the 3rd of the month at 08:00/);
    await talk.press(later, 'Create');
    expect(await tasksIn(talk)).toMatchObject([
      { instructions: 'Pay the rent of the garage', policies: { ack: { nag_every: 'PT1H', nag_limit: 2 } } },
    ]);
  });

  test('and words instead of one are read as always', async () => {
    const talk = await aTalk();
    await talk.ask('/new templates');
    expect((await talk.ask('tomorrow at 8 Call mum', reply)).shown.text).toMatch(/^New task: Call mum/);
  });
});
