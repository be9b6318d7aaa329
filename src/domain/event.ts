/** Verbs that can be done to a task. */
const taskVerbs = [
  'create',
  'edit',
  'upsert',
  'pause',
  'resume',
  'complete',
  'delete',
  'restore',
  'skip',
  'unskip',
  'snooze',
  'answer',
  'run_now',
  'retry',
  'replay',
  'cancel',
  'undo',
  'unbind',
  'attach',
  'context',
  'grant',
  'revoke',
  'quarantine',
  'reconcile',
] as const;

/** Verbs on the lists of those who are let in, people and tokens, about no task. */
const accessVerbs = ['allow', 'deny', 'make_token', 'revoke_token'] as const;

/** Verbs on secrets, about no task. */
const secretVerbs = ['set', 'delete'] as const;

/** Verbs on kinds of actions, about no task. */
const kindVerbs = ['pause', 'resume'] as const;

const otherKinds = [
  'occurrence.skipped',
  'occurrence.missed',
  'occurrence.cancelled',
  'gap.recorded',
  'run.started',
  'run.succeeded',
  'run.failed',
  'run.cancelled',
  'run.backoff',
  'run.progress',
  'delivery.delivered',
  'delivery.unknown',
  'delivery.blocked',
  'delivery.failed',
  'ack.done',
  'ack.taken_back',
  'ack.given_up',
  'approval.given',
  'approval.refused',
  'downtime.reported',
  'audit.finding',
] as const;

/**
 * Events in one closed list of kinds. An event is written in the transaction that made it true, so a client that reads
 * them in order misses nothing and is told nothing that did not happen. A verb on a task is `task.` with the verb of
 * its audit row; the rest names the row it is about.
 */
export type EventKind =
  | `task.${TaskVerb}`
  | `access.${AccessVerb}`
  | `secret.${SecretVerb}`
  | `kind.${KindVerb}`
  | (typeof otherKinds)[number];
export type TaskVerb = (typeof taskVerbs)[number];
export type AccessVerb = (typeof accessVerbs)[number];
export type SecretVerb = (typeof secretVerbs)[number];
export type KindVerb = (typeof kindVerbs)[number];
/** Verbs of the audit. */
export type DeedVerb = TaskVerb | AccessVerb | `secret_${SecretVerb}` | `kind_${KindVerb}`;

export const eventKinds: readonly EventKind[] = [
  ...taskVerbs.map((verb): EventKind => `task.${verb}`),
  ...accessVerbs.map((verb): EventKind => `access.${verb}`),
  ...secretVerbs.map((verb): EventKind => `secret.${verb}`),
  ...kindVerbs.map((verb): EventKind => `kind.${verb}`),
  ...otherKinds,
];

/** A wanted kind that ends in a point stands for all that begin with it. */
export function isOfKind(kind: string, wanted: string | null): boolean {
  return wanted === null || (wanted.endsWith('.') ? kind.startsWith(wanted) : kind === wanted);
}
