import { expect, test } from 'vitest';
import { aRunningTask, aTask, endOf, hour, minute, nine } from '../../support/builders.ts';
import type { OpenWorld, World } from '../../support/store-worlds.ts';
import { aChat, aMessage, aReadyTask, owner, someone, withRunningTask } from '../scenes.ts';

/** What a chat amounts to, and how the server stands. */
export function chatFactTests(open: OpenWorld): void {
  newsTests(open);
  notDoneTests(open);
  whoTests(open);
  serverTests(open);
  unbindTests(open);
}

function newsTests(open: OpenWorld): void {
  test('news tell what rests, what was put off, and what waits for somebody', async () => {
    const { world, task, started } = await withRunningTask(open);
    await world.store.finishRuns([endOf(started, { deliveries: [world.make.part()] })]);
    const resting = await aTask(world, { title: 'Lunch' });
    const done = world.make.id();
    await world.query(
      `update tasks set state = 'paused', next_at = null, paused_at = ${nine} where id = '${resting.id}'`,
    );
    await world.query(`update deliveries set status = 'blocked', cause = 'approval' where kind = 'result'`);
    await world.query(
      `insert into acks (occurrence_id, task_id, chat_id, status, nag_limit, nags, created_at, updated_at)
       values ('${done}', '${task.id}', '${task.chatId}', 'open', 3, 0, ${nine}, ${nine})`,
    );
    await world.query(
      `insert into occurrences (id, task_id, slot_at, source, status, late_ms, created_at, updated_at)
       values ('${world.make.id()}', '${task.id}', ${nine + hour}, 'snooze', 'pending', 0, ${nine}, ${nine})`,
    );

    const { paused, snoozed, waiting } = await world.store.chatNews({
      chatId: task.chatId,
      since: nine,
      except: '',
      limit: 10,
    });
    expect(paused).toEqual([{ number: 2, title: 'Lunch', at: nine }]);
    expect(snoozed).toEqual([{ number: 1, title: 'Water the plants', at: nine + hour }]);
    expect(waiting).toEqual([
      { number: 1, title: 'Water the plants', count: 1, for: 'done' },
      { number: 1, title: 'Water the plants', count: 1, for: 'approval' },
    ]);
  });
}

/** A slot of the task that ran, and how it stands with the Done that it asked for. */
async function askedSlot(
  world: World,
  task: { id: string; chatId: string },
  at: number,
  status: string,
): Promise<void> {
  const id = world.make.id();
  await world.query(
    `insert into occurrences (id, task_id, slot_at, source, status, late_ms, created_at, updated_at)
     values ('${id}', '${task.id}', ${at}, 'schedule', 'succeeded', 0, ${at}, ${at})`,
  );
  const done = status === 'done' ? [at, "'telegram:user:7'"] : ['null', 'null'];
  await world.query(
    `insert into acks (occurrence_id, task_id, chat_id, status, nag_limit, nags, created_at, updated_at, done_at, done_by)
     values ('${id}', '${task.id}', '${task.chatId}', '${status}', 3, 3, ${at}, ${at + minute}, ${done.join(', ')})`,
  );
}

function notDoneTests(open: OpenWorld): void {
  test('news tell slot by slot what nobody has done; what was put off was answered', async () => {
    const world = await open();
    const task = await aTask(world);
    const slots = ['given_up', 'done', 'dropped', 'superseded', 'superseded'];
    for (const [index, status] of slots.entries()) await askedSlot(world, task, nine + index * hour, status);
    // The last of them was snoozed.
    await world.query(
      `insert into occurrences (id, task_id, slot_at, source, status, late_ms, created_at, updated_at)
       values ('${world.make.id()}', '${task.id}', ${nine + 9 * hour}, 'snooze', 'pending', 0, ${nine + 4 * hour + minute}, ${nine})`,
    );
    const { notDone, succeeded } = await world.store.chatNews({
      chatId: task.chatId,
      since: nine,
      except: '',
      limit: 10,
    });
    const named = { number: 1, title: 'Water the plants' };
    expect(notDone).toEqual([
      { ...named, at: nine },
      { ...named, at: nine + 2 * hour },
      { ...named, at: nine + 3 * hour },
    ]);
    expect(succeeded).toEqual([{ ...named, count: 5, done: 1, notDone: 3 }]);
  });
}

