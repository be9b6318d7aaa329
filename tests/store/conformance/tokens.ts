import { expect, test } from 'vitest';
import { tokensMax, type NewToken } from '../../../src/app/use-cases/tokens.ts';
import { aTask, hour, minute, nine } from '../../support/builders.ts';
import type { OpenWorld, World } from '../../support/store-worlds.ts';
import { aChat, threadOf } from '../scenes.ts';

const api = 'system:api';
let made = 0;

function aToken(facts: Partial<NewToken> = {}): NewToken {
  made += 1;
  return {
    id: `token-${String(made).padStart(4, '0')}`,
    name: `token-${made}`,
    prefix: `prefix-${made}`,
    hash: `hash-${made}`,
    scopes: ['run'],
    threads: null,
    expiresAt: null,
    by: api,
    at: nine,
    traceId: null,
    newChatIds: (facts.threads ?? []).map((_one, index) => `chat-of-${made}-${index}`),
    ...facts,
  };
}

const page = { limit: 50, cursor: null };

async function deeds(world: World) {
  return (await world.store.readAudit({ taskId: null, ...page })).items.map(({ verb, actor }) => [verb, actor]);
}

export function tokenTests(open: OpenWorld): void {
  test('a token is found by its prefix, with its scopes and the chats that it holds for', async () => {
    const world = await open();
    const chat = await aChat(world, '-100');
    const token = aToken({ threads: [threadOf('-100'), { provider: 'cli', address: 'default', topic: null }] });
    const { token: view, entryId } = await world.store.makeToken(token);
    expect(view).toMatchObject({ name: token.name, scopes: ['run'], createdBy: api, lastUsedAt: null });
    expect(view.threads).toEqual([
      { provider: 'cli', address: 'default', topic: null },
      { provider: 'telegram', address: '-100', topic: null },
    ]);
    const known = await world.store.tokenBy(token.prefix);
    expect(known).toMatchObject({ id: token.id, hash: token.hash, scopes: ['run'], expiresAt: null, revokedAt: null });
    expect(new Set(known?.chats)).toEqual(new Set([chat.id, token.newChatIds[1]]));
    expect(await world.store.tokenBy('other')).toBeNull();
    await world.store.makeToken(aToken());
    expect((await world.store.tokenBy(`prefix-${made}`))?.chats).toBeNull();
    expect([entryId, await deeds(world)]).toEqual([
      expect.any(String),
      [
        ['make_token', api],
        ['make_token', api],
      ],
    ]);
  });

  test('a token is refused for a chat that is not known, and under a name that another one bears', async () => {
    const { store } = await open();
    await expect(store.makeToken(aToken({ threads: [threadOf('-404')] }))).rejects.toThrow('telegram:chat:-404');
    const first = aToken({ name: 'ci' });
    await store.makeToken(first);
    await expect(store.makeToken(aToken({ name: 'ci' }))).rejects.toThrow('called ci already');
    await store.revokeToken({ id: first.id, by: api, at: nine, traceId: null });
    await store.makeToken(aToken({ name: 'ci' }));
    for (let count = 1; count < tokensMax; count += 1) await store.makeToken(aToken());
    await expect(store.makeToken(aToken())).rejects.toThrow(`${tokensMax} tokens`);
  });

  test('tokens are listed newest first, a page at a time, and counted', async () => {
    const { store } = await open();
    const [one, two, three] = [aToken({ expiresAt: nine }), aToken({ expiresAt: nine + 1 }), aToken()];
    for (const token of [one, two, three]) await store.makeToken(token);
    const first = await store.listTokens({ limit: 2, cursor: null });
    const rest = await store.listTokens({ limit: 2, cursor: first.next });
    expect([first.items.map(({ id }) => id), rest.items.map(({ id }) => id), rest.next]).toEqual([
      [three.id, two.id],
      [one.id],
      null,
    ]);
    expect(await store.countTokens(nine)).toEqual({ live: 2, expired: 1 });
  });

  test('a token is revoked once, and for good; the tasks that it made are counted', async () => {
    const world = await open();
    const token = aToken();
    await world.store.makeToken(token);
    await aTask(world, { actor: `api:token:${token.id}` });
    const revoking = { id: token.id, by: api, traceId: null } as const;
    const first = await world.store.revokeToken({ ...revoking, at: nine });
    expect(first).toMatchObject({ tasks: 1, token: { revokedAt: nine, revokedBy: api } });
    const again = await world.store.revokeToken({ ...revoking, at: nine + hour });
    expect(again).toMatchObject({ tasks: 1, entryId: null, token: { revokedAt: nine } });
    expect(await world.store.revokeToken({ ...revoking, id: 'none', at: nine })).toBeNull();
    expect((await world.store.tokenBy(token.prefix))?.revokedAt).toBe(nine);
  });

  test('the last use is noted once a minute', async () => {
    const { store } = await open();
    const token = aToken();
    await store.makeToken(token);
    const used = async () => (await store.listTokens(page)).items[0]?.lastUsedAt;
    await store.markTokenUsed(token.id, nine);
    await store.markTokenUsed(token.id, nine + minute - 1);
    expect(await used()).toBe(nine);
    await store.markTokenUsed(token.id, nine + minute);
    expect(await used()).toBe(nine + minute);
  });

  test('a token of a chat that another one takes in holds for that one', async () => {
    const world = await open();
    const old = await aChat(world, '-1');
    await aChat(world, '-1002');
    const young = aToken({ threads: [threadOf('-1002')] });
    const both = aToken({ threads: [threadOf('-1'), threadOf('-1002')] });
    for (const token of [young, both]) await world.store.makeToken(token);
    await world.store.moveChat('-1', '-1002', nine);
    for (const { prefix } of [young, both]) expect((await world.store.tokenBy(prefix))?.chats).toEqual([old.id]);
  });
}
