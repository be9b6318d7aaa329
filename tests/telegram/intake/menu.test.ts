import { expect, it } from 'vitest';
import { aSandbox } from '../../support/sandbox.ts';
import { worldsOf } from '../../support/store-worlds.ts';
import { ada, aDoorway, ben, until, untilLater, type Doorway, aSettledDoorway } from './doorway.ts';

const open = worldsOf('sqlite');

/** What was asked for, by scope. */
function menus({ served }: Doorway): Readonly<Record<string, readonly string[]>> {
  const calls = served.world
    .calls(0, 1000)
    .filter(({ method, status }) => method === 'setMyCommands' && status === 200);
  return Object.fromEntries(
    calls.map(({ params }) => {
      const scope = params['scope'] as { type: string; chat_id?: number };
      const commands = params['commands'] as readonly { command: string }[];
      return [scope.chat_id === undefined ? scope.type : String(scope.chat_id), commands.map(({ command }) => command)];
    }),
  );
}

const everybody = ['start', 'new', 'tasks'];

it('shows each circle of people what is for them', async () => {
  const doorway = await aDoorway();
  doorway.served.world.say({ as: 'ada', chat: ada, text: '/start' });
  await until(() => Object.keys(menus(doorway)).length === 5);
  expect(menus(doorway)).toEqual({
    default: everybody,
    all_private_chats: [...everybody, 'purge'],
    all_group_chats: everybody,
    all_chat_administrators: [...everybody, 'purge'],
    [ada]: [...everybody, 'purge', 'allow'],
  });
});

it('asks for nothing again at the next start', async () => {
  const world = await open();
  const served = await aSandbox();
  served.world.say({ as: 'ada', chat: ada, text: '/start' });
  const first = await aDoorway({ world, served });
  await until(() => Object.keys(menus(first)).length === 5);
  await first.settled();
  await first.inbound.stop(1000);
  const before = served.world.calls(0, 1000).length;
  const second = await aDoorway({ world, served });
  served.world.say({ as: 'ada', chat: ada, text: '/new' });
  await second.settled();
  const after = served.world.calls(0, 1000).slice(before);
  expect(after.filter(({ method }) => method === 'setMyCommands')).toEqual([]);
  await served.close();
});

it('tries again later, and lets nobody wait for it', async () => {
  const served = await aSandbox();
  served.world.say({ as: 'ada', chat: ada, text: '/start' });
  served.world.fault({ kind: '500', method: 'setMyCommands', count: 2 });
  const doorway = await aSettledDoorway({ served });
  expect(doorway.saids).toHaveLength(1);
  await until(() => doorway.log.lines.some(({ event }) => event === 'menu_not_set'));
  await untilLater(doorway.time, () => Object.keys(menus(doorway)).length === 5);
  await served.close();
});

it('gives a new owner the menu of owners', async () => {
  const doorway = await aDoorway({ settings: { owners: [], chats: [] } });
  await doorway.says('ben', '/start secret-code-1', ben);
  await until(() => menus(doorway)[String(ben)] !== undefined);
  expect(menus(doorway)[String(ben)]).toContain('allow');
});
