import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { usage } from '../../cli/faults.ts';
import { facts, flat, toned, type Terminal } from '../../cli/layout.ts';
import type { LocalSession, Told } from '../../cli/session.ts';
import { zoneName } from '../../domain/schedule/time/zone-name.ts';
import { giveToOwnerOf } from '../../store/files/backup.ts';
import { addLink } from '../../telegram/chat/place/checklist.ts';
import { openSurvey, type SurveyedBot } from '../../telegram/survey.ts';
import { examineDatabase, type Here } from '../here.ts';
import { hanging } from '../words.ts';
import { changedEnv, readEnvText, writeEnvText, type Changes } from './env-file.ts';
import { seeToTopics, type Topics, chooseOwner, chooseZone, type Guide } from './steps.ts';
import { chooseToken, type TokenFound } from './token.ts';

/** The flags of the verb. */
interface Wish {
  readonly token?: string;
  readonly tokenFile?: string;
  readonly owner?: string;
  readonly zone?: string;
  readonly sandbox?: true;
  readonly force?: true;
  readonly apiRoot?: string;
  readonly yes?: true;
}

/**
 * Finds out what the product must know before its first start, and writes it to `.env`. Nothing is written before
 * everything is known, so that a person who leaves on the way has changed nothing.
 */
export async function initialise({ terminal }: LocalSession, here: Here, wish: Wish): Promise<Told> {
  requireSense(wish);
  const owners = idsIn(wish);
  const { system, settings, asking } = here;
  const file = join(system.folder, '.env');
  const { config } = settings();
  const guide: Guide = {
    here,
    isGuided: terminal.canAsk && wish.yes !== true,
    apiRoot: (wish.apiRoot ?? config.TELEGRAM_API_ROOT).replace(/\/+$/, ''),
    envText: readEnvText(file),
  };
  if (guide.isGuided) asking.intro(`Cronogram ${here.version}: set-up`);
  const given = await givenToken(wish, terminal);
  const found = wish.sandbox === true ? null : await chooseToken(guide, given, wish.force === true);
  const chosen =
    found === null ? sandboxed : await meet(guide, found, [...new Set([...config.TELEGRAM_OWNERS, ...owners])]);
  const timezone = await chooseZone(guide, wish.zone);
  const changes = changesOf(wish, found, { ...chosen, timezone });
  writeEnvText(file, changedEnv(guide.envText, changes), (partial) => giveToOwnerOf(system.folder, partial));
  const done = await summary(here, { file, found, ...chosen, timezone });
  if (guide.isGuided) asking.outro(`Wrote ${file} (mode 600).`);
  return { json: done, text: await initText(done, terminal) };
}

function idsIn({ owner = '' }: Wish): readonly string[] {
  return owner.split(',').flatMap((id) => (id.trim() === '' ? [] : [id.trim()]));
}

function requireSense(wish: Wish): void {
  const { token, tokenFile, sandbox, zone, apiRoot } = wish;
  if (token !== undefined && tokenFile !== undefined) throw usage('Give --token or --token-file, not both.');
  if (sandbox === true && (token !== undefined || tokenFile !== undefined || idsIn(wish).length > 0))
    throw usage('--sandbox needs no token and no owner: leave them out, or leave --sandbox out.');
  const bad = idsIn(wish).find((id) => !/^[1-9]\d{0,15}$/.test(id));
  if (bad !== undefined) throw usage(`--owner takes ids of people, such as 1234567, and not "${flat(bad)}".`);
  if (zone !== undefined && zoneName(zone) === null)
    throw usage(`There is no time zone "${flat(zone)}". Give one such as --zone Europe/Madrid.`);
  if (apiRoot !== undefined && !/^https?:\/\/[^\s]+$/.test(apiRoot))
    throw usage('--api-root takes an address that begins with https:// or http://.');
}

async function givenToken({ token, tokenFile }: Wish, terminal: Terminal): Promise<string | null> {
  if (tokenFile === undefined) return token?.trim() ?? null;
  const text = tokenFile === '-' ? await terminal.read() : readFileSync(tokenFile, 'utf8');
  if (text.trim() !== '') return text.trim();
  throw usage(tokenFile === '-' ? 'No token came in.' : `${tokenFile} is empty; it should hold the token.`);
}

