import { expect, it } from 'vitest';
import type { Membership, Platform } from '../../../src/app/ports/outside.ts';
import { systemClock } from '../../../src/system/clock.ts';
import type { TelegramApi } from '../../../src/telegram/api.ts';
import { createPlatform } from '../../../src/telegram/platform.ts';
import { aTask } from '../../support/builders.ts';
import { hour, minute } from '../../support/fakes.ts';
import { worldsOf } from '../../support/store-worlds.ts';
import { ada, aDoorway, ben, lab, mallory, type Doorway } from './doorway.ts';
import { messageUpdate, personOf, stored } from './updates.ts';

const open = worldsOf('sqlite');

/** Nobody is an owner, so that it is the chat that says who is what. */
const settings = { owners: [], chats: [String(lab)] };

const askedOf = ({ served }: Doorway) =>
  served.world.calls(0, 1000).filter(({ method }) => method === 'getChatMember').length;

it('asks the platform who somebody is, believes it for ten minutes, and asks again', async () => {
  const doorway = await aDoorway({ settings });
  const say = async (as: string) => {
    await doorway.says(as, '/new');
  };
  await say('ada');
  await say('ben');
  expect(doorway.saids.map(({ person }) => person)).toMatchObject([
    { id: ada, isOwner: false, isAdmin: true },
    { id: ben, isOwner: false, isAdmin: false },
  ]);
  await doorway.time.advance(9 * minute);
  await say('ben');
  expect(askedOf(doorway)).toBe(2);
  await doorway.time.advance(minute);
  await say('ben');
  expect(askedOf(doorway)).toBe(3);
});

it('hears of a change at once where the platform tells', async () => {
  const doorway = await aDoorway({ settings });
  const { world } = doorway.served;
  await doorway.says('ben', '/new');
  world.setMember(lab, 'ben', 'administrator');
  await doorway.settled();
  await doorway.says('ben', '/new');
  expect(doorway.saids.map(({ person }) => person.isAdmin)).toEqual([false, true]);
  world.setMember(lab, 'ben', 'left');
  await doorway.settled();
  const status = `select status from members where user_id = 'telegram:user:${ben}'`;
  expect(await doorway.query(status)).toEqual([{ status: 'out' }]);
  expect(askedOf(doorway)).toBe(1);
});

/** A platform that answers as it is told. */
function scripted(): Platform & { answer: Membership; asked: number } {
  return {
    answer: { is: 'known', status: 'member' },
    asked: 0,
    async member() {
      this.asked += 1;
      return this.answer;
    },
    tell: async () => ({ is: 'sent', messageId: 1 }),
  };
}

it('holds to the last answer for a day while the platform is away, and then asks to try again', async () => {
  const platform = scripted();
  platform.answer = { is: 'known', status: 'admin' };
  const doorway = await aDoorway({ settings, needs: { platform } });
  const say = async () => {
    await doorway.says('ben', '/new');
  };
  await say();
  platform.answer = { is: 'unreached', error: 'no route' };
  doorway.time.setWall(doorway.time.now() + 23 * hour);
  await say();
  expect(doorway.saids.map(({ person }) => person.isAdmin)).toEqual([true, true]);
  expect(platform.asked).toBe(2);
  doorway.time.setWall(doorway.time.now() + hour);
  await say();
  expect(doorway.saids).toHaveLength(2);
  expect((await doorway.words()).at(-1)).toMatch(/cannot ask Telegram/);
});

it('lets nobody in of whom nothing is known while the platform is away', async () => {
  const platform = scripted();
  platform.answer = { is: 'unreached', error: 'no route' };
  const doorway = await aDoorway({ settings, needs: { platform } });
  await doorway.says('ben', '/new');
  expect(doorway.saids).toEqual([]);
  expect(await doorway.words()).toEqual([expect.stringMatching(/cannot ask Telegram/)]);
});

it('asks again when the clock was set back', async () => {
  const platform = scripted();
  const doorway = await aDoorway({ settings, needs: { platform } });
  await doorway.says('ben', '/new');
  doorway.time.setWall(doorway.time.now() - 10 * hour);
  await doorway.says('ben', '/new');
  expect(platform.asked).toBe(2);
});

it('says nothing to somebody who is not in the chat, and tells a press so', async () => {
  const world = await open();
  const platform = scripted();
  platform.answer = { is: 'known', status: 'out' };
  const doorway = await aDoorway({ world, settings, needs: { platform }, isStarted: false });
  const press = {
    update_id: 2,
    callback_query: {
      id: 'q',
      from: personOf(mallory),
      data: 'v1:run:1',
      message: { message_id: 4, date: 1, chat: { id: lab, type: 'supergroup', title: 'The Lab' } },
    },
  };
  await world.store.receiveUpdates([stored(messageUpdate({ id: 1, from: mallory })), stored(press)], 1);
  await doorway.starts();
  expect(doorway.saids).toEqual([]);
  expect(doorway.presses).toEqual([]);
  expect(await doorway.words()).toEqual([]);
  const [call] = doorway.served.world.calls().filter(({ method }) => method === 'answerCallbackQuery');
  expect(call?.params['text']).toBe('You cannot use me in this chat.');
});

