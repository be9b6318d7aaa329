import { wire } from '../../api/wire.ts';
import type { OpenAlarms } from '../../app/housekeeping/alarms.ts';
import { checks, type Finding } from '../../domain/audit.ts';
import { iso } from '../../domain/schedule/time/calendar.ts';
import { Answer, type Handlers, type HttpRooms } from '../serving.ts';
import { instantOf } from './wire.ts';

/** Handlers for status, usage, and housekeeping on demand. */
export const operationHandlers = {
  getStatus: async (_asked, { operations }) => {
    const { version, at, startedAt, ready, facts, audit, alarms } = await operations.status();
    const { tasks: total, active, paused, completed, running, queued, pending, blocked, unknown } = facts;
    const { nextDueAt, chats, databaseBytes, due: count, dueSince, oldestRunAt } = facts;
    return {
      version,
      now: iso(at),
      ...wire({ startedAt, nextDueAt, chats, databaseBytes }),
      uptime_seconds: Math.max(0, Math.round((at - startedAt) / 1000)),
      ready,
      tasks: { total, active, paused, completed },
      due: { count, since: dueSince === null ? null : iso(dueSince) },
      runs: { running, queued },
      deliveries: { pending, blocked, unknown },
      audit: audit === null ? null : wire(audit),
      alarms: { open: alarms.open.map(wireAlarm), unheard: [...alarms.unheard] },
      retention: { days: operations.retentionDays, ...wire({ oldestRunAt }) },
    };
  },
  getUsage: async ({ query }, { operations }) => {
    const { thread_key: threadKey = null, user_key: userKey = null } = query;
    const stretch = { from: instantOf(query.from), to: instantOf(query.to) };
    const { isCapped, from, to, ...counts } = await operations.usage({ threadKey, userKey, ...stretch });
    return { ...counts, from: iso(from), to: iso(to), capped: isCapped };
  },
  tick: (_asked, { operations }) => operations.tick(),
  runAudit: async (_asked, { upkeep }) => {
    const { at, findings, checked } = await upkeep.audit();
    return { at: iso(at), findings: findings.map(wireFinding), checked };
  },
  reconcile: async ({ body }, { upkeep, actor }) => {
    const { findings, fixed } = await upkeep.reconcile({ fix: body?.fix ?? false, actor });
    return { findings: findings.map(wireFinding), fixed };
  },

  isLive: live,
  isHealthy: live,
  isReady: async (_asked, { health }) => {
    const state = await health.ready();
    return new Answer(state.ok ? 200 : 503, state);
  },
  getVersion: async (_asked, { version }) => ({ name: 'cronogram', version, node: process.versions.node }),
  getDescription: async (_asked, { description }) => ({ ...description() }),
} satisfies Partial<Handlers>;

function wireAlarm({ since, about, facts: { cause } }: OpenAlarms['open'][number]) {
  const [name = ''] = about.split(' ', 1);
  return { cause, since: iso(since), about: name === '' ? null : name };
}

async function live(_asked: unknown, { health }: Pick<HttpRooms, 'health'>) {
  const state = health.live();
  return new Answer(state.ok ? 200 : 503, state);
}

function wireFinding({ check, count, examples, sentence }: Finding) {
  return { check, count, examples, sentence, fixable: checks[check].mended };
}
