import { z, type OpenAPIHono } from '@hono/zod-openapi';
import type { AuditReport } from '../../app/housekeeping/audit.ts';
import type { Reconcile } from '../../app/housekeeping/reconcile.ts';
import type { Actor } from '../../domain/actor.ts';
import { checks, type Finding } from '../../domain/audit.ts';
import { serve } from './operation.ts';
import { noBody, strict } from './schemas.ts';
import { iso } from './wire.ts';

export interface UpkeepRoutes {
  readonly upkeep: {
    audit(): Promise<AuditReport>;
    readonly reconcile: Reconcile;
  };
  readonly actor: Actor;
}

const tag = 'operations';

const finding = strict({
  check: z.string(),
  count: z.int(),
  examples: z.array(z.string()).openapi({ description: 'Ids of some of the rows.' }),
  sentence: z.string(),
  fixable: z.boolean().openapi({ description: 'Reconcile knows a safe way to mend it.' }),
}).openapi('Finding');

const auditAnswer = strict({
  at: z.string().openapi({ format: 'date-time' }),
  findings: z.array(finding),
  checked: z.record(z.string(), z.int()).openapi({
    description: 'Rows looked at, by table, newest first; under slots the tasks whose slots were computed again.',
  }),
});

const reconcileBody = strict({
  fix: z.boolean().optional().openapi({ description: 'Mend what can be mended safely; false only tells.' }),
}).optional();

const reconcileAnswer = strict({
  findings: z.array(finding),
  fixed: z.array(strict({ check: z.string(), id: z.string(), did: z.string() })),
});

/** What keeps the place in order, on demand. */
export function serveUpkeep(app: OpenAPIHono, { upkeep, actor }: UpkeepRoutes): void {
  serve(
    app,
    {
      id: 'runAudit',
      tag,
      summary: 'Look now for what must never be; nothing is changed',
      method: 'post',
      path: '/v1/audit/run',
      body: noBody,
      answer: auditAnswer,
    },
    async () => {
      const { at, findings, checked } = await upkeep.audit();
      return { status: 200, body: { at: iso(at), findings: findings.map(wireFinding), checked } };
    },
  );
  serve(
    app,
    {
      id: 'reconcile',
      tag,
      summary: 'Tell what the audit finds, and mend what can be mended safely when asked to',
      method: 'post',
      path: '/v1/reconcile',
      body: reconcileBody,
      answer: reconcileAnswer,
    },
    async ({ body }) => {
      const { findings, fixed } = await upkeep.reconcile({ fix: body?.fix ?? false, actor });
      return { status: 200, body: { findings: findings.map(wireFinding), fixed: [...fixed] } };
    },
  );
}

function wireFinding({ check, count, examples, sentence }: Finding) {
  return { check, count, examples: [...examples], sentence, fixable: checks[check].mended };
}
