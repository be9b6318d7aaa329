import type { Actor } from '../../domain/access.ts';
import { AppError, errorText, invalid, missing } from '../../domain/errors.ts';
import { allows } from '../../domain/grant.ts';
import { type OperatorSecret, secretChats, secretHosts, secretName, secretValue } from '../../domain/secrets/secret.ts';
import type { World } from '../ports/outside.ts';
import type { KeyRing, Secret, SecretPlace, SecretStore, SecretUser } from '../ports/secrets.ts';

export interface SecretsDeps extends Pick<World, 'clock' | 'ids' | 'log'> {
  readonly store: Omit<SecretStore, 'secretScene' | 'replaceSecret' | 'useSecrets'>;
  readonly vault: KeyRing;
  /** Of the environment. */
  readonly operator: readonly OperatorSecret[];
}

interface By {
  readonly by: Actor;
  readonly traceId?: string | null;
}

export interface SettingSecret extends By {
  readonly place: SecretPlace;
  readonly name: string;
  readonly value: string;
  readonly hosts?: readonly string[] | undefined;
  /** Of the operator alone: the chats whose tasks may use it, besides those of owners. */
  readonly chats?: readonly string[] | undefined;
}

/** A secret as people are shown it: everything but its value. */
export interface ShownSecret extends Pick<Secret, 'name' | 'hosts' | 'chats'> {
  readonly from: 'stored' | 'environment';
  readonly setBy: Actor | null;
  readonly updatedAt: number | null;
  readonly lastUsedAt: number | null;
  /** Tasks of the chat whose grants name it. */
  readonly usedBy: readonly Pick<SecretUser, 'taskId' | 'number' | 'title'>[];
}

/** How what is sealed stands to the keys that are there. */
export interface SealedState {
  readonly sealed: number;
  /** Sealed by a key that is not there. */
  readonly unreadable: number;
  /** Sealed by a key that another one has replaced: a rotation was begun and is not done. */
  readonly former: number;
}

export interface Rotated {
  readonly sealed: number;
  readonly unreadable: number;
  /** Still sealed by a former key. */
  readonly left: number;
  /** Where to go on; null at the end, when the former key is forgotten unless something of it is left. */
  readonly next: string | null;
}

/** Rows that are sealed anew in one step: each costs some 20 us, and nobody else is held up for long. */
const rotateBatch = 100;

/** A name can change hands between the look and the writing as often as somebody deletes it at that moment. */
const putTriesMax = 5;

/** Secrets of chats and of the operator: set, listed without values, deleted, and sealed anew under another key. */
export type Secrets = ReturnType<typeof createSecretKeeping>;

export function createSecretKeeping(deps: SecretsDeps) {
  const { store, vault, clock, ids } = deps;
  return {
    list: async (place: SecretPlace): Promise<readonly ShownSecret[]> => {
      const [stored, users] = [await store.secretsOf(place), await store.secretUsers(place)];
      const shown = stored.map((one) => ({ ...one, from: 'stored' as const, usedBy: usersOf(one.name, users) }));
      const given = place === null ? deps.operator.map(shownGiven) : [];
      const hidden = new Set(given.map(({ name }) => name));
      return [...given, ...shown.filter(({ name }) => !hidden.has(name))].toSorted((a, b) =>
        a.name < b.name ? -1 : 1,
      );
    },
    set: async ({ place, value, ...asked }: SettingSecret): Promise<ShownSecret> => {
      const name = free(deps, place, asked.name);
      const [hosts, chats] = [asked.hosts && secretHosts(asked.hosts), asked.chats && secretChats(asked.chats)];
      if (place !== null && chats !== undefined)
        throw invalid('chats', 'chats: it is for secrets of the operator. Leave it out, or leave thread_key out.');
      const text = secretValue(value);
      await allowFirst(deps);
      const { by, traceId } = asked;
      const put = { place, name, hosts, chats, by, traceId, newChatId: ids.next(), at: clock.now() };
      let id = (await store.secretsOf(place)).find((one) => one.name === name)?.id ?? ids.next();
      for (let tries = 0; tries < putTriesMax; tries += 1) {
        const answer = await store.putSecret({ ...put, id, sealed: vault.seal(id, text) });
        if (answer.is === 'put') return { ...answer.secret, from: 'stored', usedBy: [] };
        id = answer.id;
      }
      throw new AppError('request_in_progress', `${name} is being set by others right now. Try again.`);
    },
    delete: async ({ place, name, by, traceId }: By & { readonly place: SecretPlace; readonly name: string }) => {
      const known = free(deps, place, name);
      if (!(await store.deleteSecret({ place, name: known, by, traceId, at: clock.now() }))) throw missing('secret');
    },
    /** Tasks of the chat that may use it, also before it is set. */
    usersOf: async (place: SecretPlace, name: string): Promise<ShownSecret['usedBy']> =>
      usersOf(name, await store.secretUsers(place)),
    /** Lets the first key be made, where nothing is sealed yet. */
    allowFirst: () => allowFirst(deps),
    state: (): Promise<SealedState> => stateOf(deps),
    rotate: (after: string | null): Promise<Rotated> => rotate(deps, after),
  };
}

