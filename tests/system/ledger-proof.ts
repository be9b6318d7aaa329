import { groupBy, type Breach, type Row, type Rows } from '../invariants/rows.ts';
import type { Known, Ledger } from './driver.ts';

/** What the server has acknowledged is in the database, and nothing was done twice for a request that came twice. */
export function proveLedger(rows: Rows, ledger: Ledger): Breach[] {
  const tasks = new Map(rows.tasks.map((task) => [task.id, task]));
  const titles = groupBy(rows.tasks, (task) => task.title);
  const breaches: Breach[] = [];
  for (const known of ledger.known) {
    const task = tasks.get(known.task.task_id);
    const lost = task === undefined ? [] : lostOf(known, task);
    if (lost.length > 0)
      breaches.push({ promise: 'an acknowledged write is lost', rows: { title: known.wish.title, lost, task } });
    const copies = titles.get(known.wish.title)?.length ?? 0;
    if (copies > 1) breaches.push({ promise: 'one request made two tasks', rows: { title: known.wish.title, copies } });
  }
  if (rows.tasks.length !== ledger.known.length) {
    breaches.push({
      promise: 'there are as many tasks as were acknowledged',
      rows: { tasks: rows.tasks.length, known: ledger.known.length },
    });
  }
  if (ledger.wrong.length > 0)
    breaches.push({
      promise: `no client gets such an answer (${ledger.wrong.length})`,
      rows: ledger.wrong.slice(0, 5),
    });
  return breaches;
}

function lostOf(known: Known, task: Row<'tasks'>): string[] {
  const facts: readonly (readonly [string, boolean])[] = [
    ['number', task.number === known.task.number],
    ['instructions', known.instructions === null || task.instructions === known.instructions],
    ['schedule', known.interval === null || task.interval === known.interval],
    ['state', known.state === null || task.state === known.state],
  ];
  return facts.filter(([, holds]) => !holds).map(([name]) => name);
}
