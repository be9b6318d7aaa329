import { expect, it, onTestFinished } from 'vitest';
import { noHints } from '../../../src/app/ports/hints.ts';
import { aProcess } from '../../support/builders.ts';
import { manualTime } from '../../support/fakes.ts';
import { aSandbox, sandboxStart } from '../../support/sandbox.ts';
import { worldsOf, type World } from '../../support/store-worlds.ts';
import { ada, aDoorway, lab, untilLater, type Doorway, type DoorwayOptions } from './doorway.ts';
import { messageUpdate } from './updates.ts';

const open = worldsOf('sqlite');
const secret = { 'x-telegram-bot-api-secret-token': 'word' };

/** Several processes over one database, each of which takes updates in. */
async function replicas(settings: DoorwayOptions['settings'] = {}) {
  const world = await open();
  const time = manualTime(sandboxStart);
  const served = await aSandbox({ time });
  onTestFinished(() => served.close());
  // No renewal is heard, so each of them asks for itself.
  const others = { hints: noHints, processes: { onRenewal: () => () => undefined }, wall: time };
  const join = async (bootId: string): Promise<Doorway> => {
    await world.store.enrol({ id: bootId, ...aProcess }, false);
    return aDoorway({ world, served, time, settings, needs: { bootId, others } });
  };
  return { world, time, served, first: await join('boot-a'), second: await join('boot-b') };
}

const statuses = ({ served }: Doorway, status: number) =>
  served.world.calls(0, 2000).filter((call) => call.status === status).length;

async function said(world: World): Promise<string[]> {
  const rows = await world.query<{ payload: string }>(
    `select payload from inbox where status = 'done' order by update_id`,
  );
  return rows.map(({ payload }) => (JSON.parse(payload) as { message: { text: string } }).message.text);
}

it('polls from one process, and from another one within seconds of its end, without a storm of conflicts', async () => {
  const { world, time, served, first, second } = await replicas();
  const polls = ({ log }: Doorway) => log.lines.filter(({ event }) => event === 'lease_taken').length;
  await untilLater(time, () => polls(first) + polls(second) === 1);
  served.world.say({ as: 'ada', chat: lab, text: '/new one' });
  await untilLater(time, () => first.saids.length + second.saids.length === 1);
  const [holder, other] = polls(first) === 1 ? [first, second] : [second, first];
  expect(polls(other)).toBe(0);
  expect(other.inbound.health()).toMatchObject({ ok: true });

  // It hangs with its lease, and nobody tells the other one.
  await world.store.retire(holder === first ? 'boot-a' : 'boot-b', time.now());
  const from = time.elapsed();
  await untilLater(time, () => polls(other) === 1);
  expect(time.elapsed() - from).toBeLessThan(22_000);
  served.world.say({ as: 'ada', chat: lab, text: '/new two' });
  await untilLater(time, () => first.saids.length + second.saids.length === 2);
  await untilLater(time, () => time.elapsed() - from > 120_000);
  expect(statuses(first, 409)).toBeLessThan(5);
  expect(other.log.lines.filter(({ event }) => event === 'telegram_trouble')).toEqual([]);
});

it('handles an update once that two processes are given at the same time, and keeps the order of a thread', async () => {
  const webhook = { url: 'https://bot.example/telegram', secret: 'word' };
  const { world, time, first, second } = await replicas({ webhook });
  for (const one of [first, second])
    await untilLater(time, () => one.log.lines.some(({ event }) => event === 'telegram_connected'));
  const bring = (one: Doorway, id: number) =>
    one.inbound.webhook.handle(secret, JSON.stringify(messageUpdate({ id, text: `/new ${id}` })));
  for (let id = 1; id <= 12; id += 1) {
    const [one, other] = id % 2 === 0 ? [first, second] : [second, first];
    expect(await Promise.all([bring(one, id), bring(other, id)])).toEqual([200, 200]);
  }
  await untilLater(time, () => first.saids.length + second.saids.length >= 12);
  await untilLater(time, async () => (await said(world)).length === 12);
  const heard = [...first.saids, ...second.saids].map(({ args }) => Number(args));
  expect(heard.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 12 }, (_none, index) => index + 1));
  for (const { saids } of [first, second]) {
    const own = saids.map(({ args }) => Number(args));
    expect(own).toEqual(own.toSorted((a, b) => a - b));
  }
});

it('shows the code of the first owner in one process, and takes it in every one', async () => {
  const webhook = { url: 'https://bot.example/telegram', secret: 'word' };
  const { time, first, second } = await replicas({ owners: [], chats: [], webhook });
  for (const one of [first, second])
    await untilLater(time, () => one.log.lines.some(({ event }) => event === 'telegram_connected'));
  const shown = [...first.claims, ...second.claims];
  expect(shown).toHaveLength(1);
  const other = first.claims.length === 0 ? first : second;
  const start = { text: `/start ${shown[0] ?? ''}`, from: ada, chat: ada };
  expect(await other.inbound.webhook.handle(secret, JSON.stringify(messageUpdate({ id: 1, ...start })))).toBe(200);
  await untilLater(time, () => other.saids.length === 1);
  expect([first, second].map(({ inbound }) => inbound.isClaimable())).toContain(false);
});
