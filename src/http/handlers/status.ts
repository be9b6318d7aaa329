import type { OpenAPIHono } from '@hono/zod-openapi';
import type { z } from 'zod';
import * as api from '../../api/status.ts';
import type { AuditReport } from '../../app/housekeeping/audit.ts';
import type { Reconcile } from '../../app/housekeeping/reconcile.ts';
import type { ServerStatus, Usage, UsageRequest } from '../../app/operations/status.ts';
import type { Ticked } from '../../app/pipeline/tick.ts';
import type { Actor } from '../../domain/access.ts';
import { checks, type Finding } from '../../domain/audit.ts';
import { serve } from '../serving.ts';
import { iso, isoOrNull } from './wire.ts';

export interface StatusRoutes {
  readonly operations: {
    readonly status: () => Promise<ServerStatus>;
    readonly usage: (request: UsageRequest) => Promise<Usage>;
    readonly tick: () => Promise<Ticked>;
    readonly retentionDays: number;
  };
}

export function serveStatus(app: OpenAPIHono, { operations }: StatusRoutes): void {
  const { status, usage, tick, retentionDays } = operations;
  serve(app, api.getStatus, async () => ({ status: 200, body: wireStatus(await status(), retentionDays) }));
  serve(app, api.getUsage, async ({ query }) => {
    const { thread_key: threadKey = null, user_key: userKey = null, from, to } = query;
    const { isCapped, spent, quota, ...counts } = await usage({
      threadKey,
      userKey,
      from: from === undefined ? null : Date.parse(from),
      to: to === undefined ? null : Date.parse(to),
    });
    return {
      status: 200,
      body: {
        ...counts,
        from: iso(counts.from),
        to: iso(counts.to),
        capped: isCapped,
        spent: spent.map((one) => ({ ...one })),
        quota: { ...quota },
      },
    };
  });
  serve(app, api.tick, async () => {
    const { failed, ...counts } = await tick();
    return { status: 200, body: { ...counts, failed: [...failed] } };
  });
}

function wireStatus(status: ServerStatus, retentionDays: number): z.output<(typeof api.getStatus)['answer']> {
  const { version, at, startedAt, ready, facts, audit } = status;
  return {
    version,
    now: iso(at),
    started_at: iso(startedAt),
    uptime_seconds: Math.max(0, Math.round((at - startedAt) / 1000)),
    ready: { ...ready },
    tasks: { total: facts.tasks, active: facts.active, paused: facts.paused, completed: facts.completed },
    due: { count: facts.due, since: isoOrNull(facts.dueSince) },
    next_due_at: isoOrNull(facts.nextDueAt),
    runs: { running: facts.running, queued: facts.queued },
    deliveries: { pending: facts.pending, blocked: facts.blocked, unknown: facts.unknown },
    chats: facts.chats,
    database_bytes: facts.databaseBytes,
    audit: audit === null ? null : { at: iso(audit.at), findings: audit.findings },
    retention: { days: retentionDays, oldest_run_at: isoOrNull(facts.oldestRunAt) },
  };
}

export interface UpkeepRoutes {
  readonly upkeep: {
    audit(): Promise<AuditReport>;
    readonly reconcile: Reconcile;
  };
  readonly actor: Actor;
}

/** Housekeeping on demand. */
export function serveUpkeep(app: OpenAPIHono, { upkeep, actor }: UpkeepRoutes): void {
  serve(app, api.runAudit, async () => {
    const { at, findings, checked } = await upkeep.audit();
    return { status: 200, body: { at: iso(at), findings: findings.map(wireFinding), checked } };
  });
  serve(app, api.reconcile, async ({ body }) => {
    const { findings, fixed } = await upkeep.reconcile({ fix: body?.fix ?? false, actor });
    return { status: 200, body: { findings: findings.map(wireFinding), fixed: [...fixed] } };
  });
}

function wireFinding({ check, count, examples, sentence }: Finding) {
  return { check, count, examples: [...examples], sentence, fixable: checks[check].mended };
}
