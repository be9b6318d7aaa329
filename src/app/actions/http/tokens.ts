import { errorText } from '../../../domain/errors.ts';
import { iso } from '../../../domain/schedule/time/calendar.ts';
import type { ClientProof, CredentialStore, TokenEnd, TokenServer } from '../../ports/credentials.ts';
import type { Clock, Digest, Ids, Log } from '../../ports/outside.ts';
import type { Revealed, RunSecrets, Vault } from '../../ports/secrets.ts';
import type { Outcome } from '../action.ts';
import type { OAuth2, SecretRef } from './auth.ts';
import type { Hold, Place } from './hosts/hosts.ts';

/**
 * Access tokens of OAuth 2. One is kept, sealed, until shortly before its end, for the settings and the secrets for which it was given.
 *
 * A refresh token that rotates is good once: the server answers with the next one, and only that is good from then on. So one of all
 * processes asks at a time; nothing calls off a request that is under way; the new refresh token is written in the place of the old one
 * before anything else is done with the answer; and an answer that was lost is noted, so that the old token is tried again, and a refusal
 * says what may have happened.
 */
export interface AccessTokens {
  obtain(wish: TokenWish): Promise<Obtained>;
}

export interface TokenWish {
  readonly auth: OAuth2;
  readonly nameOf: (ref: SecretRef) => string;
  readonly chatId: string | null;
  /** The secrets that it names, as they are now. */
  readonly reveal: () => Promise<Revealed>;
  /** A token that the target did not take. */
  readonly rejected: string | null;
  readonly narrowedTo: readonly string[] | null;
  /** A place at the token server; null where none is needed. */
  readonly enter: () => Promise<Place | Hold | null>;
  readonly signal: AbortSignal;
}

export interface Spent {
  readonly requests: number;
  readonly bytes: number;
}

export type Obtained = {
  /** Values that nobody is shown. */
  readonly hidden: readonly string[];
  readonly spent: Spent;
} & ({ readonly is: 'token'; readonly token: string } | { readonly is: 'none'; readonly outcome: Outcome });

export interface TokenDeps {
  readonly store: CredentialStore;
  readonly secrets: Pick<RunSecrets, 'replace'>;
  readonly vault: Pick<Vault, 'seal' | 'open'>;
  readonly server: TokenServer;
  readonly clock: Clock;
  readonly ids: Pick<Ids, 'next'>;
  readonly digest: Digest;
  readonly log: Pick<Log, 'warn'>;
}

/** A token server that takes longer is not well. */
const askMs = 10_000;
/** Longer than a request and the commit of its answer take; a process that died in between keeps others waiting for so long. */
const turnMs = 15_000;
/** Secrets that change while somebody asks make it begin anew; more often than this nobody changes them. */
const roundsMax = 4;
/** A token whose end nobody tells. */
const unsaidLifeMs = 600_000;
const lifeMaxMs = 30 * 86_400_000;

/** The facts about one wish: the secrets as they were revealed, and all that was found out on the way. */
interface Round extends TokenWish {
  readonly values: Extract<Revealed, { is: 'revealed' }>['values'];
  readonly hidden: Set<string>;
  readonly spent: { requests: number; bytes: number };
}

type Step =
  | { readonly is: 'token'; readonly token: string }
  | { readonly is: 'none'; readonly outcome: Outcome }
  | { readonly is: 'again' };

export function createAccessTokens(deps: TokenDeps): AccessTokens {
  const inTurn = createTurns();
  /** Refresh tokens that could not be written when they came, by the turn in which they did. */
  const unsaved = new Map<string, Parameters<RunSecrets['replace']>[0]>();
  return {
    obtain: async (wish) => {
      const [hidden, spent] = [new Set<string>(), { requests: 0, bytes: 0 }];
      const ended = (step: Exclude<Step, { is: 'again' }>): Obtained => ({ ...step, hidden: [...hidden], spent });
      for (let rounds = 0; rounds < roundsMax; rounds += 1) {
        const revealed = await wish.reveal();
        if (revealed.is === 'refused')
          return ended(none({ is: 'skip', reason: revealed.reason, error: revealed.error }));
        const round = { ...wish, values: revealed.values, hidden, spent };
        for (const { value } of revealed.values.values()) hidden.add(value);
        const kept = await keptToken(deps, round);
        if (kept !== null) return ended({ is: 'token', token: kept });
        const step = await inTurn(turnOf(deps, round), () => asked(deps, unsaved, round), wish.signal);
        if (step.is !== 'again') return ended(step);
      }
      return ended(
        none({ is: 'retry', isFree: true, error: 'The secrets of auth change all the time.', afterMs: 1000 }),
      );
    },
  };
}

