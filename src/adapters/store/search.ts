/** A pattern for `like` that finds the text as it stands: the signs that mean something to `like` are taken as themselves. */
export function literalLike(text: string): string {
  return `%${text.replace(/[\\%_]/g, (sign) => `\\${sign}`)}%`;
}
