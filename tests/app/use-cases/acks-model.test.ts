import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import type { AckStatus } from '../../../src/domain/ack.ts';
import { actor, aPipeline, minute, type Pipeline } from '../../support/pipeline.ts';

/** A confirmation, as the state table in the domain has it. */
interface Ack {
  status: AckStatus;
  nags: number;
  /** A reminder goes with its reason; what is asked about again has none until the next. */
  isReminded: boolean;
  /** Somebody was told that the asking has ended. */
  isTold: boolean;
  /** Its task asked for it; else its row is made by whoever says Done. */
  readonly isAsked: boolean;
  /** The deeds with which its row was made, and with which it was last closed. */
  readonly madeAt: number;
  closedAt: number;
}

/** A task that runs by hand alone, with what is to be known of each run, oldest first. */
interface Model {
  state: 'active' | 'paused' | 'deleted';
  deletedAs: 'active' | 'paused';
  isWanted: boolean;
  /** Steps until the snooze comes. */
  snoozedFor: number | null;
  /** The run whose result is snoozed; -1 without one. */
  snoozed: number;
  readonly runs: (Ack | null)[];
  /** Words to the topic and to the group that nobody has said Done. */
  escalated: number;
  deeds: number;
}

interface Real {
  p: Pipeline;
  readonly taskId: string;
  snoozeEntry: string | null;
  /** Lets the answers of the platform through, where they are held back. */
  release: () => void;
}

const every = 10 * minute;
const limit = 3;
const text = 'Take the pill\nwith water';
const snoozedSteps = 2;
/** Two runs of one millisecond would have no order, and one of them the next millisecond. */
const apart = 1;

const isOpen = (ack: Ack | null): ack is Ack => ack?.status === 'open';

function close(model: Model, status: AckStatus, of: readonly (Ack | null)[] = model.runs): void {
  for (const ack of of.filter(isOpen)) {
    const isTold = ack.isTold || status === 'given_up';
    Object.assign(ack, { status, isTold, isReminded: false, closedAt: model.deeds });
  }
}

function made(model: Model, isAsked: boolean): Ack {
  return {
    status: 'open',
    nags: 0,
    isReminded: false,
    isTold: false,
    isAsked,
    madeAt: model.deeds,
    closedAt: model.deeds,
  };
}

function ran(model: Model): void {
  if (model.isWanted) close(model, 'superseded');
  model.runs.push(model.isWanted ? made(model, true) : null);
}

/** One look at what is open, ten minutes after the last. */
function reminded(model: Model): void {
  for (const ack of model.runs.filter(isOpen)) {
    if (!model.isWanted || model.state !== 'active') close(model, 'dropped');
    else if (ack.nags < limit) Object.assign(ack, { nags: ack.nags + 1, isReminded: true });
    else {
      close(model, 'given_up');
      model.escalated += 2;
    }
  }
}

interface Deed {
  readonly name: string;
  /** How often it is taken where others are once. */
  readonly weight?: number;
  readonly fits?: (model: Model) => boolean;
  readonly does: (model: Model, real: Real, pick: number) => Promise<unknown>;
}

const targetOf = ({ taskId }: Real) => ({ taskId, actor }) as const;

async function occurrencesOf({ p, taskId }: Real): Promise<string[]> {
  return (await p.history(taskId)).filter(({ status }) => status === 'succeeded').map(({ id }) => id);
}

async function requestFor(real: Real, index: number) {
  return { ...targetOf(real), occurrenceId: (await occurrencesOf(real))[index] ?? 'none' };
}

/** One of the last, because what came before them is closed for good. */
function oneOf({ runs }: Model, pick: number): number {
  return runs.length - 1 - (pick % Math.min(runs.length, 2));
}

const hasRun = ({ runs }: Model) => runs.length > 0;

