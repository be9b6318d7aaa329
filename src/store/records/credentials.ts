import type { Credential, CredentialStore, Turn } from '../../app/ports/credentials.ts';
import { DAY_MS } from '../../domain/schedule/time/calendar.ts';
import type { Script } from '../engine/engine.ts';
import { columns, pick, together } from '../engine/fields.ts';
import { forUpdate, raw, sql } from '../engine/sql.ts';
import { insert, one, run, select, update } from '../engine/statements.ts';

/** Access tokens, and the turn to ask for one. A turn that nobody ended is free when its time is over. */
export const credentialStore = { takeTurn, endTurn, keepCredential, dropCredential };
export const credentialReads = { readCredential };

const { credentials } = columns;

/** A turn that was not ended is remembered so long: it explains why a refresh token is not taken any more. */
const turnKeptMs = 30 * DAY_MS;

const credentialFields = {
  askedAt: credentials.askedAt,
  sealed: together(pick(credentials, 'keyId', 'box'), ({ keyId, box }) =>
    keyId === null || box === null ? null : { keyId, box },
  ),
};

function* readCredential(digest: string): Script<Credential | null> {
  return (yield* one(select(credentialFields)`from credentials where digest = ${digest}`)) ?? null;
}

function* takeTurn({
  digest,
  chatId,
  holder,
  now,
  until,
}: Turn): Script<Awaited<ReturnType<CredentialStore['takeTurn']>>> {
  const expiresAt = until + turnKeptMs;
  yield* insert('credentials', { digest, chatId, expiresAt }, raw('on conflict (digest) do nothing'));
  const before = yield* one(
    select(pick(credentials, 'heldUntil', 'askedAt'))`from credentials where digest = ${digest} ${forUpdate}`,
  );
  const heldUntil = before?.heldUntil ?? 0;
  if (heldUntil > now) return { is: 'held', until: heldUntil };
  const unheardSince = before?.askedAt ?? null;
  yield* update(
    'credentials',
    { holder, heldUntil: until, askedAt: unheardSince ?? now, expiresAt },
    sql`digest = ${digest}`,
  );
  return { is: 'taken', unheardSince };
}

function* endTurn({ digest, holder, isHeard }: Parameters<CredentialStore['endTurn']>[0]): Script<void> {
  const mine = sql`digest = ${digest} and holder = ${holder}`;
  // A row that keeps no token has told all that it was there for.
  if (isHeard) yield* run(sql`delete from credentials where ${mine} and box is null`);
  const heard = isHeard ? { askedAt: null } : {};
  yield* update('credentials', { holder: null, heldUntil: null, ...heard }, mine);
}

function* keepCredential(kept: Parameters<CredentialStore['keepCredential']>[0]): Script<void> {
  const { digest, chatId, sealed, expiresAt } = kept;
  yield* insert(
    'credentials',
    { digest, chatId, ...sealed, expiresAt },
    raw(`on conflict (digest) do update set
      chat_id = excluded.chat_id, key_id = excluded.key_id, box = excluded.box, expires_at = excluded.expires_at`),
  );
}

function* dropCredential({ digest, box }: Parameters<CredentialStore['dropCredential']>[0]): Script<void> {
  yield* update('credentials', { keyId: null, box: null }, sql`digest = ${digest} and box = ${box}`);
}
