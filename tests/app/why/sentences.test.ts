import { expect, it } from 'vitest';
import type { SlotDelivery, SlotRow, SlotRun, TruthRows } from '../../../src/app/ports/why.ts';
import { answerSlot } from '../../../src/app/why/slot-answers.ts';
import { timelineOf } from '../../../src/app/why/timeline.ts';
import type { OccurrenceSource, OccurrenceStatus, Reason } from '../../../src/domain/occurrence.ts';
import { waitsForConsent } from '../../../src/domain/run.ts';
import { english } from '../../../src/telegram/chat/texts.ts';
import { second } from '../../support/fakes.ts';
import { actor, day, hour, minute, start, withTask } from '../../support/pipeline.ts';
import { expectWords, told } from './asking.ts';

const slotAt = start + hour;

/** Listed by type, so that a new one is not forgotten here either. */
const reasons: Readonly<Record<Reason, OccurrenceStatus>> = {
  overlap: 'pending',
  queue_full: 'skipped',
  replaced: 'cancelled',
  max_runs: 'skipped',
  late: 'missed',
  covered: 'missed',
  beyond_limit: 'missed',
  ask: 'pending',
  ask_expired: 'skipped',
  declined: 'skipped',
  skip: 'skipped',
  undone: 'skipped',
  done: 'skipped',
  unaccounted: 'missed',
  deleted: 'cancelled',
  paused: 'skipped',
  cancelled: 'cancelled',
  grant_missing: 'skipped',
  grant_revoked: 'skipped',
  grant_expired: 'skipped',
  grant_scope: 'skipped',
  secret_missing: 'skipped',
  secret_host: 'skipped',
  gone_kind: 'skipped',
  budget: 'skipped',
  discarded: 'skipped',
  unchanged: 'succeeded',
};
const sources: Readonly<Record<OccurrenceSource, true>> = {
  schedule: true,
  catch_up: true,
  run_now: true,
  snooze: true,
  retry: true,
  replay: true,
  stale_refresh: true,
};
const statuses = ['pending', 'dispatched', 'succeeded', 'failed', 'cancelled', 'skipped', 'missed'] as const;
const runStates = ['queued', 'running', 'backoff', 'succeeded', 'failed', 'cancelled'] as const;

const aSlot: SlotRow = {
  id: 'o-1',
  slotAt,
  source: 'schedule',
  status: 'succeeded',
  reason: null,
  decideBy: null,
  replayOf: null,
  replayOfSlot: null,
  lateMs: 3,
  error: null,
  createdAt: slotAt + 40 * minute,
  run: null,
  ack: null,
  deed: null,
  asker: null,
};

const aPart: SlotDelivery = {
  id: 'd-1',
  part: 1,
  status: 'delivered',
  thread: { provider: 'telegram', address: '-100', topic: 5 },
  messageId: 1002,
  cause: null,
  error: null,
  deliveredAt: slotAt,
  createdAt: slotAt,
  heldUntil: null,
  isFallback: false,
  decision: null,
};

const byWorker = { jobId: null, worker: { bootId: 'boot-1', role: null, host: null, pid: null } } as const;
const aRun: SlotRun = {
  id: 'r-1',
  number: 1,
  place: { provider: 'telegram', address: '-100' },
  status: 'succeeded',
  createdAt: slotAt + 3,
  startedAt: slotAt + 3,
  readyAt: slotAt + 3,
  waitsFor: null,
  kindPaused: null,
  attempts: [{ ...byWorker, status: 'succeeded', error: null }],
  deliveries: [aPart],
};

const failed = { ...byWorker, status: 'failed', error: 'echo fails. Again' } as const;
const doing = (verb: string) => ({ id: '7', at: slotAt + 40 * minute, actor, verb });

/** A run after which something became of its message, or was said about it. */
const ran = (run: Partial<SlotRun> = {}, facts: Partial<SlotRow> = {}) => ({ ...facts, run: { ...aRun, ...run } });
const sent = (...parts: Partial<SlotDelivery>[]) => ran({ deliveries: parts.map((part) => ({ ...aPart, ...part })) });
const acked = (status: NonNullable<SlotRow['ack']>['status'], nags: number) => {
  const isDone = status === 'done';
  return ran({}, { ack: { status, nags, doneAt: isDone ? slotAt + hour : null, doneBy: isDone ? actor : null } });
};
const decided = (isGiven: boolean) => ({ decision: { isGiven, by: actor, at: slotAt + minute } }) as const;

type Case = readonly [facts: Partial<SlotRow>, policies?: object];

