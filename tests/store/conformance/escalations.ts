import { expect, test } from 'vitest';
import type { NagDecision } from '../../../src/app/ports/questions.ts';
import { noChange } from '../../../src/app/ports/tasks.ts';
import { ample, hour, minute, nine } from '../../support/builders.ts';
import type { OpenWorld } from '../../support/store-worlds.ts';
import { ack, asked, claim, rowsOf, somebody, withTopic } from './acks.ts';

/** What follows when nobody has said Done, and when it was put off. */
export function escalationTests(open: OpenWorld): void {
  test('after the last reminder the topic and an admin who can be written to are told', async () => {
    const world = await open();
    const { task, occurrenceId } = await asked(world);
    const at = nine + hour;
    const own = await world.store.noteChat({ newId: world.make.id(), address: '8', title: null, kind: 'private', at });
    await world.store.noteMember({ chatId: task.chatId, userId: somebody, status: 'admin', checkedAt: nine });
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
    const parts = await world.store.claimParts({ now: at, limit: 10, after: '' }, 'boot-here', new Set());
    const word = parts.find(({ chatId }) => chatId === own.id);
    const blocked = { status: 'blocked', afterMs: hour, cause: 'chat_gone' } as const;
    const { id = '', fence = 0, taskId = null } = word ?? {};
    const end = { ...blocked, id, fence, taskId, error: 'Forbidden: bot was blocked by the user', guidance: null };
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

  test('a snooze that is taken back lets the newest one ask again, and no other', async () => {
    const world = await open();
    const { task, occurrenceId } = await asked(world);
    const at = nine + 2 * minute;
    const until = nine + hour;
    const occurrence = {
      id: world.make.id(),
      slotAt: until,
      source: 'snooze',
      status: 'pending',
      reason: null,
      decideBy: null,
      runId: null,
      lateMs: 0,
    } as const;
    const request = { taskId: task.id, actor: 'telegram:user:7', quota: ample, once: null } as const;
    await world.store.changeTask({ ...request, at }, () => ({ ...noChange, manual: { occurrence, run: null } }));
    expect(await rowsOf(world)).toMatchObject([{ status: 'superseded', nag_at: null }]);
    await world.store.changeTask({ ...request, at: at + minute }, () => ({ ...noChange, endSnooze: 'undone' }));
    expect(await rowsOf(world)).toMatchObject([{ status: 'open', nag_at: at + minute + ack.nagEveryMs }]);
    await world.store.noteDone({ taskId: task.id, occurrenceId, actor: somebody, at: at + 2 * minute });
    await world.store.changeTask({ ...request, at: at + 3 * minute }, () => ({ ...noChange, endSnooze: 'undone' }));
    expect(await rowsOf(world)).toMatchObject([{ status: 'done' }]);
  });
}
