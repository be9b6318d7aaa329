import * as limits from '../../../domain/limits.ts';
import { fixedMs } from '../../../domain/schedule/time/duration.ts';
import { namesSecrets } from '../../../domain/secrets/mentions.ts';
import type { ActionSpec } from '../../../domain/task.ts';
import type { Egress } from '../../ports/outbound.ts';
import { isTemplate } from '../variables.ts';
import { authOf, headersOfAuth, type HttpAuth } from './auth.ts';
import { httpMethods } from './form.ts';
import { headerName, headersExample, headerValue, hostBySecret, refused } from './refusal.ts';

/** The settings of an http action, as a task keeps them and as a run reads them. */

export type Method = (typeof httpMethods)[number];

export interface HttpSettings {
  readonly method: Method;
  readonly url: string;
  /** The host, as far as it does not hang on a template; null where a run alone knows it. */
  readonly host: string | null;
  /** Added to the query of the url; a list stands for a name that is there several times. */
  readonly query: readonly (readonly [name: string, value: string])[];
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Absent where the envelope is sent. A text goes as it is, everything else as JSON. */
  readonly body?: unknown;
  readonly auth: HttpAuth | null;
  readonly timeoutMs: number | null;
  /** Null takes every status from 200 to 299. */
  readonly expects: readonly number[] | null;
  readonly select: string | null;
  readonly template: string | null;
  readonly watch: Watch | null;
}

export interface Watch {
  readonly on: 'body' | 'value';
  readonly first: 'silent' | 'send';
}

const known = [
  'kind',
  'method',
  'url',
  'query',
  'headers',
  'body',
  'auth',
  'timeout',
  'expect_status',
  'select',
  'template',
  'watch',
];

/** Lengths that servers and proxies take; longer ones are meant to be a body. */
const urlLengthMax = 4096;
const namesMax = 50;
const valueLengthMax = 4096;
const expectsMax = 50;
const selectLengthMax = 4096;
/** Less than a connection takes, and nothing would ever succeed. */
const timeoutMinMs = 100;

/** Each spec is asked about several times on the way of a run, and never changes. */
const settingsRead = new WeakMap<ActionSpec, HttpSettings>();

/** Throws `invalid_action`, which names the field, what is wrong with it and an example. */
export function readSettings(spec: ActionSpec): HttpSettings {
  const known = settingsRead.get(spec);
  if (known !== undefined) return known;
  const settings = settingsOf(spec);
  settingsRead.set(spec, settings);
  return settings;
}

function settingsOf(spec: ActionSpec): HttpSettings {
  refuseStrange(spec);
  const hasBody = spec['body'] !== undefined;
  const method = methodOf(spec['method'], hasBody);
  const auth = authOf(spec['auth']);
  const url = urlOf(spec['url']);
  return {
    method,
    url,
    host: hostIn(url),
    query: queryOf(spec['query']),
    headers: headersOf(spec['headers'], headersOfAuth(auth)),
    auth,
    ...(hasBody ? { body: spec['body'] } : {}),
    timeoutMs: timeoutOf(spec['timeout']),
    expects: expectsOf(spec['expect_status']),
    select: textOf('select', spec['select'], { max: selectLengthMax, example: 'items[0].price' }),
    template: textOf('template', spec['template'], {
      max: limits.instructionsLengthMax,
      example: '{{ body.name }} costs {{ body.price }}',
    }),
    watch: watchOf(spec['watch'], spec['select'] !== undefined),
  };
}

function refuseStrange(spec: ActionSpec): void {
  const strange = Object.keys(spec).find((key) => !known.includes(key));
  if (strange === undefined) return;
  throw refused(strange.slice(0, 40), `is not a setting of "http"; known are ${known.join(', ')}`, '"method": "GET"');
}

function methodOf(given: unknown, hasBody: boolean): Method {
  const method =
    given === undefined ? (hasBody ? 'POST' : 'GET') : typeof given === 'string' ? given.toUpperCase() : '';
  const found = httpMethods.find((one) => one === method);
  if (typeof (given ?? '') !== 'string' || found === undefined)
    throw refused('method', `is one of ${httpMethods.join(', ')}`, '"POST"');
  if (hasBody && !carriesBody(found)) throw refused('body', `does not go with ${found}`, '"method": "POST"');
  return found;
}

export function carriesBody(method: Method): boolean {
  return method !== 'GET' && method !== 'HEAD';
}

const urlExample = '"https://api.example.com/price"';

