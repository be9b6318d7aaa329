import { fixedMs } from '../../../domain/schedule/time/duration.ts';
import { nameFault, secretNameExample } from '../../../domain/secrets/secret.ts';
import type { SecretUse } from '../../ports/secrets.ts';
import { type AuthKind, authKindOf, authKinds, oauthGrants, oauthMethods } from './auth-form.ts';
import { headerName, refused } from './refusal.ts';
import { isContextName } from './secret-marks.ts';

/** The setting `auth`: how a call shows who makes it. It names secrets, and never holds one. */

/** The name of a secret, or the place in the context of the task where that name stands: `context.tokenRef`. */
export type SecretRef = string;

export interface OAuth2 {
  readonly kind: 'oauth2';
  readonly tokenUrl: string;
  readonly grant: (typeof oauthGrants)[number];
  readonly clientId: string;
  readonly method: (typeof oauthMethods)[number];
  /** Of the client; null where it proves itself by its certificate, or not at all. */
  readonly secret: SecretRef | null;
  readonly cert: SecretRef | null;
  readonly key: SecretRef | null;
  readonly refreshToken: SecretRef | null;
  /** Further parameters of the request for a token. */
  readonly parameters: Readonly<Record<string, string>>;
  /** So long before its end a token is renewed. */
  readonly skewMs: number;
}

export type HttpAuth =
  | { readonly kind: 'bearer'; readonly secret: SecretRef }
  | { readonly kind: 'basic'; readonly username: string; readonly secret: SecretRef }
  | { readonly kind: 'header'; readonly header: string; readonly secret: SecretRef }
  | { readonly kind: 'hmac'; readonly secret: SecretRef; readonly previous: SecretRef | null }
  | { readonly kind: 'mtls'; readonly cert: SecretRef; readonly key: SecretRef; readonly ca: SecretRef | null }
  | OAuth2;

type Given = Readonly<Record<string, unknown>>;

/** Throws `invalid_action`, which names the part, what is wrong with it and an example. */
export function authOf(auth: unknown): HttpAuth | null {
  if (auth === undefined) return null;
  if (typeof auth !== 'object' || auth === null || Array.isArray(auth)) {
    const [word = ''] = typeof auth === 'string' ? auth.split(' ', 1) : [];
    throw refused('auth', 'is an object', exampleOf(authKindOf(word)?.kind ?? 'bearer'));
  }
  const given: Given = { ...auth };
  const known = authKinds.find(({ kind }) => kind === given['kind']);
  if (known === undefined)
    throw refused('auth.kind', `is one of ${authKinds.map(({ kind }) => kind).join(', ')}`, exampleOf('bearer'));
  const names: readonly string[] = known.fields.map(({ name }) => name);
  const strange = Object.keys(given).find((name) => name !== 'kind' && !names.includes(name));
  if (strange !== undefined)
    throw refused(
      `auth.${strange.slice(0, 40)}`,
      `is not a part of ${known.kind}: these are ${names.join(', ')}`,
      exampleOf(known.kind),
    );
  return readers[known.kind](given);
}

function exampleOf(kind: AuthKind): string {
  return JSON.stringify(authKindOf(kind)?.example).replaceAll('":', '": ').replaceAll(',"', ', "');
}

const readers: Readonly<Record<AuthKind, (given: Given) => HttpAuth>> = {
  bearer: (given) => ({ kind: 'bearer', secret: named(given, 'secret', 'bearer') }),
  basic: (given) => {
    const username = written(given, 'username', 'basic');
    if (username.includes(':')) throw refused('auth.username', 'holds no colon', exampleOf('basic'));
    return { kind: 'basic', username, secret: named(given, 'secret', 'basic') };
  },
  header: (given) => ({
    kind: 'header',
    header: headerName('auth.header', written(given, 'header', 'header')),
    secret: named(given, 'secret', 'header'),
  }),
  hmac: (given) => ({
    kind: 'hmac',
    secret: named(given, 'secret', 'hmac'),
    previous: perhaps(given, 'previous'),
  }),
  mtls: (given) => ({
    kind: 'mtls',
    cert: named(given, 'cert', 'mtls'),
    key: named(given, 'key', 'mtls'),
    ca: perhaps(given, 'ca'),
  }),
  oauth2: oauthOf,
};

