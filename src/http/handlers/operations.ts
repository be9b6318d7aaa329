import { wire } from '../../api/wire.ts';
import type { OpenAlarms } from '../../app/housekeeping/alarms.ts';
import type { AccessEntry } from '../../app/ports/chat-facts.ts';
import { addressIn } from '../../app/use-cases/membership.ts';
import type { TokenView } from '../../app/use-cases/tokens.ts';
import { checks, type Finding } from '../../domain/audit.ts';
import { invalid } from '../../domain/errors.ts';
import type { ProcessView } from '../../domain/processes/process.ts';
import { iso } from '../../domain/schedule/time/calendar.ts';
import { isTimezone } from '../../domain/schedule/time/zone-name.ts';
import { telegramThread, threadKeyOf } from '../../domain/thread.ts';
import { Answer, type Handlers, type HttpRooms } from '../serving.ts';
import { instantOf, threadOf, wirePause } from './wire.ts';

function wireProcess({ id, role, release, kinds, host, pid, startedAt, seenAt, connections }: ProcessView) {
  const at = wire({ startedAt, seenAt });
  return { id, role, version: release, action_kinds: [...kinds], host, pid, ...at, database_connections: connections };
}

/** Handlers for status, usage, housekeeping on demand, and for who is let in. */
export const operationHandlers = {
  getStatus: async (_asked, { operations }) => {
    const {
      version,
      at,
      startedAt,
      ready,
      facts,
      audit,
      alarms,
      tokens,
      secrets,
      lastTickAt,
      lastStaleLookAt,
      worker,
      processes,
      pausedSince,
      pausedKinds,
    } = await operations.status();
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
      tokens,
      secrets:
        secrets === null
          ? null
          : { sealed: secrets.sealed, without_key: secrets.unreadable, under_former_key: secrets.former },
      retention: { days: operations.retentionDays, ...wire({ oldestRunAt }) },
      ...wire({ lastTickAt, lastStaleLookAt }),
      scheduler: {
        state: pausedSince === null ? 'running' : 'paused',
        since: pausedSince === null ? null : iso(pausedSince),
      },
      paused_kinds: pausedKinds.map(wirePause),
      processes: processes?.map(wireProcess) ?? null,
      worker: { id: worker.id, running: worker.isRunning, action_kinds: worker.kinds },
    };
  },
  getUsage: async ({ query }, { operations }) => {
    const { thread_key: threadKey = null, user_key: userKey = null, task_id: taskId = null } = query;
    const stretch = { from: instantOf(query.from), to: instantOf(query.to) };
    const asked = { threadKey, userKey, taskId, group: groupOf(query, operations.timezone), ...stretch };
    const { isCapped, from, to, byDay, byTask, ...counts } = await operations.usage(asked);
    return {
      ...counts,
      from: iso(from),
      to: iso(to),
      capped: isCapped,
      ...(byDay === undefined ? {} : { by_day: byDay }),
      ...(byTask === undefined ? {} : { by_task: byTask.map(wire) }),
    };
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

  listThreads: async ({ query: { thread_key: key, limit, cursor = null } }, { access }) => {
    const { items, next } = await access.threads({ of: threadOf(key), limit, cursor });
    const threads = items.map(({ thread, ...known }) => ({ thread_key: threadKeyOf(thread), ...known }));
    return { threads, next_cursor: next };
  },
  listAccess: async ({ query: { limit, cursor = null } }, { access }) => {
    const { items, next } = await access.list({ limit, cursor });
    return { access: items.map(wireAccess), next_cursor: next };
  },
  allowAccess: async ({ params, body, traceId }, { access, actor }) => {
    const { entry, entryId } = await access.allow({
      address: addressOf(params.id),
      role: body?.role,
      by: actor,
      traceId,
    });
    return { access: wireAccess(entry), entry_id: entryId };
  },
  denyAccess: async ({ params, traceId }, { access, actor }) => {
    const { paused, entryId } = await access.deny({ address: addressOf(params.id), by: actor, traceId });
    return { denied: true as const, paused, entry_id: entryId };
  },

  listTokens: async ({ query: { limit, cursor = null } }, { tokens }) => {
    const { items, next } = await tokens.list({ limit, cursor });
    return { tokens: items.map(wireToken), next_cursor: next };
  },
  createToken: async ({ body, traceId }, { tokens, principal }) => {
    const { name, scopes, thread_keys: threadKeys = null, expires_at: expires } = body;
    const wish = { name, scopes, threadKeys, expiresAt: instantOf(expires) };
    const { token, text, entryId } = await tokens.create(wish, { principal, traceId });
    return { ...wireToken(token), token: text, entry_id: entryId };
  },
  revokeToken: async ({ params, traceId }, { tokens, actor }) => {
    const { tasks, entryId } = await tokens.revoke({ id: params.token_id, by: actor, traceId });
    return { revoked: true as const, tasks, entry_id: entryId };
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

function addressOf(id: string): string {
  const address = addressIn(id);
  if (address !== null) return address;
  throw invalid('id', 'id: it is the number of a person, such as 1001, or of a group, such as -1001234567890.');
}

function wireAccess({ address, name, role, by, since }: AccessEntry) {
  const thread = threadKeyOf(telegramThread(address));
  return { id: address, thread_key: thread, who: name, role, by, since: since === null ? null : iso(since) };
}

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

function groupOf(
  { group, timezone }: { readonly group?: 'day' | 'task' | undefined; readonly timezone?: string | undefined },
  usual: string,
) {
  if (group !== 'day') return group === undefined ? null : ({ by: 'task' } as const);
  if (timezone !== undefined && !isTimezone(timezone))
    throw invalid('timezone', 'timezone: it is not a time zone; write its IANA name, such as Europe/Madrid.');
  return { by: 'day', timezone: timezone ?? usual } as const;
}

function wireToken({ id, threads, scopes, ...token }: TokenView) {
  return { ...wire(token), token_id: id, scopes: [...scopes], thread_keys: threads?.map(threadKeyOf) ?? null };
}
