import { describe, expect, it } from 'vitest';
import { createDatabaseAlarm } from '../../../src/app/housekeeping/database-alarm.ts';
import { createDatabaseLook } from '../../../src/app/operations/readiness.ts';
import type { NewMessage } from '../../../src/app/ports/chats.ts';
import type { Notepad, Platform, Told } from '../../../src/app/ports/outside.ts';
import type { Ears } from '../../../src/app/ports/upkeep.ts';
import { AppError } from '../../../src/domain/errors.ts';
import type { View } from '../../../src/domain/shown.ts';
import { countingIds, manualTime, memoryLog, minute } from '../../support/fakes.ts';
import { aChat, actor, anOwner, aPipeline, hourly, start, type Pipeline } from '../../support/pipeline.ts';

const full = 'The database cannot be used right now (SQLITE_FULL: the disk is full; free some space).';

/** Trouble with the database, as two owners hear of it. */
function aDatabase() {
  const time = manualTime(start);
  const said: string[] = [];
  const state = {
    fault: null as string | null,
    away: null as string | null,
    answer: null as Promise<void> | null,
    sent: 'sent' as Told['is'],
  };
  const pages: { text: string | null } = { text: null };
  const notepad: Notepad = {
    read: () => pages.text,
    write: (text) => {
      pages.text = text;
    },
  };
  const store = {
    ping: async () => {
      if (state.answer !== null) await state.answer;
      if (state.fault !== null) throw new AppError('store_unavailable', state.fault);
    },
    addMessages: async (messages: readonly NewMessage[]) => {
      for (const { thread, edits, shown } of messages)
        if ('view' in shown && shown.view === 'alarm') note(thread.address, edits, shown);
    },
  };
  const note = (address: string, edits: number | null, { facts, over }: Extract<View, { view: 'alarm' }>) => {
    const error = 'error' in facts ? facts.error : '';
    said.push(`${address} ${edits ?? 'new'} ${facts.cause}${over === null ? '' : ' over'}: ${error}`);
  };
  const platform: Pick<Platform, 'tell'> = {
    tell: async ({ thread }, view, edits) => {
      if (state.sent !== 'sent') return { is: state.sent, error: 'no' } as Told;
      note(thread.address, edits, view);
      return { is: 'sent', messageId: 10 + Number(thread.address) };
    },
  };
  const place = (address: string) => ({ thread: { provider: 'telegram', address, topic: null }, timezone: null });
  const ears: Ears = new Map([
    ['telegram:user:1', place('1')],
    ['telegram:user:2', place('2')],
    ['telegram:user:3', null],
  ]);
  /** A process: what it had in memory is gone with it. */
  const boot = () => {
    const log = memoryLog();
    const databaseLook = createDatabaseLook({ store, clock: time, stopwatch: time, timer: time });
    const alarm = createDatabaseAlarm({
      store,
      databaseLook,
      schedulerAway: () => state.away,
      platform,
      notepad,
      log,
      clock: time,
      ids: countingIds(),
      bell: { ring: () => undefined },
      ears: async () => ears,
    });
    const looks = async (count: number) => {
      for (let made = 0; made < count; made += 1) {
        const looked = alarm.look();
        for (let turns = 0; turns < 9; turns += 1) await Promise.resolve();
        await time.advance(minute / 2);
        await looked;
      }
    };
    const lines = () => log.lines.filter(({ event }) => event === 'database_unusable');
    return { looks, lines, open: () => alarm.open().map(({ facts: { cause } }) => cause) };
  };
  return { state, said, boot };
}