function named(given: Given, part: string, kind: AuthKind): SecretRef {
  const ref = perhaps(given, part);
  if (ref === null) throw refused(`auth.${part}`, 'is missing: it names a secret', exampleOf(kind));
  return ref;
}

function perhaps(given: Given, part: string): SecretRef | null {
  const ref = given[part];
  if (ref === undefined) return null;
  const text = typeof ref === 'string' ? ref.trim() : '';
  const [, place] = /^\{\{\s*(context(?:\.\w+)+)\s*\}\}$/.exec(text) ?? [];
  if (place !== undefined) return place;
  // A place is written as a template, so a bare one is a slip.
  const fault = isContextName(text) ? `is written {{ ${text} }} where the context names it` : nameFault(text);
  if (fault === null) return text;
  throw refused(
    `auth.${part}`,
    `names a secret, and never holds its value: the name ${fault}`,
    `"${secretNameExample}"`,
  );
}

const textLengthMax = 500;

function written(given: Given, part: string, kind: AuthKind): string {
  const text = given[part];
  if (typeof text !== 'string' || text.trim() === '') throw refused(`auth.${part}`, 'is missing', exampleOf(kind));
  const fault = textFault(text);
  if (fault !== null) throw refused(`auth.${part}`, fault, exampleOf(kind));
  return text.trim();
}

