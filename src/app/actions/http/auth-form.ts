import type { ActionField, FieldVariant } from '../form.ts';

/**
 * The kinds of the setting `auth` as data: OpenAPI, the help of chat and command line, the words of `/edit` and the refusals follow from
 * them. `auth.ts` reads each.
 */

const secret = (example: string, does = 'The name of the secret that is sent.') =>
  ({ name: 'secret', is: 'secret', isRequired: true, does, example }) as const satisfies ActionField;

export const oauthGrants = ['client_credentials', 'refresh_token'] as const;
export const oauthMethods = ['post', 'basic', 'mtls', 'none'] as const;

export const authKinds = [
  {
    kind: 'bearer',
    does: 'sends the secret as Authorization: Bearer',
    fields: [secret('SHOP_TOKEN')],
    example: { kind: 'bearer', secret: 'SHOP_TOKEN' },
  },
  {
    kind: 'basic',
    does: 'signs in with a name, and the secret as its password',
    fields: [
      { name: 'username', is: 'text', isRequired: true, does: 'Sent as it stands, without a colon.', example: 'ada' },
      secret('SHOP_PASSWORD', 'The name of the secret that is the password.'),
    ],
    example: { kind: 'basic', username: 'ada', secret: 'SHOP_PASSWORD' },
  },
  {
    kind: 'header',
    does: 'sends the secret in a header',
    fields: [
      { name: 'header', is: 'text', isRequired: true, does: 'The name of the header.', example: 'x-api-key' },
      secret('SHOP_KEY'),
    ],
    example: { kind: 'header', header: 'x-api-key', secret: 'SHOP_KEY' },
  },
  {
    kind: 'hmac',
    does: 'signs the body with the secret, which is not sent',
    fields: [
      secret('SHOP_SIGNING_KEY', 'The name of the secret with which X-Schedule-Signature is made.'),
      {
        name: 'previous',
        is: 'secret',
        does: 'The name of the former one, while it is replaced: it makes a second v1.',
        example: 'SHOP_OLD_KEY',
      },
    ],
    example: { kind: 'hmac', secret: 'SHOP_SIGNING_KEY' },
  },
  {
    kind: 'oauth2',
    does: 'gets an access token there, and sends that',
    isNamed: true,
    fields: [
      {
        name: 'token_url',
        is: 'text',
        isRequired: true,
        does: 'The address of the token server. It is no template.',
        example: 'https://login.example.com/token',
      },
      {
        name: 'client_id',
        is: 'text',
        isRequired: true,
        does: 'The client as the token server knows it.',
        example: 'shop',
      },
      {
        name: 'secret',
        is: 'secret',
        does: 'The name of the secret of the client, with method post or basic.',
        example: 'SHOP_CLIENT_SECRET',
      },
      {
        name: 'grant',
        is: 'choice',
        of: oauthGrants,
        does: 'refresh_token where one is named, else client_credentials.',
        example: 'client_credentials',
      },
      {
        name: 'refresh_token',
        is: 'secret',
        does: 'The name of the secret that is the refresh token; the next one takes its place.',
        example: 'SHOP_REFRESH_TOKEN',
      },
      {
        name: 'method',
        is: 'choice',
        of: oauthMethods,
        does: 'How the client proves itself: post without it, mtls where cert is named, none beside a refresh token.',
        example: 'post',
      },
      {
        name: 'cert',
        is: 'secret',
        does: 'The name of the secret that is the certificate of the client, with method mtls.',
        example: 'SHOP_CERT',
      },
      {
        name: 'key',
        is: 'secret',
        does: 'The name of the secret that is the key of that certificate.',
        example: 'SHOP_CERT_KEY',
      },
      { name: 'scope', is: 'text', does: 'Sent along with the request for a token.', example: 'prices.read' },
      { name: 'audience', is: 'text', does: 'Sent along too.', example: 'https://api.example.com' },
      {
        name: 'parameters',
        is: 'pairs',
        does: 'Further parameters of the request for a token.',
        example: { resource: 'https://api.example.com' },
      },
      {
        name: 'skew',
        is: 'length',
        does: 'So long before its end a token is renewed: PT1M without it, at most an hour.',
        example: 'PT1M',
      },
    ],
    example: {
      kind: 'oauth2',
      token_url: 'https://login.example.com/token',
      client_id: 'shop',
      secret: 'SHOP_CLIENT_SECRET',
    },
  },
  {
    kind: 'mtls',
    does: 'shows a client certificate in TLS',
    fields: [
      {
        name: 'cert',
        is: 'secret',
        isRequired: true,
        does: 'The name of the secret that is the certificate, as PEM.',
        example: 'SHOP_CERT',
      },
      {
        name: 'key',
        is: 'secret',
        isRequired: true,
        does: 'The name of the secret that is its key, as PEM.',
        example: 'SHOP_CERT_KEY',
      },
      {
        name: 'ca',
        is: 'secret',
        does: 'The name of the secret that is the authority of the target, in the place of those that everybody knows.',
        example: 'SHOP_CA',
      },
    ],
    example: { kind: 'mtls', cert: 'SHOP_CERT', key: 'SHOP_CERT_KEY' },
  },
] as const satisfies readonly FieldVariant[];

