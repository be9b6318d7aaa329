import type { HostEnd } from '../../../domain/outbound/hosts.ts';
import type { OutboundEnd } from '../../ports/outbound.ts';
import type { Outcome } from '../action.ts';
import type { Answer } from './answer.ts';
import type { HttpSettings } from './settings.ts';

/** The meaning of an answer: whether it is the one that was wanted, and whether it is worth another try. */

/** A call, as templates, programs and flows read it. */
export interface HttpData {
  readonly status: number | null;
  readonly ok: boolean;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly error?: { readonly type: 'TIMEOUT' | 'NETWORK'; readonly message: string };
}

export function dataOf({ status, headers, body }: Answer, ok: boolean): HttpData {
  return { status, ok, headers, body };
}

/** Of a call that brought no answer. */
export function dataWithout(type: 'TIMEOUT' | 'NETWORK', message: string): HttpData {
  return { status: null, ok: false, headers: {}, body: null, error: { type, message } };
}

export function isExpected({ expects }: Pick<HttpSettings, 'expects'>, status: number): boolean {
  return expects === null ? status >= 200 && status <= 299 : expects.includes(status);
}

/** Statuses by which a server says that it may answer otherwise later. */
function mayPass(status: number): boolean {
  return status >= 500 || [408, 425, 429].includes(status);
}

/** Words of an answer that explain it to people. */
const quoteMax = 200;

type Failed = Extract<Outcome, { is: 'retry' | 'giveUp' }>;

/** The outcome of an answer that was not wanted. */
export function unwanted(host: string, answer: Answer, holdMs: number | null): Failed {
  const { status, text } = answer;
  const quote = (text ?? '').trim().replace(/\s+/g, ' ').slice(0, quoteMax);
  const error = `${host} answered ${status}${quote === '' ? '' : `: ${quote}`}`;
  const told = { error, httpStatus: status, data: dataOf(answer, false) };
  if (!mayPass(status)) return { is: 'giveUp', ...told };
  return { is: 'retry', ...told, ...(holdMs === null ? {} : { afterMs: holdMs }) };
}

/** The outcome of a call that brought no answer. */
export function unanswered(end: Exclude<OutboundEnd, { is: 'answered' }>): Failed {
  if (end.is === 'refused') return { is: 'giveUp', isInvalid: true, error: `action.url: ${end.error}` };
  const { error } = end;
  const data = dataWithout(end.type, error);
  return end.isFinal ? { is: 'giveUp', error, data } : { is: 'retry', error, data };
}

/** The word of a call about its host. Whoever is told to wait is told by a host that works. */
export function hostEndOf(end: OutboundEnd, isCalledOff: boolean): HostEnd {
  if (end.is === 'refused') return 'unsaid';
  if (end.is === 'failed') return isCalledOff ? 'unsaid' : 'bad';
  return end.status >= 500 && end.headers['retry-after'] === undefined ? 'bad' : 'good';
}

/** How long the host asked to be left alone, in seconds or until a date; null where it did not ask. */
export function retryAfterMs(end: OutboundEnd, now: number): number | null {
  if (end.is !== 'answered' || !mayPass(end.status)) return null;
  const asked = end.headers['retry-after']?.trim() ?? '';
  if (/^\d{1,9}(?:\.\d+)?$/.test(asked)) return Math.ceil(Number(asked) * 1000);
  // Only dates as HTTP writes them: others are read by the zone of this computer.
  const at = /\b(?:GMT|UTC)$/i.test(asked) ? Date.parse(asked) : NaN;
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}