/** The text is sent as it stands: it is no template. */
function textFault(text: string): string | null {
  if (text.length > textLengthMax || /[\p{Cc}]/u.test(text))
    return `has at most ${textLengthMax} characters, and no line break`;
  return /\{[{%]/.test(text) ? 'is sent as it stands, and is no template' : null;
}

const skewUsualMs = 60_000;
const skewMaxMs = 3_600_000;

function oauthOf(given: Given): OAuth2 {
  const refreshToken = perhaps(given, 'refresh_token');
  const grant = choice(given, 'grant', oauthGrants, refreshToken === null ? 'client_credentials' : 'refresh_token');
  if ((grant === 'refresh_token') !== (refreshToken !== null))
    throw refused(
      'auth.refresh_token',
      'names a secret where grant is refresh_token, and stands there alone',
      '"SHOP_REFRESH_TOKEN"',
    );
  const [cert, key, secret] = [perhaps(given, 'cert'), perhaps(given, 'key'), perhaps(given, 'secret')];
  const method = choice(given, 'method', oauthMethods, cert === null ? 'post' : 'mtls');
  const bySecret = method === 'post' || method === 'basic';
  if (bySecret !== (secret !== null))
    throw refused(
      'auth.secret',
      bySecret ? 'is missing: it names the secret of the client' : `does not go with method ${method}`,
      exampleOf('oauth2'),
    );
  if ((method === 'mtls') !== (cert !== null) || (cert === null) !== (key === null))
    throw refused(
      'auth.cert',
      'and auth.key name secrets where method is mtls, and stand there alone',
      '"method": "mtls", "cert": "SHOP_CERT", "key": "SHOP_CERT_KEY"',
    );
  if (method === 'none' && grant === 'client_credentials')
    throw refused('auth.method', 'is none only beside a refresh token', exampleOf('oauth2'));
  return {
    kind: 'oauth2',
    tokenUrl: tokenUrlOf(given),
    grant,
    clientId: written(given, 'client_id', 'oauth2'),
    method,
    secret,
    cert,
    key,
    refreshToken,
    parameters: parametersOf(given),
    skewMs: skewOf(given['skew']),
  };
}

function choice<T extends string>(given: Given, part: string, of: readonly T[], usual: T): T {
  const value = given[part];
  if (value === undefined) return usual;
  const found = of.find((one) => one === value);
  if (found !== undefined) return found;
  throw refused(`auth.${part}`, `is one of ${of.join(', ')}`, `"${usual}"`);
}

/** It is no template: what proves the client goes to a place that stood there when the task was made. */
function tokenUrlOf(given: Given): string {
  const url = written(given, 'token_url', 'oauth2');
  const isPlain = URL.canParse(url) && /^https?:\/\/[^{}@]+$/i.test(url) && new URL(url).hash === '';
  if (isPlain) return url;
  throw refused(
    'auth.token_url',
    'is an address that begins with https:// or http://, without a template in it',
    exampleOf('oauth2'),
  );
}

const parametersMax = 20;
/** Set by the request itself. */
const ours = /^(?:grant_type|client_id|client_secret|refresh_token|client_assertion(?:_type)?)$/;
const parametersExample = '"parameters": {"resource": "https://api.example.com"}';

function parametersOf(given: Given): OAuth2['parameters'] {
  const { parameters: own = {} } = given;
  if (typeof own !== 'object' || own === null || Array.isArray(own))
    throw refused('auth.parameters', 'is an object of names and texts', parametersExample);
  const named = ['scope', 'audience'].flatMap((part) =>
    given[part] === undefined ? [] : [[part, given[part], part] as const],
  );
  const further = Object.entries(own).map(([name, value]) => [name, value as unknown, `parameters.${name}`] as const);
  const all = [...further, ...named];
  if (all.length > parametersMax)
    throw refused('auth.parameters', `has at most ${parametersMax} names`, parametersExample);
  return Object.fromEntries(
    all.map(([name, value, part]) => {
      const where = `auth.${part.slice(0, 60)}`;
      const example = part === name ? '"scope": "prices.read"' : parametersExample;
      if (ours.test(name)) throw refused(where, 'is set for every request', parametersExample);
      if (typeof value !== 'string' || value.trim() === '') throw refused(where, 'is a text', example);
      const fault = textFault(value);
      if (fault !== null) throw refused(where, fault, example);
      return [name, value.trim()];
    }),
  );
}

function skewOf(skew: unknown): number {
  if (skew === undefined) return skewUsualMs;
  const ms = typeof skew === 'string' ? fixedMs(skew) : null;
  if (ms !== null && ms <= skewMaxMs) return ms;
  throw refused('auth.skew', 'is a duration of at most an hour', '"PT1M"');
}

/** The names that it refers to, in the order in which it names them. */
export function secretsOfAuth(auth: HttpAuth | null): readonly SecretRef[] {
  return usesOfAuth(auth).map(([ref]) => ref);
}

/** The secrets of `auth`, each with what is done with it. */
export function usesOfAuth(auth: HttpAuth | null): readonly (readonly [ref: SecretRef, use: SecretUse])[] {
  if (auth === null) return [];
  const {
    secret = null,
    previous = null,
    cert = null,
    key = null,
    ca = null,
    refreshToken = null,
  } = auth as Partial<Record<'secret' | 'previous' | 'cert' | 'key' | 'ca' | 'refreshToken', SecretRef | null>>;
  const use = auth.kind === 'hmac' ? 'sign' : 'send';
  const all = [
    [secret, use],
    [previous, use],
    [cert, 'prove'],
    [key, 'prove'],
    [ca, 'prove'],
    [refreshToken, use],
  ] as const;
  return all.flatMap(([ref, how]) => (ref === null ? [] : [[ref, how] as const]));
}

/** Headers that it sets, which nobody sets beside it. */
export function headersOfAuth(auth: HttpAuth | null): readonly string[] {
  if (auth === null) return [];
  return ['authorization', ...(auth.kind === 'header' ? [auth.header] : [])];
}
