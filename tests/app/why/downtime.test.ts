import { describe, expect, it, vi } from 'vitest';
import { composeRooms } from '../../../src/compose/assembly.ts';
import { AppError } from '../../../src/domain/errors.ts';
import { createIds } from '../../../src/system/ids.ts';
import { second } from '../../support/fakes.ts';
import {
  anOwner,
  aPipeline,
  day,
  group,
  hour,
  minute,
  settings,
  start,
  type Pipeline,
  hourly,
} from '../../support/pipeline.ts';
const minutely = { ...hourly, cron: '* * * * *' };
const skips = { schedule: hourly, policies: { missed: 'skip' } } as const;

/** A pipeline whose process has begun its life. */
async function alive(): Promise<Pipeline> {
  const p = await aPipeline();
  await p.rooms.downtimes.open();
  return p;
}

/** The chores take their turns until none of them has anything to do at this instant. */
async function keepHouse({ rooms, time }: Pipeline): Promise<void> {
  const now = time.now();
  for (let turns = 0; turns < 200; turns += 1) {
    let busy = false;
    for (const chore of rooms.downtimes.chores) {
      if ('asked' in chore.when && !chore.when.asked()) continue;
      busy ||= (await chore.step(now, 100)).more;
    }
    if (!busy) return;
  }
  throw new Error('the house is never in order');
}

/** The process dies at once; another one starts after a while. */
async function diesFor(pipeline: Pipeline, ms: number): Promise<Pipeline> {
  await pipeline.time.advance(ms);
  const next = pipeline.restart();
  await next.rooms.downtimes.open();
  return next;
}

/** The process dies; the next one takes up what is due, and tells what that time has cost. */
async function comesBack(pipeline: Pipeline, ms: number): Promise<Pipeline> {
  const next = await diesFor(pipeline, ms);
  await next.settle();
  await next.time.advance(2 * second);
  await keepHouse(next);
  return next;
}

/** A process whose ids count up with time, as real ones do. */
function withIdsOfTime(pipeline: Pipeline): Pipeline {
  const { time, chat: transport, log, store } = pipeline;
  const ids = createIds(() => time.now());
  const world = { clock: time, stopwatch: time, timer: time, ids, log };
  return { ...pipeline, rooms: composeRooms(settings, world, { store, transport: () => transport }) };
}

const shown = ({ rooms }: Pipeline) => rooms.truth.listDowntimes(10);
const costs = async (p: Pipeline) => (await shown(p)).map(({ counts }) => counts);

