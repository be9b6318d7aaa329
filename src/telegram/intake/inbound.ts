import type { UserFromGetMe } from 'grammy/types';
import { createLease } from '../../app/operations/lease.ts';
import { waitAtMost } from '../../app/pipeline/workers.ts';
import type { NewUpdate } from '../../app/ports/chats.ts';
import { errorText, isAway } from '../../domain/errors.ts';
import { backoffMs } from '../../domain/limits.ts';
import { createAdmission, createRefusals } from './admission.ts';
import { createBackoff, createPauses, retrying, untilAnswered, type Backoff } from './backoff.ts';
import { createChecklists, createSetUps } from './checklists.ts';
import type { TelegramInDeps } from './deps.ts';
import { createErrands } from './errands.ts';
import { createHandling } from './handling.ts';
import { createMenu } from './menu.ts';
import { admitConfigured, createClaim } from './owners.ts';
import { createPoll } from './poll.ts';
import { createFloodLimit } from './speech.ts';
import { createWebhook, setDelivery, type Webhook } from './webhook.ts';
import { createWorker, type Worker } from './worker.ts';

/**
 * The way in. Updates come by long polling or by webhook; strangers are sent away, the rest is stored, and the worker
 * takes it from the store. Nothing in here waits for Telegram before the rest of the product runs, and no trouble with it
 * ends by giving up.
 */
export interface TelegramIn {
  /** Returns at once; what fails is tried again in the background. */
  start(): void;
  /** Takes no more in, and waits so long for what is in hand; the rest is taken up at the next start. */
  stop(graceMs: number): Promise<void>;
  /** Resolves when every stored update is done, and every callback answered. */
  idle(): Promise<void>;
  readonly health: () => InHealth;
  /** The name of the bot, once Telegram has told it; null when all stops before that. */
  readonly bot: Promise<string | null>;
  /** True while the bot has no owner, and the code that was shown makes one. */
  readonly isClaimable: () => boolean;
  readonly webhook: Webhook;
}

export interface InHealth {
  readonly ok: boolean;
  /** How long polling has not moved on, neither by an answer nor by a failure; 0 where nothing is polled. */
  readonly stillMs: number;
  readonly error: string | null;
}

export function createTelegramIn(deps: TelegramInDeps): TelegramIn {
  const { timer, settings, log } = deps;
  const pauses = createPauses(timer);
  const backoff = createBackoff({ ...deps, task: settings.webhook === null ? 'poll' : 'webhook' });
  const errands = createErrands(deps);
  const claim = createClaim(deps);
  const menu = createMenu({ ...deps, pauses, commands: deps.conversation.commands });
  const shared = { ...deps, pauses, backoff, errands, claim, menu };
  let connected: Connected | null = null;
  let running: Promise<void> | null = null;
  let introduce: (username: string | null) => void = () => undefined;
  const bot = new Promise<string | null>((resolve) => {
    introduce = resolve;
  });
  const intake = createIntake(shared);
  const webhook = createWebhook({
    ...deps,
    webhook: settings.webhook,
    take: async (update) => (connected === null ? false : connected.take([update])),
  });

  const run = async () => {
    const named = await insist(shared, 'owners_not_read', () => admitConfigured(deps));
    if (named === null) return;
    if (!named.value && (await insist(shared, 'claim_not_opened', () => claim.open())) === null) return;
    const answered = await untilAnswered(shared, (raw, signal) => raw.getMe(signal));
    if (answered === null) return;
    const me = answered.value;
    connected = connect(shared, me);
    introduce(me.username);
    log.info('telegram_connected', { bot: me.username, bot_id: me.id, private_topics: me.has_topics_enabled === true });
    connected.worker.begin();
    menu.refresh();
    if ((await setDelivery(shared, settings.webhook)) === null) return;
    if (settings.webhook === null && !pauses.ended()) intake.poll(connected);
    else intake.watch(connected);
  };

  return {
    start: () => {
      running ??= run();
    },
    stop: async (graceMs) => {
      pauses.end();
      introduce(null);
      errands.stop();
      const rest = async () => {
        await Promise.all([running, intake.stop(), connected?.worker.stop(), menu.done(), errands.done()]);
      };
      await waitAtMost(timer, graceMs, rest());
    },
    idle: async () => connected?.worker.idle(),
    health: () => healthOf(backoff, connected),
    bot,
    isClaimable: () => claim.wasOpen(),
    webhook,
  };
}

