import { sql } from 'drizzle-orm';
import type { Dialect } from './dialect.ts';

/** Access tokens that were obtained, sealed; and the turn of whoever asks a token server, so that nobody asks at the same time. */
export function credentialsTable(d: Dialect) {
  const { text, int } = d;
  return d.table(
    'credentials',
    {
      /** Names the settings for which a token was given, or whose turn it is; no part of a secret can be read from it. */
      digest: text('digest').primaryKey(),
      chatId: text('chat_id'),
      keyId: text('key_id'),
      box: text('box'),
      holder: text('holder'),
      heldUntil: int('held_until'),
      /** Since when an answer of the token server is missing. */
      askedAt: int('asked_at'),
      /** From then on the row may go. */
      expiresAt: int('expires_at').notNull(),
    },
    (t) => [
      d.index('credentials_expiry').on(t.expiresAt),
      d.check('credentials_sealed', sql.raw('(box is null) = (key_id is null)')),
      d.check('credentials_held', sql.raw('(holder is null) = (held_until is null)')),
    ],
  );
}
