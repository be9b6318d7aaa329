import type { Database, Statement } from 'better-sqlite3';

type Row = Readonly<Record<string, unknown>>;

const batch = 200;

/**
 * The writes of the whole pipeline by prepared statements alone: it takes the rows that a run of the pipeline left behind,
 * empties the tables, and writes the same rows again in the same steps and in batches of the same size. Runs per second.
 */
export function pipelineByHand(database: Database, dueAt: number): number {
  const rows = (table: string) => database.prepare<[], Row>(`select * from ${table} order by rowid`).all();
  const [occurrences, runs, attempts, deliveries] = [
    rows('occurrences'),
    rows('runs'),
    rows('attempts'),
    rows('deliveries'),
  ];
  database.exec(`delete from occurrences; delete from runs; delete from attempts; delete from deliveries;
    update tasks set next_at = ${dueAt}, state = 'active'`);
  const insert = (table: string, sample: Row | undefined) => {
    const names = Object.keys(sample ?? {});
    return database.prepare<[Row]>(
      `insert into ${table} (${names.join(', ')}) values (${names.map((name) => `@${name}`).join(', ')})`,
    );
  };
  const update = (text: string) => database.prepare<[Row]>(text);
  const steps: readonly (readonly (readonly [Statement<[Row]>, readonly Row[], Row?])[])[] = [
    [
      [
        update(
          `update tasks set next_at = ${dueAt + 86_400_000}, bounded_runs = 1 where id = @task_id and next_at = ${dueAt}`,
        ),
        runs,
      ],
      [insert('occurrences', occurrences[0]), occurrences, { status: 'dispatched' }],
      [insert('runs', runs[0]), runs, { status: 'queued', boot_id: null }],
    ],
    [
      [
        update(
          `update runs set status = 'running', boot_id = 'b', fence = 1, attempts = 1, started_at = @started_at where id = @id and status = 'queued'`,
        ),
        runs,
      ],
      [insert('attempts', attempts[0]), attempts, { status: 'running', finished_at: null }],
    ],
    [
      [
        update(
          `update runs set status = @status, boot_id = null, finished_at = @finished_at, output = @output where id = @id and status = 'running'`,
        ),
        runs,
      ],
      [
        update(
          `update attempts set status = @status, finished_at = @finished_at, duration_ms = @duration_ms where run_id = @run_id and attempt = 1`,
        ),
        attempts,
      ],
      [
        update(
          `update occurrences set status = @status, updated_at = @updated_at where id = @id and status = 'dispatched'`,
        ),
        occurrences,
      ],
      [
        update(
          `update tasks set runs = runs + 1, last_run_at = @started_at, last_run_status = 'succeeded' where id = @task_id`,
        ),
        runs,
      ],
      [insert('deliveries', deliveries[0]), deliveries, { status: 'pending', ready_at: 1, message_id: null }],
    ],
    [
      [
        update(
          `update deliveries set status = 'sending', fence = 1, boot_id = 'b', sends = 1, sent_at = @sent_at where id = @id and status = 'pending'`,
        ),
        deliveries,
      ],
    ],
    [
      [
        update(
          `update deliveries set status = 'delivered', message_id = @message_id, delivered_at = @delivered_at, ready_at = null where id = @id and status = 'sending'`,
        ),
        deliveries,
      ],
    ],
  ];
  const write = database.transaction((step: (typeof steps)[number], from: number) => {
    for (const [statement, given, other] of step) {
      for (const row of given.slice(from, from + batch))
        statement.run(other === undefined ? row : { ...row, ...other });
    }
  });
  const started = performance.now();
  for (let from = 0; from < runs.length; from += batch) for (const step of steps) write.immediate(step, from);
  return runs.length / ((performance.now() - started) / 1000);
}

/** How late a bare timer is, with the two durable commits that lie between a slot and the start of its action. */
export async function timersByHand(database: Database, count: number, gapMs: number): Promise<number[]> {
  const commit = database.prepare(`insert into kv (scope, key, value, updated_at) values ('bench', ?, '', 0)`);
  const late: number[] = [];
  const base = performance.now() + 20;
  for (let index = 0; index < count; index += 1) {
    const at = base + index * gapMs;
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, at - performance.now())));
    commit.run(`${count} ${index} claimed`);
    commit.run(`${count} ${index} started`);
    late.push(Math.max(0, performance.now() - at));
  }
  return late;
}
