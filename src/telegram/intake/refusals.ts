import type { Clock, Log } from '../../app/ports/outside.ts';

const dayMs = 86_400_000;
/** Strangers that are remembered; past that the oldest is forgotten and may be refused once more. */
const rememberedMax = 10_000;

export interface Stranger {
  readonly userId: number | null;
  /** Set for a group: it is refused once, whoever speaks there. */
  readonly chatId: number | null;
}

/**
 * Who was refused: a stranger once a day, a group once. It is remembered in memory alone, so a restart forgets it; nothing
 * of a stranger is kept but the line in the log.
 */
export interface Refusals {
  /** True when they were not refused yet; then they count as refused from now on. */
  isNew(stranger: Stranger): boolean;
  /** A press is refused each time, because each must be answered; it is logged once a day. */
  notePress(userId: number): void;
}

export function createRefusals({ clock, log }: { readonly clock: Clock; readonly log: Log }): Refusals {
  const refusedAt = new Map<string, number>();
  const isFirst = (key: string, forMs: number): boolean => {
    const last = refusedAt.get(key);
    const now = clock.now();
    // A clock that was set back ends the silence, and no harm is done.
    if (last !== undefined && Math.abs(now - last) < forMs) return false;
    refusedAt.delete(key);
    refusedAt.set(key, now);
    forgetOldest(refusedAt);
    return true;
  };
  return {
    isNew: ({ userId, chatId }) => {
      const isNew = chatId === null ? isFirst(`user ${userId}`, dayMs) : isFirst(`chat ${chatId}`, Infinity);
      const where = chatId === null ? {} : { address: String(chatId) };
      if (isNew) log.info('stranger_refused', { user_id: userId, ...where });
      return isNew;
    },
    notePress: (userId) => {
      if (isFirst(`press ${userId}`, dayMs)) log.info('stranger_refused', { user_id: userId, by: 'press' });
    },
  };
}

function forgetOldest(refusedAt: Map<string, number>): void {
  const [oldest] = refusedAt.keys();
  if (refusedAt.size > rememberedMax && oldest !== undefined) refusedAt.delete(oldest);
}
