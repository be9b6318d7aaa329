import { afterEach, describe, expect, it } from 'vitest';
import { buttons } from '../../src/telegram/chat/chat.ts';
import { shortId } from '../../src/telegram/chat/kit/press.ts';
import { chanceFrom, type Chance } from '../support/chance.ts';
import { ben, hour, lab, minute, stopBots, type Bot } from './bot.ts';
import { aTask, select } from './deliveries.ts';
import { ask, aTalkingBot, forge, madeWithTopic } from './dialogue.ts';

afterEach(stopBots);

/** A group with everything in it that a button could be about. */
async function aFullLab() {
  const bot = await aTalkingBot({ TELEGRAM_CHATS: `${lab},${ben}` });
  await bot.say('ada', lab, '/tz UTC');
  await bot.say('ben', ben, '/start');
  const lunch = await madeWithTopic(bot, ['ada', lab], 'every day at 12 Lunch');
  await aTask(bot, {
    title: 'Pill',
    text: 'Take it.',
    cron: '30 9 * * *',
    more: { policies: { ack: { nag_every: 'PT12H' } } },
  });
  await aTask(bot, {
    title: 'Report',
    text: 'All is well.',
    cron: '30 9 * * *',
    more: { policies: { approval: 'required' } },
  });
  await aTask(bot, { title: 'Backup', text: 'Done.', cron: '0 10,11,12 * * *', more: { policies: { missed: 'ask' } } });
  await bot.pass(45 * minute);
  const again = await bot.restart({ awayMs: 3 * hour });
  await again.pass(minute);
  await again.pass(minute);
  await ask(again, ['ada', lab], '/new every day at 15 Tea');
  await again.say('ada', lab, '/new');
  await again.say('ada', lab, '/delete #1');
  return { bot: again, lunch };
}

interface Pool {
  readonly own: readonly string[];
  readonly rest: readonly string[];
}

/** Data that somebody who looks at all buttons of a chat, or guesses, may put into one. */
function poolOf(bot: Bot): Pool {
  const ids = (sql: string) => select<{ id: string }>(bot, sql).map(({ id }) => id);
  const own = [
    ...ids('select id from tasks'),
    ...ids('select id from occurrences'),
    ...ids('select id from runs'),
    ...ids('select id from deliveries order by id desc limit 12'),
    ...ids('select id from drafts'),
    ...ids('select id from chats'),
    ...ids('select id from audit order by id desc limit 3'),
  ];
  const words = [
    'latest',
    'all',
    'none',
    'y',
    'n',
    '0',
    '1',
    '-1',
    '2',
    '99',
    '1e9',
    '4.5',
    'NaN',
    '',
    '%00',
    '‮',
    '{"a":1}',
  ];
  const fields = [
    'title',
    'text',
    'when',
    'zone',
    'ack',
    'approval',
    'missed',
    'quiet',
    'create',
    'reactions',
    'dates',
    'hold',
    'silent',
    'off',
    'on',
  ];
  const zones = [
    'Europe/Madrid',
    'UTC',
    '22.00',
    '07.00',
    '2026-11-19',
    '1795000000000',
    String(lab),
    String(ben),
    '1001',
    '1003',
  ];
  const named = [...own.map((id) => shortId(id)), ...own];
  return { own: named, rest: [...named, ...words, ...fields, ...zones] };
}

/** Most buttons name what they are about first. */
function someData(random: Chance, { own, rest }: Pool, verb: string): string {
  for (;;) {
    const args = Array.from({ length: random.between(0, 3) }, () => random.pick(rest));
    const first = random.next() < 0.8 ? [random.pick(own)] : [];
    const data = ['v1', verb, ...first, ...args].join(':');
    if (Buffer.byteLength(data) <= 64) return data;
  }
}

/** The state that none of them may change: what tasks are and do, what was decided, who may what. */
function stateOf(bot: Bot) {
  // Tasks that they make of their own, where they may, are theirs.
  const theirs = `task_id in (select id from tasks where owner_id = 'telegram:user:1001')`;
  return {
    tasks: select(
      bot,
      "select id, title, state, version, policies, instructions, cron, topic_id, next_at from tasks where owner_id = 'telegram:user:1001' order by id",
    ),
    runs: select(bot, `select count(*) as runs from runs where ${theirs}`),
    occurrences: select(bot, `select id, status, decide_by from occurrences where ${theirs} order by id`),
    results: select(bot, `select id, status, cause from deliveries where kind = 'result' and ${theirs} order by id`),
    acks: select(bot, `select occurrence_id, status from acks where status <> 'done' order by occurrence_id`),
    chats: select(
      bot,
      `select id, state, timezone, settings, approved_by from chats where address not in ('1002', '1003') order by id`,
    ),
    removals: select(bot, `select id from deliveries where kind = 'removeTopic'`),
    grants: select(bot, `select * from grants where owner_id = 'telegram:user:1001' order by id`),
  };
}

const seed = 1;
const rounds = 2;

describe('buttons that somebody has made up', () => {
  it.each([
    ['a member', 'ben', lab],
    ['a member in a private chat', 'ben', ben],
  ] as const)('of %s change nothing, break nothing, and are answered', async (_name, as, chat) => {
    const { bot } = await aFullLab();
    const random = chanceFrom(seed);
    const carrier = bot.world
      .messages(chat, { limit: 500 })
      .findLast((message) => message.from === 'bot' && message.service === null);
    if (carrier === undefined) throw new Error('there is no message to forge');
    const pool = poolOf(bot);
    const before = stateOf(bot);
    const errors = () => bot.log.lines.filter(({ level }) => level === 'error');
    const clean = errors().length;
    for (let round = 0; round < rounds; round += 1) {
      for (const verb of buttons.keys()) {
        // They may say that something is done, which anybody in the group may.
        if (verb === 'done' || verb === 'notdone') continue;
        const data = someData(random, pool, verb);
        const forged = await forge(bot, carrier, data);
        // A person who is too fast is told that alone.
        await bot.pass(minute / 15);
        const told = await bot.press(as, forged, 'forged').catch((error: unknown) => String(error));
        expect([seed, data, told]).toEqual([
          seed,
          data,
          expect.objectContaining({ alert: expect.any(Boolean) as boolean }),
        ]);
        expect([data, errors().slice(clean)]).toEqual([data, []]);
        expect([data, stateOf(bot)]).toEqual([data, { ...before }]);
      }
    }
    expect(select(bot, `select error from inbox where status = 'failed'`)).toEqual([]);
  });
});