/** The name, which must not be one of the environment: that one would win, and only the operator can change it. */
function free({ operator }: SecretsDeps, place: SecretPlace, text: string): string {
  const name = secretName(text);
  if (place !== null || !operator.some((one) => one.name === name)) return name;
  throw invalid('name', `name: ${name} is set in the environment of the server. Change SECRET_${name} there.`);
}

function usersOf(name: string, users: readonly SecretUser[]): ShownSecret['usedBy'] {
  return users.filter(({ scopes }) => allows(scopes, `secret:${name}`));
}

function shownGiven({ name, hosts, chats }: OperatorSecret): ShownSecret {
  return { name, hosts, chats, from: 'environment', setBy: null, updatedAt: null, lastUsedAt: null, usedBy: [] };
}

async function allowFirst({ store, vault }: Pick<SecretsDeps, 'store' | 'vault'>): Promise<void> {
  if (vault.ids().length === 0 && (await store.sealedKeys()).length === 0) vault.allowFirst();
}

async function stateOf({ store, vault }: Pick<SecretsDeps, 'store' | 'vault'>): Promise<SealedState> {
  const [first, ...others] = vault.ids();
  const keys = await store.sealedKeys();
  const sum = (of: (keyId: string) => boolean) =>
    keys.reduce((total, { keyId, count }) => total + (of(keyId) ? count : 0), 0);
  return {
    sealed: sum(() => true),
    former: sum((id) => others.includes(id)),
    unreadable: sum((id) => id !== first && !others.includes(id)),
  };
}

/**
 * One step. The first one makes a new key, unless a rotation is under way already, whose new key stands in front; the last one
 * forgets the former key. Between any two the process may die: each row names the key that sealed it.
 */
async function rotate(deps: SecretsDeps, after: string | null): Promise<Rotated> {
  const { store, vault, log } = deps;
  await allowFirst(deps);
  if (after === null) begin(deps, await stateOf(deps));
  const [keyId = ''] = vault.ids();
  const rows = await store.sealedByOthers({ keyId, after: after ?? '', limit: rotateBatch });
  const boxes = rows.flatMap(({ id, sealed }) => {
    try {
      return [{ id, old: sealed.box, sealed: vault.seal(id, vault.open(id, sealed)) }];
    } catch (error) {
      log.warn('secret_not_sealed_anew', { secret_id: id, error: errorText(error) });
      return [];
    }
  });
  if (boxes.length > 0) await store.sealAnew(boxes);
  const { sealed, former, unreadable } = await stateOf(deps);
  const next = rows.length < rotateBatch ? null : (rows.at(-1)?.id ?? null);
  // A box that does not open keeps its key: nobody can say yet that it is lost.
  if (next === null && former === 0) {
    vault.forgetOthers();
    log.info('secrets_sealed_anew', { sealed, unreadable });
  }
  return { sealed: boxes.length, unreadable, left: former, next };
}

function begin({ vault }: SecretsDeps, { former, sealed }: SealedState): void {
  if (sealed === 0)
    throw new AppError('nothing_to_rotate', 'Nothing is sealed here yet, so there is no key to change.');
  vault.renew();
  if (former > 0 || vault.ids().length > 1) return;
  throw new AppError(
    'nothing_to_rotate',
    'The key is SECRETS_KEY. Set SECRETS_KEY_PREVIOUS to its value and SECRETS_KEY to a new one, start again, and then rotate.',
  );
}
