import { type Actor, apiPrincipal } from '../../domain/access.ts';
import { AppError } from '../../domain/errors.ts';
import { coversAll, secretScope, type Grant, unconfirmedIn } from '../../domain/grant.ts';
import { type OperatorSecret, mayUse } from '../../domain/secrets/secret.ts';
import type { Thread } from '../../domain/thread.ts';
import type { ChatStore } from '../ports/chats.ts';
import type { SecretStore } from '../ports/secrets.ts';
import type { TaskChange, TaskScene, TaskStore } from '../ports/tasks.ts';

/**
 * A secret of the operator without hosts of its own goes where the grant of a task says. Whoever may not use it must not give that
 * secret another host, in the task of somebody who may use it neither. The scopes decide, because a run is let by them alone:
 * so it does not matter in how many steps, or by which template, the secret and the host would come together. Of a secret that is not
 * there yet nobody can be refused; so what they have named stays unconfirmed, and a run sends no such secret by it.
 */
export interface Reach {
  /** The change as it is, where it may be made, with what stays unconfirmed. */
  heed<T extends TaskChange>(scene: TaskScene, change: T): T;
  /** Heeds a task that is new, or an action without a task, and answers what is unconfirmed. */
  heedNew(ownerId: Actor | null, scopes: readonly string[]): readonly string[];
}

/** Of a task, or of the thread in which there is to be one. */
type Place = { readonly taskId: string } | Pick<Thread, 'provider' | 'address'>;

export type SecretReach = (by: Actor, place: Place) => Promise<Reach>;

interface ReachDeps {
  readonly store: Pick<SecretStore, 'secretsOf' | 'secretScene' | 'secretChat'> &
    Pick<TaskStore, 'readTask'> &
    Pick<ChatStore, 'readUser'>;
  /** Of the environment. */
  readonly operator: readonly OperatorSecret[];
}

export function createSecretReach({ store, operator }: ReachDeps): SecretReach {
  const roaming = async () => {
    const given = new Set(operator.map(({ name }) => name));
    const stored = (await store.secretsOf(null)).filter(({ name }) => !given.has(name));
    return [...operator, ...stored].filter(({ hosts }) => hosts.length === 0);
  };
  const chatOf = async (place: Place) => {
    const found = 'taskId' in place ? await store.readTask(place.taskId) : await store.secretChat(place);
    return found?.chatId ?? null;
  };
  const barredFor = async (by: Actor, place: Place) => {
    const secrets = await roaming();
    if (secrets.length === 0) return [];
    const names = secrets.map(({ name }) => name);
    const scene = await store.secretScene({ names, chatId: await chatOf(place), ownerId: by });
    return secrets.filter((one) => !mayUse(one, { ownerId: by, ...scene })).map(({ name }) => name);
  };
  return async (by, place) => {
    // Owners of the bot may use all secrets of the operator.
    const vouches = by === apiPrincipal || (await store.readUser(by))?.role === 'owner';
    return reachOf(by, { vouches, barred: vouches ? [] : await barredFor(by, place) });
  };
}

function reachOf(
  by: Actor,
  { vouches, barred }: { readonly vouches: boolean; readonly barred: readonly string[] },
): Reach {
  const check = (ownerId: Actor | null, before: readonly string[], after: readonly string[]) => {
    // In a task of their own the secret stays closed to them, wherever it would go.
    if (ownerId === by) return;
    for (const name of barred) {
      const scope = secretScope(name);
      const host = coversAll(after, scope) ? newHost(coversAll(before, scope) ? before : [], after) : undefined;
      if (host !== undefined) throw refusal(name, host);
    }
  };
  return {
    heed: (scene, change) => {
      const given = change.grant?.is === 'given' ? change.grant : null;
      const ownerId = given?.ownerId ?? scene.task.ownerId;
      const confirmed = <Given extends Pick<Grant, 'scopes' | 'unconfirmed'>>(wanted: Given): Given => {
        check(ownerId, scene.grant?.scopes ?? [], wanted.scopes);
        const how = { vouches: vouches || ownerId === by, isFresh: given !== null };
        return { ...wanted, unconfirmed: unconfirmedIn(scene.grant, wanted.scopes, how) };
      };
      return {
        ...change,
        scopes: change.scopes === null ? null : confirmed(change.scopes),
        grant: given === null ? change.grant : confirmed(given),
      };
    },
    heedNew: (ownerId, scopes) => {
      check(ownerId, [], scopes);
      return unconfirmedIn(null, scopes, { vouches: vouches || ownerId === by, isFresh: true });
    },
  };
}

/** Only a host by its whole name takes such a secret along; `host:*` does not. */
function newHost(before: readonly string[], after: readonly string[]): string | undefined {
  const [reached, wanted] = [before, after].map((scopes) => scopes.filter((scope) => /^host:.*[^*]$/.test(scope)));
  return wanted?.find((scope) => !coversAll(reached ?? [], scope));
}

function refusal(name: string, scope: string): AppError {
  const host = scope.slice('host:'.length).slice(0, 100);
  return new AppError(
    'forbidden',
    `The secret ${name} belongs to the operator, and only an owner of the bot can let it go to ${host}. Ask an owner to make this change, or have the operator name its hosts in SECRET_${name}_HOSTS.`,
    { details: { reason: 'secret_host', secret: name } },
  );
}
