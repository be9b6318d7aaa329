import { accessSync, closeSync, constants, openSync } from 'node:fs';
import { devNull } from 'node:os';
import { dirname } from 'node:path';
import type { Store } from '../../app/ports/store.ts';
import type { EventQuery } from '../../app/ports/why.ts';
import { AppError, errorText, faultCodeOf } from '../../domain/errors.ts';
import { chunkReads, chunkStore } from '../blobs/blobs.ts';
import { watchReads } from '../blobs/watches.ts';
import { chatsStore } from '../chats/chats.ts';
import { chatFactStore, chatSettingsReads } from '../chats/facts.ts';
import { inboxStore } from '../chats/inbox.ts';
import { peopleReads, peopleStore } from '../chats/people.ts';
import { secretStore } from '../chats/secrets.ts';
import { chatTaskStore, snoozeReads } from '../chats/tasks.ts';
import { markTokenUsed, tokenStore } from '../chats/tokens.ts';
import { cleaningStore } from '../outbox/cleanings.ts';
import { holdStore } from '../outbox/holds.ts';
import { messageStore } from '../outbox/new-parts.ts';
import { outboxStore } from '../outbox/outbox.ts';
import { paceStore, asidePace } from '../outbox/pace.ts';
import { pacedClaimStore } from '../outbox/paced-claims.ts';
import { redrawStore } from '../outbox/redraws.ts';
import { traceStore } from '../outbox/traces.ts';
import { ackStore } from '../questions/acks.ts';
import { approvalStore } from '../questions/approvals.ts';
import { questionStore } from '../questions/questions.ts';
import { credentialReads, credentialStore } from '../records/credentials.ts';
import { downtimeStore } from '../records/downtimes.ts';
import { readAuditPage, readEvents } from '../records/feeds.ts';
import { truthStore } from '../records/truth.ts';
import { workloadStore, usageStore } from '../records/workload.ts';
import { runLooks } from '../runs/looks.ts';
import { runStore } from '../runs/runs.ts';
import { slotStore } from '../runs/slots.ts';
import { spendingStore } from '../spending/limits.ts';
import { grantStore } from '../tasks/grants.ts';
import { answerStore, keepAnswer } from '../tasks/once.ts';
import { taskReads } from '../tasks/reads.ts';
import { taskStore } from '../tasks/tasks.ts';
import { auditStore } from '../upkeep/checks.ts';
import { leaseStore } from '../upkeep/leases.ts';
import { alarmSigns, alarmStore, upkeepStore } from '../upkeep/notes.ts';
import { processReads, processStore } from '../upkeep/processes.ts';
import { lostClaimStore, repairStore } from '../upkeep/repairs.ts';
import { retentionStore } from '../upkeep/retention.ts';
import { setBackStore } from '../upkeep/set-backs.ts';
import type { Engine, Script } from './engine.ts';
import { confined } from './reach.ts';

/** Questions that a process asks again and again while there is nothing to do. */
const idleReads = { ...processReads, ...peopleReads, alarmSigns };

/** The store over either engine: each method is a transaction, or a read where nothing is written. Only an `AppError` leaves it. */
export function createStore(engine: Engine): Store {
  const store: Store = {
    ...bind(engine, 'transact', {
      ...slotStore,
      ...runStore,
      ...outboxStore,
      ...paceStore,
      ...pacedClaimStore,
      ...redrawStore,
      ...taskStore,
      ...upkeepStore,
      ...alarmStore,
      ...setBackStore,
      ...workloadStore,
      ...lostClaimStore,
      ...leaseStore,
      ...processStore,
      ...auditStore,
      ...repairStore,
      ...truthStore,
      ...downtimeStore,
      ...inboxStore,
      ...messageStore,
      ...chatsStore,
      ...peopleStore,
      ...tokenStore,
      ...chatTaskStore,
      ...chatFactStore,
      ...traceStore,
      ...cleaningStore,
      ...holdStore,
      ...ackStore,
      ...approvalStore,
      ...questionStore,
      ...grantStore,
      ...answerStore,
      ...usageStore,
      ...spendingStore,
      ...credentialStore,
      ...chunkStore,
      ...secretStore,
      readAudit: readAuditPage,
      readEvents: (query: EventQuery) => readEvents(engine.dialect, query),
    }),
    ...bind(engine, 'transactLightly', { ...retentionStore, ...asidePace, keepAnswer, markTokenUsed }),
    ...bind(engine, 'read', {
      ...runLooks,
      ...taskReads,
      ...chunkReads,
      ...watchReads,
      ...snoozeReads,
      ...chatSettingsReads,
      ...credentialReads,
      ...idleReads,
    }),
    within: (chats) => (chats === null ? store : createStore(confined(engine, chats))),
    close: () => told(engine.close(), engine.file),
  };
  return store;
}

