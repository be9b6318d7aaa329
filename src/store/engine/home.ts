import type { Client } from './engine.ts';

/** The schema of a new database. One that was made by an earlier version keeps its tables where they are. */
export const ownSchema = 'cronogram';

/** Bookkeeping of other programs bears the same name, but not this column. */
const oursIn = (place: string) =>
  `exists (select from pg_attribute a where a.attrelid = to_regclass(${place}) and a.attname = 'applied_at' and not a.attisdropped)`;

/** A name that is found by the search path of the connection was found there by the version that made it, too. */
const homeText = `select n.nspname as home from pg_class t join pg_namespace n on n.oid = t.relnamespace
  where t.oid = case
    when ${oursIn(`'${ownSchema}.schema_migrations'`)} then to_regclass('${ownSchema}.schema_migrations')
    when ${oursIn(`'schema_migrations'`)} then to_regclass('schema_migrations') end`;

/** The schema in which the tables stand; null for a database that has none of ours. */
export async function homeIn(client: Pick<Client, 'query'>): Promise<string | null> {
  const [found] = (await client.query(homeText, [])).rows as { home: string }[];
  return found?.home ?? null;
}

/** From here on names mean the tables there; `local` stands for until the end of the transaction. */
export function goHome(home: string, until: '' | 'local' = ''): string {
  return `set ${until} search_path to "${home.replaceAll('"', '""')}"`;
}