function urlOf(url: unknown): string {
  if (typeof url !== 'string' || url.trim() === '') throw refused('url', 'is missing', urlExample);
  if (url.length > urlLengthMax) throw refused('url', `has at most ${urlLengthMax} characters`, urlExample);
  const [authority = ''] = /^(?:https?:\/\/)?(?:\{\{[\s\S]*?\}\}|[^/?#])*/i.exec(url.trim()) ?? [];
  if (namesSecrets(authority)) throw refused('url', hostBySecret, '"https://api.example.com/{{ secrets.SHOP_TOKEN }}"');
  // Its rest is known once a run has rendered it.
  if (!isTemplate(url)) addressOf(url);
  else if (!/^\s*(?:https?:\/\/|\{[{%])/i.test(url)) throw refused('url', notAbsolute, urlExample);
  return url.trim();
}

const notAbsolute = 'is an absolute address that begins with http:// or https://';

/** The address that a rendered text is; throws when it is none. */
export function addressOf(text: string): URL {
  if (!URL.canParse(text)) throw refused('url', notAbsolute, urlExample);
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw refused('url', notAbsolute, urlExample);
  if (url.username !== '' || url.password !== '') {
    throw refused(
      'url',
      'holds a name or a password, which would stand in every log on the way; send them as a header',
      '"headers": {"authorization": "Basic ..."}',
    );
  }
  return url;
}

function hostIn(url: string): string | null {
  const origin = originIn(url);
  return origin === null ? null : new URL(origin).host;
}

/** The host of the token server; null where none is asked. */
export function tokenHostOf({ auth }: Pick<HttpSettings, 'auth'>): string | null {
  return auth?.kind === 'oauth2' ? new URL(auth.tokenUrl).host : null;
}

/** As much of the address as names the host: it ends before the first template. */
function originIn(url: string): string | null {
  const [origin = ''] = /^https?:\/\/[^/?#\\]+/i.exec(url) ?? [];
  return origin === '' || isTemplate(origin) || !URL.canParse(origin) ? null : origin;
}

/** Targets that no run may reach are refused before there is a task; so are those to which its chat does not let its tasks go. */
export function judgeTarget({ url, auth }: HttpSettings, egress: Egress, hosts: readonly string[] | null): void {
  if (auth?.kind === 'oauth2') {
    const server = egress.judge(auth.tokenUrl, hosts);
    if (server.is === 'refused') throw refused('auth.token_url', server.reason, '"https://login.example.com/token"');
  }
  if (auth?.kind === 'mtls' && !/^(?:https:|\{[{%])/i.test(url))
    throw refused('url', 'begins with https:// where auth shows a certificate', urlExample);
  const target = isTemplate(url) ? originIn(url) : url;
  if (target === null) return;
  const verdict = egress.judge(target, hosts);
  if (verdict.is === 'refused') throw refused('url', verdict.reason, urlExample);
}

const queryExample = '{"city": "Oslo", "page": 2}';

function queryOf(query: unknown): HttpSettings['query'] {
  return entriesOf('query', query, queryExample).flatMap(([name, value]) =>
    (Array.isArray(value) ? (value as readonly unknown[]) : [value]).map((one): [string, string] => {
      if (typeof one !== 'string' && typeof one !== 'number' && typeof one !== 'boolean')
        throw refused(`query.${name}`, 'is a text, a number, true, false, or a list of these', queryExample);
      return [name, withinValue(`query.${name}`, String(one), queryExample)];
    }),
  );
}

function headersOf(headers: unknown, ofAuth: readonly string[]): HttpSettings['headers'] {
  const made: Record<string, string> = {};
  for (const [given, value] of entriesOf('headers', headers, headersExample)) {
    const setting = `headers.${given}`;
    const name = headerName(setting, given);
    if (ofAuth.includes(name))
      throw refused(setting, 'is set by auth, so it cannot be chosen beside it', '{"accept": "text/plain"}');
    if (name in made) throw refused(setting, 'stands there twice', headersExample);
    if (typeof value !== 'string') throw refused(setting, 'is a text', headersExample);
    made[name] = headerValue(setting, withinValue(setting, value, headersExample));
  }
  return made;
}

function withinValue(setting: string, value: string, example: string): string {
  if (value.length <= valueLengthMax) return value;
  throw refused(setting, `has at most ${valueLengthMax} characters`, example);
}

function entriesOf(setting: string, value: unknown, example: string): readonly (readonly [string, unknown])[] {
  if (value === undefined) return [];
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw refused(setting, 'is an object of names and values', example);
  const entries = Object.entries(value);
  if (entries.length > namesMax) throw refused(setting, `has at most ${namesMax} names`, example);
  return entries;
}

function timeoutOf(timeout: unknown): number | null {
  if (timeout === undefined) return null;
  const ms = typeof timeout === 'string' ? fixedMs(timeout) : null;
  if (ms === null) throw refused('timeout', 'is a duration', '"PT10S"');
  if (ms >= timeoutMinMs && ms <= limits.timeoutMaxMs) return ms;
  throw refused('timeout', `is out of range: ${timeoutMinMs / 1000} s to ${limits.timeoutMaxMs / 1000} s`, '"PT10S"');
}

function expectsOf(expected: unknown): HttpSettings['expects'] {
  if (expected === undefined) return null;
  const list = Array.isArray(expected) ? (expected as readonly unknown[]) : [expected];
  const isStatus = (one: unknown): one is number => Number.isInteger(one) && Number(one) >= 200 && Number(one) <= 599;
  if (list.length > 0 && list.length <= expectsMax && list.every(isStatus)) return list;
  throw refused('expect_status', 'is a status from 200 to 599, or a list of them', '[200, 404]');
}

function textOf(
  setting: 'select' | 'template',
  text: unknown,
  { max, example }: { readonly max: number; readonly example: string },
): string | null {
  if (text === undefined) return null;
  if (typeof text !== 'string' || text.trim() === '') throw refused(setting, 'is a text', `"${example}"`);
  if (text.length > max) throw refused(setting, `has at most ${max} characters`, `"${example}"`);
  return text;
}

const watchExample = '{"on": "value", "first": "send"}';

function watchOf(watch: unknown, hasValue: boolean): Watch | null {
  if (watch === undefined) return null;
  if (typeof watch !== 'object' || watch === null || Array.isArray(watch))
    throw refused('watch', 'is an object', watchExample);
  const { on, first = 'silent', ...strange } = watch as Readonly<Record<string, unknown>>;
  const [name] = Object.keys(strange);
  if (name !== undefined) throw refused(`watch.${name.slice(0, 40)}`, 'is not a part of watch', watchExample);
  if (on !== 'body' && on !== 'value') throw refused('watch.on', 'is "body" or "value"', watchExample);
  if (first !== 'silent' && first !== 'send') throw refused('watch.first', 'is "silent" or "send"', watchExample);
  if (on === 'value' && !hasValue)
    throw refused('watch.on', 'is "value" only beside a select, which chooses the value', '"select": "price"');
  return { on, first };
}
