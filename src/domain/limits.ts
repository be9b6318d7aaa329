/** Every bound of the product in one place, each with its reason. Units stand last in the name. */

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** A forum topic's name holds 128 characters; 60 keep a title readable in a list and on a phone. A client may send up to 128. */
export const titleLengthMax = 128;
/** Four Telegram messages of text: more is a document, not a reminder. */
export const instructionsLengthMax = 16_384;
/** An action's own settings; larger payloads belong behind a URL. */
export const actionBytesMax = 32_768;
/** The evolving context is read and written with every run, so it must stay small. */
export const contextBytesMax = 65_536;
export const subjectLengthMax = 128;
export const tagsMax = 10;
export const tagLengthMax = 40;
export const threadKeyLengthMax = 256;
export const idempotencyKeyLengthMax = 200;
/** Long enough for a stack of causes, short enough for a list. */
export const errorMessageLengthMax = 1000;

/** One request of a client; 64 KiB of context plus instructions plus action fit in. */
export const requestBytesMax = 262_144;
export const pageDefault = 50;
export const pageMax = 200;
export const previewCountDefault = 5;
export const previewCountMax = 100;

/** A late slot simply runs when it is at most this late, unless the gap to its next slot is short. */
export const graceDefaultMs = 10 * minute;
/** Tasks that run at least this rarely are run once after an outage; denser ones wait for their next slot. */
export const missedOnceGapMs = hour;
export const missedLimitDefault = 10;
export const missedLimitMax = 100;
/** A question about missed runs that nobody answers within a day is moot. */
export const askExpiryMs = day;
/** More missed slots than this at once are told as one gap instead of a row each. */
export const missedRowsMax = 100;
/** Slots looked at in one transaction for one task; a longer outage goes on in the next step, so no step blocks the loop. */
export const slotsPerStepMax = 1000;
/** The same for all tasks of one step together; a row counts ten times as much as a slot that is only counted. */
export const slotsPerBatchMax = 2000;
/** Occurrences that may wait behind a live run of their own task. */
export const queueLengthMax = 10;
/** Free milliseconds tried for a manual occurrence before the request is refused. */
export const freeSlotTriesMax = 10_000;

export const retryAttemptsDefault = 3;
export const retryAttemptsMax = 10;
export const retryBaseDefaultMs = 30 * second;
export const retryFactorDefault = 2;
export const retryFactorMax = 10;
export const retryCapDefaultMs = 15 * minute;
export const retryJitterDefault = 0.2;
/** A crash is not the task's fault, so it costs no retry; but work that takes the process down with it must end. */
export const interruptionsMax = 3;

export const autoPauseDefault = 10;
export const autoPauseMin = 3;
export const autoPauseMax = 100;
export const maxRunsMax = 1_000_000;
export const priorityDefault = 5;
/** What a person asks for now goes before what a schedule asks for. */
export const priorityRunNow = 8;

export const timeoutMaxMs = day;
export const timeoutsDefaultMs = {
  message: 10 * second,
  echo: 30 * second,
} as const;

/** Telegram's own limit for one message, in UTF-16 units. */
export const messagePartLengthMax = 4096;
/** A result of more parts than this would flood its topic for minutes. */
export const messagePartsMax = 50;
/** Sends of one part before it is given up; refusals that a person must mend do not count. */
export const deliveryAttemptsMax = 5;
/** When evidence for a send without an answer is looked for. */
export const settleDelaysMs: readonly number[] = [2 * second, 10 * second, 30 * second];
/** A part whose fate is not known holds back later parts of its thread at most this long. */
export const unknownHoldMs = 2 * minute;
/** How long a topic whose creation got no answer is looked for before a person is asked. */
export const topicAdoptionMs = minute;
export const blockedRecheckMs = 10 * minute;

/** Timers overflow, machines sleep and hints get lost, so no loop sleeps longer. */
export const sleepMaxMs = 30 * second;
/** A loop whose step failed tries again after this, doubling up to the cap. */
export const stepBackoffMs = 500;
export const stepBackoffMaxMs = 15 * second;
/** When a result that the database refused in every form is offered again. */
export const refusedRetryMs = minute;
/** Slots of one task that may be dispatched in one step, where a long grace holds for many. */
export const onTimePerStepMax = 100;
/** A wall clock that moved back by more than this against the monotonic one was set, not disciplined. */
export const clockStepMs = 2 * second;
/** Past this without a finished step, readiness says no. */
export const loopStuckMs = 90 * second;
/** A signal that is repeated within this time is one that was sent twice; later it means that somebody has lost patience. */
export const signalRepeatMs = 3 * second;
/** Readiness is asked often, and its answer costs a write. */
export const readinessKeptMs = second;
/** How long a stop waits for running attempts before it aborts them. */
export const stopGraceMs = 10 * second;
/** Three graces, of the door, of what runs and of what is being sent, and some time for the database; then a stop is given up. */
export const stopMaxMs = 45 * second;
/** How long a remembered answer to an Idempotency-Key is kept. */
export const idempotencyRetentionMs = day;
