import { byId, el } from './nodes.js';

/** @typedef {HTMLButtonElement | HTMLSelectElement | HTMLInputElement} Control */

/**
 * Does something for a person. A failure is told, and the control cannot be used twice meanwhile.
 *
 * @template T
 * @param {() => Promise<T>} work
 * @param {Control | null} [control]
 * @returns {Promise<T | undefined>}
 */
export async function act(work, control = null) {
  setBusy(control, true);
  try {
    return await work();
  } catch (error) {
    toast(error instanceof Error ? error.message : String(error), true);
    return undefined;
  } finally {
    setBusy(control, false);
  }
}

/**
 * @param {Control | null} control
 * @param {boolean} isBusy
 */
function setBusy(control, isBusy) {
  if (control === null) return;
  if (isBusy) control.setAttribute('aria-busy', 'true');
  else control.removeAttribute('aria-busy');
  control.disabled = isBusy;
}

/**
 * Finds the button that sent a form.
 *
 * @param {SubmitEvent} event
 */
export function submitterOf(event) {
  return event.submitter instanceof HTMLButtonElement ? event.submitter : null;
}

/**
 * @param {string} text
 * @param {boolean} [isFault]
 */
export function toast(text, isFault = false) {
  const node = el('div', { class: isFault ? 'toast fault' : 'toast' }, text);
  byId('toasts').append(node);
  setTimeout(() => node.remove(), isFault ? 8000 : 4500);
}

/**
 * @param {string} text
 * @param {boolean} withCancel
 * @returns {Promise<boolean>}
 */
export function ask(text, withCancel) {
  const dialog = byId('alert', HTMLDialogElement);
  byId('alert-text').textContent = text;
  byId('alert-cancel').hidden = !withCancel;
  dialog.returnValue = 'no';
  if (!dialog.open) dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => resolve(dialog.returnValue === 'yes'), { once: true });
  });
}
