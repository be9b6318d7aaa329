import type { ErrorCode } from '../../domain/errors.ts';
import { eventKinds } from '../../domain/event.ts';
import { idempotencyKeyLengthMax, pageMax, requestBytesMax } from '../../domain/limits.ts';
import { statusOf } from '../errors.ts';
import { heartbeatMs, streamsMax } from '../events.ts';
import { burstSeconds, guessesMax } from '../token.ts';
import { markup, prose, type Markup } from './markdown.ts';

interface Chapter {
  readonly id: string;
  readonly title: string;
  readonly body: Markup;
}

/** What holds for every operation. */
export function guide(origin: string): readonly Chapter[] {
  return [
    { id: 'start', title: 'First request', body: start(origin) },
    { id: 'rules', title: 'Rules of every request', body: rules() },
    { id: 'errors', title: 'Errors', body: errors() },
    { id: 'idempotency', title: 'Doing something once', body: idempotency() },
    { id: 'pages', title: 'Lists in pages', body: pages() },
    { id: 'events', title: 'Events as they happen', body: events(origin) },
    { id: 'rates', title: 'Rates and limits', body: rates() },
    { id: 'traces', title: 'Trace ids', body: traces() },
  ];
}

const paragraphs = (...texts: readonly string[]) => markup`${texts.map((text) => markup`<p>${prose(text)}</p>`)}`;
const code = (text: string) => markup`<pre tabindex="0"><code>${text}</code></pre>`;

function start(origin: string): Markup {
  return markup`${paragraphs(
    'Everything under `/v1` takes the API token as `authorization: Bearer <token>`. It is the variable `API_TOKEN` of the server; without one it is made at the first start and kept in the file `api-token` beside the database.',
  )}${code(`export CRONOGRAM_API_TOKEN=$(cat data/api-token)

curl "${origin}/v1/tasks?limit=5" -H "authorization: Bearer $CRONOGRAM_API_TOKEN"`)}${paragraphs(
    'The same description for machines is at `/openapi.json`. Health, version and this page need no token.',
  )}`;
}

function rules(): Markup {
  return paragraphs(
    `Bodies and answers are JSON in UTF-8, with fields in snake_case. A body is one object of at most ${requestBytesMax} bytes, uncompressed, with \`content-type: application/json\`. A name that stands twice in one object is refused.`,
    'Unknown fields and unknown parameters are refused by name, so that a slip does not pass for a default. An empty parameter of the query counts as absent.',
    'Instants are ISO-8601: sent with an offset, answered in UTC with milliseconds. Durations are ISO-8601 too, such as `PT10M`. Whole numbers beyond 2^53 are refused, as they would not be kept exactly.',
    'Parts of a path are percent-encoded: `telegram:chat:-100` may be sent as it is, or as `telegram%3Achat%3A-100`. There is no slash at the end.',
    'Answers are JSON whatever `accept` says, but for the stream of events. A path asked by another method answers 405 and names the right ones in `allow`; HEAD works wherever GET does.',
    'There is no CORS: pages of other origins cannot use this API from a browser, and the token has no business in one.',
  );
}

function errors(): Markup {
  const rows = Object.entries(errorMeanings)
    .map(([name, meaning]) => ({ name, meaning, status: statusOf[name as keyof typeof statusOf] }))
    .toSorted((a, b) => a.status - b.status);
  return markup`${paragraphs(
    'A refusal is one object, with the same three fields everywhere. The `code` is for programs and never changes; the `message` is a sentence for people; `details` holds facts, such as the field that is wrong.',
  )}${code(`{
  "error": {
    "code": "invalid_request",
    "message": "limit: it is a whole number from 1 to ${pageMax}.",
    "details": { "field": "limit" }
  }
}`)}
    <table class="errors">
      <thead>
        <tr>
          <th>Status</th>
          <th>Code</th>
          <th>What it means</th>
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          ({ name, meaning, status }) =>
            markup`<tr id="error-${name}">
              <td>${status}</td>
              <td><code>${name}</code></td>
              <td>${prose(meaning)}</td>
            </tr>`,
        )}
      </tbody>
    </table>
    ${paragraphs(
      'An address with its headers that is too long is refused with 431, and a request that does not arrive in time with 408, in the same shape.',
    )}`;
}