const deeds: readonly Deed[] = [
  {
    name: 'run',
    weight: 3,
    fits: ({ state }) => state !== 'deleted',
    does: async (model, real) => {
      ran(model);
      await real.p.time.advance(apart);
      await real.p.rooms.tasks.runNow(targetOf(real));
    },
  },
  {
    name: 'done',
    weight: 4,
    fits: hasRun,
    does: async (model, real, pick) => {
      const index = oneOf(model, pick);
      const ack = model.runs[index] ?? made(model, false);
      const isFirst = ack.status !== 'done';
      model.runs[index] = { ...ack, status: 'done', isReminded: false };
      if (isFirst && index === model.snoozed) model.snoozedFor = null;
      expect(await real.p.rooms.acks.done(await requestFor(real, index))).toMatchObject({ isFirst });
    },
  },
  {
    name: 'not done',
    weight: 3,
    fits: hasRun,
    does: async (model, real, pick) => {
      const index = oneOf(model, pick);
      const ack = model.runs[index] ?? null;
      const isBack = ack?.status === 'done';
      if (isBack) {
        const status = model.runs.some(isOpen) ? 'superseded' : ack.isTold ? 'given_up' : 'open';
        model.runs[index] = ack.isAsked ? { ...ack, status, closedAt: model.deeds } : null;
      }
      expect(await real.p.rooms.acks.notDone(await requestFor(real, index))).toBe(isBack);
    },
  },
  {
    name: 'pause',
    fits: ({ state }) => state === 'active',
    does: async (model, real) => {
      close(model, 'dropped');
      model.state = 'paused';
      await real.p.time.advance(apart);
      await real.p.rooms.tasks.pause(targetOf(real), null);
    },
  },
  {
    name: 'resume',
    fits: ({ state }) => state === 'paused',
    does: async (model, real) => {
      model.state = 'active';
      await real.p.rooms.tasks.resume(targetOf(real));
    },
  },
  {
    name: 'delete',
    fits: ({ state }) => state !== 'deleted',
    does: async (model, real) => {
      close(model, 'dropped');
      Object.assign(model, { state: 'deleted', deletedAs: model.state, snoozedFor: null });
      await real.p.rooms.tasks.delete(targetOf(real));
    },
  },
  {
    name: 'restore',
    fits: ({ state }) => state === 'deleted',
    does: async (model, real) => {
      model.state = model.deletedAs;
      await real.p.rooms.tasks.restore(targetOf(real));
    },
  },
  {
    name: 'snooze',
    weight: 2,
    fits: ({ state, snoozedFor }) => state === 'active' && snoozedFor === null,
    does: async (model, real, pick) => {
      model.snoozed = hasRun(model) ? oneOf(model, pick) : -1;
      close(model, 'superseded', model.runs.slice(model.snoozed, model.snoozed + 1));
      model.snoozedFor = snoozedSteps;
      await real.p.time.advance(apart);
      const of = (await occurrencesOf(real))[model.snoozed] ?? null;
      const snoozed = await real.p.rooms.tasks.snooze(targetOf(real), { forMs: snoozedSteps * every }, of);
      real.snoozeEntry = snoozed.entryId;
    },
  },
  {
    name: 'undo the snooze',
    weight: 2,
    fits: ({ snoozedFor }) => snoozedFor !== null,
    does: async (model, real) => {
      model.snoozedFor = null;
      const ack = model.runs[model.snoozed] ?? null;
      const isAskedSince = model.runs.slice(model.snoozed + 1).some((one) => one && ack && one.madeAt >= ack.closedAt);
      if (ack?.status === 'superseded' && !isAskedSince && !model.runs.some(isOpen)) ack.status = 'open';
      await real.p.rooms.tasks.undo(targetOf(real), real.snoozeEntry);
    },
  },
  {
    name: 'ask for Done, or for nothing',
    fits: ({ state }) => state !== 'deleted',
    does: async (model, real) => {
      model.isWanted = !model.isWanted;
      await real.p.rooms.tasks.edit(targetOf(real), { policies: { ack: model.isWanted ? {} : null } });
    },
  },
  {
    name: 'ten minutes',
    weight: 9,
    does: async (model, real, pick) => {
      const isOver = model.snoozedFor === 1;
      if (model.snoozedFor !== null) model.snoozedFor = isOver ? null : model.snoozedFor - 1;
      // A pause holds a snooze, and one whose time passes meanwhile brings nothing.
      const comes = isOver && model.state === 'active';
      // A run that comes asks in the place of what was open, and has been there for no time yet.
      if (!comes || !model.isWanted) reminded(model);
      if (comes) ran(model);
      await answered(real);
      if (pick === 1) real.release = real.p.chat.hold();
      await real.p.time.advance(every);
    },
  },
  {
    name: 'restart',
    does: async (_model, real) => {
      await answered(real);
      real.p = real.p.restart();
    },
  },
];

