import { describe, expect, it } from 'vitest';
import type { Membership } from '../../../src/app/ports/outside.ts';
import { createMembership } from '../../../src/app/use-cases/membership.ts';
import type { Actor } from '../../../src/domain/access.ts';
import { houseOf } from '../../support/chores.ts';
import { second } from '../../support/fakes.ts';
import { aChat, actor, aPipeline, day, group, minute, start, type Pipeline, hourly } from '../../support/pipeline.ts';

interface Asking {
  readonly p: Pipeline;
  /** Whom the platform was asked about. */
  readonly asked: Actor[];
  /** What it answers about each; a member unless told otherwise. */
  readonly answers: Map<Actor, Membership>;
  /** The rooms that were told of work. */
  readonly rung: readonly string[];
  /** Whatever the chore has to do at this instant. */
  readonly refresh: () => Promise<void>;
}

async function anApprovedGroup(): Promise<Asking> {
  const p = await aPipeline();
  await aChat(p, '-1001234', { approvedBy: actor });
  const asked: Actor[] = [];
  const answers = new Map<Actor, Membership>();
  const platform = {
    member: async (_address: string, userId: Actor): Promise<Membership> => {
      asked.push(userId);
      return answers.get(userId) ?? { is: 'known', status: 'member' };
    },
  };
  const rung: string[] = [];
  const bell = { ring: (room: string) => void rung.push(room) };
  const house = houseOf(p, [createMembership({ store: p.store, platform, stopwatch: p.time, log: p.log, bell })]);
  return {
    p,
    asked,
    answers,
    rung,
    refresh: async () => void (await house.step(p.time.now(), 100)),
  };
}

const who = (number: number): Actor => `telegram:user:${number}`;
const silent: Membership = { is: 'unreached', error: 'no route' };
const gone: Membership = { is: 'known', status: 'out' };

async function reasons({ p }: Asking, taskId: string): Promise<(string | null)[]> {
  return (await p.history(taskId)).map(({ status, reason }) => (reason === null ? status : reason));
}

describe('the owner of a task', () => {
  it('is asked about within ten minutes before it is due, and not earlier', async () => {
    const asking = await anApprovedGroup();
    const { p, asked, refresh } = asking;
    await p.create({ schedule: hourly });
    await p.time.advance(49 * minute);
    await refresh();
    expect(asked).toEqual([]);
    await p.time.advance(2 * minute);
    await refresh();
    expect(asked).toEqual([actor]);
  });

  it('is asked about again when the answer has grown old', async () => {
    const { p, asked, refresh } = await anApprovedGroup();
    await p.create({ schedule: { ...hourly, cron: '* * * * *' } });
    for (let turn = 0; turn < 25; turn += 1) {
      await refresh();
      await p.pass(minute);
    }
    expect(asked).toHaveLength(3);
  });

  it('who has left the chat loses the right, and has it again after coming back', async () => {
    const asking = await anApprovedGroup();
    const { p, answers, rung, refresh } = asking;
    const task = await p.create({ schedule: hourly });
    const pausedReason = async () => (await p.rooms.tasks.get(task.id)).pausedReason;
    await p.pass(55 * minute);
    await refresh();
    await p.pass(5 * minute);
    answers.set(actor, gone);
    await p.pass(55 * minute);
    await refresh();
    await p.pass(5 * minute);
    // Nothing of theirs is due by then, and a platform that is silent ends no pause.
    for (const answer of [gone, silent]) {
      answers.set(actor, answer);
      await p.pass(30 * minute);
      await refresh();
      expect([await pausedReason(), rung]).toEqual(['auto:owner_gone', []]);
    }
    answers.delete(actor);
    await p.pass(55 * minute);
    await refresh();
    expect(rung).toEqual(['scheduler']);
    await p.pass(5 * minute);
    expect(await pausedReason()).toBeNull();
    expect(await reasons(asking, task.id)).toEqual(['succeeded', 'grant_revoked', 'succeeded']);
    expect(p.log.lines.filter(({ event }) => event === 'member_is_out')).toHaveLength(2);
  });

  it('who owns the bot needs to be in no chat', async () => {
    const asking = await anApprovedGroup();
    const { p, answers, refresh } = asking;
    await p.store.changeUser(actor, { role: 'owner' }, start);
    const task = await p.create({ schedule: hourly });
    answers.set(actor, gone);
    await p.pass(55 * minute);
    await refresh();
    await p.pass(5 * minute);
    expect(await reasons(asking, task.id)).toEqual(['succeeded']);
  });

  it('does not get back by coming back what was taken otherwise', async () => {
    const asking = await anApprovedGroup();
    const { p, answers, refresh } = asking;
    const task = await p.create({ schedule: hourly });
    p.database.exec(`update grants set revoked_at = ${start}, revoked_by = 'telegram:user:9'`);
    answers.set(actor, gone);
    await p.pass(55 * minute);
    await refresh();
    answers.delete(actor);
    await p.pass(60 * minute);
    await refresh();
    await p.pass(5 * minute);
    expect(await reasons(asking, task.id)).toEqual(['grant_revoked', 'grant_revoked']);
  });
});

describe('a platform that does not answer', () => {
  it('stops no task, is not asked at once again, and is told by the log after a day', async () => {
    const asking = await anApprovedGroup();
    const { p, asked, answers, refresh } = asking;
    const task = await p.create({ schedule: hourly });
    await p.pass(55 * minute);
    await refresh();
    answers.set(actor, silent);
    for (let turn = 0; turn < 26; turn += 1) {
      await p.pass(5 * minute);
      await p.pass(55 * minute);
      const before = asked.length;
      await refresh();
      await p.time.advance(0);
      await refresh();
      expect(asked.length).toBe(before + 1);
    }
    expect(new Set(await reasons(asking, task.id))).toEqual(new Set(['succeeded']));
    const told = p.log.lines.filter(({ event }) => event === 'membership_unknown');
    expect(told).toHaveLength(3);
    expect(told[0]?.facts).toMatchObject({ user_id: actor, last_known_at: start + 55 * minute });
    expect(p.time.now() - start).toBeGreaterThan(day);
  });

  it('about some people does not hide the others', async () => {
    const { p, asked, answers, refresh } = await anApprovedGroup();
    for (let number = 1; number <= 8; number += 1) {
      await p.create({ schedule: hourly }, { threadKey: group, actor: who(number) });
      if (number <= 5) answers.set(who(number), silent);
    }
    await p.pass(55 * minute);
    await refresh();
    await p.time.advance(second);
    await refresh();
    expect(asked.toSorted()).toEqual([1, 2, 3, 4, 5, 6, 7, 8].map(who));
  });
});

describe('many owners', () => {
  it('are asked about a few at a time, a second apart', async () => {
    const { p, asked, refresh } = await anApprovedGroup();
    for (let number = 1; number <= 12; number += 1) {
      await p.create({ schedule: hourly }, { threadKey: group, actor: who(number) });
    }
    await p.pass(55 * minute);
    const counts: number[] = [];
    for (let turn = 0; turn < 4; turn += 1) {
      await refresh();
      await refresh();
      counts.push(asked.length);
      await p.time.advance(second);
    }
    expect(counts).toEqual([5, 10, 12, 12]);
    expect(new Set(asked).size).toBe(12);
  });
});
