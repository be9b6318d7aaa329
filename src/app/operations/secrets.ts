/**
 * The second line of defence: nothing that is written is meant to hold a secret, and what others say may hold one all the
 * same. Telegram repeats an address with the bot's token in it, a driver its connection string.
 */
export interface Secrets {
  add(secret: string): void;
  /** The text without any secret, as it stands or as it is written in an address, in JSON or in base64. */
  readonly hide: (text: string) => string;
}

/** A shorter secret stands in texts that have nothing to do with it, and could not be kept. */
const lengthMin = 6;

export function createSecrets(known: readonly string[] = []): Secrets {
  const forms = new Set<string>();
  let longestFirst: readonly string[] = [];
  const add = (secret: string) => {
    if (secret.length < lengthMin) return;
    for (const form of formsOf(secret)) forms.add(form);
    // A secret within a longer one would leave the rest of that standing.
    longestFirst = [...forms].toSorted((a, b) => b.length - a.length);
  };
  for (const secret of known) add(secret);
  return {
    add,
    hide: (text) => {
      let shown = text;
      for (const form of longestFirst) if (shown.includes(form)) shown = shown.replaceAll(form, '[secret]');
      return shown;
    },
  };
}

function formsOf(secret: string): readonly string[] {
  const encoded = encodeURIComponent(secret);
  const bytes = Buffer.from(secret);
  return [
    secret,
    encoded,
    encoded.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    encodeURIComponent(encoded),
    JSON.stringify(secret).slice(1, -1),
    bytes.toString('base64'),
    bytes.toString('base64').replace(/=+$/, ''),
    bytes.toString('base64url'),
  ];
}
