import type { Actor } from '../../domain/access.ts';
import type { Thread } from '../../domain/thread.ts';

/** A value that only the server can open. */
export interface Sealed {
  /** The key that sealed it. */
  readonly keyId: string;
  /** Nonce, ciphertext and tag of AES-256-GCM, in base64. */
  readonly box: string;
}

/** Seals what must not be read in a stolen database. Both throw `secrets_unavailable` while the right key is not there. */
export interface Vault {
  /** The box opens under the id of its row alone, so that no box can be moved to another row. */
  seal(rowId: string, plain: string): Sealed;
  open(rowId: string, sealed: Sealed): string;
}

/** The keys of the vault: the first one seals, the others open what it has not sealed anew yet. */
export interface KeyRing extends Vault {
  /** Ids of the keys that are there, that of the first one first; none before the first need. */
  ids(): readonly string[];
  /** Says that nothing is sealed anywhere, so that a first key may be made where there is none. */
  allowFirst(): void;
  /** Puts a new key in front, unless one was put there already and others wait to be forgotten. */
  renew(): void;
  /** Forgets all keys but the first one. */
  forgetOthers(): void;
}

export interface RevealAsked {
  readonly names: readonly string[];
  /** Our own id of the chat in which the run acts; null for one that stands alone. */
  readonly chatId: string | null;
  readonly ownerId: Actor;
  /** Of the grant, as they stood when the attempt began; `unconfirmed` are those of them by which no secret without hosts goes. */
  readonly scopes: readonly string[];
  readonly unconfirmed: readonly string[];
  /** Where the values are to go, as `host` of a URL writes it: `api.example.com`, `nas.example.com:8443`, `[::1]:8080`. */
  readonly host: string;
}

export type Revealed =
  | {
      readonly is: 'revealed';
      readonly values: ReadonlyMap<string, { readonly value: string; readonly version: number }>;
    }
  | {
      readonly is: 'refused';
      readonly reason: 'grant_scope' | 'secret_missing' | 'secret_host';
      readonly name: string;
      /** A sentence for people, without any value. */
      readonly error: string;
    };

/**
 * Secrets of a run. A chat's secret wins over the operator's of the same name. Nothing is kept in memory: a secret that was
 * changed is the new one for the next call. Throws `secrets_unavailable` where the key is lost: that may pass, and is no refusal.
 */
export interface RunSecrets {
  /** Values by name, for a run that acts in this chat for this owner, to be sent to this host. */
  reveal(asked: RevealAsked): Promise<Revealed>;
  /**
   * Puts a rotated value in the place of the one that was revealed with this version; false where somebody was faster, or
   * where the secret stands in the environment, which only the operator changes.
   */
  replace(asked: {
    readonly name: string;
    readonly chatId: string | null;
    readonly version: number;
    readonly value: string;
  }): Promise<boolean>;
}

/** A secret without its value. */
export interface Secret {
  readonly id: string;
  readonly name: string;
  /** Counts up with its values; no other secret has the same. */
  readonly version: number;
  readonly hosts: readonly string[];
  /** Of one of the operator: addresses of the chats whose tasks may use it. */
  readonly chats: readonly string[];
  readonly setBy: Actor;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly lastUsedAt: number | null;
}

export interface SealedSecret extends Secret {
  /** Null for one of the operator. */
  readonly chatId: string | null;
  readonly sealed: Sealed;
}

/** The chat of a thread, or the operator. */
export type SecretPlace = Pick<Thread, 'provider' | 'address'> | null;

export interface PutSecret {
  readonly place: SecretPlace;
  readonly newChatId: string;
  readonly name: string;
  /** Of the row under whose id it was sealed: the one that is there, or a new one. */
  readonly id: string;
  readonly sealed: Sealed;
  /** Absent where they stay as they are. */
  readonly hosts?: readonly string[] | undefined;
  readonly chats?: readonly string[] | undefined;
  readonly by: Actor;
  readonly at: number;
  readonly traceId?: string | null | undefined;
}

export interface SecretUser {
  readonly taskId: string;
  readonly number: number;
  readonly title: string;
  readonly scopes: readonly string[];
}

/** The facts that decide about the secrets of a run. */
export interface SecretScene {
  readonly secrets: readonly SealedSecret[];
  readonly isOwner: boolean;
  readonly addresses: readonly string[];
}

export interface SecretStore {
  /** By their names. */
  secretsOf(place: SecretPlace): Promise<readonly Secret[]>;
  /** Tasks of the chat that go on, with the scopes of their grants. */
  secretUsers(place: SecretPlace): Promise<readonly SecretUser[]>;
  /** The chat of a thread, and who let it in; null where there is none yet. */
  secretChat(
    thread: NonNullable<SecretPlace>,
  ): Promise<{ readonly chatId: string; readonly approvedBy: Actor | null } | null>;
  /** Those of these names that the chat and the operator have. */
  secretScene(asked: Pick<RevealAsked, 'names' | 'chatId' | 'ownerId'>): Promise<SecretScene>;
  /** `other` where the name belongs to a row with another id by now, under which it must be sealed anew. */
  putSecret(
    put: PutSecret,
  ): Promise<{ readonly is: 'put'; readonly secret: Secret } | { readonly is: 'other'; readonly id: string }>;
  /** False where there was none. */
  deleteSecret(asked: Omit<PutSecret, 'id' | 'sealed' | 'hosts' | 'chats' | 'newChatId'>): Promise<boolean>;
  /** False where it has another version by now. */
  replaceSecret(asked: {
    readonly id: string;
    readonly version: number;
    readonly sealed: Sealed;
    readonly at: number;
  }): Promise<boolean>;
  useSecrets(ids: readonly string[], at: number): Promise<void>;
  /** Under which keys something is sealed, and how much. */
  sealedKeys(): Promise<readonly { readonly keyId: string; readonly count: number }[]>;
  /** Some of what another key than this one has sealed, behind an id. */
  sealedByOthers(asked: {
    readonly keyId: string;
    readonly after: string;
    readonly limit: number;
  }): Promise<readonly { readonly id: string; readonly sealed: Sealed }[]>;
  /** Puts boxes in the place of others, unless those were replaced meanwhile. */
  sealAnew(boxes: readonly { readonly id: string; readonly old: string; readonly sealed: Sealed }[]): Promise<void>;
}

/** A secret that an action uses, as far as its settings tell. */
export interface SecretSent {
  /** Or the place of the context that names it, such as `{{ context.tokenRef }}`. */
  readonly name: string;
  readonly host: string;
  readonly use: SecretUse;
}

/** A secret that signs, or proves who shows a certificate, is used here and not sent. */
export type SecretUse = 'send' | 'sign' | 'prove';
