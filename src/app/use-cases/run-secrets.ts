import { type Actor, apiPrincipal } from '../../domain/access.ts';
import { AppError } from '../../domain/errors.ts';
import { allows, hostScope, secretScope } from '../../domain/grant.ts';
import {
  type OperatorRules,
  type OperatorSecret,
  isAmong,
  isForChat,
  isGranted,
  mayUse,
  nameFault,
  secretValue,
} from '../../domain/secrets/secret.ts';
import type { ActionSpec } from '../../domain/task.ts';
import type { Thread } from '../../domain/thread.ts';
import type { Kinds } from '../actions/kinds.ts';
import type { World } from '../ports/outside.ts';
import type {
  KeyRing,
  RevealAsked,
  Revealed,
  RunSecrets,
  SealedSecret,
  SecretScene,
  SecretStore,
} from '../ports/secrets.ts';

interface RunSecretsDeps extends Pick<World, 'clock'> {
  readonly store: Pick<SecretStore, 'secretScene' | 'replaceSecret' | 'useSecrets'>;
  readonly vault: KeyRing;
  /** Of the environment. */
  readonly operator: readonly OperatorSecret[];
}

type Refused = Extract<Revealed, { is: 'refused' }>;

/** A secret that a run may use and send there, whose value is still closed. */
interface Found {
  readonly name: string;
  readonly stored: SealedSecret | null;
  readonly given: OperatorSecret | null;
}

/** So seldom is it noted that a secret is in use. */
const notedEveryMs = 60_000;

export function createRunSecrets({ store, vault, operator, clock }: RunSecretsDeps): RunSecrets {
  const open = ({ stored, given }: Found) =>
    stored === null
      ? { value: given?.value ?? '', version: 0 }
      : { value: vault.open(stored.id, stored.sealed), version: stored.version };
  const noteUse = async (found: readonly Found[]) => {
    const now = clock.now();
    const used = found.flatMap(({ stored }) =>
      stored === null || now - (stored.lastUsedAt ?? 0) < notedEveryMs ? [] : [stored.id],
    );
    if (used.length > 0) await store.useSecrets(used, now);
  };
  return {
    reveal: async (asked) => {
      const scene = await store.secretScene(asked);
      const found: Found[] = [];
      for (const name of new Set(asked.names)) {
        const one = foundIn(name, asked, scene, operator);
        if ('is' in one) return one;
        found.push(one);
      }
      const values = new Map(found.map((one) => [one.name, open(one)]));
      await noteUse(found);
      return { is: 'revealed', values };
    },
    replace: async ({ name, chatId, version, value }) => {
      const { secrets } = await store.secretScene({ names: [name], chatId, ownerId: 'system' });
      const row = secrets.find((one) => one.version === version);
      if (row === undefined) return false;
      const sealed = vault.seal(row.id, secretValue(value));
      return store.replaceSecret({ id: row.id, version, sealed, at: clock.now() });
    },
  };
}

/** The task that is made or changed, and for whom it will run. */
interface TaskAhead {
  readonly action: ActionSpec;
  /** Null where nobody in particular does it: then it is whoever approved the chat. */
  readonly ownerId: Actor | null;
  /** Our own id of a chat, or the thread of one. */
  readonly chat: string | null | Pick<Thread, 'provider' | 'address'>;
}

interface AheadDeps extends Pick<RunSecretsDeps, 'operator'> {
  readonly store: Pick<SecretStore, 'secretScene' | 'secretChat'>;
  readonly kinds: Pick<Kinds, 'secretsOf' | 'scopesOf'>;
}

/** Looks ahead at the secrets of a task: refuses those that its runs would be refused for good, and names those that are still to be set. */
export type SecretsAhead = (task: TaskAhead) => Promise<readonly string[]>;

