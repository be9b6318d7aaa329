/** The pieces that everything else of the page's script uses: nodes, calls, what is shown now. */
export const coreScript = String.raw`
/* ---- nodes ---- */
const byId = (id) => document.getElementById(id);

/* Texts become text nodes: what people and the bot wrote is never read as markup. */
function el(name, given, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(given || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key === 'on') for (const [event, call] of Object.entries(value)) node.addEventListener(event, call);
    else if (key === 'class') node.className = value;
    else if (key in node && key !== 'list' && typeof value !== 'string') node[key] = value;
    else node.setAttribute(key, value === true ? '' : String(value));
  }
  node.append(...children.filter((child) => child !== null && child !== undefined && child !== ''));
  return node;
}

/* Replaces children only when what they show has changed, so that focus and open parts stay. */
const drawn = new WeakMap();
function draw(parent, shape, make) {
  const text = JSON.stringify(shape);
  if (drawn.get(parent) === text) return;
  drawn.set(parent, text);
  const focused = parent.contains(document.activeElement) ? document.activeElement.dataset.focus : undefined;
  parent.replaceChildren(...make());
  if (focused) {
    const again = [...parent.querySelectorAll('[data-focus]')].find((node) => node.dataset.focus === focused);
    if (again) again.focus({ preventScroll: true });
  }
}

/* ---- what is kept in the browser ---- */
const memory = {
  read(key, fallback) {
    try { return JSON.parse(localStorage.getItem('sandbox:' + key)) ?? fallback; } catch { return fallback; }
  },
  write(key, value) {
    try { localStorage.setItem('sandbox:' + key, JSON.stringify(value)); } catch { /* private windows keep nothing */ }
  },
};

/* ---- what is shown ---- */
const shown = {
  state: null,
  chatKey: 'ada',
  /* A number, 'general', or null for a chat without topics. */
  thread: null,
  messages: [],
  hasOlder: false,
  limit: 100,
  as: memory.read('as', 'ada'),
  seen: memory.read('seen', {}),
  replyTo: null,
  editing: null,
  calls: [],
  clockAt: 0,
  clockRead: 0,
};

const currentChat = () => (shown.state ? shown.state.chats.find((chat) => chat.key === shown.chatKey) : undefined) || null;
const currentTopic = () => {
  const chat = currentChat();
  return (chat && chat.topics.find((topic) => topic.thread_id === shown.thread)) || null;
};
const person = (key) => (shown.state ? shown.state.people.find((each) => each.key === key) : null) || null;
const nameOf = (key) => (key === 'bot' ? (shown.state ? shown.state.bot.name : 'Bot') : (person(key) || { first_name: key }).first_name);
const actor = () => {
  const chat = currentChat();
  return chat && chat.person ? chat.person : shown.as;
};

/* ---- calls ---- */
/* The server could not be asked, or did not answer as it should. */
class TransportError extends Error {}

async function call(method, path, body) {
  let response;
  try {
    response = await fetch('/sandbox/control/' + path, {
      method,
      headers: body === undefined ? {} : { 'content-type': 'application/json' },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch {
    throw new TransportError('The server does not answer. Is it still running?');
  }
  const answer = await response.json().catch(() => null);
  if (!response.ok) throw new TransportError(answer && answer.error ? answer.error.message : 'The server answered ' + response.status + '.');
  return answer;
}
const get = (path) => call('GET', path);
const post = (path, body) => call('POST', path, body);

/* Does something for a person: what fails is told, and a button cannot be pressed twice meanwhile. */
async function act(work, button) {
  if (button) button.setAttribute('aria-busy', 'true');
  if (button) button.disabled = true;
  try {
    return await work();
  } catch (error) {
    toast(error.message, true);
    return undefined;
  } finally {
    if (button) button.removeAttribute('aria-busy');
    if (button) button.disabled = false;
  }
}

/* ---- words to the person ---- */
function toast(text, isFault) {
  const node = el('div', { class: isFault ? 'toast fault' : 'toast' }, text);
  byId('toasts').append(node);
  setTimeout(() => node.remove(), isFault ? 8000 : 4500);
}

function ask(text, withCancel) {
  const dialog = byId('alert');
  byId('alert-text').textContent = text;
  byId('alert-cancel').hidden = !withCancel;
  dialog.returnValue = 'no';
  if (!dialog.open) dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => resolve(dialog.returnValue === 'yes'), { once: true });
  });
}

/* ---- times ---- */
const timeOf = (ms) => new Date(ms).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
const dayOf = (ms) => new Date(ms).toLocaleDateString([], { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' });
const fullOf = (ms, zone) => new Date(ms).toLocaleString([], {
  weekday: 'short', day: 'numeric', month: 'short', year: 'numeric',
  hour: '2-digit', minute: '2-digit', second: '2-digit', timeZone: zone,
});
/* The clock of the sandbox: it was read once and goes on at the pace of the real one. */
const sandboxNow = () => shown.clockAt + (performance.now() - shown.clockRead);

function span(ms) {
  const minutes = Math.round(Math.abs(ms) / 60000);
  if (minutes < 1) return Math.round(Math.abs(ms) / 1000) + ' s';
  if (minutes < 60) return minutes + ' min';
  if (minutes < 48 * 60) return Math.floor(minutes / 60) + ' h' + (minutes % 60 ? ' ' + (minutes % 60) + ' min' : '');
  return Math.round(minutes / 1440) + ' days';
}
`;
