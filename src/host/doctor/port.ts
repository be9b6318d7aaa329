import { createServer } from 'node:net';
import { ownAddress } from '../../config/surroundings.ts';
import { keptAddress } from '../../system/own-address.ts';
import { fail, ok, warn, type Check, type Patient, type Verdict } from './finding.ts';

/** The port of the API: free, or taken by a server of ours that is well. */

const answerMaxMs = 3000;

const httpPort: Check = {
  check: 'http',
  title: 'HTTP port',
  look: async (patient) => {
    const { HTTP_HOST: host, HTTP_PORT: port } = patient.settings.config;
    const address = keptAddress(patient.settings.dataFolder);
    if (port === 0 && address === null) return [ok('HTTP_PORT=0: each start takes a free one')];
    const isHeld = patient.examined.lock.is === 'held';
    // The server that works here may have been given another port than the one that is read here.
    const place = address ?? ownAddress(host, String(port));
    const version = await ask(place, '/version');
    if (version === null) return [await silence(host, port, isHeld)];
    if (nameOf(version.body) !== 'cronogram')
      return [fail(`${host}:${port} is used by another program.`, 'Choose another HTTP_PORT, or stop that program.')];
    return [await wellness(patient, place, versionOf(version.body))];
  },
};

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** Null when there is no answer. */
async function ask(place: string, path: string): Promise<Answer | null> {
  try {
    const answer = await fetch(`${place}${path}`, { signal: AbortSignal.timeout(answerMaxMs) });
    return { status: answer.status, body: await answer.json().catch(() => null) };
  } catch {
    return null;
  }
}

function field(body: unknown, name: string): unknown {
  return typeof body === 'object' && body !== null ? (body as Record<string, unknown>)[name] : undefined;
}

const nameOf = (body: unknown) => field(body, 'name');
const versionOf = (body: unknown) => String(field(body, 'version'));

async function silence(host: string, port: number, isHeld: boolean): Promise<Verdict> {
  const code = await tryPort(host, port);
  const where = `${host}:${port}`;
  if (code === 'EADDRINUSE') {
    const text = `${where} is taken, and the program that has it does not answer.`;
    return fail(text, isHeld ? 'Start the server again.' : 'Choose another HTTP_PORT, or stop that program.');
  }
  if (code === 'EACCES') return fail(`${where} may not be used by you.`, 'Choose an HTTP_PORT from 1024 on.');
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return fail(`${host} is no address of this computer.`, 'Set HTTP_HOST to 127.0.0.1, or to one of its addresses.');
  if (code !== null) return fail(`${where} cannot be used (${code}).`, 'Choose another HTTP_HOST or HTTP_PORT.');
  if (!isHeld) return ok(`${where} is free`);
  return warn(
    `A server has the database, but none answers at ${where}.`,
    'Is its HTTP_PORT another one? Compare its .env.',
  );
}

/** Listens there for a moment; null when that works. */
function tryPort(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host, port }, () => server.close(() => resolve(null)));
  });
}

async function wellness(patient: Patient, place: string, running: string): Promise<Verdict> {
  const installed = patient.here.version;
  const [live, ready] = await Promise.all([ask(place, '/livez'), ask(place, '/readyz')]);
  const where = `Cronogram ${running} answers at ${new URL(place).host}`;
  if (live?.status !== 200) return fail(`${where}, but does not turn any more.`, 'Start the server again.');
  const standby = standbyIn(ready?.body);
  if (standby !== null)
    return warn(`${where}, and stands by: ${standby}.`, 'It takes over within seconds once that process has ended.');
  if (ready?.status !== 200)
    return fail(`${where}, but is not ready: ${troubles(ready?.body)}.`, 'Fix what it names; its log shows more.');
  if (patient.examined.lock.is === 'free')
    return fail(`${where}, but works in another folder.`, 'Look from there, or choose another HTTP_PORT in .env here.');
  if (running !== installed)
    return warn(`${where}, but ${installed} is installed.`, 'Start the server again, so that the new version runs.');
  return ok(`${where} and is ready`);
}

/** The process for which this one stands by; null where it does not. */
function standbyIn(body: unknown): string | null {
  const server = field(body, 'server');
  return typeof server === 'string' ? (/^standby: (.+)$/.exec(server)?.[1] ?? null) : null;
}

/** The parts that are not well, in their own words. */
function troubles(body: unknown): string {
  const parts = typeof body === 'object' && body !== null ? Object.entries(body) : [];
  const bad = parts.filter(([name, state]) => name !== 'ok' && state !== 'ok' && state !== true);
  return (
    bad.map(([name, state]) => `${name} ${typeof state === 'string' ? state : JSON.stringify(state)}`).join(', ') ||
    'it does not say why'
  );
}

export const portChecks: readonly Check[] = [httpPort];
