import { parseEnv } from 'node:util';
import { CliFault, exitCodes, usage } from '../../cli/faults.ts';
import { flat } from '../../cli/layout.ts';
import { openSurvey, type Surveyed, type SurveyedBot } from '../../telegram/survey.ts';
import type { Guide } from './steps.ts';

export interface TokenFound {
  readonly token: string;
  readonly me: SurveyedBot;
  /** True for a token that is where it belongs already. */
  readonly isKept: boolean;
}

const shape = /^\d{1,20}:[\w-]{20,100}$/;
const shapeWords = 'A token looks like 123456789:AbC... and comes from @BotFather.';

/** The token of the bot, proved by Telegram. Null when the person would rather try the sandbox first. */
export async function chooseToken(guide: Guide, given: string | null, isForced: boolean): Promise<TokenFound | null> {
  const present = presentToken(guide);
  if (given !== null) {
    requireReplaceable(present, given, isForced);
    return proved(guide, given, present.token === given && present.isInFile);
  }
  if (present.token !== null && !(isForced && guide.isGuided)) {
    const kept = await keepPresent(guide, present);
    if (kept !== null) return kept;
  }
  if (!guide.isGuided) throw withoutToken();
  return askForToken(guide);
}

interface Present {
  readonly token: string | null;
  /** In `.env`, itself or as the name of a file. */
  readonly isInFile: boolean;
}

function presentToken({ here, envText }: Guide): Present {
  const variables = parseEnv(envText);
  const isInFile = Boolean(variables['TELEGRAM_BOT_TOKEN'] ?? variables['TELEGRAM_BOT_TOKEN_FILE']);
  // The file counts before the environment: the file is what is written.
  return { token: variables['TELEGRAM_BOT_TOKEN'] || (here.settings().config.TELEGRAM_BOT_TOKEN ?? null), isInFile };
}

function requireReplaceable({ token, isInFile }: Present, given: string, isForced: boolean): void {
  if (!shape.test(given)) throw usage(`That is no token. ${shapeWords}`);
  if (isForced || !isInFile || token === given) return;
  throw new CliFault('refused', '.env has another token already. Add --force to put the new one in its place.');
}

function withoutToken(): CliFault {
  return usage(
    'There is no token. Give it with --token-file <file> (or - for what comes in), or try without Telegram: --sandbox',
  );
}

async function proved(guide: Guide, token: string, isKept: boolean): Promise<TokenFound> {
  const told = await ask(guide, token);
  if (told.is === 'ok') return { token, me: told.value, isKept };
  throw faultOf(guide, told);
}

async function ask({ here, apiRoot }: Guide, token: string): Promise<Surveyed<SurveyedBot>> {
  const bot = openSurvey({ token, apiRoot, timer: here.timer });
  try {
    return await bot.me();
  } finally {
    bot.close();
  }
}

function faultOf({ apiRoot }: Guide, told: Exclude<Surveyed<SurveyedBot>, { is: 'ok' }>): CliFault {
  if (told.is === 'token') return new CliFault('refused', unknownToken);
  const isTold = told.is === 'refused' || told.is === 'busy' || told.is === 'away';
  const reason = isTold ? ` (${flat(told.text)})` : '';
  return new CliFault(
    'telegram_unreachable',
    `${apiRoot} does not answer${reason}. Check the connection, then run init again; nothing was written.`,
  );
}

const unknownToken = 'Telegram does not know this token. Copy it again: @BotFather, /mybots, your bot, API Token.';

/** Null when the person wants another one. */
async function keepPresent(guide: Guide, { token, isInFile }: Present): Promise<TokenFound | null> {
  const { asking } = guide.here;
  if (token === null) return null;
  if (!guide.isGuided) return proved(guide, token, isInFile);
  const told = await ask(guide, token);
  if (told.is === 'ok') {
    const keeps = await asking.confirm(`There is a token of @${told.value.username} already. Keep it?`, true);
    return keeps ? { token, me: told.value, isKept: isInFile } : null;
  }
  asking.warn(`There is a token already. ${faultOf(guide, told).message}`);
  return null;
}

async function askForToken(guide: Guide): Promise<TokenFound | null> {
  const { asking } = guide.here;
  asking.say('1/4  The bot\nOpen https://t.me/BotFather, send /newbot, and answer its two questions.');
  const way = await asking.choose('How do you want to begin?', [
    { value: 'token', label: 'With a bot of mine', hint: 'paste its token' },
    { value: 'sandbox', label: 'Without Telegram', hint: 'a chat page on this computer, for trying things out' },
  ]);
  if (way === 'sandbox') return null;
  for (;;) {
    const fault = (text: string) => (shape.test(text.trim()) ? undefined : shapeWords);
    const token = (await asking.secret('The token from @BotFather', fault)).trim();
    const told = await ask(guide, token);
    if (told.is === 'ok') {
      asking.good(`@${told.value.username} (${flat(told.value.name)})`);
      return { token, me: told.value, isKept: false };
    }
    const refused = faultOf(guide, told);
    if (refused.exitCode !== exitCodes.refused) throw refused;
    asking.warn(refused.message);
  }
}
