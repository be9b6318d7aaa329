import { describe, expect, it } from 'vitest';
import { calls, withHttp } from '../../../support/actions.ts';
import { day } from '../../../support/pipeline.ts';
import { aTalk, labels, type Talk } from '../talk.ts';

const price = 'https://api.example.com/price';

async function aFetch(words = `every day at 9 ${price} {{ body.price }}`): Promise<Talk> {
  const made = calls(() => ({ is: 'done', text: '7', httpStatus: 200 }));
  const talk = await aTalk({ actions: withHttp(made) });
  await talk.press(await talk.ask(`/fetch ${words}`), 'Create');
  return talk;
}

const taskOf = async ({ pipeline, chat }: Talk) => pipeline.store.taskByNumber((await chat()).id, 1);

describe('/edit of a task that calls an address', () => {
  it.each([
    [
      'url https://example.com/other',
      { url: 'https://example.com/other' },
      `url: ${price} → https://example.com/other`,
    ],
    ['method post', { method: 'POST' }, 'method: as usual → POST'],
    ['template {{ status }}', { template: '{{ status }}' }, 'template: {{ body.price }} → {{ status }}'],
    ['body {"text":"hi"}', { body: { text: 'hi' } }, 'body: as usual → text: hi'],
    ['header accept: text/plain', { headers: { accept: 'text/plain' } }, 'headers: as usual → accept: text/plain'],
    ['timeout 10 s', { timeout: 'PT10S' }, 'timeout: as usual → PT10S'],
    ['query currency=EUR', { query: { currency: 'EUR' } }, 'query: as usual → currency: EUR'],
    ['query mode: off', { query: { mode: 'off' } }, 'query: as usual → mode: off'],
    ['expect status 200, 404', { expect_status: [200, 404] }, 'expect_status: as usual → [200,404]'],
    ['expect_status 404', { expect_status: 404 }, 'expect_status: as usual → 404'],
    ['watch body', { watch: { on: 'body' } }, 'watch: as usual → on: body'],
    ['select rates.EUR', { select: 'rates.EUR' }, 'select: as usual → rates.EUR'],
  ])('%s shows what is different, and Undo takes it back', async (words, settings, diff) => {
    const talk = await aFetch();
    const before = (await taskOf(talk))?.action;
    const answer = await talk.ask(`/edit #1 ${words}`);
    expect(answer.text.replace(/:\n\s+before: (.*)\n\s+now: /g, ': $1 → ')).toContain(diff);
    expect((await taskOf(talk))?.action).toMatchObject(settings);
    await talk.press(answer, 'Undo');
    expect((await taskOf(talk))?.action).toEqual(before);
  });

  it('takes a setting away, and gives the task another name where it was called by its address', async () => {
    const talk = await aFetch();
    await talk.ask('/edit #1 template off');
    expect((await taskOf(talk))?.action).toEqual({ kind: 'http', url: price });
    await talk.ask('/edit #1 url https://example.com/other');
    expect((await taskOf(talk))?.title).toBe('example.com/other');
  });

  it.each(['all', 'ask'] as const)(
    'asks once before slots are made up (%s), and names what that can bring',
    async (missed) => {
      const talk = await aFetch();
      const question = await talk.ask(`/edit #1 missed ${missed}`);
      expect(question.text).toContain('After a long outage up to 10 runs come at once: 10 requests\nDo you want that?');
      expect((await taskOf(talk))?.policies).toEqual({});
      await talk.press(question, 'Make them up');
      expect((await taskOf(talk))?.policies).toMatchObject({ missed });
      const other = missed === 'all' ? 'ask' : 'all';
      expect(await talk.tells(`/edit #1 missed ${other}`)).toContain('Changed');
      expect((await taskOf(talk))?.policies).toMatchObject({ missed: other });
    },
  );

  it('asks the same behind a button, and leaves the task as it is where nobody wants that', async () => {
    const talk = await aFetch();
    const menu = await talk.ask('/edit #1');
    await talk.press(menu, 'More');
    await talk.press(menu, 'Missed');
    await talk.press(menu, 'Run all');
    expect(menu.text).toContain('10 requests');
    await talk.press(menu, 'Keep as it is');
    expect((await taskOf(talk))?.policies).toEqual({});
    expect(await talk.tells('/edit #1 missed once')).toContain('Changed');
  });

  it('keeps the other headers', async () => {
    const talk = await aFetch();
    for (const words of ['accept: text/plain', 'x-team: a', 'accept off']) await talk.ask(`/edit #1 header ${words}`);
    expect((await taskOf(talk))?.action).toMatchObject({ headers: { 'x-team': 'a' } });
  });

  it('says how a setting is written, and refuses what cannot work', async () => {
    const talk = await aFetch();
    expect(await talk.tells('/edit #1 watch')).toContain('watch value');
    expect(await talk.tells('/edit #1 method DANCE')).toContain('method GET');
    expect(await talk.tells('/edit #1 expect status all')).toContain('200, 404');
    expect(await talk.tells('/edit #1 url nonsense')).toContain('action.url');
    expect((await taskOf(talk))?.action).toEqual({ kind: 'http', url: price, template: '{{ body.price }}' });
  });

  it('has no text to change, and a hint at what there is', async () => {
    const talk = await aFetch();
    const menu = await talk.ask('/edit #1');
    expect(labels(menu).flat()).not.toContain('Text');
    expect(menu.text).toContain('/edit #1 method GET');
  });
});

it('tells on the card, in the history and in the list what is called and what it answered', async () => {
  const talk = await aFetch();
  expect(await talk.tells('/task #1')).toContain(`\nGET ${price}`);
  await talk.pipeline.pass(day);
  const card = await talk.ask('/task #1');
  expect(card.text).toContain(`GET ${price} – answered 200`);
  await talk.press(card, 'More');
  expect(card.text).toContain('template: {{ body.price }}');
  expect(card.text).toContain('Tried up to 3 times, within about 3 min in all');
  expect(await talk.tells('/history #1')).toContain('HTTP 200');
  expect(await talk.tells('/tasks')).toContain('http');
});
