import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { json, readBytes, type Answer } from '../control/answers.ts';

/** A token server to try OAuth 2 on, and what only its tokens open. */

const client = { id: 'cronogram', secret: 'sesame' };
const tokenMs = 5 * 60_000;
/** So long the refresh token before is still taken, by whoever lost the answer in which the next one was. */
const graceMs = 60_000;
/** More than anybody has in use to try it. */
const tokensMax = 100;

interface SiteTokens {
  grant(headers: IncomingHttpHeaders, form: URLSearchParams): Answer;
  price(authorization: string | undefined): Answer;
}

export function createSiteTokens(now: () => number): SiteTokens {
  const until = new Map<string, number>();
  let [made, rotated, rotatedAt] = [0, 0, 0];
  const granted = (more: object): Answer => {
    made += 1;
    const token = `sesame-access-${made}`;
    until.set(token, now() + tokenMs);
    const [oldest] = until.keys();
    if (until.size > tokensMax && oldest !== undefined) until.delete(oldest);
    return json({ access_token: token, token_type: 'Bearer', expires_in: tokenMs / 1000, ...more });
  };
  const refreshed = (given: string | null): Answer => {
    const isNewest = given === refreshToken(rotated);
    const isInGrace = given === refreshToken(rotated - 1) && now() - rotatedAt <= graceMs;
    if (!isNewest && !isInGrace)
      return refused(400, 'invalid_grant', `The refresh token of now is ${refreshToken(rotated)}.`);
    if (isNewest) [rotated, rotatedAt] = [rotated + 1, now()];
    return granted({ refresh_token: refreshToken(rotated) });
  };
  return {
    grant: ({ authorization }, form) => {
      if (!isClient(authorization, form))
        return refused(401, 'invalid_client', `The client is "${client.id}", its secret "${client.secret}".`);
      const kind = form.get('grant_type');
      if (kind === 'client_credentials') return granted({});
      if (kind === 'refresh_token') return refreshed(form.get('refresh_token'));
      return refused(400, 'unsupported_grant_type', 'Ask by client_credentials or refresh_token.');
    },
    price: (authorization = '') => {
      const isGood = (until.get(authorization.replace(/^Bearer /, '')) ?? 0) > now();
      if (isGood) return json({ item: 'tea for members', cents: 350, currency: 'EUR' });
      const error = 'Send a token from POST token; it is good for five minutes.';
      return { ...json({ error }, 401), headers: { 'www-authenticate': 'Bearer' } };
    },
  };
}

const refreshToken = (number: number) => `sesame-refresh-${number}`;

function isClient(authorization: string | undefined, form: URLSearchParams): boolean {
  const basic = `Basic ${Buffer.from(`${client.id}:${client.secret}`).toString('base64')}`;
  return (
    authorization === basic || (form.get('client_id') === client.id && form.get('client_secret') === client.secret)
  );
}

function refused(status: number, error: string, description: string): Answer {
  return json({ error, error_description: description }, status);
}

export async function readForm(incoming: IncomingMessage): Promise<URLSearchParams> {
  return new URLSearchParams(new TextDecoder().decode(await readBytes(incoming)));
}
