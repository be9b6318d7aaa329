import { describe, expect, it } from 'vitest';
import { promptTemplates } from '../../support/fakes.ts';
import { actor, aPipeline, hour, minute, start, texts, withTask, afterAnHour } from '../../support/pipeline.ts';
import { auditOf, find, hourly, iso, kinds, newsOf, nextIn, once, story, target } from './world.ts';

describe('an edit of a template', () => {
  const sound = 'Hello {{ task.title }}';
  const aTemplate = async () => {
    const templates = promptTemplates();
    const parsed: string[] = [];
    const p = await aPipeline({
      templates: {
        ...templates,
        check: (template, owner) => {
          parsed.push(template.text);
          return templates.check(template, owner);
        },
      },
    });
    const task = await p.create({ title: 'T', instructions: sound, schedule: hourly });
    return { p, task, parsed };
  };

  it('that has a fault is refused, and nothing of it is written', async () => {
    const { p, task, parsed } = await aTemplate();
    const patch = { title: 'New', instructions: '{{ broken' };
    await expect(p.rooms.tasks.edit(target(task), patch)).rejects.toMatchObject({ code: 'invalid_template' });
    expect(await find(p, task)).toMatchObject({ title: 'T', instructions: sound });
    await p.rooms.tasks.edit(target(task), { ...patch, instructions: 'Bye {{ task.title }}' });
    expect(await find(p, task)).toMatchObject({ title: 'New', instructions: 'Bye {{ task.title }}' });
    expect(parsed).toEqual([sound, '{{ broken', 'Bye {{ task.title }}']);
  });

  it('is parsed as well where a plain text becomes one, and where an undo brings it back', async () => {
    const { p, task, parsed } = await aTemplate();
    const plain = { kind: 'message', plain: true };
    await p.rooms.tasks.edit(target(task), { instructions: '{{ broken', action: plain });
    await expect(p.rooms.tasks.edit(target(task), { action: { kind: 'message' } })).rejects.toThrow('action.plain');
    expect(parsed).toEqual([sound, '{{ broken']);
    await p.rooms.tasks.undo(target(task), null);
    expect(await find(p, task)).toMatchObject({ instructions: sound });
    expect(parsed).toEqual([sound, '{{ broken', sound]);
  });

  it('is not asked for by what leaves the text as it is', async () => {
    const { p, task, parsed } = await aTemplate();
    await p.rooms.tasks.edit(target(task), { title: 'New', tags: ['a'] });
    expect(parsed).toEqual([sound]);
  });
});

describe('an edit', () => {
  it('answers each field that it changed, before and after, and the entry to undo it by', async () => {
    const { p, task } = await withTask({
      title: 'Old',
      subject: 's',
      tags: ['a'],
      schedule: hourly,
      policies: { grace: 'PT1M' },
    });
    const edited = await p.rooms.tasks.edit(target(task), {
      title: 'New',
      instructions: task.instructions,
      subject: null,
      tags: ['a', 'b'],
      policies: { grace: null, overlap: 'queue' },
      context: { seen: 1 },
    });
    expect(edited.changes).toEqual({
      title: { before: 'Old', after: 'New' },
      subject: { before: 's', after: null },
      tags: { before: ['a'], after: ['a', 'b'] },
      policies: { before: { grace: 'PT1M' }, after: { overlap: 'queue' } },
      context: { before: {}, after: { seen: 1 } },
    });
    const entry = auditOf(p).at(-1);
    expect(edited.entryId).toBe(String(entry?.id));
    expect(entry).toMatchObject({
      actor,
      verb: 'edit',
      before: expect.stringContaining('"title":"Old"') as string,
      after: expect.stringContaining('"title":"New"') as string,
    });
  });

  it('that says what is there already changes nothing, writes nothing and raises no version', async () => {
    const { p, task } = await afterAnHour({ title: 'T', schedule: hourly, tags: ['a'], policies: { max_runs: 5 } });
    const before = await find(p, task);
    const { verbs, events } = await newsOf(p, async () => {
      for (const patch of [
        {},
        { title: 'T ' },
        { schedule: hourly, tags: ['a'] },
        { policies: { max_runs: 5 } },
        { enabled: true },
      ]) {
        expect(await p.rooms.tasks.edit(target(task), patch)).toMatchObject({ changes: {}, entryId: null });
      }
    });
    expect([verbs, events, await find(p, task)]).toEqual([[], [], before]);
  });

  it('an upsert of the same definition changes nothing', async () => {
    const p = await aPipeline();
    const input = { title: 'T', schedule: hourly, subject: 's', tags: ['a'], policies: { missed: 'all' } } as const;
    const task = await p.create(input);
    await p.pass(hour);
    const before = await find(p, task);
    const { verbs, events } = await newsOf(p, () => p.create(input, { onExisting: 'upsert' }));
    expect([verbs, events, await find(p, task)]).toEqual([[], [], before]);
  });

  it('switches on and off as pause and resume do, with the same verbs', async () => {
    const { p, task } = await withTask({ schedule: hourly });
    const off = await newsOf(p, () => p.rooms.tasks.edit(target(task), { enabled: false }));
    const on = await newsOf(p, () => p.rooms.tasks.edit(target(task), { enabled: true }));
    expect([off.verbs, off.events, on.verbs, on.events]).toEqual([
      ['pause'],
      ['task.pause'],
      ['resume'],
      ['task.resume'],
    ]);
    expect(await nextIn(p, task)).toBe(60);
  });

  it.each(kinds)('to every kind of schedule, and from it, plans anew: %s', async (_kind, schedule) => {
    const { p, task } = await withTask({ schedule: { ...hourly, cron: '30 * * * *' } });
    await p.rooms.tasks.edit(target(task), { schedule });
    expect(await nextIn(p, task)).toBe(60);
    await p.rooms.tasks.edit(target(task), { schedule: { ...hourly, cron: '30 * * * *' } });
    expect(await nextIn(p, task)).toBe(30);
  });

  it('that is refused leaves nothing of itself, not even the slots it took up', async () => {
    const { p, task } = await withTask({ schedule: hourly });
    await p.time.advance(hour);
    const { verbs, events } = await newsOf(p, async () => {
      await expect(p.rooms.tasks.edit(target(task), { schedule: once(-1) })).rejects.toMatchObject({
        code: 'invalid_schedule',
      });
    });
    expect([verbs, events, await story(p, task), await nextIn(p, task)]).toEqual([[], [], [], 60]);
  });
});

