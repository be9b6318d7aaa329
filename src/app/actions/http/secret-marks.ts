import { namesSecrets } from '../../../domain/secrets/mentions.ts';
import { nameFault } from '../../../domain/secrets/secret.ts';
import type { OutboundRequest } from '../../ports/outbound.ts';
import type { Digest, Ids } from '../../ports/outside.ts';
import { headerValue, hostBySecret, refused } from './refusal.ts';

/**
 * Secrets in texts of a call. Whatever renders a template is given a mark in the place of each value, and the mark becomes the value here,
 * right before the call leaves: no template, no filter and no child of the pool ever sees one.
 */

/** The call as it leaves, apart from how it may be broken off. */
export type Call = Pick<OutboundRequest, 'method' | 'url' | 'headers'> & { readonly body: string | null };

const mention = /\{\{-?\s*secrets(?:\.(\w+)|\[\s*(context(?:\.\w+)+)\s*\])\s*-?\}\}/g;

/** The place of a name in the context of its task: `context.customer.tokenRef`. */
export function isContextName(ref: string): boolean {
  return ref.startsWith('context.');
}

const example = '{{ secrets.SHOP_TOKEN }}';

/** The names of secrets in a text, as `SHOP_TOKEN` or `context.tokenRef`. Throws `invalid_action` for any other use of them. */
export function secretsNamedIn(setting: string, text: string): readonly string[] {
  const found = [...text.matchAll(mention)].map(([, name, place = '']) => name ?? place);
  if (namesSecrets(text.replace(mention, '')))
    throw refused(
      setting,
      'may name a secret, and do nothing else with it: no filter, no condition, no variable takes one',
      example,
    );
  if (found.length > 0 && /\{%-?\s*capture\b/.test(text))
    throw refused(setting, 'names a secret beside a capture, which would keep it for a filter', example);
  for (const name of found) {
    const fault = isContextName(name) ? null : nameFault(name);
    if (fault !== null) throw refused(setting, `names no secret: the name of one ${fault}`, example);
  }
  return found;
}

/** The names themselves, of which some stand in the context. */
export function namesOf(refs: readonly string[], context: unknown): ReadonlyMap<string, string> {
  return new Map(
    refs.map((ref) => {
      if (!isContextName(ref)) return [ref, ref];
      const name = at(context, ref.split('.').slice(1));
      if (typeof name === 'string' && nameFault(name) === null) return [ref, name];
      throw refused('auth', `wants the name of a secret in ${ref}, where there is none`, '"SHOP_TOKEN"');
    }),
  );
}

function at(value: unknown, path: readonly string[]): unknown {
  const [name, ...rest] = path;
  if (name === undefined) return value;
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return at((value as Readonly<Record<string, unknown>>)[name], rest);
}

/** A mark for each name: nobody can guess one, so no text of others becomes a value. It survives each way in which a call is written. */
export function marksFor(
  names: Iterable<string>,
  { ids, digest }: { ids: Ids; digest: Digest },
): ReadonlyMap<string, string> {
  return new Map([...names].map((name) => [name, markOf(digest, `${ids.next()} ${ids.chance()} ${ids.chance()}`)]));
}

function markOf(digest: Digest, seed: string): string {
  const made = digest.ofBytes();
  made.add(new TextEncoder().encode(seed));
  return `secret${made.hex()}mark`;
}

/** The names whose marks stand in a call. A host that is named by one is refused: where a secret goes must be known before it is opened. */
export function namesIn({ url, headers, body }: Call, marks: ReadonlyMap<string, string>): readonly string[] {
  const host = new URL(url).host;
  const text = [url, ...Object.values(headers), body ?? ''].join('\n');
  return [...marks].flatMap(([name, mark]) => {
    if (host.includes(mark)) throw refused('url', hostBySecret, '"https://api.example.com/{{ secrets.SHOP_TOKEN }}"');
    return text.includes(mark) ? [name] : [];
  });
}

/** The call with the values, written as each of its parts writes them. */
export function revealedIn(call: Call, marks: ReadonlyMap<string, string>, values: ReadonlyMap<string, string>): Call {
  const byMark = new Map([...marks].map(([name, mark]) => [mark, { name, value: values.get(name) ?? '' }]));
  const filled = (text: string, write: (value: string, name: string) => string) =>
    text.replace(/secret[\da-f]{64}mark/g, (mark) => {
      const found = byMark.get(mark);
      return found === undefined ? mark : write(found.value, found.name);
    });
  const headers = Object.entries(call.headers).map(([name, text]) => {
    const value = filled(text, (one, secret) => inHeader(name, secret, one));
    return [name, value] as const;
  });
  return {
    ...call,
    url: filled(call.url, encodeURIComponent),
    headers: Object.fromEntries(headers),
    body: call.body === null ? null : filled(call.body, bodyWriter(call.headers['content-type'] ?? '', call.body)),
  };
}

function inHeader(header: string, secret: string, value: string): string {
  return headerValue(
    `headers.${header}`,
    value,
    `cannot hold the value of ${secret}, in which there is a sign that no header holds`,
  );
}

function bodyWriter(type: string, body: string): (value: string) => string {
  if (/^application\/x-www-form-urlencoded\b/i.test(type)) return encodeURIComponent;
  const isJson = /^(?:application|text)\/(?:[\w.+-]*\+)?json\b/i.test(type) || isJsonText(body);
  return isJson ? (value) => JSON.stringify(value).slice(1, -1) : (value) => value;
}

/** A text that is JSON whatever it is called, so that no value breaks out of its quotes. */
function isJsonText(text: string): boolean {
  if (!/^\s*[{[]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
