import { allows, hostScope } from '../../../domain/grant.ts';
import type { Signatures } from '../../ports/credentials.ts';
import type { Identity } from '../../ports/outbound.ts';
import type { Clock } from '../../ports/outside.ts';
import type { Revealed, RunSecrets } from '../../ports/secrets.ts';
import type { Job, Outcome } from '../action.ts';
import { secretsOfAuth, type HttpAuth, type OAuth2, type SecretRef } from './auth.ts';
import type { Hosts } from './hosts/hosts.ts';
import { headerValue } from './refusal.ts';
import { namesIn, revealedIn, type Call } from './secret-marks.ts';
import type { AccessTokens, Obtained, Spent } from './tokens.ts';

/** The proof of who calls: secrets in the place of their marks, and what the setting `auth` adds. */

export interface ProofDeps {
  readonly secrets: Pick<RunSecrets, 'reveal'>;
  readonly signatures: Signatures;
  readonly tokens: AccessTokens;
  readonly hosts: Hosts;
  readonly clock: Clock;
}

/** A rendered call, with marks in the place of secrets. */
export interface Unproven {
  readonly call: Call;
  readonly marks: ReadonlyMap<string, string>;
  /** The names of the secrets that `auth` refers to. */
  readonly names: ReadonlyMap<SecretRef, string>;
}

export interface Proving extends Unproven {
  readonly auth: HttpAuth | null;
  readonly job: Job;
  readonly host: string;
  readonly narrowedTo: readonly string[] | null;
  /** A token that the target did not take. */
  readonly rejected: string | null;
}

export interface Proven {
  readonly is: 'proven';
  readonly call: Call;
  readonly identity: Identity | null;
  /** Values that nobody is shown: secrets, and what was made of them. */
  readonly hidden: readonly string[];
  /** The access token, where there is one. */
  readonly token: string | null;
  readonly spent: Spent;
}

export type Unable = {
  readonly is: 'unable';
  readonly outcome: Outcome;
  readonly hidden: readonly string[];
  readonly spent: Spent;
};

const nothingSpent: Spent = { requests: 0, bytes: 0 };

export async function proven(deps: ProofDeps, proving: Proving): Promise<Proven | Unable> {
  const { auth, call, marks, names, job, host } = proving;
  const nameOf = (ref: SecretRef) => names.get(ref) ?? ref;
  const ofAuth = auth === null || auth.kind === 'oauth2' ? [] : secretsOfAuth(auth).map(nameOf);
  const wanted = [...new Set([...namesIn(call, marks), ...ofAuth])];
  const revealed = await reveal(deps, job, { names: wanted, host });
  if (revealed.is === 'refused') return unable({ is: 'skip', reason: revealed.reason, error: revealed.error });
  const values = new Map([...revealed.values].map(([name, { value }]) => [name, value]));
  const filled = revealedIn(call, marks, values);
  const hidden = [...values.values()];
  if (auth?.kind !== 'oauth2') {
    const shown = auth === null ? {} : shownBy(deps, auth, filled, (ref) => values.get(nameOf(ref)) ?? '');
    return ready(filled, hidden, shown);
  }
  const obtained = await token(deps, proving, { auth, nameOf });
  const { spent } = obtained;
  const all = [...hidden, ...obtained.hidden];
  if (obtained.is === 'none') return { is: 'unable', outcome: obtained.outcome, hidden: all, spent };
  const bearer = { headers: { authorization: `Bearer ${obtained.token}` } };
  return { ...ready(filled, all, bearer), token: obtained.token, spent };
}

interface Shown {
  readonly headers?: Readonly<Record<string, string>>;
  readonly identity?: Identity;
  /** Made of a secret, and as good as it. */
  readonly made?: readonly string[];
}

function ready(call: Call, hidden: readonly string[], { headers = {}, identity, made = [] }: Shown): Proven {
  return {
    is: 'proven',
    call: { ...call, headers: { ...call.headers, ...headers } },
    identity: identity ?? null,
    hidden: [...hidden, ...made],
    token: null,
    spent: nothingSpent,
  };
}

function unable(outcome: Outcome): Unable {
  return { is: 'unable', outcome, hidden: [], spent: nothingSpent };
}

function shownBy(
  { signatures, clock }: Pick<ProofDeps, 'signatures' | 'clock'>,
  auth: Exclude<HttpAuth, OAuth2>,
  call: Call,
  valueOf: (ref: SecretRef) => string,
): Shown {
  switch (auth.kind) {
    case 'bearer':
      return { headers: { authorization: `Bearer ${asHeader(auth.secret, valueOf)}` } };
    case 'basic': {
      const pair = Buffer.from(`${auth.username}:${valueOf(auth.secret)}`).toString('base64');
      return { headers: { authorization: `Basic ${pair}` }, made: [pair] };
    }
    case 'header':
      return { headers: { [auth.header]: asHeader(auth.secret, valueOf) } };
    case 'hmac': {
      const secrets = [auth.secret, ...(auth.previous === null ? [] : [auth.previous])].map(valueOf);
      const signature = signatures.sign(call.body ?? '', secrets, clock.now());
      return {
        headers: { 'x-schedule-signature': signature },
        made: [signature, ...(signature.match(/[\da-f]{64}/g) ?? [])],
      };
    }
    case 'mtls': {
      const ca = auth.ca === null ? null : valueOf(auth.ca);
      return { identity: { cert: valueOf(auth.cert), key: valueOf(auth.key), ca } };
    }
  }
}

function asHeader(ref: SecretRef, valueOf: (ref: SecretRef) => string): string {
  return headerValue('auth', valueOf(ref), `cannot send ${ref}: in its value there is a sign that no header holds`);
}

interface Asked {
  readonly names: readonly string[];
  readonly host: string;
}

async function reveal({ secrets }: Pick<ProofDeps, 'secrets'>, job: Job, { names, host }: Asked): Promise<Revealed> {
  if (names.length === 0) return { is: 'revealed', values: new Map() };
  const { chatId, ownerId, scopes, unconfirmed } = job;
  return secrets.reveal({ names, chatId, ownerId, scopes, unconfirmed, host });
}

/** What the secrets of the client bring goes to the target as well, so they must be allowed to go to both. */
async function token(
  deps: ProofDeps,
  { job, host, names, narrowedTo, rejected }: Proving,
  { auth, nameOf }: { readonly auth: OAuth2; readonly nameOf: (ref: SecretRef) => string },
): Promise<Obtained> {
  const { host: server } = new URL(auth.tokenUrl);
  if (!allows(job.scopes, hostScope(server))) {
    const error = `the grant of this task does not name ${hostScope(server)}`;
    return { is: 'none', outcome: { is: 'skip', reason: 'grant_scope', error }, hidden: [], spent: nothingSpent };
  }
  const wanted = secretsOfAuth(auth).map((ref) => names.get(ref) ?? ref);
  const revealFor = (at: string) => reveal(deps, job, { names: wanted, host: at });
  return deps.tokens.obtain({
    auth,
    nameOf,
    chatId: job.chatId,
    reveal: async () => {
      const here = await revealFor(server);
      if (here.is === 'refused' || server === host) return here;
      const there = await revealFor(host);
      return there.is === 'refused' ? there : here;
    },
    rejected,
    narrowedTo,
    // A run holds one place at its target already, and asks there for nothing more.
    enter: async () => (server === host ? null : deps.hosts.enter(server, job, job.signal)),
    signal: job.signal,
  });
}
