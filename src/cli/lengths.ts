const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** `4 ms`, `1.2 s`, `3 min`, `2 h`, `5 days`: how long something took, as exactly as anybody wants to know. */
export function durationWords(ms: number): string {
  if (ms < second) return `${Math.round(ms)} ms`;
  if (ms < 9.95 * second) return `${(ms / second).toFixed(1).replace(/\.0$/, '')} s`;
  if (ms < minute) return `${Math.round(ms / second)} s`;
  if (ms < 1.5 * hour) return `${Math.round(ms / minute)} min`;
  if (ms < 2 * day) return `${Math.round(ms / hour)} h`;
  return `${Math.round(ms / day)} days`;
}

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
