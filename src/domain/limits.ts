/** Bounds that people notice or that several files share, each with its reason; what bounds one file alone stands there. Units stand last in the name. */

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** A forum topic's name holds 128 characters. A client may send as many; of a text the first 60 are taken, which a phone still shows. */
export const titleLengthMax = 128;
export const titleTakenMax = 60;
/**
 * Names (titles, subjects, tags) are counted as people count, an emoji as one character. A character has no end of signs that
 * stand on each other, so a name has so many UTF-16 units for each: a flag takes four, and an index on Postgres holds the name.
 */
export const nameUnitsPerCharacter = 4;
/** Four Telegram messages of text: more is a document, not a reminder. In UTF-16 units, as Telegram counts. */
export const instructionsLengthMax = 16_384;
/** The longest language tag in use, such as `zh-Hant-TW`, has half as many characters. */
export const languageLengthMax = 20;
/** An action's own settings; larger payloads belong behind a URL. */
export const actionBytesMax = 32_768;
/** The evolving context is read and written with every run, so it must stay small. */
export const contextBytesMax = 65_536;
export const subjectLengthMax = 128;
/** One for each kind of action would do; more is a mistake. */
export const scopesMax = 100;
export const scopeLengthMax = 300;
export const tagsMax = 10;
export const tagLengthMax = 40;
export const threadKeyLengthMax = 256;

/** Telegram promises 52 significant bits for the id of a chat and 31 for that of a topic; a larger number would be rounded to another. */
export const chatIdMax = 2 ** 52 - 1;
export const topicIdMax = 2 ** 31 - 1;
export const idempotencyKeyLengthMax = 200;
/** A shorter token of the API can be guessed by asking often enough; 32 are the 24 random bytes of a base64 text. */
export const apiTokenLengthMin = 32;
/** Long enough for a stack of causes, short enough for a list. */
export const errorMessageLengthMax = 1000;

/** One request of a client; 64 KiB of context plus instructions plus action fit in. */
export const requestBytesMax = 262_144;
/** Connections of clients, as a share of the files that the process may have open: the others are for the database and Telegram. */
export const connectionsShareMax = 0.5;
/** Requests of one connection that have no answer yet. Each answer that is not fetched stays in memory, and hardly any client sends ahead. */
export const sentAheadMax = 16;
export const pageDefault = 50;
export const pageMax = 200;
/** A message of more than about 25 parts is a document, and would keep its chat busy for more than a minute. */
export const messageLengthMax = 100_000;
/** Name under which a client knows the person for whom a message is. */
export const userKeyLengthMax = 128;
/** Looks for runs in one request: together some tens of milliseconds, between which others have their turn. */
export const runLooksMax = 10;
/** Runs that are called off in one transaction. */
export const cancelBatchMax = 100;
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
/** Slots of all tasks of one step together; a row counts ten times as much as a slot that is only counted. */
export const slotsPerBatchMax = 2000;
/** Occurrences that may wait behind a live run of their own task. */
export const queueLengthMax = 10;
/** Slots that a person may skip in advance by one word; more than this is a pause. */
export const skipMax = 100;
/** A snooze is for later today or next week; what is farther away is a task of its own. */
export const snoozeMaxMs = 366 * day;

/** More snoozes of one task at a time are a schedule of its own. */
export const snoozesMax = 20;
/** A pause that ends by itself is told at its start, and people forget what was longer ago. */
export const pauseMaxMs = 5 * 366 * day;
/** Undo reaches back so far; after that too much has happened on top. */
export const undoMs = day;
/** Versions of a definition that are shown; nobody reads further back. */
export const versionsShownMax = 50;
/** Free milliseconds tried for a manual occurrence before the request is refused. */
export const freeSlotTriesMax = 10_000;
/** They reach so far, and are free again after it. */
export const freeSlotRetrySeconds = 10;

