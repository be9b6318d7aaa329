import type { IncomingMessage } from 'node:http';

const localPeer = /^(?:::ffff:)?127(?:\.\d{1,3}){3}$|^::1$/;
const localHost = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/i;

/**
 * Why a request is not from this computer; null when it is. The peer keeps other machines out, the Host keeps out names
 * that were made to point here, and Origin and Sec-Fetch-Site keep out pages of other sites in a browser of this computer.
 */
export function foreignness(incoming: IncomingMessage): string | null {
  const { host, origin, 'sec-fetch-site': site } = incoming.headers;
  if (!localPeer.test(incoming.socket.remoteAddress ?? '')) {
    return 'The sandbox answers only on the computer on which it runs. Open it there, or forward its port with ssh -L.';
  }
  if (host === undefined || !localHost.test(host)) {
    return 'The sandbox answers only to the hosts localhost, 127.0.0.1 and [::1]. Use one of them in the address.';
  }
  const isOtherOrigin = origin !== undefined && !isOf(origin, host);
  const isOtherSite = site !== undefined && site !== 'same-origin' && site !== 'none';
  if (isOtherOrigin || isOtherSite) {
    return 'The sandbox does not answer to other sites. Type its address into the address bar instead of following a link.';
  }
  return null;
}

function isOf(origin: string, host: string): boolean {
  return origin.toLowerCase().replace(/^https?:\/\//, '') === host.toLowerCase() && /^https?:/i.test(origin);
}
