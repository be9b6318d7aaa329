import type { Unanswered } from '../errors.ts';

/** Why a question was not answered, by what helps against it. `refused` gets the same answer again. */
export interface Trouble {
  readonly is: 'conflict' | 'webhook' | 'token' | 'busy' | 'refused' | 'away';
  readonly retryAfterMs: number | null;
  /** For the log: the words of the platform, or of the network. */
  readonly text: string;
}

export function troubleOf(unanswered: Unanswered): Trouble {
  const { is, error: text } = unanswered;
  switch (is) {
    case 'tooMany':
      return { is: 'busy', retryAfterMs: unanswered.retryAfterMs, text };
    case 'token':
      return { is: 'token', retryAfterMs: null, text };
    case 'refused':
      return { is: refusalOf(unanswered.code, text), retryAfterMs: null, text };
    case 'moved':
      return { is: 'refused', retryAfterMs: null, text };
    case 'troubled':
    case 'unreached':
    case 'lost':
      return { is: 'away', retryAfterMs: null, text };
  }
}

function refusalOf(code: number, text: string): Trouble['is'] {
  if (code !== 409) return 'refused';
  return text.includes('webhook is active') ? 'webhook' : 'conflict';
}
