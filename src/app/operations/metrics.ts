/**
 * All metrics, in one list: the meter is made from it, so that nothing can be counted that is not described.
 *
 * A label is always a word of a closed set: a status, a kind, a room, a route pattern. Ids of tasks, chats and people, titles
 * and texts are never labels: each would be a series of its own that the watcher keeps for ever, and none is its business.
 */

interface Described {
  readonly help: string;
  readonly labels: readonly string[];
}

interface Spread extends Described {
  /** Upper bounds, in seconds. */
  readonly buckets: readonly number[];
}

/** Between one call of a fast store and the longest that somebody still waits for. */
const short = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/** Up to what an attempt may take, which is a day. */
const long = [0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 15, 30, 60, 300, 900, 3600, 21_600, 86_400];

/** Counts since the start of the process. */
export const counters = {
  occurrences_total: {
    help: 'Slots that have come to their end by the scheduler or by their run, by what became of them and why.',
    labels: ['status', 'reason'],
  },
  gap_slots_total: { help: 'Missed slots that were too many for a row each, by reason.', labels: ['reason'] },
  clock_set_backs_total: {
    help: 'How often the clock was found to be set back, while running or at a start.',
    labels: [],
  },
  tasks_quarantined_total: { help: 'Tasks set aside because their row could not be read.', labels: [] },
  task_auto_pauses_total: { help: 'Tasks paused because they failed too often in a row.', labels: [] },
  runs_total: { help: 'Runs that have ended, by kind of action and result.', labels: ['action', 'status'] },
  attempts_total: {
    help: 'Attempts that have ended, by their number within the run and their result; above 1 they are retries.',
    labels: ['number', 'status'],
  },
  usage_total: {
    help: 'What attempts have used, by kind: requests, bytes, seconds, tokens, and money in millionths of the currency of PRICES.',
    labels: ['kind'],
  },
  late_results_total: { help: 'Results that came after their run was taken over, and were dropped.', labels: [] },
  deliveries_total: { help: 'Parts that were delivered or given up, by kind.', labels: ['kind', 'status'] },
  delivery_errors_total: {
    help: 'Parts that were blocked or given up, by their error_code.',
    labels: ['status', 'error_code'],
  },
  delivery_setbacks_total: {
    help: 'Sends that brought no end: put off (pending), without an answer (unknown), or for a person to mend (blocked).',
    labels: ['status'],
  },
  telegram_calls_total: {
    help: 'Calls of the Bot API by method and result: ok, rate_limited (429), refused (4xx), troubled (5xx), none (no answer).',
    labels: ['method', 'result'],
  },
  telegram_updates_total: {
    help: 'Updates of Telegram: stored for the first time (received), and done with (handled, failed).',
    labels: ['state'],
  },
  requests_deduplicated_total: {
    help: 'Requests that had no second effect because an earlier one had the same key.',
    labels: ['via'],
  },
  http_requests_total: {
    help: 'HTTP requests by method, pattern of the route and status.',
    labels: ['method', 'route', 'status'],
  },
  rescues_total: {
    help: 'Claims that were let go, because their answer was lost or their process has gone, by room.',
    labels: ['room'],
  },
  processes_lost_total: {
    help: 'Processes that this one has ended, because they did not renew their lease.',
    labels: [],
  },
  second_opinions_total: {
    help: 'Schedules whose next slots were put to a second opinion, by kind and result: agrees, differs, or why there was none (known_fault, clock_change, undecided, refused, timeout, died, away).',
    labels: ['schedule', 'result'],
  },
  second_opinions_dropped_total: {
    help: 'Schedules that were too many to be put to a second opinion at once; the night looks at them.',
    labels: [],
  },
  pool_children_started_total: { help: 'Children of the pool that were started.', labels: [] },
  pool_children_ended_total: {
    help: 'Children of the pool that ended at their work: late (ended at the deadline), died (by what it did, its memory as a rule), lost (somebody else ended it).',
    labels: ['reason'],
  },
  pool_refusals_total: {
    help: 'Work that the pool did not do: away (no child could be started, or none was free in time), spent (its owner has used up their share).',
    labels: ['reason'],
  },
  backups_total: { help: 'Backups of the night, by result.', labels: ['result'] },
  loop_failures_total: { help: 'Steps that failed, by loop.', labels: ['loop'] },
  heartbeats_total: { help: 'Signs of life sent to HEARTBEAT_URL, by result.', labels: ['result'] },
} as const satisfies Readonly<Record<string, Described>>;

