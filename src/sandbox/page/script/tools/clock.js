import { act, submitterOf, toast } from '../dialogs.js';
import { byId } from '../nodes.js';
import { refreshState } from '../refresh.js';
import { post } from '../server.js';
import { shown } from '../shown.js';
import { fullOf, sandboxNow, span, timeOf } from '../times.js';
import { openTab, showTools } from './tabs.js';

export function drawClock() {
  const { state } = shown;
  if (state === null) return;
  const now = sandboxNow();
  const nextAt = state.clock.next_at === null ? null : Date.parse(state.clock.next_at);
  setTime('now-here', now, fullOf(now));
  setTime('now-utc', now, fullOf(now, 'UTC'));
  byId('next-run').textContent = nextRunWords(nextAt, now);
  byId('clock-chip').textContent = timeOf(now);
  byId('clock-chip').setAttribute('aria-label', `Clock of the sandbox: ${timeOf(now)}`);
  byId('jumps').hidden = !state.clock.can_jump;
  byId('no-jumps').hidden = state.clock.can_jump;
  for (const button of jumpButtons()) {
    if (button.dataset.jump === 'next' && !button.hasAttribute('aria-busy')) button.disabled = nextAt === null;
  }
}

/**
 * @param {number | null} nextAt
 * @param {number} now
 */
function nextRunWords(nextAt, now) {
  if (nextAt === null) return 'nothing is planned';
  return `${fullOf(nextAt)}${nextAt > now ? ` (in ${span(nextAt - now)})` : ' (due)'}`;
}

/**
 * @param {string} id
 * @param {number} ms
 * @param {string} text
 */
function setTime(id, ms, text) {
  const node = byId(id, HTMLTimeElement);
  if (node.textContent === text) return;
  node.textContent = text;
  node.dateTime = new Date(ms).toISOString();
}

/** @returns {NodeListOf<HTMLButtonElement>} */
function jumpButtons() {
  return document.querySelectorAll('button[data-jump]');
}

/**
 * @param {string} to
 * @param {HTMLButtonElement | null} button
 */
async function jump(to, button) {
  const landed = await act(() => post('jump', { to }), button);
  if (landed === undefined) return;
  const runs = landed.visited === 1 ? '1 run' : `${landed.visited} runs`;
  toast(`Now ${fullOf(Date.parse(landed.now))}, ${runs} on the way.`);
  await refreshState();
}

/** @param {SubmitEvent} event */
function jumpThere(event) {
  event.preventDefault();
  const at = new Date(byId('jump-at', HTMLInputElement).value);
  if (Number.isNaN(at.getTime())) toast('Choose a date and a time first.', true);
  else void jump(at.toISOString(), submitterOf(event));
}

export function startClock() {
  byId('zone').textContent = Intl.DateTimeFormat().resolvedOptions().timeZone || 'your zone';
  for (const button of jumpButtons()) {
    button.addEventListener('click', () => void jump(button.dataset.jump ?? '', button));
  }
  byId('jump-form').addEventListener('submit', jumpThere);
  byId('clock-chip').addEventListener('click', () => {
    openTab('clock');
    if (matchMedia('(max-width: 1099px)').matches) showTools(true);
  });
  setInterval(drawClock, 1000);
}
