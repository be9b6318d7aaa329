import { createServer } from 'node:http';
import type { Breach } from '../../invariants/rows.ts';
import { opened } from '../../support/ports.ts';
import { createDatabase, startPostgres } from '../../support/postgres-server.ts';
import { call, create } from '../api.ts';
import { becomes, token, type StartOptions } from '../program.ts';
import { openTelegram, type Telegram } from '../telegram.ts';
import { bootOf, launch, urlOf, type Member, type Role } from './members.ts';
import { openNetwork } from './network.ts';

/** Longer than the lease of whoever polls, with a moment for the first answer. */
const handedOverMs = 25_000;
/** A clean stop leaves the lease to the next one at once. */
const leftMs = 5000;
/** A change holds within a second, and a machine that is busy with other things is given one more. */
const knownMs = 2000;
const conflictsMax = 4;
const [ada, ben] = [1001, 1002];

type Plan = Pick<StartOptions, 'main' | 'folder'>;

interface Scene {
  readonly bots: readonly Member[];
  readonly apis: readonly [string, string];
  readonly telegram: Telegram;
  readonly again: (member: Member) => void;
  /** Somebody whom a task calls, and what was shown at the door. */
  readonly door: { readonly url: string; readonly place: string; readonly shown: string[] };
  readonly told: (promise: string, isKept: boolean, rows: unknown) => void;
  readonly figures: string[];
}

/**
 * Two of each role as one product: one of two bots polls, and the other one goes on when it is cut off, frozen or stopped; what is changed
 * at one API holds for everybody else within a second.
 */
export async function together(plan: Plan): Promise<{ breaches: readonly Breach[]; figures: readonly string[] }> {
  const network = await openNetwork();
  if ('reason' in network) return { breaches: [], figures: [`SKIPPED no network namespaces here: ${network.reason}`] };
  const beside = { address: network.gateway, range: network.range };
  const postgres = await startPostgres({ beside });
  const telegram = await openTelegram({ host: network.gateway });
  const shown: string[] = [];
  const server = createServer((incoming, outgoing) => {
    shown.push(incoming.headers.authorization ?? '');
    outgoing.end('open');
  });
  const place = `${network.gateway}:${await opened(server, 0, network.gateway)}`;
  try {
    const own = new URL((await createDatabase(postgres.url)).url);
    own.hostname = network.gateway;
    const settings = { EGRESS_ALLOW: place };
    const again = (member: Member) =>
      launch(member, { ...plan, databaseUrl: own.href, telegram, settings, skewsMs: {} });
    const members: Member[] = [];
    for (const role of ['bot', 'bot', 'worker', 'worker', 'api', 'api'] as const) {
      const name = `${role}-${members.filter((one) => one.role === role).length + 1}`;
      const member = { name, role, host: await network.join(name), boots: [], isBusy: false };
      members.push(member);
      again(member);
    }
    const urls = await Promise.all(members.map((member) => bootOf(member).url));
    if (urls.includes(null)) throw new Error(members.map((member) => bootOf(member).errors()).join('\n'));
    const of = (role: Role) => members.filter((one) => one.role === role);
    const [one = '', other = ''] = of('api').map(urlOf);
    const breaches: Breach[] = [];
    const scene: Scene = {
      bots: of('bot'),
      apis: [one, other],
      telegram,
      again,
      figures: [],
      door: { url: `http://${place}/`, place, shown },
      told: (promise, isKept, rows) => void (isKept || breaches.push({ promise, rows })),
    };
    await handOvers(scene);
    await changes(scene);
    await Promise.all(members.map((member) => bootOf(member).stop()));
    return { breaches, figures: scene.figures };
  } finally {
    server.close();
    await telegram.close();
    await postgres.stop();
    await network.close();
  }
}

const statuses = ({ telegram }: Scene, status: number) =>
  telegram.seen().calls.filter((one) => one.method === 'getUpdates' && one.status === status).length;

/** How often a task that there is not was told of in the chat of a person. */
function answersTo({ telegram }: Scene, chat: number, number: number): number {
  const words = `task #${number} in this chat`;
  return telegram.world
    .messages(chat, { limit: 1000 })
    .filter(({ from, text }) => from === 'bot' && text.includes(words)).length;
}

/** Asks in a chat, and answers how long that takes. */
async function asks(scene: Scene, number: number, withinMs: number): Promise<number | null> {
  const from = performance.now();
  scene.telegram.world.say({ as: 'ada', chat: ada, text: `/task ${number}` });
  const isAnswered = await becomes(() => answersTo(scene, ada, number) > 0, withinMs);
  return isAnswered ? Math.round(performance.now() - from) : null;
}

const lastOfLease = (member: Member) =>
  bootOf(member).log.findLast(({ event }) => event === 'lease_taken' || event === 'lease_left')?.event;
const holdersOf = ({ bots }: Scene) => bots.filter((member) => lastOfLease(member) === 'lease_taken');

