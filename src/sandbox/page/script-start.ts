/** Keeps the page fresh: reads anew what a change touches, and comes back by itself when the connection was lost. */
export const startScript = String.raw`
/* Never two reads of one kind at once; what changes meanwhile is read once more afterwards. */
function once(read) {
  let running = null;
  let again = null;
  return () => {
    if (running === null) running = read().finally(() => { running = null; });
    else if (again === null) again = running.catch(() => {}).then(() => { again = null; return refreshOf(read)(); });
    else return again;
    return again || running;
  };
}
const refreshers = new Map();
function refreshOf(read) {
  if (!refreshers.has(read)) refreshers.set(read, once(read));
  return refreshers.get(read);
}

async function readState() {
  const state = await get('state');
  shown.state = state;
  shown.clockAt = Date.parse(state.clock.now);
  shown.clockRead = performance.now();
  const before = placeOf(shown.chatKey, shown.thread);
  readAddress();
  drawAll();
  if (placeOf(shown.chatKey, shown.thread) !== before) await refreshMessages();
}

async function readMessages() {
  const chat = currentChat();
  if (!chat) return;
  const place = placeOf(shown.chatKey, shown.thread);
  const thread = shown.thread === null ? '' : '&thread=' + shown.thread;
  const answer = await get('messages?chat=' + chat.chat_id + thread + '&limit=' + shown.limit);
  if (placeOf(shown.chatKey, shown.thread) !== place) return;
  shown.messages = answer.messages;
  shown.hasOlder = answer.has_older;
  shown.isLoaded = place;
  drawMessages();
}

const refreshState = refreshOf(readState);
const refreshMessages = refreshOf(readMessages);
async function refreshAll() {
  await refreshState();
  await refreshMessages();
  await refreshCalls();
}

function drawAll() {
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

/* ---- changes, as they happen ---- */
const waiting = new Set();
let isPlanned = false;
function plan(what) {
  waiting.add(what);
  if (isPlanned) return;
  isPlanned = true;
  setTimeout(async () => {
    isPlanned = false;
    const now = new Set(waiting);
    waiting.clear();
    try {
      if (now.has('state')) await refreshState();
      if (now.has('messages')) await refreshMessages();
      if (now.has('calls')) await refreshCalls();
      showLink(source.readyState === EventSource.OPEN);
    } catch (error) {
      showLink(false);
      /* A fault of the page itself is not one of the connection, and must not look like it. */
      if (!(error instanceof TransportError)) throw error;
    }
  }, 60);
}

function onChange({ kind, chat_id: chatId }) {
  if (kind === 'call') { plan('calls'); return; }
  plan('state');
  const chat = currentChat();
  if (chatId === null || (chat && chat.chat_id === chatId)) plan('messages');
}

let source = null;
let lastId = '';
function connect() {
  source = new EventSource('/sandbox/control/events' + (lastId === '' ? '' : '?after=' + encodeURIComponent(lastId)));
  const everything = (event) => { lastId = event.lastEventId; showLink(true); plan('state'); plan('messages'); plan('calls'); };
  source.addEventListener('hello', everything);
  source.addEventListener('stale', everything);
  source.addEventListener('change', (event) => { lastId = event.lastEventId; onChange(JSON.parse(event.data)); });
  source.addEventListener('error', () => {
    showLink(false);
    if (source.readyState !== EventSource.CLOSED) return;
    source.close();
    setTimeout(connect, 3000);
  });
}

function showLink(isGood) {
  const node = byId('link-state');
  node.textContent = isGood ? 'live' : 'reconnecting';
  node.classList.toggle('good', isGood);
}

async function resetAll(event) {
  const button = event.currentTarget;
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

function start() {
  startComposer();
  startTabs();
  startClock();
  startFaults();
  byId('calls-polls').addEventListener('change', drawCalls);
  byId('reset').addEventListener('click', resetAll);
  byId('back').addEventListener('click', () => { location.hash = ''; });
  byId('older').addEventListener('click', (event) => {
    shown.limit = Math.min(500, shown.limit + 100);
    act(refreshMessages, event.currentTarget);
  });
  byId('to-newest').addEventListener('click', () => { byId('scroll').scrollTo({ top: byId('scroll').scrollHeight, behavior: 'smooth' }); });
  byId('scroll').addEventListener('scroll', showNewestButton, { passive: true });
  addEventListener('hashchange', () => {
    readAddress();
    shown.isFresh = true;
    drawAll();
    act(refreshMessages);
    if (document.body.dataset.screen === 'chat' && matchMedia('(hover: hover)').matches) field().focus();
  });
  document.addEventListener('visibilitychange', () => { if (!document.hidden) plan('state'); });
  setInterval(() => { if (!document.hidden) plan('state'); }, 30000);
  connect();
}
start();
`;
