import { durationText } from '../../domain/schedule/time/duration.ts';
import { CliFault, usage } from '../faults.ts';
import { facts, sentence, shown, toned } from '../layout.ts';
import { lengthOf, millisecondsOf } from '../options.ts';
import { showing, verb, type Flag, type Options, type Session } from '../session.ts';
import { counted, hostZone, timesIn } from '../times.ts';

/** The Telegram that is built in: what its people write and press, and how late it is there. */

const idBounds = { min: 1, max: 999_999_999 };

const waitDefaultMs = 5000;
const waitMaxMs = 60_000;

/** The fields of the answers of the control API that are shown. */
interface Message {
  readonly text: string;
  readonly thread_id: number | null;
  readonly message_id: number;
  /** The one person who sees it, for a message without an id of the chat. */
  readonly only_for: string | null;
  readonly buttons: readonly (readonly { readonly text: string }[])[];
}

const placeFlags = [
  { flags: '--as <person>', about: 'ada, ben or mallory (default: ada)' },
  {
    flags: '--chat <chat>',
    about: 'a title or its key such as lab, or an id (default: the private chat of that person)',
  },
  { flags: '--wait <length>', about: 'how long to wait for an answer, at most 60s (default: 5s)' },
] as const satisfies readonly Flag[];

export const sandboxVerbs = [
  verb({
    usage: 'say <text...>',
    summary: 'write to the bot as somebody, and show what it answers',
    examples: [
      'cronogram sandbox say "/new in 1 minute: it works"',
      'cronogram sandbox say --as ben --chat lab /tasks',
    ],
    flags: [...placeFlags, { flags: '--thread <id>', about: 'in this topic', whole: idBounds }],
    does: async (session, [text = ''], { thread, ...place }) => {
      const answer = await control(session, 'say', { ...placeOf(place), text, thread });
      const { answers } = answer as { readonly answers: readonly Message[] };
      return { json: answer, text: answersText(session, answers) };
    },
  }),
  verb({
    usage: 'press <button...>',
    summary: 'press a button by what stands on it',
    examples: ['cronogram sandbox press Create', 'cronogram sandbox press "Run now" --chat lab'],
    flags: [
      ...placeFlags,
      { flags: '--message <id>', about: 'of this message (default: the newest with that button)', whole: idBounds },
    ],
    does: async (session, [button = ''], { message, ...place }) => {
      const answer = await control(session, 'press', { ...placeOf(place), button, message_id: message });
      const { callback, answers } = answer as {
        readonly callback: { readonly text: string | null } | null;
        readonly answers: readonly Message[];
      };
      const toast = callback?.text === null || callback?.text === undefined ? '' : `(${shown(callback.text)})\n`;
      const silent = callback === null ? unanswered : wordless;
      return { json: answer, text: `${toast}${answersText(session, answers, toast === '' ? silent : '')}` };
    },
  }),
  verb({
    usage: 'jump [to...]',
    summary: 'move the clock to the next run, by a length of time, or to an instant',
    examples: ['cronogram sandbox jump', 'cronogram sandbox jump 1d', 'cronogram sandbox jump 2027-01-31T09:00:00Z'],
    does: async (session, [to = 'next']) => {
      const ms = lengthOf(to);
      const body = { to: ms === null ? to : durationText(ms) };
      const jumping = () => 'Jumping, and waiting until all that is due on the way is done';
      const answer = await showing(session, jumping, () => control(session, 'jump', body));
      return { json: answer, text: await jumpText(session, answer as Jumped) };
    },
  }),
];

function placeOf({ as = 'ada', chat, wait }: Options<typeof placeFlags>) {
  const ms = wait === undefined ? waitDefaultMs : millisecondsOf('--wait', wait);
  if (ms > waitMaxMs) throw usage('--wait is at most 60s.');
  const id = chat !== undefined && /^-?\d{1,16}$/.test(chat) ? Number(chat) : chat;
  return { as, chat: id ?? as, wait: ms };
}

async function control({ client, isOffline }: Session, deed: string, body: unknown): Promise<unknown> {
  if (isOffline)
    throw usage('The sandbox is part of a running server: start it with npm start, and leave --offline out.');
  try {
    return await client.ask({
      method: 'POST',
      path: `/sandbox/control/${deed}`,
      headers: {},
      body: JSON.stringify(body),
    });
  } catch (error) {
    if (error instanceof CliFault && error.code === 'not_found' && error.message.startsWith('There is no route')) {
      const message = `The server at ${client.place} has no sandbox: it talks to Telegram. Start one without TELEGRAM_BOT_TOKEN, or with SANDBOX=1.`;
      throw new CliFault('not_found', message, { cause: error });
    }
    throw error;
  }
}

const unanswered = 'The bot has not answered in that time. --wait 30s waits longer; some words get no answer.\n';
const wordless = 'The bot took the press, and showed nothing new in that time. --wait 30s waits longer.\n';

function answersText({ terminal }: Session, answers: readonly Message[], silent = unanswered): string {
  if (answers.length === 0) return silent;
  return answers
    .map(({ text, thread_id: thread, message_id: id, only_for: reader, buttons }) => {
      const name = reader === null ? `message ${id}` : `shown to ${shown(reader)} alone`;
      const head = toned(`${name}${thread === null ? '' : `, topic ${thread}`}`, 'dim', terminal.hasColours);
      const rows = buttons.map((row) => `${row.map((button) => `[${shown(button.text)}]`).join(' ')}\n`).join('');
      return `${head}\n${shown(text)}\n${rows}`;
    })
    .join('\n');
}

interface Jumped {
  readonly now: string;
  readonly visited: number;
  readonly next_at: string | null;
}

async function jumpText({ terminal }: Session, { now, visited, next_at: next }: Jumped): Promise<string> {
  const times = timesIn(hostZone(), Date.parse(now));
  const head = await sentence(
    terminal,
    `The sandbox is at ${times.at(now)} (${times.zone}); ${counted(visited, 'slot')} on the way.`,
  );
  return head + (await facts(terminal, [['next', next === null ? 'nothing is due' : times.full(next)]]));
}
