import { z } from 'zod';
import * as limits from '../domain/limits.ts';
import { duration, instantSent, strict } from './operation.ts';

/** How a task deals with time, with failure and with people. */

const said = (description: string) => ({ description });

const shape = {
  missed: z
    .enum(['skip', 'once', 'all', 'ask'])
    .meta(
      said(
        'What becomes of slots that passed while nobody was there, beyond grace: nothing, one late run, each of them, or a question in the chat.',
      ),
    ),
  missed_limit: z
    .int()
    .min(1)
    .max(limits.missedLimitMax)
    .meta(said(`With missed: all, how many of them run; ${limits.missedLimitDefault} by default.`)),
  grace: duration.meta(said('A slot that is late by no more than this simply runs.')),
  unknown: z
    .enum(['resend', 'ask'])
    .meta(said('What is done about a message of which nobody knows whether it arrived: send it again, or ask.')),
  overlap: z
    .enum(['skip', 'queue', 'replace', 'allow'])
    .meta(
      said(
        'When a slot comes while the run before it is still going: leave it out, let it wait, end the old run first, or run both.',
      ),
    ),
  retry: strict({
    attempts: z.int().min(1).max(limits.retryAttemptsMax).optional().meta(said('In all, the first one included.')),
    base: duration.optional().meta(said('The pause before the second attempt.')),
    factor: z
      .number()
      .min(1)
      .max(limits.retryFactorMax)
      .optional()
      .meta(said('By how much each pause is longer than the one before.')),
    cap: duration.optional().meta(said('No pause is longer than this.')),
    jitter: z
      .number()
      .min(0)
      .max(limits.retryJitterMax)
      .optional()
      .meta(said('The share of a pause by which chance may shorten or lengthen it.')),
  }).meta(said('How often a run that fails is tried again, and when.')),
  timeout: duration.meta(said('An attempt that takes longer is ended.')),
  auto_pause: z
    .int()
    .min(0)
    .max(limits.autoPauseMax)
    .meta(
      said(
        `Pauses the task after so many failed runs in a row: 0 (off) or ${limits.autoPauseMin} to ${limits.autoPauseMax}; ${limits.autoPauseDefault} by default.`,
      ),
    ),
  start_at: instantSent.meta(said('No slot before this.')),
  until: instantSent.meta(said('No slot after this.')),
  max_runs: z.int().min(1).max(limits.maxRunsMax).meta(said('The task is completed after so many runs.')),
  max_age: duration.meta(said('A result that could not be delivered within this is dropped, and that is recorded.')),
  jitter: duration.meta(said('Spreads the slots by chance over so long, so that not all tasks run at the full hour.')),
  priority: z
    .int()
    .min(1)
    .max(10)
    .meta(said(`Who goes first when many runs wait; 1 is the lowest and ${limits.priorityDefault} the default.`)),
  approval: z.enum(['none', 'required']).meta(said('Whether somebody must approve a result before it is shown.')),
  quiet: strict({
    from: z
      .string()
      .max(5)
      .optional()
      .meta({ ...said('Such as 22:00, in the zone of the task.'), example: '22:00' }),
    to: z
      .string()
      .max(5)
      .optional()
      .meta({ ...said('Such as 07:00, in the zone of the task.'), example: '07:00' }),
    mode: z
      .enum(['hold', 'silent', 'off'])
      .meta(said('Results wait for the end of it, come without a sound, or are heard at any time.')),
  }).meta(said('The hours in which nobody is to be disturbed.')),
  ack: strict({
    nag_every: duration.optional().meta(said('How often they are reminded.')),
    nag_limit: z.int().min(0).max(limits.nagLimitMax).optional().meta(said('How many times at most.')),
  }).meta(said('Somebody must say that it is done, and is reminded until they do.')),
};

const onExisting = z
  .enum(['fail', 'upsert', 'add'])
  .meta(said('When the task is there already, by its title and subject: refuse, change that one, or add another.'));

export const policies = strict({ ...shape, on_existing: onExisting })
  .partial()
  .meta({ id: 'Policies', ...said('Each of them has a default that fits the task.') });

type Resettable = { [K in keyof typeof shape]: z.ZodOptional<z.ZodNullable<(typeof shape)[K]>> };
const resettable = Object.fromEntries(
  Object.entries(shape).map(([name, policy]) => [name, policy.nullish()]),
) as Resettable;

export const policyChanges = strict(resettable).meta({
  id: 'PolicyChanges',
  ...said('The policies to change; one that is null goes back to its default.'),
});
