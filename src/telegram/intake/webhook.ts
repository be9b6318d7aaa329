import { timingSafeEqual } from 'node:crypto';
import type { World } from '../../app/ports/outside.ts';
import { errorText } from '../../domain/errors.ts';
import { untilAnswered, type AskDeps } from './backoff.ts';
import type { InSettings } from './deps.ts';
import { updateIdOf, updatesWanted } from './payload.ts';

/** The other way in: Telegram brings the updates, one request each. */
export interface Webhook {
  /**
   * Answers the HTTP status for one request: 200 when it is stored, 401 for whoever does not know the secret, 400 for what
   * is no update, 404 where no webhook is wanted, 503 while it cannot be taken; Telegram brings it again then. The
   * names of headers are in lower case.
   */
  readonly handle: (headers: Readonly<Record<string, string | undefined>>, body: string) => Promise<number>;
}

interface WebhookDeps extends Pick<World, 'digest' | 'log'> {
  readonly webhook: InSettings['webhook'];
  /** Stores it and rings the worker. False while nobody knows who the bot is; it throws when the store is away. */
  readonly take: (update: unknown) => Promise<boolean>;
}

const secretHeader = 'x-telegram-bot-api-secret-token';

export function createWebhook({ digest, log, webhook, take }: WebhookDeps): Webhook {
  const hashOf = (text: string) => Buffer.from(digest.of(text));
  const secret = webhook === null ? null : hashOf(webhook.secret);
  return {
    handle: async (headers, body) => {
      if (secret === null) return 404;
      if (!timingSafeEqual(hashOf(headers[secretHeader] ?? ''), secret)) return 401;
      const update = parsed(body);
      if (updateIdOf(update) === null) return 400;
      try {
        if (!(await take(update))) return 503;
      } catch (error) {
        log.warn('webhook_update_refused', { error: errorText(error) });
        return 503;
      }
      return 200;
    },
  };
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return null;
  }
}

/** Tells Telegram where to bring updates, or that they are polled. Null when everything stops before that is done. */
export function setDelivery(asking: AskDeps, webhook: InSettings['webhook']): Promise<{ readonly value: true } | null> {
  return untilAnswered(asking, (raw, signal) =>
    webhook === null
      ? raw.deleteWebhook({ drop_pending_updates: false }, signal)
      : raw.setWebhook(
          {
            url: webhook.url,
            secret_token: webhook.secret,
            allowed_updates: updatesWanted,
            drop_pending_updates: false,
          },
          signal,
        ),
  );
}
