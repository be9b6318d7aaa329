import type { IncomingMessage } from 'node:http';
import { crc32, deflateSync } from 'node:zlib';
import { z } from 'zod';
import type { Timer } from '../../app/ports/outside.ts';
import { json, read, readJson, type Answer } from '../control/answers.ts';
import { createSiteTokens, readForm } from './tokens.ts';

interface SiteDeps {
  /** The clock of the sandbox, so that a jump finds other news. */
  readonly now: () => number;
  readonly timer: Timer;
}

interface Visit {
  readonly incoming: IncomingMessage;
  readonly query: unknown;
  readonly signal: AbortSignal;
}

type Page = (visit: Visit) => Promise<Answer> | Answer;

const minute = 60_000;

/** A small site to try requests on: what changes, what is slow, what fails, what asks who you are. By method and path below /site. */
export function sitePages({ now, timer }: SiteDeps): readonly (readonly [string, string, Page])[] {
  const orders = new Map<string, object>();
  const tokens = createSiteTokens(now);
  return [
    ['GET', '', () => index()],
    ['GET', '/', () => index()],
    ['GET', '/news', () => html('News', newsAt(now()))],
    ['GET', '/price', () => json(priceAt(now()))],
    ['GET', '/slow', ({ query, signal }) => slow(read(slowQuery, query).seconds, { timer, signal })],
    ['GET', '/failing', ({ query }) => failing(read(failingQuery, query).status)],
    ['POST', '/login', async ({ incoming }) => login(read(loginBody, await readJson(incoming)))],
    ['GET', '/account', ({ incoming }) => account(incoming.headers.authorization)],
    ['POST', '/token', async ({ incoming }) => tokens.grant(incoming.headers, await readForm(incoming))],
    ['GET', '/member-price', ({ incoming }) => tokens.price(incoming.headers.authorization)],
    ['GET', '/picture', () => ({ status: 200, type: 'image/png', body: pictureAt(now()) })],
    ['GET', '/report.csv', () => report(now())],
    ['GET', '/orders', () => json({ orders: [...orders.values()] })],
    ['POST', '/orders', async ({ incoming }) => order(orders, incoming, await readJson(incoming))],
  ];
}

const places: readonly (readonly [string, string])[] = [
  ['news', 'a page that changes every minute'],
  ['price', 'a price as JSON: <code>cents</code> changes every five minutes, <code>at</code> each time'],
  ['slow?seconds=5', 'an answer that takes its time, up to 60 seconds'],
  ['failing?status=503', 'an answer with the status that you name, from 400 to 599'],
  [
    'account',
    'what only <code>Authorization: Bearer open-sesame</code> may see, the token that <code>POST login</code> brings',
  ],
  [
    'member-price',
    'a price for members, by OAuth 2: <code>POST token</code> takes the client <code>cronogram</code> with the secret <code>sesame</code>, and the refresh token <code>sesame-refresh-0</code>, after which each answer brings the next one',
  ],
  ['picture', 'an image'],
  ['report.csv', 'a file'],
  [
    'orders',
    'what was ordered by <code>POST orders</code>; an <code>Idempotency-Key</code> that comes again orders nothing',
  ],
];

function index(): Answer {
  const items = places.map(([path, words]) => `<li><a href="/sandbox/site/${path}">${path}</a>: ${words}</li>`);
  return html('A site to try requests on', `<ul>${items.join('')}</ul>`);
}

function html(title: string, body: string): Answer {
  const text = `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title><h1>${title}</h1>${body}</html>\n`;
  return {
    status: 200,
    type: 'text/html; charset=utf-8',
    body: text,
    headers: { 'content-security-policy': "default-src 'none'" },
  };
}

/** So many that neither an hour nor a day later the same ones stand there. */
const headlines = [
  'The library opens on Sundays',
  'Rain until Thursday',
  'The old bridge is mended',
  'A new bakery on Mill Lane',
  'The choir sings on Friday',
  'Lost: a grey cat with a bell',
  'The pool is warm again',
];

