import { refreshCalls } from './tools/calls.js';

/** The start of the page names the ways in which its parts are read and drawn, so that every part may ask for them. */
const ways = {
  readState: async () => {},
  readMessages: async () => {},
  draw: () => {},
};

/** @param {typeof ways} given */
export function refreshBy(given) {
  Object.assign(ways, given);
}

/**
 * Never does two reads of one kind at once. A change that comes meanwhile is read once more afterwards.
 *
 * @param {() => Promise<void>} read
 * @returns {() => Promise<void>}
 */
function once(read) {
  /** @type {Promise<void> | null} */
  let running = null;
  /** @type {Promise<void> | null} */
  let again = null;
  /** @returns {Promise<void>} */
  const refresh = () => {
    if (running === null) {
      running = read().finally(() => {
        running = null;
      });
      return again ?? running;
    }
    again ??= running
      .catch(() => {})
      .then(() => {
        again = null;
        return refresh();
      });
    return again;
  };
  return refresh;
}

export const refreshState = once(() => ways.readState());
export const refreshMessages = once(() => ways.readMessages());

export async function refreshAll() {
  await refreshState();
  await refreshMessages();
  await refreshCalls();
}

export function drawAll() {
  ways.draw();
}
