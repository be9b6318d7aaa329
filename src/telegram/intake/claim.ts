import { timingSafeEqual } from 'node:crypto';
import type { Digest, Log } from '../../app/ports/outside.ts';

/** Wrong codes after which nobody can claim the bot until the server is started again. */
const triesMax = 5;

/**
 * The one-time code by which somebody becomes the first owner. It exists while there is no owner, is a new one at every
 * start, and only its hash is kept, in memory.
 */
export interface Claim {
  /** Makes the code and shows it. */
  open(): void;
  readonly isOpen: () => boolean;
  /** Wrong codes have closed it, until the next start. */
  readonly isLocked: () => boolean;
  /**
   * `right` closes it, so that no second one can come in at the same time. An update that the platform brings again is the
   * same try.
   */
  attempt(code: string, updateId: number): 'right' | 'wrong' | 'closed';
  /** What the right code stood for could not be written down: it is good once more. */
  reopen(): void;
}

interface Needs {
  readonly digest: Digest;
  readonly log: Log;
  readonly secret: () => string;
  readonly printClaim: (code: string) => void;
}

export function createClaim({ digest, log, secret, printClaim }: Needs): Claim {
  let hash: Buffer | null = null;
  let isUsed = false;
  const wrong = new Set<number>();
  const isLocked = () => hash !== null && !isUsed && wrong.size >= triesMax;
  const isOpen = () => hash !== null && !isUsed && !isLocked();

  const attempt = (code: string, updateId: number) => {
    if (hash === null || !isOpen()) return 'closed';
    if (timingSafeEqual(Buffer.from(digest.of(code)), hash)) {
      isUsed = true;
      return 'right';
    }
    wrong.add(updateId);
    log.warn('claim_refused', { tries: wrong.size });
    if (wrong.size >= triesMax) log.error('claim_locked', { explanation: 'Start the server again for a new code.' });
    return 'wrong';
  };

  return {
    open: () => {
      const code = secret();
      hash = Buffer.from(digest.of(code));
      printClaim(code);
    },
    isOpen,
    isLocked,
    attempt,
    reopen: () => {
      isUsed = false;
    },
  };
}