/** How long things take, or how late they come, in seconds. */
export const timings = {
  slot_claim_lateness_seconds: {
    help: 'From a slot of a schedule to the commit that took it up; how is on_time, or late for one that was made up for.',
    labels: ['how'],
    buckets: long,
  },
  slot_start_lateness_seconds: {
    help: 'From a slot to the start of its action; how is on_time, by_policy (jitter or a queue), late, or by_hand.',
    labels: ['how'],
    buckets: long,
  },
  run_duration_seconds: {
    help: 'From the admission of a run to its end, pauses between attempts included.',
    labels: ['action'],
    buckets: long,
  },
  attempt_duration_seconds: { help: 'How long one attempt took.', labels: ['action'], buckets: long },
  delivery_latency_seconds: {
    help: 'From the making of a part to its arrival, waits for quiet hours and for people included.',
    labels: ['kind'],
    buckets: long,
  },
  telegram_call_duration_seconds: {
    help: 'How long calls of the Bot API took, but for getUpdates, which waits on purpose.',
    labels: ['method'],
    buckets: short,
  },
  http_request_duration_seconds: {
    help: 'How long HTTP requests took until their answer began, by pattern of the route.',
    labels: ['route'],
    buckets: short,
  },
} as const satisfies Readonly<Record<string, Spread>>;

/** How things stand at the moment of the look. What the store counts is counted up to 10,000 for each state. */
export const gauges = {
  build_info: { help: 'Always 1; the labels tell which version runs.', labels: ['version', 'node'] },
  queue_depth: {
    help: 'Work that waits or is under way: due (tasks whose slot has come), pending (occurrences that wait for admission), and runs that are queued, running, in backoff or waiting.',
    labels: ['state', 'action'],
  },
  processes: { help: 'Processes that share the database and live, by role.', labels: ['role'] },
  process_heartbeat_age_seconds: {
    help: 'How long ago the process that was seen least lately has renewed its lease, by role.',
    labels: ['role'],
  },
  releases: { help: 'Different versions among them.', labels: [] },
  kind_paused_seconds: {
    help: 'For how long a kind of action has been paused; there is none where nothing is.',
    labels: ['action'],
  },
  jobs_waiting: {
    help: 'Jobs that name what is ready and that nobody has taken up; there is none where one process works alone.',
    labels: [],
  },
  due_age_seconds: {
    help: 'How long ago the oldest slot came that was not taken up yet; 0 when there is none.',
    labels: [],
  },
  deliveries_open: { help: 'Parts that have not come to their end, by status.', labels: ['status'] },
  deliveries_oldest_seconds: {
    help: 'Age of the oldest open part by status: pending since it could go out, the others since they were made; 0 when there is none.',
    labels: ['status'],
  },
  inbox_depth: { help: 'Updates of Telegram that are stored and not done.', labels: [] },
  inbox_oldest_seconds: { help: 'How long ago the oldest of them arrived; 0 when there is none.', labels: [] },
  tasks: {
    help: 'Tasks by state, kind of schedule and kind of action, counted once a minute.',
    labels: ['state', 'schedule', 'action'],
  },
  telegram_hold_seconds: {
    help: 'How long Telegram has asked to wait from now on (retry_after): for all chats, or the longest of single chats.',
    labels: ['scope'],
  },
  telegram_held_chats: { help: 'Chats in which Telegram has asked to wait.', labels: [] },
  audit_findings: {
    help: 'What the last audit has found, by check. Every one of them should be 0.',
    labels: ['check'],
  },
  audit_age_seconds: {
    help: 'How long ago the last audit was; before the first one, how long ago the server was started.',
    labels: [],
  },
  retention_margin_seconds: {
    help: 'How long until RETENTION_DAYS reach the oldest work that is not done: what came before it would then be forgotten while it goes on.',
    labels: [],
  },
  retention_age_seconds: { help: 'How long ago the nightly retention was last done to its end.', labels: [] },
  backup_age_seconds: {
    help: 'How long ago the last backup was made, or the database was new; absent where no backups are made.',
    labels: [],
  },
  loop_turn_age_seconds: { help: 'How long ago a loop last ended a step without a failure.', labels: ['loop'] },
  ready: { help: '1 for each part that /readyz calls well, 0 for one that is not.', labels: ['part'] },
  database_bytes: { help: 'Size of the database.', labels: [] },
  pool_jobs: {
    help: 'Work of the pool that waits for a child (waiting) or is being done (working).',
    labels: ['state'],
  },
  database_connections: {
    help: 'Connections of the Postgres pool: in_use, idle, and requests that wait for one. Absent on SQLite.',
    labels: ['state'],
  },
} as const satisfies Readonly<Record<string, Described>>;

export type CounterName = keyof typeof counters;
export type TimingName = keyof typeof timings;
export type GaugeName = keyof typeof gauges;

type LabelsIn<D extends Described> = Readonly<Record<D['labels'][number], string>>;
export type CounterLabels<N extends CounterName> = LabelsIn<(typeof counters)[N]>;
export type TimingLabels<N extends TimingName> = LabelsIn<(typeof timings)[N]>;
export type GaugeLabels<N extends GaugeName> = LabelsIn<(typeof gauges)[N]>;

/** A value that the scrape has found; the labels are those of the name. */
export interface Sample {
  readonly name: GaugeName;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export function sample<N extends GaugeName>(name: N, labels: GaugeLabels<N>, value: number): Sample {
  return { name, labels, value };
}

/** In front of every name, so that nobody takes it for the metric of another program. */
export const prefix = 'cronogram_';