const cases: Readonly<Record<string, Case>> = {
  'on time': [ran()],
  'taken up late': [ran({ startedAt: slotAt + 20 * second }, { lateMs: 20 * second })],
  'made up for': [ran({ startedAt: slotAt + 30 * minute }, { source: 'catch_up', lateMs: 30 * minute })],
  'had to wait': [ran({ startedAt: slotAt + 30 * second }, { lateMs: 0 })],
  'put off': [
    ran({ startedAt: slotAt + 30 * second, readyAt: slotAt + 30 * second }, { lateMs: 0 }),
    { jitter: 'PT5M' },
  ],
  'waited for its host': [ran({ startedAt: slotAt + 30 * second, readyAt: slotAt + 30 * second }, { lateMs: 0 })],
  'waiting for its host': [
    ran(
      { status: 'backoff', readyAt: slotAt + 30 * second, waitsFor: 'api.example.com is busy', attempts: [] },
      { status: 'dispatched' },
    ),
  ],
  'waiting for approval': [
    ran(
      { status: 'backoff', readyAt: slotAt + 24 * hour, waitsFor: waitsForConsent, attempts: [] },
      { status: 'dispatched' },
    ),
  ],
  'to be put off': [ran({ status: 'queued', readyAt: slotAt + 4 * hour }, { status: 'dispatched' })],
  ...Object.fromEntries(
    [2, 3, 4].map((count) => [`attempt ${count}`, [ran({ attempts: Array.from({ length: count }, () => failed) })]]),
  ),
  'nothing to show': [sent()],
  'delivered nowhere': [ran({ place: { provider: 'cli', address: 'default' }, deliveries: [] })],
  'the same again, not shown': [ran({ deliveries: [] }, { reason: 'unchanged' })],
  'the same again, without a sound': [ran({}, { reason: 'unchanged' })],
  'the same again, delivered nowhere': [
    ran({ place: { provider: 'cli', address: 'default' }, deliveries: [] }, { reason: 'unchanged' }),
  ],
  'three messages': [sent({}, {}, {})],
  'where it was asked for': [sent({ isFallback: true })],
  'two of three are left': [sent({}, { status: 'pending' }, { status: 'blocked', cause: 'no_right' })],
  ...Object.fromEntries(
    (['pending', 'sending', 'unknown', 'blocked', 'failed'] as const).map((status) => [
      `message ${status}`,
      [sent({ status, error: 'socket hang up' })],
    ]),
  ),
  'waits for approval': [sent({ status: 'blocked', cause: 'approval' })],
  'two wait for approval': [sent({ status: 'blocked', cause: 'approval' }, { status: 'blocked', cause: 'approval' })],
  approved: [sent(decided(true))],
  'result discarded': [sent({ status: 'failed', ...decided(false) })],
  'two discarded': [sent({ status: 'failed', ...decided(false) }, { status: 'failed', ...decided(false) })],
  'waits for the end of quiet hours': [sent({ status: 'pending', heldUntil: slotAt + 12 * hour })],
  'quiet hours are over': [sent({ status: 'pending', heldUntil: slotAt })],
  ...Object.fromEntries(
    (['open', 'done', 'given_up', 'superseded', 'dropped'] as const).flatMap((status) =>
      [0, 2].map((nags) => [`ack ${status} ${nags}`, [acked(status, nags)]]),
    ),
  ),
  failed: [ran({ attempts: [failed] }, { status: 'failed' })],
  'failed twice': [ran({ attempts: [failed, failed] }, { status: 'failed' })],
  'failed before it started': [{ status: 'failed', error: 'interrupted, effects unknown' }],
  'run gone': [{ status: 'dispatched' }],
  ...Object.fromEntries(
    runStates.map((status) => [`run ${status}`, [ran({ status, attempts: [failed] }, { status: 'dispatched' })]]),
  ),
  'about to be started': [{ status: 'pending' }],
  ...Object.fromEntries(
    Object.entries(reasons).map(([reason, status]) => [reason, [{ reason: reason as Reason, status }]]),
  ),
  'late by policy skip': [{ reason: 'late', status: 'missed' }, { missed: 'skip' }],
  'late by seconds': [{ reason: 'late', status: 'missed', createdAt: slotAt + 7 * second }, { grace: 'PT5S' }],
  'late without grace': [{ reason: 'late', status: 'missed' }, { grace: 'PT0S' }],
  'beyond the limit of all': [
    { reason: 'beyond_limit', status: 'missed' },
    { missed: 'all', missed_limit: 1 },
  ],
  'beyond the limit of three': [
    { reason: 'beyond_limit', status: 'missed' },
    { missed: 'all', missed_limit: 3 },
  ],
  'beyond the limit of ask': [
    { reason: 'beyond_limit', status: 'missed' },
    { missed: 'ask', missed_limit: 1 },
  ],
  'overlap replace': [{ reason: 'overlap', status: 'skipped' }, { overlap: 'replace' }],
  'one run allowed': [{ reason: 'max_runs', status: 'skipped' }, { max_runs: 1 }],
  'asked until': [{ source: 'catch_up', reason: 'ask', status: 'pending', decideBy: slotAt + day }],
  'somebody wanted it after all': [
    ran({ startedAt: slotAt + 20 * minute }, { source: 'catch_up', asker: doing('answer') }),
  ],
  'skipped by somebody': [{ reason: 'skip', status: 'skipped', deed: doing('skip') }],
  'skipped in advance': [{ reason: 'skip', status: 'skipped', slotAt: start + 5 * hour }],
  'skipped in advance by somebody': [
    { reason: 'skip', status: 'skipped', slotAt: start + 5 * hour, deed: doing('skip') },
  ],
  'declined by somebody': [{ reason: 'declined', status: 'skipped', source: 'catch_up', deed: doing('answer') }],
  'undone by somebody': [
    { reason: 'undone', status: 'skipped', source: 'snooze', deed: doing('undo'), asker: doing('snooze') },
  ],
  'paused by somebody': [{ reason: 'paused', status: 'skipped', deed: doing('pause') }],
  'deleted by somebody': [{ reason: 'deleted', status: 'cancelled', deed: doing('delete') }],
  'cancelled by somebody': [{ reason: 'cancelled', status: 'cancelled', deed: doing('cancel') }],
  'by hand': [ran({}, { source: 'run_now', asker: doing('run_now') })],
  'by a token': [ran({}, { source: 'run_now', asker: { ...doing('run_now'), actor: 'api:token:default' } })],
  'by the API': [ran({}, { source: 'run_now', asker: { ...doing('run_now'), actor: 'system:api' } })],
  'by hand, and cancelled': [{ source: 'run_now', status: 'cancelled', reason: 'cancelled', asker: doing('run_now') }],
  'snoozed until later': [{ source: 'snooze', status: 'pending', slotAt: start + 5 * hour, asker: doing('snooze') }],
  'snoozed until later by nobody': [{ source: 'snooze', status: 'pending', slotAt: start + 5 * hour }],
  snoozed: [ran({}, { source: 'snooze', asker: doing('snooze') })],
  'snoozed again': [{ source: 'snooze', status: 'skipped', reason: 'replaced', asker: doing('snooze') }],
  retried: [ran({}, { source: 'retry', replayOf: 'o-0', replayOfSlot: start, asker: doing('retry') })],
  'replayed, and failed': [
    ran({ attempts: [failed] }, { source: 'replay', status: 'failed', replayOf: 'o-0', replayOfSlot: start - day }),
  ],
  'a reason of tomorrow': [{ status: 'skipped', reason: 'of_tomorrow' as Reason }],
};

