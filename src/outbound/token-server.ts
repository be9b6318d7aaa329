import * as oauth from 'oauth4webapi';
import type { ClientProof, TokenAsk, TokenEnd, TokenServer } from '../app/ports/credentials.ts';
import type { Outbound, OutboundEnd } from '../app/ports/outbound.ts';

/** Longer than any token, and too little to fill anything. */
const answerBytesMax = 262_144;

/**
 * Speaks OAuth 2 with a token server through the client of tasks: its rules, its limits and its judged addresses hold here too. A redirect
 * is not followed, because what is sent proves who we are.
 */
export function createTokenServer(outbound: Outbound): TokenServer {
  return {
    ask: async (asked) => {
      let end: OutboundEnd | null = null;
      const fetch = async (url: string, init: { readonly body?: unknown; readonly headers?: unknown }) => {
        end = await outbound.call({
          method: 'POST',
          url,
          headers: Object.fromEntries(new Headers(init.headers as Record<string, string>)),
          body: String(init.body),
          timeoutMs: asked.timeoutMs,
          // An attempt that is called off does not call this off: its answer may hold the one token that is good from now on.
          signal: new AbortController().signal,
          narrowedTo: asked.narrowedTo,
          bodyBytesMax: answerBytesMax,
          staysThere: true,
          ...(asked.client.is === 'mtls' ? { identity: asked.client.identity } : {}),
        });
        if (end.is !== 'answered') throw new TypeError('no answer');
        return responseOf(end);
      };
      try {
        const granted = await grantedBy(asked, fetch);
        return {
          is: 'granted',
          bytes: bytesOf(end),
          accessToken: granted.access_token,
          expiresInS: granted.expires_in ?? null,
          refreshToken: granted.refresh_token ?? null,
        };
      } catch (error) {
        return failed(error, asked, end);
      }
    },
  };
}

type Fetch = NonNullable<oauth.TokenEndpointRequestOptions[typeof oauth.customFetch]>;

async function grantedBy(asked: TokenAsk, fetch: Fetch): Promise<oauth.TokenEndpointResponse> {
  const server = { issuer: asked.url, token_endpoint: asked.url };
  const client = { client_id: asked.clientId };
  // Where requests go is judged by our own rules; networks of an operator are often without TLS.
  // oxlint-disable-next-line typescript/no-deprecated
  const options = { [oauth.customFetch]: fetch, [oauth.allowInsecureRequests]: true };
  const proof = proofOf(asked.client);
  if (asked.refreshToken === null) {
    const response = await oauth.clientCredentialsGrantRequest(server, client, proof, { ...asked.parameters }, options);
    return oauth.processClientCredentialsResponse(server, client, response);
  }
  const response = await oauth.refreshTokenGrantRequest(server, client, proof, asked.refreshToken, {
    ...options,
    additionalParameters: { ...asked.parameters },
  });
  return oauth.processRefreshTokenResponse(server, client, response);
}

function proofOf(client: ClientProof): oauth.ClientAuth {
  switch (client.is) {
    case 'post':
      return oauth.ClientSecretPost(client.secret);
    case 'basic':
      return oauth.ClientSecretBasic(client.secret);
    case 'mtls':
      return oauth.TlsClientAuth();
    case 'none':
      return oauth.None();
  }
}

type Answered = Extract<OutboundEnd, { is: 'answered' }>;

/** The answer without what would keep its tokens from being read: a challenge beside the fault, and a token that says who somebody is. */
function responseOf({ status, headers, body }: Answered): Response {
  const { 'www-authenticate': _challenge, ...others } = headers;
  const facts = factsIn(body);
  if (facts === null) return new Response(new Uint8Array(body), { status, headers: others });
  const { id_token: _who, ...known } = facts;
  return new Response(JSON.stringify(known), { status, headers: { 'content-type': 'application/json' } });
}

/** Null where it is no JSON object, whatever it is called. */
function factsIn(body: Uint8Array): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(body));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch {
    return null;
  }
}

const bytesOf = (end: OutboundEnd | null) => (end?.is === 'answered' ? end.body.byteLength : 0);

/** Faults of which the server says that they pass. */
const passing = ['temporarily_unavailable', 'slow_down', 'server_error'];

function failed(error: unknown, { url }: TokenAsk, end: OutboundEnd | null): TokenEnd {
  const { host } = new URL(url);
  const about = { bytes: bytesOf(end), refreshToken: refreshTokenIn(end) };
  if (end === null) throw error;
  if (end.is === 'refused')
    return {
      ...about,
      is: 'failed',
      error: `auth.token_url: ${end.error}`,
      isFinal: true,
      isUnsent: true,
      status: null,
      afterMs: null,
    };
  if (end.is === 'failed')
    return {
      ...about,
      is: 'failed',
      error: end.error,
      ...(end.isFinal ? { isFinal: true } : {}),
      ...(end.isUnsent ? { isUnsent: true } : {}),
      status: null,
      afterMs: null,
    };
  if (error instanceof oauth.ResponseBodyError && !passing.includes(error.error)) {
    const said = error.error_description === undefined ? '' : `: ${error.error_description}`;
    return { ...about, is: 'denied', code: error.error, error: `${host} answered ${error.error}${said}` };
  }
  const { status } = end;
  const mayPass = status >= 500 || [408, 425, 429].includes(status) || error instanceof oauth.ResponseBodyError;
  const what = status >= 200 && status <= 299 ? `, which is no answer of OAuth 2 (${reasonOf(error)})` : '';
  return {
    ...about,
    is: 'failed',
    error: `${host} answered ${status} to the request for a token${what}`,
    ...(mayPass ? {} : { isFinal: true }),
    status,
    afterMs: secondsIn(end.headers['retry-after']),
  };
}

/** It is not lost with an answer that is otherwise not to be understood. */
function refreshTokenIn(end: OutboundEnd | null): string | null {
  if (end?.is !== 'answered' || end.status < 200 || end.status > 299) return null;
  const token = factsIn(end.body)?.['refresh_token'];
  return typeof token === 'string' && token !== '' ? token : null;
}

/** The words of the library name fields, and never their values. */
function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message.slice(0, 120) : 'unreadable';
}

function secondsIn(header: string | undefined): number | null {
  return header !== undefined && /^\d{1,6}$/.test(header) ? Number(header) * 1000 : null;
}