describe('the time in which the server was down', () => {
  it('is nothing at the very first start', async () => {
    const p = await alive();
    await keepHouse(p);
    expect(await shown(p)).toEqual([]);
  });

  it('is reported once, when every slot of it was decided about', async () => {
    const p = await alive();
    await p.create({ schedule: hourly });
    await p.create({ schedule: minutely, policies: { missed: 'skip' } }, { threadKey: 'cli:default' });
    await p.create({ schedule: hourly, policies: { missed: 'ask' } }, { threadKey: `${group}:topic:7` });
    await p.pass(20 * minute);
    await p.rooms.downtimes.close();
    const next = await diesFor(p, 3 * hour);
    await keepHouse(next);
    expect(await shown(next)).toMatchObject([{ from: start + 20 * minute, counts: null, reportedAt: null }]);

    await next.settle();
    await next.time.advance(2 * second);
    await keepHouse(next);
    const [downtime] = await shown(next);
    const to = start + 3 * hour + 20 * minute;
    const counts = { missed: 2 + 179, late: 1, asked: 3, skipped: 0 };
    expect(downtime).toMatchObject({ from: start + 20 * minute, to, reportedAt: to + 2 * second, counts });
    expect(next.log.lines.filter(({ event }) => event === 'downtime').map(({ facts }) => facts)).toMatchObject([
      { ...counts, chats: 2 },
    ]);

    await next.time.advance(hour);
    await next.settle();
    await keepHouse(next);
    expect(await shown(next)).toEqual([downtime]);
    expect(next.database.prepare(`select ref from events where kind = 'downtime.reported'`).pluck().all()).toEqual([
      downtime?.id,
    ]);
  });

  it('begins with the last sign of life of a process that was killed', async () => {
    const p = await alive();
    for (let signs = 0; signs < 3; signs += 1) {
      await p.time.advance(30 * second);
      await keepHouse(p);
    }
    const next = await diesFor(p, 10 * minute);
    expect(await shown(next)).toMatchObject([{ from: start + 90 * second, to: start + 690 * second }]);
  });

  it('costs nothing when the stop was short', async () => {
    const p = await alive();
    await p.create({ schedule: hourly });
    await p.rooms.downtimes.close();
    expect(await costs(await comesBack(p, 5 * second))).toEqual([{ missed: 0, late: 0, asked: 0, skipped: 0 }]);
  });

  it('reaches to the process that reports it, when the one before was killed before it had done so', async () => {
    const p = await alive();
    await p.create({ schedule: minutely, policies: { missed: 'skip' } });
    const brief = await diesFor(p, 2 * day + 10 * second);
    // It takes up what is due and what comes in its time, and dies.
    await brief.settle();
    await brief.pass(minute - 10 * second);
    const third = await comesBack(brief, hour);
    const to = start + 2 * day + hour + minute;
    expect(await shown(third)).toMatchObject([{ from: start, to, counts: { missed: 2938, late: 1 } }]);
  });

  it('is not measured when the clock was set back', async () => {
    const p = await alive();
    p.time.setWall(start - hour);
    const next = p.restart();
    await next.rooms.downtimes.open();
    await keepHouse(next);
    expect(await shown(next)).toEqual([]);
    expect(next.log.lines.filter(({ event }) => event === 'clock_was_set')).toMatchObject([
      { level: 'warn', facts: { step_ms: -hour } },
    ]);
    const third = await diesFor(next, minute);
    expect(await shown(third)).toMatchObject([{ from: start - hour, to: start - hour + minute }]);
  });

  it('counts a slot that came right before the last sign of life and was not taken up any more', async () => {
    const p = await alive();
    await p.create(skips);
    const onTime = await p.create({ schedule: { ...hourly, cron: '59 * * * *' } });
    await p.pass(59 * minute);
    await p.time.advance(minute + 10);
    await p.rooms.downtimes.close();
    const next = await comesBack(p, 50 * minute);
    expect((await next.history(onTime.id)).map(({ status }) => status)).toEqual(['succeeded']);
    expect(await costs(next)).toMatchObject([{ missed: 1, late: 0 }]);
  });

  it('counts the slots that were left out when their task was paused by its failures', async () => {
    const p = withIdsOfTime(await aPipeline());
    const { time } = p;
    await p.rooms.downtimes.open();
    const action = { kind: 'echo', fail_attempts: 9, error: 'final' };
    await p.create({ schedule: hourly, action, policies: { auto_pause: 3 } });
    p.database.exec('update tasks set consecutive_failures = 2');
    await p.time.advance(hour);
    await p.rooms.scheduler.step(p.time.now(), 100);
    await p.rooms.downtimes.close();
    await p.time.advance(3 * hour + minute);
    const next = withIdsOfTime(p);
    await next.rooms.downtimes.open();
    await time.advance(second);
    // The run ends in the failure that pauses its task, before anybody has looked at the slots that are due.
    for (let steps = 0; steps < 3; steps += 1) {
      await next.rooms.runner.step(time.now(), 100);
      await time.advance(second);
    }
    await keepHouse(next);
    expect(next.database.prepare('select paused_reason from tasks').pluck().all()).toEqual([
      'auto:consecutive_failures',
    ]);
    expect(await costs(next)).toEqual([{ missed: 0, late: 0, asked: 0, skipped: 3 }]);
  });

  it('holds up no start when the store cannot commit, and is opened later all the same', async () => {
    const p = await alive();
    await p.time.advance(hour);
    const next = p.restart();
    next.database.exec('alter table downtimes rename to elsewhere');
    await next.rooms.downtimes.open();
    expect(next.log.lines.map(({ event }) => event)).toContain('downtime_not_opened');
    next.database.exec('alter table elsewhere rename to downtimes');
    await next.time.advance(minute);
    await keepHouse(next);
    expect(await shown(next)).toMatchObject([{ from: start, to: start + hour }]);
  });
});

/** The words about downtimes that were put into the outbox, with the chats that they are for. */
function words({ database }: Pipeline) {
  return database
    .prepare<[], { address: string; to_topic: number | null; content: string }>(
      `select c.address, d.to_topic, d.content from deliveries d join chats c on c.id = d.chat_id
       where d.kind = 'notice' order by d.id`,
    )
    .all()
    .map(({ address, to_topic: topic, content }) => ({ address, topic, ...(JSON.parse(content) as object) }));
}

