import { expect, test } from 'vitest';
import type { Drawn } from '../../../../src/domain/shown.ts';
import { draw, type DrawnView } from '../../../../src/telegram/delivery/draw.ts';
import { day, hour, minute, start } from '../../../support/pipeline.ts';
import { ada, aMessage, aTalk, bob, labels, root, taskIn, type Talk } from '../talk.ts';

const given = { status: 'given_up', nags: 3, doneAt: null, doneBy: null, result: null, chatTitle: null } as const;

/** A question as it is drawn for its chat, or for a topic there. */
async function drawnFor(talk: Talk, view: DrawnView, topic: number | null = null): Promise<Drawn> {
  const task = await taskIn(talk);
  const question = await talk.pipeline.store.readQuestion(task.id);
  const asked = { address: task.home.address, topic, ack: given, question };
  const shown = draw(view, { task, now: talk.pipeline.time.now(), next: [], timezone: 'UTC', asked });
  if (shown === null) throw new Error('nothing was drawn');
  return shown;
}

/** Words that Bob has asked for, whose result waits for somebody to let it go. */
async function aReport(kind: 'private' | 'supergroup' = 'supergroup') {
  const talk = await aTalk({ kind });
  await talk.make('every day at 9:30 Report', { person: bob });
  await talk.ask('/edit 1 approval on', { person: bob });
  await talk.pipeline.pass(30 * minute);
  const { id } = await taskIn(talk);
  const [run] = await talk.pipeline.history(id);
  const runId = String(run?.runId);
  const view = { view: 'approval', runId, text: 'Report', decideBy: start + day + 30 * minute } as const;
  const question = aMessage(9000, null, await drawnFor(talk, view));
  const status = async () => (await talk.pipeline.history(id))[0]?.deliveries.at(-1)?.status;
  return { talk, view, question, status };
}

test('nobody but an admin lets the result of their own task go; to discard it they may', async () => {
  const { talk, question, status } = await aReport();
  expect(labels(question)).toEqual([['Deliver', 'Discard']]);
  expect(await talk.press(question, 'Deliver', { person: bob })).toMatchObject({ isAlert: true });
  expect([labels(question).length, await status()]).toEqual([1, 'blocked']);
  expect(await talk.press(question, 'Discard', { person: bob })).toMatchObject({ toast: 'Discarded', isAlert: false });
  expect(question.text).toMatch(/\n\n— Discarded by Bob, 09:30$/);
  expect([labels(question), await status()]).toEqual([[], 'failed']);
});

test('whoever decides second is told who decided', async () => {
  const { talk, view, question, status } = await aReport();
  const twin = aMessage(9001, null, await drawnFor(talk, view));
  expect(await talk.press(question, 'Deliver', { person: ada })).toMatchObject({ toast: 'Sent' });
  expect(await talk.press(twin, 'Discard', { person: root })).toMatchObject({
    toast: 'Delivered by Ada, 09:30',
    isAlert: true,
  });
  expect(await status()).toBe('pending');
});

test('a result whose task was deleted meanwhile cannot be let go', async () => {
  const { talk, question, status } = await aReport();
  await talk.ask('/delete 1');
  expect(await talk.press(question, 'Deliver')).toMatchObject({ isAlert: true });
  expect(await status()).toBe('failed');
});

test.each(['supergroup', 'private'] as const)(
  'a question in a chat of kind %s says who can answer it',
  async (kind) => {
    const { talk, view } = await aReport(kind);
    const { text } = await drawnFor(talk, { ...view, mediaKind: 'photo' });
    expect(text).toMatch(/^For approval: #1 Report wants to send this, with a photo\.\nReport\n/);
    expect(text.includes('\nAn admin can deliver it. ')).toBe(kind === 'supergroup');
  },
);

test.each([
  ['supergroup', 'so I stop asking and have told the group.'],
  ['private', 'so I stop asking. You can still press Done above.'],
] as const)('the end of reminders in a chat of kind %s is told in the topic and beside it', async (kind, words) => {
  const { talk } = await aReport(kind);
  const view = { view: 'escalated', occurrenceId: 'o-1', dueAt: start, nags: 3 } as const;
  expect((await drawnFor(talk, view, 5)).text).toContain(words);
  const beside = aMessage(9000, null, await drawnFor(talk, view));
  expect(beside.text).toMatch(
    /^Not done: #1 Report was due Wed 18 Nov 09:00 \(UTC\)\. Nobody said Done after 3 reminders\./,
  );
  expect(labels(beside)).toEqual([['Done']]);
});

/** Three runs of an hourly task that were missed, about which the task asks. */
async function missed() {
  const talk = await aTalk();
  await talk.make('every hour Backup');
  await talk.ask('/edit 1 missed ask');
  await talk.pipeline.pass(minute);
  await talk.pipeline.time.advance(3 * hour + 30 * minute);
  await talk.pipeline.settle();
  const view = { view: 'missed', from: start + hour, to: start + 3 * hour, count: 3, decideBy: start + day } as const;
  return { talk, question: aMessage(9000, null, await drawnFor(talk, view)), view };
}

test.each([
  ['Run the latest', 'Running it now', ['skipped', 'skipped', 'succeeded']],
  ['Skip', 'Skipped', ['skipped', 'skipped', 'skipped']],
] as const)('missed runs: %s', async (label, toast, statuses) => {
  const { talk, question } = await missed();
  expect(await talk.press(question, label)).toMatchObject({ toast, isAlert: false });
  await talk.pipeline.settle();
  const runs = await talk.pipeline.history((await taskIn(talk)).id);
  const asked = runs.filter(({ slotAt }) => slotAt <= start + 3 * hour).toSorted((a, b) => a.slotAt - b.slotAt);
  expect(asked.map(({ status }) => status)).toEqual(statuses);
});

test('what becomes of missed runs is for who may change the task, once', async () => {
  const { talk, question, view } = await missed();
  const twin = aMessage(9001, null, await drawnFor(talk, view));
  expect(labels(question)).toEqual([['Run the latest', 'Run all 3'], ['Skip']]);
  expect(await talk.press(question, 'Run all 3', { person: bob })).toMatchObject({ isAlert: true });
  expect(await talk.press(question, 'Run the latest')).toMatchObject({ toast: 'Running it now', isAlert: false });
  expect(await talk.press(twin, 'Run all 3', { person: root })).toEqual({
    toast: 'Ada: run the latest',
    isAlert: true,
    messages: [],
  });
});