describe('the slots that an outage made due', () => {
  const everyMinute = { kind: 'interval', interval: 'PT1M', timezone: 'UTC' } as const;

  it.each(['pause', 'skip', 'delete', 'edit'] as const)(
    'of a long grace are taken up by %s, one run at a time',
    async (verb) => {
      const { p, task } = await withTask({ schedule: everyMinute, policies: { grace: 'P1D' } });
      await p.time.advance(3 * hour);
      const { tasks } = p.rooms;
      const verbs = {
        pause: () => tasks.pause(target(task), null),
        skip: () => tasks.skip(target(task), { count: 1, from: null }),
        delete: () => tasks.delete(target(task)),
        edit: () => tasks.edit(target(task), { title: 'New' }),
      };
      await verbs[verb]();
      const rows = (await p.history(task.id)).filter(({ slotAt }) => slotAt <= p.time.now());
      expect(rows).toHaveLength(180);
      expect(rows.filter(({ runId }) => runId !== null)).toHaveLength(1);
    },
  );

  it.each(['allow', 'queue'] as const)('stay within max_runs however many there are: %s', async (overlap) => {
    const { p, task } = await withTask({ schedule: everyMinute, policies: { grace: 'P1D', max_runs: 7, overlap } });
    await p.time.advance(3 * hour);
    await p.rooms.tasks.edit(target(task), { title: 'New' });
    await p.settle();
    const rows = await p.history(task.id);
    expect(rows.filter(({ status }) => status === 'succeeded')).toHaveLength(7);
    expect(await find(p, task)).toMatchObject({ state: 'completed', counters: { boundedRuns: 7 } });
  });
});

describe('the versions of a task', () => {
  it('are what it was told, newest first, one for each real change, with who told it', async () => {
    const { p, task } = await withTask({ title: 'One', schedule: hourly });
    const edit = (title: string, by: string = actor) =>
      p.rooms.tasks.edit({ taskId: task.id, actor: by as typeof actor }, { title });
    await edit('Two', 'telegram:user:7');
    await edit('Two');
    await p.rooms.tasks.pause(target(task), null);
    await p.rooms.tasks.edit(target(task), { context: { seen: 1 } });
    await edit('Three');
    const versions = await p.rooms.tasks.versions(task.id);
    expect(versions.map(({ definition, actor: by }) => [definition.title, by])).toEqual([
      ['Three', actor],
      ['Two', 'telegram:user:7'],
      ['One', actor],
    ]);
    expect(versions[0]?.definition).toEqual({
      title: 'Three',
      instructions: task.instructions,
      action: task.action,
      schedule: task.schedule,
      policies: {},
      subject: null,
      tags: [],
    });
  });

  it('have one more when a change is undone', async () => {
    const { p, task } = await withTask({ title: 'One', schedule: hourly });
    await p.rooms.tasks.edit(target(task), { title: 'Two' });
    await p.rooms.tasks.undo(target(task), null);
    expect((await p.rooms.tasks.versions(task.id)).map(({ definition }) => definition.title)).toEqual([
      'One',
      'Two',
      'One',
    ]);
  });

  it('of a task from before there were versions begin with what it was when it first changed', async () => {
    const { p, task } = await withTask({ title: 'One', schedule: hourly });
    p.database.exec('delete from task_versions');
    expect(await p.rooms.tasks.versions(task.id)).toEqual([]);
    await p.pass(minute);
    await p.rooms.tasks.edit(target(task), { title: 'Two' });
    expect((await p.rooms.tasks.versions(task.id)).map(({ at, definition }) => [iso(at), definition.title])).toEqual([
      [iso(start + minute), 'Two'],
      [iso(start), 'One'],
    ]);
  });

  it('are unknown for a deleted task', async () => {
    const { p, task } = await withTask({ schedule: hourly });
    await p.rooms.tasks.delete(target(task));
    await expect(p.rooms.tasks.versions(task.id)).rejects.toMatchObject({ code: 'task_not_found' });
  });
});

