/**
 * Every fault that a person or a client can meet has one code from this closed list. Each inbound adapter translates the
 * codes with one exhaustive table, so that adding a code without deciding its HTTP status does not compile.
 */
export type ErrorCode =
  | 'invalid_request'
  | 'invalid_thread_key'
  | 'invalid_schedule'
  | 'ambiguous_schedule'
  | 'incomplete_schedule'
  | 'invalid_policy'
  | 'invalid_template'
  | 'invalid_action'
  | 'invalid_cursor'
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  | 'task_not_found'
  | 'run_not_found'
  | 'method_not_allowed'
  | 'task_exists'
  | 'run_in_progress'
  | 'schedule_exhausted'
  | 'nothing_to_skip'
  | 'nothing_to_answer'
  | 'nothing_to_undo'
  | 'nothing_to_rotate'
  | 'too_late'
  | 'not_repeatable'
  | 'not_attachable'
  | 'last_owner'
  | 'idempotency_mismatch'
  | 'request_in_progress'
  | 'idempotency_key_mismatch'
  | 'not_finished'
  | 'images_unavailable'
  | 'payload_too_large'
  | 'unsupported_media_type'
  | 'quota_exceeded'
  | 'budget_exhausted'
  | 'kind_paused'
  | 'no_worker'
  | 'rate_limited'
  | 'secrets_unavailable'
  | 'store_unavailable'
  | 'stopping'
  | 'internal';

export interface ErrorOptions {
  /** Facts a client can act on; never a secret. */
  readonly details?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

/** The one error class of the product. The message is a sentence for the person who has to mend the input. */
export class AppError extends Error {
  override readonly name = 'AppError';
  readonly code: ErrorCode;
  readonly details: Readonly<Record<string, unknown>> | undefined;

  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.details = options.details;
  }
}

/** The refusal of one field of a request. */
export function invalid(field: string, message: string): AppError {
  return new AppError('invalid_request', message, { details: { field } });
}

/** The refusal of an id: there is no such thing, or not for whoever asks. Clients of jagc look at the codes of two kinds. */
export function missing(what: string): AppError {
  const code = what === 'task' || what === 'run' ? (`${what}_not_found` as const) : 'not_found';
  return new AppError(code, `There is no such ${what}.`);
}

/** The words of a fault, whatever was thrown. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The code of a fault of a library or of the system, however it was wrapped on the way; empty where there is none. */
export function faultCodeOf(error: unknown): string {
  for (let at: unknown = error; typeof at === 'object' && at !== null; at = 'cause' in at ? at.cause : null) {
    if ('code' in at && typeof at.code === 'string') return at.code;
  }
  return '';
}

/** The store cannot be used right now: the same is done again when it is back. */
export function isAway(error: unknown): error is AppError {
  return error instanceof AppError && error.code === 'store_unavailable';
}

/** For states that only a fault of ours can bring about. It is never shown to a person as their mistake. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new AppError('internal', message);
}

/**
 * The faults of work that is tried again and again: one that goes on is news once, and another one is news again. How often the
 * work has failed is told when it succeeds.
 */
export function createFaults() {
  let failures = 0;
  let last: string | null = null;
  return {
    met: (error: unknown) => {
      failures += 1;
      const text = errorText(error);
      const isNews = text !== last;
      last = text;
      return { isNews, error: text, failures };
    },
    /** Answers how often it has failed. */
    over: (): number => {
      const failed = failures;
      failures = 0;
      last = null;
      return failed;
    },
    /** The last one; null while the work goes well. */
    last: (): string | null => last,
  };
}