const none = (outcome: Outcome) => ({ is: 'none', outcome }) as const;

/** Those of one process wait for each other; whoever is called off stops waiting, and what is under way goes on. */
function createTurns() {
  const last = new Map<string, Promise<unknown>>();
  return async (key: string, work: () => Promise<Step>, signal: AbortSignal): Promise<Step> => {
    const before = last.get(key) ?? Promise.resolve();
    const calledOff = { is: 'none', outcome: { is: 'retry', error: 'The attempt was called off.' } } as const;
    const mine = before.then(() => (signal.aborted ? calledOff : work()));
    const settled = mine.then(
      () => {},
      () => {},
    );
    last.set(key, settled);
    void settled.then(() => {
      if (last.get(key) === settled) last.delete(key);
    });
    return Promise.race([mine, aborted(signal).then(() => calledOff)]);
  };
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/* ---- tokens that are kept ---- */

/** The settings for which a token is given. */
function settingsDigest({ digest }: Pick<TokenDeps, 'digest'>, { auth, chatId, nameOf }: TokenWish): string {
  const { skewMs: _late, ...settings } = auth;
  const names = [auth.secret, auth.cert, auth.key, auth.refreshToken].map((ref) => (ref === null ? null : nameOf(ref)));
  return digest.of(JSON.stringify(['token', chatId, settings, names]));
}

/** Of a refresh token one asks at a time, whatever the settings are: it is good once. */
function turnOf(deps: Pick<TokenDeps, 'digest'>, round: Round): string {
  const { refreshToken } = round.auth;
  if (refreshToken === null) return settingsDigest(deps, round);
  return deps.digest.of(JSON.stringify(['refresh', valueOf(round, refreshToken)]));
}

function valueOf({ values, nameOf }: Pick<Round, 'values' | 'nameOf'>, ref: SecretRef): string {
  return values.get(nameOf(ref))?.value ?? '';
}

/** The secrets by which a token was got: with others it is not theirs. */
function valuesDigest({ digest }: Pick<TokenDeps, 'digest'>, round: Round): string {
  return digest.of(
    JSON.stringify(
      [...round.values].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([name, { value }]) => [name, value]),
    ),
  );
}

interface Kept {
  readonly token: string;
  readonly until: number;
  readonly by: string;
}

async function keptToken(deps: TokenDeps, round: Round): Promise<string | null> {
  const digest = settingsDigest(deps, round);
  const found = await deps.store.readCredential(digest);
  const sealed = found?.sealed ?? null;
  if (sealed === null) return null;
  const kept = opened(deps, digest, sealed);
  if (kept === null || kept.by !== valuesDigest(deps, round)) return null;
  round.hidden.add(kept.token);
  if (kept.token === round.rejected) {
    await deps.store.dropCredential({ digest, box: sealed.box });
    return null;
  }
  return kept.until > deps.clock.now() ? kept.token : null;
}

/** Null for one that another key has sealed, or that is broken: a token is got anew. */
function opened({ vault, log }: TokenDeps, digest: string, sealed: Parameters<Vault['open']>[1]): Kept | null {
  try {
    return JSON.parse(vault.open(digest, sealed)) as Kept;
  } catch (error) {
    log.warn('token_not_opened', { error: errorText(error) });
    return null;
  }
}

/* ---- a request for a token ---- */

type Unsaved = Map<string, Parameters<RunSecrets['replace']>[0]>;

