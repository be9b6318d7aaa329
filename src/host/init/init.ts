import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { zoneName } from '../../domain/schedule/time/zone-name.ts';
import { HostFault } from '../fault.ts';
import type { BotFacts, HostPorts } from '../ports.ts';
import { plain, type Screen, listed, toned, wrapped } from '../screen.ts';
import { changedEnv, readEnvText, writeEnvText, type Changes } from './env-file.ts';
import { seeToTopics, type Topics, chooseOwner, chooseZone, type Guide, type InitWish } from './steps.ts';
import { chooseToken, type TokenFound } from './token.ts';

export interface InitDone {
  readonly env_file: string;
  readonly sandbox: boolean;
  readonly bot: { readonly id: number; readonly username: string; readonly name: string } | null;
  readonly topics: Topics;
  readonly owners: readonly string[];
  readonly timezone: string;
  readonly warnings: readonly string[];
  readonly next: readonly string[];
}

/**
 * Finds out what the product must know before its first start, and writes it to `.env`. Nothing is written before
 * everything is known, so that whoever leaves on the way has changed nothing.
 */
export async function initialise(ports: HostPorts, wish: InitWish, screen: Screen): Promise<InitDone> {
  requireSense(wish);
  const { system, settings, asking } = ports;
  const file = join(system.folder, '.env');
  const present = settings().settings;
  const guide: Guide = {
    ports,
    isGuided: screen.canAsk && !wish.isAgreed,
    apiRoot: (wish.apiRoot ?? present.apiRoot).replace(/\/+$/, ''),
    envText: readEnvText(file),
  };
  if (guide.isGuided) asking.intro(`Cronogram ${ports.version}: set-up`);
  const found = wish.isSandbox ? null : await chooseToken(guide, { ...wish, given: await givenToken(wish, screen) });
  const chosen = found === null ? sandboxed : await meet(guide, wish, { found, known: present.owners });
  const timezone = await chooseZone(guide, wish.zone);
  const changes = changesOf(wish, found, { ...chosen, timezone });
  writeEnvText(file, changedEnv(guide.envText, changes), (partial) => system.giveTo(system.folder, partial));
  const done = await summary(ports, { file, found, ...chosen, timezone });
  if (guide.isGuided) asking.outro(`Wrote ${file} (mode 600).`);
  return done;
}

function requireSense({ token, tokenFile, isSandbox, owners, zone, apiRoot }: InitWish): void {
  const usage = (message: string) => new HostFault('usage', message);
  if (token !== null && tokenFile !== null) throw usage('Give --token or --token-file, not both.');
  if (isSandbox && (token !== null || tokenFile !== null || owners.length > 0))
    throw usage('--sandbox needs no token and no owner: leave them out, or leave --sandbox out.');
  const bad = owners.find((id) => !/^[1-9]\d{0,15}$/.test(id));
  if (bad !== undefined) throw usage(`--owner takes ids of people, such as 1234567, and not "${plain(bad)}".`);
  if (zone !== null && zoneName(zone) === null)
    throw usage(`There is no time zone "${plain(zone)}". Give one such as --zone Europe/Madrid.`);
  if (apiRoot !== null && !/^https?:\/\/[^\s]+$/.test(apiRoot))
    throw usage('--api-root takes an address that begins with https:// or http://.');
}

async function givenToken({ token, tokenFile }: InitWish, screen: Screen): Promise<string | null> {
  if (tokenFile === null) return token;
  const text = tokenFile === '-' ? await screen.read() : readFileSync(tokenFile, 'utf8');
  if (text.trim() !== '') return text.trim();
  throw new HostFault(
    'usage',
    tokenFile === '-' ? 'No token came in.' : `${tokenFile} is empty; it should hold the token.`,
  );
}

interface Chosen {
  readonly topics: Topics;
  readonly owners: readonly string[];
}

const sandboxed: Chosen = { topics: 'on', owners: [] };

/** The bot is known now: its topics, and who owns it. */
async function meet(
  guide: Guide,
  { owners }: InitWish,
  { found, known }: { readonly found: TokenFound; readonly known: readonly string[] },
): Promise<Chosen> {
  const bot = guide.ports.telegram.bot(found.token, guide.apiRoot);
  try {
    const topics = await seeToTopics(guide, bot, found.me);
    const given = [...new Set([...known, ...owners])];
    return { topics, owners: given.length > 0 ? given : await chooseOwner(guide, bot, found.me) };
  } finally {
    bot.close();
  }
}

const publicRoot = 'https://api.telegram.org';

function changesOf(
  wish: InitWish,
  found: TokenFound | null,
  { owners, timezone }: Chosen & { timezone: string },
): Changes {
  const root = wish.apiRoot === null ? {} : { TELEGRAM_API_ROOT: wish.apiRoot === publicRoot ? null : wish.apiRoot };
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

async function summary(ports: HostPorts, { file, found, topics, owners, timezone }: Known): Promise<InitDone> {
  const faults = ports.system.envFile()?.faults ?? [];
  const { held } = await ports.data.inspect();
  return {
    env_file: file,
    sandbox: found === null,
    bot: found === null ? null : shownBot(found.me),
    topics,
    owners,
    timezone,
    warnings: faults.map(({ variable, problem, example }) => `${variable} in .env ${problem}. Example: ${example}`),
    next: [
      held.is === 'held' ? 'A server runs: start it again, so that it reads .env.' : 'Start it: npm start',
      ...nextWith(ports, { found, topics, owners }),
      'See that all is well: cronogram doctor',
      'Let it start with this computer: cronogram service install',
    ],
  };
}

function shownBot({ id, username, name }: BotFacts) {
  return { id, username, name: plain(name) };
}

function nextWith(
  { telegram }: HostPorts,
  { found, topics, owners }: Pick<Known, 'found' | 'topics' | 'owners'>,
): string[] {
  if (found === null) return ['Open the chat page that it names, and write to the bot there.'];
  const { username } = found.me;
  const hello = `Open https://t.me/${username} and send: /new in 1 minute say hello`;
  return [
    ...(owners.length > 0 ? [] : ['The first start prints a code; whoever sends it to the bot owns it.']),
    topics === 'group' || topics === 'off' ? `Add it to a group with topics: ${telegram.groupLink(username)}` : hello,
  ];
}

const topicWords = { on: 'on', off: 'off: results wait until they are on', group: 'in a group' } as const;

export function initText(done: InitDone, screen: Screen): string {
  const { env_file: file, bot, topics, owners, timezone, warnings, next } = done;
  const facts = listed(
    [
      ['wrote', `${file} (mode 600)`],
      ['bot', bot === null ? 'none; it starts in the sandbox' : `@${bot.username}`],
      ...(bot === null ? [] : [['topics', topicWords[topics]] as const]),
      ...(bot === null ? [] : [['owner', owners.length === 0 ? 'nobody yet' : owners.join(', ')] as const]),
      ['time zone', timezone],
    ],
    screen,
  );
  const line = (text: string) => `  ${wrapped(text, { columns: screen.columns, indent: 4 })}\n`;
  const faults = warnings.map((warning) => line(toned(`! ${warning}`, 'warn', screen))).join('');
  return `\n${facts}\n${faults === '' ? '' : `${faults}\n`}  Next\n${next.map((step) => line(`- ${step}`)).join('')}\n`;
}
