import { within } from '../../app/pipeline/collector.ts';
import type { NewUpdate } from '../../app/ports/chats.ts';
import { AppError } from '../../domain/errors.ts';
import { createChecklists, createSetUps } from './checklists.ts';
import { createDoor, type Door, createRefusals } from './door.ts';
import { createErrands, type Errands } from './errands.ts';
import { createHandling } from './handling.ts';
import { createMenu, type Menu } from './menu.ts';
import { type TelegramInNeeds, askWhoIAm, type Me } from './needs.ts';
import { admitConfigured, createClaim, type Claim } from './owners.ts';
import { createPatience, createPauses, type Pauses } from './patience.ts';
import { createPlaces } from './places.ts';
import { createPoll, type Poll } from './poll.ts';
import { createSpeech, createHaste } from './speech.ts';
import { createStanding } from './standing.ts';
import { createWebhook, setDelivery, type Webhook } from './webhook.ts';
import { createWorker, type Worker } from './worker.ts';

/**
 * The way in. Updates come by long polling or by webhook; the door sends strangers away, the rest is stored, and the worker
 * takes it from the store. Nothing in here waits for Telegram before the rest of the product runs, and no trouble with it
 * ends by giving up.
 */
export interface TelegramIn {
  /** Returns at once; what fails is tried again in the background. */
  start(): void;
  /** Takes no more in, and waits so long for what is in hand; the rest is taken up at the next start. */
  stop(graceMs: number): Promise<void>;
  /** Resolves when every stored update is done, and every press answered. */
  idle(): Promise<void>;
  readonly health: () => InHealth;
  /** Nobody owns the bot yet, and the code that was shown makes somebody its owner. */
  readonly isClaimable: () => boolean;
  readonly webhook: Pick<Webhook, 'handle'>;
}

export interface InHealth {
  readonly ok: boolean;
  readonly error: string | null;
  readonly lastOkAt: number | null;
}

export function createTelegramIn(needs: TelegramInNeeds): TelegramIn {
  const parts = assemble(needs);
  const { pauses, worker, errands, webhook, poll } = parts;
  let running: Promise<void> | null = null;
  return {
    start: () => {
      running ??= run(needs, parts);
    },
    stop: async (graceMs) => {
      pauses.end();
      const rest = async () => {
        await poll.stop();
        await Promise.all([running, worker.stop(), parts.menu.done(), errands.done()]);
      };
      await within(needs.timer, graceMs, rest());
    },
    idle: () => worker.idle(),
    health: () => healthOf(needs, parts),
    isClaimable: () => parts.claim.isOpen(),
    webhook: { handle: (headers, body) => webhook.handle(headers, body) },
  };
}

interface Parts {
  readonly pauses: Pauses;
  readonly errands: Errands;
  readonly claim: Claim;
  readonly menu: Menu;
  readonly door: Door;
  readonly worker: Worker;
  readonly poll: Poll;
  readonly webhook: Webhook;
  readonly patience: ReturnType<typeof createPatience>;
  readonly identity: Identity;
}

/** Known from the first answer of the platform on; whatever needs it is begun after that. */
interface Identity {
  me(): Me;
  isKnown(): boolean;
  set(me: Me): void;
}

function assemble(needs: TelegramInNeeds): Parts {
  const { api, timer, log, settings } = needs;
  const pauses = createPauses(timer);
  const patience = createPatience({ ...needs, task: settings.webhook === null ? 'poll' : 'webhook' });
  const errands = createErrands(api, log);
  const claim = createClaim(needs);
  const identity = createIdentity();
  const menu = createMenu({ ...needs, pauses, commands: needs.conversation.commands });
  const door = createDoor({ ...needs, claim, errands, refusals: createRefusals(needs), onOwner: () => menu.refresh() });
  const me = () => identity.me();
  const standing = createStanding(needs);
  const setUps = createSetUps({ ...needs, me });
  const lists = createChecklists({ ...needs, setUps, me });
  const places = createPlaces({ ...needs, standing, lists, setUps });
  const speech = createSpeech({ ...needs, places, standing, haste: createHaste(), me, setUp: setUps.of });
  const handling = createHandling({ ...needs, places, lists, speech, botId: () => me().id });
  const worker = createWorker({ ...needs, handling, errands, pauses });
  const takeIn = createIntake({ needs, door, identity });
  const poll = createPoll({
    ...needs,
    patience,
    pauses,
    store: (updates) => untilStored({ needs, pauses }, () => takeIn(updates)),
    handOn: (from) => {
      if (from !== null) worker.look(from);
      return worker.room();
    },
  });
  const webhook = createWebhook({
    ...needs,
    webhook: settings.webhook,
    take: async (update) => {
      if (!identity.isKnown()) return false;
      const from = await takeIn([update]);
      if (from !== null) worker.look(from);
      return true;
    },
  });
  return { pauses, patience, errands, claim, identity, menu, door, worker, poll, webhook };
}