it('asks an anonymous admin to post as themselves, when a command is meant for it', async () => {
  const world = await open();
  const doorway = await aDoorway({ world, isStarted: false });
  const group = {
    from: { id: 1_087_968_824, is_bot: true, first_name: 'Group' },
    sender_chat: { id: lab, type: 'supergroup' },
  };
  await world.store.receiveUpdates(
    [
      stored(messageUpdate({ id: 1, text: '/new', more: group })),
      stored(messageUpdate({ id: 2, text: 'chatter', more: group })),
      stored(messageUpdate({ id: 3, text: '/weather', more: group })),
    ],
    1,
  );
  await doorway.starts();
  expect(doorway.saids).toEqual([]);
  expect(await doorway.words()).toEqual([expect.stringMatching(/Post as yourself/)]);
});

it('learns who came and who left from the words of the platform', async () => {
  const world = await open();
  const doorway = await aDoorway({ world, isStarted: false });
  const came = { text: undefined, new_chat_members: [personOf(ben), { id: 5, is_bot: true, first_name: 'Bot' }] };
  const left = { text: undefined, left_chat_member: personOf(mallory) };
  await world.store.receiveUpdates(
    [stored(messageUpdate({ id: 1, more: came })), stored(messageUpdate({ id: 2, more: left }))],
    1,
  );
  await doorway.starts();
  expect(await doorway.query('select user_id, status from members order by user_id')).toEqual([
    { user_id: `telegram:user:${ben}`, status: 'member' },
    { user_id: `telegram:user:${mallory}`, status: 'out' },
  ]);
});

/** A platform on which all accounts have been deleted since: they stay in the lists of members, without their names. */
function nameless(api: TelegramApi): Pick<TelegramApi, 'ask'> {
  return {
    ask: (call, ms) =>
      api.ask((raw, signal) => {
        const getChatMember = async (asked: Parameters<typeof raw.getChatMember>[0]) => {
          const member = await raw.getChatMember(asked, signal);
          return { ...member, user: { ...member.user, first_name: '' } };
        };
        const left = new Proxy(raw, {
          get: (known, name): unknown => (name === 'getChatMember' ? getChatMember : Reflect.get(known, name)),
        });
        return call(left, signal);
      }, ms),
  };
}

it('knows that somebody whose account was deleted is out of every chat', async () => {
  const { api } = await aDoorway();
  const platform = createPlatform(nameless(api), { clock: systemClock, defaultTimezone: 'UTC' });
  expect(await platform.member(String(lab), `telegram:user:${ben}`)).toEqual({
    is: 'known',
    status: 'out',
  });
});

it('lets the tasks of somebody who is back go on at once', async () => {
  const world = await open();
  const doorway = await aDoorway({ world });
  const { served, rings, query, settled } = doorway;
  const ownerId = `telegram:user:${ben}` as const;
  await aTask(world, { home: { provider: 'telegram', address: String(lab), topic: null }, ownerIfNone: ownerId });
  const waits = () => query(`select resume_at from tasks where resume_at is null and owner_id = ?t`, ownerId);
  served.world.setMember(lab, 'ben', 'left');
  await settled();
  await query(`update tasks set state = 'paused', next_at = null, paused_reason = 'auto:owner_gone'`);
  const before = rings.length;
  expect(await waits()).toHaveLength(1);
  served.world.setMember(lab, 'ben', 'member');
  await settled();
  expect([await waits(), rings.slice(before).filter((room) => room === 'scheduler')]).toEqual([[], ['scheduler']]);
});

it('knows of each person in a chat what the platform says', async () => {
  const doorway = await aDoorway();
  const platform = createPlatform(doorway.api, { clock: doorway.time, defaultTimezone: 'UTC' });
  const status = async (id: number) => platform.member(String(lab), `telegram:user:${id}`);
  expect(await status(ada)).toEqual({ is: 'known', status: 'admin' });
  expect(await status(ben)).toEqual({ is: 'known', status: 'member' });
  expect(await status(mallory)).toEqual({ is: 'known', status: 'out' });
  expect(await status(424_242)).toEqual({ is: 'known', status: 'out' });
  expect(await platform.member(String(lab), 'system:api')).toMatchObject({ is: 'refused' });
  expect(await platform.member('-100999', `telegram:user:${ben}`)).toMatchObject({ is: 'refused' });
  doorway.served.world.fault({ kind: '500', method: 'getChatMember', count: 1 });
  expect(await status(ben)).toMatchObject({ is: 'unreached' });
});
