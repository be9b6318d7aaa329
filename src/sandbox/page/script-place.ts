/** What can be changed in the open chat: the bot's standing and rights, topics, members. */
export const placeScript = String.raw`
function drawPlace() {
  const chat = currentChat();
  if (!chat) return;
  const { last, general_last_message_id, ...facts } = chat;
  const shape = [{ ...facts, topics: chat.topics.map(({ last_message_id, ...topic }) => topic) }, shown.thread, actor()];
  draw(byId('place'), shape, () => [
    el('h3', {}, titleOf(chat)),
    ...(chat.kind === 'private' ? privateParts(chat) : groupParts(chat)),
    ...(chat.is_forum ? topicParts(chat) : [])]);
}

/* What Telegram offers, in every chat alike. */
function drawPlatform() {
  const { ephemeral, privacy } = shown.state.platform;
  draw(byId('platform'), [ephemeral, privacy], () => [
    check('Messages for one person alone are possible', ephemeral, (on, node) => change('platform', { ephemeral: on }, node)),
    check('Privacy mode: in groups a plain bot hears only what is meant for it', privacy, (on, node) => change('platform', { privacy: on }, node))]);
}

const change = (path, body, button) => act(async () => { await post(path, body); await refreshAll(); }, button);

function option(value, now) {
  return el('option', { value, selected: value === now }, value);
}

function pick(label, values, now, onPick) {
  return el('label', {}, label, el('select', { 'data-focus': 'pick ' + label, on: { change: (event) => onPick(event.currentTarget.value, event.currentTarget) } },
    ...[...new Set([now, ...values])].map((value) => option(value, now))));
}

function check(label, isOn, onTurn) {
  return el('label', { class: 'check' }, el('input', { type: 'checkbox', checked: isOn, 'data-focus': 'check ' + label, on: { change: (event) => onTurn(event.currentTarget.checked, event.currentTarget) } }), label);
}

function privateParts(chat) {
  const isBlocked = chat.bot.status === 'kicked';
  const turn = (event) => change('bot', { chat: chat.chat_id, status: isBlocked ? 'member' : 'kicked', by: chat.person }, event.currentTarget);
  return [
    el('div', { class: 'buttons' }, el('button', { type: 'button', 'data-focus': 'block', disabled: !chat.is_started && !isBlocked, on: { click: turn } }, isBlocked ? 'Unblock the bot' : 'Block the bot')),
    check('Topics are on', chat.is_forum, (on, button) => change('forum', { chat: chat.chat_id, on }, button)),
  ];
}

const rightNames = [['can_manage_topics', 'may manage topics'], ['can_pin_messages', 'may pin messages'], ['can_delete_messages', 'may delete messages']];

function groupParts(chat) {
  const id = chat.chat_id;
  const isAdmin = chat.bot.status === 'administrator';
  return [
    pick('The bot is', ['administrator', 'member', 'left', 'kicked'], chat.bot.status, (status, node) => change('bot', { chat: id, status, by: shown.as }, node)),
    ...(isAdmin ? rightNames.map(([right, words]) => check('It ' + words, chat.bot.rights[right], (on, node) => change('rights', { chat: id, [right]: on }, node))) : []),
    chat.kind === 'supergroup' ? check('Topics are on', chat.is_forum, (on, node) => change('forum', { chat: id, on }, node)) : null,
    chat.kind === 'group' ? el('div', { class: 'buttons' }, el('button', { type: 'button', 'data-focus': 'migrate', on: { click: (event) => change('migrate', { chat: id }, event.currentTarget) } }, 'Make it a supergroup')) : null,
    el('h4', {}, 'Members'),
    ...shown.state.people.map((each) => {
      const now = (chat.members.find((member) => member.key === each.key) || { status: 'left' }).status;
      return pick(each.first_name + ' is', ['creator', 'administrator', 'member', 'left', 'kicked'], now, (status, node) => change('member', { chat: id, person: each.key, status }, node));
    }),
  ].filter(Boolean);
}

function topicParts(chat) {
  const topic = currentTopic();
  const id = chat.chat_id;
  const create = (event) => {
    event.preventDefault();
    const input = event.currentTarget.elements.name;
    change('topic', { action: 'create', as: actor(), chat: id, name: input.value }, event.submitter).then(() => { input.value = ''; });
  };
  const turn = (action) => (event) => change('topic', { action, as: actor(), chat: id, thread: topic.thread_id }, event.currentTarget);
  const remove = async (event) => {
    const button = event.currentTarget;
    if (await ask('Delete the topic "' + topic.name + '" with all its messages?', true)) change('topic', { action: 'delete', chat: id, thread: topic.thread_id }, button);
  };
  return [
    el('h4', {}, 'Topics'),
    topic ? el('div', { class: 'stack' }, el('p', {}, topic.name + (topic.is_closed ? ' (closed)' : '')), el('div', { class: 'buttons' },
      chat.kind === 'private' ? null : topic.is_closed ? el('button', { type: 'button', 'data-focus': 'turn', on: { click: turn('reopen') } }, 'Reopen it')
        : el('button', { type: 'button', 'data-focus': 'turn', on: { click: turn('close') } }, 'Close it'),
      el('button', { type: 'button', class: 'danger', on: { click: remove } }, 'Delete it'))) : el('p', { class: 'note' }, 'Open a topic to close or delete it.'),
    el('form', { class: 'pair', on: { submit: create } },
      el('label', {}, 'New topic', el('input', { name: 'name', required: true, maxlength: '128', 'data-focus': 'topic name' })),
      el('button', { type: 'submit' }, 'Create')),
  ];
}
`;
