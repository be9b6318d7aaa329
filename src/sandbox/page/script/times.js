import { shown } from './shown.js';

/** The page and the bot speak English, and times stand there as the bot writes them. */
const language = 'en-GB';

/** @param {number} ms */
export function timeOf(ms) {
  return new Date(ms).toLocaleTimeString(language, { hour: '2-digit', minute: '2-digit' });
}

/** @param {number} ms */
export function secondOf(ms) {
  return new Date(ms).toLocaleTimeString(language);
}

/** @param {number} ms */
export function dayOf(ms) {
  return new Date(ms).toLocaleDateString(language, {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    year: 'numeric',
  });
}

/**
 * @param {number} ms
 * @param {string} [zone]
 */
export function fullOf(ms, zone) {
  return new Date(ms).toLocaleString(language, {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    timeZone: zone,
  });
}

/** The clock of the sandbox was read once, and goes on at the pace of the real one. */
export function sandboxNow() {
  return shown.clockAt + (performance.now() - shown.clockRead);
}

/** @param {number} ms */
export function span(ms) {
  const minutes = Math.round(Math.abs(ms) / 60_000);
  if (minutes < 1) return `${Math.round(Math.abs(ms) / 1000)} s`;
  if (minutes < 60) return `${minutes} min`;
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h${minutes % 60 ? ` ${minutes % 60} min` : ''}`;
  return `${Math.round(minutes / 1440)} days`;
}