export const retryAttemptsDefault = 3;
export const retryAttemptsMax = 10;
export const retryBaseDefaultMs = 30 * second;
export const retryFactorDefault = 2;
export const retryFactorMax = 10;
export const retryCapDefaultMs = 15 * minute;
export const retryJitterDefault = 0.2;
/** At most the whole pause to either side. */
export const retryJitterMax = 1;
/** A longer pause than a quarter of a day is a schedule, not a retry; and history must outlive the longest retry. */
export const retryPauseMaxMs = 6 * hour;
/** A crash is not the task's fault, so it costs no retry; but work that takes the process down with it must end. */
export const interruptionsMax = 3;

export const autoPauseDefault = 10;
export const autoPauseMin = 3;
export const autoPauseMax = 100;
/** Enough to spread the tasks of a full hour; a longer delay is another schedule. */
export const jitterMaxMs = hour;
export const maxRunsMax = 1_000_000;
export const priorityDefault = 5;
export const priorityMax = 10;
/** A run that a person asks for now is of a class of its own, before whatever a schedule asks for. */
export const priorityRunNow = priorityMax + 1;
/** A run that only keeps a result fresh is waited for by nobody, so it goes after all that a schedule asks for. */
export const priorityBackground = 0;
/** Results that are to be fresher than this need a denser schedule. */
export const refreshAfterMinMs = hour;
/** Stale results are looked for so often: as often as the shortest age may be. */
export const refreshEveryMs = hour;

