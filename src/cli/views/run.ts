import { urlOf } from '../../domain/thread.ts';
import type { AnswerOf } from '../client.ts';
import { table, type Cell, type Column, type Tone } from '../layout.ts';
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
  const columns: readonly Column<Run['attempts'][number]>[] = [
    { title: 'ATTEMPT', of: (one) => String(one.attempt) },
    { title: 'STATUS', of: (one) => runCell(one.status) },
    { title: times.titled('STARTED'), least: 16, of: (one) => times.at(one.started_at) },
    { title: 'TOOK', of: (one) => tookWords(one.duration_ms) },
    { title: 'ERROR', least: 8, of: (one) => one.error_message },
  ];
  return table(terminal, columns, attempts);
}

export function tookWords(ms: number | null): string | null {
  return ms === null ? null : durationWords(ms);
}

export function deliveriesTable({ terminal }: Looking, deliveries: Run['deliveries']): Promise<string> {
  const columns: readonly Column<Delivery>[] = [
    { title: 'PART', of: (one) => String(one.part) },
    { title: 'STATUS', of: (one) => runCell(one.status) },
    { title: 'THREAD', least: 12, of: placeText },
    { title: 'MESSAGE', of: (one) => one.message_id?.toString() ?? null },
    { title: 'CODE', of: (one) => one.error_code },
    { title: 'ERROR', least: 8, of: (one) => one.error_message },
  ];
  return table(terminal, columns, deliveries);
}

/** The deliveries of a run and their places, in one sentence. */
export function deliverySentence(deliveries: Run['deliveries']): string {
  if (deliveries.length === 0) return 'Nothing is to be delivered: the result is kept in the history.';
  const places = [...new Set(deliveries.map(placeText))].map((place) => {
    const parts = deliveries.filter((one) => placeText(one) === place);
    const words = [...counts(parts)].map(([status, count]) => statusWords(status, count, parts)).join(', ');
    const last = parts.findLast(({ message_id: id }) => id !== null);
    const url = urlOf(last?.chat_id, last?.message_thread_id, last?.message_id);
    return `${place}: ${words}${url === null ? '' : `\n${url}`}`;
  });
  return places.join('\n');
}

function placeText({ thread_key: thread, fallback }: Delivery): string {
  return fallback ? `${thread} (fallback)` : thread;
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