function createIdentity(): Identity {
  let known: Me | null = null;
  return {
    me: () => {
      if (known === null) throw new Error('Nothing is handled before it is known who the bot is.');
      return known;
    },
    isKnown: () => known !== null,
    set: (me) => {
      known = me;
    },
  };
}

interface Intake {
  readonly needs: TelegramInNeeds;
  readonly door: Door;
  readonly identity: Identity;
}

/** Stores those that the door lets in; answers the lowest of them. */
function createIntake({ needs, door, identity }: Intake): (updates: readonly unknown[]) => Promise<number | null> {
  const { store, clock, log } = needs;
  const keep = async (update: NewUpdate) => {
    try {
      await store.receiveUpdates([update], clock.now());
    } catch (error) {
      if (isAway(error)) throw error;
      log.error('update_not_stored', { update_id: update.id, error: wordsOf(error) });
    }
  };
  return async (updates) => {
    const admitted = await door.admit(updates, identity.me());
    if (admitted.length === 0) return null;
    try {
      await store.receiveUpdates(admitted, clock.now());
    } catch (error) {
      if (isAway(error)) throw error;
      // One that the store refuses must not hold up the others.
      for (const update of admitted) await keep(update);
    }
    return Math.min(...admitted.map(({ id }) => id));
  };
}

function isAway(error: unknown): boolean {
  return error instanceof AppError && error.code === 'store_unavailable';
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

const storeRetryMs = 1000;

/** The platform is asked for nothing more until what it gave is stored. */
async function untilStored(
  { needs, pauses }: { readonly needs: TelegramInNeeds; readonly pauses: Pauses },
  store: () => Promise<number | null>,
): Promise<number | null> {
  for (let failures = 0; !pauses.ended(); failures += 1) {
    try {
      return await store();
    } catch (error) {
      if (failures === 0) needs.log.error('updates_not_stored', { error: wordsOf(error) });
      await pauses.pause(storeRetryMs);
    }
  }
  throw new Error('Stopped before the updates were stored.');
}

async function run(needs: TelegramInNeeds, parts: Parts): Promise<void> {
  const { api, settings, log } = needs;
  const { pauses, patience, identity, worker, menu, poll } = parts;
  if (!(await prepare(needs, parts))) return;
  const me = await askWhoIAm(api, patience, pauses);
  if (me === null) return;
  identity.set(me);
  log.info('telegram_connected', { bot: me.username, bot_id: me.id, private_topics: me.hasTopics });
  // What a process before this one has left.
  worker.look(1);
  menu.refresh();
  if (!(await setDelivery({ api, patience, pauses }, settings.webhook))) return;
  if (settings.webhook === null && !pauses.ended()) poll.start();
}

/** Those whom the operator named, and the code when there is nobody. False when everything stopped before that. */
async function prepare(needs: TelegramInNeeds, { pauses, claim }: Parts): Promise<boolean> {
  for (let failures = 0; !pauses.ended(); failures += 1) {
    try {
      if (!(await admitConfigured(needs))) claim.open();
      return true;
    } catch (error) {
      if (failures === 0) needs.log.error('owners_not_read', { error: wordsOf(error) });
      await pauses.pause(storeRetryMs);
    }
  }
  return false;
}

/** Two polls and the pause after a failure fit in. */
const silentMaxMs = 120_000;

function healthOf({ clock, settings }: TelegramInNeeds, { patience, poll, webhook, identity }: Parts): InHealth {
  const isPolling = settings.webhook === null;
  const lastOkAt = isPolling ? poll.lastOkAt() : webhook.lastOkAt();
  const error = patience.error();
  if (error !== null || !identity.isKnown()) return { ok: false, error: error ?? 'not connected yet', lastOkAt };
  const isSilent = isPolling && lastOkAt !== null && Math.abs(clock.now() - lastOkAt) > silentMaxMs;
  return { ok: !isSilent, error: isSilent ? 'Telegram has not answered for two minutes.' : null, lastOkAt };
}
