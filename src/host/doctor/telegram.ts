import { flat } from '../../cli/layout.ts';
import { counted } from '../../cli/times.ts';
import {
  platformTime,
  type ChatStanding,
  type Survey,
  type Surveyed,
  type WebhookFacts,
} from '../../telegram/survey.ts';
import { fail, needsBot, needsNetwork, ok, warn, type Check, type Patient, type Verdict } from './finding.ts';

/** The other end: whether it can be reached, knows the bot, and lets it work. */

const warnMs = 2000;
const failMs = 30_000;

const clock: Check = {
  check: 'clock',
  title: 'Clock',
  leftOut: needsNetwork,
  look: async ({ here, settings }) => {
    const { TELEGRAM_API_ROOT: apiRoot } = settings.config;
    const told = await platformTime(apiRoot, here.clock);
    if (told.is !== 'ok') return [fail(`${apiRoot} does not answer${reasonOf(told)}.`, reach)];
    return [clockVerdict(told.value)];
  },
};

const reach = 'Check the connection of this computer, its firewall, and TELEGRAM_API_ROOT.';

/** The other end tells whole seconds, so that only what lies outside of its second and of our wait is certain. */
function clockVerdict({ theirs, from, to }: { theirs: number; from: number; to: number }): Verdict {
  const ahead = from - (theirs + 999);
  const behind = theirs - to;
  const off = Math.max(ahead, behind, 0);
  if (off <= warnMs) return ok('in step with Telegram');
  const text = `${(off / 1000).toFixed(1)} s ${ahead > behind ? 'ahead of' : 'behind'} Telegram.`;
  const fix = 'Let the computer keep its time: timedatectl set-ntp true';
  return off > failMs ? fail(`${text} Tasks run at the wrong time.`, fix) : warn(text, fix);
}

function reasonOf(told: Surveyed<unknown>): string {
  return told.is === 'refused' || told.is === 'busy' || told.is === 'away' ? `: ${flat(told.text)}` : '';
}

/** The answers of the bot's own; `patient.line` is there, or the check is left out. */
async function meOf({ line }: Patient) {
  return line === null ? null : line.me;
}

const token: Check = {
  check: 'token',
  title: 'Bot token',
  leftOut: needsBot,
  look: async (patient) => {
    const me = await meOf(patient);
    if (me === null) return [];
    if (me.is === 'ok') return [ok(`belongs to @${me.value.username}`)];
    if (me.is === 'token')
      return [
        fail(
          'Telegram does not know the token.',
          'Copy it again from @BotFather (/mybots, API Token), then: cronogram init --force',
        ),
      ];
    return [fail(`Telegram does not answer${reasonOf(me)}.`, reach)];
  },
};

const updates: Check = {
  check: 'updates',
  title: 'Updates',
  leftOut: needsBot,
  look: async (patient) => {
    const { line } = patient;
    if (line === null || (await line.me).is !== 'ok') return [];
    const told = await line.survey.webhook();
    if (told.is !== 'ok') return [fail(`Telegram does not tell where updates go${reasonOf(told)}.`, reach)];
    if (told.value.url !== '') return [webhookVerdict(patient, told.value)];
    return [await pollVerdict(patient, line.survey, told.value.pending)];
  },
};

/** Updates go to a webhook. */
function webhookVerdict(
  { settings, here: computer }: Patient,
  { url, pending, lastError, lastErrorAt }: WebhookFacts,
): Verdict {
  const wanted = settings.config.TELEGRAM_WEBHOOK_URL;
  const [there, here] = [hostOf(url), hostOf(wanted ?? '')];
  if (wanted === undefined) {
    return warn(
      `They go to a webhook at ${there}; perhaps somebody else uses this token.`,
      'If nobody does, start the server: it takes them back. Else get a token of your own from @BotFather.',
    );
  }
  if (there !== here)
    return warn(`They go to ${there}, not to ${here}.`, 'Start the server again: it sets the webhook.');
  const isRecent = lastErrorAt !== null && computer.clock.now() - lastErrorAt < recentMs;
  if (!isRecent || lastError === null) return ok(`come to ${there}, ${pending} waiting`);
  return warn(
    `Telegram could not deliver to ${there}: ${flat(lastError)}.`,
    'Check TELEGRAM_WEBHOOK_URL, its certificate, and what stands in front of the server.',
  );
}

const recentMs = 3_600_000;

/** Another program that fetches too asks again within this, and each of the two ends the question of the other. */
const rivalSeconds = 4;

