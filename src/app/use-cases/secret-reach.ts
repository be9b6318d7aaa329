import { type Actor, apiPrincipal } from '../../domain/access.ts';
import { AppError } from '../../domain/errors.ts';
import { coversAll, secretScope } from '../../domain/grant.ts';
import { type OperatorSecret, mayUse } from '../../domain/secrets/secret.ts';
import type { Thread } from '../../domain/thread.ts';
import type { SecretStore } from '../ports/secrets.ts';
import type { TaskChange, TaskScene, TaskStore } from '../ports/tasks.ts';

/**
 * A secret of the operator without hosts of its own goes where the grant of a task says. Whoever may not use it must not give that
 * secret another host, in the task of somebody who may use it neither. The scopes decide, because a run is let by them alone:
 * so it does not matter in how many steps, or by which template, the secret and the host would come together.
 */
export interface Reach {
  /** The change as it is, where it may be made. */
  heed<T extends TaskChange>(scene: TaskScene, change: T): T;
  /** The same for a task that is new, or an action without a task. */
  heedNew(ownerId: Actor | null, scopes: readonly string[]): void;
}

/** Of a task, or of the thread in which there is to be one. */
type Place = { readonly taskId: string } | Pick<Thread, 'provider' | 'address'>;

export type SecretReach = (by: Actor, place: Place) => Promise<Reach>;

interface ReachDeps {
  readonly store: Pick<SecretStore, 'secretsOf' | 'secretScene' | 'secretChat'> & Pick<TaskStore, 'readTask'>;
  /** Of the environment. */
  readonly operator: readonly OperatorSecret[];
}

const everywhere: Reach = { heed: (_scene, change) => change, heedNew: () => {} };

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
  return async (by, place) => {
    const secrets = by === apiPrincipal ? [] : await roaming();
    if (secrets.length === 0) return everywhere;
    const names = secrets.map(({ name }) => name);
    const scene = await store.secretScene({ names, chatId: await chatOf(place), ownerId: by });
    const barred = secrets.filter((one) => !mayUse(one, { ownerId: by, ...scene })).map(({ name }) => name);
    return barred.length === 0 ? everywhere : reachOf(by, barred);
  };
}

function reachOf(by: Actor, barred: readonly string[]): Reach {
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
      const { scopes, ownerId } =
        change.grant?.is === 'given' ? change.grant : { scopes: change.scopes, ownerId: scene.task.ownerId };
      if (scopes !== null) check(ownerId, scene.grant?.scopes ?? [], scopes);
      return change;
    },
    heedNew: (ownerId, scopes) => check(ownerId, [], scopes),
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
