import { and, eq, sql, type SQL } from 'drizzle-orm';
import type { Thread } from '../../domain/thread.ts';
import type { Engine } from './engine.ts';

/** A pattern for `like` that finds the text as it stands: the signs that mean something to `like` are taken as themselves. */
export function literalLike(text: string): string {
  return `%${text.replace(/[\\%_]/g, (sign) => `\\${sign}`)}%`;
}

/** A literal search as people mean it, in whatever case. */
export function contains(column: unknown, text: string): SQL {
  return sql`lower(${column}) like lower(${literalLike(text)}) escape '\\'`;
}

/** The text as it stands; `like` would compare the case on one engine and not on the other. */
export function holds(column: unknown, text: string): SQL {
  return sql`replace(${column}, ${text}, '') <> ${column}`;
}

/** The chat of a thread, by whatever address it ever had. */
export function chatOfThread({ reader, tables: { chat_aliases: aliases } }: Engine, { provider, address }: Thread) {
  return reader
    .select({ id: aliases.chat_id })
    .from(aliases)
    .where(and(eq(aliases.provider, provider), eq(aliases.address, address)));
}
