import { expect, test } from 'vitest';
import type { PutSecret, SecretPlace } from '../../../src/app/ports/secrets.ts';
import { DAY_MS as day } from '../../../src/domain/schedule/time/calendar.ts';
import { aTask, minute, nine } from '../../support/builders.ts';
import { countingIds } from '../../support/fakes.ts';
import type { OpenWorld, World } from '../../support/store-worlds.ts';
import { atOnce, won } from '../at-once.ts';
import { aChat, aMessage, owner, someone, threadOf } from '../scenes.ts';

const [group, supergroup] = ['-100', '-1001'];
const ids = countingIds();
const inChat = (address: string) => ({ home: threadOf(address) });
const sealed = { keyId: 'k1', box: 'one' };
const lab: SecretPlace = threadOf(group);

/** Sets it under the id that it has, or a new one. */
async function put({ store }: Pick<World, 'store'>, asked: Partial<PutSecret> & { name: string }) {
  const made: PutSecret = {
    place: lab,
    newChatId: ids.next(),
    id: ids.next(),
    sealed,
    by: someone,
    at: nine,
    ...asked,
  };
  const first = await store.putSecret(made);
  const answer = first.is === 'other' ? await store.putSecret({ ...made, id: first.id }) : first;
  if (answer.is === 'put') return answer.secret;
  throw new Error('it changed its row between two looks');
}