async function asked(deps: TokenDeps, unsaved: Unsaved, before: Round): Promise<Step> {
  const place = await before.enter();
  if (place?.is === 'held') return none({ is: 'retry', isFree: true, error: place.reason, afterMs: place.afterMs });
  let end: TokenEnd | null = null;
  try {
    const digest = turnOf(deps, before);
    const [now, holder] = [deps.clock.now(), deps.ids.next()];
    const turn = await deps.store.takeTurn({ digest, chatId: before.chatId, holder, now, until: now + turnMs });
    if (turn.is === 'held')
      return none({
        is: 'retry',
        isFree: true,
        error: 'Another process asks for the token.',
        afterMs: Math.max(100, turn.until - now),
      });
    let isHeard = true;
    try {
      // Whoever had the turn before may have got a token, and a new refresh token.
      const revealed = await before.reveal();
      if (revealed.is === 'refused') return none({ is: 'skip', reason: revealed.reason, error: revealed.error });
      const round = { ...before, values: revealed.values };
      if (turnOf(deps, round) !== digest || (await keptToken(deps, round)) !== null) return { is: 'again' };
      if (await savedLate(deps, unsaved, digest)) return { is: 'again' };
      const stuck = environmentFault(round);
      if (stuck !== null) return none({ is: 'giveUp', error: stuck });
      isHeard = false;
      end = await deps.server.ask(askOf(round));
      round.spent.requests += 1;
      round.spent.bytes += end.bytes;
      isHeard = isClear(end);
      return await answered(deps, unsaved, { round, end, digest, unheardSince: turn.unheardSince });
    } finally {
      await deps.store.endTurn({ digest, holder, isHeard });
    }
  } finally {
    if (end === null) place?.leave('unsaid');
    else place?.leave(isBad(end) ? 'bad' : 'good', end.is === 'failed' ? (end.afterMs ?? 0) : 0);
  }
}

/** Whether it is known what the server did: an answer that was lost on its way may have held the next refresh token. */
function isClear(end: TokenEnd): boolean {
  return end.is !== 'failed' || end.isUnsent === true || (end.status !== null && end.status < 500);
}

function isBad(end: TokenEnd): boolean {
  return end.is === 'failed' && (end.status === null || end.status >= 500);
}

/** A refresh token that came while the database was away. */
async function savedLate({ secrets }: TokenDeps, unsaved: Unsaved, digest: string): Promise<boolean> {
  const late = unsaved.get(digest);
  if (late === undefined) return false;
  await secrets.replace(late);
  unsaved.delete(digest);
  return true;
}

/** The version of a secret of the environment, which nobody but the operator changes. */
const ofEnvironment = 0;

function environmentFault({ auth, values, nameOf }: Round): string | null {
  if (auth.refreshToken === null) return null;
  const name = nameOf(auth.refreshToken);
  if (values.get(name)?.version !== ofEnvironment) return null;
  return `The refresh token ${name} stands in the environment, where the next one cannot be written. Set it as a secret: /secrets set ${name}.`;
}

function askOf(round: Round): Parameters<TokenServer['ask']>[0] {
  const { auth, narrowedTo } = round;
  return {
    url: auth.tokenUrl,
    clientId: auth.clientId,
    client: clientOf(round),
    refreshToken: auth.refreshToken === null ? null : valueOf(round, auth.refreshToken),
    parameters: auth.parameters,
    narrowedTo,
    timeoutMs: askMs,
  };
}

function clientOf(round: Round): ClientProof {
  const { method, secret, cert, key } = round.auth;
  if (method === 'none') return { is: 'none' };
  if (method !== 'mtls') return { is: method, secret: valueOf(round, secret ?? '') };
  return { is: 'mtls', identity: { cert: valueOf(round, cert ?? ''), key: valueOf(round, key ?? ''), ca: null } };
}

/* ---- its answer ---- */

interface Answered {
  readonly round: Round;
  readonly end: TokenEnd;
  readonly digest: string;
  /** Since when an earlier answer is missing. */
  readonly unheardSince: number | null;
}

