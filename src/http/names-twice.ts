/** Strings and the signs between values; everything else of a sound JSON text is of no interest here. */
const pieces = /"(?:[^"\\]|\\.)*"|[{}[\],:]/g;

/**
 * A name that stands twice in one object of a JSON text, or null. A parser keeps the last of the two, another program the
 * first, and so the one that checks a request may read another one than the one that carries it out.
 */
export function nameThatStandsTwice(json: string): string | null {
  const open: (Set<string> | null)[] = [];
  let before = '';
  for (const [piece] of json.matchAll(pieces)) {
    if (piece === '{') open.push(new Set());
    else if (piece === '[') open.push(null);
    else if (piece === '}' || piece === ']') open.pop();
    else if (piece === ':') {
      const names = open.at(-1);
      const name = JSON.parse(before) as string;
      if (names?.has(name) === true) return name;
      names?.add(name);
    }
    before = piece;
  }
  return null;
}
