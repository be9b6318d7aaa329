import { describe, expect, it } from 'vitest';
import type { Policies } from '../../../src/domain/policy.ts';
import { actor, day, hour, minute, type Pipeline, withTask } from '../../support/pipeline.ts';

const daily = { kind: 'cron', cron: '30 9 * * *', timezone: 'UTC' } as const;

interface Part {
  readonly run_id: string;
  readonly kind: string;
  readonly status: string;
  readonly error: string | null;
  readonly content: string;
}

const partsOf = (p: Pipeline) =>
  p.database
    .prepare(
      `select run_id, kind, status, error, content from deliveries where kind in ('result', 'notice') order by id`,
    )
    .all() as Part[];
const resultsOf = (p: Pipeline) => partsOf(p).filter(({ kind }) => kind === 'result');
const questionsOf = (p: Pipeline) => partsOf(p).filter(({ content }) => content.includes('"view":"approval"'));

/** A task whose result of this morning waits for somebody to look at it. */
async function waiting({
  text = 'Release notes',
  policies = {},
  threadKey = 'telegram:chat:-1001234',
}: { text?: string; policies?: Policies; threadKey?: string } = {}) {
  const { p, id: taskId } = await withTask(
    { instructions: text, schedule: daily, policies: { approval: 'required', ...policies } },
    { threadKey },
  );
  await p.pass(30 * minute);
  await p.pass(minute);
  const runId = resultsOf(p)[0]?.run_id ?? '';
  const decide = (isGiven: boolean, who = actor) =>
    p.rooms.approvals.decide({ runId, actor: who as typeof actor, isGiven });
  return { p, taskId, runId, decide };
}

describe('a question whether to deliver', () => {
  it('is asked in the chat itself where the topic in which it belongs was deleted', async () => {
    const { p, decide } = await waiting({ threadKey: 'telegram:chat:-1001234:topic:77' });
    expect(p.chat.shown).toMatchObject([{ text: 'Release notes', topic: null }]);
    expect(questionsOf(p)).toMatchObject([{ status: 'failed' }, { status: 'delivered' }]);
    await decide(true);
    await p.pass(minute);
    expect(resultsOf(p)).toMatchObject([{ status: 'delivered' }]);
  });
});

describe('a result that waits for approval', () => {
  it('goes out once, in its order, however often and by how many it is approved at once', async () => {
    const { p, decide } = await waiting({ text: `${'Words. '.repeat(2000)}End.` });
    const count = resultsOf(p).length;
    expect(count).toBeGreaterThan(2);
    const told = await Promise.all([decide(true), decide(false), decide(true, 'telegram:user:1002')]);
    expect(told.filter((one) => 'isFirst' in one && one.isFirst)).toHaveLength(1);
    await p.pass(minute);
    await Promise.all([decide(false), decide(true)]);
    await p.pass(minute);
    expect(resultsOf(p).map(({ status }) => status)).toEqual(Array(count).fill('delivered'));
    expect(p.chat.shown).toHaveLength(count + 1);
  });

  it.each([
    ['[Retry]', (p: Pipeline) => p.store.retryBlocked({ chatId: null, taskId: null, inDoubt: true }, p.time.now())],
    [
      'a press of [Send again]',
      async (p: Pipeline) => {
        for (const { id } of p.database.prepare(`select id from deliveries where kind = 'result'`).all() as {
          id: string;
        }[])
          for (const arrived of [true, false]) await p.store.settleByHand(id, arrived, p.time.now());
      },
    ],
    [
      'quiet hours that change',
      async (p: Pipeline) => {
        const chat = p.database.prepare('select id from chats').pluck().get() as string;
        for (const quiet of [{ from: '09:00', to: '23:00', mode: 'hold' }, null])
          await p.store.changeChat(chat, { settings: quiet === null ? {} : { quiet } }, p.time.now());
      },
    ],
    ['a restart', (p: Pipeline) => p.restart().settle()],
    ['a clock that is set back', async (p: Pipeline) => p.time.setWall(p.time.now() - 3 * hour)],
    ['a clock that jumps by hours', async (p: Pipeline) => p.time.setWall(p.time.now() + 20 * hour)],
  ] as const)('is not let go by %s', async (_name, deed) => {
    const { p } = await waiting();
    await deed(p);
    for (let passed = 0; passed < 12; passed += 1) await p.pass(minute);
    expect(resultsOf(p)[0]?.status).toBe('blocked');
  });

  it('is not brought back by approval after its task was deleted, or restored, or its time is over', async () => {
    const { p, taskId, decide } = await waiting();
    await p.rooms.tasks.delete({ taskId, actor });
    expect(await decide(true)).toMatchObject({ is: 'none' });
    await p.rooms.tasks.restore({ taskId, actor });
    expect(await decide(true)).toMatchObject({ is: 'none' });
    await p.pass(minute);
    expect(resultsOf(p)).toMatchObject([{ status: 'failed', error: 'the task was deleted' }]);
    const late = await waiting();
    await late.p.pass(day);
    expect(await late.decide(true)).toMatchObject({ is: 'expired' });
    await late.p.pass(minute);
    expect(resultsOf(late.p)[0]?.status).toBe('failed');
  });

  it('may be older than its task lets it be when it is approved, and its reminder begins then', async () => {
    const { p, decide } = await waiting({ policies: { max_age: 'PT10M', ack: { nag_every: 'PT10M', nag_limit: 2 } } });
    await p.pass(2 * hour);
    await decide(true);
    await p.pass(minute);
    expect(resultsOf(p)).toMatchObject([{ status: 'delivered' }]);
    const nags = () => partsOf(p).filter(({ content }) => content.includes('"view":"nag"')).length;
    expect(nags()).toBe(0);
    for (let passed = 0; passed < 45; passed += 1) await p.pass(minute);
    expect(nags()).toBe(2);
    expect(p.database.prepare('select status from acks').pluck().all()).toEqual(['given_up']);
  });

  it.each(['lost', 'dropped', 'rateLimited', 'misrouted'] as const)(
    'is known to be let go by whoever approved it, when its send is %s',
    async (fault) => {
      const { p, decide } = await waiting();
      p.chat.failSends(fault);
      const first = await decide(true);
      for (let passed = 0; passed < 5; passed += 1) await p.pass(minute);
      expect(resultsOf(p)).toMatchObject([{ status: 'delivered' }]);
      expect(await decide(false, 'telegram:user:1002')).toEqual({ ...first, isFirst: false });
    },
  );

  it('that is discarded asks nobody to confirm it', async () => {
    const { p, decide } = await waiting({ policies: { ack: {} } });
    await decide(false);
    await p.pass(day - 2 * hour);
    expect(p.database.prepare('select status from acks').pluck().all()).toEqual(['dropped']);
  });

  it('is asked about again for whatever is run again or by hand', async () => {
    const { p, taskId, runId, decide } = await waiting();
    await decide(true);
    await p.pass(minute);
    await p.rooms.tasks.repeat('replay', runId, { actor });
    await p.settle();
    await p.rooms.tasks.runNow({ taskId, actor });
    await p.settle();
    expect(resultsOf(p).map(({ status }) => status)).toEqual(['delivered', 'blocked', 'blocked']);
    expect(questionsOf(p)).toHaveLength(3);
  });
});
