import { z } from 'zod';
import { faultKinds, mediaKinds } from '../world/world.ts';

/** A caller that waits longer holds a connection for a bot that does not answer. */
const waitMaxMs = 60_000;

/** The id of a chat, or its short key, such as `lab`. */
const chat = z.union([z.int(), z.string().min(1).max(64)], 'must be the id of a chat or its short key, such as "lab"');
const as = z.string('must be the key of a person: "ada", "ben" or "mallory"').min(1).max(64);
const id = z.int().min(1);
const wait = z.int().min(0).max(waitMaxMs).default(0);
const text = z.string();
const fileNameMax = 255;
/** Base64 of 5 MiB. */
const fileTextMax = Math.ceil((5 * 1024 * 1024) / 3) * 4;
const mimeType = z.string().regex(/^[\w.+-]{1,60}\/[\w.+-]{1,60}$/, 'must be a type such as "image/png"');

/** A file of that kind, or without `data` a sample of one. */
export const file = z.strictObject({
  kind: z.enum(mediaKinds),
  name: z.string().min(1).max(fileNameMax).optional(),
  data: z.base64('must be base64').max(fileTextMax, 'must be a file of at most 5 MiB').optional(),
  mime_type: mimeType.optional(),
});

export const sayBody = z
  .strictObject({
    as,
    chat,
    thread: id.nullish(),
    text: text.optional(),
    /** A file, or two to ten of them as an album; `text` is the caption then, of an album that of the first. */
    media: z.union([file, z.array(file).min(2).max(10)]).optional(),
    reply_to: id.optional(),
    reply_to_ephemeral: id.optional(),
    ephemeral: z.literal(false, 'must be false: commands are ephemeral by themselves').optional(),
    wait,
  })
  .refine((say) => say.text !== undefined || say.media !== undefined, 'Give a text, or media to send')
  .refine((say) => say.reply_to === undefined || say.reply_to_ephemeral === undefined, 'A message answers one other');

export const pressBody = z
  .strictObject({
    as,
    chat,
    message_id: id.optional(),
    ephemeral_id: id.optional(),
    button: z.string().min(1),
    wait,
  })
  .refine((press) => press.message_id === undefined || press.ephemeral_id === undefined, 'Name one message');

export const platformBody = z
  .strictObject({ ephemeral: z.boolean().optional(), privacy: z.boolean().optional() })
  .refine((features) => Object.keys(features).length > 0, 'Name at least one feature to switch: ephemeral or privacy');

export const editBody = z.strictObject({ as, chat, message_id: id, text });

export const topicBody = z.discriminatedUnion(
  'action',
  [
    z.strictObject({ action: z.literal('create'), as, chat, name: z.string() }),
    z.strictObject({ action: z.literal('close'), as: as.optional(), chat, thread: id }),
    z.strictObject({ action: z.literal('reopen'), as: as.optional(), chat, thread: id }),
    z.strictObject({ action: z.literal('delete'), chat, thread: id }),
  ],
  'must be "create", "close", "reopen" or "delete"',
);

export const rightsBody = z
  .strictObject({
    chat,
    can_manage_topics: z.boolean().optional(),
    can_pin_messages: z.boolean().optional(),
    can_delete_messages: z.boolean().optional(),
  })
  .refine(({ chat: _chat, ...rights }) => Object.keys(rights).length > 0, 'Name at least one right to give or to take');

export const botBody = z.strictObject({
  chat,
  status: z.enum(['member', 'administrator', 'kicked', 'left']),
  by: as,
  /** The payload of a link to add the bot: Telegram says `/start` with it in the group, in the name of who followed it. */
  start: z
    .string()
    .regex(/^[\w-]{1,64}$/, 'must be 1 to 64 letters, digits, "_" or "-"')
    .optional(),
});

export const memberBody = z.strictObject({
  chat,
  person: as,
  status: z.enum(['creator', 'administrator', 'member', 'left', 'kicked']),
});

export const migrateBody = z.strictObject({ chat });
export const forumBody = z.strictObject({ chat, on: z.boolean() });
export const resetBody = z.strictObject({});

export const jumpBody = z.strictObject({
  to: z.string('must be an instant, "next", or a duration such as "PT1H"').min(1).max(64),
});

/** More calls than a fault could ever meet in one sitting. */
const faultCountMax = 10_000;
const retryAfterMaxS = 86_400;
const lateMaxMs = 600_000;

export const faultBody = z.strictObject({
  kind: z.enum(faultKinds),
  method: z
    .string()
    .regex(/^(?:\*|[a-zA-Z]{1,64})$/, 'must be a method such as "sendMessage", "send" for all that send, or "*"'),
  chat: chat.optional(),
  count: z.int().min(1).max(faultCountMax).default(1),
  retry_after: z.int().min(1).max(retryAfterMaxS).optional(),
  delay_ms: z.int().min(0).max(lateMaxMs).optional(),
  chance: z.number().positive().max(1).optional(),
});

const number = z
  .string()
  .regex(/^\d{1,15}$/, 'must be a whole number')
  .transform(Number);
const limit = number.pipe(z.int().min(1).max(500)).default(100);

export const faultQuery = z.strictObject({ id: z.string().min(1).max(100).optional() });
export const messagesQuery = z.strictObject({
  chat: z.string('name a chat by its id or its short key').min(1).max(64),
  /** `general`: what stands outside of every topic. */
  thread: z.union([z.literal('general'), number], 'must be the id of a topic, or "general"').optional(),
  before: number.optional(),
  as: as.optional(),
  limit,
});
export const callsQuery = z.strictObject({ after: number.optional(), limit });
export const transcriptQuery = z.strictObject({
  chat: z.string().min(1).max(64).optional(),
  format: z.enum(['text', 'json']).default('text'),
});
export const documentQuery = z.strictObject({ id: z.string('name the document by its file_id').min(1).max(200) });
export const eventsQuery = z.strictObject({ after: z.string().max(64).optional() });
export const noQuery = z.strictObject({});
