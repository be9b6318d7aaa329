import type { Button } from '../../../domain/shown.ts';
import type { ChatContext, Press } from '../context.ts';

/** Telegram's limit for what a button carries. */
const dataBytesMax = 64;

/** The callback data of a button of ours, of whatever version: its verb, and its arguments. */
export const buttonPattern = /^v1:([a-z]{1,12})(?::([^\n]*))?$/;

/** Null for what is not of our making. A verb that is not known any more is a callback all the same. */
export function parsePress(data: string): Press | null {
  const [, verb, args] = Buffer.byteLength(data) <= dataBytesMax ? (buttonPattern.exec(data) ?? []) : [];
  return verb === undefined ? null : { verb, args: args?.split(':') ?? [] };
}

/** Data of a button, or null when it does not fit: then the button is left out rather than broken. */
export function dataOf(verb: string, ...args: readonly (string | number)[]): string | null {
  const data = ['v1', verb, ...args.map(String)].join(':');
  return Buffer.byteLength(data) <= dataBytesMax && !data.includes('\n') ? data : null;
}

export function button(text: string, data: string | null): Button | null {
  return data === null ? null : { text, data };
}

export type Rows = readonly (readonly (Button | null)[])[];

export function inRows(all: Rows[number], size: number): Rows {
  const rows: Rows[number][] = [];
  for (let index = 0; index < all.length; index += size) rows.push(all.slice(index, index + size));
  return rows;
}

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

/** An argument of the button; empty when it has none at that place. */
export function arg({ press }: Pick<ChatContext, 'press'>, index: number): string {
  return press?.args[index] ?? '';
}

/** Tells this drawing from every other one: update ids are never given twice. */
export function markFor({ updateId }: { readonly updateId: number }): string {
  return updateId.toString(36);
}