export type AuthKind = (typeof authKinds)[number]['kind'];

/** The kind by its name, in whatever case. */
export function authKindOf(name: unknown): FieldVariant<AuthKind> | undefined {
  return authKinds.find(({ kind }) => typeof name === 'string' && kind === name.toLowerCase());
}

/** A piece between blanks; a template and what stands in quotes may hold some. */
const pieces = /(?:\{\{[^}]*\}\}|"[^"]*"|\S)+/g;

/** `basic USER NAME`: the parts in their order, those that may be missing behind; or each as `name=value`. The rest is JSON. */
export function authWords(text: string): unknown {
  const [name = '', ...words] = text.match(pieces) ?? [];
  const known = authKindOf(name);
  if (known === undefined) return undefined;
  const named = words.map((word) => namedPart(known.fields, word));
  const parts = named.every((one) => one !== null) ? named : byPlace(known, words);
  return parts === null || words.length === 0 ? undefined : { kind: known.kind, ...Object.fromEntries(parts) };
}

type Part = readonly [name: string, value: unknown];

function namedPart(fields: readonly ActionField[], word: string): Part | null {
  const [, name = '', value = ''] = /^(\w+)=(.+)$/s.exec(word) ?? [];
  const field = fields.find((one) => one.name === name);
  if (field === undefined) return null;
  const bare = value.replace(/^"(.*)"$/s, '$1');
  return [name, field.is === 'pairs' ? pairIn(bare) : bare];
}

/** Of parameters one is written: `parameters=resource=https://api.example.com`. */
function pairIn(text: string): unknown {
  const [, name = '', value = ''] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  return name === '' ? text : { [name]: value };
}

function byPlace({ fields, isNamed }: FieldVariant, words: readonly string[]): readonly Part[] | null {
  const needed = fields.filter(({ isRequired }) => isRequired === true).length;
  if (isNamed === true || words.length < needed || words.length > fields.length) return null;
  return words.map((word, index) => [fields[index]?.name ?? '', word]);
}

/** Names of secrets may be read by everybody who may read the task. */
export function authTold(value: unknown): string | null {
  if (typeof value !== 'object' || value === null) return null;
  const { kind, ...parts } = value as Readonly<Record<string, unknown>>;
  if (typeof kind !== 'string') return null;
  const known = authKindOf(kind);
  const shown = (one: unknown) => (typeof one === 'string' ? quoted(one) : JSON.stringify(one));
  const words =
    known === undefined || known.isNamed === true
      ? Object.entries(parts).map(([name, one]) => `${name}=${shown(one)}`)
      : known.fields.flatMap(({ name }) => parts[name] ?? []).map(shown);
  return [kind, ...words].join(' ');
}

function quoted(text: string): string {
  return /\s/.test(text) && !text.startsWith('{{') ? `"${text}"` : text;
}
