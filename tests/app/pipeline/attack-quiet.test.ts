import { describe, expect, it } from 'vitest';
import { chanceFrom } from '../../support/chance.ts';
import { aPipeline, day, hour, minute, type Pipeline } from '../../support/pipeline.ts';

const night = { from: '22:00', to: '07:00', mode: 'hold' } as const;
const madrid = 'Europe/Madrid';

async function asleep({ at = '2026-11-18T18:00:00Z', cron = '0 23 * * *', policies = {} } = {}) {
  const p = await aPipeline({ now: Date.parse(at) - hour });
  const { id, chatId } = await p.create({ schedule: { kind: 'cron', cron, timezone: madrid }, policies });
  await p.store.changeChat(chatId, { timezone: madrid, settings: { quiet: night } }, p.time.now());
  await p.pass(hour);
  return { p, id, chatId };
}

async function sleep(p: Pipeline, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 30 * minute) await p.pass(30 * minute);
}

const texts = (p: Pipeline) => p.chat.shown.map(({ text }) => text);

describe('a row of quiet hours that cannot be read', () => {
  it.each([
    ['a zone that is none', `update chats set timezone = 'Nowhere/Land'`],
    [
      'a zone of the task that is none',
      `update tasks set timezone = 'Nowhere/Land', policies = json_set(policies, '$.quiet', json('{"from":"22:00","to":"07:00","mode":"hold"}'))`,
    ],
    [
      'hours that are numbers',
      `update tasks set policies = json_set(policies, '$.quiet', json('{"from":22,"to":7,"mode":"hold"}'))`,
    ],
    ['hours that are a number', `update tasks set policies = json_set(policies, '$.quiet', 7)`],
    ['settings that are a number', `update chats set settings = '{"quiet":5}'`],
    ['settings that are no hours', `update chats set settings = '{"quiet":{"from":"x","to":null,"mode":"hold"}}'`],
    ['settings that are no JSON', `update chats set settings = 'quiet'`],
  ])('such as %s stops nobody else', async (_name, spoil) => {
    const { p } = await asleep();
    await sleep(p, 4 * hour);
    // What has run and is to go out when the row is spoilt.
    const elsewhere = 'telegram:chat:-1009999';
    p.chat.failTopics('notMade');
    p.database.prepare(`update deliveries set ready_at = ?`).run(p.time.now());
    p.database.exec(spoil);
    await p.create(
      { schedule: { kind: 'cron', cron: '* * * * *', timezone: 'UTC' }, instructions: 'Hello.' },
      { threadKey: elsewhere },
    );
    for (let passed = 0; passed < 10; passed += 1) await p.pass(minute);
    expect(texts(p)).toContain('Hello.');
  });
});

describe('a night after which nobody was there for days', () => {
  it.each([13 * hour, 3 * day])('is told of, or what it held back has a sound (%s ms)', async (awayMs) => {
    const { p } = await asleep();
    await sleep(p, 6 * hour);
    await p.time.advance(7 * hour + awayMs);
    const next = p.restart();
    await next.settle();
    const rows = p.database
      .prepare(`select kind, status, silent, content from deliveries where kind in ('result','notice')`)
      .all() as { silent: number; status: string; content: string; kind: string }[];
    const heard = rows.some(
      ({ status, silent, content, kind }) =>
        status === 'delivered' && silent === 0 && (content.includes('bundle') || kind === 'result'),
    );
    expect([heard, texts(p)]).toEqual([true, expect.anything()]);
  });
});

describe('the end of a night in which things go wrong', () => {
  it.each(Array.from({ length: 40 }, (_one, index) => index + 1))(
    'brings everything once, and one word about it (seed %i)',
    async (seed) => {
      const random = chanceFrom(seed);
      const { p, chatId } = await asleep({ cron: random.pick(['0 23 * * *', '30 22,2 * * *', '15 * * * *']) });
      await p.create({
        instructions: 'Bins',
        schedule: { kind: 'cron', cron: '5 0,3 * * *', timezone: madrid },
        ...(random.next() < 0.3 ? { policies: { quiet: { mode: 'silent', from: '23:00', to: '06:00' } } } : {}),
      });
      let now = p;
      for (let passed = 0; passed < 13 * 60; passed += 15) {
        await now.pass(15 * minute);
        const chance = random.next();
        if (chance < 0.04) now = now.restart();
        else if (chance < 0.1)
          p.chat.failSends(random.pick(['rateLimited', 'lost', 'dropped', 'notSent', 'misrouted', 'throws']));
        else if (chance < 0.13) p.chat.failTopics(random.pick(['notMade', 'rateLimited']));
        else if (chance < 0.15 && p.chat.topics[0] !== undefined) p.chat.deleteTopic(p.chat.topics[0].id);
        else if (chance < 0.17) await p.store.changeChat(chatId, { timezone: madrid }, p.time.now());
      }
      for (let passed = 0; passed < 60; passed += 1) await now.pass(minute);
      const rows = p.database
        .prepare(
          `select id, kind, status, error, silent, held_until, content, delivered_at from deliveries
           where kind in ('result', 'notice') order by id`,
        )
        .all() as {
        id: string;
        kind: string;
        status: string;
        error: string | null;
        silent: number;
        held_until: number | null;
        content: string;
      }[];
      const held = rows.filter(({ held_until: until }) => until !== null);
      const bundles = rows.filter(({ content, status }) => content.includes('"bundle"') && status === 'delivered');
      // Whoever is sent too often in vain says so.
      const lost = held.filter(({ status, error }) => status !== 'delivered' && error !== 'it did not arrive');
      expect(lost).toEqual([]);
      expect(held.filter(({ silent }) => silent !== 1)).toEqual([]);
      const ends = new Set(held.map(({ held_until: until }) => until));
      expect(bundles).toHaveLength(ends.size);
      const open = rows.filter(({ status }) => status !== 'delivered' && status !== 'failed');
      expect(open).toEqual([]);
    },
  );
});