async function answered(real: Real): Promise<void> {
  real.release();
  await real.p.settle();
}

/** The rows, the messages and what comes next are what the model says. */
async function check(model: Model, real: Real): Promise<void> {
  const { database, chat, log, time, rooms } = real.p;
  const rows = database.prepare('select occurrence_id as id, status, nags, nag_at as nagAt from acks').all() as {
    readonly id: string;
    readonly status: AckStatus;
    readonly nags: number;
    readonly nagAt: number | null;
  }[];
  const known = (await occurrencesOf(real)).map((id) => rows.find((one) => one.id === id) ?? null);
  expect(known.map((row) => row && [row.status, row.nags])).toEqual(
    model.runs.map((ack) => ack && [ack.status, ack.nags]),
  );
  for (const { status, nagAt } of rows) expect(nagAt !== null && nagAt > time.now()).toBe(status === 'open');
  expect((await rooms.nagging.nextAt(time.now())) !== null).toBe(model.runs.some(isOpen));
  const shown = chat.shown.map((message) => message.text);
  // The one reminder stands there as long as somebody is to be reminded, below the results that all stay.
  expect(shown.filter((one) => one === 'Take the pill')).toHaveLength(
    model.runs.some((ack) => ack?.isReminded) ? 1 : 0,
  );
  expect(shown.filter((one) => one === text)).toHaveLength(model.runs.length);
  expect(shown.filter((one) => one === '[escalated]')).toHaveLength(model.escalated);
  expect(log.lines.filter(({ level }) => level === 'error')).toEqual([]);
}

const commands = deeds.flatMap((deed) => {
  const command = fc.nat(1).map((pick) => ({
    check: (model: Model) => deed.fits?.(model) ?? true,
    run: async (model: Model, real: Real) => {
      // What was on its way meets a reason that is gone by now.
      const { release } = real;
      model.deeds += 1;
      await deed.does(model, real, pick);
      await real.p.settle();
      if (real.release === release) await answered(real);
      if (real.release === release) await check(model, real);
    },
    toString: () => `${deed.name} ${pick}`,
  }));
  return Array.from({ length: deed.weight ?? 1 }, () => command);
});

it('confirmations follow their state table, and a reminder stands there only while somebody is to be reminded', async () => {
  await fc.assert(
    fc.asyncProperty(fc.commands(commands, { maxCommands: 40, size: 'max' }), async (sequence) => {
      const p = await aPipeline();
      const schedule = { kind: 'cron', cron: '0 0 1 1 *', timezone: 'UTC' } as const;
      const { id: taskId } = await p.create({ instructions: text, schedule, policies: { ack: {} } });
      const model: Model = {
        state: 'active',
        deletedAs: 'active',
        isWanted: true,
        snoozedFor: null,
        snoozed: -1,
        runs: [],
        escalated: 0,
        deeds: 0,
      };
      await fc.asyncModelRun(
        async () => ({ model, real: { p, taskId, snoozeEntry: null, release: () => undefined } }),
        sequence,
      );
    }),
    { numRuns: 40, seed: 7 },
  );
});
