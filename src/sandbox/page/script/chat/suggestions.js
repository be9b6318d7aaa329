/** @import { StateJson } from '../../../control/shapes.ts' */
import { byId, el } from '../nodes.js';
import { shown } from '../shown.js';

/** Finds the field in which a message is written. */
export function field() {
  return byId('say', HTMLTextAreaElement);
}

/** @type {StateJson['bot']['commands']} */
let offered = [];
let chosen = 0;

/** Offers the commands of the bot that begin like the text in the field. */
export function suggest() {
  const [, start] = /^\/([a-z0-9_]*)$/i.exec(field().value) ?? [];
  const commands = start === undefined ? [] : (shown.state?.bot.commands ?? []);
  offered = commands.filter((each) => each.command.startsWith((start ?? '').toLowerCase())).slice(0, 30);
  chosen = 0;
  drawSuggestions();
}

function drawSuggestions() {
  const list = byId('suggestions');
  list.hidden = offered.length === 0;
  field().setAttribute('aria-expanded', String(offered.length > 0));
  list.replaceChildren(...offered.map(suggestionNode));
  if (offered.length > 0) {
    field().setAttribute('aria-activedescendant', `option${chosen}`);
    list.children[chosen]?.scrollIntoView({ block: 'nearest' });
  } else field().removeAttribute('aria-activedescendant');
}

/**
 * @param {StateJson['bot']['commands'][number]} offer
 * @param {number} index
 */
function suggestionNode({ command, description }, index) {
  const mousedown = (/** @type {Event} */ event) => {
    event.preventDefault();
    take(index);
  };
  return el(
    'li',
    { role: 'option', id: `option${index}`, 'aria-selected': String(index === chosen), on: { mousedown } },
    el('b', {}, `/${command}`),
    el('span', {}, description),
  );
}

export function closeSuggestions() {
  offered = [];
  drawSuggestions();
}

/** @param {number} index */
function take(index) {
  const taken = offered[index];
  if (taken === undefined) return;
  field().value = `/${taken.command} `;
  closeSuggestions();
  field().focus();
}

/**
 * Moves through the suggestions, takes one or closes them. Answers false for a key that means nothing here.
 *
 * @param {KeyboardEvent} event
 */
export function answersKey(event) {
  if (offered.length === 0) return false;
  const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
  if (step !== 0) {
    event.preventDefault();
    chosen = (chosen + step + offered.length) % offered.length;
    drawSuggestions();
    return true;
  }
  if (event.key === 'Escape') {
    closeSuggestions();
    return true;
  }
  const isWhole = offered.some((each) => `/${each.command}` === field().value);
  if (event.key !== 'Tab' && (event.key !== 'Enter' || event.shiftKey || isWhole)) return false;
  event.preventDefault();
  take(chosen);
  return true;
}