export const timeoutMaxMs = day;
export const timeoutsDefaultMs = {
  message: 10 * second,
  echo: 30 * second,
} as const;
/** Telegram's own limit for one message, in UTF-16 units. */
export const messagePartLengthMax = 4096;
/** Telegram's limit for the words below a picture or another file. */
export const captionLengthMax = 1024;
/** A result of more parts than this would flood its topic for minutes. */
export const messagePartsMax = 50;
/** Sends of one part before it is given up; refusals that a person must mend do not count. */
export const deliveryAttemptsMax = 5;
/** Looks for evidence of a send without an answer come so long after it. */
export const settleDelaysMs: readonly number[] = [2 * second, 10 * second, 30 * second];
/** A part whose fate is not known holds back later parts of its thread at most this long. */
export const unknownHoldMs = 2 * minute;
/** A topic whose creation got no answer is looked for so long before a person is asked. */
export const topicAdoptionMs = minute;
/** A result that waits for approval is thrown away after this, and that is told: by then it is no news. */
export const approvalExpiryMs = day;
/** The question about it quotes so much of it. */
export const approvalQuoteMax = 3000;
/** Reminders of what is not confirmed come so often: often enough to help, seldom enough to be bearable. */
export const nagEveryDefaultMs = 10 * minute;
export const nagEveryMinMs = minute;
export const nagEveryMaxMs = day;
export const nagLimitDefault = 3;
export const nagLimitMax = 50;
/** So much earlier than its due instant a reminder may come, or each of them would come later by the way of the one before. */
export const nagSlackMs = 30 * second;
/** Looks whether a result has arrived of which a person is to be reminded. */
export const nagLookMinMs = minute;
export const nagLookMaxMs = 60 * minute;
export const blockedRecheckMs = 10 * minute;
/** A topic that is gone or leads astray is made again so often; past that its results wait, and people are told why. */
export const topicHealEveryMs = 60 * minute;
/** Topics that one word closes or removes: a group lets 20 calls through in a minute, so these take five minutes. */
export const topicsCleanedMax = 100;
/** Titles with which the words of a person are compared: twice as many as the quota lets a chat have, so that ended tasks are among them. */
export const titlesReadMax = 1_000;
/** So many topics of one-offs that are over fill a phone's screen: then one topic for all of them is offered. */
export const oneOffTopicsOffered = 5;
/** Guidance on what to mend, or what to say, is told while it is news; after that the card and the history show it. */
export const guidanceExpiryMs = day;
/** A look for evidence waits for its chat until a full minute of calls has passed; past that it comes back later. */
export const budgetWaitMaxMs = minute;
/** Refusals of strangers in any second, by words and by toasts: a crowd of them costs no more than that of what people wait for. */
export const refusalsPerSecond = 5;
/** A toast, a reaction or a question about a person is not made any more after this: Telegram forgets a callback by then. */
export const asideWaitMaxMs = 10 * second;
/** Timers overflow, machines sleep and hints get lost, so no loop sleeps longer. */
export const sleepMaxMs = 30 * second;
/** A loop whose step failed tries again after this, doubling up to the cap: all goes on soon after the database is back. */
const stepBackoffMs = 500;
const stepBackoffMaxMs = second;
/** A part that cannot be sent or looked for now is tried again after this at most. */
export const partPauseMaxMs = 15 * second;
/** The lock on Postgres is proved so often, and a server without an answer for so long is taken to be away. */
export const lockProofEveryMs = 2 * second;
export const lockAnswerMs = 4 * second;
/** A database that is away is asked again after this, for as long as that takes. */
export const lockRetryMs = 500;
/** A Postgres that says that it is starting up is asked so often by the start of a server, which is a minute. */
export const startTriesMax = minute / lockRetryMs;
/** The pause after so many failures in a row: it doubles up to a cap. */
export function backoffMs(failures: number, firstMs = stepBackoffMs, maxMs = stepBackoffMaxMs): number {
  return Math.min(firstMs * 2 ** Math.min(failures - 1, 10), maxMs);
}
/** A result that the database refused in every form is offered again after this. */
export const refusedRetryMs = minute;
/** Slots of one task that may be dispatched in one step, where a long grace holds for many. */
export const onTimePerStepMax = 100;
/** A wall clock that moved back by more than this against the monotonic one was set, not disciplined. */
export const clockStepMs = 2 * second;
/** Owners are told of a clock that was set back by as much: nobody sees less than that in when a task runs. */
export const clockToldMs = minute;
/** Owners hear of trouble within so long, and of a database that cannot be used after two looks. */
export const alarmEveryMs = 30 * second;
/** Troubles of one cause of which owners are told one by one; of more the audit tells. */
export const alarmsOpenMax = 10;
/** A trouble that is over is remembered, so that its messages can still be changed and nobody tells it twice. */
export const alarmKeptMs = 7 * day;
/** For so long it is known which result later ones repeat: it can fail only while it waits, and nothing waits as long as this. */
export const shownNotedMs = 366 * day;
/** Tasks that one alarm names; the others are counted. */
export const alarmTasksShownMax = 10;
/** Tasks that have failed too often, as far as one look sees them. */
export const stoppedTasksMax = 200;
/** Past this without a finished step, readiness says no. */
export const loopStuckMs = 90 * second;
/** A signal that is repeated within this time is one that was sent twice; later it means that the sender insists. */
export const signalRepeatMs = 500;
/** A tick that somebody asked for waits so long for what it has begun; what goes on beyond that goes on by itself. */
export const tickWaitMs = 5 * second;
/** Readiness is asked often, and its answer costs a write. */
export const readinessKeptMs = second;
/** A database that has not answered by then is as good as away, and whoever asks is told. */
export const readinessWaitMs = 4 * second;
/** Metrics are asked for by several watchers, and each look reads the store. */
export const scrapeKeptMs = second;
/** Rows of one state that a look counts; more of them is an alarm in any case. */
export const countedMax = 10_000;
/** All tasks are counted at most so often, in pages of a millisecond. */
export const taskTallyKeptMs = minute;
export const taskTallyPage = 1000;
/** A sign of life for whoever watches from outside, and how long its answer is waited for. */
export const heartbeatEveryMs = minute;
export const heartbeatWaitMs = 10 * second;
/** A stop waits so long for running attempts before it aborts them. */
export const stopGraceMs = 10 * second;
/** The graces of admission, of what runs and of what is being sent, and some time for the database; then a stop is given up. */
export const stopMaxMs = 45 * second;
/** The nightly chores begin at three in the morning UTC: few people wait for anything then, in Europe and in America. */
export const nightStartMs = 3 * hour;
/** A chore that failed tries again after this, doubling up to the cap; nobody waits for it, so there is no hurry. */
export const choreBackoffMs = minute;
export const choreBackoffMaxMs = hour;
/**
 * A chore leaves most of the time to others, because nobody waits for it: a pause after each step, and after a burst of
 * them a longer one, in which the log of the database is worked off and begins anew instead of growing.
 */
