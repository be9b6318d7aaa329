import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, inflateRaw, zstdDecompress } from 'node:zlib';
import type { Dispatcher } from 'undici';
import type { OutboundEnd } from '../app/ports/outbound.ts';
import { faultCodeOf } from '../domain/errors.ts';
import { followed, type Hop } from '../domain/outbound/redirects.ts';
import { connectMs, NotConnected, TargetRefused } from './connector.ts';

/** An answer as it came over the wire. */
export interface Received {
  readonly is: 'received';
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

type Failed = Extract<OutboundEnd, { is: 'failed' | 'refused' }>;
export type Exchanged = Received | Failed;

/** Bytes in the memory, of all calls together. */
export interface Held {
  bytes: number;
}

/** Many targets that send much at once must not fill the memory. */
const heldBytesMax = 268_435_456;
/** An answer smaller than this is read to its end, however much the others hold. */
const smallBytes = 1_048_576;

export interface Bounds {
  /** Aborted when the whole call has taken too long, or is not wanted any more. */
  readonly signal: AbortSignal;
  /** Whether it was time that ended it, in words; null when it was somebody. */
  readonly late: () => string | null;
  readonly bytesMax: number;
  /** Bytes that all calls hold of answers that are not whole yet. */
  readonly held: Held;
  /** Whether a redirect is known by its headers, so that its body is not waited for. */
  readonly follows: boolean;
}

/** Sends one request and reads its answer, within its limits. Nothing throws. */
export function exchange(dispatcher: Dispatcher, hop: Hop, given: Bounds): Promise<Exchanged> {
  return new Promise((resolve) => {
    const reading = new Reading(hop, given, resolve);
    if (given.signal.aborted) return;
    try {
      dispatcher.dispatch(
        {
          origin: hop.url.origin,
          path: hop.url.pathname + hop.url.search,
          method: hop.method,
          headers: { ...hop.headers },
          body: hop.body,
        },
        reading,
      );
    } catch (error) {
      reading.onResponseError(null, error as Error);
    }
  });
}

const stages = {
  connection: (host: string) => `No connection to ${host} came about`,
  headers: (host: string) => `${host} did not answer`,
  body: (host: string) => `The answer of ${host} did not end`,
};

class Reading implements Dispatcher.DispatchHandler {
  #stage: keyof typeof stages = 'connection';
  #controller: Dispatcher.DispatchController | null = null;
  #isOver = false;
  #status = 0;
  #headers: Received['headers'] = {};
  #bytes = 0;
  readonly #chunks: Buffer[] = [];
  readonly #hop: Hop;
  readonly #given: Bounds;
  readonly #resolve: (end: Exchanged) => void;
  readonly #onAbort = () => this.#break(this.#called());