describe('a database that cannot be used', () => {
  it('is told to each owner once, and its message says when it is over', async () => {
    const { state, said, boot } = aDatabase();
    const { looks, lines, open } = boot();
    await looks(3);
    state.fault = full;
    await looks(30);
    expect(said).toEqual([`1 new disk: ${full}`, `2 new disk: ${full}`]);
    expect(lines()).toHaveLength(1);
    expect(open()).toEqual(['disk']);
    state.fault = null;
    await looks(30);
    expect(said.slice(2)).toEqual([`1 11 disk over: ${full}`, `2 12 disk over: ${full}`]);
    expect(open()).toEqual([]);
  });

  it('is remembered over a restart: told no second time, and changed when it is over', async () => {
    const { state, said, boot } = aDatabase();
    state.fault = full;
    await boot().looks(4);
    const next = boot();
    await next.looks(4);
    expect(said).toHaveLength(2);
    expect(next.open()).toEqual(['disk']);
    state.fault = null;
    await boot().looks(1);
    expect(said.slice(2)).toEqual([`1 11 disk over: ${full}`, `2 12 disk over: ${full}`]);
    await boot().looks(2);
    expect(said).toHaveLength(4);
  });

  it('is no word when it passes at once, and is told when Telegram can be reached', async () => {
    const { state, said, boot } = aDatabase();
    const { looks } = boot();
    state.fault = full;
    await looks(1);
    state.fault = null;
    await looks(2);
    expect(said).toEqual([]);
    state.fault = full;
    state.sent = 'unreached';
    await looks(5);
    state.sent = 'sent';
    await looks(2);
    expect(said).toHaveLength(2);
    state.fault = null;
    await looks(2);
    expect(said).toHaveLength(4);
  });

  it('is told also where only the scheduler finds no room', async () => {
    const { state, said, boot } = aDatabase();
    const { looks } = boot();
    state.away = full;
    await looks(3);
    expect(said).toEqual([`1 new disk: ${full}`, `2 new disk: ${full}`]);
    state.away = null;
    await looks(1);
    expect(said.slice(2)).toEqual([`1 11 disk over: ${full}`, `2 12 disk over: ${full}`]);
  });

  it('that was silent and names a reason later says so in the same message', async () => {
    const { state, said, boot } = aDatabase();
    const { looks, lines } = boot();
    let answer = () => {};
    state.answer = new Promise((resolve) => {
      answer = resolve;
    });
    await looks(4);
    expect(said).toEqual(['1 new database: It does not answer.', '2 new database: It does not answer.']);
    state.fault = full;
    answer();
    await looks(4);
    expect(said.slice(2)).toEqual([`1 11 disk: ${full}`, `2 12 disk: ${full}`]);
    expect(lines()).toHaveLength(2);
  });
});

interface Word {
  readonly address: string;
  readonly topic: number | null;
  readonly edits: number | null;
  readonly cause: string;
  readonly over: number | null;
}

/** Words about alarms, in the order in which they were put into the outbox. */
function words({ database }: Pipeline): Word[] {
  const rows = database
    .prepare<[], { address: string; topic: number | null; edits: number | null; content: string }>(
      `select c.address, d.to_topic as topic, d.edits, d.content from deliveries d join chats c on c.id = d.chat_id
        where d.kind = 'answer' and d.task_id is null order by d.rowid`,
    )
    .all();
  return rows.flatMap(({ content, ...place }) => {
    const { view, over, facts } = JSON.parse(content) as {
      view: string;
      over: number | null;
      facts: { cause: string };
    };
    return view === 'alarm' ? [{ ...place, cause: facts.cause, over }] : [];
  });
}

const look = async (p: Pipeline) => {
  await p.rooms.alarms.look(p.time.now());
  await p.settle();
};

/** A task that is paused for its failures. */
async function aFailing(p: Pipeline, title = 'Fails') {
  const task = await p.create({
    title,
    schedule: hourly,
    action: { kind: 'echo', fail_attempts: 99, error: 'final' },
    policies: { auto_pause: 3 },
  });
  for (let hours = 0; hours < 3; hours += 1) await p.pass(60 * minute);
  expect((await p.rooms.tasks.get(task.id)).state).toBe('paused');
  return task;
}

/** A finding that only a person can end. */
const findingIn = ({ store }: Pipeline, count: number, at: number) =>
  store.writeNote(
    'audit',
    JSON.stringify({ at: new Date(at).toISOString(), findings: count === 0 ? [] : [{ check: 'slot_twice', count }] }),
    at,
  );

