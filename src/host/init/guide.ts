import type { HostPorts } from '../ports.ts';

export interface InitWish {
  readonly token: string | null;
  /** A file, or `-` for what comes in. */
  readonly tokenFile: string | null;
  readonly owners: readonly string[];
  readonly zone: string | null;
  readonly apiRoot: string | null;
  readonly isSandbox: boolean;
  /** Takes what is proposed instead of asking. */
  readonly isAgreed: boolean;
  readonly isForced: boolean;
}

/** What the steps have in common. `isGuided` when somebody is there to answer. */
export interface Guide {
  readonly ports: HostPorts;
  readonly isGuided: boolean;
  readonly apiRoot: string;
  readonly envText: string;
}
