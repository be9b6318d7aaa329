import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { AppError, type ErrorCode } from '../domain/errors.ts';

/** Exhaustive on purpose: a new code does not compile until its status is decided. */
export const statusOf: Readonly<Record<ErrorCode, ContentfulStatusCode>> = {
  invalid_request: 400,
  invalid_thread_key: 400,
  invalid_schedule: 400,
  ambiguous_schedule: 400,
  incomplete_schedule: 400,
  invalid_policy: 400,
  invalid_template: 400,
  invalid_action: 400,
  invalid_cursor: 400,
  images_unavailable: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  task_not_found: 404,
  run_not_found: 404,
  method_not_allowed: 405,
  task_exists: 409,
  run_in_progress: 409,
  schedule_exhausted: 409,
  nothing_to_skip: 409,
  nothing_to_answer: 409,
  nothing_to_undo: 409,
  nothing_to_rotate: 409,
  too_late: 409,
  not_repeatable: 409,
  not_attachable: 409,
  last_owner: 409,
  request_in_progress: 409,
  payload_too_large: 413,
  unsupported_media_type: 415,
  idempotency_mismatch: 422,
  idempotency_key_mismatch: 400,
  not_finished: 409,
  quota_exceeded: 429,
  budget_exhausted: 409,
  kind_paused: 409,
  no_worker: 409,
  rate_limited: 429,
  internal: 500,
  secrets_unavailable: 503,
  store_unavailable: 503,
  stopping: 503,
};

/** A quota is freed when a person removes a task, so coming back sooner than in a minute is pointless. */
const quotaRetrySeconds = 60;
/** A database that is full or restarting is seldom back before that. */
const storeRetrySeconds = 5;

/** A person must bring the key back. */
const keyRetrySeconds = 60;

/** A first request is seldom at work for longer. */
const inProgressRetrySeconds = 1;

const headersOf: Readonly<Partial<Record<ErrorCode, Readonly<Record<string, string>>>>> = {
  unauthorized: { 'www-authenticate': 'Bearer realm="cronogram"' },
  request_in_progress: { 'retry-after': String(inProgressRetrySeconds) },
  quota_exceeded: { 'retry-after': String(quotaRetrySeconds) },
  secrets_unavailable: { 'retry-after': String(keyRetrySeconds) },
  store_unavailable: { 'retry-after': String(storeRetrySeconds) },
  stopping: { 'retry-after': String(storeRetrySeconds), connection: 'close' },
  // The rest of the body is not read, so the connection cannot serve another request.
  payload_too_large: { connection: 'close' },
};

export interface Fault {
  readonly status: ContentfulStatusCode;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: {
    readonly error: {
      readonly code: ErrorCode;
      readonly message: string;
      readonly details?: Readonly<Record<string, unknown>>;
    };
  };
}

/** The answer to a client. A fault of ours is told by its id alone: its cause is for the log. */
export function faultOf(error: unknown, errorId: string): Fault {
  if (!(error instanceof AppError) || error.code === 'internal') {
    const message = 'Something went wrong on our side. The log names the cause under the error_id.';
    return { status: 500, headers: {}, body: { error: { code: 'internal', message, details: { error_id: errorId } } } };
  }
  const { code, message, details } = error;
  return {
    status: statusOf[code],
    headers: { ...headersOf[code], ...retryHeader(details) },
    body: { error: { code, message, ...(details === undefined ? {} : { details: whole(code, details) }) } },
  };
}

/** Where the time to wait depends on the case, the details say it, for clients that read no headers as well. */
function retryHeader(details: Readonly<Record<string, unknown>> = {}): Readonly<Record<string, string>> {
  const seconds = details['retry_after_seconds'];
  return typeof seconds === 'number' ? { 'retry-after': String(seconds) } : {};
}

/** The domain names a field within its schedule; a client needs the way from the body. */
function whole(code: ErrorCode, details: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { field } = details;
  const isInside =
    code === 'invalid_schedule' && typeof field === 'string' && !/^(?:schedule(?:\.|$)|when$)/.test(field);
  return isInside ? { ...details, field: `schedule.${field}` } : details;
}

/** Refuses one field of a request, under the code that belongs to it. */
export function refusal(path: readonly PropertyKey[], problem: string): AppError {
  const field = path.map(String).join('.').slice(0, fieldLengthMax);
  const message = field === '' ? `${capital(problem)}.` : `${field}: ${problem}.`;
  return new AppError(
    codesOfFields.get(path[0]) ?? 'invalid_request',
    message,
    field === '' ? {} : { details: { field } },
  );
}

/** A field's name comes from the client; a message stays a sentence. */
const fieldLengthMax = 80;

/** The code with which a field is refused whose value has another shape than it should. */
export const codesOfFields: ReadonlyMap<PropertyKey | undefined, ErrorCode> = new Map<PropertyKey, ErrorCode>([
  ['schedule', 'invalid_schedule'],
  ['policies', 'invalid_policy'],
  ['action', 'invalid_action'],
  ['cursor', 'invalid_cursor'],
  ['thread_key', 'invalid_thread_key'],
]);

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