describe('an alarm', () => {
  it('is one message to each owner, which is changed with the trouble and when that is over', async () => {
    const p = await aPipeline();
    await anOwner(p);
    await findingIn(p, 1, start);
    for (let looks = 0; looks < 3; looks += 1) await look(p);
    const [told] = words(p);
    expect(words(p)).toEqual([{ address: '1001', topic: null, edits: null, cause: 'audit', over: null }]);
    expect(await p.rooms.alarms.open()).toMatchObject({
      open: [{ about: 'slot_twice', facts: { count: 1 } }],
      unheard: [],
    });
    await findingIn(p, 2, start);
    await look(p);
    await findingIn(p, 0, start);
    await look(p.restart());
    const sent = p.database
      .prepare(`select message_id from deliveries where kind = 'answer' and edits is null`)
      .pluck()
      .get();
    const over = p.time.now();
    // The row of the message tells what it shows by now.
    expect(words(p)).toEqual([
      { ...told, over },
      { ...told, edits: sent },
      { ...told, edits: sent, over },
    ]);
    expect((await p.rooms.alarms.open()).open).toEqual([]);
    for (let looks = 0; looks < 3; looks += 1) await look(p);
    expect(words(p)).toHaveLength(3);
    await findingIn(p, 1, start + 1);
    await p.time.advance(minute);
    await look(p);
    expect(words(p).at(-1)).toEqual(told);
  });

  it('that is over before it was sent says so at once, and one in doubt when it is settled', async () => {
    const p = await aPipeline();
    await anOwner(p);
    await findingIn(p, 1, start);
    await p.rooms.alarms.look(start);
    await findingIn(p, 0, start);
    await p.rooms.alarms.look(start);
    expect(words(p)).toMatchObject([{ edits: null, over: start }]);
    await findingIn(p, 1, start + 1);
    await p.rooms.alarms.look(start + 1);
    p.database.exec(`update deliveries set status = 'unknown', sends = 1 where content like '%"over":null%'`);
    await findingIn(p, 0, start + 1);
    await p.rooms.alarms.look(start + 1);
    await p.rooms.alarms.look(start + 1);
    expect(words(p)).toHaveLength(2);
    p.database.exec(
      `update deliveries set status = 'delivered', message_id = 77, platform_chat_id = '1001', delivered_at = 1 where status = 'unknown'`,
    );
    await p.rooms.alarms.look(start + 1);
    expect(words(p).slice(2)).toMatchObject([{ edits: 77, over: start + 1 }]);
  });

  it.each([
    ['private', [{ address: '1001', topic: null }]],
    ['off', []],
    [{ provider: 'telegram', address: '-1001234', topic: 5 }, [{ address: '-1001234', topic: 5 }]],
    [{ provider: 'telegram', address: '-404', topic: null }, [{ address: '1001', topic: null }]],
  ] as const)('goes where its owner wants it: %o', async (place, told) => {
    const p = await aPipeline();
    await anOwner(p);
    await aChat(p);
    await p.rooms.alarms.setPlace(actor, place);
    await findingIn(p, 1, start);
    await look(p);
    // The topic is none of ours, so what Telegram refuses there is shown in the base thread as well.
    expect(words(p).slice(0, 1)).toMatchObject(told);
    expect(await p.rooms.alarms.open()).toMatchObject({ open: [{ about: 'slot_twice' }], unheard: [] });
  });

  it('of owners who want it in one chat is one message there', async () => {
    const p = await aPipeline();
    await anOwner(p);
    await aChat(p);
    await p.store.changeUser('telegram:user:7', { role: 'owner' }, start);
    for (const owner of [actor, 'telegram:user:7'] as const)
      await p.rooms.alarms.setPlace(owner, { provider: 'telegram', address: '-1001234', topic: null });
    await findingIn(p, 1, start);
    await look(p);
    expect(words(p)).toHaveLength(1);
  });

  it('of an owner without a private chat is in the log and the status alone, until there is one', async () => {
    const p = await aPipeline();
    await p.store.changeUser(actor, { role: 'owner' }, start);
    await findingIn(p, 1, start);
    for (let looks = 0; looks < 3; looks += 1) await look(p);
    expect(words(p)).toEqual([]);
    expect(await p.rooms.alarms.open()).toMatchObject({ open: [{ about: 'slot_twice' }], unheard: [actor] });
    expect(p.log.lines.filter(({ event }) => event === 'alarms_unheard')).toMatchObject([{ facts: { owners: actor } }]);
    await anOwner(p);
    await look(p);
    expect(words(p)).toMatchObject([{ address: '1001', cause: 'audit' }]);
  });
});

describe('tasks that were paused for their failures', () => {
  it('are told together, once, and are over when somebody has resumed them', async () => {
    const p = await aPipeline();
    await anOwner(p);
    const [first, second] = [await aFailing(p, 'One'), await aFailing(p, 'Two')];
    await look(p);
    await look(p.restart());
    expect(words(p)).toMatchObject([{ address: '1001', cause: 'auto_pause', over: null }]);
    const third = await aFailing(p, 'Three');
    await look(p);
    expect(words(p)).toHaveLength(2);
    const resume = async (taskId: string) => p.rooms.tasks.resume({ taskId, actor });
    await resume(first.id);
    await look(p);
    expect(words(p)).toHaveLength(2);
    await resume(second.id);
    await look(p);
    expect(words(p).slice(2)).toMatchObject([{ cause: 'auto_pause', over: p.time.now() }]);
    expect((await p.rooms.alarms.open()).open).toMatchObject([
      { facts: { tasks: [{ id: third.id, title: 'Three' }] } },
    ]);
  });

  it('are no news in the chat where their pause was told', async () => {
    const p = await aPipeline();
    await anOwner(p);
    const task = await p.create({ schedule: hourly }, { threadKey: 'telegram:chat:1001' });
    p.database
      .prepare(`update tasks set state = 'paused', next_at = null, paused_reason = 'auto:consecutive_failures',
      paused_at = ? where id = ?`)
      .run(start, task.id);
    await look(p);
    expect(words(p)).toEqual([]);
    expect((await p.rooms.alarms.open()).open).toHaveLength(1);
  });
});
