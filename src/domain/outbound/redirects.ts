/** A request as it leaves for one address. */
export interface Hop {
  readonly method: string;
  readonly url: URL;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | null;
  /** Whether a text holds a secret, which goes to no other origin; absent where the request holds none. */
  readonly holdsSecret?: ((text: string) => boolean) | undefined;
}

export const redirectsMax = 5;

const statuses: readonly number[] = [301, 302, 303, 307, 308];

/** The facts of a body, which go with it. */
const ofBody = [
  'content-type',
  'content-length',
  'content-encoding',
  'content-language',
  'content-location',
  'x-schedule-signature',
];
/** All that another origin is told. Anything else may be a credential, or means something to the first one alone. */
const forAnybody = ['accept', 'accept-encoding', 'accept-language', 'content-type', 'content-language', 'user-agent'];
/**
 * Where the request is repeated there, its key goes along: it is no credential, and by it alone a target knows what it has had already.
 * A GET that takes the place of a POST is another request, and may come as often as it likes.
 */
const forRepeated = [...forAnybody, 'idempotency-key'];

type Followed = { readonly to: Hop } | { readonly fault: string } | null;

/** The request that a redirect asks for; null when the answer is none. Where it leads is judged like any other target. */
export function followed(hop: Hop, status: number, location: string | undefined): Followed {
  if (!statuses.includes(status) || location === undefined || location === '') return null;
  if (!URL.canParse(location, hop.url.href)) return { fault: 'It redirects to an address that cannot be read.' };
  const url = new URL(location, hop.url);
  if (url.protocol !== hop.url.protocol)
    return {
      fault: `It redirects from ${scheme(hop.url)} to ${scheme(url)}: write the address that it names instead.`,
    };
  const isPlain = hop.method === 'GET' || hop.method === 'HEAD';
  const becomesGet = status === 303 ? !isPlain : hop.method === 'POST' && status <= 302;
  const kept = becomesGet ? without(hop.headers, ofBody) : hop.headers;
  const next = { ...hop, url, method: becomesGet ? 'GET' : hop.method, body: becomesGet ? null : hop.body };
  if (url.origin === hop.url.origin) return { to: { ...next, headers: kept } };
  return elsewhere({ ...next, headers: only(kept, isPlain || becomesGet ? forAnybody : forRepeated) });
}

/** Another origin is told no secret. */
function elsewhere(hop: Hop): Followed {
  const { url, body, headers } = hop;
  const holdsSecret = hop.holdsSecret ?? (() => false);
  if (holdsSecret(url.href)) return { fault: 'It redirects to another host with a secret in the address.' };
  if (holdsSecret(textOf(body)))
    return { fault: `It redirects to ${url.host}, and a body that holds a secret does not go there.` };
  const told = Object.entries(headers).filter(([, value]) => !holdsSecret(value));
  return { to: { ...hop, headers: Object.fromEntries(told) } };
}

function textOf(body: Hop['body']): string {
  return body instanceof Uint8Array ? new TextDecoder().decode(body) : (body ?? '');
}

const scheme = ({ protocol }: URL) => protocol.replace(':', '').slice(0, 20);

type Headers = Hop['headers'];

function without(headers: Headers, names: readonly string[]): Headers {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name)));
}

function only(headers: Headers, names: readonly string[]): Headers {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => names.includes(name)));
}
