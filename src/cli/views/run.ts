import type { AnswerOf } from '../client.ts';
import { table, type Cell, type Tone } from '../layout.ts';
import type { Session } from '../session.ts';
import { timesIn, counted, durationWords } from '../times.ts';

export type Run = AnswerOf<'getRun'>;
type Delivery = Run['deliveries'][number];
type Looking = Pick<Session, 'terminal' | 'clock'>;

const tones: Readonly<Record<string, Tone>> = {
  succeeded: 'good',
  delivered: 'good',
  failed: 'bad',
  timed_out: 'bad',
  interrupted: 'bad',
  blocked: 'bad',
  missed: 'warn',
  unknown: 'warn',
  backoff: 'warn',
  skipped: 'dim',
  cancelled: 'dim',
};

export function runCell(status: string): Cell {
  const tone = tones[status];
  const text = status.replaceAll('_', ' ');
  return tone === undefined ? { text } : { text, tone };
}

export function attemptsTable(
  { terminal, clock }: Looking,
  attempts: Run['attempts'],
  timezone: string,
): Promise<string> {
  const times = timesIn(timezone, clock.now());
  const columns = [
    { title: 'ATTEMPT' },
    { title: 'STATUS' },
    { title: `STARTED (${times.zone})`, least: 16 },
    { title: 'TOOK' },
    { title: 'ERROR', least: 8 },
  ];
  const rows = attempts.map((one) => [
    String(one.attempt),
    runCell(one.status),
    times.at(one.started_at),
    one.duration_ms === null ? '' : durationWords(one.duration_ms),
    one.error_message ?? '',
  ]);
  return table(terminal, columns, rows);
}

export function deliveriesTable({ terminal }: Looking, deliveries: Run['deliveries']): Promise<string> {
  const columns = [
    { title: 'PART' },
    { title: 'STATUS' },
    { title: 'THREAD', least: 12 },
    { title: 'MESSAGE' },
    { title: 'ERROR', least: 8 },
  ];
  const rows = deliveries.map((one) => [
    String(one.part),
    runCell(one.status),
    one.thread_key,
    one.message_id === null ? '' : String(one.message_id),
    one.error_message ?? '',
  ]);
  return table(terminal, columns, rows);
}

/** The deliveries of a run and their places, in one sentence. */
export function deliverySentence(deliveries: Run['deliveries']): string {
  if (deliveries.length === 0) return 'Nothing is to be delivered: the result is kept in the history.';
  const places = [...new Set(deliveries.map((one) => one.thread_key))].map((thread) => {
    const parts = deliveries.filter((one) => one.thread_key === thread);
    return `${thread}: ${[...counts(parts)].map(([status, count]) => statusWords(status, count, parts)).join(', ')}`;
  });
  return `${places.join('\n')}`;
}

function counts(parts: readonly Delivery[]): ReadonlyMap<Delivery['status'], number> {
  const found = new Map<Delivery['status'], number>();
  for (const { status } of parts) found.set(status, (found.get(status) ?? 0) + 1);
  return found;
}

function statusWords(status: Delivery['status'], count: number, parts: readonly Delivery[]): string {
  const messages = parts.flatMap((one) => (one.status === status && one.message_id !== null ? [one.message_id] : []));
  const why = parts.find((one) => one.status === status && one.error_message !== null)?.error_message;
  const words = status === 'pending' || status === 'sending' ? 'still to be sent' : status;
  const ids =
    messages.length === 0
      ? ''
      : ` as ${counted(messages.length, 'message').replace(/^\d+ /, '')} ${messages.join(', ')}`;
  return `${count === 1 ? '' : `${count} parts `}${words}${ids}${why === null || why === undefined ? '' : ` (${why})`}`;
}

/** Whether time alone may still change how a part stands. */
export function isOnItsWay({ status }: Delivery): boolean {
  return status === 'pending' || status === 'sending';
}
