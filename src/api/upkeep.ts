import { z } from 'zod';
import { noBody, strict } from './fields.ts';
import { operation } from './operation.ts';

/** What keeps the place in order, on demand. */

const finding = strict({
  check: z.string(),
  count: z.int(),
  examples: z.array(z.string()).meta({ description: 'Ids of some of the rows.' }),
  sentence: z.string(),
  fixable: z.boolean().meta({ description: 'Reconcile knows a safe way to mend it.' }),
}).meta({ id: 'Finding' });

const auditAnswer = strict({
  at: z.string().meta({ format: 'date-time' }),
  findings: z.array(finding),
  checked: z.record(z.string(), z.int()).meta({
    description: 'Rows looked at, by table, newest first; under slots the tasks whose slots were computed again.',
  }),
});

const reconcileBody = strict({
  fix: z.boolean().optional().meta({ description: 'Mend what can be mended safely; false only tells.' }),
}).optional();

const reconcileAnswer = strict({
  findings: z.array(finding),
  fixed: z.array(strict({ check: z.string(), id: z.string(), did: z.string() })),
});

export const runAudit = operation({
  id: 'runAudit',
  tag: 'operations',
  summary: 'Look now for what must never be; nothing is changed',
  method: 'post',
  path: '/v1/audit/run',
  body: noBody,
  answer: auditAnswer,
});

export const reconcile = operation({
  id: 'reconcile',
  tag: 'operations',
  summary: 'Tell what the audit finds, and mend what can be mended safely when asked to',
  method: 'post',
  path: '/v1/reconcile',
  body: reconcileBody,
  answer: reconcileAnswer,
});