describe('the time in which nothing could be written', () => {
  it('is told as that, in each chat, to the owner and of each slot, when it can be written again', async () => {
    const p = await alive();
    await anOwner(p);
    const task = await p.create(skips);
    await keepHouse(p);
    p.database.pragma('query_only = on');
    for (let tries = 0; tries < 3; tries += 1) {
      await p.time.advance(hour);
      await expect(keepHouse(p)).rejects.toThrow('cannot be used');
    }
    p.database.pragma('query_only = off');
    await p.settle();
    await keepHouse(p);
    await p.time.advance(2 * second);
    await keepHouse(p);
    const until = start + 3 * hour;
    expect(await shown(p)).toMatchObject([{ cause: 'database', from: start, to: until, counts: { missed: 2 } }]);
    const words = p.database
      .prepare<[], string>(
        `select content from deliveries where kind in ('notice', 'answer') and task_id is null order by rowid`,
      )
      .pluck()
      .all();
    expect(words.map((word) => JSON.parse(word) as object)).toMatchObject([
      { view: 'alarm', since: start, over: until, facts: { cause: 'downtime', why: 'database', to: until, missed: 2 } },
      { view: 'downtime', cause: 'database', missed: 2 },
    ]);
    const { answers } = await p.rooms.truth.why(task.id, {
      at: new Date(start + hour).toISOString(),
      after: null,
      limit: 9,
    });
    expect(answers[0]?.line).toContain('missed; the database could not be written until 12:00');
  });

  it('is that also where only the scheduler finds that nothing can be written', async () => {
    const p = await alive();
    await p.create(skips);
    await keepHouse(p);
    const claims = vi.spyOn(p.store, 'claimDue').mockRejectedValue(new AppError('store_unavailable', 'full'));
    for (let tries = 0; tries < 3; tries += 1) {
      await p.time.advance(hour);
      await expect(p.rooms.scheduler.step(p.time.now(), 10)).rejects.toThrow('full');
      await keepHouse(p);
    }
    claims.mockRestore();
    await p.settle();
    await keepHouse(p);
    expect(await shown(p)).toMatchObject([{ cause: 'database', from: start, to: start + 3 * hour }]);
  });

  it('is that also for a process that ended in it', async () => {
    const p = await alive();
    await p.create(skips);
    await p.time.advance(hour);
    const facts = { cause: 'disk', error: 'The disk is full.' } as const;
    const page = JSON.stringify({ since: start, facts, told: {} });
    const { time, chat: transport, log, store } = p;
    const world = { clock: time, stopwatch: time, timer: time, ids: createIds(() => time.now()), log };
    const notepad = { read: () => page, write: () => undefined };
    const rooms = composeRooms(settings, world, { store, transport: () => transport, notepad });
    await rooms.downtimes.open();
    expect(await shown({ ...p, rooms })).toMatchObject([{ cause: 'database', from: start, to: start + hour }]);
  });

  it('is none where a sign of life comes through', async () => {
    const p = await alive();
    await keepHouse(p);
    await p.time.advance(hour);
    await keepHouse(p);
    expect(await shown(p)).toEqual([]);
  });
});

describe('the word about a downtime', () => {
  const other = 'telegram:chat:-1005678';

  it('goes once to the base thread of each chat that lost something, and names five of its tasks', async () => {
    const p = await alive();
    await p.create({ ...skips, instructions: 'Water the plants' });
    await p.create({ ...skips, instructions: 'Call Ada' }, { threadKey: `${group}:topic:7` });
    for (let count = 0; count < 8; count += 1)
      await p.create({ schedule: hourly, instructions: 'Stand up' }, { threadKey: other });
    await p.create({ schedule: { ...hourly, cron: '0 0 1 1 *' } }, { threadKey: 'telegram:chat:-1009999' });
    await p.create(skips, { threadKey: 'cli:default' });
    const next = await comesBack(p, 3 * hour + 20 * minute);
    await keepHouse(next);
    const told = { topic: null, view: 'downtime', from: start, to: start + 3 * hour + 20 * minute };
    const standUp = [1, 2, 3, 4, 5].map((number) => ({ number, title: 'Stand up' }));
    const tasks = [
      { number: 1, title: 'Water the plants' },
      { number: 2, title: 'Call Ada' },
    ];
    const none = { asked: 0, skipped: 0 };
    expect(words(next)).toEqual([
      { ...told, address: '-1005678', ...none, missed: 16, late: 8, tasks: standUp, moreTasks: 3 },
      { ...told, address: '-1001234', ...none, missed: 6, late: 0, tasks, moreTasks: 0 },
    ]);
  });

  it('is written together with the report: a process that dies in between tells it once', async () => {
    const p = await alive();
    await p.create(skips);
    const next = await diesFor(p, 2 * hour + 20 * minute);
    await next.settle();
    next.database.exec(
      `create trigger refuse before insert on deliveries when new.kind = 'notice' begin select raise(abort, 'no'); end`,
    );
    await expect(keepHouse(next)).rejects.toThrow('no');
    expect(await costs(next)).toEqual([null]);
    next.database.exec('drop trigger refuse');
    const fourth = await comesBack(await comesBack(next, 5 * second), 5 * second);
    expect(words(fourth)).toMatchObject([{ address: '-1001234', from: start, missed: 2 }]);
  });

  it.each([
    ['not said about a short one in which results came late', 4, {}, []],
    ['said about a long one in which results came late', 7, {}, [{ missed: 0, late: 1 }]],
    ['said about a short one in which something was missed', 4, { missed: 'skip', grace: 'PT0S' }, [{ missed: 1 }]],
  ] as const)('is %s', async (_when, minutes, policies, said) => {
    const p = await alive();
    await p.create({ schedule: hourly, policies });
    await p.time.advance(hour - 2 * minute);
    await p.rooms.downtimes.close();
    const next = await comesBack(p, minutes * minute);
    expect((await shown(next))[0]?.reportedAt).not.toBeNull();
    expect(words(next)).toMatchObject(said);
    expect(words(next)).toHaveLength(said.length);
  });

  it.each(['refused', 'gone'])('is said in no chat that is %s', async (state) => {
    const p = await alive();
    await p.create(skips);
    p.database.prepare('update chats set state = ?').run(state);
    const next = await comesBack(p, 2 * hour + 20 * minute);
    expect(await costs(next)).toMatchObject([{ missed: 2 }]);
    expect(words(next)).toEqual([]);
  });
});
