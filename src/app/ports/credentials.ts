import type { OutboundRequest } from './outbound.ts';
import type { Sealed } from './secrets.ts';

/** Signatures over a body, by which the other side knows who sent it, and when. */
export interface Signatures {
  /** `t=<unix seconds>,v1=<hex>`; with two secrets a second `v1`, so that either side may change to the new one first. */
  sign(body: string, secrets: readonly string[], at: number): string;
  /** Takes any of the secrets, and compares in constant time. */
  verify(header: string, signed: Signed): 'valid' | 'malformed' | 'stale' | 'wrong';
}

export interface Signed {
  readonly body: string;
  readonly secrets: readonly string[];
  readonly now: number;
  /** How far the time of the signature may be from now, to either side. */
  readonly toleranceMs: number;
}

/** Asks a server of OAuth 2 for an access token. */
export interface TokenServer {
  ask(asked: TokenAsk): Promise<TokenEnd>;
}

export interface TokenAsk {
  readonly url: string;
  readonly clientId: string;
  readonly client: ClientProof;
  /** Null asks by the client's own right. */
  readonly refreshToken: string | null;
  /** Further parameters: scope, audience and those that the task names. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly narrowedTo: OutboundRequest['narrowedTo'];
  readonly timeoutMs: number;
}

/** The proof of the client that it is the one that it names. */
export type ClientProof =
  | { readonly is: 'post' | 'basic'; readonly secret: string }
  | { readonly is: 'mtls'; readonly identity: NonNullable<OutboundRequest['identity']> }
  | { readonly is: 'none' };

export type TokenEnd = {
  /** Bytes of the answer. */
  readonly bytes: number;
  /** One that takes the place of the token that was given; null where there is none. It counts whatever else the answer is. */
  readonly refreshToken: string | null;
} & (
  | { readonly is: 'granted'; readonly accessToken: string; readonly expiresInS: number | null }
  /** The server said no in the words of OAuth, such as `invalid_grant`. */
  | { readonly is: 'denied'; readonly code: string; readonly error: string }
  /** An answer that is none of OAuth, or none at all: nobody knows what the server did. `isFinal` when another try would end so too. */
  | {
      readonly is: 'failed';
      readonly error: string;
      readonly isFinal?: true;
      /** The server never heard of it. */
      readonly isUnsent?: true;
      readonly status: number | null;
      readonly afterMs: number | null;
    }
);

/** An access token that is kept, and the turn of whoever asks for one. Its digest names the settings for which it was given. */
export interface Credential {
  /** Null where no token is kept. */
  readonly sealed: Sealed | null;
  /** Since when an answer of the token server is missing; null when each was heard. */
  readonly askedAt: number | null;
}

export interface Turn {
  readonly digest: string;
  readonly chatId: string | null;
  readonly holder: string;
  readonly now: number;
  readonly until: number;
}

export interface CredentialStore {
  readCredential(digest: string): Promise<Credential | null>;
  /**
   * Gives one holder among all processes the turn to ask, and notes that an answer is awaited. Answers how it stood before, or until when
   * somebody else has the turn.
   */
  takeTurn(
    turn: Turn,
  ): Promise<
    { readonly is: 'taken'; readonly unheardSince: number | null } | { readonly is: 'held'; readonly until: number }
  >;
  /** Ends the turn of this holder; `isHeard` where the server gave a clear answer. */
  endTurn(turn: Pick<Turn, 'digest' | 'holder'> & { readonly isHeard: boolean }): Promise<void>;
  keepCredential(
    kept: Pick<Turn, 'digest' | 'chatId'> & { readonly sealed: Sealed; readonly expiresAt: number },
  ): Promise<void>;
  /** Forgets the token, if it is still the one in this box. */
  dropCredential(dropped: { readonly digest: string; readonly box: string }): Promise<void>;
}
