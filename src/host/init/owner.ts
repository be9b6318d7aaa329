import type { Bot, BotFacts, Heard, Told, Waiting } from '../ports.ts';
import { plain } from '../screen.ts';
import type { Guide } from './guide.ts';
import { waitFor } from './waiting.ts';

/**
 * Whoever sends the code of the link owns the bot. What waits for the bot is only looked at: the server gets it all when it
 * starts, the greeting of its owner among it. Nobody when the person leaves it to the first start, which prints a code.
 */
export async function chooseOwner({ ports, isGuided }: Guide, bot: Bot, me: BotFacts): Promise<readonly string[]> {
  if (!isGuided) return [];
  const { asking, telegram } = ports;
  const code = telegram.code();
  asking.say(
    `3/4  The owner\nOpen this link and press Start; whoever does so owns the bot:\nhttps://t.me/${me.username}?start=${code}`,
  );
  const first = await bot.heard(0);
  const deaf = deafness(first);
  if (deaf !== null) {
    asking.warn(deaf);
    return askForId(ports);
  }
  const waited = await waitFor(ports, {
    question: 'Waiting for you there ...',
    options: [
      { value: 'id', label: 'I know my id', hint: 'a number' },
      { value: 'later', label: 'Later', hint: 'the first start prints a code' },
    ] as const,
    look: async () => {
      const told = await bot.heard(0);
      return told.is === 'ok' ? senderOf(told.value.texts, code) : null;
    },
  });
  if (waited.is === 'chosen') return waited.value === 'id' ? askForId(ports) : [];
  const { name, userId } = waited.value;
  asking.good(`${plain(name)} (id ${userId}) is the owner`);
  return [String(userId)];
}

/** Why a message would not be seen here; null when it would. */
function deafness(told: Told<Waiting>): string | null {
  if (told.is === 'webhook') return 'The messages to this bot go to a webhook, so they cannot be seen here.';
  if (told.is === 'conflict') return 'Another program fetches the messages to this bot, perhaps a server that runs.';
  if (told.is !== 'ok' || told.value.isAll) return null;
  return 'So much waits for this bot that a new message cannot be seen from here.';
}

/** The code has 128 bits, so that wrong ones need no counting. */
function senderOf(texts: readonly Heard[], code: string): Heard | null {
  return texts.find(({ text }) => /^\/start(?:@\w+)?\s+(\S+)\s*$/.exec(text)?.[1] === code) ?? null;
}

async function askForId({ asking }: Guide['ports']): Promise<readonly string[]> {
  const fault = (text: string) =>
    /^(?:[1-9]\d{0,15})?$/.test(text.trim()) ? undefined : 'An id is a number such as 1234567; empty for later.';
  const id = (await asking.text('Your id (empty: the first start prints a code)', { fault })).trim();
  return id === '' ? [] : [id];
}
