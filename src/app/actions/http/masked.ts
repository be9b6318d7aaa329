import { byteMasker, masker } from '../../../domain/secrets/mask.ts';
import type { OutboundEnd } from '../../ports/outbound.ts';
import type { Timer } from '../../ports/outside.ts';
import { textBytesMax, type Answer } from './answer.ts';

/** Answers are searched for the secrets that were sent, before anything of them is kept, shown or compared. */
export interface Mask {
  readonly text: (text: string) => string;
  readonly bytes: (bytes: Buffer) => Buffer;
  /** Whether a text holds one of them, in whatever form. */
  readonly holds: (text: string) => boolean;
  /** Masks a text in which a secret may be the name of a host, and stand in small letters. */
  readonly address: (text: string) => string;
}

/** Null where no secret was sent, as by most calls. */
export function maskOf(values: readonly string[]): Mask | null {
  if (values.length === 0) return null;
  const text = masker(values);
  const address = masker([...values, ...values.map((value) => value.toLowerCase())]);
  return { text, bytes: byteMasker(values), holds: (one) => text(one) !== one, address };
}

/** A piece of a large answer that is looked through at once, with what it shares with the next one. */
const pieceBytes = 131_072;
/** Longer than any form of any secret. */
const sharedBytes = 65_536;

/**
 * The end without the secrets. What is longer than a text in a chat is not masked but refused when it holds one: it is a file, and a file
 * with a hole in it is broken.
 */
export async function maskedEnd(end: OutboundEnd, mask: Mask, timer: Pick<Timer, 'yield'>): Promise<OutboundEnd> {
  if (end.is !== 'answered') return { ...end, error: mask.address(end.error) };
  const body = Buffer.from(end.body.buffer, end.body.byteOffset, end.body.byteLength);
  const headers = Object.fromEntries(Object.entries(end.headers).map(([name, value]) => [name, mask.text(value)]));
  if (body.byteLength <= textBytesMax) return { ...end, headers, body: mask.bytes(body) };
  for (let from = 0; from < body.byteLength; from += pieceBytes) {
    const piece = body.subarray(from, from + pieceBytes + sharedBytes);
    if (mask.bytes(piece) !== piece) return { is: 'failed', type: 'NETWORK', error: repeated, isFinal: true };
    await timer.yield();
  }
  return { ...end, headers };
}

const repeated = `The answer repeats a secret that was sent with the call, and has more than ${textBytesMax.toLocaleString('en')} bytes, so it is not kept`;

/** The answer once more as it reads: a charset, or the tags of a page, may have kept a secret apart. */
export function maskedAnswer(answer: Answer, mask: Mask): Answer {
  const { text, body, file } = answer;
  return {
    ...answer,
    text: text === null ? null : mask.text(text),
    body: maskedValue(body, mask),
    file: file === null ? null : { ...file, name: mask.text(file.name) },
  };
}

/** JSON without the secrets, names and values alike. */
export function maskedValue(value: unknown, mask: Mask): unknown {
  const text = JSON.stringify(value);
  // Most hold none, and one look says so.
  return text === undefined || !mask.holds(text) ? value : walked(value, mask);
}

function walked(value: unknown, mask: Mask): unknown {
  if (typeof value === 'string') return mask.text(value);
  if (typeof value === 'number') return mask.holds(String(value)) ? mask.text(String(value)) : value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((one) => walked(one, mask));
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [mask.text(name), walked(one, mask)]));
}
