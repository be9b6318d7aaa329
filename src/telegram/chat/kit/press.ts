import { z } from 'zod';
import type { Button } from '../../../domain/shown.ts';
import type { Press } from '../conversation.ts';

/** The platform's limit for what a button carries. */
const dataBytesMax = 64;

/** Every verb that a button ever had. They live as long as the messages that carry them, so none is ever taken away. */
export const verbs = [
  'create',
  'plain',
  'retime',
  'cancel',
  'zoneyes',
  'zones',
  'zone',
  'task',
  'run',
  'pause',
  'resume',
  'skip',
  'edit',
  'editwhat',
  'history',
  'why',
  'delete',
  'restore',
  'undo',
  'list',
  'done',
  'snooze',
  'later',
  'result',
  'retry',
  'error',
  'lasterror',
  'unblock',
  'arrived',
  'resend',
  'setup',
  'seen',
  'wizard',
  'field',
  'fieldset',
  'pick',
  'pauseto',
  'agenda',
  'make',
  'set',
  'test',
  'topicdelete',
  'keep',
  'purge',
  'digest',
  'allow',
  'notdone',
  'missed',
  'deliver',
  'discard',
  'makeonce',
  'hours',
  'kept',
  'which',
] as const;

export type Verb = (typeof verbs)[number];

const Data = z
  .string()
  .refine((data) => Buffer.byteLength(data) <= dataBytesMax)
  .regex(/^v1:[a-z]{1,12}(?::[^\n]*)?$/)
  .transform((data): Press => {
    const [, verb = '', ...args] = data.split(':');
    return { verb, args };
  });

/** Null for what is not of our making. A verb that nobody knows any more is a press all the same. */
export function parsePress(data: string): Press | null {
  const read = Data.safeParse(data);
  return read.success ? read.data : null;
}

/** What the button carries, or null when it does not fit: then the button is left out rather than broken. */
export function dataOf(verb: Verb, ...args: readonly (string | number)[]): string | null {
  const data = ['v1', verb, ...args.map(String)].join(':');
  return Buffer.byteLength(data) <= dataBytesMax && !data.includes('\n') ? data : null;
}

export function button(text: string, data: string | null): Button | null {
  return data === null ? null : { text, data };
}

export type Rows = readonly (readonly (Button | null)[])[];

/** The rows without buttons that do not exist, and without rows that are empty by that. */
export function keyboard(rows: Rows): readonly (readonly Button[])[] {
  return rows.map((row) => row.filter((one) => one !== null)).filter((row) => row.length > 0);
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const shortUuid = /^[\w-]{22}$/;

/** An id in 22 characters instead of 36, so that two of them fit on a button. */
export function shortId(id: string): string {
  return uuid.test(id) ? Buffer.from(id.replaceAll('-', ''), 'hex').toString('base64url') : id;
}

export function longId(short: string): string {
  if (!shortUuid.test(short)) return short;
  const hex = Buffer.from(short, 'base64url').toString('hex');
  const parts = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)];
  const id = parts.join('-');
  return uuid.test(id) ? id : short;
}