function newsAt(at: number): string {
  const number = Math.floor(at / minute);
  const recent = [0, 1, 2].map((back) => headlines[(number - back) % headlines.length] ?? '');
  return recent.map((headline) => `<p>${headline}.</p>`).join('');
}

function priceAt(at: number) {
  const step = Math.floor(at / (5 * minute));
  return { item: 'tea', cents: 400 + ((step * 37) % 90), currency: 'EUR', at: new Date(at).toISOString() };
}

const slowQuery = z.strictObject({ seconds: z.coerce.number().min(0).max(60).default(5) });

function slow(
  seconds: number,
  { timer, signal }: { readonly timer: Timer; readonly signal: AbortSignal },
): Promise<Answer> {
  return new Promise((resolve) => {
    const answer = () => resolve(json({ waited_seconds: seconds }));
    const callOff = timer.after(seconds * 1000, answer);
    signal.addEventListener('abort', () => {
      callOff();
      answer();
    });
  });
}

const failingQuery = z.strictObject({ status: z.coerce.number().int().min(400).max(599).default(503) });

function failing(status: number): Answer {
  const answer = json({ error: 'This place fails, so that you can see what happens then.' }, status);
  return status === 503 || status === 429 ? { ...answer, headers: { 'retry-after': '2' } } : answer;
}

const loginBody = z.strictObject({ name: z.string().max(100), password: z.string().max(100) });
const siteToken = 'open-sesame';

function login({ name, password }: z.output<typeof loginBody>): Answer {
  if (password === 'sesame') return json({ token: siteToken, name });
  return json({ error: 'The password is "sesame".' }, 401);
}

function account(authorization: string | undefined): Answer {
  if (authorization === `Bearer ${siteToken}`) return json({ name: 'Ada', points: 120 });
  return {
    ...json({ error: `Send the header "Authorization: Bearer ${siteToken}".` }, 401),
    headers: { 'www-authenticate': 'Bearer' },
  };
}

function report(at: number): Answer {
  const rows = Array.from({ length: 7 }, (_, back) => priceAt(at - back * 24 * 60 * minute));
  const body = ['day,cents', ...rows.map(({ at: day, cents }) => `${day.slice(0, 10)},${cents}`), ''].join('\n');
  return {
    status: 200,
    type: 'text/csv; charset=utf-8',
    body,
    headers: { 'content-disposition': 'attachment; filename="report.csv"' },
  };
}

/** More than anybody orders to try it, and little enough for the memory. */
const ordersMax = 100;

function order(orders: Map<string, object>, { headers }: IncomingMessage, wish: unknown): Answer {
  const given = headers['idempotency-key'];
  const key = typeof given === 'string' ? given : `order ${orders.size}`;
  const known = orders.get(key);
  if (known !== undefined) return json(known);
  if (orders.size >= ordersMax)
    return json({ error: `Nobody takes more than ${ordersMax} orders until the next start.` }, 429);
  const made = { order: orders.size + 1, key: given ?? null, wish };
  orders.set(key, made);
  return json(made, 201);
}

const [width, height] = [240, 120];

/** A picture of the hour: the sun goes from one side to the other. */
function pictureAt(at: number): Uint8Array {
  const sunAt = (new Date(at).getUTCHours() / 24) * width;
  const rows = Array.from({ length: height }, (_, y) => [
    0,
    ...Array.from({ length: width }, (_pixel, x) => colourOf(y, Math.hypot(x - sunAt, y - 40) < 20)).flat(),
  ]);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2], 8);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    pngPart('IHDR', header),
    pngPart('IDAT', deflateSync(Buffer.from(rows.flat()))),
    pngPart('IEND', Buffer.alloc(0)),
  ]);
}

function colourOf(y: number, isSun: boolean): readonly number[] {
  if (isSun) return [255, 210, 60];
  return y > 90 ? [70, 140, 80] : [120, 180, 230];
}

function pngPart(name: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, check]);
}
