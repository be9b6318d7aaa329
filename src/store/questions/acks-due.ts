import type { DueAck } from '../../app/ports/questions.ts';
import type { Arrival } from '../../domain/ack.ts';
import { settingsOf } from '../../domain/chat-settings.ts';
import type { Policies } from '../../domain/policy.ts';
import { quietFor, type Quiet } from '../../domain/quiet.ts';
import { isTimezone } from '../../domain/schedule/schedule.ts';
import { readFacts } from '../tasks/codec.ts';
import { row, rows, type Script } from '../engine/engine.ts';
import { shownOf } from '../outbox/part-rows.ts';

/** An open one whose instant has come, with what its decision is made from and where its words go. */
export interface DueRow {
  readonly due: DueAck;
  readonly taskId: string;
  readonly runId: string | null;
  readonly chatId: string;
  /** The first line of what was said. */
  readonly text: string;
  readonly slotAt: number;
  readonly nags: number;
  readonly nagDeliveryId: string | null;
}

interface Columns {
  readonly occurrence_id: string;
  readonly task_id: string;
  readonly run_id: string | null;
  readonly nag_every_ms: number;
  readonly nag_limit: number;
  readonly nags: number;
  readonly nag_delivery_id: string | null;
  readonly created_at: number;
  readonly slot_at: number | null;
  readonly state: string | null;
  readonly policies: string | null;
  readonly timezone: string | null;
  readonly chat_id: string | null;
  readonly chat_timezone: string | null;
  readonly settings: string | null;
}

/** Oldest first. The acks lead, whatever a planner thinks of the other tables. */
export function* dueAcks(now: number, limit: number): Script<DueRow[]> {
  const found = yield* rows<Columns>(
    `select a.occurrence_id, a.task_id, a.run_id, a.nag_every_ms, a.nag_limit, a.nags, a.nag_delivery_id, a.created_at,
       o.slot_at, t.state, t.policies, t.timezone, t.chat_id, c.timezone as chat_timezone, c.settings
     from acks a left join occurrences o on o.id = a.occurrence_id left join tasks t on t.id = a.task_id
       left join chats c on c.id = t.chat_id
     where a.status = 'open' and a.nag_at is not null and a.nag_at <= ?i
     order by a.nag_at limit ?i [for update of a skip locked]`,
    now,
    limit,
  );
  const due: DueRow[] = [];
  for (const one of found) due.push(yield* readDue(one));
  return due;
}

interface PartColumns {
  readonly status: string;
  readonly content: string;
  readonly error: string | null;
  readonly created_at: number;
  readonly delivered_at: number | null;
  readonly held_until: number | null;
}

const partColumns = 'status, content, error, created_at, delivered_at, held_until';

function* readDue(one: Columns): Script<DueRow> {
  const parts = yield* rows<PartColumns>(
    `select ${partColumns} from deliveries where run_id = ?t and kind = 'result' order by part`,
    one.run_id,
  );
  const lastNag =
    one.nag_delivery_id === null
      ? undefined
      : yield* row<PartColumns>(`select ${partColumns} from deliveries where id = ?t`, one.nag_delivery_id);
  const last = parts.at(-1);
  return {
    due: {
      occurrenceId: one.occurrence_id,
      nags: one.nags,
      nagEveryMs: one.nag_every_ms,
      nagLimit: one.nag_limit,
      createdAt: one.created_at,
      result: last === undefined ? { is: 'lost' } : arrivalOf(last),
      lastNag: lastNag === undefined ? null : arrivalOf(lastNag),
      isWanted: isWanted(one),
      quiet: quietOf(one),
      timezone: zoneOf(one),
    },
    taskId: one.task_id,
    runId: one.run_id,
    chatId: one.chat_id ?? '',
    text: firstLine(parts[0]),
    slotAt: one.slot_at ?? one.created_at,
    nags: one.nags,
    nagDeliveryId: one.nag_delivery_id,
  };
}

/** A person who has seen it says more than the platform, which never confirmed it. */
function arrivalOf({
  status,
  error,
  created_at: createdAt,
  delivered_at: at,
  held_until: until,
}: PartColumns): Arrival {
  if (status === 'delivered') return { is: 'shown', at: at ?? createdAt };
  if (status !== 'failed') return { is: 'waiting', until };
  return error?.startsWith('unconfirmed') === true ? { is: 'shown', at: createdAt } : { is: 'lost' };
}

/** What cannot be read asks for nothing. */
function policiesOf({ policies }: Columns): Policies {
  return (policies === null ? null : readFacts(policies)) ?? {};
}

function isWanted(one: Columns): boolean {
  return (one.state === 'active' || one.state === 'completed') && policiesOf(one).ack !== undefined;
}

function quietOf(one: Columns): Quiet | null {
  const settings = (one.settings === null ? null : readFacts(one.settings)) ?? {};
  return quietFor(policiesOf(one).quiet ?? null, settingsOf(settings).quiet);
}

/** Quiet hours of the chat are told by its clocks, those of the task by its own. */
function zoneOf(one: Columns): string {
  const zones = policiesOf(one).quiet === undefined ? [one.chat_timezone, one.timezone] : [one.timezone];
  return zones.find((zone): zone is string => zone !== null && isTimezone(zone)) ?? 'UTC';
}

function firstLine(part: PartColumns | undefined): string {
  const shown = part === undefined ? null : shownOf(part.content);
  const text = shown !== null && 'text' in shown ? shown.text : '';
  return text.trim().split('\n', 1)[0] ?? '';
}
