/** @import { Bodies, ChatJson, TopicJson } from '../../../control/shapes.ts' */
/** @import { Control } from '../dialogs.js' */
import { act, ask, submitterOf } from '../dialogs.js';
import { byId, draw, el } from '../nodes.js';
import { refreshAll } from '../refresh.js';
import { post } from '../server.js';
import { actor, currentChat, currentTopic, shown, titleOf } from '../shown.js';

/** Draws what can be changed in the open chat: the standing of the bot and its rights, topics, members. */
export function drawPlace() {
  const chat = currentChat();
  if (chat === null) return;
  draw(byId('place'), [shapeOf(chat), shown.thread, actor()], () => [
    el('h3', {}, titleOf(chat)),
    ...(chat.kind === 'private' ? privateParts(chat) : groupParts(chat)),
    ...(chat.is_forum ? topicParts(chat) : []),
  ]);
}

/**
 * Leaves out the messages of the chat, which change nothing here.
 *
 * @param {ChatJson} chat
 */
function shapeOf({ last: _last, general_last_message_id: _general, topics, ...facts }) {
  return { ...facts, topics: topics.map(({ last_message_id: _id, ...topic }) => topic) };
}

/** Draws what Telegram offers in every chat alike. */
export function drawPlatform() {
  if (shown.state === null) return;
  const { ephemeral, privacy } = shown.state.platform;
  draw(byId('platform'), [ephemeral, privacy], () => [
    check('Messages for one person alone are possible', ephemeral, (on, box) =>
      change('platform', { ephemeral: on }, box),
    ),
    check('Privacy mode: in groups a plain bot hears only what is meant for it', privacy, (on, box) =>
      change('platform', { privacy: on }, box),
    ),
  ]);
}

/**
 * @template {keyof Bodies} K
 * @param {K} name
 * @param {Bodies[K]} body
 * @param {Control | null} control
 */
function change(name, body, control) {
  return act(async () => {
    await post(name, body);
    await refreshAll();
  }, control);
}

/**
 * @template {string} T
 * @param {string} label
 * @param {{ readonly now: T; readonly values: readonly T[] }} choice
 * @param {(value: T, select: HTMLSelectElement) => Promise<unknown>} onPick
 */
function pick(label, { now, values }, onPick) {
  const options = [...new Set([now, ...values])].map((value) =>
    el('option', { value, selected: value === now }, value),
  );
  const select = el('select', { 'data-focus': `pick ${label}` }, ...options);
  select.addEventListener('change', () => void onPick(/** @type {T} */ (select.value), select));
  return el('label', {}, label, select);
}

/**
 * @param {string} label
 * @param {boolean} isOn
 * @param {(on: boolean, box: HTMLInputElement) => Promise<unknown>} onTurn
 */
function check(label, isOn, onTurn) {
  const box = el('input', { type: 'checkbox', checked: isOn, 'data-focus': `check ${label}` });
  box.addEventListener('change', () => void onTurn(box.checked, box));
  return el('label', { class: 'check' }, box, label);
}

/**
 * @param {string} words
 * @param {{ readonly mark?: string; readonly class?: string; readonly disabled?: boolean }} given
 * @param {(button: HTMLButtonElement) => Promise<unknown>} onClick
 */
function button(words, { mark, ...given }, onClick) {
  const node = el('button', { type: 'button', 'data-focus': mark, ...given }, words);
  node.addEventListener('click', () => void onClick(node));
  return node;
}

/** @param {ChatJson} chat */
function privateParts(chat) {
  const { chat_id: id, bot, person } = chat;
  const isBlocked = bot.status === 'kicked';
  const disabled = !chat.is_started && !isBlocked;
  const block = button(isBlocked ? 'Unblock the bot' : 'Block the bot', { mark: 'block', disabled }, (node) =>
    change('bot', { chat: id, status: isBlocked ? 'member' : 'kicked', by: person ?? actor() }, node),
  );
  return [el('div', { class: 'buttons' }, block), topicsCheck(chat)];
}

/** @param {ChatJson} chat */
function topicsCheck({ chat_id: chat, is_forum: isForum }) {
  return check('Topics are on', isForum, (on, box) => change('forum', { chat, on }, box));
}

/** @type {readonly (readonly [keyof ChatJson['bot']['rights'], string])[]} */
const rightNames = [
  ['can_manage_topics', 'may manage topics'],
  ['can_pin_messages', 'may pin messages'],
  ['can_delete_messages', 'may delete messages'],
];

/** @type {readonly Bodies['bot']['status'][]} */
const botStatuses = ['administrator', 'member', 'left', 'kicked'];

/** @type {readonly Bodies['member']['status'][]} */
const memberStatuses = ['creator', 'administrator', 'member', 'left', 'kicked'];

/** @param {ChatJson} chat */
function groupParts(chat) {
  const { chat_id: id, bot } = chat;
  const standing = pick('The bot is', { now: bot.status, values: botStatuses }, (status, select) =>
    change('bot', { chat: id, status, by: shown.as }, select),
  );
  const rights = rightNames.map(([right, words]) =>
    check(`It ${words}`, bot.rights[right], (on, box) => change('rights', { chat: id, [right]: on }, box)),
  );
  const migrate = button('Make it a supergroup', { mark: 'migrate' }, (node) => change('migrate', { chat: id }, node));
  return [
    standing,
    ...(bot.status === 'administrator' ? rights : []),
    chat.kind === 'supergroup' ? topicsCheck(chat) : el('div', { class: 'buttons' }, migrate),
    el('h4', {}, 'Members'),
    ...(shown.state?.people ?? []).map(({ key, first_name: name }) => {
      const now = chat.members.find((member) => member.key === key)?.status ?? 'left';
      return pick(`${name} is`, { now, values: memberStatuses }, (status, select) =>
        change('member', { chat: id, person: key, status }, select),
      );
    }),
  ];
}

/** @param {ChatJson} chat */
function topicParts(chat) {
  const topic = currentTopic();
  return [
    el('h4', {}, 'Topics'),
    topic === null
      ? el('p', { class: 'note' }, 'Open a topic to close or delete it.')
      : el('div', { class: 'stack' }, ...openTopicParts(chat, topic)),
    newTopicForm(chat.chat_id),
  ];
}

/**
 * @param {ChatJson} chat
 * @param {TopicJson} topic
 */
function openTopicParts({ chat_id: chat, kind }, { thread_id: thread, name, is_closed: isClosed }) {
  const turn = button(isClosed ? 'Reopen it' : 'Close it', { mark: 'turn' }, (node) =>
    change('topic', { action: isClosed ? 'reopen' : 'close', as: actor(), chat, thread }, node),
  );
  const remove = button('Delete it', { class: 'danger' }, async (node) => {
    const isSure = await ask(`Delete the topic "${name}" with all its messages?`, true);
    if (isSure) await change('topic', { action: 'delete', chat, thread }, node);
  });
  return [
    el('p', {}, `${name}${isClosed ? ' (closed)' : ''}`),
    el('div', { class: 'buttons' }, kind === 'private' ? null : turn, remove),
  ];
}

/** @param {number} chat */
function newTopicForm(chat) {
  const input = el('input', { name: 'name', required: true, maxlength: '128', 'data-focus': 'topic name' });
  const form = el(
    'form',
    { class: 'pair' },
    el('label', {}, 'New topic', input),
    el('button', { type: 'submit' }, 'Create'),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const body = /** @type {const} */ ({ action: 'create', as: actor(), chat, name: input.value });
    void change('topic', body, submitterOf(event)).then(() => {
      input.value = '';
    });
  });
  return form;
}
