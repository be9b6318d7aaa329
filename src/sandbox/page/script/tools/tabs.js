import { byId } from '../nodes.js';
import { memory } from '../shown.js';
import { refreshCalls } from './calls.js';

const tabs = ['clock', 'faults', 'place', 'calls'];

/**
 * @param {string} name
 * @param {boolean} [withFocus]
 */
export function openTab(name, withFocus = false) {
  for (const each of tabs) {
    const tab = byId(`tab-${each}`);
    tab.setAttribute('aria-selected', String(each === name));
    tab.tabIndex = each === name ? 0 : -1;
    byId(`panel-${each}`).hidden = each !== name;
    if (each === name && withFocus) tab.focus();
  }
  memory.write('tab', name);
  void refreshCalls();
}

/** Remembers the tab of the last visit. */
function lastTab() {
  const name = memory.read('tab', 'clock');
  return tabs.includes(name) ? name : 'clock';
}

/**
 * Folds the tools out or away, where the screen has no room for them beside the chat.
 *
 * @param {boolean} isOpen
 */
export function showTools(isOpen) {
  document.body.classList.toggle('tools-open', isOpen);
  if (isOpen) byId(`tab-${lastTab()}`).focus();
  else byId('open-tools').focus();
}

export function startTabs() {
  for (const [index, name] of tabs.entries()) {
    const tab = byId(`tab-${name}`);
    tab.addEventListener('click', () => openTab(name));
    tab.addEventListener('keydown', (event) => {
      const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
      const next = tabs[(index + step + tabs.length) % tabs.length];
      if (step !== 0 && next !== undefined) openTab(next, true);
    });
  }
  openTab(lastTab());
  byId('open-tools').addEventListener('click', () => showTools(true));
  byId('close-tools').addEventListener('click', () => showTools(false));
  byId('tools').addEventListener('keydown', (event) => {
    if (event.key === 'Escape') showTools(false);
  });
}
