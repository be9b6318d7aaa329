import { describe, expect, it } from 'vitest';
import { createChats, type Chats } from '../../../src/app/use-cases/reachable-chats.ts';
import { countingIds } from '../../support/fakes.ts';
import { aChat, actor, anOwner, aPipeline, hour, start, type Pipeline, hourly } from '../../support/pipeline.ts';

const groupId = 'chat:-1001234';
const ownersId = 'chat:1001';
const cause = 'bot was kicked from the supergroup chat';

interface Place {
  readonly p: Pipeline;
  readonly chats: Chats;
  readonly rung: string[];
}

/** An approved group, and an owner whose private chat is known. */
async function aPlace(): Promise<Place> {
  const p = await aPipeline();
  const { store } = p;
  await aChat(p, '-1001234', { approvedBy: actor });
  await anOwner(p);
  const rung: string[] = [];
  const bell = { ring: (room: string) => rung.push(room) };
  const chats = createChats({ store, clock: p.time, ids: countingIds('word'), bell, log: p.log });
  return { p, chats, rung };
}

/** The words that were put into the outbox of each chat. */
function words({ p }: Place): unknown[] {
  return p.database
    .prepare<[], { chat_id: string; content: string }>(
      `select chat_id, content from deliveries where kind = 'notice' order by id`,
    )
    .all()
    .map(({ chat_id, content }) => ({ chat_id, ...(JSON.parse(content) as object) }));
}

const events = ({ p }: Place, event: string) => p.log.lines.filter((line) => line.event === event);

describe('a chat that can be reached no more', () => {
  it('has its active tasks paused, and its owners told once', async () => {
    const place = await aPlace();
    const { p, chats, rung } = place;
    const first = await p.create({ schedule: hourly });
    const second = await p.create({ schedule: hourly });
    await p.rooms.tasks.pause({ taskId: second.id, actor }, null);
    await chats.gone(groupId, cause);
    await chats.gone(groupId, cause);
    expect(await p.rooms.tasks.get(first.id)).toMatchObject({
      state: 'paused',
      nextAt: null,
      pausedReason: 'chat_gone',
    });
    expect((await p.rooms.tasks.get(second.id)).pausedReason).not.toBe('chat_gone');
    const word = { view: 'chatGone', title: 'Team', address: '-1001234', paused: 1, cause };
    expect(words(place)).toEqual([{ chat_id: ownersId, ...word }]);
    expect(events(place, 'chat_gone')).toMatchObject([{ facts: { chat_id: groupId, tasks_paused: 1 } }]);
    expect(rung).toContain('deliverer');
  });

  it('tells no owner in the chat that is gone itself', async () => {
    const place = await aPlace();
    await place.chats.gone(ownersId, 'bot was blocked by the user');
    expect(words(place)).toEqual([]);
    expect(events(place, 'chat_gone')).toHaveLength(1);
  });
});

describe('a chat that can be reached again', () => {
  it('is told once how many of its tasks are paused, and a person resumes them', async () => {
    const place = await aPlace();
    const { p, chats } = place;
    const task = await p.create({ schedule: hourly });
    await p.create({ schedule: hourly });
    await chats.gone(groupId, cause);
    await chats.back(groupId);
    await chats.back(groupId);
    expect(words(place).slice(1)).toEqual([{ chat_id: groupId, view: 'chatBack', paused: 2 }]);
    expect(events(place, 'chat_back')).toHaveLength(1);
    expect((await p.store.findChat('-1001234'))?.state).toBe('approved');
    expect((await p.rooms.tasks.get(task.id)).state).toBe('paused');
    await p.rooms.tasks.resume({ taskId: task.id, actor });
    await p.pass(hour);
    expect((await p.history(task.id)).at(-1)).toMatchObject({ status: 'succeeded' });
  });

  it('gets what was held back for it', async () => {
    const place = await aPlace();
    const { p, chats } = place;
    const task = await p.create({ schedule: hourly });
    p.chat.failSends('blocked');
    await p.pass(hour);
    expect(await p.history(task.id)).toMatchObject([{ deliveries: [{ status: 'blocked' }] }]);
    await chats.gone(groupId, cause);
    await chats.back(groupId);
    await p.settle();
    expect(await p.history(task.id)).toMatchObject([{ deliveries: [{ status: 'delivered' }] }]);
  });

  it('is no news when it never was gone', async () => {
    const place = await aPlace();
    await place.chats.back(groupId);
    expect(words(place)).toEqual([]);
    expect(place.rung).toEqual([]);
  });

  it('is told nothing where nobody was let in and nothing was lost', async () => {
    const place = await aPlace();
    await place.p.store.changeChat(groupId, { state: 'refused' }, start);
    await place.chats.gone(groupId, cause);
    await place.chats.back(groupId);
    expect(words(place).filter((word) => (word as { view: string }).view === 'chatBack')).toEqual([]);
  });

  it('can be gone once more, and is told of again', async () => {
    const place = await aPlace();
    const { p, chats } = place;
    const task = await p.create({ schedule: hourly });
    await chats.gone(groupId, cause);
    await chats.back(groupId);
    await p.rooms.tasks.resume({ taskId: task.id, actor });
    await chats.gone(groupId, cause);
    expect(words(place).map((word) => (word as { view: string }).view)).toEqual(['chatGone', 'chatBack', 'chatGone']);
  });
});