  constructor(hop: Hop, given: Bounds, resolve: (end: Exchanged) => void) {
    this.#hop = hop;
    this.#given = given;
    this.#resolve = resolve;
    given.signal.addEventListener('abort', this.#onAbort);
    if (given.signal.aborted) this.#onAbort();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    this.#stage = 'headers';
    // It waited for its connection while the time ran out.
    if (this.#isOver) controller.abort(new Error('too late'));
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    // An interim answer says nothing but that the final one is to come.
    if (status < 200) return;
    this.#stage = 'body';
    this.#status = status;
    this.#headers = joined(headers);
    if (this.#isRedirect()) this.#break(this.#received());
    else if (Number(this.#headers['content-length'] ?? 0) > this.#given.bytesMax && this.#hop.method !== 'HEAD')
      this.#break(this.#tooLarge());
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isOver) return;
    this.#bytes += chunk.byteLength;
    this.#given.held.bytes += chunk.byteLength;
    this.#chunks.push(chunk);
    if (this.#bytes > this.#given.bytesMax) this.#break(this.#tooLarge());
    else if (this.#bytes > smallBytes && this.#given.held.bytes > heldBytesMax) this.#break(crowded);
  }

  onResponseEnd(): void {
    this.#finish(this.#received());
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.#finish(failureOf(error, this.#hop.url.hostname, stages[this.#stage]));
  }

  #isRedirect(): boolean {
    return this.#given.follows && followed(this.#hop, this.#status, this.#headers['location']) !== null;
  }

  /** Ends the exchange from this side, and its connection with it. */
  #break(end: Exchanged): void {
    this.#finish(end);
    this.#controller?.abort(new Error('enough'));
  }

  #finish(end: Exchanged): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#given.held.bytes -= this.#bytes;
    this.#given.signal.removeEventListener('abort', this.#onAbort);
    this.#chunks.length = 0;
    const isUnsent = end.is === 'failed' && this.#stage === 'connection';
    this.#resolve(isUnsent ? { ...end, isUnsent } : end);
  }

  #received(): Received {
    const body = this.#chunks.length === 1 ? this.#chunks[0] : undefined;
    return {
      is: 'received',
      status: this.#status,
      headers: this.#headers,
      body: body ?? Buffer.concat(this.#chunks, this.#bytes),
    };
  }

  #tooLarge(): Failed {
    return tooLarge(`The answer of ${this.#hop.url.hostname} has`, this.#given.bytesMax);
  }

  #called(): Failed {
    const late = this.#given.late();
    const where = stages[this.#stage](this.#hop.url.hostname);
    if (late !== null) return { is: 'failed', type: 'TIMEOUT', error: `${where} within ${late}.` };
    return { is: 'failed', type: 'NETWORK', error: 'The call was called off.' };
  }
}

const crowded: Failed = {
  is: 'failed',
  type: 'NETWORK',
  error: 'The answers that are read at this moment fill the memory that they may have together.',
};

export function tooLarge(what: string, bytesMax: number): Failed {
  const error = `${what} more than ${bytesMax.toLocaleString('en')} bytes.`;
  return { is: 'failed', type: 'NETWORK', error, isFinal: true };
}

function joined(headers: Readonly<Record<string, string | string[] | undefined>>): Received['headers'] {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]),
  );
}

/** Faults that another try would meet again, by the beginnings of their codes. */
const lasting: readonly (readonly [RegExp, (host: string) => string])[] = [
  [/^UND_ERR_HEADERS_OVERFLOW/, (host) => `${host} sends more headers than are read`],
  [/^HTTPParserError/, (host) => `${host} does not speak HTTP`],
  [
    /^(?:ERR_TLS|CERT_|DEPTH_|SELF_SIGNED|UNABLE_TO|HOSTNAME_MISMATCH)/,
    (host) => `The certificate of ${host} is not good`,
  ],
  [
    /ALERT_(?:CERTIFICATE|BAD_CERTIFICATE|UNKNOWN_CA|UNSUPPORTED_CERTIFICATE|ACCESS_DENIED)/,
    (host) => `${host} does not take the client certificate, or wants one`,
  ],
  [/^(?:ERR_SSL|EPROTO)/, (host) => `${host} does not speak TLS`],
  [/^UND_ERR_INVALID_ARG/, () => 'The request has a method, a header or a path that HTTP does not know'],
];

function failureOf(error: Error, host: string, stage: (host: string) => string): Failed {
  if (error instanceof TargetRefused) return { is: 'refused', error: error.message };
  const isUnreached = error instanceof NotConnected;
  if (isUnreached && error.cause === undefined)
    return { is: 'failed', type: 'TIMEOUT', error: `${stage(host)} within ${connectMs / 1000} s.` };
  // The parser names its faults by its class alone.
  const code = faultCodeOf(isUnreached ? error.cause : error) || error.name;
  const known = lasting.find(([pattern]) => pattern.test(code));
  if (known !== undefined)
    return { is: 'failed', type: 'NETWORK', error: `${known[1](host)} (${code}).`, isFinal: true };
  const what = /^E(?:NOTFOUND|NODATA)$/.test(code) ? `There is no host ${host}` : brokenOff(isUnreached, host);
  return { is: 'failed', type: 'NETWORK', error: `${what} (${code}).` };
}

function brokenOff(isUnreached: boolean, host: string): string {
  return isUnreached ? `${host} could not be reached` : `The connection to ${host} broke off`;
}

type Decoded =
  | { readonly is: 'plain'; readonly body: Buffer }
  | { readonly is: 'tooLarge'; readonly bytesMax: number }
  | { readonly is: 'broken' };

type Decode = (input: Uint8Array, options: { readonly maxOutputLength: number }) => Promise<Buffer>;

const gzip: Decode = promisify(gunzip);
const [wrapped, bare]: readonly [Decode, Decode] = [promisify(inflate), promisify(inflateRaw)];

const decoders: Readonly<Record<string, Decode>> = {
  gzip,
  'x-gzip': gzip,
  // Servers send both forms under the one name. The first byte of a wrapped one says so.
  deflate: (input, options) => (((input[0] ?? 0) & 15) === 8 ? wrapped : bare)(input, options),
  br: promisify(brotliDecompress),
  zstd: promisify(zstdDecompress),
};

export const acceptEncoding = 'gzip, deflate, br, zstd';

/** An honest text shrinks to a hundredth at the utmost. What grows more, and is not small, is there to fill the memory. */
const growthMax = 200;

/** The body as it was before it was compressed. It never takes more memory than the limit, whatever a few bytes grow to. */
export async function decoded(body: Buffer, encoding: string, bytesMax: number): Promise<Decoded> {
  const name = encoding.trim().toLowerCase();
  if (name === '' || name === 'identity' || body.byteLength === 0) return { is: 'plain', body };
  const decode = decoders[name];
  // One that is not known, or several over each other, which no honest server sends to whoever named what it takes.
  if (decode === undefined) return { is: 'broken' };
  const maxOutputLength = Math.min(bytesMax, Math.max(smallBytes, body.byteLength * growthMax));
  try {
    return { is: 'plain', body: await decode(body, { maxOutputLength }) };
  } catch (error) {
    const isTooLarge = faultCodeOf(error) === 'ERR_BUFFER_TOO_LARGE';
    return isTooLarge ? { is: 'tooLarge', bytesMax: maxOutputLength } : { is: 'broken' };
  }
}
