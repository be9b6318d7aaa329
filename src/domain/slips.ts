/** How many letters are missing, too many, wrong or in the place of their neighbours. */
export function slips(written: string, meant: string): number {
  const rows: number[][] = [Array.from({ length: meant.length + 1 }, (_none, index) => index)];
  const cost = (at: number, to: number) => rows[at]?.[to] ?? 0;
  for (let at = 1; at <= written.length; at += 1) {
    rows.push([at]);
    for (let to = 1; to <= meant.length; to += 1) {
      const changed = cost(at - 1, to - 1) + (written[at - 1] === meant[to - 1] ? 0 : 1);
      const isSwapped = at > 1 && to > 1 && written.slice(at - 2, at) === swapped(meant.slice(to - 2, to));
      const others = [cost(at - 1, to) + 1, cost(at, to - 1) + 1, ...(isSwapped ? [cost(at - 2, to - 2) + 1] : [])];
      rows[at]?.push(Math.min(changed, ...others));
    }
  }
  return cost(written.length, meant.length);
}

function swapped(pair: string): string {
  return `${pair.charAt(1)}${pair.charAt(0)}`;
}
