import type { Database, Statement } from 'better-sqlite3';
import { endsPerClaim } from '../../src/compose/assembly.ts';
import { settings } from './world.ts';

type Row = Readonly<Record<string, unknown>>;

/** A statement, the rows that it writes one after the other, and what of them is otherwise at that time. */
type Write = readonly [Statement<[Row]>, readonly Row[], Row?];

/** A step of the pipeline: a transaction that finds its rows, and writes what becomes of them and the event of each. */
interface Step {
  readonly rowsPerCommit: number;
  readonly found?: Statement<unknown[]>;
  readonly writes: readonly Write[];
}

/**
 * The whole pipeline by prepared statements alone: it takes the rows that a run of the pipeline left behind, empties the
 * tables, and reads and writes the same rows again in the same steps and in batches of the same size. Runs per second.
 */
export function pipelineByHand(database: Database, dueAt: number): number {
  const rows = (from: string) => database.prepare<[], Row>(`select * from ${from} order by rowid`).all();
  const [occurrences, runs, attempts, deliveries] = [
    rows('occurrences'),
    rows('runs'),
    rows('attempts'),
    rows('deliveries'),
  ];
  const [started, ended, delivered] = ['run.started', 'run.succeeded', 'delivery.delivered'].map((kind) =>
    rows(`events where kind = '${kind}'`),
  );
  database.exec(`delete from occurrences; delete from runs; delete from attempts; delete from deliveries; delete from events;
    update tasks set next_at = ${dueAt}, state = 'active'`);
  const insert = (table: string, given: readonly Row[] = [], other?: Row): Write => {
    const names = Object.keys(given[0] ?? {});
    const text = `insert into ${table} (${names.join(', ')}) values (${names.map((name) => `@${name}`).join(', ')})`;
    return other === undefined ? [database.prepare(text), given] : [database.prepare(text), given, other];
  };
  const update = (text: string, given: readonly Row[]): Write => [database.prepare(text), given];
  const find = (text: string) => database.prepare<unknown[]>(text).raw();
  const [perClaim, perEnd] = [settings.BATCH_SIZE, settings.BATCH_SIZE * endsPerClaim];
  const steps: readonly Step[] = [
    {
      rowsPerCommit: perClaim,
      found:
        find(`select t.*, g.*, c.address from tasks t join grants g on g.id = t.grant_id join chats c on c.id = t.chat_id
        where t.next_at <= ${dueAt} order by t.next_at limit +?`),
      writes: [
        update(
          `update tasks set next_at = ${dueAt + 86_400_000}, bounded_runs = 1 where id = @task_id and next_at = ${dueAt}`,
          runs,
        ),
        insert('occurrences', occurrences, { status: 'dispatched' }),
        insert('runs', runs, { status: 'queued', boot_id: null }),
      ],
    },
    {
      rowsPerCommit: perEnd,
      found:
        find(`select r.*, t.state, g.* from runs r join tasks t on t.id = r.task_id join grants g on g.id = t.grant_id
        where r.status in ('queued', 'backoff') order by r.rank, r.ready_at limit +?`),
      writes: [
        update(
          `update runs set status = 'running', boot_id = 'b', fence = 1, attempts = 1, started_at = @started_at where id = @id and status = 'queued'`,
          runs,
        ),
        insert('attempts', attempts, { status: 'running', finished_at: null }),
        insert('events', started),
      ],
    },
    {
      rowsPerCommit: perEnd,
      writes: [
        update(
          `update runs set status = @status, boot_id = null, finished_at = @finished_at, output = @output where id = @id and status = 'running'`,
          runs,
        ),
        update(
          `update attempts set status = @status, finished_at = @finished_at, duration_ms = @duration_ms where run_id = @run_id and attempt = 1`,
          attempts,
        ),
        update(
          `update occurrences set status = @status, updated_at = @updated_at where id = @id and status = 'dispatched'`,
          occurrences,
        ),
        update(
          `update tasks set runs = runs + 1, last_run_at = @started_at, last_run_status = 'succeeded' where id = @task_id`,
          runs,
        ),
        insert('events', ended),
        insert('deliveries', deliveries, { status: 'pending', ready_at: 1, message_id: null }),
      ],
    },
    {
      rowsPerCommit: perEnd,
      found:
        find(`select d.*, t.topic_id, c.address from deliveries d join tasks t on t.id = d.task_id join chats c on c.id = d.chat_id
        where d.status in ('pending', 'blocked') and d.ready_at <= 1 order by d.ready_at limit +?`),
      writes: [
        update(
          `update deliveries set status = 'sending', fence = 1, boot_id = 'b', sends = 1, sent_at = @sent_at where id = @id and status = 'pending'`,
          deliveries,
        ),
      ],
    },
    {
      rowsPerCommit: perEnd,
      writes: [
        update(
          `update deliveries set status = 'delivered', message_id = @message_id, delivered_at = @delivered_at, ready_at = null where id = @id and status = 'sending'`,
          deliveries,
        ),
        insert('events', delivered),
      ],
    },
  ];
  const commit = database.transaction(({ found, writes, rowsPerCommit }: Step, from: number) => {
    found?.all(rowsPerCommit);
    for (const [statement, given, other] of writes) {
      for (const row of given.slice(from, from + rowsPerCommit))
        statement.run(other === undefined ? row : { ...row, ...other });
    }
  });
  const begun = performance.now();
  for (let from = 0; from < runs.length; from += perEnd) {
    for (const step of steps) {
      for (let at = from; at < from + perEnd; at += step.rowsPerCommit) commit.immediate(step, at);
    }
  }
  return runs.length / ((performance.now() - begun) / 1000);
}

/** How late a bare timer is, with the two durable commits that lie between a slot and the start of its action, and how long each takes. */
export async function timersByHand(
  database: Database,
  { count, gapMs }: { readonly count: number; readonly gapMs: number },
): Promise<{ readonly late: number[]; readonly commits: number[] }> {
  const insert = database.prepare(`insert into kv (scope, key, value, updated_at) values ('bench', ?, '', 0)`);
  const [late, commits]: [number[], number[]] = [[], []];
  const commit = (key: string) => {
    const from = performance.now();
    insert.run(key);
    commits.push(performance.now() - from);
  };
  const base = performance.now() + 20;
  for (let index = 0; index < count; index += 1) {
    const at = base + index * gapMs;
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, at - performance.now())));
    commit(`${count} ${index} claimed`);
    commit(`${count} ${index} started`);
    late.push(Math.max(0, performance.now() - at));
  }
  return { late, commits };
}