async function handOvers(scene: Scene): Promise<void> {
  const { told, figures } = scene;
  let number = 100;
  told(
    'the first question is answered',
    (await asks(scene, (number += 1), handedOverMs)) !== null,
    holdersOf(scene).length,
  );
  for (const what of ['cut', 'freeze', 'stop'] as const) {
    const [holder, ...more] = holdersOf(scene);
    told('one of them polls', holder !== undefined && more.length === 0, [holder?.name, more.map(({ name }) => name)]);
    if (holder === undefined) return;
    const before = statuses(scene, 409);
    const { pid } = bootOf(holder);
    if (what === 'cut') await holder.host.cut();
    else if (what === 'freeze') process.kill(pid, 'SIGSTOP');
    else await bootOf(holder).stop();
    const limitMs = what === 'stop' ? leftMs : handedOverMs;
    const tookMs = await asks(scene, (number += 1), 2 * limitMs);
    told(`another one goes on (${what})`, tookMs !== null && tookMs < limitMs, tookMs);
    if (what === 'cut')
      told(
        'who is cut off stops by itself',
        await becomes(() => lastOfLease(holder) === 'lease_left', leftMs),
        holder.name,
      );
    if (what === 'cut') await holder.host.mend();
    else if (what === 'freeze') process.kill(pid, 'SIGCONT');
    else scene.again(holder);
    const after: (number | null)[] = [];
    for (let round = 0; round < 5; round += 1) after.push(await asks(scene, (number += 1), leftMs));
    told(
      `questions are answered when it is back (${what})`,
      after.every((ms) => ms !== null),
      after,
    );
    await becomes(() => holdersOf(scene).length === 1, leftMs);
    const conflicts = statuses(scene, 409) - before;
    told(`no storm of conflicts (${what})`, conflicts <= conflictsMax, conflicts);
    figures.push(
      `${what}: another one answers after ${tookMs} ms, then after ${after.join(', ')} ms; ${conflicts} conflicts`,
    );
  }
  const asked = Array.from({ length: number - 100 }, (_value, index) => index + 101);
  const wrong = asked.filter((one) => answersTo(scene, ada, one) !== 1);
  told('every question is answered once', wrong.length === 0, wrong);
}

/** Changes that are made at the first API, and seen at the other one, by a bot and by a worker. */
async function changes(scene: Scene): Promise<void> {
  const { apis, told, figures, door, telegram } = scene;
  const [here, there] = apis;
  const soon = async (what: string, isSeen: () => boolean | Promise<boolean>) => {
    const from = performance.now();
    const isKnown = await becomes(isSeen, 10 * knownMs);
    const tookMs = Math.round(performance.now() - from);
    told(`a change holds everywhere within a second (${what})`, isKnown && tookMs < knownMs, tookMs);
    figures.push(`${what}: known after ${tookMs} ms`);
  };
  const reads = (bearer: string) =>
    fetch(`${there}/v1/tasks?limit=1`, { headers: { authorization: `Bearer ${bearer}` } }).then(({ status }) => status);

  const { body } = await call(here, { method: 'POST', path: '/v1/tokens', body: { name: 'guest', scopes: ['read'] } });
  const guest = String(body['token']);
  await soon('a new token', async () => (await reads(guest)) === 200);
  await call(here, { method: 'DELETE', path: `/v1/tokens/${String(body['token_id'])}` });
  await soon('a token that was revoked', async () => (await reads(guest)) === 401);

  let number = 500;
  const isHeard = async () => {
    const own = (number += 1);
    telegram.world.say({ as: 'ben', chat: ben, text: `/task ${own}` });
    return becomes(() => answersTo(scene, ben, own) > 0, 500);
  };
  told('a stranger is not heard', !(await isHeard()), number);
  await send(here, 'PUT', `/v1/access/${ben}`, {});
  await soon('a person who was let in', isHeard);
  await send(here, 'DELETE', `/v1/access/${ben}`);
  await soon('a person who was denied', async () => !(await isHeard()));

  const keys = ['the-first-key', 'the-second-key'];
  const set = (at: string, value: string | undefined) =>
    send(at, 'PUT', '/v1/secrets/DOOR', { value, hosts: [door.place] });
  await set(here, keys[0]);
  const task = await create(here, 'cli:together', {
    instructions: 'Knock',
    action: { kind: 'http', method: 'GET', url: door.url, auth: { kind: 'bearer', secret: 'DOOR' } },
    schedule: { kind: 'cron', cron: '0 0 1 1 *', timezone: 'UTC' },
    policies: { overlap: 'allow' },
  });
  const isShown = (key: string | undefined) => async () => {
    await call(there, { method: 'POST', path: `/v1/tasks/${task.task_id}/run-now` });
    const before = door.shown.length;
    return (await becomes(() => door.shown.length > before, 5000)) && door.shown.at(-1) === `Bearer ${key}`;
  };
  told('a secret is used', await isShown(keys[0])(), door.shown);
  await set(there, keys[1]);
  await soon('a secret that was changed', isShown(keys[1]));
}

async function send(url: string, method: string, path: string, body?: object): Promise<void> {
  const answer = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`${method} ${path} was refused: ${await answer.text()}`);
}
