/** @import { ChatJson } from '../../../control/shapes.ts' */
import { act } from '../dialogs.js';
import { byId, draw, el, focusIn, focusOn, place } from '../nodes.js';
import { actor, currentChat, openPlace, purposeOf, shown, visibleMessages } from '../shown.js';
import { dayOf } from '../times.js';
import { goTo, idOf, messageNode } from './bubbles.js';
import { say } from './composer.js';

/** @type {Map<string, { readonly text: string; readonly node: HTMLElement }>} */
const keptNodes = new Map();

/** The reader is at the end, and stays there whatever comes. */
let isAtEnd = true;

export function drawMessages() {
  const chat = currentChat();
  if (chat === null) return;
  const scroll = byId('scroll');
  isAtEnd ||= shown.isFresh;
  // The message that somebody reads stays where it is when something comes above it.
  const read = firstVisible(scroll);
  const topBefore = read?.getBoundingClientRect().top ?? 0;
  place(byId('messages'), wantedNodes(chat));
  forgetStrays();
  byId('older').hidden = !shown.hasOlder || shown.limit >= 500;
  // The bar of the pinned message takes its room before the end is measured.
  drawPinned();
  drawHint(chat);
  if (isAtEnd) scroll.scrollTop = scroll.scrollHeight;
  else if (read?.isConnected) scroll.scrollTop += read.getBoundingClientRect().top - topBefore;
  if (shown.messages.length > 0) shown.isFresh = false;
  showNewestButton();
}

/**
 * Measures how much stands below the screen.
 *
 * @param {HTMLElement} scroll
 */
function belowScreen(scroll) {
  return scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight;
}

/** @param {HTMLElement} scroll */
function firstVisible(scroll) {
  const { top } = scroll.getBoundingClientRect();
  return [...byId('messages').children].find((node) => node.id !== '' && node.getBoundingClientRect().bottom > top);
}

/**
 * Lists the messages in their order, with a line before the first one of each day.
 *
 * @param {ChatJson} chat
 */
function wantedNodes(chat) {
  /** @type {HTMLElement[]} */
  const wanted = [];
  let day = '';
  for (const message of visibleMessages()) {
    const its = dayOf(message.date * 1000);
    if (its !== day) wanted.push(kept(`day ${its}`, its, () => el('li', { class: 'day' }, el('span', {}, its))));
    day = its;
    const quoted = shown.messages.find((each) => each.message_id === message.reply_to) ?? null;
    const shape = [message, quoted && [quoted.from, quoted.text], actor(), chat.key];
    wanted.push(kept(`message ${idOf(message)}`, shape, () => messageNode(message, quoted)));
  }
  return wanted;
}

/**
 * Keeps the node of before, unless the shape of what it shows has changed.
 *
 * @param {string} key
 * @param {unknown} shape
 * @param {() => HTMLElement} make
 */
function kept(key, shape, make) {
  const text = JSON.stringify(shape);
  const found = keptNodes.get(key);
  if (found?.text === text) return found.node;
  const node = make();
  const mark = found === undefined ? undefined : focusIn(found.node);
  if (mark !== undefined) requestAnimationFrame(() => focusOn(node, mark));
  keptNodes.set(key, { text, node });
  return node;
}

function forgetStrays() {
  const list = byId('messages');
  for (const [key, { node }] of keptNodes) if (node.parentElement !== list) keptNodes.delete(key);
}

function drawPinned() {
  const pinned = shown.messages.findLast((message) => message.is_pinned);
  const bar = byId('pinned');
  bar.hidden = pinned === undefined;
  if (pinned === undefined) return;
  const { message_id: id, text } = pinned;
  const [line = ''] = text.split('\n', 1);
  draw(bar, [id, text], () => [el('b', {}, 'Pinned'), ` ${line.slice(0, 120)}`]);
  bar.onclick = () => goTo(id);
}

/** @param {ChatJson} chat */
function drawHint(chat) {
  const isEmpty = visibleMessages().length === 0 && shown.loaded === openPlace();
  const hint = byId('hint');
  hint.hidden = !isEmpty;
  if (!isEmpty) return;
  const starters = shown.state?.starters ?? [];
  draw(hint, [chat.key, shown.thread, ...starters], () => [
    el('p', {}, el('b', {}, 'Write to the bot')),
    el('p', {}, purposeOf(chat)),
    el('p', {}, 'Nothing was said here yet. Send these, one after the other:'),
    el('p', {}, ...starters.map(starterNode)),
    el('p', { class: 'note' }, 'Then open the clock and press "Go to the next run".'),
  ]);
}

/** @param {string} text */
function starterNode(text) {
  const button = el('button', { type: 'button', class: 'starter' }, text);
  button.addEventListener('click', () => void act(() => say(text), button));
  return button;
}

function showNewestButton() {
  byId('to-newest').hidden = belowScreen(byId('scroll')) < 160;
}

/** Follows the reader. A photo that is loaded late and a field that grows take their room without hiding the end. */
export function startScroll() {
  const scroll = byId('scroll');
  const toEnd = () => {
    if (isAtEnd) scroll.scrollTop = scroll.scrollHeight;
  };
  let top = 0;
  const scrolled = () => {
    // Only a reader goes up; whatever is loaded meanwhile only takes its room below.
    isAtEnd = belowScreen(scroll) < 80 || (isAtEnd && scroll.scrollTop >= top);
    top = scroll.scrollTop;
    showNewestButton();
  };
  scroll.addEventListener('scroll', scrolled, { passive: true });
  byId('to-newest').addEventListener('click', () => scroll.scrollTo({ top: scroll.scrollHeight, behavior: 'smooth' }));
  const room = new ResizeObserver(toEnd);
  room.observe(scroll);
  room.observe(byId('messages'));
}
