/** Writing: as whom, in answer to what, and with the commands that the bot offers. */
export const composerScript = String.raw`
const field = () => byId('say');

async function say(text, media) {
  const chat = currentChat();
  const body = { as: actor(), chat: chat.chat_id, text };
  if (media !== undefined) body.media = media;
  if (typeof shown.thread === 'number') body.thread = shown.thread;
  const target = shown.replyTo;
  if (target !== null && target.ephemeral_id !== null) body.reply_to_ephemeral = target.ephemeral_id;
  else if (target !== null) body.reply_to = target.message_id;
  await post('say', body);
  shown.isFresh = true;
  endContext();
  await refreshMessages();
}

async function submitText() {
  const text = field().value;
  if (text.trim() === '') return;
  const editing = shown.editing;
  const sent = await act(async () => {
    if (editing === null) await say(text);
    else await post('edit', { as: editing.from, chat: editing.chat_id, message_id: editing.message_id, text });
    return true;
  }, byId('send'));
  if (sent) clearField();
  field().focus();
}

/* A sample of that kind, with what stands in the field as its caption. */
async function attach(kind) {
  if (shown.editing !== null) { toast('Finish or leave the edit first.', true); return; }
  const sent = await act(async () => { await say(field().value.trim(), { kind }); return true; }, byId('send'));
  if (sent) clearField();
  field().focus();
}

function clearField() {
  field().value = '';
  memory.write('draft', '');
  endContext();
  fit();
  closeSuggestions();
}

function startReply(message) {
  shown.replyTo = message;
  shown.editing = null;
  showContext('Reply to ' + nameOf(message.from) + ': ' + (message.text || (message.document ? message.document.name : '')).slice(0, 80));
}

function startEdit(message) {
  shown.replyTo = null;
  shown.editing = message;
  field().value = message.text;
  fit();
  showContext('Edit: ' + message.text.slice(0, 80));
}

function showContext(text) {
  byId('context').hidden = false;
  byId('context-text').textContent = text;
  field().focus();
}

function endContext() {
  if (shown.editing !== null) field().value = '';
  shown.replyTo = null;
  shown.editing = null;
  byId('context').hidden = true;
}

function fit() {
  field().style.height = 'auto';
  field().style.height = Math.min(field().scrollHeight + 2, 180) + 'px';
}

function drawActors() {
  const state = shown.state;
  const chat = currentChat();
  if (!state || !chat) return;
  const box = byId('actors');
  draw(box, [state.people, chat.key, chat.person, actor()], () => [
    el('legend', {}, 'Write as'),
    ...state.people.map((each) => el('label', { class: 'actor' },
      el('input', {
        type: 'radio', name: 'actor', value: each.key, checked: each.key === actor(), 'data-focus': 'actor ' + each.key,
        disabled: chat.person !== null && each.key !== chat.person,
        on: { change: () => { shown.as = each.key; memory.write('as', each.key); drawAll(); } },
      }),
      el('span', {}, each.first_name)))]);
}

/* ---- commands ---- */
let offered = [];
let chosen = 0;

function suggest() {
  const text = field().value;
  const found = /^\/([a-z0-9_]*)$/i.exec(text);
  const commands = found && shown.state ? shown.state.bot.commands : [];
  offered = commands.filter((each) => each.command.startsWith(found ? found[1].toLowerCase() : '')).slice(0, 30);
  chosen = 0;
  drawSuggestions();
}

function drawSuggestions() {
  const list = byId('suggestions');
  list.hidden = offered.length === 0;
  field().setAttribute('aria-expanded', String(offered.length > 0));
  list.replaceChildren(...offered.map((each, index) => el('li', {
    role: 'option', id: 'option' + index, 'aria-selected': String(index === chosen),
    on: { mousedown: (event) => { event.preventDefault(); take(index); } },
  }, el('b', {}, '/' + each.command), el('span', {}, each.description))));
  if (offered.length > 0) {
    field().setAttribute('aria-activedescendant', 'option' + chosen);
    list.children[chosen].scrollIntoView({ block: 'nearest' });
  } else field().removeAttribute('aria-activedescendant');
}

function closeSuggestions() {
  offered = [];
  drawSuggestions();
}

function take(index) {
  field().value = '/' + offered[index].command + ' ';
  closeSuggestions();
  field().focus();
}

function onKey(event) {
  if (event.isComposing) return;
  const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
  if (offered.length > 0 && step !== 0) {
    event.preventDefault();
    chosen = (chosen + step + offered.length) % offered.length;
    drawSuggestions();
    return;
  }
  if (event.key === 'Escape') {
    if (offered.length > 0) closeSuggestions();
    else endContext();
    return;
  }
  const isExact = offered.some((each) => '/' + each.command === field().value);
  if (offered.length > 0 && (event.key === 'Tab' || (event.key === 'Enter' && !event.shiftKey && !isExact))) {
    event.preventDefault();
    take(chosen);
    return;
  }
  if (event.key === 'Enter' && !event.shiftKey) {
    event.preventDefault();
    submitText();
  }
}

function startComposer() {
  field().value = memory.read('draft', '');
  fit();
  field().addEventListener('keydown', onKey);
  field().addEventListener('input', () => { fit(); suggest(); memory.write('draft', field().value); });
  field().addEventListener('blur', () => closeSuggestions());
  byId('attach').addEventListener('change', (event) => {
    const kind = event.currentTarget.value;
    event.currentTarget.value = '';
    if (kind !== '') attach(kind);
  });
  byId('composer').addEventListener('submit', (event) => { event.preventDefault(); submitText(); });
  byId('context-end').addEventListener('click', () => { endContext(); field().focus(); });
}
`;
