/** @typedef {string | Node | null} Child is a text, a node, or nothing. */

/** @typedef {string | number | boolean | null | undefined} Value */

/** @typedef {{ readonly [event: string]: (event: Event) => unknown }} Handlers */

/** @typedef {{ readonly [attribute: string]: Value | Handlers; readonly on?: Handlers }} Given names the attributes, and has the handlers under `on`. */

/**
 * Finds a part that stands in the markup, and checks its kind where one is given.
 *
 * @template {HTMLElement} T
 * @param {string} id
 * @param {new () => T} [kind]
 * @returns {T}
 */
export function byId(id, kind) {
  const node = document.getElementById(id);
  if (node === null || (kind !== undefined && !(node instanceof kind)))
    throw new Error(`The page has no part "${id}".`);
  return /** @type {T} */ (node);
}

/**
 * Makes an element. Texts become text nodes, so that the browser never reads as markup what people and the bot wrote.
 *
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} name
 * @param {Given} given
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function el(name, given, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(given)) give(node, key, value);
  for (const child of children) if (child !== null && child !== '') node.append(child);
  return node;
}

/**
 * @param {HTMLElement} node
 * @param {string} key
 * @param {Value | Handlers} value
 */
function give(node, key, value) {
  if (value === undefined || value === null || value === false) return;
  if (typeof value === 'object') {
    for (const [event, call] of Object.entries(value)) node.addEventListener(event, call);
  } else if (typeof value === 'string') node.setAttribute(key, value);
  else if (key in node) Reflect.set(node, key, value);
  else node.setAttribute(key, value === true ? '' : String(value));
}

/** @type {WeakMap<HTMLElement, string>} */
const drawn = new WeakMap();

/**
 * Replaces the children only when the shape of what they show has changed, so that the focus and open parts stay.
 *
 * @param {HTMLElement} parent
 * @param {unknown} shape
 * @param {() => readonly Child[]} make
 */
export function draw(parent, shape, make) {
  const text = JSON.stringify(shape);
  if (drawn.get(parent) === text) return;
  drawn.set(parent, text);
  const mark = focusIn(parent);
  parent.replaceChildren(...make().filter((child) => child !== null));
  if (mark !== undefined) focusOn(parent, mark);
}

/**
 * Answers the mark of the focused element, by which its successor is found, or undefined when the focus is elsewhere.
 *
 * @param {Node} parent
 * @returns {string | undefined}
 */
export function focusIn(parent) {
  const focused = document.activeElement;
  return focused instanceof HTMLElement && parent.contains(focused) ? focused.dataset.focus : undefined;
}

/**
 * @param {HTMLElement} parent
 * @param {string} mark
 */
export function focusOn(parent, mark) {
  /** @type {NodeListOf<HTMLElement>} */
  const marked = parent.querySelectorAll('[data-focus]');
  [...marked].find((node) => node.dataset.focus === mark)?.focus({ preventScroll: true });
}

/**
 * Puts the nodes in order and moves only those that stand wrong, so that a selection or a focus is not lost.
 *
 * @param {HTMLElement} parent
 * @param {readonly HTMLElement[]} nodes
 */
export function place(parent, nodes) {
  const wanted = new Set(/** @type {readonly Element[]} */ (nodes));
  const strays = [...parent.children].filter((child) => !wanted.has(child));
  for (const stray of strays) stray.remove();
  nodes.forEach((node, index) => {
    const standing = parent.children[index] ?? null;
    if (standing !== node) parent.insertBefore(node, standing);
  });
}