export const chorePauseMs = 10;
export const choreBurst = 48;
export const choreBreathMs = 300;
/** A chore that was due and found nothing to do is asked again after this. */
export const choreRestMs = 10 * second;
/**
 * A remembered answer to an Idempotency-Key is kept so long. It guards the retries of clients, who are promised a day;
 * what a run retries itself is guarded by the run's own row, which stays for as long as the run lives.
 */
export const idempotencyRetentionMs = day;
/** A hundred years; more than that is a mistaken unit. */
export const retentionDaysMax = 36_500;
/** The night counts back through so many runs of each task that keeps a number of them. */
export const keepRunsMax = 1000;
/** History that every task keeps, because the audit of the night accounts for every slot of the last day. */
export const keepLeast = { runs: 1, days: 1 } as const;
/** Rows of one kind that retention looks at in one transaction: about three milliseconds on SQLite with what hangs on them. */
export const retentionBatchMax = 50;
/** Of a task that still exists these stay whatever their age, so that a yearly reminder can show its history. */
export const retentionKeptRuns = 10;
/** Versions of a living task: more steps back than anybody takes, and a bound on a task that a client edits every minute. */
export const taskVersionsKept = 50;
/** Updates of Telegram are kept to see what went wrong; nobody looks further back than a month. */
export const inboxRetentionMs = 30 * day;
/** Keys, drafts and notes that have expired are of no use to anybody, but there is no hurry either. */
export const expiredEveryMs = hour;
/** Rows of one table that the audit looks at in one transaction. */
export const auditPageMax = 200;
/** Rows of one table, newest first, that the audit of the night looks at; older ones were looked at in nights before. */
export const auditRowsMax = 1_000_000;
/** Rows of an audit that somebody waits for. */
export const auditRowsNowMax = 50_000;
/** Ids that a finding names: enough to see what they have in common. */
export const auditExamplesMax = 10;
/** Repairs of one request: more damage than this is looked at by a person first. */
export const reconcileMax = 500;
/** Later than this, and with nothing else to do, a scheduler has forgotten a slot or a question. */
export const overdueMs = 5 * minute;
/** A topic is made within a minute, or a person is asked. */
export const topicStuckMs = 10 * minute;
/** Tasks whose slots of the last day an audit computes again; each day has its part of the tasks. */
export const slotSampleMax = 200;
/** Slots of one task computed again in one step: a few milliseconds, whatever the schedule. */
export const slotAccountPage = 100;
/** Slots in one night, so that hundreds of tasks that run each second do not keep somebody waiting who asked for an audit. */
export const slotSampleSlotsMax = 300_000;
export const slotSampleWindowMs = day;
/** After the start of the night: before the audit, which tells of what the review has found. */
export const slotReviewAfterMs = 10 * minute;
/** Slots of one task that are put to the second opinion: a year of a monthly one. */
export const slotReviewSlots = 12;
/** A leap day comes at least once in it. */
export const slotReviewHorizonMs = 5 * 366 * day;
/** Tasks whose schedule is new and that wait for the second opinion; the night looks at those that are dropped. */
export const slotReviewQueueMax = 256;
/** Tasks read in one step of the night. */
export const slotReviewPage = 20;
/** Slots of each answer that a difference shows. */
export const differenceShownMax = 3;
/** Differences that are remembered: a fault that touches more tasks is seen as well in so many. */
export const differencesKeptMax = 50;
/** A difference that was not seen again for so long is no finding any more. */
export const differenceKeptMs = 3 * day;
/** A backup that failed is tried again after this. */
export const backupRetryMs = hour;
/** A sign of life lets a start tell when the process before it was last there, against a commit that each costs. */
export const signOfLifeMs = 30 * second;
/** A sign that cannot be written is tried again so soon: the first that can tells until when nothing could be. */
export const signOfLifeRetryMs = 5 * second;
/** Chats that hear of a downtime, those that lost most first. */
export const downtimeChatsMax = 200;
/** Tasks that the word about it names in a chat; the others are counted, and the chat can ask for them. */
export const downtimeToldTasksMax = 5;
/** A downtime shorter than this is no news, as long as nothing was missed. */
export const downtimeToldMs = 5 * minute;
/** The owner of a task is known to be a member of its chat so long before its slot. */
export const membershipAheadMs = 10 * minute;
/** Telegram's word about a person is believed for so long before it is asked again. */
export const membershipFreshMs = 10 * minute;
/** Telegram's last word holds for so long while it cannot be reached; after that the log tells. */
export const membershipHeldMs = day;
/** Questions about members in one step, which are a second apart: far below what Telegram bears from one bot. */
export const membershipLookupsMax = 5;
/** People looked at in one step, so that some about whom there is no answer do not hide the others. */
export const membershipPageMax = 200;
/** Looks for memberships that are to be asked about. */
export const membershipEveryMs = minute;
/** Events of one page. They are small, and whoever catches up wants many. */
export const eventPageDefault = 100;
export const eventPageMax = 500;

