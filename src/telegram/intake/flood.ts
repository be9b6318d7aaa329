const minuteMs = 60_000;
/** Nobody types or presses more than this in a minute and reads the answers. */
const personMax = 30;
/** A group is sent about twenty messages a minute, answers first, so that more words than these would hold up its results. */
const chatMax = 60;
/** People and chats that are remembered; past that all are forgotten, which lets a few more words through. */
const rememberedMax = 10_000;

interface Word {
  readonly updateId: number;
  readonly chatId: string;
  readonly userId: number;
  /** When it was said: what waited for hours was not said at once. */
  readonly at: number;
}

/**
 * How fast people who manage nothing in a group may speak to us there. Whoever sends hundreds of commands would have them
 * all answered before the next result has its turn.
 */
export interface FloodLimit {
  /** `fine` is answered; the first word too many of a minute is told so, and the rest is passed over. */
  paceOf(word: Word): 'fine' | 'first' | 'more';
}

/** The updates of one minute, in the order in which they were taken up; each counts once, however often it is handled. */
interface Minute {
  readonly since: number;
  readonly updates: number[];
}

export function createFloodLimit(): FloodLimit {
  const minutes = new Map<string, Minute>();

  const minuteOf = (key: string, at: number): Minute => {
    const known = minutes.get(key);
    if (known !== undefined && at >= known.since && at - known.since < minuteMs) return known;
    if (minutes.size >= rememberedMax) minutes.clear();
    const begun = { since: at, updates: [] };
    minutes.set(key, begun);
    return begun;
  };

  const placeIn = ({ updates }: Minute, updateId: number, max: number): ReturnType<FloodLimit['paceOf']> => {
    if (!updates.includes(updateId) && updates.length <= max) updates.push(updateId);
    const place = updates.indexOf(updateId);
    if (place < 0) return 'more';
    return place < max ? 'fine' : 'first';
  };

  return {
    paceOf: ({ updateId, chatId, userId, at }) => {
      const mine = placeIn(minuteOf(`${chatId} ${userId}`, at), updateId, personMax);
      return mine === 'fine' ? placeIn(minuteOf(chatId, at), updateId, chatMax) : mine;
    },
  };
}
