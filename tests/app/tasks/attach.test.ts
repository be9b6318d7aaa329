import { describe, expect, it } from 'vitest';
import { anOutbound } from '../../support/outbound.ts';
import { aPipeline, group, hour, start, withTask, afterAnHour } from '../../support/pipeline.ts';
import { ended, entryOf, failing, find, hourly, iso, target } from './world.ts';

const nowhere = { threadKey: 'cli:default' };

describe('a task that is attached to a chat', () => {
  it('has its next results in a topic of its own there', async () => {
    const { p, task } = await withTask({ schedule: hourly, title: 'Plants' }, nowhere);
    await ended(p, task);
    expect(p.chat.shown).toEqual([]);
    await p.rooms.tasks.attach(target(task), group);
    await p.pass(hour);
    expect(p.chat.topics).toMatchObject([{ chatId: '-1001234', name: 'Plants' }]);
    expect(p.chat.shown).toMatchObject([{ chatId: '-1001234', text: 'Stand up!' }]);
    expect((await find(p, task)).topicState).toBe('ready');
  });

  it('shows there what is done again of a run from before', async () => {
    const { p, task } = await withTask({ schedule: hourly }, nowhere);
    const before = await ended(p, task);
    await p.rooms.tasks.attach(target(task), group);
    await p.rooms.tasks.repeat('replay', before, target(task));
    await p.settle();
    expect(p.chat.shown).toHaveLength(1);
  });

  it('is told there of a failure that was known before, where nobody has heard of it', async () => {
    const { p, task } = await afterAnHour(
      { schedule: hourly, action: failing, policies: { retry: { attempts: 1 } } },
      nowhere,
    );
    await p.rooms.tasks.attach(target(task), group);
    await p.pass(hour);
    expect(p.chat.shown).toHaveLength(1);
  });

  it('still says of a run from before that its result was delivered nowhere', async () => {
    const { p, task } = await afterAnHour({ schedule: hourly }, nowhere);
    await p.rooms.tasks.attach(target(task), group);
    await p.pass(hour);
    const lines = async (at: number) =>
      (await p.rooms.truth.why(task.id, { at: iso(at), limit: 5, after: null })).answers;
    expect((await lines(start + hour))[0]?.line).toContain('as cli:default is delivered nowhere');
    expect((await lines(start + 2 * hour))[0]?.line).toContain('; delivered');
  });

  it('cannot be detached by an undo, which says what to do instead', async () => {
    const { p, task } = await withTask({ schedule: hourly }, nowhere);
    const edit = await p.rooms.tasks.edit(target(task), { title: 'Another' });
    const attached = await p.rooms.tasks.attach(target(task), group);
    await expect(p.rooms.tasks.undo(target(task), entryOf(attached))).rejects.toMatchObject({
      code: 'nothing_to_undo',
      message: /attach it to another chat/,
    });
    expect((await p.rooms.tasks.undo(target(task), null)).undone.id).toBe(entryOf(edit));
    expect((await find(p, task)).home.provider).toBe('telegram');
  });

  it('stays where it is when it calls a host to which that chat does not let its tasks go', async () => {
    const p = await aPipeline({ outbound: anOutbound() });
    const action = { kind: 'http', url: 'https://api.example.com/price' };
    const task = await p.create({ schedule: hourly, title: 'Price', instructions: '', action }, nowhere);
    const { chatId } = await p.create({ schedule: hourly, title: 'There' }, { threadKey: group });
    await p.store.changeChat(chatId, { settings: { hosts: ['*.example.org'] } }, p.time.now());
    await expect(p.rooms.tasks.attach(target(task), group)).rejects.toMatchObject({
      code: 'invalid_action',
      message: /to which this chat keeps its tasks/,
    });
    expect((await find(p, task)).home.provider).toBe('cli');
    await p.store.changeChat(chatId, { settings: { hosts: ['api.example.com'] } }, p.time.now());
    await p.rooms.tasks.attach(target(task), group);
    expect((await find(p, task)).home.provider).toBe('telegram');
  });

  it('moves once for the same key, and the key is refused for another chat', async () => {
    const { p, task } = await withTask({ schedule: hourly }, nowhere);
    const first = await p.rooms.tasks.attach(target(task, 'k'), group);
    expect(await p.rooms.tasks.attach(target(task, 'k'), group)).toMatchObject({
      replayed: true,
      entryId: entryOf(first),
    });
    await expect(p.rooms.tasks.attach(target(task, 'k'), 'telegram:chat:-5')).rejects.toMatchObject({
      code: 'idempotency_mismatch',
    });
  });

  it('goes along when its group moves, and knows its old address', async () => {
    const { p, task } = await withTask({ schedule: hourly }, nowhere);
    await p.rooms.tasks.attach(target(task), group);
    await p.pass(hour);
    await p.store.moveChat('-1001234', '-100999', p.time.now());
    await p.pass(hour);
    for (const key of [group, 'telegram:chat:-100999:topic:1'])
      expect((await p.rooms.tasks.attach(target(task), key)).entryId).toBeNull();
    const next = p.restart();
    await next.pass(hour);
    const [old, ...moved] = next.chat.shown.map(({ chatId }) => chatId);
    expect([old, new Set(moved)]).toEqual(['-1001234', new Set(['-100999'])]);
    expect((await next.rooms.audit.run()).findings).toEqual([]);
  });
});
