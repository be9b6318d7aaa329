/** The tools beside the chat: the clock, the faults, and the calls of the bot. */
export const toolsScript = String.raw`
const tabs = ['clock', 'faults', 'place', 'calls'];

function openTab(name, withFocus) {
  for (const each of tabs) {
    const tab = byId('tab-' + each);
    tab.setAttribute('aria-selected', String(each === name));
    tab.tabIndex = each === name ? 0 : -1;
    byId('panel-' + each).hidden = each !== name;
    if (each === name && withFocus) tab.focus();
  }
  memory.write('tab', name);
  if (name === 'calls') refreshCalls();
}
const isOpenTab = (name) => !byId('panel-' + name).hidden;

function showTools(isOpen) {
  document.body.classList.toggle('tools-open', isOpen);
  if (isOpen) byId('tab-' + memory.read('tab', 'clock')).focus();
  else byId('open-tools').focus();
}

function startTabs() {
  for (const name of tabs) {
    const tab = byId('tab-' + name);
    tab.addEventListener('click', () => openTab(name));
    tab.addEventListener('keydown', (event) => {
      const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
      if (step !== 0) openTab(tabs[(tabs.indexOf(name) + step + tabs.length) % tabs.length], true);
    });
  }
  openTab(tabs.includes(memory.read('tab', 'clock')) ? memory.read('tab', 'clock') : 'clock');
  byId('open-tools').addEventListener('click', () => showTools(true));
  byId('close-tools').addEventListener('click', () => showTools(false));
  byId('tools').addEventListener('keydown', (event) => { if (event.key === 'Escape') showTools(false); });
}

/* ---- the clock ---- */
function drawClock() {
  const state = shown.state;
  if (!state) return;
  const now = sandboxNow();
  const nextAt = state.clock.next_at === null ? null : Date.parse(state.clock.next_at);
  setTime('now-here', now, fullOf(now));
  setTime('now-utc', now, fullOf(now, 'UTC'));
  byId('next-run').textContent = nextAt === null ? 'nothing is planned'
    : fullOf(nextAt) + (nextAt > now ? ' (in ' + span(nextAt - now) + ')' : ' (due)');
  byId('clock-chip').textContent = timeOf(now);
  byId('clock-chip').setAttribute('aria-label', 'Clock of the sandbox: ' + timeOf(now));
  byId('jumps').hidden = !state.clock.can_jump;
  byId('no-jumps').hidden = state.clock.can_jump;
  const next = document.querySelector('[data-jump=next]');
  if (!next.hasAttribute('aria-busy')) next.disabled = nextAt === null;
}

function setTime(id, ms, text) {
  const node = byId(id);
  if (node.textContent === text) return;
  node.textContent = text;
  node.dateTime = new Date(ms).toISOString();
}

async function jump(to, button) {
  const landed = await act(() => post('jump', { to }), button);
  if (!landed) return;
  toast('Now ' + fullOf(Date.parse(landed.now)) + (landed.visited === 1 ? ', 1 run on the way.' : ', ' + landed.visited + ' runs on the way.'));
  await refreshState();
}

function startClock() {
  byId('zone').textContent = Intl.DateTimeFormat().resolvedOptions().timeZone || 'your zone';
  for (const button of document.querySelectorAll('[data-jump]')) {
    button.addEventListener('click', () => jump(button.dataset.jump, button));
  }
  byId('jump-form').addEventListener('submit', (event) => {
    event.preventDefault();
    const at = new Date(byId('jump-at').value);
    if (Number.isNaN(at.getTime())) toast('Choose a date and a time first.', true);
    else jump(at.toISOString(), event.submitter);
  });
  byId('clock-chip').addEventListener('click', () => { openTab('clock'); if (matchMedia('(max-width: 1099px)').matches) showTools(true); });
  setInterval(drawClock, 1000);
}

/* ---- faults ---- */
const faultKinds = [
  ['429', 'Too many requests (429)', 'Refused, with the seconds to wait.', 'retry_after'],
  ['500', 'Server error (500)', 'An error in JSON; nothing is done.'],
  ['bad_gateway_html', 'Bad gateway (502)', 'An error page instead of JSON; nothing is done.'],
  ['hang', 'No answer, not done', 'The call hangs until the bot gives up.'],
  ['reset_before', 'Connection breaks, not done', 'Nothing arrives.'],
  ['reset_after', 'Connection breaks, done', 'The message stands in the chat, but the bot does not know.'],
  ['answer_lost', 'Answer lost, done', 'The message stands in the chat; the call hangs until the bot gives up.'],
  ['late', 'Connection breaks, done later', 'The message arrives after the given seconds.', 'delay_ms'],
  ['misroute', 'Lands outside its topic', 'As a faulty server did.'],
];
const faultMethods = [
  ['send', 'every send'], ['sendMessage'], ['editMessageText'], ['createForumTopic'], ['pinChatMessage'], ['deleteMessage'],
  ['answerCallbackQuery'], ['getUpdates'], ['getChatMember'], ['*', 'any call'],
];

function startFaults() {
  byId('fault-kind').append(...faultKinds.map(([kind, words]) => el('option', { value: kind }, words)));
  byId('fault-method').append(...faultMethods.map(([method, words]) => el('option', { value: method }, words || method)));
  byId('fault-kind').addEventListener('change', drawFaultForm);
  drawFaultForm();
  byId('fault-form').addEventListener('submit', (event) => {
    event.preventDefault();
    const [kind, , , seconds] = faultKinds.find(([each]) => each === byId('fault-kind').value);
    const body = { kind, method: byId('fault-method').value, count: byId('fault-count').valueAsNumber || 1 };
    const given = byId('fault-seconds').valueAsNumber || 1;
    if (seconds === 'retry_after') body.retry_after = given;
    if (seconds === 'delay_ms') body.delay_ms = given * 1000;
    if (byId('fault-here').checked) body.chat = currentChat().chat_id;
    act(async () => { await post('fault', body); await refreshState(); }, event.submitter);
  });
}

function drawFaultForm() {
  const [, , note, seconds] = faultKinds.find(([each]) => each === byId('fault-kind').value);
  byId('fault-note').textContent = note;
  byId('fault-seconds-label').hidden = !seconds;
}

function drawFaults() {
  const { faults, chats } = shown.state;
  byId('tab-faults').classList.toggle('marked', faults.length > 0);
  const where = (id) => (chats.find((chat) => chat.chat_id === id) || { key: id }).key;
  draw(byId('faults'), faults, () => (faults.length === 0 ? [el('li', { class: 'note' }, 'Nothing: the server works as it should.')] : [
    ...faults.map((fault) => el('li', { class: 'line' },
      el('span', {}, el('b', {}, (faultKinds.find(([kind]) => kind === fault.kind) || [fault.kind, fault.kind])[1]),
        el('small', {}, (fault.method === '*' ? 'any call' : fault.method) + (fault.chat === null ? '' : ' in ' + where(fault.chat)) + ', ' + fault.count + ' left')),
      el('button', { type: 'button', 'aria-label': 'Take the fault away', on: { click: (event) => act(() => dropFault(fault.id), event.currentTarget) } }, 'Clear'))),
    el('li', {}, el('button', { type: 'button', on: { click: (event) => act(() => dropFault(), event.currentTarget) } }, 'Clear all'))]));
}

async function dropFault(id) {
  await call('DELETE', 'fault' + (id === undefined ? '' : '?id=' + encodeURIComponent(id)));
  await refreshState();
}

/* ---- calls ---- */
async function refreshCalls() {
  if (!isOpenTab('calls')) return;
  const answer = await get('calls?limit=300').catch(() => null);
  if (answer === null) return;
  shown.calls = answer.calls;
  drawCalls();
}

const callNodes = new Map();
function drawCalls() {
  const withPolls = byId('calls-polls').checked;
  const calls = shown.calls.filter((each) => withPolls || each.method.toLowerCase() !== 'getupdates').slice(-150).reverse();
  const list = byId('calls');
  const nodes = calls.length === 0 ? [el('li', { class: 'note' }, 'The bot has called nothing yet.')] : calls.map((each) => {
    const key = each.seq + ' ' + each.at + ' ' + each.status;
    if (!callNodes.has(key)) callNodes.set(key, callNode(each));
    return callNodes.get(key);
  });
  const wanted = new Set(nodes);
  for (const [key, node] of callNodes) if (!wanted.has(node)) callNodes.delete(key);
  for (const child of [...list.children]) if (!wanted.has(child)) child.remove();
  nodes.forEach((node, index) => { if (list.children[index] !== node) list.insertBefore(node, list.children[index] || null); });
}

function callNode(each) {
  const isGood = each.status >= 200 && each.status < 300;
  const at = Date.parse(each.at);
  return el('li', {}, el('details', {},
    el('summary', {},
      el('code', { class: 'call-name' }, each.method),
      each.fault === null ? null : el('small', { class: 'tag bad' }, each.fault),
      el('small', { class: isGood ? 'tag good' : 'tag bad' }, each.status === 0 ? 'no answer' : String(each.status)),
      each.ms === undefined ? null : el('small', { class: 'ms' }, each.ms + ' ms'),
      el('time', { datetime: each.at, title: fullOf(at) }, new Date(at).toLocaleTimeString())),
    el('pre', { tabindex: '0' }, JSON.stringify(each.params, null, 2)),
    el('p', { class: 'answer' }, each.answer)));
}
`;
