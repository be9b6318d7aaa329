import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import type { Wire, WireRequest } from '../cli/network.ts';
import type { Config } from '../config/config.ts';
import { AppError } from '../domain/errors.ts';
import { databaseFile, openStore, type Opened } from '../store/engine/open.ts';
import { createApi } from './api.ts';
import { composeRooms, systemWorld, type World } from './assembly.ts';
import { isSandboxed } from './telegram-or-sandbox.ts';
import { skippedBefore, timeOf, travelling } from './travel.ts';

/** The API over the database of this folder, which no other process may hold meanwhile. Nothing runs and nothing is sent by it. */
export async function openOffline(config: Config, version: string): Promise<Wire & { readonly token: string }> {
  // The results of the command line stand on the stream to which the log would go.
  const real = systemWorld({ level: 'silent', isTerminal: false });
  const file = databaseFile(config.DATABASE_URL);
  if (file !== null && !existsSync(file)) {
    const message = `There is no database at ${file}. Work in the folder of the server, or set DATABASE_URL.`;
    throw new AppError('not_found', message);
  }
  const opened = await openStore({
    url: config.DATABASE_URL,
    holder: { pid: process.pid, host: hostname(), since: real.clock.now() },
    timer: real.timer,
    onLost: (error) => {
      throw error;
    },
  });
  try {
    const { app, token } = await apiOver(config, { real, opened, version });
    return { ...wireOf((request) => app.fetch(request)), token, close: () => opened.close() };
  } catch (error) {
    await opened.close();
    throw error;
  }
}

async function apiOver(config: Config, { real, opened, version }: { real: World; opened: Opened; version: string }) {
  const time = isSandboxed(config) ? timeOf(real) : null;
  const world = time === null ? real : travelling(real, time);
  // In the sandbox it is as late as it was when its server stopped.
  time?.skip(await skippedBefore(opened.store));
  const rooms = composeRooms(config, world, { store: opened.store, backups: opened.backups, transport: () => nobody });
  return createApi(config, { world, rooms, store: opened.store, loops: [], version, watched: [] });
}

/** Deliveries wait for the server; who asks for one here has found a fault of ours. */
const sendsNothing = () => Promise.reject(new AppError('internal', 'Nothing is sent while the server is stopped.'));
const nobody = {
  send: sendsNothing,
  act: sendsNothing,
  settle: sendsNothing,
  createTopic: sendsNothing,
  findTopic: sendsNothing,
  remove: sendsNothing,
};

/** The host is of no meaning where there is no network. */
const origin = 'http://offline';

function wireOf(fetch: (request: Request) => Response | Promise<Response>): Omit<Wire, 'close'> {
  const ask = async ({ method, path, headers, body }: WireRequest, signal: AbortSignal) => {
    const answer = await fetch(
      new Request(`${origin}${path}`, { method, headers, signal, ...(body === undefined ? {} : { body }) }),
    );
    const { status, headers: told } = answer;
    return { status, type: told.get('content-type') ?? '', date: told.get('date') ?? '', answer };
  };
  return {
    place: 'the database of this folder (--offline)',
    ask: async (request, signal) => {
      const { answer, ...told } = await ask(request, signal);
      return { ...told, text: await answer.text() };
    },
    listen: async (request, signal) => {
      const { answer, ...told } = await ask(request, signal);
      return { ...told, chunks: textsOf(answer) };
    },
    fetch: async (request, signal) => {
      const { answer, ...told } = await ask(request, signal);
      const name = answer.headers.get('content-disposition') ?? '';
      return { ...told, name, chunks: (answer.body ?? []) as AsyncIterable<Uint8Array> };
    },
  };
}

async function* textsOf({ body }: Response): AsyncIterable<string> {
  const decoder = new TextDecoder();
  for await (const chunk of body ?? []) yield decoder.decode(chunk as Uint8Array, { stream: true });
}
