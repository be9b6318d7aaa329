import { drawChats, drawTitle, markSeen, readAddress } from './chat/chats.js';
import { drawActors, startComposer } from './chat/composer.js';
import { drawMessages, startScroll } from './chat/messages.js';
import { field } from './chat/suggestions.js';
import { act, ask } from './dialogs.js';
import { connect, plan } from './live.js';
import { byId } from './nodes.js';
import { drawAll, refreshAll, refreshBy, refreshMessages } from './refresh.js';
import { get, post } from './server.js';
import { currentChat, memory, openPlace, shown } from './shown.js';
import { drawCalls } from './tools/calls.js';
import { drawClock, startClock } from './tools/clock.js';
import { drawFaults, startFaults } from './tools/faults.js';
import { drawPlace, drawPlatform } from './tools/place.js';
import { startTabs } from './tools/tabs.js';

async function readState() {
  const state = await get('state');
  shown.state = state;
  shown.clockAt = Date.parse(state.clock.now);
  shown.clockRead = performance.now();
  const before = openPlace();
  readAddress();
  drawAll();
  if (openPlace() !== before) await refreshMessages();
}

async function readMessages() {
  const chat = currentChat();
  if (chat === null) return;
  const place = openPlace();
  const thread = shown.thread === null ? '' : `&thread=${shown.thread}`;
  const answer = await get('messages', `?chat=${chat.chat_id}${thread}&limit=${shown.limit}`);
  if (openPlace() !== place) return;
  shown.messages = answer.messages;
  shown.hasOlder = answer.has_older;
  shown.loaded = place;
  drawMessages();
}

function draw() {
  markSeen();
  drawChats();
  drawTitle();
  drawActors();
  drawMessages();
  drawClock();
  drawFaults();
  drawPlace();
  drawPlatform();
}

/** @param {HTMLButtonElement} button */
async function resetAll(button) {
  const words = 'Take back everything that was said, and begin with empty chats? Tasks of the bot stay where they are.';
  if (!(await ask(words, true))) return;
  await act(async () => {
    await post('reset', {});
    shown.seen = {};
    memory.write('seen', {});
    shown.messages = [];
    shown.isFresh = true;
    await refreshAll();
  }, button);
}

function startOlder() {
  const older = byId('older', HTMLButtonElement);
  older.addEventListener('click', () => {
    shown.limit = Math.min(500, shown.limit + 100);
    void act(refreshMessages, older);
  });
}

function openAddress() {
  readAddress();
  shown.isFresh = true;
  drawAll();
  void act(refreshMessages);
  if (document.body.dataset.screen === 'chat' && matchMedia('(hover: hover)').matches) field().focus();
}

function readVisible() {
  if (!document.hidden) plan('state');
}

function start() {
  refreshBy({ readState, readMessages, draw });
  startComposer();
  startTabs();
  startClock();
  startFaults();
  startScroll();
  startOlder();
  byId('calls-polls').addEventListener('change', drawCalls);
  const reset = byId('reset', HTMLButtonElement);
  reset.addEventListener('click', () => void resetAll(reset));
  byId('back').addEventListener('click', () => {
    location.hash = '';
  });
  addEventListener('hashchange', openAddress);
  document.addEventListener('visibilitychange', readVisible);
  setInterval(readVisible, 30_000);
  connect();
}

start();
