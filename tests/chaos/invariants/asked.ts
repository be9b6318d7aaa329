import type { Policies } from '../../../src/domain/policy.ts';
import { groupBy, tell, type Breach, type Row } from '../../invariants/rows.ts';
import type { Lived } from '../world.ts';

/** What people are asked to confirm and to approve: nothing of it is lost, doubled, or let go by itself. */
export function proveAsked(account: Lived): Breach[] {
  return [
    oneIsOpen,
    openOnesGoOn,
    allAreAsked,
    remindersAreCounted,
    doneIsTheEnd,
    noReminderStays,
    nothingUnapproved,
    approvalsEnd,
    bundlesAreOne,
  ].flatMap((prove) => prove(account));
}

const policiesOf = ({ input }: Row<'runs'>) => (JSON.parse(input) as { policies?: Policies }).policies ?? {};
const isReminder = ({ content }: Row<'deliveries'>) => content.includes('"view":"nag"');

function oneIsOpen({ rows }: Lived): Breach[] {
  const open = rows.acks.filter(({ status }) => status === 'open');
  const many = [...groupBy(open, ({ task_id: id }) => id).values()].filter(({ length }) => length > 1);
  return tell('a task asks for more than one Done', many);
}

/** Whatever is not over has an instant at which it goes on, and that lies ahead. */
function openOnesGoOn({ rows, world }: Lived): Breach[] {
  const now = world.time.now();
  const stuck = rows.acks.filter(({ status, nag_at: at }) =>
    status === 'open' ? at === null || at <= now : at !== null,
  );
  return tell('a confirmation does not go on', stuck);
}

/** Whoever was to be asked has a row, whatever became of it. */
function allAreAsked({ rows }: Lived): Breach[] {
  const asked = new Set(rows.acks.map(({ occurrence_id: id }) => id));
  const brought = new Set(rows.deliveries.filter(({ kind }) => kind === 'result').map(({ run_id: id }) => id));
  const silent = rows.runs.filter(
    (run) =>
      run.status === 'succeeded' &&
      run.occurrence_id !== null &&
      brought.has(run.id) &&
      policiesOf(run).ack !== undefined &&
      !asked.has(run.occurrence_id),
  );
  return tell('nobody was asked to confirm a result', silent);
}

/** Each reminder is written with its count, whatever died or was away just then. */
function remindersAreCounted({ rows }: Lived): Breach[] {
  const reminders = groupBy(rows.deliveries.filter(isReminder), ({ run_id: id }) => id);
  const wrong = rows.acks.filter(({ run_id: id, nags }) => (reminders.get(id ?? '') ?? []).length !== nags);
  return tell('there are more or fewer reminders than were counted', wrong);
}

function doneIsTheEnd({ rows, world }: Lived): Breach[] {
  // Where the clock was set back, instants tell nothing about the order.
  if (world.journal.setBack) return [];
  const doneAt = new Map(rows.acks.map((ack) => [ack.run_id, ack.done_at]));
  const late = rows.deliveries.filter((part) => {
    const at = doneAt.get(part.run_id) ?? null;
    return isReminder(part) && at !== null && part.created_at > at;
  });
  return tell('somebody was reminded of what was done', late);
}

/** At most the last reminder stands there, and only as long as somebody has to be reminded. */
function noReminderStays({ rows, world }: Lived): Breach[] {
  const wanted = new Set(rows.acks.filter(({ status }) => status === 'open').map(({ nag_delivery_id: id }) => id));
  const removals = groupBy(
    rows.deliveries.filter(({ kind }) => kind === 'remove'),
    ({ edits }) => String(edits),
  );
  const standing = rows.deliveries.filter((part) => {
    if (!isReminder(part) || wanted.has(part.id) || part.status !== 'delivered') return false;
    // What the platform does not remove stays, and the row says so.
    if ((removals.get(String(part.message_id)) ?? []).some(({ status }) => status === 'failed')) return false;
    return world.chat.messages.some(({ messageId, gone }) => messageId === part.message_id && gone === null);
  });
  return tell('a reminder stands where nobody has to be reminded', standing);
}

/** Nothing waits for an approval for ever, and what was approved has come, or says why not. */
function approvalsEnd({ rows, world }: Lived): Breach[] {
  const wrong = rows.deliveries.filter(
    ({ status, cause, expires_at: at }) =>
      status === 'blocked' && cause === 'approval' && (at === null || at <= world.time.now()),
  );
  return tell('a result waits for an approval for ever', wrong);
}

/** Each end of quiet hours is told of once, unless the hours or the clock have changed meanwhile. */
function bundlesAreOne({ rows, world }: Lived): Breach[] {
  const changed = /^\S+ (?:set the clock|relive|be quiet|edit|upsert|undo|oversleep|move a chat) /;
  const changes = world.journal.lines.filter((line) => changed.test(line) && !line.endsWith('...')).length;
  const told = groupBy(
    rows.deliveries.filter(({ content, status }) => content.includes('"view":"bundle"') && status === 'delivered'),
    ({ chat_id: chatId, content }) => `${chatId} ${content}`,
  );
  const many = [...told.values()].filter(({ length }) => length > 1 + changes);
  return tell(
    'a night is told of more than once',
    many.map((words) => words),
  );
}

function nothingUnapproved({ rows, runs, world }: Lived): Breach[] {
  const given = new Set(
    world.database.prepare(`select ref from events where kind = 'approval.given'`).pluck().all() as string[],
  );
  const loose = rows.deliveries.filter((part) => {
    const run = runs.get(part.run_id ?? '');
    if (part.kind !== 'result' || run === undefined || part.sends === 0) return false;
    return policiesOf(run).approval === 'required' && !given.has(run.id);
  });
  return tell('a result was shown that nobody approved', loose);
}