interface Chosen {
  readonly topics: Topics;
  readonly owners: readonly string[];
}

const sandboxed: Chosen = { topics: 'on', owners: [] };

/** The bot is known now: its topics, and who owns it. */
async function meet(guide: Guide, found: TokenFound, owners: readonly string[]): Promise<Chosen> {
  const bot = openSurvey({ token: found.token, apiRoot: guide.apiRoot, timer: guide.here.timer });
  try {
    const topics = await seeToTopics(guide, bot, found.me);
    return { topics, owners: owners.length > 0 ? owners : await chooseOwner(guide, bot, found.me) };
  } finally {
    bot.close();
  }
}

const publicRoot = 'https://api.telegram.org';

function changesOf(
  { apiRoot }: Wish,
  found: TokenFound | null,
  { owners, timezone }: Chosen & { timezone: string },
): Changes {
  const root = apiRoot === undefined ? {} : { TELEGRAM_API_ROOT: apiRoot === publicRoot ? null : apiRoot };
  if (found === null) return { SANDBOX: '1', DEFAULT_TIMEZONE: timezone };
  return {
    ...(found.isKept ? {} : { TELEGRAM_BOT_TOKEN: found.token, TELEGRAM_BOT_TOKEN_FILE: null }),
    ...(owners.length === 0 ? {} : { TELEGRAM_OWNERS: owners.join(',') }),
    ...root,
    DEFAULT_TIMEZONE: timezone,
    SANDBOX: null,
  };
}

interface Known extends Chosen {
  readonly file: string;
  readonly found: TokenFound | null;
  readonly timezone: string;
}

async function summary(here: Here, { file, found, topics, owners, timezone }: Known) {
  const faults = here.system.envFile()?.faults ?? [];
  const { lock } = await examineDatabase(here.settings());
  return {
    env_file: file,
    sandbox: found === null,
    bot: found === null ? null : shownBot(found.me),
    topics,
    owners,
    timezone,
    warnings: faults.map(({ variable, problem, example }) => `${variable} in .env ${problem}. Example: ${example}`),
    next: [
      lock.is === 'held' ? 'A server runs: start it again, so that it reads .env.' : 'Start it: npm start',
      ...nextWith({ found, topics, owners }),
      'See that all is well: cronogram doctor',
      'Let it start with this computer: cronogram service install',
    ],
  };
}

function shownBot({ id, username, name }: SurveyedBot) {
  return { id, username, name: flat(name) };
}

function nextWith({ found, topics, owners }: Pick<Known, 'found' | 'topics' | 'owners'>): string[] {
  if (found === null) return ['Open the chat page that it names, and write to the bot there.'];
  const { username } = found.me;
  const hello = `Open https://t.me/${username} and send: /new in 1 minute: it works`;
  return [
    ...(owners.length > 0 ? [] : ['The first start prints a code; the person who sends it to the bot owns it.']),
    topics === 'group' || topics === 'off' ? `Add it to a group with topics: ${addLink(username)}` : hello,
  ];
}

const topicWords = { on: 'on', off: 'off: results wait until they are on', group: 'in a group' } as const;

async function initText(done: Awaited<ReturnType<typeof summary>>, terminal: Terminal): Promise<string> {
  const { env_file: file, bot, topics, owners, timezone, warnings, next } = done;
  const known = await facts(terminal, [
    ['wrote', `${file} (mode 600)`],
    ['bot', bot === null ? 'none; it starts in the sandbox' : `@${bot.username}`],
    ['topics', bot === null ? null : topicWords[topics]],
    ['owner', bot === null ? null : owners.length === 0 ? 'nobody yet' : owners.join(', ')],
    ['time zone', timezone],
  ]);
  const line = async (text: string) => `  ${await hanging(text, 4, terminal)}\n`;
  const warned = warnings.map((warning) => line(toned(`! ${warning}`, 'warn', terminal.hasColours)));
  const faults = (await Promise.all(warned)).join('');
  const steps = (await Promise.all(next.map((step) => line(`- ${step}`)))).join('');
  return `${known}\n${faults === '' ? '' : `${faults}\n`}Next\n${steps}`;
}
