import type { Log, Stopwatch, Timer } from '../../app/ports/outside.ts';
import type { UpdateRow, WebhookRow } from '../world/rows.ts';
import type { State } from '../world/state.ts';
import { openUpdates, setAllowedUpdates } from './polling.ts';
import { type Arguments, badRequest, tooManyRequests } from './request.ts';

interface WebhookDeps {
  readonly state: State;
  readonly timer: Timer;
  readonly stopwatch: Stopwatch;
  readonly log: Log;
}

const secretMax = 256;
const connectionsDefault = 40;
const connectionsMax = 100;
const setPauseMs = 1000;
const answerTimeoutMs = 60_000;
/** The pause before an update is pushed again: it doubles, up to a minute, unless the bot's server names one. */
const retryMs = { first: 1000, max: 60_000, namedMax: 3_600_000 };

/** Pushes updates to the bot's server, one at a time for each chat, until it answers with 2xx. */
export class Webhook {
  readonly #deps: WebhookDeps;
  /** Queues that are under way or wait for their next try. */
  readonly #busy = new Map<string, () => void>();
  readonly #failures = new Map<string, number>();
  #nextSetAt = 0;
  #isClosed = false;

  constructor(deps: WebhookDeps) {
    this.#deps = deps;
  }

  /** Answers the description that stands beside the result. */
  set(args: Arguments): string {
    const url = args.text('url').trim();
    if (url === '') return this.delete(args);
    const now = this.#deps.stopwatch.elapsed();
    if (now < this.#nextSetAt) throw tooManyRequests(1);
    const row = readWebhook(args, url);
    this.#nextSetAt = now + setPauseMs;
    const { state } = this.#deps;
    const before = state.settings.webhook;
    setAllowedUpdates(state, args);
    if (args.boolean('drop_pending_updates')) dropUpdates(state);
    if (before !== null && isSame(before, row)) return 'Webhook is already set';
    state.set({ webhook: row });
    state.afterwards(() => {
      this.stop();
      this.wake();
    });
    return 'Webhook was set';
  }

  delete(args: Arguments): string {
    const { state } = this.#deps;
    if (args.boolean('drop_pending_updates')) dropUpdates(state);
    if (state.settings.webhook === null) return 'Webhook is already deleted';
    state.set({ webhook: null });
    state.afterwards(() => this.stop());
    return 'Webhook was deleted';
  }

  info(): Readonly<Record<string, unknown>> {
    const { state } = this.#deps;
    const { webhook, allowedUpdates } = state.settings;
    return {
      url: webhook?.url ?? '',
      has_custom_certificate: false,
      pending_update_count: openUpdates(state).length,
      ...(webhook === null ? {} : described(webhook)),
      ...(allowedUpdates === null ? {} : { allowed_updates: allowedUpdates }),
    };
  }

  wake(): void {
    const { webhook } = this.#deps.state.settings;
    if (webhook === null || this.#isClosed) return;
    for (const update of openUpdates(this.#deps.state)) {
      if (this.#busy.size >= webhook.maxConnections) return;
      if (!this.#busy.has(update.queue)) void this.#push(webhook, update);
    }
  }

  /** Calls off what is under way; the next update begins anew. */
  stop(): void {
    const stops = [...this.#busy.values()];
    this.#busy.clear();
    this.#failures.clear();
    for (const stop of stops) stop();
  }

  close(): void {
    this.#isClosed = true;
    this.stop();
  }

  async #push(webhook: WebhookRow, update: UpdateRow): Promise<void> {
    const abort = new AbortController();
    const stop = () => abort.abort();
    this.#busy.set(update.queue, stop);
    const endTimeout = this.#deps.timer.after(answerTimeoutMs, stop);
    const answer = await post(webhook, update, abort.signal);
    endTimeout();
    // Stopped, or begun anew, in the meantime: somebody else looks after this queue now.
    if (this.#busy.get(update.queue) !== stop) return;
    if (answer.is === 'done') this.#confirmed(update);
    else this.#failed(update, answer);
  }

  #confirmed({ queue, updateId }: UpdateRow): void {
    const { state } = this.#deps;
    this.#busy.delete(queue);
    this.#failures.delete(queue);
    state.transact(() => state.updates.remove(updateId));
    this.wake();
  }

  #failed({ queue, updateId }: UpdateRow, { error, retryAfterMs }: Failed): void {
    const { state, timer, log } = this.#deps;
    const failures = (this.#failures.get(queue) ?? 0) + 1;
    this.#failures.set(queue, failures);
    log.warn('sandbox.webhook_failed', { update: updateId, failures, error });
    state.transact(() => {
      const { webhook } = state.settings;
      if (webhook === null) return;
      state.set({ webhook: { ...webhook, lastErrorDate: state.seconds(), lastErrorMessage: error } });
    });
    const pause = retryAfterMs ?? Math.min(retryMs.first * 2 ** (failures - 1), retryMs.max);
    const stop = timer.after(pause, () => {
      this.#busy.delete(queue);
      this.wake();
    });
    this.#busy.set(queue, stop);
  }
}

function described(webhook: WebhookRow): Readonly<Record<string, unknown>> {
  const { ipAddress, lastErrorDate, lastErrorMessage, maxConnections } = webhook;
  return {
    ...(ipAddress === null ? {} : { ip_address: ipAddress }),
    ...(lastErrorDate === null ? {} : { last_error_date: lastErrorDate, last_error_message: lastErrorMessage }),
    max_connections: maxConnections,
  };
}

interface Failed {
  readonly is: 'failed';
  readonly error: string;
  readonly retryAfterMs: number | null;
}

async function post(webhook: WebhookRow, update: UpdateRow, signal: AbortSignal): Promise<{ is: 'done' } | Failed> {
  try {
    const response = await fetch(webhook.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(webhook.secret === '' ? {} : { 'x-telegram-bot-api-secret-token': webhook.secret }),
      },
      body: JSON.stringify(update.body),
      redirect: 'manual',
      signal,
    });
    await response.arrayBuffer();
    if (response.ok) return { is: 'done' };
    const error = `Wrong response from the webhook: ${response.status} ${response.statusText}`.trim();
    return { is: 'failed', error, retryAfterMs: namedPause(response.headers.get('retry-after')) };
  } catch (error) {
    const code = error instanceof Error ? (error.cause as { code?: string } | undefined)?.code : undefined;
    const words = code === 'ECONNREFUSED' ? 'Connection refused' : `Connection failed: ${code ?? String(error)}`;
    return { is: 'failed', error: words, retryAfterMs: null };
  }
}

function namedPause(header: string | null): number | null {
  const seconds = Number(header ?? '');
  return header === null || !(seconds > 0) ? null : Math.min(seconds * 1000, retryMs.namedMax);
}

function readWebhook(args: Arguments, url: string): WebhookRow {
  if (!URL.canParse(url)) throw badRequest('invalid webhook URL specified');
  const { protocol, hostname } = new URL(url);
  // Without a network the only servers are those of this machine, which have no certificates.
  const isLocal = protocol === 'http:' && ['127.0.0.1', '[::1]', 'localhost'].includes(hostname);
  if (protocol !== 'https:' && !isLocal) {
    throw badRequest('bad webhook: An HTTPS URL must be provided for webhook');
  }
  const secret = args.text('secret_token');
  if (secret.length > secretMax) throw badRequest('secret token is too long');
  if (!/^[\w-]*$/.test(secret)) throw badRequest('secret token contains unallowed characters');
  const connections = args.integer('max_connections', connectionsDefault);
  return {
    url,
    secret,
    maxConnections: Math.min(Math.max(connections, 1), connectionsMax),
    ipAddress: args.text('ip_address') || null,
    lastErrorDate: null,
    lastErrorMessage: null,
  };
}

function isSame(a: WebhookRow, b: WebhookRow): boolean {
  const essence = ({ url, secret, maxConnections, ipAddress }: WebhookRow) =>
    JSON.stringify([url, secret, maxConnections, ipAddress]);
  return essence(a) === essence(b);
}

function dropUpdates(state: State): void {
  for (const { updateId } of state.updates.all()) state.updates.remove(updateId);
}