function whoTests(open: OpenWorld): void {
  test('chats that nobody has approved wait, the newest first', async () => {
    const world = await open();
    const old = await aChat(world, '-1', nine);
    const young = await aChat(world, '-2', nine + minute);
    const approved = await aChat(world, '-3', nine + minute);
    await world.store.changeChat(approved.id, { state: 'approved' }, nine);
    await world.store.changeChat((await aChat(world, '-4')).id, { state: 'refused' }, nine);

    expect((await world.store.waitingChats(10)).map(({ id }) => id)).toEqual([young.id, old.id]);
    expect(await world.store.waitingChats(1)).toHaveLength(1);
  });

  test('people are found by their whole name, whatever its case', async () => {
    const { store } = await open();
    await store.noteUser({ id: owner, name: 'Ada Lovelace' }, nine);
    await store.noteUser({ id: someone, name: 'Adam' }, nine);

    expect((await store.usersNamed('ada lovelace', 5)).map(({ id }) => id)).toEqual([owner]);
    expect(await store.usersNamed('ada', 5)).toEqual([]);
    expect(await store.usersNamed('%', 5)).toEqual([]);
  });

  test('the admins of a chat are known by name, whoever approved it first, and nobody of another chat', async () => {
    const world = await open();
    const chat = await aChat(world, '-1');
    const other = await aChat(world, '-2');
    expect(await world.store.adminNames(chat.id, 2)).toEqual([]);
    const people = [
      ['telegram:user:1', 'Ada', 'admin', chat],
      ['telegram:user:2', 'Ben', 'admin', chat],
      ['telegram:user:3', 'Cleo', 'member', chat],
      ['telegram:user:4', 'Dan', 'admin', other],
      ['telegram:user:5', null, 'admin', chat],
    ] as const;
    for (const [index, [id, name, status, where]] of people.entries()) {
      await world.store.noteUser({ id, name }, nine);
      await world.store.noteMember({ chatId: where.id, userId: id, status, checkedAt: nine + index });
    }
    expect(await world.store.adminNames(chat.id, 5)).toEqual(['Ben', 'Ada']);
    await world.store.changeChat(chat.id, { state: 'approved', approvedBy: 'telegram:user:1' }, nine);
    expect(await world.store.adminNames(chat.id, 5)).toEqual(['Ada', 'Ben']);
    expect(await world.store.adminNames(chat.id, 1)).toEqual(['Ada']);
  });

  test('the settings of a chat are what was chosen, and nothing where nobody knows it', async () => {
    const world = await open();
    const chat = await aChat(world);
    await world.store.changeChat(chat.id, { settings: { dates: 'de' } }, nine);

    expect(await world.store.chatSettings(chat.id)).toEqual({ dates: 'de' });
    expect(await world.store.chatSettings('another')).toEqual({});
  });

  test('a message is found again once it has arrived', async () => {
    const world = await open();
    const message = aMessage(world);
    await world.store.addMessages([message], nine);
    expect(await world.store.sentMessage(message.id)).toBeNull();
    await world.query(
      `update deliveries set status = 'delivered', message_id = 5, platform_chat_id = '-100', message_thread_id = 7`,
    );

    expect(await world.store.sentMessage(message.id)).toEqual({ messageId: 5, address: '-100', topic: 7 });
    expect(await world.store.sentMessage('another')).toBeNull();
  });
}

function serverTests(open: OpenWorld): void {
  test('the server tells what it has, what is late and what is stuck', async () => {
    const world = await open();
    await aRunningTask(world);
    const due = await aTask(world, { nextAt: nine + minute });
    await world.store.addMessages([aMessage(world), aMessage(world)], nine);
    await world.query(`update deliveries set status = 'blocked' where id = (select min(id) from deliveries)`);
    await world.store.changeChat(due.chatId, { state: 'approved' }, nine);

    const facts = await world.store.serverFacts(nine + 2 * minute);
    expect(facts).toMatchObject({
      due: 1,
      dueSince: nine + minute,
      running: 1,
      pending: 1,
      blocked: 1,
      unknown: 0,
      chats: 1,
    });
    expect(facts.databaseBytes).toBeGreaterThan(10_000);
    expect(await world.store.serverFacts(nine)).toMatchObject({ due: 0, dueSince: null });
  });
}

function unbindTests(open: OpenWorld): void {
  const topicOf = async (world: World, taskId: string) => {
    const { topicId, topicState } = (await world.store.readTask(taskId)) ?? {};
    return [topicState, topicId];
  };

  test('a topic is taken from its task once, with a row in the audit that tells whose it was', async () => {
    const world = await open();
    const task = await aReadyTask(world);
    const unbinding = { taskId: task.id, topicId: 77, actor: someone, at: nine } as const;

    expect(await world.store.unbindTopic(unbinding)).toBe('unbound');
    expect(await topicOf(world, task.id)).toEqual(['none', null]);
    expect(await world.store.unbindTopic(unbinding)).toBe('before');
    expect(await world.query(`select actor, verb from audit where verb = 'unbind'`)).toEqual([
      { actor: someone, verb: 'unbind' },
    ]);
    expect(await world.store.taskByTopic(task.chatId, 77)).toBeNull();
  });

  test('neither another topic nor one that is being made is taken', async () => {
    const world = await open();
    const task = await aReadyTask(world);
    const unbinding = { taskId: task.id, actor: someone, at: nine } as const;

    expect(await world.store.unbindTopic({ ...unbinding, topicId: 78 })).toBe('none');
    expect(await world.store.unbindTopic({ ...unbinding, taskId: 'another', topicId: 77 })).toBe('none');
    expect(await topicOf(world, task.id)).toEqual(['ready', 77]);
    await world.query(`update tasks set topic_state = 'creating'`);
    expect(await world.store.unbindTopic({ ...unbinding, topicId: 77 })).toBe('creating');
  });

  test('a topic that has come since is not taken for the one before', async () => {
    const world = await open();
    const task = await aReadyTask(world);
    const unbinding = { taskId: task.id, topicId: 77, actor: someone, at: nine } as const;
    await world.store.unbindTopic(unbinding);
    await world.query(`update tasks set topic_state = 'ready', topic_id = 78`);

    expect(await world.store.unbindTopic(unbinding)).toBe('before');
    expect(await topicOf(world, task.id)).toEqual(['ready', 78]);
  });
}
