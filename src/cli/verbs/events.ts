import type { AnswerOf, Asked } from '../client.ts';
import { CliFault, usage } from '../faults.ts';
import { sentence, table, shown, toned, type Column } from '../layout.ts';
import { chosenTask, taskNames } from '../naming.ts';
import { pause, verb, type Flag, type Options, type Session, type Told } from '../session.ts';
import { hostZone, timesIn, type Times } from '../times.ts';

type Event = AnswerOf<'listEvents'>['events'][number];

const flags = [
  { flags: '-f, --follow', about: 'keep running and show what comes' },
  { flags: '--after <cursor>', about: 'begin behind this event; latest: behind the newest' },
  { flags: '--task <task>', about: 'of one task' },
  { flags: '--kind <kind>', about: 'of this kind, such as run.failed; "run." for all that begin so' },
  { flags: '--limit <count>', about: 'rows at once, 1 to 500', whole: { min: 1, max: 500 } },
] as const satisfies readonly Flag[];

export const eventVerbs = [
  verb({
    usage: 'events',
    summary: 'tell what happened, in the order in which it became true',
    about: 'With --follow: what happens from now on, until Ctrl-C; with --json one event in a line.',
    examples: ['cronogram events --follow --kind run.', 'cronogram events --after latest --json'],
    flags,
    does: events,
  }),
];

async function events(
  session: Session,
  _args: readonly string[],
  { follow, after, task, kind, limit }: Options<typeof flags>,
): Promise<Told | null> {
  const query = { task_id: await chosenTask(session, task), kind };
  if (follow === true) {
    if (session.isOffline) throw usage('--follow needs a running server: with --offline nothing happens.');
    if (limit !== undefined) throw usage('--limit does not go with --follow, which tells everything.');
    await followed(session, query, after ?? 'latest');
    return null;
  }
  const answer = await session.client.call('listEvents', { query: { ...query, after, limit: limit?.toString() } });
  if (answer.events.length === 0) return { json: answer, text: 'No events.\n' };
  const times = timesIn(hostZone(), session.clock.now());
  const ids = answer.events.map((event) => event.task_id);
  const nameOf = await taskNames(session, ids);
  const columns: readonly Column<Event>[] = [
    { title: times.titled('AT'), of: (event) => times.about(event.at) },
    { title: 'KIND', of: (event) => event.kind },
    { title: 'TASK', least: 13, of: ({ task_id: id }) => id && nameOf(id) },
    { title: 'DATA', least: 8, of: dataText },
  ];
  const text = await table(session.terminal, columns, answer.events);
  return { json: answer, text, note: `Go on with --after ${answer.next_cursor}` };
}

function dataText({ data }: Event): string {
  const fields = Object.entries(data ?? {}).filter(([, value]) => value !== null);
  return fields
    .map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ');
}

type Query = NonNullable<Asked<'listEvents'>['query']>;

const comeBackMs = 2000;

/** Comes back behind the last event that was told when the connection breaks, so that a restart of the server loses nothing. */
async function followed(session: Session, query: Query, after: string): Promise<void> {
  const { client, interrupted } = session;
  let position = after;
  let hasBegun = false;
  while (!interrupted.aborted) {
    try {
      const chunks = await client.listen('listEvents', { query: { ...query, after: position } });
      hasBegun = true;
      await tellAll(session, chunks, (id) => {
        position = id;
      });
    } catch (error) {
      if (interrupted.aborted) return;
      const isAway = !(error instanceof CliFault) || error.code === 'server_away';
      if (!hasBegun || !isAway) throw error;
    }
    if (!interrupted.aborted) await comeBack(session);
  }
}

async function tellAll(session: Session, chunks: AsyncIterable<string>, reached: (id: string) => void): Promise<void> {
  const times = timesIn(hostZone(), session.clock.now());
  for await (const { id, data } of eventsIn(chunks)) {
    if (data !== null) tellEvent(session, data, times);
    if (id !== null) reached(id);
  }
}

async function comeBack(session: Session): Promise<void> {
  const { terminal, client } = session;
  terminal.err(await sentence(terminal, `The connection to ${client.place} has ended; trying again.`));
  await pause(session, comeBackMs);
}

function tellEvent({ terminal, isJson }: Session, data: string, times: Times): void {
  const event = JSON.parse(data) as Event;
  if (isJson) return terminal.out(`${JSON.stringify(event)}\n`);
  const at = toned(times.at(event.at), 'dim', terminal.hasColours);
  terminal.out(
    `${at}  ${shown([event.kind, event.task_id ?? '', dataText(event)].filter((part) => part !== '').join('  '))}\n`,
  );
}

interface Piece {
  readonly id: string | null;
  readonly data: string | null;
}

/** The pieces of a server-sent stream. What it breaks off in the middle of is not told, and comes again. */
async function* eventsIn(chunks: AsyncIterable<string>): AsyncIterable<Piece> {
  let rest = '';
  for await (const chunk of chunks) {
    rest += chunk;
    const pieces = rest.split('\n\n');
    rest = pieces.pop() ?? '';
    for (const piece of pieces) yield pieceOf(piece);
  }
}

function pieceOf(text: string): Piece {
  const fields = text.split('\n').map((line) => /^(id|data): ?(.*)$/.exec(line));
  const value = (name: string) => fields.findLast((field) => field?.[1] === name)?.[2] ?? null;
  return { id: value('id'), data: value('data') };
}
