/**
 * Checks for what must never be, each with the sentence that a finding tells. The audit reports and never repairs; `mended`
 * checks can be repaired by an explicit act, because what to do about them is certain. About the others only a person can
 * decide, or the next step of a room settles them.
 */
export const checks = {
  enabled_without_next: { mended: true, sentence: 'An enabled task has no next slot, so it will never run again.' },
  slot_overdue: { mended: false, sentence: 'A slot is overdue although the scheduler has nothing else to do.' },
  next_slot_drifted: {
    mended: true,
    sentence: 'The next slot of an enabled task is not the one that its schedule names, so runs come late or never.',
  },
  pause_overdue: {
    mended: false,
    sentence: 'A pause should have ended by itself and did not; resume the task by hand.',
  },
  topic_stuck: { mended: false, sentence: 'A topic has been in the making for more than ten minutes.' },
  task_without_grant: { mended: false, sentence: 'A task has no grant of its owner, so none of its runs may start.' },
  pending_of_deleted: { mended: true, sentence: 'An occurrence of a deleted task still waits for admission.' },
  dispatched_without_run: { mended: true, sentence: 'An occurrence says that its run is live, and no such run is.' },
  question_overdue: { mended: true, sentence: 'A question about a missed slot is still open past its time.' },
  slot_twice: { mended: false, sentence: 'Two occurrences stand for one slot of a task; the unique index is broken.' },
  slot_in_gap: { mended: false, sentence: 'A slot has a row of its own and lies inside a gap as well.' },
  slots_differ: {
    mended: false,
    sentence: 'Another program computes other next slots for a task than Cronogram does; one of the two is wrong.',
  },
  slot_unaccounted: { mended: true, sentence: 'A slot of the last day has neither a row nor a gap.' },
  running_without_attempt: { mended: true, sentence: 'A run is running without an attempt that does its work.' },
  attempt_without_run: { mended: true, sentence: 'An attempt is running although its run is not.' },
  running_elsewhere: {
    mended: false,
    sentence: 'A run belongs to a process that is gone, and nobody has taken it over.',
  },
  run_of_ended_occurrence: { mended: true, sentence: 'A run is live although its occurrence has ended or is missing.' },
  run_key_twice: { mended: false, sentence: 'Two runs have one idempotency key; the unique index is broken.' },
  exclusive_twice: { mended: false, sentence: 'A task has two live runs although its policy allows one.' },
  delivery_without_run: { mended: true, sentence: 'A delivery belongs to a run that does not exist.' },
  delivered_without_id: { mended: false, sentence: 'A delivery counts as delivered without the ids of its messages.' },
  delivered_elsewhere: { mended: false, sentence: 'A result counts as delivered in a place that is not its own.' },
  open_delivery_of_deleted: { mended: true, sentence: 'Something is still to be sent for a task that was deleted.' },
  sending_elsewhere: {
    mended: false,
    sentence: 'A part is being sent by a process that is gone; the next claim settles it.',
  },
  file_without_bytes: { mended: false, sentence: 'A run refers to a file of which the database has not all bytes.' },
  file_of_no_run: { mended: false, sentence: 'A file is referred to by a run that does not exist, so it never goes.' },
  file_unreferred: { mended: false, sentence: 'A file has no end although nothing refers to it, so it never goes.' },
  budget_drifted: {
    mended: false,
    sentence:
      'A budget counts more or less than its runs have used; it is counted anew when its day or month turns, or when it is set again.',
  },
} as const satisfies Readonly<Record<string, { readonly mended: boolean; readonly sentence: string }>>;

export type CheckName = keyof typeof checks;

/** The checks about which it is certain what to do. */
export type MendedCheck = { [K in CheckName]: (typeof checks)[K]['mended'] extends true ? K : never }[CheckName];

/** Rows that a check has found; the ids name them, and the audit counts them. */
export interface Found {
  readonly check: CheckName;
  readonly ids: readonly string[];
}

export interface Finding {
  readonly check: CheckName;
  readonly count: number;
  readonly examples: readonly string[];
  readonly sentence: string;
}
