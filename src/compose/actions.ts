import { createActions, type Actions } from '../app/actions/action.ts';
import { readDigest } from '../app/actions/digest.ts';
import { echoAction } from '../app/actions/echo.ts';
import { createHosts, type Hosts } from '../app/actions/http/hosts/hosts.ts';
import { createSharedHosts } from '../app/actions/http/hosts/shared-hosts.ts';
import { createAccessTokens } from '../app/actions/http/tokens.ts';
import { actionsIn, registry, type ActionEntry } from '../app/actions/registry.ts';
import type { TokenServer } from '../app/ports/credentials.ts';
import type { Egress, Outbound } from '../app/ports/outbound.ts';
import type { Bell, Expressions, Templates, World } from '../app/ports/outside.ts';
import type { KeyRing, RunSecrets } from '../app/ports/secrets.ts';
import type { Store } from '../app/ports/store.ts';
import type { Config } from '../config/config.ts';
import { settingsOf } from '../domain/chat-settings.ts';
import { errorText } from '../domain/errors.ts';
import { sha256 } from '../system/ids.ts';
import { signatures } from '../system/signature.ts';
import { localeOf } from '../telegram/chat/texts.ts';

/** A client that reaches no token server asks none. */
export type OutboundOfTasks = Outbound & Egress & { readonly tokenServer?: TokenServer };

type ActionSettings = Pick<Config, 'ECHO_ACTION' | 'HOST_CONCURRENCY' | 'HOST_RATE'>;

interface ActionWorld extends Pick<World, 'clock' | 'stopwatch' | 'timer' | 'ids' | 'log'> {
  readonly store: Store;
  readonly outbound?: OutboundOfTasks | undefined;
  /** Those of the registry where none are named. */
  readonly actions?: readonly ActionEntry[] | undefined;
  readonly runSecrets: RunSecrets;
  readonly vault: KeyRing;
  readonly templates: Templates;
  readonly expressions: Expressions;
  readonly hosts: Hosts;
}

/** Whatever tasks can do, and what each kind of it needs. */
export function actionsOf(settings: ActionSettings, world: ActionWorld): Actions {
  const { store, timer, outbound = noOutbound, actions: entries = registry } = world;
  const { runSecrets: secrets, vault } = world;
  const made = actionsIn(entries, {
    ...world,
    outbound,
    watches: store,
    digest: sha256,
    secrets,
    signatures,
    tokens: createAccessTokens({
      ...world,
      store,
      secrets,
      vault,
      server: outbound.tokenServer ?? noTokenServer,
      digest: sha256,
    }),
    hostsOfChat: async (chatId) => settingsOf(await store.chatSettings(chatId)).hosts,
    lastOf: (taskId) => store.lastResult(taskId),
    readDigest: (query) => readDigest({ store, localeOf }, query),
  });
  return createActions([...made, ...(settings.ECHO_ACTION ? [echoAction(timer)] : [])]);
}

type HostWorld = Pick<World, 'clock' | 'stopwatch' | 'timer' | 'log'> & {
  readonly store: Store;
  readonly bell: Bell;
  readonly bootId: string;
};

/** Hosts are spared in the memory of a process that is alone, else in rows. */
export function hostsOf(
  settings: ActionSettings,
  isShared: boolean,
  { store, clock, bell, log, ...world }: HostWorld,
): Hosts {
  const rules = { concurrency: settings.HOST_CONCURRENCY, perSecond: settings.HOST_RATE };
  if (isShared) return createSharedHosts({ ...world, store, clock, log, rules, onWoken: () => bell.ring('runner') });
  return createHosts({
    ...world,
    rules,
    wake: (runIds) => {
      store.wakeRuns(runIds, clock.now()).then(
        () => bell.ring('runner'),
        // They look again by themselves.
        (error: unknown) => log.warn('runs_not_woken', { count: runIds.length, error: errorText(error) }),
      );
    },
  });
}

const noTokenServer: TokenServer = {
  ask: async () => ({ ...unasked, is: 'failed', error: 'nothing outside is called here', isFinal: true }),
};
const unasked = { bytes: 0, refreshToken: null, isUnsent: true, status: null, afterMs: null } as const;
const noOutbound: OutboundOfTasks = {
  call: async () => ({ is: 'refused', error: 'nothing outside is called here' }),
  judge: () => ({ is: 'refused', reason: 'cannot be reached, because nothing outside is called here' }),
};
