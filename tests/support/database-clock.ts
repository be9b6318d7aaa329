import pg from 'pg';

/** The clock of one database, by hand: everybody who asks the database for the time is told what was set here. */
export interface DatabaseClock {
  set(at: number): Promise<void>;
  /** It runs on by itself, so far before or behind the clock of the server. */
  runAhead(ms: number): Promise<void>;
  close(): Promise<void>;
}

/** Each database has its own functions, so nobody else notices. The one that there is goes by another name, because it is called by its number. */
export async function clockByHand(databaseUrl: string): Promise<DatabaseClock> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(`create table public.hand (at bigint, ahead bigint not null);
    insert into public.hand values (null, 0);
    grant select on public.hand to public;
    alter function pg_catalog.clock_timestamp() rename to clock_of_the_server;
    create function pg_catalog.clock_timestamp() returns timestamptz language sql volatile as $$
      select coalesce(to_timestamp(at / 1000.0), statement_timestamp() + ahead * interval '1 millisecond') from public.hand $$`);
  return {
    set: async (at) => void (await client.query('update public.hand set at = $1', [at])),
    runAhead: async (ms) => void (await client.query('update public.hand set at = null, ahead = $1', [ms])),
    close: () => client.end(),
  };
}
