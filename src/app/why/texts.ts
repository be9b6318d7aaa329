/** Who did something, as a line names them. People have no names yet, so their id stands for them. */
export function actorText(actor: string): string {
  if (actor === 'system') return 'the system';
  if (actor === 'system:api') return 'the API';
  const token = /^api:token:(.+)$/.exec(actor)?.[1];
  return token === undefined ? actor : `the API token "${token}"`;
}

const errorLengthMax = 200;

/** One line stays one line, and a text that ends in a full stop does not get two. */
export function errorText(error: string | null): string {
  if (error === null) return '';
  const line = error.replace(/\s+/g, ' ').trim().replace(/\.$/, '');
  return `: ${line.length > errorLengthMax ? `${line.slice(0, errorLengthMax - 1)}…` : line}`;
}
