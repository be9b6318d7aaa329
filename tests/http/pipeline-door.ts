import { createStatus, createUsage } from '../../src/app/operations/status.ts';
import { createTick } from '../../src/app/operations/tick.ts';
import type { Store } from '../../src/app/ports/store.ts';
import { previewSchedule } from '../../src/app/tasks/preview.ts';
import { createKeptAnswers } from '../../src/app/use-cases/kept-answers.ts';
import type { Spending } from '../../src/app/use-cases/spending.ts';
import { createHttpApp } from '../../src/http/app.ts';
import { sha256 } from '../../src/system/ids.ts';
import { createLoop } from '../../src/system/loop.ts';
import { countingIds } from '../support/fakes.ts';
import { minute, settings, type Pipeline } from '../support/pipeline.ts';
import { token } from './door.ts';

/** The door before a whole pipeline, whose rooms nobody turns but the test. */
export function appOver({ rooms, time, log, store }: Pipeline) {
  const loops = (['scheduler', 'runner', 'deliverer'] as const).map((name) => {
    const work = {
      name,
      step: (now: number, limit: number) => rooms[name].step(now, limit),
      nextAt: async () => null,
    };
    return createLoop(work, { clock: time, stopwatch: time, timer: time, log, batchMax: 100 });
  });
  const ready = async () => ({ ok: true, database: 'ok' });
  const status = createStatus({
    ...rooms,
    clock: time,
    stopwatch: time,
    timer: time,
    version: '1.2.3',
    ready,
    loops,
  });
  const operationsOver = (seen: Store, spending: Spending) => ({
    status: status(seen),
    usage: createUsage({
      store: seen,
      clock: time,
      quota: { chat: settings.QUOTA_PER_CHAT, user: settings.QUOTA_PER_USER },
      spending,
    }),
    tick: createTick({ loops, timer: time, idle: {} }),
    retentionDays: settings.RETENTION_DAYS,
    timezone: 'UTC',
  });
  return createHttpApp({
    secrets: rooms.secrets,
    roomsOf: ({ chats }) => {
      const { store: seen, ...asked } = rooms.within(chats);
      return { ...asked, operations: operationsOver(seen, asked.spending) };
    },
    kinds: rooms.kinds,
    kindPauses: rooms.kindPauses,
    tokens: rooms.tokens,
    upkeep: { audit: () => rooms.audit.run(), reconcile: rooms.reconcile },
    tellOnce: createKeptAnswers({ store, clock: time, digest: sha256, log }),
    preview: (request) => previewSchedule(request, { now: time.now(), minIntervalMs: minute }),
    token,
    clock: time,
    health: { live: () => ({ ok: true }), ready },
    version: '1.2.3',
    log,
    stopwatch: time,
    ids: countingIds('http'),
  });
}
