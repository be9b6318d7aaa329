import type { ErrorCode } from '../../domain/errors.ts';

/** What each code tells a client, and what to do about it. A new code does not compile until it is explained. */
export const errorMeanings: Readonly<Record<ErrorCode, string>> = {
  invalid_request: 'A field, the query or the body is not what it should be; `details.field` says which one.',
  invalid_thread_key:
    'The key of the thread cannot be read. It is `telegram:chat:<id>`, `telegram:chat:<id>:topic:<n>`, or another prefix such as `cli:default`.',
  invalid_schedule:
    'The schedule cannot be read, or it was refused; `details.reason` says why, for example `past` or `too_dense`.',
  invalid_policy: 'A policy is unknown or out of its bounds.',
  invalid_template: 'The text is a template with a fault; the message names its place.',
  invalid_action: 'There is no such action, or its settings are wrong.',
  invalid_cursor:
    'The cursor was not made by this list, or belongs to a newer copy of the database. Start again without it.',
  unauthorized: 'The token is missing or wrong.',
  not_found: 'There is no such thing, or you may not see it: the two look the same.',
  method_not_allowed: 'The path is right and the method is not; the header `allow` names those that are.',
  task_exists:
    'There is a task with this title and subject already. Choose `upsert` or `add` as `policies.on_existing`.',
  run_in_progress:
    'The task runs just now and its overlap policy excludes a second run; `details.run_id` names the live one.',
  schedule_exhausted: 'Nothing would ever run any more. Give the task another schedule or other bounds.',
  nothing_to_skip: 'There is no next run that could be skipped.',
  nothing_to_answer: 'No missed runs wait for an answer.',
  nothing_to_undo: 'There is no change that could be taken back.',
  too_late: 'Too much time has passed to take it back.',
  not_repeatable: 'This run cannot be done again, as it did not fail or its task is gone.',
  not_attachable: 'The task cannot be given this chat any more.',
  owner_left: 'The owner of the task is no longer a member of the chat.',
  not_finished: 'The run has no result yet. Ask again when it has ended, or listen to `/v1/events`.',
  idempotency_mismatch: 'The Idempotency-Key was used for another request. Take a new key.',
  idempotency_key_mismatch: 'The header and the body name different keys.',
  request_in_progress: 'The first request with this key is still in work. Come back after `retry-after`.',
  payload_too_large: 'The body, or the address with its headers, is too large.',
  unsupported_media_type: 'The body is JSON in UTF-8, uncompressed, with `content-type: application/json`.',
  quota_exceeded: 'The chat or the person has as many tasks as it may have.',
  rate_limited: 'Too many requests, wrong tokens or streams. Come back after `retry-after`.',
  store_unavailable: 'The database cannot be reached, is full or is too slow. Come back after `retry-after`.',
  stopping: 'The server is stopping. Come back after `retry-after`.',
  internal: 'A fault of ours. The log names its cause under `details.error_id`.',
};