/** After so many answers in a row a result of the chat has its turn: people come first, and results come all the same. */
export const answersInRowMax = 4;
/** Results that wait so long, and so many of them, are told to the chat, so that silence is not taken for loss. */
export const backlogOldMs = minute;
export const backlogResultsMin = 5;
export const backlogEveryMs = 30 * second;
/** Counted exactly up to here; more is more than anybody reads. */
export const backlogCountedMax = 1000;
/** Rows that are counted for whoever asks how much a chat uses; more would hold up everybody else. */
export const usageCountedMax = 10_000;
/** The stretch of which use is told when none is named. */
export const usageDefaultMs = 30 * day;
/** One update of Telegram; a message with all its entities and a keyboard is a tenth of this. */
export const updateBytesMax = 1_048_576;
/** One answer of Telegram: a hundred updates are smaller, and what is larger is not read to its end. */
export const answerBytesMax = 16 * updateBytesMax;

/** Children that evaluate what people write. One person has all but one of them, so that others need not wait for that person. */
export const poolSize = 2;
/** The heap of a child: many times what a template or a schedule takes, and little beside that of the server. */
export const poolHeapMb = 64;
/** A start takes a tenth of a second, and much longer on a machine that has other things to do; but a message has ten seconds. */
export const poolStartMaxMs = 8 * second;
/** Work that found no free child by then is tried again later: a message that waited on would run into its ten seconds. */
export const poolWaitMaxMs = 4 * second;
/** Children that died are replaced at most so often, whatever takes them down. */
export const poolRestartMs = second;
/** After a start that failed nothing is asked for so long. */
export const poolAwayMs = 5 * second;
/** A child that nobody asks gives its memory back after this. */
export const poolIdleMs = 30 * second;
/** Time of the processor that the work of one person may take at once: thousands of usual templates. */
export const poolShareMs = second;
/** Of each second that passes, so much is given back. */
export const poolShareRate = 0.25;
/** The end of a child counts as so much time: the next work of its owner waits for a quarter of a minute. */
export const poolEndCostMs = 5 * second;
/** A template takes a tenth of a millisecond. The library ends loops after the first time, the pool ends the child after the second. */
export const templateRenderMs = 200;
export const templateMaxMs = second;
/** So often a template may run into the second time before its task is paused: a machine that stood still is not its fault. */
export const templateStrikesMax = 3;
/** After this the share of a person is as it was before a template that used up its time. */
export const poolTurnMs = templateRenderMs / poolShareRate;
/** Text that a template makes, before it is cut into messages: four times what may be written, and 16 messages. */
export const renderedLengthMax = 65_536;
/** Characters and items that filters and ranges of one template touch. */
export const templateMemoryMax = 1_000_000;
/** Nodes that are rendered, each turn of a loop anew, and how deep they stand in each other. */
export const templateStepsMax = 100_000;
export const templateDepthMax = 50;
/** The second opinion is a hint, for which nobody waits long: enough for every schedule that people write. */
export const slotOpinionMaxMs = 250;
