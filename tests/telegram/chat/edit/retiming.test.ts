import { describe, expect, test } from 'vitest';
import { hour } from '../../../support/pipeline.ts';
import { aTalk, bob, type Talk, type TalkOptions, taskIn } from '../talk.ts';

async function withTask(text = 'every weekday at 12 Lunch', options: TalkOptions = {}): Promise<Talk> {
  const talk = await aTalk(options);
  await talk.make(text);
  return talk;
}

const edit = (talk: Talk, words: string) => talk.tells(`/edit #1 ${words}`);

describe('a single moment for what repeats', () => {
  test('is over when it has passed, and is only for who may change the task', async () => {
    const talk = await withTask();
    const asked = await talk.ask('/edit #1 in 2 hours');
    expect(await talk.press(asked, 'Make it once', { person: bob })).toMatchObject({ isAlert: true });
    await talk.pipeline.time.advance(3 * hour);
    expect(await talk.press(asked, 'Make it once')).toMatchObject({ isAlert: true });
    for (const odd of ['', 'x:y', '-1', '!', '99999999999', '__proto__']) {
      expect(await talk.send(asked, `v1:makeonce:${(await taskIn(talk)).id}:${odd}`)).toMatchObject({ isAlert: true });
      expect(await talk.send(asked, `v1:hours:${(await taskIn(talk)).id}:${odd}`)).toMatchObject({ isAlert: true });
    }
    expect((await taskIn(talk)).version).toBe(1);
  });
});

describe('what cannot be read', () => {
  test('is told first, and then three examples with the number of the task', async () => {
    const talk = await withTask();
    const told = await edit(talk, 'whenever you like');
    const [problem, , heading, ...tries] = told.split('\n');
    expect(problem).not.toBe('');
    expect(heading).toBe('These can be read:');
    expect(tries).toHaveLength(3);
    for (const each of tries) expect(each).toMatch(/^\/edit #1 /);
    for (const each of tries) expect(await talk.tells(each)).toMatch(/^(?:Changed|Nothing to change)/);
    expect((await taskIn(talk)).schedule.kind).not.toBe('once');
  });
});
