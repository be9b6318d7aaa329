import { MINUTE_MS } from '../schedule/time/calendar.ts';

const second = 1000;

/** A process that has not renewed its lease for so long has ended, as far as the others can tell. */
export const leaseMs = 30 * second;
/** Three renewals must fail before a lease is over, and none costs more than a statement. */
export const leaseRenewMs = 10 * second;
/** A renewal that failed is tried again so soon. */
export const leaseRetryMs = second;
/** Nothing leaves a process whose lease ends so soon: by the time it arrives, another may have taken over. */
export const leaseMarginMs = 5 * second;
/** After a time without the database each process renews its lease before it judges those of others. */
export const rescueAfterMs = 2 * leaseRenewMs;
/** A standstill is told after no worker was alive for so long: a restart takes less. */
export const pausedToldMs = MINUTE_MS;
/** A lock that is shared is proved more seldom: it keeps out others who want the database for themselves, and no more. */
export const sharedLockProofEveryMs = 30 * second;
/**
 * A process that stands still in the middle of a transaction must not keep its rows from the others for longer: slots that it was about
 * to claim wait so long, and so does whoever needs the pace of calls. Nothing outside is waited for in a transaction, so it is busy for
 * milliseconds between two statements, and whose is cut off all the same begins anew.
 */
export const openTransactionMaxMs = 5 * second;
/**
 * A statement that waits for a row as long as this fails, and its transaction begins anew. Shorter than the above: where one
 * transaction of a process that stands still waits for another of it, it must not get the row when that one is cut off, and keep it in turn.
 */
export const lockWaitMaxMs = 4 * second;
/**
 * A statement on Postgres without an answer for so long has the server asked for a sign of life, twice for so long at most: a
 * request is told within two seconds that the database is away, and a statement may take as long as it needs.
 */
export const pulseWaitMs = 600;
export const pulseAnswerMs = 600;
/** Rows that were ready for so long without being taken up, and updates, are looked for by everybody. */
export const toldLateMs = 5 * second;
/** Loops are rung at once for what has become due without a word, and while it stays due no more often than they would look by themselves. */
export const dueAgainEvery = 3;
/** A process that polls and dies is replaced within this. It is held on by each renewal, and by the next one where a renewal is late. */
export const pollingLeaseMs = 2 * leaseRenewMs;
/** A loop looks by itself after this, where each renewal looks for it. */
export const seldomLookMs = 60 * MINUTE_MS;
/** Rows of processes that have ended, at most: each start makes one, and attempts name those of their time. */
export const processesKept = 10_000;
