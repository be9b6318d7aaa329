import { expect, test } from 'vitest';
import type { NagDecision } from '../../../src/app/ports/questions.ts';
import { hour, minute, nine } from '../../support/builders.ts';
import type { OpenWorld } from '../../support/store-worlds.ts';
import { blocked, change, claimParts, someone } from '../scenes.ts';
import { ack, asked, claim, rowsOf, withTopic } from './acks.ts';

/** What follows when nobody has said Done, and when it was put off. */
export function escalationTests(open: OpenWorld): void {
  test('after the last reminder the topic and an admin who can be written to are told', async () => {
    const world = await open();
    const { task, occurrenceId } = await asked(world);
    const at = nine + hour;
    const own = await world.store.noteChat({ newId: world.make.id(), address: '8', title: null, kind: 'private', at });
    await world.store.noteMember({ chatId: task.chatId, userId: someone, status: 'admin', checkedAt: nine });
    const giveUp = (): NagDecision => ({
      occurrenceId,
      is: 'giveUp',
      lineId: world.make.id(),
      wordId: world.make.id(),
    });
    await claim(world, at, giveUp);
    const told = () =>
      world.query<{ chat_id: string; goes_to: string }>(
        `select chat_id, goes_to from deliveries where kind = 'notice' order by id`,
      );
    // Nobody has begun there, so nothing can be written there.
    expect(await told()).toEqual([
      { chat_id: task.chatId, goes_to: 'task' },
      { chat_id: task.chatId, goes_to: 'thread' },
    ]);
    expect(await rowsOf(world)).toMatchObject([{ status: 'given_up', nag_at: null }]);
    await world.query(`delete from deliveries where kind = 'notice'`);
    await world.query(`update deliveries set platform_chat_id = '8', message_id = 1`);
    await world.query(`update acks set status = 'open', nag_at = ?i`, nine);
    await claim(world, at, giveUp);
    expect(await told()).toEqual([
      { chat_id: task.chatId, goes_to: 'task' },
      { chat_id: own.id, goes_to: 'thread' },
    ]);

    // They have blocked the bot meanwhile, so the group is told, and the line in the topic says so.
    await withTopic(world, task.id);
    const word = (await claimParts(world, { now: at })).find(({ chatId }) => chatId === own.id);
    if (word === undefined) throw new Error('the word is needed');
    const end = blocked(word, { cause: 'chat_gone', error: 'Forbidden: bot was blocked by the user' });
    await world.store.endParts([end], at);
    await world.store.endParts([end], at);
    const words = await world.query<{ chat_id: string; status: string; content: string; error: string | null }>(
      `select chat_id, status, content, error from deliveries where kind = 'notice' and goes_to = 'thread' order by status`,
    );
    expect(words).toMatchObject([
      { chat_id: own.id, status: 'failed' },
      { chat_id: task.chatId, status: 'pending' },
    ]);
    expect(words[0]?.error).toContain('told in the group instead');
    expect(words[1]?.content).not.toContain('told');
    const [line] = await world.query<{ content: string }>(
      `select content from deliveries where kind = 'notice' and goes_to = 'task'`,
    );
    expect(line?.content).not.toContain('told');
  });

  test('a snooze that is taken back lets its own result ask again, unless it is done, and so does a Done that is taken back', async () => {
    const world = await open();
    const { task, occurrenceId } = await asked(world);
    const at = nine + 2 * minute;
    const until = nine + hour;
    const occurrence = world.make.occurrence({ slotAt: until, source: 'snooze', replayOf: occurrenceId });
    await change(world, task, { manual: { occurrence, run: null } }, { at });
    expect(await rowsOf(world)).toMatchObject([{ status: 'superseded', nag_at: null }]);
    await change(world, task, { endSnooze: { slotAt: until, reason: 'undone' } }, { at: at + minute });
    expect(await rowsOf(world)).toMatchObject([{ status: 'open', nag_at: at + minute + ack.nagEveryMs }]);
    await world.store.noteDone({ taskId: task.id, occurrenceId, actor: someone, at: at + 2 * minute });
    await change(world, task, { endSnooze: { slotAt: until, reason: 'undone' } }, { at: at + 3 * minute });
    expect(await rowsOf(world)).toMatchObject([{ status: 'done' }]);
    const back = { taskId: task.id, occurrenceId, actor: someone, at: at + 4 * minute } as const;
    expect(await world.store.takeBackDone(back)).toBe(true);
    expect(await rowsOf(world)).toMatchObject([{ status: 'open', nag_at: back.at + ack.nagEveryMs }]);
  });
}
