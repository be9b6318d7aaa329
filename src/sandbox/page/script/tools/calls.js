/** @import { CallJson } from '../../../control/shapes.ts' */
import { byId, el, place } from '../nodes.js';
import { get } from '../server.js';
import { shown } from '../shown.js';
import { fullOf, secondOf } from '../times.js';

/** Reads the calls of the bot while they are shown. */
export async function refreshCalls() {
  if (byId('panel-calls').hidden) return;
  const answer = await get('calls', '?limit=300').catch(() => null);
  if (answer === null) return;
  shown.calls = answer.calls;
  drawCalls();
}

/** @type {Map<string, HTMLElement>} */
const keptNodes = new Map();

export function drawCalls() {
  const withPolls = byId('calls-polls', HTMLInputElement).checked;
  const nodes = shown.calls
    .filter((each) => withPolls || each.method.toLowerCase() !== 'getupdates')
    .slice(-150)
    .toReversed()
    .map(kept);
  const empty = () => el('li', { class: 'note' }, 'The bot has called nothing yet.');
  const list = byId('calls');
  place(list, nodes.length === 0 ? [empty()] : nodes);
  for (const [key, node] of keptNodes) if (node.parentElement !== list) keptNodes.delete(key);
}

/** @param {CallJson} each */
function kept(each) {
  const key = `${each.seq} ${each.at} ${each.status}`;
  const node = keptNodes.get(key) ?? callNode(each);
  keptNodes.set(key, node);
  return node;
}

/** @param {CallJson} each */
function callNode({ method, fault, status, at, params, answer }) {
  const isGood = status >= 200 && status < 300;
  const time = new Date(at);
  const summary = el(
    'summary',
    {},
    el('code', { class: 'call-name' }, method),
    fault === null ? null : el('small', { class: 'tag bad' }, fault),
    el('small', { class: isGood ? 'tag good' : 'tag bad' }, status === 0 ? 'no answer' : String(status)),
    el('time', { datetime: at, title: fullOf(time.getTime()) }, secondOf(time.getTime())),
  );
  const sent = el('pre', { tabindex: '0' }, JSON.stringify(params, null, 2));
  return el('li', {}, el('details', {}, summary, sent, el('p', { class: 'answer' }, answer)));
}