async function answered(deps: TokenDeps, unsaved: Unsaved, answer: Answered): Promise<Step> {
  const { round, end } = answer;
  if (end.refreshToken !== null) round.hidden.add(end.refreshToken);
  if (end.is === 'granted') round.hidden.add(end.accessToken);
  // Before anything else, because from now on the old one may be worth nothing.
  const rotated = await rotatedIn(deps, unsaved, answer);
  if (rotated === 'elsewhere') return { is: 'again' };
  if (rotated === 'unsaved')
    return none({ is: 'retry', error: 'The new refresh token could not be written yet; it is kept until it can.' });
  if (end.is === 'denied') return denied(answer, end);
  if (end.is === 'failed') {
    const { error, isFinal, afterMs } = end;
    if (isFinal) return none({ is: 'giveUp', error });
    return none({ is: 'retry', error, ...(afterMs === null ? {} : { afterMs }) });
  }
  if (!/^[\u0021-\u007e]+$/.test(end.accessToken))
    return none({ is: 'giveUp', error: `${hostOfToken(round)} answered a token that no header can hold.` });
  await keep(deps, round, end);
  return { is: 'token', token: end.accessToken };
}

/** Writes the next refresh token in the place of this one. `elsewhere` when somebody set another meanwhile, which counts. */
async function rotatedIn(
  { secrets, log }: TokenDeps,
  unsaved: Unsaved,
  { round, end, digest }: Answered,
): Promise<'done' | 'elsewhere' | 'unsaved'> {
  const { auth, nameOf, values, chatId } = round;
  if (auth.refreshToken === null || end.refreshToken === null) return 'done';
  const name = nameOf(auth.refreshToken);
  const before = values.get(name);
  if (before === undefined || before.value === end.refreshToken) return 'done';
  const next = { name, chatId, version: before.version, value: end.refreshToken };
  try {
    return (await secrets.replace(next)) ? 'done' : 'elsewhere';
  } catch (error) {
    unsaved.set(digest, next);
    log.warn('refresh_token_not_written', { error: errorText(error) });
    return 'unsaved';
  }
}

async function keep(deps: TokenDeps, old: Round, end: Extract<TokenEnd, { is: 'granted' }>): Promise<void> {
  const { clock, store, vault, log } = deps;
  // By the secrets as they stand now, the new refresh token among them.
  const revealed = await old.reveal();
  if (revealed.is === 'refused') return;
  const round = { ...old, values: revealed.values };
  const lifeMs = Math.min(lifeMaxMs, end.expiresInS === null ? unsaidLifeMs : end.expiresInS * 1000);
  const until = clock.now() + lifeMs - Math.min(round.auth.skewMs, lifeMs / 2);
  const digest = settingsDigest(deps, round);
  const kept: Kept = { token: end.accessToken, until, by: valuesDigest(deps, round) };
  try {
    const sealed = vault.seal(digest, JSON.stringify(kept));
    await store.keepCredential({ digest, chatId: round.chatId, sealed, expiresAt: Math.ceil(until) });
  } catch (error) {
    // It is good all the same, and the next run gets another.
    log.warn('token_not_kept', { error: errorText(error) });
  }
}

function hostOfToken({ auth }: Pick<Round, 'auth'>): string {
  return new URL(auth.tokenUrl).host;
}

function denied({ round, unheardSince }: Answered, end: Extract<TokenEnd, { is: 'denied' }>): Step {
  const { auth, nameOf } = round;
  const { code } = end;
  // Servers end their sentences, and so do we.
  const error = end.error.replace(/\.$/, '');
  const isOfRefresh = code === 'invalid_grant' && auth.refreshToken !== null;
  if (!isOfRefresh) {
    const who =
      auth.secret === null
        ? `the client ${auth.clientId}`
        : `the client ${auth.clientId} and its secret ${nameOf(auth.secret)}`;
    const advice = /^(?:invalid|unauthorized)_client$/.test(code) ? ` Check ${who}.` : '';
    return none({ is: 'giveUp', error: `${error}.${advice}` });
  }
  const name = nameOf(auth.refreshToken);
  const lost =
    unheardSince === null
      ? ''
      : ` An answer of ${hostOfToken(round)} was lost at ${iso(unheardSince)}, and the token that it held with it.`;
  return none({
    is: 'giveUp',
    error: `${error}.${lost} The refresh token ${name} is not good any more: sign in there once more, and set the new one with /secrets set ${name}. Nothing else was changed.`,
  });
}
