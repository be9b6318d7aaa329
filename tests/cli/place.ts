import { aBot, start, type Bot } from '../e2e/bot.ts';
import { typed, type Said, type Seat } from './terminal.ts';

export const token = 'the-token-of-the-command-line';

/** A whole server in the sandbox, and somebody who types commands to it. */
export interface Place {
  readonly bot: Bot;
  readonly type: (words: string, seat?: Seat) => Promise<Said>;
  /** Types a line that must end with 0. */
  readonly well: (words: string, seat?: Seat) => Promise<Said>;
}

export async function aPlace(env: Readonly<Record<string, string>> = {}): Promise<Place> {
  const bot = await aBot({ API_TOKEN: token, ...env }, start);
  return placeAt(bot);
}

/** A server to which a line was typed that ended with 0. */
export async function aPlaceAfter(words: string): Promise<Place> {
  const place = await aPlace();
  await place.well(words);
  return place;
}

export function placeAt(bot: Bot): Place {
  const type = (words: string, seat: Seat = {}) =>
    typed(split(words), {
      clock: bot.time,
      stopwatch: bot.time,
      timer: walking(bot),
      ...seat,
      environment: { CRONOGRAM_API_URL: bot.server.url, CRONOGRAM_API_TOKEN: token, ...seat.environment },
    });
  return {
    bot,
    type,
    well: async (words, seat) => {
      const said = await type(words, seat);
      if (said.code !== 0) throw new Error(`${words} ended with ${said.code}: ${said.out}${said.err}`);
      return said;
    },
  };
}

/** A timer whose waits let the time of the server go on by as much. */
function walking(bot: Bot): NonNullable<Seat['timer']> {
  return {
    after: (ms, call) => {
      let isOff = false;
      void bot.drift(ms).then(() => {
        if (!isOff) call();
      });
      return () => {
        isOff = true;
      };
    },
    yield: () => bot.time.yield(),
  };
}

/** As a shell splits words: by spaces, and not within quotes. */
export function split(words: string): string[] {
  return [...words.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, bare]) => double ?? single ?? bare ?? '',
  );
}
