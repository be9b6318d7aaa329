import { iso } from '../../../domain/schedule/time/calendar.ts';
import { isBlank } from '../../../domain/task.ts';
import type { Job } from '../action.ts';
import { headerValue, refused } from './refusal.ts';
import type { Call } from './secret-marks.ts';
import { addressOf, type HttpSettings } from './settings.ts';
import { carriesEnvelope } from './written.ts';

/** Facts of a job that a call carries. */
export type Caller = Pick<Job, 'taskId' | 'runId' | 'attempt' | 'outgoingKey' | 'input'>;

/**
 * The call of rendered settings. The same slot makes the same key each time it is tried, so a target can tell a repeat. Throws
 * `invalid_action` where the templates came to something that is no call.
 */
export function callOf(settings: HttpSettings, caller: Caller, instructions: string): Call {
  const address = addressOf(settings.url.trim());
  for (const [name, value] of settings.query) address.searchParams.append(name, value);
  address.hash = '';
  const { body, type } = bodyOf(settings, caller, instructions);
  const chosen = Object.entries(settings.headers).map(([name, value]) => [name, headerValue(`headers.${name}`, value)]);
  return {
    method: settings.method,
    url: address.href,
    headers: {
      accept: '*/*',
      'user-agent': 'Cronogram',
      ...(type === null ? {} : { 'content-type': type }),
      ...(Object.fromEntries(chosen) as Record<string, string>),
      ...scheduleHeaders(caller),
    },
    body,
  };
}

function scheduleHeaders({ taskId, outgoingKey, attempt, input }: Caller): Record<string, string> {
  return {
    'idempotency-key': outgoingKey,
    ...(taskId === null ? {} : { 'x-schedule-id': taskId }),
    ...(input.slotAt === null ? {} : { 'x-schedule-time': iso(input.slotAt) }),
    'x-schedule-attempt': String(attempt),
  };
}

interface Body {
  readonly body: string | null;
  readonly type: string | null;
}

const json = 'application/json';

function bodyOf(settings: HttpSettings, caller: Caller, instructions: string): Body {
  if (carriesEnvelope(settings)) return { body: JSON.stringify(envelopeOf(caller, instructions)), type: json };
  if (!('body' in settings)) return { body: null, type: null };
  const { body, headers } = settings;
  if (typeof body === 'string') return { body, type: 'text/plain; charset=utf-8' };
  if (isForm(headers)) return { body: formOf(body), type: null };
  return { body: JSON.stringify(body), type: json };
}

/** The body that every target can be sent: what was asked for, when, and with what. */
function envelopeOf({ taskId, runId, attempt, input }: Caller, instructions: string) {
  return {
    task_id: taskId,
    title: input.title,
    scheduled_for: input.slotAt === null ? null : iso(input.slotAt),
    attempt,
    run_id: runId,
    payload: { text: isBlank(instructions) ? null : instructions, context: input.context ?? {} },
  };
}

/** Refuses a body that no form can carry, before it is rendered. */
export function checkForm({ body, headers }: Pick<HttpSettings, 'body' | 'headers'>): void {
  if (typeof body !== 'string' && body !== undefined && isForm(headers)) formOf(body);
}

function isForm(headers: HttpSettings['headers']): boolean {
  return /^application\/x-www-form-urlencoded\b/i.test(headers['content-type'] ?? '');
}

const formExample = '{"name": "Ada", "city": ["Oslo", "Rome"]}';

function formOf(body: unknown): string {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw refused('body', 'is an object of names and values where a form is sent', formExample);
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(body)) {
    for (const one of Array.isArray(value) ? (value as readonly unknown[]) : [value]) {
      if (typeof one === 'object' && one !== null)
        throw refused(`body.${name}`, 'is a text, a number, true, false, or a list of these in a form', formExample);
      form.append(name, String(one));
    }
  }
  return form.toString();
}
