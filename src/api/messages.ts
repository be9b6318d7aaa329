import { z } from 'zod';
import { idempotencyKeyLengthMax, messageLengthMax, userKeyLengthMax } from '../domain/limits.ts';
import { deliveryModes } from '../domain/run.ts';
import { strict } from './fields.ts';
import { operation } from './operation.ts';
import { runAnswer } from './runs.ts';

const visible = new RegExp(`^[\\x21-\\x7e]{1,${idempotencyKeyLengthMax}}$`);

const messageBody = strict({
  thread_key: z.string().meta({ description: 'Where it is shown.', example: 'cli:default' }),
  text: z.string().meta({
    maxLength: messageLengthMax,
    example: 'The build is green.',
    description: 'Shown as it stands; it is never a template.',
  }),
  source: z.string().default('api').meta({ description: 'What asks, in lower case. Each source has keys of its own.' }),
  user_key: z
    .string()
    .min(1)
    .max(userKeyLengthMax)
    .optional()
    .meta({ description: 'For whom it is, as the client calls them; kept with the run.' }),
  delivery_mode: z
    .enum([...deliveryModes, 'followUp'])
    .default('normal')
    .transform((mode) => (mode === 'followUp' ? 'normal' : mode))
    .meta({
      description:
        'normal (or followUp) comes behind what was said before, and without a sound in the quiet hours of the chat; silent never makes a sound; urgent always does.',
    }),
  idempotency_key: z
    .string()
    .regex(visible, { error: `it has 1 to ${idempotencyKeyLengthMax} visible ASCII characters` })
    .optional()
    .meta({ description: 'The same as the header Idempotency-Key; one of them is enough.' }),
}).meta({ id: 'Message' });

export const postMessage = operation({
  id: 'postMessage',
  tag: 'runs',
  summary: 'Put a text into a thread; the texts of one thread come in order',
  method: 'post',
  path: '/v1/messages',
  body: messageBody,
  idempotent: true,
  answer: runAnswer,
  statuses: [202],
  refuses: ['invalid_thread_key', 'idempotency_key_mismatch', 'not_found'],
});
