import type { HostEnd, HostRules, HostVerdict } from '../../domain/outbound/hosts.ts';

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

/** Places at hosts that several processes share. Where a process is alone they are in its memory. */
export interface PlaceAsked {
  readonly is: 'asked';
  readonly host: string;
  /** Whose turn it is: its task, or the run where it has none. */
  readonly turn: string;
  readonly rules: HostRules;
}

/** An attempt at a host that was known only now. */
export interface Entering extends Omit<PlaceAsked, 'is'> {
  readonly runId: string;
  readonly fence: number;
  readonly bootId: string;
  /** It waits no more where it has to wait: it gives up. */
  readonly isLast: boolean;
}

export interface PlaceLeft {
  readonly host: string;
  readonly runId: string;
  readonly fence: number;
  readonly end: HostEnd;
  /** For how long it asked to be left alone. */
  readonly heldUntil: number;
}

export interface HostStore {
  /** Takes a place for an attempt that has begun; one that is held has its turn among those that wait. */
  enterHost(entering: Entering, now: number): Promise<HostVerdict>;
  /**
   * Writes the ends of calls, each once and none of an attempt that was given up, and gives turns to those that wait, at other hosts
   * as well. Answers how many were woken, and when turns are to be given again at hosts where somebody waits for that.
   */
  leaveHosts(
    left: readonly PlaceLeft[],
    others: readonly string[],
    at: { readonly now: number; readonly rules: HostRules },
  ): Promise<TurnsGiven>;
  /** Runs that wait for something outside may begin now. */
  wakeRuns(runIds: readonly string[], now: number): Promise<void>;
  /** Hosts at which a process that is gone has left places. */
  hostsLeft(): Promise<readonly string[]>;
}

export interface TurnsGiven {
  readonly woken: number;
  readonly next: readonly { readonly host: string; readonly at: number }[];
}