describe('editing', () => {
  it('of the schedule keeps a slot that was due already, and the next one follows the new schedule and text', async () => {
    const { p, task } = await withTask({ schedule: hourly, instructions: 'old' });
    await p.time.advance(hour + 50);
    const { task: edited } = await p.rooms.tasks.edit(target(task), {
      schedule: { kind: 'cron', cron: '30 * * * *', timezone: 'UTC' },
      instructions: 'new',
    });
    expect(edited.nextAt).toBe(start + hour + 30 * minute);
    await p.settle();
    await p.pass(30 * minute);
    expect((await p.history(task.id)).map(({ slotAt, status }) => [slotAt - start, status])).toEqual([
      [hour, 'succeeded'],
      [hour + 30 * minute, 'succeeded'],
    ]);
    expect(texts(p)).toEqual(['old', 'new']);
  });

  it('with the same rule, sent again, keeps its anchor and its count', async () => {
    const p = await aPipeline();
    const schedule = { kind: 'rrule', rrule: 'FREQ=DAILY;COUNT=3', timezone: 'UTC' } as const;
    const task = await p.create({ title: 'T', schedule });
    await p.pass(26 * hour);
    const { task: edited } = await p.rooms.tasks.edit(target(task), { schedule });
    const upserted = await p.create({ title: 'T', schedule }, { onExisting: 'upsert' });
    expect([edited.schedule, upserted.schedule]).toEqual([task.schedule, task.schedule]);
    expect(upserted.nextAt).toBe(start + 48 * hour);
  });

  it('to an anchor that is named follows it', async () => {
    const p = await aPipeline();
    const every = (start_at: string) => ({ kind: 'interval', interval: 'P1D', start_at, timezone: 'UTC' }) as const;
    const task = await p.create({ title: 'T', schedule: every('2026-11-18T12:00:00Z') });
    const moved = await p.create({ title: 'T', schedule: every('2026-11-18T20:00:00Z') }, { onExisting: 'upsert' });
    expect([moved.id, moved.nextAt]).toEqual([task.id, start + 11 * hour]);
  });

  it('with the same schedule keeps its anchor', async () => {
    const p = await aPipeline();
    const schedule = { kind: 'interval', interval: 'PT1H', timezone: 'UTC' } as const;
    const task = await p.create({ schedule });
    await p.pass(20 * minute);
    const { task: edited } = await p.rooms.tasks.edit(target(task), { schedule, title: 'Same' });
    expect(edited.nextAt).toBe(start + hour);
  });

  it('names only what it changes, and null takes a policy back to its default', async () => {
    const { p, task } = await withTask({
      schedule: hourly,
      policies: { overlap: 'queue', grace: 'PT1M' },
      tags: ['a'],
      subject: 's',
    });
    const { task: edited } = await p.rooms.tasks.edit(target(task), { policies: { overlap: null, priority: 7 } });
    expect(edited).toMatchObject({
      policies: { grace: 'PT1M', priority: 7 },
      tags: ['a'],
      subject: 's',
      title: task.title,
    });
    expect(edited.policies).not.toHaveProperty('overlap');
  });

  it('of the kind of action lets work that was admitted go on as it was', async () => {
    const { p, task } = await afterAnHour({ schedule: hourly, action: { kind: 'echo', fail_attempts: 1 } });
    await p.rooms.tasks.edit(target(task), { action: { kind: 'message' } });
    await p.pass(minute);
    expect(await p.history(task.id)).toMatchObject([{ status: 'succeeded', attempts: [{ status: 'failed' }, {}] }]);
  });

  it('of the bounds holds for what waits already', async () => {
    const p = await aPipeline();
    const action = { kind: 'echo', delay_ms: 50_000 };
    const task = await p.create({
      schedule: { kind: 'interval', interval: 'PT1M', timezone: 'UTC' },
      action,
      policies: { overlap: 'queue', timeout: 'PT5M' },
    });
    await p.pass(minute);
    for (const slot of [2, 3]) await p.rooms.scheduler.step(start + slot * minute, 100);
    await p.rooms.tasks.edit(target(task), { policies: { max_runs: 1 } });
    await p.pass(50_000);
    expect((await p.history(task.id)).map(({ status, reason }) => [status, reason])).toEqual([
      ['succeeded', null],
      ['skipped', 'max_runs'],
      ['skipped', 'max_runs'],
    ]);
  });

  it('revives a completed task only within the quota', async () => {
    const p = await aPipeline({ settings: { QUOTA_PER_CHAT: 1 } });
    const first = await p.create({ schedule: { kind: 'once', once_at: '2026-11-18T09:30:00Z', timezone: 'UTC' } });
    await p.pass(hour);
    await p.create();
    await expect(p.rooms.tasks.edit(target(first), { schedule: hourly })).rejects.toMatchObject({
      code: 'quota_exceeded',
    });
    expect((await p.rooms.tasks.get(first.id)).state).toBe('completed');
  });
});
