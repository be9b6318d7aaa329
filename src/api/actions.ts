import { z } from 'zod';
import * as limits from '../domain/limits.ts';
import { facts, instant, noBody, operation, strict, text, timezone } from './operation.ts';
import { policies } from './policies.ts';
import { runAnswer } from './runs.ts';
import { scheduleInput } from './schedules.ts';
import { action } from './tasks.ts';

/** Kinds of actions: all that tasks can do, the reach and cost of one, and a trial of it. */

const part = strict({
  name: z.string(),
  is: z.enum(['text', 'choice', 'length', 'pairs', 'whole', 'wholes', 'object', 'secret', 'any']).meta({
    description:
      'pairs: an object of texts. length: an ISO-8601 duration. wholes: a whole number, or a list of them. secret: the name of one, or the place in the context where it stands.',
  }),
  of: z.array(z.string()).optional().meta({ description: 'With choice: what it can be.' }),
  required: z.boolean(),
  does: z.string(),
  example: z.unknown(),
});

const field = part.extend({
  kinds: z
    .array(strict({ kind: z.string(), does: z.string(), fields: z.array(part), example: facts }))
    .optional()
    .meta({ description: 'With object: the kinds that it can be, each with its parts beside kind.' }),
});

const kind = strict({
  kind: z.string(),
  name: z.string(),
  does: z.string(),
  needs_text: z.boolean().meta({ description: 'It works on the instructions of its task.' }),
  fields: z.array(field).meta({ description: 'The settings beside kind.' }),
  example: facts,
  paused: strict({ since: instant, by: z.string() }).nullable().meta({
    description: 'Since when nothing of it begins, and who has paused it; its runs wait. Null while it goes on.',
  }),
}).meta({ id: 'ActionKind' });

const cost = strict({
  kind: z.string().meta({ example: 'requests' }),
  currency: z.string().nullable().meta({ description: 'Of money alone, which is told in millionths.' }),
  per_run: z.number().meta({ description: 'Of one run without a fault, at most.' }),
  often: strict({ count: z.number(), per: z.enum(['day', 'month', 'year']) })
    .nullable()
    .meta({
      description: 'As often as the schedule has it run; null for what runs once.',
    }),
  per_month: z.number().meta({ description: 'By all runs of its first 30 days.' }),
  at_once: z.number().nullable().meta({ description: 'After an outage, where the policy missed makes slots up.' }),
});

const outlook = strict({
  action,
  brief: z.string().meta({ description: 'What it does, in short.' }),
  changes_things: z.boolean().meta({ description: 'The call itself is the effect: approval is asked for before it.' }),
  repeatable: z.boolean().meta({ description: 'It is done again after a crash in the midst of it.' }),
  reaches: z.array(z.string()),
  secrets: z.array(strict({ name: z.string(), host: z.string(), use: z.enum(['send', 'sign', 'prove']) })).meta({
    description:
      'Secrets by name, and the host for which each is used: its value is sent there, or it signs the call or proves a certificate.',
  }),
  costs: z.array(cost),
  attempts: z.int().nullable(),
  retry_window_seconds: z.number().nullable().meta({ description: 'Within which the last try of a run ends.' }),
  catch_up_runs: z
    .int()
    .nullable()
    .meta({ description: 'Runs at once after an outage; null where none cost anything.' }),
}).meta({ id: 'ActionOutlook' });

const example = { kind: 'http', url: 'https://api.example.com/price', template: 'The price is {{ body.price }}.' };

const previewBody = strict({
  action,
  schedule: scheduleInput,
  policies: policies.optional(),
}).meta({
  id: 'ActionPreview',
  example: { action: example, schedule: { kind: 'cron', cron: '0 9 * * *', timezone: 'Europe/Madrid' } },
});

const testBody = strict({
  action,
  instructions: z.string().max(limits.instructionsLengthMax).optional(),
  context: facts.optional().meta({ description: 'What the runs of the task would know.' }),
  timezone: timezone.default('UTC'),
  thread_key: z
    .string()
    .default('cli:default')
    .meta({ description: 'Where its result is shown as well; one that is delivered nowhere without it.' }),
  confirm: z
    .boolean()
    .default(false)
    .meta({ description: 'Needed for what may change something where it calls, as every method but GET and HEAD.' }),
}).meta({ id: 'ActionTest', example: { action: example } });

const tag = 'actions';

const pausing = {
  scope: 'admin',
  tag,
  params: strict({ kind: z.string().max(64).meta({ description: 'As GET /v1/actions lists it.', example: 'http' }) }),
  body: noBody,
  answer: strict({
    kind: z.string(),
    paused: strict({ since: instant, by: z.string() }).nullable(),
    entry_id: text.meta({ description: 'The entry in the audit; null when nothing changed.' }),
  }),
  refuses: ['not_found'],
} as const;

export const actionOperations = {
  listActions: operation('get', '/v1/actions', {
    scope: 'read',
    tag,
    summary: 'List the kinds of actions, with their settings',
    answer: strict({ actions: z.array(kind) }),
  }),
  pauseKind: operation('post', '/v1/actions/{kind}/pause', {
    ...pausing,
    summary: 'Let nothing of a kind begin, on the whole server: its runs wait until it is resumed',
  }),
  resumeKind: operation('post', '/v1/actions/{kind}/resume', {
    ...pausing,
    summary: 'Let a kind go on: everything that waits begins, late as it is',
  }),
  previewAction: operation('post', '/v1/actions/preview', {
    scope: 'read',
    tag,
    summary: 'Tell what a task with this action would reach and cost, without making it',
    body: previewBody,
    answer: outlook,
    refuses: ['invalid_action'],
  }),
  testAction: operation('post', '/v1/actions/test', {
    scope: 'manage',
    tag,
    summary: 'Do an action once, with a key of its own, before there is a task; its run tells what came of it',
    body: testBody,
    idempotent: true,
    answer: runAnswer,
    statuses: [202],
    refuses: ['invalid_action', 'invalid_thread_key', 'not_found', 'kind_paused'],
  }),
} as const;
