/** @import { Bodies, FaultJson } from '../../../control/shapes.ts' */
import { act, submitterOf } from '../dialogs.js';
import { byId, draw, el } from '../nodes.js';
import { refreshState } from '../refresh.js';
import { call, post } from '../server.js';
import { currentChat, shown } from '../shown.js';

/** @typedef {FaultJson['kind']} Kind */

/** @type {Readonly<Record<Kind, { words: string; note: string; takes?: 'retry_after' | 'delay_ms' }>>} */
const kinds = {
  429: { words: 'Too many requests (429)', note: 'Refused, with the seconds to wait.', takes: 'retry_after' },
  500: { words: 'Server error (500)', note: 'An error in JSON; nothing is done.' },
  bad_gateway_html: { words: 'Bad gateway (502)', note: 'An error page instead of JSON; nothing is done.' },
  hang: { words: 'No answer, not done', note: 'The call hangs until the bot gives up.' },
  reset_before: { words: 'Connection breaks, not done', note: 'Nothing arrives.' },
  reset_after: {
    words: 'Connection breaks, done',
    note: 'The message stands in the chat, but the bot does not know.',
  },
  answer_lost: {
    words: 'Answer lost, done',
    note: 'The message stands in the chat; the call hangs until the bot gives up.',
  },
  late: {
    words: 'Connection breaks, done later',
    note: 'The message arrives after the given seconds.',
    takes: 'delay_ms',
  },
  misroute: { words: 'Lands outside its topic', note: 'As a faulty server did.' },
  wrong_topic: { words: 'Lands in another topic', note: 'Or a creation is answered with another topic.' },
  wrong_shape: { words: 'Answer of the wrong shape', note: 'Done, but the answer is an empty object.' },
};

/** A person chooses from these methods. One without words is shown by its name. */
const methods = {
  send: 'every send',
  sendMessage: null,
  sendPhoto: null,
  sendDocument: null,
  sendMediaGroup: null,
  editMessageText: null,
  editMessageCaption: null,
  createForumTopic: null,
  editForumTopic: null,
  pinChatMessage: null,
  deleteMessage: null,
  answerCallbackQuery: null,
  getUpdates: null,
  getChatMember: null,
  '*': 'any call',
};

export function startFaults() {
  for (const [value, { words }] of Object.entries(kinds)) byId('fault-kind').append(el('option', { value }, words));
  for (const [value, words] of Object.entries(methods)) {
    byId('fault-method').append(el('option', { value }, words ?? value));
  }
  byId('fault-kind').addEventListener('change', drawFaultForm);
  drawFaultForm();
  byId('fault-form').addEventListener('submit', (event) => {
    event.preventDefault();
    const body = faultBody();
    void act(async () => {
      await post('fault', body);
      await refreshState();
    }, submitterOf(event));
  });
}

function chosenKind() {
  return /** @type {Kind} */ (byId('fault-kind', HTMLSelectElement).value);
}

/** @returns {Bodies['fault']} */
function faultBody() {
  const kind = chosenKind();
  const { takes } = kinds[kind];
  const seconds = byId('fault-seconds', HTMLInputElement).valueAsNumber || 1;
  const chat = byId('fault-here', HTMLInputElement).checked ? currentChat() : null;
  return {
    kind,
    method: byId('fault-method', HTMLSelectElement).value,
    count: byId('fault-count', HTMLInputElement).valueAsNumber || 1,
    ...(takes === 'retry_after' ? { retry_after: seconds } : {}),
    ...(takes === 'delay_ms' ? { delay_ms: seconds * 1000 } : {}),
    ...(chat === null ? {} : { chat: chat.chat_id }),
  };
}

function drawFaultForm() {
  const { note, takes } = kinds[chosenKind()];
  byId('fault-note').textContent = note;
  byId('fault-seconds-label').hidden = takes === undefined;
}

export function drawFaults() {
  const faults = shown.state?.faults ?? [];
  byId('tab-faults').classList.toggle('marked', faults.length > 0);
  draw(byId('faults'), faults, () =>
    faults.length === 0
      ? [el('li', { class: 'note' }, 'Nothing: the server works as it should.')]
      : [...faults.map(faultLine), el('li', {}, dropButton('Clear all'))],
  );
}

/** @param {FaultJson} fault */
function faultLine({ id, kind, method, chat, count }) {
  const where = chat === null ? '' : ` in ${keyOf(chat)}`;
  const facts = `${method === '*' ? 'any call' : method}${where}, ${count} left`;
  return el(
    'li',
    { class: 'line' },
    el('span', {}, el('b', {}, kinds[kind].words), el('small', {}, facts)),
    dropButton('Clear', id),
  );
}

/** @param {number} id */
function keyOf(id) {
  return shown.state?.chats.find((chat) => chat.chat_id === id)?.key ?? String(id);
}

/**
 * @param {string} words
 * @param {string} [id]
 */
function dropButton(words, id) {
  const button = el('button', { type: 'button' }, words);
  if (id !== undefined) button.setAttribute('aria-label', 'Take the fault away');
  button.addEventListener('click', () => void act(() => dropFault(id), button));
  return button;
}

/**
 * Takes away one fault, or all.
 *
 * @param {string} [id]
 */
async function dropFault(id) {
  await call('DELETE', id === undefined ? 'fault' : `fault?id=${encodeURIComponent(id)}`);
  await refreshState();
}
