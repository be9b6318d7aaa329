/** @import { ChangeJson } from '../../control/shapes.ts' */
import { byId } from './nodes.js';
import { refreshMessages, refreshState } from './refresh.js';
import { TransportError } from './server.js';
import { currentChat } from './shown.js';
import { refreshCalls } from './tools/calls.js';

/** @typedef {'state' | 'messages' | 'calls'} Part */

/** @type {Set<Part>} */
const waiting = new Set();
let isPlanned = false;

/**
 * Reads a part anew in a moment, together with everything else that changes until then.
 *
 * @param {Part} part
 */
export function plan(part) {
  waiting.add(part);
  if (isPlanned) return;
  isPlanned = true;
  setTimeout(() => void readPlanned(), 60);
}

async function readPlanned() {
  isPlanned = false;
  const now = new Set(waiting);
  waiting.clear();
  try {
    if (now.has('state')) await refreshState();
    if (now.has('messages')) await refreshMessages();
    if (now.has('calls')) await refreshCalls();
    showLink(source?.readyState === EventSource.OPEN);
  } catch (error) {
    showLink(false);
    // A fault of the page itself goes to the console too, so that it does not pass for a lost connection.
    if (!(error instanceof TransportError)) throw error;
  }
}

/** @param {ChangeJson} change */
function onChange({ kind, chat_id: chatId }) {
  if (kind === 'call') {
    plan('calls');
    return;
  }
  plan('state');
  if (chatId === null || currentChat()?.chat_id === chatId) plan('messages');
}

/** @type {EventSource | null} */
let source = null;
let lastId = '';

/** Listens to the changes, and comes back by itself when the connection was lost. */
export function connect() {
  const after = lastId === '' ? '' : `?after=${encodeURIComponent(lastId)}`;
  const opened = new EventSource(`/sandbox/control/events${after}`);
  source = opened;
  const readEverything = (/** @type {MessageEvent} */ event) => {
    lastId = event.lastEventId;
    showLink(true);
    plan('state');
    plan('messages');
    plan('calls');
  };
  opened.addEventListener('hello', readEverything);
  opened.addEventListener('stale', readEverything);
  opened.addEventListener('change', (/** @type {MessageEvent<string>} */ event) => {
    lastId = event.lastEventId;
    onChange(/** @type {ChangeJson} */ (JSON.parse(event.data)));
  });
  opened.addEventListener('error', () => {
    showLink(false);
    if (opened.readyState !== EventSource.CLOSED) return;
    opened.close();
    setTimeout(connect, 3000);
  });
}

/** @param {boolean} isGood */
function showLink(isGood) {
  const node = byId('link-state');
  node.textContent = isGood ? 'live' : 'reconnecting';
  node.classList.toggle('good', isGood);
}