async function anAnswerer(): Promise<(facts: Partial<SlotRow>, policies?: object) => string> {
  const { p, task } = await withTask({ schedule: { kind: 'cron', cron: '0 * * * *', timezone: 'UTC' } });
  const rows = await p.store.readTruth({ taskId: task.id, from: slotAt, to: slotAt, limit: 1 });
  return (facts, policies = {}) => {
    const { versions, ...template } = rows as TruthRows;
    const inForce = versions.map((one) => ({ ...one, definition: { ...one.definition, policies } }));
    const timeline = timelineOf(
      { ...template, versions: inForce },
      { now: start + 3 * hour, retentionMs: 90 * day, locale: english },
    );
    const line = told(answerSlot(timeline, { ...aSlot, ...facts }));
    expect(line).not.toMatch(/undefined|null|NaN|\[object|, ,|;;|: :/);
    return line;
  };
}

it('every status, reason and source, and whatever became of a run, has its sentence', async () => {
  const answer = await anAnswerer();
  const lines = Object.entries(cases).map(([name, [facts, policies]]) => [name, answer(facts, policies)] as const);
  await expectWords('sentences', ...lines.map((pair) => pair.join(' | ')));
  const ofReasons = lines.filter(([name]) => Object.hasOwn(reasons, name)).map(([, line]) => line.slice(20));
  expect(new Set(ofReasons).size).toBe(Object.keys(reasons).length);
});

it('whatever a row says, its answer is one line', async () => {
  const answer = await anAnswerer();
  const lines = (Object.keys(sources) as OccurrenceSource[]).flatMap((source) =>
    statuses.flatMap((status) =>
      ([...Object.keys(reasons), null] as (Reason | null)[]).map((reason) => answer({ source, status, reason })),
    ),
  );
  expect(new Set(lines).size).toBeGreaterThan(500);
});
