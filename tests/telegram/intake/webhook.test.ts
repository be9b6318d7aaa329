import { expect, it } from 'vitest';
import { AppError } from '../../../src/domain/errors.ts';
import { aSandbox } from '../../support/sandbox.ts';
import { worldsOf } from '../../support/store-worlds.ts';
import { aDoorway, until } from './doorway.ts';
import { messageUpdate } from './updates.ts';

const open = worldsOf('sqlite');

const webhook = { url: 'https://here.example/telegram', secret: 'a-secret-of-the-webhook' };
const header = 'x-telegram-bot-api-secret-token';
const known = { [header]: webhook.secret };
const body = JSON.stringify(messageUpdate({ id: 7 }));

it('tells the platform where to bring updates, with its secret, and does not poll', async () => {
  const doorway = await aDoorway({ settings: { webhook } });
  const { world } = doorway.served;
  await until(() => world.calls().some(({ method }) => method === 'setWebhook'));
  const call = world.calls().find(({ method }) => method === 'setWebhook');
  // The list of calls shows no secret.
  expect(call?.params).toMatchObject({ url: webhook.url, secret_token: '***' });
  expect(call?.params['allowed_updates']).toContain('chat_member');
  expect(world.calls().some(({ method }) => method === 'getUpdates')).toBe(false);
  await until(() => doorway.inbound.health().ok);
});

it('takes an update from whoever knows the secret, and from nobody else', async () => {
  const doorway = await aDoorway({ settings: { webhook } });
  await until(() => doorway.inbound.health().ok);
  const { handle } = doorway.inbound.webhook;
  expect(await handle({}, body)).toBe(401);
  expect(await handle({ [header]: 'a-secret-of-the-webhooK' }, body)).toBe(401);
  expect(await handle({ [header]: `${webhook.secret}x` }, body)).toBe(401);
  expect(await handle(known, body)).toBe(200);
  await doorway.inbound.idle();
  expect(doorway.saids).toHaveLength(1);
});

it('has stored the update when it answers', async () => {
  const doorway = await aDoorway({ settings: { webhook }, said: () => new Promise(() => {}) });
  await until(() => doorway.inbound.health().ok);
  expect(await doorway.inbound.webhook.handle(known, body)).toBe(200);
  expect(await doorway.query('select update_id from inbox')).toHaveLength(1);
});

it.each(['', 'not JSON', '[]', '{"update_id":"7"}', '{"update_id":-1}', 'null'])(
  'refuses what is no update: %s',
  async (text) => {
    const doorway = await aDoorway({ settings: { webhook } });
    await until(() => doorway.inbound.health().ok);
    expect(await doorway.inbound.webhook.handle(known, text)).toBe(400);
  },
);

it('has the platform come again while it cannot take anything', async () => {
  const served = await aSandbox();
  served.world.fault({ kind: '500', method: 'getMe', count: 1 });
  const world = await open();
  let isAway = true;
  const store = {
    ...world.store,
    receiveUpdates: (...args: Parameters<typeof world.store.receiveUpdates>) => {
      if (isAway) throw new AppError('store_unavailable', 'The disk is full.');
      return world.store.receiveUpdates(...args);
    },
  };
  const doorway = await aDoorway({ world, served, settings: { webhook }, needs: { store } });
  expect(await doorway.inbound.webhook.handle(known, body)).toBe(503);
  await until(() => doorway.log.lines.some(({ event }) => event === 'telegram_trouble'));
  await doorway.time.advance(1000);
  await until(() => doorway.inbound.health().ok);
  expect(await doorway.inbound.webhook.handle(known, body)).toBe(503);
  isAway = false;
  expect(await doorway.inbound.webhook.handle(known, body)).toBe(200);
  await served.close();
});

it('is no door where updates are polled', async () => {
  const doorway = await aDoorway();
  expect(await doorway.inbound.webhook.handle(known, body)).toBe(404);
});

it('leaves to the table what comes while all hands are full, and reads it from there in order', async () => {
  const world = await open();
  let isHeld = true;
  let pages = 0;
  const store = {
    ...world.store,
    openUpdates: (after: number, limit: number) => {
      pages += 1;
      return world.store.openUpdates(after, limit);
    },
  };
  const said = async () => {
    await until(() => !isHeld);
    return { replies: [] };
  };
  const doorway = await aDoorway({ world, settings: { webhook }, needs: { store }, said });
  await until(() => doorway.inbound.health().ok);
  const many = 230;
  for (let id = 1; id <= many; id += 1) {
    expect(await doorway.inbound.webhook.handle(known, JSON.stringify(messageUpdate({ id })))).toBe(200);
  }
  isHeld = false;
  await doorway.inbound.idle();
  expect(doorway.saids.map(({ updateId }) => updateId)).toEqual(
    Array.from({ length: many }, (_none, index) => index + 1),
  );
  expect(pages).toBeGreaterThan(1);
  const inHand = pages;
  expect(await doorway.inbound.webhook.handle(known, JSON.stringify(messageUpdate({ id: many + 1 })))).toBe(200);
  await doorway.inbound.idle();
  expect(doorway.saids).toHaveLength(many + 1);
  // With hands free an update is handed over as it was stored.
  expect(pages).toBe(inHand);
});
