/** @import { Answers, Bodies, FaultedJson, Views } from '../../control/shapes.ts' */

/** A transport error says that the server could not be asked, or did not answer as it should. */
export class TransportError extends Error {}

/**
 * @param {string} method
 * @param {string} path
 * @param {unknown} [body]
 * @returns {Promise<unknown>}
 */
export async function call(method, path, body) {
  const sent =
    body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const response = await fetch(`/sandbox/control/${path}`, { method, ...sent }).catch(() => {
    throw new TransportError('The server does not answer. Is it still running?');
  });
  /** @type {unknown} */
  const answer = await response.json().catch(() => null);
  if (!response.ok) throw new TransportError(reasonIn(answer) ?? `The server answered ${response.status}.`);
  return answer;
}

/** @param {unknown} answer */
function reasonIn(answer) {
  const { error } = /** @type {Partial<FaultedJson>} */ (answer ?? {});
  return error?.message;
}

/**
 * @template {keyof Views} K
 * @param {K} name
 * @param {string} [query]
 * @returns {Promise<Views[K]>}
 */
export async function get(name, query = '') {
  return /** @type {Views[K]} */ (await call('GET', `${name}${query}`));
}

/**
 * @template {keyof Bodies} K
 * @param {K} name
 * @param {Bodies[K]} body
 * @returns {Promise<K extends keyof Answers ? Answers[K] : unknown>}
 */
export async function post(name, body) {
  return /** @type {K extends keyof Answers ? Answers[K] : unknown} */ (await call('POST', name, body));
}