function idempotency(): Markup {
  return paragraphs(
    `Operations that make or start something take the header \`Idempotency-Key\`: 1 to ${idempotencyKeyLengthMax} visible ASCII characters of your choice. The same key with the same request again, within a day, has no second effect and is told the same answer, with the header \`idempotency-replayed: true\`.`,
    'While the first one is still in work, the second is told 409 `request_in_progress`. The same key with another request is told 422 `idempotency_mismatch`. A refusal is not remembered, because nothing was done: mend the request and send it again with the same key.',
  );
}

function pages(): Markup {
  return paragraphs(
    `Lists answer a page of at most \`limit\` entries (50 unless you say otherwise, at most ${pageMax}) and \`next_cursor\`. Send that as \`cursor\` for the next page; on the last page it is null. A cursor belongs to its list and says nothing by itself.`,
    'What is added while you read does not shift the pages: no entry is told twice, and none is passed over.',
  );
}

function events(origin: string): Markup {
  const kinds = [...new Set(eventKinds)].toSorted();
  return markup`${paragraphs(
    'Everything that happens is an event: written in the same transaction that made it true, told in the order in which it became true. `/v1/events` answers them in pages; with `accept: text/event-stream` it keeps telling.',
  )}${code(`curl -N "${origin}/v1/events?after=latest" \\
  -H "authorization: Bearer $CRONOGRAM_API_TOKEN" -H 'accept: text/event-stream'

retry: 2000

id: ZXZlbnQ6MDoxMg
event: run.succeeded
data: {"cursor":"ZXZlbnQ6MDoxMg","at":"2027-01-31T09:00:00.120Z","kind":"run.succeeded", ...}`)}${paragraphs(
    'The `id` is the cursor. Whoever loses the connection sends the last one as `Last-Event-ID` (an EventSource does so by itself) or as `after`, and goes on with exactly the next event: nothing is skipped and nothing told twice. Without either the stream begins with the oldest event that is kept; `after=latest` begins with what comes.',
    `\`task_id\` and \`kind\` narrow it down; a kind that ends in a point, such as \`run.\`, stands for all that begin so. A comment comes each ${heartbeatMs / 1000} seconds while nothing happens. At most ${streamsMax} streams are open at once. A client that reads too slowly for a minute is cut off, and goes on where it stood.`,
  )}
    <details>
      <summary>All kinds of events</summary>
      <p class="kinds">${kinds.map((kind) => markup`<code>${kind}</code> `)}</p>
    </details>`;
}

function rates(): Markup {
  return paragraphs(
    `The server answers as many requests a second as its variable \`API_RATE\` says, and ${burstSeconds} seconds' worth of them at once. Answers tell how far you are: \`ratelimit-limit\`, \`ratelimit-remaining\`, \`ratelimit-reset\`. Beyond it comes 429 \`rate_limited\` with \`retry-after\` in seconds.`,
    `An address that sends ${guessesMax} wrong tokens in a minute is told 429 until the minute has passed, also for the right one, unless the right one came from there within the last hour.`,
    'Quotas of tasks per chat and per person are refused with 429 `quota_exceeded`. Health, version and the documents are not counted.',
  );
}

function traces(): Markup {
  return paragraphs(
    'Every answer has the header `x-request-id`. Send your own (1 to 128 of letters, digits, `_`, `.`, `:`, `-`) and it is taken over; otherwise one is made. The run that a request asks for, its deliveries and the entry in the audit carry it as `trace_id`, and so do the lines of the log.',
  );
}

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
