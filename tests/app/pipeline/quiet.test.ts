import { describe, expect, it } from 'vitest';
import type { QuietInput } from '../../../src/domain/pacing/quiet.ts';
import { chanceFrom } from '../../support/chance.ts';
import { aPipeline, day, hour, minute, type Pipeline, texts } from '../../support/pipeline.ts';

const night = { from: '22:00', to: '07:00', mode: 'hold' } as const;
const madrid = 'Europe/Madrid';

interface Night {
  readonly at?: string;
  readonly cron?: string;
  readonly quiet?: Readonly<Record<string, unknown>> | null;
  readonly policies?: { readonly quiet?: QuietInput; readonly max_age?: string };
}

interface Sleeping {
  readonly p: Pipeline;
  readonly id: string;
  readonly chatId: string;
}

/** A task of a chat in Madrid, every hour, whose topic is there. */
async function asleep({
  at = '2026-11-18T18:00:00Z',
  cron = '0 * * * *',
  quiet = night,
  policies = {},
}: Night = {}): Promise<Sleeping> {
  const p = await aPipeline({ now: Date.parse(at) - hour });
  const { id, chatId } = await p.create({ schedule: { kind: 'cron', cron, timezone: madrid }, policies });
  await p.store.changeChat(chatId, { timezone: madrid, settings: quiet === null ? {} : { quiet } }, p.time.now());
  await p.pass(hour);
  return { p, id, chatId };
}

/** When each message came, on the clocks of the world. */
async function heardBy(p: Pipeline, until: string): Promise<string[]> {
  const heard: string[] = [];
  let count = p.chat.shown.length;
  while (p.time.now() < Date.parse(until)) {
    await p.pass(30 * minute);
    for (const { text } of p.chat.shown.slice(count))
      heard.push(`${new Date(p.time.now()).toISOString().slice(0, 16)} ${text}`);
    count = p.chat.shown.length;
  }
  return heard;
}

/** A night as it goes by: a jump would make every slot in it a late one. */
async function sleep(p: Pipeline, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 30 * minute) await p.pass(30 * minute);
}

describe('a night', () => {
  it('lets nothing through, and at its end everything in its order, and one word about it in the base thread', async () => {
    const { p } = await asleep({ cron: '30 23,2 * * *' });
    expect(await heardBy(p, '2026-11-19T08:00:00Z')).toEqual([
      '2026-11-19T06:00 Stand up!',
      '2026-11-19T06:00 Stand up!',
      '2026-11-19T06:00 [bundle]',
    ]);
    expect(p.chat.shown.map(({ topic }) => topic === null)).toEqual([false, false, true]);
  });

  it.each([
    ['in which an hour is lost', '2027-03-27T18:00:00Z', '2027-03-28T05:00'],
    ['that is an hour longer', '2026-10-24T18:00:00Z', '2026-10-25T06:00'],
  ])('%s ends at seven on the wall', async (_name, at, end) => {
    const { p } = await asleep({ at, cron: '30 1 * * *' });
    expect(await heardBy(p, `${end}:30Z`)).toEqual([`${end} Stand up!`, `${end} [bundle]`]);
  });

  it('goes on over a restart, however often, and tells of itself once', async () => {
    const { p } = await asleep({ cron: '0 23,0,1 * * *' });
    let now = p;
    for (let passed = 0; passed < 13; passed += 1) {
      await now.pass(hour);
      now = now.restart();
      await now.settle();
    }
    expect(texts(p)).toEqual(['Stand up!', 'Stand up!', 'Stand up!', '[bundle]']);
  });

  it.each([
    ['8 hours', 8 * hour, ['Stand up!', '[bundle]'], [0, 1]],
    ['20 hours', 20 * hour, ['Stand up!'], [0]],
    ['3 days', 3 * day + 8 * hour, ['Stand up!', 'Stand up!'], [0, 0]],
  ] as const)(
    'in which the server was down to see its end is told of when somebody is, or what it held has a sound: %s',
    async (_name, awayMs, shown, silent) => {
      const { p } = await asleep({ cron: '0 23 * * *' });
      await sleep(p, 5 * hour);
      await p.time.advance(awayMs);
      await p.restart().settle();
      expect(texts(p).map((text) => text.split('\n')[0])).toEqual(shown);
      const rows = p.database.prepare(
        `select silent from deliveries where status = 'delivered' and kind in ('result', 'notice') order by kind`,
      );
      expect(rows.pluck().all()).toEqual(silent);
    },
  );

  it('holds back neither what is run by hand, nor what is run again, though something of the task waits', async () => {
    const { p, id } = await asleep({ cron: '0 23 * * *' });
    await sleep(p, 5 * hour);
    expect(texts(p)).toEqual([]);
    const actor = 'telegram:user:1001';
    await p.rooms.tasks.runNow({ taskId: id, actor });
    await p.settle();
    expect(texts(p)).toEqual(['Stand up!']);
    await sleep(p, 8 * hour);
    expect(texts(p)).toEqual(['Stand up!', 'Stand up!', '[bundle]']);
  });

  it('is none for an urgent task', async () => {
    const { p } = await asleep({ cron: '0 23 * * *', policies: { quiet: { mode: 'off' } } });
    await sleep(p, 5 * hour);
    expect(texts(p)).toEqual(['Stand up!']);
    await sleep(p, 8 * hour);
    expect(texts(p)).toEqual(['Stand up!']);
  });

  it('without holding anything has no word at its end', async () => {
    const { p } = await asleep({ cron: '0 23 * * *', quiet: { ...night, mode: 'silent' } });
    await sleep(p, 5 * hour);
    await sleep(p, 8 * hour);
    expect(texts(p)).toEqual(['Stand up!']);
  });

  it('is over for what waits when it is called off', async () => {
    const { p, chatId } = await asleep({ cron: '0 23 * * *' });
    await sleep(p, 5 * hour);
    await p.store.changeChat(chatId, { settings: {} }, p.time.now());
    await p.settle();
    expect(texts(p)).toEqual(['Stand up!', '[bundle]']);
    await sleep(p, 8 * hour);
    expect(texts(p)).toHaveLength(2);
  });

  it('drops what has grown too old', async () => {
    const { p } = await asleep({ cron: '0 23 * * *', policies: { max_age: 'PT1H' } });
    await sleep(p, 13 * hour);
    expect(p.database.prepare(`select status, error from deliveries where kind = 'result'`).all()).toMatchObject([
      { status: 'failed', error: 'too old: not delivered within max_age' },
    ]);
  });

  it('does not delay the topic of a task that runs first in it, but for the result', async () => {
    const { p } = await asleep({ cron: '0 23 * * *' });
    await sleep(p, 5 * hour);
    expect(p.chat.topics).toEqual([]);
    await sleep(p, 8 * hour);
    expect(p.chat.topics).toHaveLength(1);
    expect(p.chat.cards).toHaveLength(1);
  });

  it('in one chat is no matter for another', async () => {
    const { p } = await asleep({ cron: '0 23 * * *' });
    await p.create(
      { schedule: { kind: 'cron', cron: '0 23 * * *', timezone: madrid }, instructions: 'Good night.' },
      { threadKey: 'telegram:chat:-1009999' },
    );
    await sleep(p, 5 * hour);
    expect(texts(p)).toEqual(['Good night.']);
  });

  it('after night is told of each morning', async () => {
    const { p } = await asleep({ cron: '0 23 * * *' });
    await sleep(p, 3 * day);
    expect(texts(p).filter((text) => text === '[bundle]')).toHaveLength(3);
  });
});

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
    const { p } = await asleep({ cron: '0 23 * * *' });
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
