import { z } from 'zod';
import { roles } from '../domain/processes/process.ts';
import { operation, cursor, instant, instantSent, noBody, page, strict, text, timezone } from './operation.ts';
import { sum } from './spending.ts';

/** Status, usage, and the tick for clients that do not want to wait. */

const count = z.int();
const tag = 'operations';

const used = strict({ used: count, limit: count }).nullable();

/** Health routes, open without a token. None of them names a task, a chat or a secret. */

const healthAnswer = z.looseObject({ ok: z.boolean() }).meta({ id: 'Health' });
const versionAnswer = strict({
  name: z.literal('cronogram'),
  version: z.string(),
  node: z.string().meta({ description: 'The version of Node that runs it.' }),
});

const probe = { tag: 'health', scope: 'open' } as const;
const state = { ...probe, answer: healthAnswer, statuses: [200, 503] } as const;

/** Housekeeping on demand. */

const finding = strict({
  check: z.string(),
  count: z.int(),
  examples: z.array(z.string()).meta({ description: 'Ids of some of the rows.' }),
  sentence: z.string(),
  fixable: z.boolean().meta({ description: 'Reconcile knows a safe way to repair it.' }),
}).meta({ id: 'Finding' });

const auditAnswer = strict({
  at: z.string().meta({ format: 'date-time' }),
  findings: z.array(finding),
  checked: z.record(z.string(), z.int()).meta({
    description: 'Rows looked at, by table, newest first; under slots the tasks whose slots were computed again.',
  }),
});

const reconcileBody = strict({
  fix: z.boolean().optional().meta({ description: 'Repair what can be repaired safely; false only reports.' }),
}).optional();

const reconcileAnswer = strict({
  findings: z.array(finding),
  fixed: z.array(strict({ check: z.string(), id: z.string(), did: z.string() })),
});

export const statusOperations = {
  getStatus: operation('get', '/v1/status', {
    scope: 'read',
    tag,
    summary: 'How the server stands',
    answer: strict({
      version: z.string(),
      now: instant,
      started_at: instant,
      uptime_seconds: count,
      ready: z.looseObject({ ok: z.boolean() }).meta({ description: 'As /readyz tells it, part by part.' }),
      tasks: strict({ total: count, active: count, paused: count, completed: count }),
      due: strict({
        count: count.meta({ description: 'Active tasks whose slot has come and was not taken up yet.' }),
        since: instant.nullable(),
      }),
      next_due_at: instant.nullable(),
      runs: strict({ running: count, queued: count }),
      deliveries: strict({ pending: count, blocked: count, unknown: count }),
      chats: count.meta({ description: 'Chats that were approved.' }),
      database_bytes: count.nullable().meta({ description: 'Null for a token of some chats.' }),
      audit: strict({ at: instant, findings: count })
        .nullable()
        .meta({ description: 'The last look for what must never be; null when there was none yet.' }),
      alarms: strict({
        open: z
          .array(
            strict({
              cause: z.enum(['database', 'disk', 'clock', 'downtime', 'audit', 'auto_pause', 'second_opinion']),
              since: instant,
              about: z
                .string()
                .nullable()
                .meta({ description: 'The check of the audit, or the task; null where there is but one.' }),
            }),
          )
          .meta({ description: 'Trouble of which the owners were told and that lasts.' }),
        unheard: z.array(z.string()).meta({
          description: 'Owners who are told of none, because they have no private chat with the bot.',
        }),
      }),
      tokens: strict({ live: count, expired: count })
        .nullable()
        .meta({ description: 'Named tokens that hold, and that have expired; null for a token of some chats.' }),
      secrets: strict({ sealed: count, without_key: count, under_former_key: count }).nullable().meta({
        description:
          'Secrets that are kept; of these, how many no key opens that is here, and how many wait for a rotation to end. Null for a token of some chats.',
      }),
      retention: strict({ days: count, oldest_run_at: instant.nullable() }),
      last_tick_at: instant.nullable().meta({
        description: 'When the scheduler last made a step to its end; null where none turns, as beside a server.',
      }),
      last_stale_look_at: instant.nullable().meta({
        description: 'When it last looked for results older than their policy refresh_after.',
      }),
      scheduler: strict({
        state: z.enum(['running', 'paused']),
        since: instant.nullable().meta({
          description:
            'Since when no process takes up slots. What comes due meanwhile is decided by policy when one does again.',
        }),
      }),
      paused_kinds: z
        .array(strict({ kind: z.string(), since: instant, by: z.string() }))
        .meta({ description: 'Kinds of actions of which nothing begins for now; their runs wait.' }),
      processes: z
        .array(
          strict({
            id: z.string().meta({ description: 'The boot id; attempts name it.' }),
            role: z.enum(roles),
            version: z.string(),
            action_kinds: z.array(z.string()),
            host: z.string(),
            pid: count,
            started_at: instant,
            seen_at: instant,
            database_connections: count.nullable().meta({
              description:
                'How many it may open; null where the database is a file, and for one of an earlier version.',
            }),
          }),
        )
        .nullable()
        .meta({ description: 'The processes that share the database and live; null for a token of some chats.' }),
      worker: strict({
        id: z.string().meta({ description: 'As attempts name it.' }),
        running: z.boolean(),
        action_kinds: z.array(z.string()).meta({ description: 'What tasks can do here.' }),
      }),
    }).meta({ id: 'Status' }),
  }),
  getUsage: operation('get', '/v1/usage', {
    scope: 'read',
    tag,
    summary: 'What ran, was shown and was consumed, of a chat, of a person, or of the whole server',
    query: strict({
      thread_key: z.string().optional(),
      user_key: z.string().max(64).optional().meta({ description: 'The owner of the tasks.' }),
      task_id: z.string().max(64).optional(),
      group: z
        .enum(['day', 'task'])
        .optional()
        .meta({ description: 'Tells what was spent by days of the zone, or by tasks, as well.' }),
      timezone: timezone.optional().meta({ description: 'With group: day; DEFAULT_TIMEZONE when absent.' }),
      from: instantSent.optional().meta({ description: '30 days before to when absent.' }),
      to: instantSent
        .optional()
        .meta({ description: 'The present instant when absent; it does not belong to the stretch.' }),
    }),
    answer: strict({
      from: instant,
      to: instant,
      runs: count,
      failures: count,
      messages: count.meta({ description: 'Answers, results and notices that were delivered.' }),
      capped: z.boolean().meta({ description: 'There are more than were counted.' }),
      spent: z
        .array(strict(sum))
        .meta({ description: 'By all attempts of the runs that were let in within the stretch.' }),
      by_day: z.array(strict({ day: z.string(), ...sum })).optional(),
      by_task: z
        .array(strict({ task_id: z.string(), number: z.int().nullable(), title: text, ...sum }))
        .optional()
        .meta({ description: 'The most first; number and title are null where the task is gone.' }),
      quota: strict({ chat: used, user: used }).meta({
        description: 'Tasks that can still run; null where no thread_key or no user_key was named.',
      }),
    }).meta({ id: 'Usage' }),
  }),
  tick: operation('post', '/v1/tick', {
    scope: 'admin',
    tag,
    summary: 'Take up what is due now, without waiting for the server to do so by itself',
    body: noBody,
    answer: strict({
      scheduled: count.meta({ description: 'Tasks and occurrences that were taken up.' }),
      started: count.meta({ description: 'Runs that were begun, or ended without being begun.' }),
      deliveries: count.meta({ description: 'Parts that were taken up to be delivered.' }),
      reminders: count,
      more: z.boolean().meta({ description: 'Something is left to do right now, or has not ended yet: ask again.' }),
      failed: z.array(z.string()).meta({ description: 'Rooms whose step failed; they try again by themselves.' }),
      elsewhere: z.boolean().meta({
        description:
          'This process does no work: the workers were told to look, and what they take up is not counted here.',
      }),
    }).meta({ id: 'Tick' }),
    refuses: ['no_worker'],
  }),
  isLive: operation('get', '/livez', { ...state, summary: 'Whether the process turns' }),
  isHealthy: operation('get', '/healthz', { ...state, summary: 'The same as /livez' }),
  isReady: operation('get', '/readyz', { ...state, summary: 'Whether work can be done now' }),
  getVersion: operation('get', '/version', { ...probe, summary: 'Which version this is', answer: versionAnswer }),
  getDescription: operation('get', '/openapi.json', {
    ...probe,
    summary: 'This document',
    answer: z.looseObject({ openapi: z.string() }),
  }),
  runAudit: operation('post', '/v1/audit/run', {
    scope: 'admin',
    tag: 'operations',
    summary: 'Look now for what must never be; nothing is changed',
    body: noBody,
    answer: auditAnswer,
  }),
  reconcile: operation('post', '/v1/reconcile', {
    scope: 'admin',
    tag: 'operations',
    summary: 'Show what the audit finds, and repair what can be repaired safely when asked to',
    body: reconcileBody,
    answer: reconcileAnswer,
  }),
} as const;