/** Secrets, as they are kept: sealed, by chat and by name. */
export function secretTests(open: OpenWorld): void {
  test('a secret has one row for each chat and name, and the operator has names of their own', async () => {
    const world = await open();
    const first = await put(world, { name: 'KEY', hosts: ['a.example.com', '*.b.example'] });
    const other = await put(world, { name: 'KEY', place: null, by: owner, chats: ['-1', '-2'] });
    const again = await put(world, { name: 'KEY', at: nine + minute, by: owner, sealed: { keyId: 'k2', box: 'two' } });

    expect(again).toEqual({ ...first, version: first.version + 1, setBy: owner, updatedAt: nine + minute });
    expect(await world.store.secretsOf(lab)).toEqual([again]);
    expect(await world.store.secretsOf(null)).toMatchObject([{ id: other.id, hosts: [], chats: ['-1', '-2'] }]);
    expect(await world.store.secretsOf(threadOf('-77'))).toEqual([]);
    expect(again.hosts).toEqual(['a.example.com', '*.b.example']);
  });

  test('of 10 who set one name at once all end on one row', async () => {
    const world = await open();
    for (const place of [lab, null])
      await atOnce(world, 10, async (store, index) => {
        const id = ids.next();
        return store.putSecret({
          place,
          newChatId: ids.next(),
          id,
          name: 'KEY',
          sealed,
          by: someone,
          at: nine + index,
        });
      });
    expect(await world.store.secretsOf(lab)).toHaveLength(1);
    expect(await world.store.secretsOf(null)).toHaveLength(1);
  });

  test('a run is shown the secrets of its chat and of the operator, and whether its owner owns the bot', async () => {
    const world = await open();
    const { id: chatId } = await aChat(world);
    for (const name of ['A', 'B', 'C']) await put(world, { name });
    await put(world, { name: 'A', place: null });
    await put(world, { name: 'A', place: threadOf('-77') });
    await world.store.changeUser(owner, { role: 'owner' }, nine);

    const scene = await world.store.secretScene({ names: ['A', 'B', 'X'], chatId, ownerId: owner });
    const found = scene.secrets.map(({ name, chatId: of }) => `${name} ${of === chatId ? 'chat' : String(of)}`);
    expect(found.toSorted()).toEqual(['A chat', 'A null', 'B chat']);
    expect(scene).toMatchObject({ isOwner: true, addresses: [group] });
    expect(await world.store.secretScene({ names: ['A'], chatId: null, ownerId: someone })).toMatchObject({
      secrets: [{ name: 'A', chatId: null, sealed }],
      isOwner: false,
      addresses: [],
    });
  });

  test('a thread leads to its chat and to whoever let that in, and one that nobody knows to none', async () => {
    const world = await open();
    const { id: chatId } = await aChat(world);
    expect(await world.store.secretChat(threadOf(group))).toEqual({ chatId, approvedBy: null });
    await world.store.changeChat(chatId, { approvedBy: owner }, nine);
    expect(await world.store.secretChat(threadOf(group))).toEqual({ chatId, approvedBy: owner });
    expect(await world.store.secretChat(threadOf('-77'))).toBeNull();
  });

  test('the tasks of the chat are told with the scopes of their grants', async () => {
    const world = await open();
    const task = await aTask(world, inChat(group));
    await aTask(world, inChat('-77'));
    expect(await world.store.secretUsers(lab)).toMatchObject([
      { taskId: task.id, number: 1, scopes: ['action:message'] },
    ]);
    expect(await world.store.secretUsers(null)).toEqual([]);
  });

  test('a value is replaced only where it is still the one that was read', async () => {
    const world = await open();
    const { id, version } = await put(world, { name: 'KEY' });
    const replaced = { id, version, sealed: { keyId: 'k1', box: 'two' }, at: nine + 1 };
    const results = await atOnce(world, 8, (store) => store.replaceSecret(replaced));
    expect(won(results).filter(Boolean)).toHaveLength(1);
    expect(await world.store.secretsOf(lab)).toMatchObject([{ version: version + 1, updatedAt: nine + 1 }]);
  });

  test('one that was deleted and set again is not taken for the one before', async () => {
    const world = await open();
    const { id, version } = await put(world, { name: 'KEY' });
    expect(await world.store.deleteSecret({ place: lab, name: 'KEY', by: someone, at: nine })).toBe(true);
    expect(await world.store.deleteSecret({ place: lab, name: 'KEY', by: someone, at: nine })).toBe(false);
    await put(world, { name: 'KEY', id, at: nine + 1 });
    expect(await world.store.replaceSecret({ id, version, sealed, at: nine + 2 })).toBe(false);
  });

  test('who set and deleted a secret is told by audit and events, by name alone', async () => {
    const world = await open();
    const { id: chatId } = await aChat(world);
    await put(world, { name: 'KEY', traceId: 'trace-1' });
    await world.store.deleteSecret({ place: lab, name: 'KEY', by: owner, at: nine + 1 });

    const audit = await world.query('select verb, actor, chat_id, before, after, trace_id from audit order by id');
    expect(audit).toEqual([
      {
        verb: 'secret_set',
        actor: someone,
        chat_id: chatId,
        before: null,
        after: '{"name":"KEY","hosts":[],"chats":[]}',
        trace_id: 'trace-1',
      },
      { verb: 'secret_delete', actor: owner, chat_id: chatId, before: '{"name":"KEY"}', after: null, trace_id: null },
    ]);
    const events = await world.query(`select kind, chat_id from events order by id`);
    expect(events).toEqual(['secret.set', 'secret.delete'].map((kind) => ({ kind, chat_id: chatId })));
  });

  test('when it was used is noted', async () => {
    const world = await open();
    const { id } = await put(world, { name: 'KEY' });
    await world.store.useSecrets([id], nine + minute);
    expect(await world.store.secretsOf(lab)).toMatchObject([{ lastUsedAt: nine + minute, updatedAt: nine }]);
  });

  test('a chat has 100 of them, and a name that is there can still be set', async () => {
    const world = await open();
    for (let index = 0; index < 100; index += 1) await put(world, { name: `KEY_${index}` });
    await expect(put(world, { name: 'ONE_MORE' })).rejects.toMatchObject({ code: 'quota_exceeded' });
    await put(world, { name: 'KEY_7', at: nine + 1 });
    await put(world, { name: 'ONE_MORE', place: null });
    expect(await world.store.secretsOf(lab)).toHaveLength(100);
  });

  test('boxes of other keys are found page by page, and sealed anew unless they were replaced meanwhile', async () => {
    const world = await open();
    const names = ['A', 'B', 'C'];
    const made = await Promise.all(names.map((name) => put(world, { name })));
    const ids = made.map(({ id }) => id).toSorted();
    await put(world, { name: 'D', sealed: { keyId: 'k2', box: 'new' } });
    expect(await world.store.sealedKeys()).toEqual([
      { keyId: 'k1', count: 3 },
      { keyId: 'k2', count: 1 },
    ]);
    const page = await world.store.sealedByOthers({ keyId: 'k2', after: '', limit: 2 });
    expect(page).toEqual(ids.slice(0, 2).map((id) => ({ id, sealed })));
    expect(await world.store.sealedByOthers({ keyId: 'k2', after: ids[1] ?? '', limit: 2 })).toHaveLength(1);
    const anew = (id = '', old = 'one') => ({ id, old, sealed: { keyId: 'k2', box: 'anew' } });
    await world.store.sealAnew([anew(ids[0]), anew(ids[1], 'another'), anew(ids[2])]);
    expect(await world.query('select id, key_id, box from secrets where chat_id is not null order by id')).toEqual(
      expect.arrayContaining([
        { id: ids[0], key_id: 'k2', box: 'anew' },
        { id: ids[1], key_id: 'k1', box: 'one' },
        { id: ids[2], key_id: 'k2', box: 'anew' },
      ]),
    );
  });

  test('a chat that moves takes them along, and of two of one name the later one stays', async () => {
    const world = await open();
    await put(world, { name: 'OLD' });
    const later = await put(world, { name: 'BOTH', at: nine + 5 });
    await put(world, { name: 'BOTH', place: threadOf(supergroup) });
    await put(world, { name: 'ALSO' });
    const alsoLater = await put(world, { name: 'ALSO', place: threadOf(supergroup), at: nine + 5 });
    await world.store.moveChat(group, supergroup, nine);

    const names = await world.store.secretsOf(threadOf(supergroup));
    expect(names.map(({ name, id }) => [name, id])).toEqual([
      ['ALSO', alsoLater.id],
      ['BOTH', later.id],
      ['OLD', expect.any(String)],
    ]);
  });

  test('they go with a chat that is shut out, and 30 days after one was left', async () => {
    const world = await open();
    const { id: chatId } = await aChat(world);
    await put(world, { name: 'KEY' });
    await put(world, { name: 'KEY', place: threadOf('-77') });
    await put(world, { name: 'KEY', place: null });
    await world.store.chatGone({ chatId, cause: 'kicked', at: nine, wordTo: () => aMessage(world) });
    await world.store.dropExpired({ now: nine + 29 * day, limit: 10 });
    expect(await world.store.secretsOf(lab)).toHaveLength(1);
    await world.store.dropExpired({ now: nine + 30 * day, limit: 10 });
    expect(await world.store.secretsOf(lab)).toEqual([]);

    await world.store.shutOut({ address: '-77', to: 'refused', by: owner, newId: ids.next(), at: nine });
    expect(await world.store.secretsOf(threadOf('-77'))).toEqual([]);
    expect(await world.store.secretsOf(null)).toHaveLength(1);
  });
}
