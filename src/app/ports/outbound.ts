/** Requests to hosts that a task names: judged by the egress rules, bounded in time and size, redirects followed by rule. */
export interface Outbound {
  call(request: OutboundRequest): Promise<OutboundEnd>;
}

/** Requests to an address that the operator set by a variable: it may lie anywhere. Where it redirects to may not. */
export interface TrustedOutbound {
  callTrusted(request: OutboundRequest, follows: boolean): Promise<OutboundEnd>;
}

export interface OutboundRequest {
  readonly method: string;
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | null;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Hosts to which a setting of the chat narrows its tasks; null where it narrows nothing. */
  readonly narrowedTo: readonly string[] | null;
  readonly bodyBytesMax: number;
  /** Whether a text holds a secret. What does goes to the origin that is named, and to no other by a redirect. */
  readonly holdsSecret?: (text: string) => boolean;
  /** Shown to the origin that is named alone; its connections are shared with no request that shows another or none. */
  readonly identity?: Identity;
  /** A redirect is brought as the answer that it is. */
  readonly staysThere?: true;
}

/** A client certificate with its key, and the authorities that the server is known by where they are not the usual ones; all as PEM. */
export interface Identity {
  readonly cert: string;
  readonly key: string;
  readonly ca: string | null;
}

export type OutboundEnd =
  | {
      readonly is: 'answered';
      readonly status: number;
      /** Names in lower case; several of one name are joined by a comma. */
      readonly headers: Readonly<Record<string, string>>;
      readonly body: Uint8Array;
      /** After redirects. */
      readonly url: string;
    }
  /** The rules do not let it through: it is not tried again. */
  | { readonly is: 'refused'; readonly error: string }
  /** Not reached, broken off, or too much. `isFinal` when another try would end in the same way (too large, no HTTP). */
  | {
      readonly is: 'failed';
      readonly type: 'TIMEOUT' | 'NETWORK';
      readonly error: string;
      readonly isFinal?: true;
      /** No byte of the request has left. */
      readonly isUnsent?: true;
    };

/** Judges a target before a task is made, by its literal alone. The reason of a refusal goes on after "the address". */
export interface Egress {
  judge(
    url: string,
    narrowedTo: readonly string[] | null,
  ): { readonly is: 'open'; readonly host: string } | { readonly is: 'refused'; readonly reason: string };
}
