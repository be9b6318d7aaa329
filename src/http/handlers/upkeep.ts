import type { OpenAPIHono } from '@hono/zod-openapi';
import * as api from '../../api/upkeep.ts';
import type { AuditReport } from '../../app/housekeeping/audit.ts';
import type { Reconcile } from '../../app/housekeeping/reconcile.ts';
import type { Actor } from '../../domain/actor.ts';
import { checks, type Finding } from '../../domain/audit.ts';
import { serve } from '../operation.ts';
import { iso } from './wire.ts';

export interface UpkeepRoutes {
  readonly upkeep: {
    audit(): Promise<AuditReport>;
    readonly reconcile: Reconcile;
  };
  readonly actor: Actor;
}

/** What keeps the place in order, on demand. */
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
