import { groupBy, tell, type Breach, type Row } from '../../invariants/rows.ts';
import type { Lived } from '../world.ts';

/** What clients of the API were told of their messages, and the rights under which tasks run. */
export function proveSurfaces(account: Lived): Breach[] {
  return [messagesAreOne, messagesComeInOrder, nothingWithoutRight, rightsAreWhole].flatMap((prove) => prove(account));
}

const isMessage = ({ task_id: taskId }: Row<'runs'>) => taskId === null;

/** Whatever was answered is there, and whatever is there was asked for, once. */
function messagesAreOne({ rows, runs, world }: Lived): Breach[] {
  const { posted } = world.journal.promised;
  const own = rows.runs.filter(isMessage);
  const doubled = [...groupBy(own, ({ instructions }) => instructions).values()].filter(({ length }) => length > 1);
  return [
    ...tell(
      'a message that was accepted is lost',
      [...posted.values()].filter((id) => id !== null && !runs.has(id)),
    ),
    ...tell(
      'a run has a text that nobody posted',
      own.filter((run) => !posted.has(run.instructions)),
    ),
    ...tell(
      'a message has two runs',
      doubled.map((some) => some),
    ),
  ];
}

/** Messages of one thread are shown in the order in which they were taken in. */
function messagesComeInOrder({ rows, runs }: Lived): Breach[] {
  const certain = rows.deliveries.filter(
    (part) => part.status === 'delivered' && part.evidence === null && part.lane.startsWith('thread:'),
  );
  const key = (part: Row<'deliveries'>) => `${part.run_id} ${String(part.part).padStart(4, '0')}`;
  const swapped = [...groupBy(certain, ({ lane }) => lane).values()].flatMap((parts) => {
    const sorted = parts.filter(({ run_id: id }) => runs.has(id ?? '')).toSorted((a, b) => (key(a) < key(b) ? -1 : 1));
    return sorted.flatMap((part, index) => {
      const next = sorted[index + 1];
      return next !== undefined && (next.message_id ?? 0) < (part.message_id ?? 0) ? [[part, next]] : [];
    });
  });
  return tell('the messages of a thread came in another order', swapped);
}

/** From a revocation on nothing of the task begins, until it is given another right. */
function nothingWithoutRight({ rows, runsOf, attemptsOf, world }: Lived): Breach[] {
  // With a clock that went back instants tell nothing about the order.
  if (world.journal.setBack) return [];
  const changes = groupBy(
    rows.audit.filter(({ verb }) => verb === 'revoke' || verb === 'grant'),
    ({ task_id: taskId }) => taskId,
  );
  const begun = [...changes].flatMap(([taskId, entries]) =>
    entries.flatMap(({ verb, at }, index) => {
      if (verb !== 'revoke') return [];
      const until = entries[index + 1]?.at ?? Infinity;
      const attempts = (runsOf.get(taskId) ?? []).flatMap(({ id }) => attemptsOf.get(id) ?? []);
      return attempts.filter(({ started_at: startedAt }) => startedAt > at && startedAt < until);
    }),
  );
  return tell('something began without a right', begun);
}

interface Right {
  readonly id: string;
  readonly task_id: string;
  readonly state: string;
  readonly owner: string;
  readonly owner_id: string;
  readonly chat: string;
  readonly chat_id: string;
  readonly revoked_by: string | null;
  readonly is_out: 0 | 1;
  readonly waits: 0 | 1;
}

/**
 * A task acts under a right of its own owner in its own chat, while they are there; what a person took away no deletion and
 * no return gives back. It waits for its owner only while they are gone.
 */
function rightsAreWhole({ rows, world }: Lived): Breach[] {
  const rights = world.database
    .prepare(
      `select g.id, g.owner_id, g.chat_id, g.revoked_by, t.id as task_id, t.state, t.owner_id as owner, t.chat_id as chat,
         exists (select 1 from members m
           where m.chat_id = t.chat_id and m.user_id = t.owner_id and m.status = 'out') as is_out,
         t.state = 'paused' and t.paused_reason = 'auto:owner_gone' and t.resume_at is null as waits
       from tasks t join grants g on g.id = t.grant_id`,
    )
    .all() as Right[];
  const last = new Map(
    rows.audit
      .filter(({ verb }) => verb === 'revoke' || verb === 'grant')
      .map(({ task_id: taskId, verb }) => [taskId, verb]),
  );
  const wrong = rights.filter((one) => {
    if (one.owner !== one.owner_id || one.chat !== one.chat_id) return true;
    if (one.waits === 1 && one.is_out === 0) return true;
    const isTaken = last.get(one.task_id) === 'revoke';
    if (isTaken) return one.revoked_by === null || one.revoked_by.startsWith('system');
    if (one.state === 'deleted') return one.revoked_by === null;
    return (one.is_out === 1) !== (one.revoked_by === 'system:left') || one.revoked_by === 'system:deleted';
  });
  return tell('a task has a right that does not fit it', wrong);
}
