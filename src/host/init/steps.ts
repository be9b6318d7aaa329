import { parseEnv } from 'node:util';
import { flat } from '../../cli/layout.ts';
import { pause } from '../../cli/session.ts';
import { zoneName } from '../../domain/schedule/time/zone-name.ts';
import { newCode } from '../../system/ids.ts';
import { addLink } from '../../telegram/chat/place/checklist.ts';
import type { Survey, Surveyed, SurveyedBot, SurveyedText, Waiting } from '../../telegram/survey.ts';
import type { Here } from '../here.ts';
import type { Option } from './asking.ts';

type Waited<T, S extends string> =
  | { readonly is: 'found'; readonly value: T }
  | { readonly is: 'chosen'; readonly value: S };

interface WaitPlan<T, S extends string> {
  readonly question: string;
  readonly options: readonly Option<S>[];
  /** Null while there is nothing yet. */
  readonly look: () => Promise<T | null>;
}

/** Often enough to feel as if it were noticed at once, seldom enough for Telegram. */
const lookEveryMs = 2000;

/** Looks again and again, until it is there or until the person chooses something else. */
async function waitFor<T, S extends string>(
  { asking, timer }: Pick<Here, 'asking' | 'timer'>,
  { question, options, look }: WaitPlan<T, S>,
): Promise<Waited<T, S>> {
  const over = new AbortController();
  const looking = (async () => {
    for (;;) {
      const value = await look();
      if (value !== null || over.signal.aborted) return value;
      await pause({ timer, interrupted: over.signal }, lookEveryMs);
      if (over.signal.aborted) return null;
    }
  })().finally(() => over.abort());
  const answering = asking.choose(question, options, over.signal).finally(() => over.abort());
  // A look that fails ends the question as well, and is what is told.
  const [looked, answered] = await Promise.allSettled([looking, answering]);
  if (looked.status === 'rejected') throw looked.reason;
  if (looked.value !== null) return { is: 'found', value: looked.value };
  if (answered.status === 'rejected') throw answered.reason;
  if (answered.value === null) throw new Error('the question ended without an answer');
  return { is: 'chosen', value: answered.value };
}

/** `group` when the person will use a group instead of a private chat. */
export type Topics = 'on' | 'off' | 'group';

/** Each task has a topic of its own, so topics must be on somewhere. */
export async function seeToTopics({ here, isGuided }: Guide, bot: Survey, me: SurveyedBot): Promise<Topics> {
  const { asking } = here;
  if (me.hasTopics) {
    if (isGuided) asking.good('2/4  Topics in private chats are on');
    return 'on';
  }
  if (!isGuided) return 'off';
  asking.say(
    [
      '2/4  Topics in private chats are off',
      'Each task has a topic of its own. In Telegram, open @BotFather, press Open, then:',
      `@${me.username}, Bot Settings, Threads Settings, Threaded Mode: on`,
    ].join('\n'),
  );
  const waited = await waitFor(here, {
    question: 'Waiting until they are on ...',
    options: [
      { value: 'group', label: 'I use a group instead' },
      { value: 'off', label: 'Later' },
    ] as const,
    look: async () => {
      const told = await bot.me();
      return told.is === 'ok' && told.value.hasTopics ? true : null;
    },
  });
  if (waited.is === 'found') {
    asking.good('Topics are on, thank you');
    return 'on';
  }
  if (waited.value === 'group') {
    asking.say(`Add it to a group whose topics are on; the rights that it needs are ticked:\n${addLink(me.username)}`);
    asking.say('Once the server runs, it looks there by itself and says what is missing.');
  }
  return waited.value;
}

/**
 * The person who sends the code of the link owns the bot. Waiting updates are only looked at: the server gets them all when it
 * starts, the greeting of its owner among it. Empty when the person leaves it to the first start, which prints a code.
 */
export async function chooseOwner({ here, isGuided }: Guide, bot: Survey, me: SurveyedBot): Promise<readonly string[]> {
  if (!isGuided) return [];
  const { asking } = here;
  const code = newCode();
  asking.say(
    `3/4  The owner\nOpen this link and press Start; the person who does owns the bot:\nhttps://t.me/${me.username}?start=${code}`,
  );
  const first = await bot.texts(0);
  const deaf = deafness(first);
  if (deaf !== null) {
    asking.warn(deaf);
    return askForId(here);
  }
  const waited = await waitFor(here, {
    question: 'Waiting for you there ...',
    options: [
      { value: 'id', label: 'I know my id', hint: 'a number' },
      { value: 'later', label: 'Later', hint: 'the first start prints a code' },
    ] as const,
    look: async () => {
      const told = await bot.texts(0);
      return told.is === 'ok' ? senderOf(told.value.texts, code) : null;
    },
  });
  if (waited.is === 'chosen') return waited.value === 'id' ? askForId(here) : [];
  const { name, userId } = waited.value;
  asking.good(`${flat(name)} (id ${userId}) is the owner`);
  return [String(userId)];
}

/** Why a message would not be seen here; null when it would. */
function deafness(told: Surveyed<Waiting>): string | null {
  if (told.is === 'webhook') return 'The messages to this bot go to a webhook, so they cannot be seen here.';
  if (told.is === 'conflict') return 'Another program fetches the messages to this bot, perhaps a server that runs.';
  if (told.is !== 'ok' || told.value.isAll) return null;
  return 'So much waits for this bot that a new message cannot be seen from here.';
}

/** The code has 128 bits, so that wrong ones need no counting. */
function senderOf(texts: readonly SurveyedText[], code: string): SurveyedText | null {
  return texts.find(({ text }) => /^\/start(?:@\w+)?\s+(\S+)\s*$/.exec(text)?.[1] === code) ?? null;
}

async function askForId({ asking }: Pick<Here, 'asking'>): Promise<readonly string[]> {
  const fault = (text: string) =>
    /^(?:[1-9]\d{0,15})?$/.test(text.trim()) ? undefined : 'An id is a number such as 1234567; empty for later.';
  const id = (await asking.text('Your id (empty: the first start prints a code)', fault)).trim();
  return id === '' ? [] : [id];
}

/** The zone of chats that have not chosen one; the time that it shows is what people can check. */
export async function chooseZone({ here, isGuided, envText }: Guide, wished: string | undefined): Promise<string> {
  const present = parseEnv(envText)['DEFAULT_TIMEZONE'];
  const guess = zoneName(wished ?? present ?? '') ?? zoneName(here.system.zoneGuess) ?? 'UTC';
  if (wished !== undefined || !isGuided) return guess;
  const { asking, clock } = here;
  let zone = guess;
  while (!(await asking.confirm(`4/4  Is it ${timeIn(zone, clock.now())} for you now (${zone})?`, true))) {
    const fault = (text: string) =>
      zoneName(text.trim()) === null ? 'Give a zone such as Europe/Madrid or America/New_York.' : undefined;
    const text = await asking.text('Your time zone', fault);
    zone = zoneName(text.trim()) ?? zone;
  }
  return zone;
}

function timeIn(timeZone: string, now: number): string {
  const format = new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
  return format.format(new Date(now));
}

/** The facts that the steps share. `isGuided` when a person is there to answer. */
export interface Guide {
  readonly here: Here;
  readonly isGuided: boolean;
  readonly apiRoot: string;
  readonly envText: string;
}
