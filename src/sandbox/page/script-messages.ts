/** The messages of the open place: texts with their entities, buttons, quotes, documents, marks. */
export const messagesScript = String.raw`
const messageNodes = new Map();

function drawMessages() {
  const chat = currentChat();
  if (!chat) return;
  const scroll = byId('scroll');
  const wasAtEnd = shown.isFresh || scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight < 80;
  /* What somebody reads stays where it is, whatever comes above it. */
  const read = [...byId('messages').children].find((node) => node.id !== '' && node.getBoundingClientRect().bottom > scroll.getBoundingClientRect().top);
  const topBefore = read ? read.getBoundingClientRect().top : 0;
  const wanted = [];
  let day = '';
  for (const message of visibleMessages()) {
    const its = dayOf(message.date * 1000);
    if (its !== day) wanted.push(kept('day ' + its, its, () => el('li', { class: 'day' }, el('span', {}, its))));
    day = its;
    const quoted = message.reply_to === null ? null : shown.messages.find((each) => each.message_id === message.reply_to) || null;
    const shape = [message, quoted && [quoted.from, quoted.text], actor(), chat.key];
    wanted.push(kept('message ' + idOf(message), shape, () => messageNode(message, quoted)));
  }
  place(byId('messages'), wanted);
  byId('older').hidden = !shown.hasOlder || shown.limit >= 500;
  if (wasAtEnd) scroll.scrollTop = scroll.scrollHeight;
  else if (read && read.isConnected) scroll.scrollTop += read.getBoundingClientRect().top - topBefore;
  if (shown.messages.length > 0) shown.isFresh = false;
  drawPinned();
  drawHint(chat);
  showNewestButton();
}

/* An ephemeral message is there for one person, and may stand in the place of another. */
function visibleMessages() {
  const mine = shown.messages.filter((message) => message.only_for === null || message.only_for === actor());
  const replaced = new Set(mine.map((message) => message.replaces).filter((id) => id !== null));
  return mine.filter((message) => message.ephemeral_id !== null || !replaced.has(message.message_id));
}

const idOf = (message) => (message.ephemeral_id === null ? 'm' + message.message_id : 'e' + message.ephemeral_id);

/* The node of before, unless what it shows has changed. */
function kept(key, shape, make) {
  const text = JSON.stringify(shape);
  const found = messageNodes.get(key);
  if (found && found.text === text) return found.node;
  const node = make();
  const hadFocus = found && found.node.contains(document.activeElement) ? document.activeElement.dataset.focus : undefined;
  if (hadFocus) requestAnimationFrame(() => {
    const again = [...node.querySelectorAll('[data-focus]')].find((each) => each.dataset.focus === hadFocus);
    if (again) again.focus({ preventScroll: true });
  });
  messageNodes.set(key, { text, node });
  return node;
}

/* Puts the nodes in order and moves only those that stand wrong, so that a selection or a focus is not lost. */
function place(parent, nodes) {
  const wanted = new Set(nodes);
  for (const child of [...parent.children]) if (!wanted.has(child)) child.remove();
  nodes.forEach((node, index) => {
    if (parent.children[index] !== node) parent.insertBefore(node, parent.children[index] || null);
  });
  for (const [key, { node }] of messageNodes) if (!wanted.has(node)) messageNodes.delete(key);
}

function messageNode(message, quoted) {
  const at = message.date * 1000;
  if (message.service !== null) {
    return el('li', { class: 'service', id: idOf(message), title: message.service + ' · ' + fullOf(at) }, el('span', {}, message.text || message.service));
  }
  const isMine = message.from === actor();
  const isBot = message.from === 'bot';
  return el('li', { class: 'message' + (isMine ? ' mine' : '') + (isBot ? ' from-bot' : '') + (message.only_for === null ? '' : ' secret'), id: idOf(message) },
    el('div', { class: 'bubble' },
      el('div', { class: 'head' },
        el('span', { class: 'name tone-' + toneOf(message.from) }, nameOf(message.from)),
        el('span', { class: 'marks' },
          message.is_silent ? el('span', { class: 'silent', role: 'img', title: 'Came without a sound', 'aria-label': 'Came without a sound' }, '🔕') : null,
          message.is_pinned ? el('span', { class: 'pin', title: 'Pinned' }, '📌') : null)),
      message.only_for === null ? null : el('div', { class: 'only' }, 'Only ' + nameOf(message.only_for) + ' sees this'),
      message.reply_to === null ? null : quoteNode(message.reply_to, quoted),
      documentNode(message.document),
      message.text === '' ? null : el('div', { class: 'text' }, ...textNodes(message.text, message.entities)),
      message.reactions.length > 0 ? el('div', { class: 'reactions', 'aria-label': 'Reactions of the bot' }, ...message.reactions.map((emoji) => el('span', {}, emoji))) : null,
      el('div', { class: 'foot' }, ...footNodes(message, isMine))),
    message.buttons.length === 0 ? null : el('div', { class: 'keyboard' }, ...message.buttons.map((row) =>
      el('div', { class: 'keys' }, ...row.map((button) => keyNode(message, button))))));
}

function footNodes(message, isMine) {
  const at = message.date * 1000;
  return [
    el('button', { type: 'button', class: 'deed', 'data-focus': 'reply', on: { click: () => startReply(message) } }, 'Reply'),
    isMine && message.only_for === null ? el('button', { type: 'button', class: 'deed', 'data-focus': 'edit', on: { click: () => startEdit(message) } }, 'Edit') : null,
    message.edit_date === null ? null : el('span', { class: 'edited', title: 'Edited ' + fullOf(message.edit_date * 1000) }, 'edited'),
    el('time', { datetime: new Date(at).toISOString(), title: fullOf(at) + ' here, ' + fullOf(at, 'UTC') + ' UTC, message ' + idOf(message).slice(1) }, timeOf(at)),
  ].filter(Boolean);
}

function quoteNode(id, quoted) {
  return el('button', { type: 'button', class: 'quote', on: { click: () => goTo(id) } },
    el('b', {}, quoted ? nameOf(quoted.from) : 'An earlier message'),
    el('span', {}, quoted ? (quoted.text || (quoted.document ? quoted.document.name : '')).slice(0, 140) : 'number ' + id));
}

function documentNode(file) {
  if (file === null) return null;
  const href = '/sandbox/control/document?id=' + encodeURIComponent(file.file_id);
  if (file.kind === 'photo') return el('a', { class: 'photo', href, download: file.name }, el('img', { src: href, alt: file.name, loading: 'lazy' }));
  return el('a', { class: 'document', href, download: file.name },
    el('span', { class: 'sheet', 'aria-hidden': 'true' }, fileSigns[file.kind] || '📄'),
    el('span', {}, el('b', {}, file.name), el('small', {}, file.kind + ', ' + sizeOf(file.size))));
}

const fileSigns = { document: '📄', video: '🎬', audio: '🎵', voice: '🎤', animation: '🎞' };

const sizeOf = (bytes) => (bytes < 1024 ? bytes + ' B' : bytes < 1048576 ? (bytes / 1024).toFixed(1) + ' KB' : (bytes / 1048576).toFixed(1) + ' MB');

function keyNode(message, button) {
  const href = safeLink(button.url);
  if (button.url !== undefined) {
    return href === null ? el('span', { class: 'key' }, button.text) : el('a', { class: 'key', href, target: '_blank', rel: 'noopener noreferrer' }, button.text + ' ↗');
  }
  const key = el('button', { type: 'button', class: 'key', 'data-focus': 'key ' + (button.data || button.text), title: button.data || null }, button.text);
  key.addEventListener('click', () => act(() => press(message, button), key));
  return key;
}

async function press(message, button) {
  const target = message.ephemeral_id === null ? { message_id: message.message_id } : { ephemeral_id: message.ephemeral_id };
  const answer = await post('press', { as: actor(), chat: message.chat_id, ...target, button: button.data || button.text, wait: 10000 });
  if (answer.callback === null) toast('The bot has not answered the button within ten seconds.', true);
  else if (answer.callback.alert) await ask(answer.callback.text || '', false);
  else if (answer.callback.text) toast(answer.callback.text);
}

/* ---- entities: nested parts, by UTF-16 units as in the Bot API and in JavaScript ---- */
function textNodes(text, entities) {
  /* A block of code is code already. */
  const isInBlock = (code) => entities.some(({ type, offset, length }) => type === 'pre' && offset <= code.offset && offset + length >= code.offset + code.length);
  const sorted = entities.filter((each) => each.length > 0 && each.offset < text.length && !(each.type === 'code' && isInBlock(each)))
    .sort((a, b) => a.offset - b.offset || b.length - a.length);
  return partNodes(text, 0, text.length, sorted);
}

function partNodes(text, from, to, entities) {
  const nodes = [];
  let at = from;
  let index = 0;
  while (index < entities.length) {
    const entity = entities[index];
    const start = Math.max(entity.offset, at);
    const end = Math.min(entity.offset + entity.length, to);
    index += 1;
    if (end <= start) continue;
    const inner = [];
    while (index < entities.length && entities[index].offset < end) {
      inner.push(entities[index]);
      index += 1;
    }
    /* A block stands on lines of its own; the line breaks around it would show as empty lines. */
    const isBlock = ['pre', 'blockquote', 'expandable_blockquote'].includes(entity.type);
    const before = text.slice(at, start);
    if (before !== '') nodes.push(isBlock ? before.replace(/\n$/, '') : before);
    nodes.push(entityNode(entity, text.slice(start, end), partNodes(text, start, end, inner)));
    at = isBlock && text[end] === '\n' && end < to ? end + 1 : end;
  }
  if (at < to) nodes.push(text.slice(at, to));
  return nodes;
}

const plainTags = {
  bold: 'strong', italic: 'em', underline: 'u', strikethrough: 's', code: 'code', blockquote: 'blockquote', expandable_blockquote: 'blockquote',
};

function entityNode(entity, text, children) {
  if (plainTags[entity.type]) return el(plainTags[entity.type], {}, ...children);
  if (entity.type === 'pre') return el('pre', { 'data-language': entity.language || null, tabindex: '0' }, el('code', {}, ...children));
  if (entity.type === 'spoiler') return el('span', { class: 'spoiler', tabindex: '0' }, ...children);
  if (entity.type === 'bot_command') {
    return el('button', { type: 'button', class: 'command', on: { click: () => act(() => say(text)) } }, ...children);
  }
  const href = entity.type === 'text_link' ? safeLink(entity.url) : entity.type === 'url' ? safeLink(/^[a-z]+:/i.test(text) ? text : 'http://' + text) : null;
  if (href !== null) return el('a', { href, target: '_blank', rel: 'noopener noreferrer' }, ...children);
  return el('span', { class: 'entity-' + entity.type.replace(/[^a-z_]/g, '') }, ...children);
}

/* Only what a browser opens without running anything. */
function safeLink(text) {
  try {
    const url = new URL(text);
    return ['http:', 'https:', 'mailto:', 'tg:'].includes(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}

/* ---- around the messages ---- */
function goTo(id) {
  const node = byId('m' + id);
  if (!node) { toast('That message is not on this page.'); return; }
  node.scrollIntoView({ block: 'center', behavior: 'smooth' });
  node.classList.add('lit');
  setTimeout(() => node.classList.remove('lit'), 1600);
}

function drawPinned() {
  const pinned = shown.messages.filter((message) => message.is_pinned).at(-1);
  const bar = byId('pinned');
  bar.hidden = !pinned;
  if (!pinned) return;
  draw(bar, [pinned.message_id, pinned.text], () => [el('b', {}, 'Pinned'), ' ' + pinned.text.split('\n')[0].slice(0, 120)]);
  bar.onclick = () => goTo(pinned.message_id);
}

function drawHint(chat) {
  const isEmpty = visibleMessages().length === 0 && shown.isLoaded === placeOf(shown.chatKey, shown.thread);
  const hint = byId('hint');
  hint.hidden = !isEmpty;
  if (!isEmpty) return;
  draw(hint, [chat.key, shown.thread, ...shown.state.starters], () => [
    el('p', {}, el('b', {}, 'Write to the bot')),
    el('p', {}, 'Nothing was said here yet. Try one of these:'),
    el('p', {}, ...shown.state.starters.map((text) => el('button', { type: 'button', class: 'starter', on: { click: (event) => act(() => say(text), event.currentTarget) } }, text))),
    el('p', { class: 'note' }, 'Then open the clock and press "Go to the next run".')]);
}

function showNewestButton() {
  const scroll = byId('scroll');
  byId('to-newest').hidden = scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight < 160;
}
`;
