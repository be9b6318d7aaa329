import { chanceOf } from '../support/chance.ts';
import { minute } from '../support/fakes.ts';
import { someStart } from './definitions.ts';
import { breachesOf } from './invariants/all.ts';
import type { Journal } from './journal.ts';
import { moves, opening } from './moves.ts';
import { openWorld, type World } from './world.ts';

export interface Simulated {
  readonly seed: number;
  /** Promises that were not kept, as sentences. */
  readonly breaches: readonly string[];
  readonly trace: readonly string[];
  readonly figures: Figures;
}

export type Figures = Readonly<Record<'tasks' | 'slots' | 'runs' | 'deliveries' | 'kills' | 'faults', number>>;

/** One seed is one world, and the same seed is always the same world. */
export async function simulate(seed: number, look: (world: World) => void = () => {}): Promise<Simulated> {
  const start = someStart(chanceOf(seed, 'start'));
  const world = await openWorld(seed, start);
  try {
    await history(world);
    const restsAt = await calmEnd(world);
    const isWrong = world.wrong.length > 0;
    const { slots, breaches } = isWrong ? { slots: 0, breaches: [] } : breachesOf(world, restsAt);
    const told = [...world.wrong, ...breaches.map(({ promise, rows }) => `${promise}: ${JSON.stringify(rows)}`)];
    return { seed, breaches: [...new Set(told)], trace: world.journal.lines, figures: figuresOf(world, slots) };
  } finally {
    look(world);
    world.close();
  }
}

async function history(world: World): Promise<void> {
  const { chance, journal } = world;
  await rise(world);
  for (let made = chance.between(1, 3); made > 0; made -= 1) journal.tell(`create ${await opening(world)}`);
  for (let left = chance.between(10, 40); left > 0 && world.wrong.length === 0; left -= 1) {
    const move = chance.weigh(moves);
    journal.tell(`${move.name} ...`);
    const told = await move.play(world);
    journal.tell(`${move.name} ${told}`);
    world.observe(false);
    if (world.life().fate.dead) await rise(world, move.name);
  }
}

/** A process has died, or none has lived yet; after a while there is another. */
async function rise(world: World, after?: string): Promise<void> {
  const { chance, journal, time } = world;
  for (let dead = after !== undefined; ; dead = true) {
    if (dead) {
      journal.dealt.kills += 1;
      world.bury();
      const down = chance.between(0, chance.pick([0, 100, 20_000, 30 * minute, 20 * 60 * minute]));
      journal.tell(`the process is dead; the next one comes after ${down} ms`);
      await time.advance(down);
    }
    // A process that cannot open its database ends, and is started until it can.
    await time.advance(world.siege.leftMs);
    // Other rules of time are computed with anew, and nothing may come of that.
    if (chance.is(0.3)) journal.zoneRules += 1;
    await world.begin(`2026-${journal.zoneRules}`);
    if (!world.life().fate.dead) return;
  }
}

/** Nothing fails any more, a process lives, and when nothing moves any longer the account can be closed. */
async function calmEnd(world: World): Promise<number> {
  const { chance, journal, time, chat, target } = world;
  journal.tell('all is calm');
  world.life().fate.calm();
  chat.weather(0);
  chat.siege.lift();
  world.siege.lift();
  chat.mend();
  target.mend();
  if (chance.is(0.3)) {
    world.life().fate.kill();
    await rise(world, 'calm');
    world.life().fate.calm();
  }
  await world.live(chance.between(1, 30) * minute);
  // What was on its way may have met a fault yet.
  chat.mend();
  const restsAt = time.now();
  await world.settle();
  // With a clock that went back the rows of one task overlap, and the audit says so.
  const found = await world.audit();
  if (!journal.setBack) world.wrong.push(...found.filter((finding) => !isYetToCome(finding, world)));
  journal.tell('no slot comes any more');
  await world.comeToRest(restsAt);
  world.observe(false);
  world.bury();
  return restsAt;
}

/**
 * A topic in doubt that no part waits for any more stands so until the next one comes, and a run that was left behind is
 * taken over when there is room for it.
 */
function isYetToCome(finding: string, world: World): boolean {
  if (finding.includes('A topic has been')) return true;
  const held = world.database.prepare(`select count(*) from runs where status = 'running' and boot_id = ?`).pluck();
  const isFull = Number(held.get(world.life().bootId)) >= world.settings.RUN_CONCURRENCY;
  return isFull && finding.includes('A run belongs to a process that is gone');
}

function figuresOf({ database, journal }: World, slots: number): Figures {
  const count = (table: string) => Number(database.prepare(`select count(*) from ${table}`).pluck().get());
  const { thrown, lost, kills }: Journal['dealt'] = journal.dealt;
  return {
    tasks: count('tasks'),
    slots,
    runs: count('runs'),
    deliveries: count('deliveries'),
    kills,
    faults: thrown + lost,
  };
}
