/** The list of chats and topics, and which of them is open. The open one stands in the address, so that Back works. */
export const chatsScript = String.raw`
const placeOf = (chatKey, thread) => chatKey + (thread === null ? '' : '/' + thread);
const addressOf = (chatKey, thread) => '#' + placeOf(chatKey, thread);

/* Reads the open place from the address; whatever is not there any more falls back to the first. */
function readAddress() {
  const [key, thread] = decodeURIComponent(location.hash.slice(1)).split('/');
  const chats = shown.state ? shown.state.chats : [];
  const chat = chats.find((each) => each.key === key) || chats.find((each) => each.key === 'ada') || chats[0];
  if (!chat) return;
  const before = placeOf(shown.chatKey, shown.thread);
  shown.chatKey = chat.key;
  const number = Number(thread);
  if (!hasTopics(chat)) shown.thread = null;
  else shown.thread = chat.topics.some((topic) => topic.thread_id === number && !topic.is_deleted) ? number : 'general';
  document.body.dataset.screen = key ? 'chat' : 'list';
  if (placeOf(shown.chatKey, shown.thread) === before) return;
  shown.messages = [];
  shown.limit = 100;
  shown.isFresh = true;
  endContext();
}

const hasTopics = (chat) => chat.is_forum || chat.topics.some((topic) => !topic.is_deleted);

function newestOf(chat, thread) {
  if (thread === 'general') return chat.general_last_message_id || 0;
  if (thread === null) return chat.general_last_message_id || 0;
  const topic = chat.topics.find((each) => each.thread_id === thread);
  return (topic && topic.last_message_id) || 0;
}

function isUnread(chat, thread) {
  const newest = newestOf(chat, thread);
  return newest > (shown.seen[placeOf(chat.chat_id, thread)] || 0);
}

/* What is on the screen has been seen. */
function markSeen() {
  const chat = currentChat();
  if (!chat || document.hidden || document.body.dataset.screen !== 'chat' && matchMedia('(max-width: 719px)').matches) return;
  const place = placeOf(chat.chat_id, shown.thread);
  const newest = newestOf(chat, shown.thread);
  if ((shown.seen[place] || 0) === newest) return;
  shown.seen[place] = newest;
  memory.write('seen', shown.seen);
}

const kinds = { private: 'private', group: 'group', supergroup: 'supergroup' };

function drawChats() {
  const state = shown.state;
  if (!state) return;
  const rows = state.chats.filter((chat) => chat.migrated_to === null).map((chat) => ({
    chat,
    isOpen: chat.key === shown.chatKey,
    unread: (hasTopics(chat) ? ['general', ...chat.topics.filter((topic) => !topic.is_deleted).map((topic) => topic.thread_id)] : [null]).filter((thread) => isUnread(chat, thread)),
    thread: chat.key === shown.chatKey ? shown.thread : null,
  }));
  draw(byId('chats'), rows, () => rows.map(chatRow));
  draw(byId('links'), state.links, () => state.links.map((link) => el('a', { href: link.href }, link.title)));
}

function chatRow({ chat, isOpen, unread, thread }) {
  const isNews = unread.length > 0 && !(isOpen && unread.every((each) => each === thread));
  const open = hasTopics(chat) ? 'general' : null;
  const last = chat.last ? nameOf(chat.last.from) + ': ' + chat.last.text : (chat.is_started ? 'No messages yet' : 'Not started yet');
  const head = el('a', {
    class: 'chat-row' + (isOpen ? ' open' : ''),
    href: addressOf(chat.key, open),
    'data-focus': 'chat ' + chat.key,
    'aria-current': isOpen && !hasTopics(chat) ? 'page' : null,
  },
    el('span', { class: 'avatar tone-' + toneOf(chat.key), 'aria-hidden': 'true' }, titleOf(chat).replace(/^The /, '').slice(0, 1)),
    el('span', { class: 'chat-words' },
      el('span', { class: 'chat-title' }, titleOf(chat), el('small', {}, kinds[chat.kind])),
      el('span', { class: 'chat-last' }, last)),
    isNews ? el('span', { class: 'dot' }, el('span', { class: 'hidden-text' }, 'unread')) : null);
  if (!isOpen || !hasTopics(chat)) return el('div', { class: 'chat-group' }, head);
  const topics = chat.topics.filter((topic) => !topic.is_deleted);
  return el('div', { class: 'chat-group' }, head, el('ul', { class: 'topics', 'aria-label': 'Topics of ' + titleOf(chat) },
    topicRow(chat, { thread_id: 'general', name: 'General', is_closed: chat.is_general_closed }, thread, unread),
    ...topics.map((topic) => topicRow(chat, topic, thread, unread))));
}

function topicRow(chat, topic, thread, unread) {
  const isOpen = topic.thread_id === thread;
  return el('li', {}, el('a', {
    class: 'topic-row' + (isOpen ? ' open' : ''),
    href: addressOf(chat.key, topic.thread_id),
    'data-focus': 'topic ' + chat.key + topic.thread_id,
    'aria-current': isOpen ? 'page' : null,
  },
    el('span', { class: 'sign', 'aria-hidden': 'true' }, '#'),
    el('span', { class: 'topic-name' }, topic.name),
    topic.is_closed ? el('small', { class: 'tag' }, 'closed') : null,
    unread.includes(topic.thread_id) && !isOpen ? el('span', { class: 'dot' }, el('span', { class: 'hidden-text' }, 'unread')) : null));
}

const titleOf = (chat) => (chat.person ? nameOf(chat.person) : chat.title);
const toneOf = (key) => (key === 'bot' ? 5 : (key.charCodeAt(0) + key.length * 2) % 6);

function drawTitle() {
  const chat = currentChat();
  if (!chat) return;
  const topic = currentTopic();
  byId('title').textContent = topic ? topic.name : titleOf(chat);
  const facts = [];
  if (topic || shown.thread === 'general') facts.push(topic ? titleOf(chat) : 'General');
  if (topic && topic.is_closed) facts.push('closed');
  if (!topic && shown.thread === 'general' && chat.is_general_closed) facts.push('closed');
  if (chat.kind === 'private') facts.push(chat.bot.status === 'kicked' ? 'the bot is blocked' : 'private chat with the bot');
  else facts.push(chat.members.filter((member) => !['left', 'kicked'].includes(member.status)).map((member) => nameOf(member.key)).join(', ')
    + ', bot: ' + chat.bot.status);
  byId('subtitle').textContent = facts.join(' · ');
  document.title = byId('title').textContent + ' · Cronogram sandbox';
}
`;