/** How updates come in, and what happens to those that another process has left. Of several processes one polls. */
function createIntake(shared: Shared) {
  const { others } = shared;
  const stopped = new AbortController();
  const lease = others === null ? null : createLease({ ...shared, ...others, name: 'polling' });
  let polling: Promise<void> | null = null;
  let unhear = () => {};
  /** Updates that a process has left behind are found by the renewals of those that go on. */
  const watch = ({ worker }: Connected): void => {
    if (others === null || stopped.signal.aborted) return;
    unhear = others.processes.onRenewal((renewal) => {
      if (renewal?.due.includes('inbox')) worker.begin();
    });
  };
  return {
    watch,
    poll: (connected: Connected): void => {
      const { poll } = connected;
      polling ??=
        lease === null ? poll.run({ signal: stopped.signal }) : lease.run(stopped.signal, (leased) => poll.run(leased));
      watch(connected);
    },
    stop: async () => {
      stopped.abort();
      unhear();
      await polling;
    },
  };
}

/** The parts that need to know who the bot is. */
interface Connected {
  readonly worker: Worker;
  readonly poll: ReturnType<typeof createPoll>;
  /** Stores what is admitted, and hands it on. */
  take(updates: readonly unknown[]): Promise<true>;
}

interface Shared extends TelegramInDeps {
  readonly pauses: ReturnType<typeof createPauses>;
  readonly backoff: Backoff;
  readonly errands: ReturnType<typeof createErrands>;
  readonly claim: ReturnType<typeof createClaim>;
  readonly menu: ReturnType<typeof createMenu>;
}

function connect(shared: Shared, me: UserFromGetMe): Connected {
  const { menu } = shared;
  const setUps = createSetUps({ ...shared, me });
  const lists = createChecklists({ ...shared, setUps, me });
  const handling = createHandling({ ...shared, me, lists, setUps, setUp: setUps.of, flood: createFloodLimit() });
  const admission = createAdmission({ ...shared, me, refusals: createRefusals(shared), onOwner: () => menu.refresh() });
  const worker = createWorker({ ...shared, me, handling });
  const take = async (updates: readonly unknown[]): Promise<true> => {
    const admitted = await admission.admit(updates);
    await keep(
      shared,
      admitted.map(({ row }) => row),
    );
    worker.take(admitted.map(({ taken }) => taken));
    return true;
  };
  const poll = createPoll({
    ...shared,
    untilFree: () => worker.untilFree(),
    // Telegram is asked for nothing more until what it gave is stored.
    take: (updates, tried) =>
      insist(shared, 'updates_not_stored', () => {
        tried();
        return take(updates);
      }),
  });
  return { worker, poll, take };
}

/** One that the store refuses must not hold up the others. */
async function keep(
  { store, clock, log }: Pick<TelegramInDeps, 'store' | 'clock' | 'log'>,
  rows: readonly NewUpdate[],
): Promise<void> {
  if (rows.length === 0) return;
  try {
    await store.receiveUpdates(rows, clock.now());
  } catch (error) {
    const [row, other] = rows;
    if (isAway(error) || row === undefined) throw error;
    if (other === undefined) log.error('update_not_stored', { update_id: row.id, error: errorText(error) });
    else for (const one of rows) await keep({ store, clock, log }, [one]);
  }
}

/** Does it until it is done; null when everything stops before that. */
function insist<T>({ pauses, log }: Pick<Shared, 'pauses' | 'log'>, event: string, work: () => Promise<T>) {
  return retrying(pauses, work, (error, failures) => {
    if (failures === 1) log.error(event, { error: errorText(error) });
    return backoffMs(failures);
  });
}

/** Silence of Telegram that is no fault yet: two polls and the pause after a failure fit in. */
const silentMaxMs = 120_000;

function healthOf(backoff: Backoff, connected: Connected | null): InHealth {
  const stillMs = connected?.poll.stillMs() ?? 0;
  const error = backoff.error();
  if (error !== null || connected === null) return { ok: false, error: error ?? 'not connected yet', stillMs };
  const isSilent = connected.poll.silentMs() > silentMaxMs;
  return { ok: !isSilent, error: isSilent ? 'Telegram has not answered for two minutes.' : null, stillMs };
}