/* ---- who is let in: owners of the bot, other people, and groups ---- */

const accessEntry = strict({
  id: z.string().meta({ description: 'The number of the person; of a group it is negative.', example: '1001' }),
  thread_key: z.string().meta({ description: 'The chat: of a person the private one.' }),
  who: text.meta({ description: 'How they are called, where that is known.' }),
  role: z.enum(['owner', 'user', 'group']),
  by: text.meta({ description: 'Who let them in: a person, a token, or the product for the environment.' }),
  since: instant.nullable().meta({ description: 'Null where no version has noted it.' }),
}).meta({ id: 'Access' });

const entryId = text.meta({ description: 'The entry in the audit; null when nothing changed.' });
const accessParams = strict({
  id: z.string().max(64).meta({
    description: 'A number as in the list, or with telegram:user: or telegram:chat: before it.',
    example: '1001',
  }),
});
const accessBody = strict({
  role: z
    .enum(['owner', 'user'])
    .optional()
    .meta({ description: 'Of a person. Without it an owner stays one, and somebody new is a user.' }),
})
  .optional()
  .meta({ example: {} });

const accessPath = '/v1/access';
export const accessOperations = {
  listAccess: operation('get', accessPath, {
    scope: 'admin',
    tag,
    summary: 'List who is let in, newest first',
    query: strict(page),
    answer: strict({ access: z.array(accessEntry), next_cursor: cursor }),
    refuses: ['invalid_cursor'],
  }),
  allowAccess: operation('put', `${accessPath}/{id}`, {
    scope: 'admin',
    tag,
    summary: 'Let a person or a group in, or give a person another role',
    params: accessParams,
    body: accessBody,
    answer: strict({ access: accessEntry, entry_id: entryId }),
    refuses: ['last_owner'],
  }),
  denyAccess: operation('delete', `${accessPath}/{id}`, {
    scope: 'admin',
    tag,
    summary: 'Deny a person or a group, until somebody approves them again; the last owner stays',
    params: accessParams,
    answer: strict({
      denied: z.literal(true),
      paused: z.int().meta({ description: 'Tasks of that chat that were paused by it.' }),
      entry_id: entryId,
    }),
    refuses: ['last_owner'],
  }),
} as const;