export function createSecretsAhead({ store, operator, kinds }: AheadDeps): SecretsAhead {
  return async ({ action, ownerId: owner, chat }) => {
    const sent = kinds.secretsOf(action).filter(({ name }) => nameFault(name) === null);
    if (sent.length === 0) return [];
    const isThread = typeof chat === 'object' && chat !== null;
    const place = isThread ? await store.secretChat(chat) : { chatId: chat, approvedBy: null };
    const asked = {
      names: sent.map(({ name }) => name),
      chatId: place?.chatId ?? null,
      ownerId: owner ?? place?.approvedBy ?? apiPrincipal,
      scopes: kinds.scopesOf(action),
      // The reach of a change asks about what somebody names now.
      unconfirmed: [],
    };
    const scene = await store.secretScene(asked);
    const isMissing = (one: (typeof sent)[number]) => {
      const found = foundIn(one.name, { ...asked, host: one.host }, scene, operator);
      if (!('is' in found)) return false;
      // A host that a template names is judged by the run, which knows it.
      if (found.reason === 'secret_host' && !asked.scopes.includes(hostScope(one.host))) return false;
      const isThere = operator.some(({ name }) => name === one.name) || scene.secrets.some(isOf(one.name, null));
      if (found.reason === 'secret_missing' && !isThere) return true;
      const reason = isThere && found.reason === 'secret_missing' ? 'secret_not_allowed' : found.reason;
      throw new AppError('invalid_action', found.error, { details: { field: fieldOf(action, one.name), reason } });
    };
    return [...new Set(sent.filter(isMissing).map(({ name }) => name))];
  };
}

function isOf(name: string, chatId: string | null) {
  return (one: SealedSecret): boolean => one.name === name && one.chatId === chatId;
}

/** The setting that names the secret, such as `action.auth.secret`. */
function fieldOf(value: unknown, name: string, path = 'action'): string {
  const [key, part] = Object.entries(value ?? {}).find(([, one]) => JSON.stringify(one)?.includes(name)) ?? [];
  if (key === undefined) return path;
  return typeof part === 'object' ? fieldOf(part, name, `${path}.${key}`) : `${path}.${key}`;
}

function foundIn(
  name: string,
  asked: RevealAsked,
  scene: SecretScene,
  operator: readonly OperatorSecret[],
): Found | Refused {
  const { scopes, chatId, host } = asked;
  if (!allows(scopes, secretScope(name))) {
    const words = `The grant of this task does not name the secret ${name}. Save the task again, or renew its grant.`;
    return refused('grant_scope', name, words);
  }
  const own = chatId === null ? undefined : scene.secrets.find(isOf(name, chatId));
  if (own !== undefined) {
    if (own.hosts.length === 0 || isAmong(own.hosts, host)) return { name, stored: own, given: null };
    return refused('secret_host', name, `${hostWords(name, host)} It is for ${own.hosts.join(', ')}.`);
  }
  const given = operator.find((one) => one.name === name) ?? null;
  const stored = given === null ? (scene.secrets.find(isOf(name, null)) ?? null) : null;
  const rules = given ?? stored;
  if (rules === null) {
    return refused('secret_missing', name, `There is no secret ${name}. Set it with /secrets set ${name}.`);
  }
  if (!mayUse(rules, { ...asked, ...scene })) {
    const words = `The secret ${name} is for tasks of owners of the bot. Set one of this chat with /secrets set ${name}, or have the operator allow this chat in SECRET_${name}_CHATS.`;
    return refused('secret_missing', name, words);
  }
  return hostFault(rules, { ...asked, name, isGiven: given !== null }, scene) ?? { name, stored, given };
}

interface Wanted extends Pick<RevealAsked, 'scopes' | 'unconfirmed' | 'host'> {
  readonly name: string;
  readonly isGiven: boolean;
}

/** Null where a secret of the operator may go there. */
function hostFault(rules: OperatorRules, wanted: Wanted, { addresses }: SecretScene): Refused | null {
  const { name, scopes, unconfirmed, host, isGiven } = wanted;
  if (rules.hosts.length === 0) {
    const confirmed = isForChat(rules, addresses) ? scopes : scopes.filter((one) => !unconfirmed.includes(one));
    if (isGranted(confirmed, host) && allows(confirmed, secretScope(name))) return null;
    if (isGranted(scopes, host)) {
      const words = `${hostWords(name, host)} Who named the two together is no owner of the bot. An owner lets it go there by Renew in /grants, or the operator names its hosts.`;
      return refused('secret_host', name, words);
    }
  } else if (isAmong(rules.hosts, host)) return null;
  return refused(
    'secret_host',
    name,
    `${hostWords(name, host)} ${isGiven ? `The operator names its hosts in SECRET_${name}_HOSTS.` : `The operator names its hosts: cronogram secret set ${name} --operator --host ${host.slice(0, 100)}`}`,
  );
}

function hostWords(name: string, host: string): string {
  return `The secret ${name} must not be sent to ${host.slice(0, 100)}.`;
}

function refused(reason: Refused['reason'], name: string, error: string): Refused {
  return { is: 'refused', reason, name, error };
}
