/** @import { MessageJson, PersonJson } from '../../../control/shapes.ts' */
/** @import { Media } from './files.js' */
import { act } from '../dialogs.js';
import { byId, draw, el } from '../nodes.js';
import { drawAll, refreshMessages } from '../refresh.js';
import { post } from '../server.js';
import { actor, currentChat, memory, nameOf, shown } from '../shown.js';
import { chosenFile, dropFile, startFiles } from './files.js';
import { answersKey, closeSuggestions, field, suggest } from './suggestions.js';

/**
 * Says a text, or sends a file with it, in the open place and as the answer that was begun.
 *
 * @param {string} text
 * @param {Media} [media]
 */
export async function say(text, media) {
  const chat = currentChat();
  if (chat === null) throw new Error('No chat is open.');
  await post('say', {
    as: actor(),
    chat: chat.chat_id,
    text,
    ...(media === undefined ? {} : { media }),
    ...(typeof shown.thread === 'number' ? { thread: shown.thread } : {}),
    ...replyTarget(shown.replyTo),
  });
  shown.isFresh = true;
  endContext();
  await refreshMessages();
}

/** @param {MessageJson | null} target */
function replyTarget(target) {
  if (target === null) return {};
  return target.ephemeral_id === null ? { reply_to: target.message_id } : { reply_to_ephemeral: target.ephemeral_id };
}

async function submitText() {
  const text = field().value;
  const { editing } = shown;
  const isSent = await act(
    async () => {
      const media = editing === null ? await chosenFile() : null;
      if (media === null && text.trim() === '') return false;
      if (media !== null) await say(text.trim(), media);
      else if (editing === null) await say(text);
      else {
        await post('edit', { as: editing.from, chat: editing.chat_id, message_id: editing.message_id, text });
      }
      return true;
    },
    byId('send', HTMLButtonElement),
  );
  if (isSent) clearField();
  field().focus();
}

function clearField() {
  field().value = '';
  memory.write('draft', '');
  dropFile();
  endContext();
  fit();
  closeSuggestions();
}

/** @param {MessageJson} message */
export function startReply(message) {
  shown.replyTo = message;
  shown.editing = null;
  const words = message.text || (message.document?.name ?? '');
  showContext(`Reply to ${nameOf(message.from)}: ${words.slice(0, 80)}`);
}

/** @param {MessageJson} message */
export function startEdit(message) {
  shown.replyTo = null;
  shown.editing = message;
  field().value = message.text;
  fit();
  showContext(`Edit: ${message.text.slice(0, 80)}`);
}

/** @param {string} text */
function showContext(text) {
  byId('context').hidden = false;
  byId('context-text').textContent = text;
  field().focus();
}

export function endContext() {
  if (shown.editing !== null) field().value = '';
  shown.replyTo = null;
  shown.editing = null;
  byId('context').hidden = true;
}

/** Makes the field as high as its text. */
function fit() {
  field().style.height = 'auto';
  field().style.height = `${Math.min(field().scrollHeight + 2, 180)}px`;
}

export function drawActors() {
  const { state } = shown;
  const chat = currentChat();
  if (state === null || chat === null) return;
  // In a private chat one person alone can write.
  byId('actors').hidden = chat.person !== null;
  draw(byId('actors'), [state.people, chat.key, chat.person, actor()], () => [
    el('legend', {}, 'Write as'),
    ...state.people.map(actorNode),
  ]);
}

/** @param {PersonJson} person */
function actorNode({ key, first_name: name }) {
  const change = () => {
    shown.as = key;
    memory.write('as', key);
    drawAll();
  };
  const checked = key === actor();
  const given = { type: 'radio', name: 'actor', value: key, checked, 'data-focus': `actor ${key}` };
  return el('label', { class: 'actor' }, el('input', { ...given, on: { change } }), el('span', {}, name));
}

/** @param {KeyboardEvent} event */
function onKey(event) {
  if (event.isComposing || answersKey(event)) return;
  if (event.key === 'Escape') endContext();
  if (event.key !== 'Enter' || event.shiftKey) return;
  event.preventDefault();
  void submitText();
}

export function startComposer() {
  field().value = memory.read('draft', '');
  fit();
  field().addEventListener('keydown', onKey);
  field().addEventListener('input', () => {
    fit();
    suggest();
    memory.write('draft', field().value);
  });
  field().addEventListener('blur', () => closeSuggestions());
  startFiles();
  byId('composer').addEventListener('submit', (event) => {
    event.preventDefault();
    void submitText();
  });
  byId('context-end').addEventListener('click', () => {
    endContext();
    field().focus();
  });
}