type Scripts = Readonly<Record<string, (...args: never[]) => Script<unknown>>>;

type Bound<M> = {
  [K in keyof M]: M[K] extends (...args: infer A) => Script<infer T> ? (...args: A) => Promise<T> : never;
};

function bind<M extends Scripts>(engine: Engine, by: 'transact' | 'read' | 'transactLightly', scripts: M): Bound<M> {
  const methods = Object.entries(scripts).map(([name, script]) => [
    name,
    (...args: never[]) =>
      told(
        engine[by](() => script(...args)),
        engine.file,
      ),
  ]);
  return Object.fromEntries(methods) as Bound<M>;
}

async function told<T>(outcome: Promise<T>, file?: string): Promise<T> {
  try {
    return await outcome;
  } catch (error) {
    throw translate(error, file);
  }
}

/**
 * Errors that a row or a statement of ours caused and that no retry mends: constraints and values that the database
 * refuses. Any other error of a driver may pass, and nothing may be judged by it.
 */
const sqliteData = /^SQLITE_(CONSTRAINT|MISMATCH|TOOBIG|RANGE|ERROR)/;
const postgresData = /^(22|23|42|P0)/;

/** Errors of the drivers without a code, when the connection is gone or no server answers. */
const driverAway =
  /timeout|terminated|not queryable|encountered a connection error|connection is not open|calling end/i;

/** A run that another process made at the same moment: the index did its work, and the next try sees that run. */
const contended = 'runs_exclusive';

/** Errors of a store are our own refusal, a store that is away, or a fault of ours. The file is the one of the database. */
export function translate(error: unknown, file?: string): AppError {
  if (error instanceof AppError) return error;
  const code = faultCodeOf(error);
  if (isOurs(error, code)) {
    return new AppError('internal', errorText(error), { cause: error });
  }
  const reason = code === '' && error instanceof Error ? error.message : reasonOf(error, code, file);
  return new AppError('store_unavailable', `The database cannot be used right now (${reason || 'closed'}).`, {
    cause: error,
  });
}

const mayNot = (it: string) => `give the user of this process the right to write to ${it} and its folder`;
const isDamaged = (it: string) => `${it} is damaged; stop the server and run "cronogram restore latest"`;
const tooMany = () =>
  'this process has too many files open; raise its limit (ulimit -n, or LimitNOFILE of the service)';

/** Advice to the person who runs this, about the file. */
const wayOut: Readonly<Record<string, (it: string) => string>> = {
  SQLITE_FULL: () => 'the disk is full; free some space',
  SQLITE_READONLY: mayNot,
  SQLITE_CANTOPEN: mayNot,
  SQLITE_CORRUPT: isDamaged,
  SQLITE_NOTADB: isDamaged,
  EACCES: mayNot,
  EPERM: (it) => `${it} belongs to another user; run as that user, or change its owner with chown`,
  EROFS: (it) => `the disk of ${it} can only be read; mount it for writing, or set DATABASE_URL to another place`,
  EMFILE: tooMany,
  ENFILE: tooMany,
};

function reasonOf(error: unknown, code: string, file: string | undefined): string {
  // SQLite has finer codes, such as SQLITE_CORRUPT_INDEX.
  const [kind = code] = /^SQLITE_[A-Z]+/.exec(code) ?? [];
  const isDenied = kind === 'SQLITE_CANTOPEN' || kind === 'SQLITE_READONLY';
  const denial = isDenied && file !== undefined ? denialOf(file) : '';
  const path = (error as { path?: unknown }).path ?? file;
  const told = denial in wayOut ? denial : kind;
  const advice = wayOut[told]?.(typeof path === 'string' ? path : 'its file');
  return advice === undefined ? code : `${told}: ${advice}`;
}

/** SQLite tells that it was denied a file, and the system tells why. */
function denialOf(file: string): string {
  try {
    closeSync(openSync(devNull, 'r'));
    accessSync(dirname(file), constants.W_OK);
    return '';
  } catch (error) {
    return faultCodeOf(error);
  }
}

function isOurs(error: unknown, code: string): boolean {
  if (constraintOf(error) === contended) return false;
  if (code !== '') return sqliteData.test(code) || postgresData.test(code);
  return !(error instanceof Error && driverAway.test(error.message));
}

function constraintOf(error: unknown): unknown {
  return (error as { constraint?: unknown } | null)?.constraint;
}