/** Updates wait until a program fetches them. */
async function pollVerdict({ settings, examined }: Patient, survey: Survey, pending: number): Promise<Verdict> {
  const isFree = examined.lock.is === 'free';
  if (settings.config.TELEGRAM_WEBHOOK_URL !== undefined) {
    if (isFree) return ok('the webhook is set at the next start');
    return warn('No webhook is set, although TELEGRAM_WEBHOOK_URL is.', 'Start the server again.');
  }
  // A server of our own asks at this moment, and a second question would end its own.
  if (!isFree) return ok(`fetched by the server that runs, ${pending} waiting`);
  const heard = await survey.texts(rivalSeconds);
  if (heard.is !== 'conflict') return ok(`fetched by the server when it runs, ${pending} waiting`);
  return fail(
    'Another program fetches them with the same token.',
    'Stop it, or get a new token from @BotFather (/revoke), then: cronogram init --force',
  );
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : 'an address that cannot be read';
}

const privacy: Check = {
  check: 'bot_settings',
  title: 'Bot settings',
  leftOut: needsBot,
  look: async (patient) => {
    const me = await meOf(patient);
    if (me?.is !== 'ok') return [];
    const { hasTopics, readsEverything, username } = me.value;
    const hears = readsEverything
      ? 'it reads every message of its groups'
      : 'in groups it hears commands and replies only, which is enough';
    const { inspection } = patient.examined;
    const isPrivate =
      inspection.is === 'sound' && inspection.facts.chats.some(({ address }) => !address.startsWith('-'));
    if (hasTopics) return [ok(`topics in private chats are on; ${hears}`)];
    const fix = `@BotFather, Open, @${username}, Bot Settings, Threads Settings, Threaded Mode: on`;
    if (!isPrivate) return [ok(`topics in private chats are off; ${hears}`)];
    return [warn('Topics in private chats are off, so results wait there.', fix)];
  },
};

/** More chats than this are not asked about one by one, because Telegram limits the calls of a bot. */
const chatsMax = 40;
const chatsAtOnce = 5;

const rights: Check = {
  check: 'chats',
  title: 'Groups',
  leftOut: needsBot,
  look: async ({ line, examined: { inspection } }) => {
    const me = line === null ? null : await line.me;
    if (line === null || me?.is !== 'ok' || inspection.is !== 'sound') return [];
    const groups = inspection.facts.chats.filter(({ address }) => address.startsWith('-'));
    if (groups.length === 0) return [ok('none is approved')];
    const asked = groups.slice(0, chatsMax);
    const verdicts: Verdict[] = [];
    for (let from = 0; from < asked.length; from += chatsAtOnce) {
      const some = asked.slice(from, from + chatsAtOnce).map(async ({ address, title }) => {
        const told = await line.survey.standing(address, me.value.id);
        return standingVerdict(`"${flat(title ?? address)}"`, told);
      });
      verdicts.push(...(await Promise.all(some)));
    }
    const bad = verdicts.filter(({ level }) => level !== 'ok');
    const rest = groups.length > asked.length ? `, of ${groups.length}` : '';
    const well = asked.length - bad.length;
    return well === 0 ? bad : [ok(`${counted(well, 'group')}${rest} with topics and all rights`), ...bad];
  },
};

function standingVerdict(chat: string, told: Surveyed<ChatStanding>): Verdict {
  if (told.is === 'refused')
    return fail(`${chat}: the bot is not there any more.`, 'Add it again, or send /purge before it leaves.');
  if (told.is !== 'ok') return warn(`${chat}: Telegram does not tell${reasonOf(told)}.`, 'Try again later.');
  const { isForum, isMember, isAdmin, canManageTopics, canPin } = told.value;
  if (!isMember) return fail(`${chat}: the bot is not there any more.`, 'Add it to the group again.');
  if (!isForum) return fail(`${chat}: topics are off, so results wait.`, 'Group settings, Topics: on');
  if (!isAdmin || !canManageTopics)
    return fail(
      `${chat}: the bot may not make topics, so results wait.`,
      'Group settings, Administrators, the bot: Manage Topics',
    );
  if (!canPin)
    return warn(
      `${chat}: the bot may not pin, so cards are not pinned.`,
      'Group settings, Administrators, the bot: Pin Messages',
    );
  return ok(chat);
}

export const telegramChecks: readonly Check[] = [clock, token, updates, privacy, rights];
