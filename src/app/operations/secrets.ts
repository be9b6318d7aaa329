import { masker } from '../../domain/secrets/mask.ts';

/**
 * The second line of defence: nothing that is written is meant to hold a secret, and what others say may hold one all the
 * same. Telegram repeats an address with the bot's token in it, a driver its connection string.
 */
export interface Secrets {
  add(secret: string): void;
  /** The text without any secret, however it is written there. */
  readonly hide: (text: string) => string;
}

export function createSecrets(known: readonly string[] = []): Secrets {
  const values = new Set(known);
  let mask = masker([...values]);
  return {
    add: (secret) => {
      values.add(secret);
      mask = masker([...values]);
    },
    hide: (text) => mask(text),
  };
}
