import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createApi } from '../../src/compose/api.ts';
import { composeRooms, systemWorld } from '../../src/compose/assembly.ts';
import { createLoops } from '../../src/compose/loops.ts';
import { readConfig } from '../../src/config/config.ts';
import { serveHttp } from '../../src/http/server.ts';
import { openSqlite, sqliteEngine } from '../../src/store/engine/sqlite.ts';
import { createStore } from '../../src/store/engine/store.ts';
import { systemTimer } from '../../src/system/clock.ts';
import { createPool } from '../../src/system/pool/pool.ts';
import { createTemplates } from '../../src/system/templates/templates.ts';
import { besideSlowOnes } from './http.ts';
import { token } from './load.ts';
import { nullTransport, settings } from './world.ts';

/**
 * A process of its own for the bench of the API. `product <file>` serves the product over the database with everything that
 * it does besides, and with a chat that answers at once; `bare` answers bytes that the parent sends, and `slow <ms>` after a time, and
 * tells how many wait; its port goes to the parent. `storm` measures messages beside slow calls, and sends the figures.
 */
const [kind, place = ''] = process.argv.slice(2);

async function serveProduct(file: string): Promise<number> {
  const read = readConfig({ API_TOKEN: token, HTTP_PORT: '0', DATABASE_URL: `file:${file}`, API_RATE: '0' });
  if ('faults' in read) throw new Error(JSON.stringify(read.faults));
  const store = createStore(sqliteEngine(openSqlite(file), () => systemTimer.yield()));
  const world = systemWorld({ level: 'info', isTerminal: false });
  const templates = createTemplates(createPool(world).run);
  const rooms = composeRooms(settings, world, { store, transport: () => nullTransport(), templates });
  const loops = createLoops(settings, { world, rooms });
  const { app } = createApi(read.config, { world, rooms, store, loops, version: '0', watched: [] });
  const listening = await serveHttp({ app, host: read.config.HTTP_HOST, port: read.config.HTTP_PORT });
  await rooms.downtimes.open();
  for (const loop of loops) loop.start();
  return listening.port;
}

/** The answers stand in the parent's message, by the path of the request. */
async function serveBare(): Promise<number> {
  let bytes = Buffer.alloc(0);
  process.on('message', (text: string) => (bytes = Buffer.from(text)));
  const server = createServer((incoming, outgoing) => {
    incoming.resume().once('end', () => {
      outgoing.writeHead(200, { 'content-type': 'application/json', 'content-length': bytes.length });
      outgoing.end(bytes);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

/** Each answer is as late as it is told to be. */
async function serveSlow(ms: number): Promise<number> {
  let waiting = 0;
  const server = createServer((incoming, outgoing) => {
    process.send?.((waiting += 1));
    incoming.resume();
    setTimeout(() => {
      process.send?.((waiting -= 1));
      outgoing.end('late');
    }, ms);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', 2048, resolve));
  return (server.address() as AddressInfo).port;
}

const serve = {
  product: () => serveProduct(place),
  bare: serveBare,
  slow: () => serveSlow(Number(place)),
  storm: besideSlowOnes,
};
const first = await serve[kind as keyof typeof serve]();
process.once('disconnect', () => process.exit(0));
process.send?.(first);
