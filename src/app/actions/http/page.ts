/** Parts of a page that nobody reads. */
const unseen = new Set(['head', 'title', 'script', 'style', 'noscript', 'template', 'svg']);
/** Tags that stand within a line. */
const inline = new Set(
  'a abbr b bdi bdo cite code data dfn em font i img kbd label mark q s samp small span strong sub sup time u var wbr'.split(
    ' ',
  ),
);

/** The words of a page as people read them, a line for each of its blocks. One way through it, however it is nested or broken. */
export function wordsOfPage(html: string): string {
  const lower = html.toLowerCase();
  const words: string[] = [];
  for (let at = 0; at < html.length;) {
    const open = html.indexOf('<', at);
    words.push(html.slice(at, open === -1 ? html.length : open));
    if (open === -1) break;
    if (!/[a-z/!?]/.test(lower.charAt(open + 1))) {
      words.push('<');
      at = open + 1;
      continue;
    }
    const [tag = '', name = ''] = /^<\/?([a-z][a-z\d-]{0,20})/.exec(lower.slice(open, open + 24)) ?? [];
    if (name !== '' && !inline.has(name)) words.push('\n');
    at = behind(lower, open, unseen.has(name) && !tag.startsWith('</') ? name : null);
  }
  const lines = unescaped(words.join('')).split('\n');
  return lines
    .map((line) => line.replace(/\s+/g, ' ').trim())
    .filter((line) => line !== '')
    .join('\n');
}

/** The end of a tag, of a comment, or of a part that is not seen. */
function behind(lower: string, open: number, part: string | null): number {
  const ending = lower.startsWith('<!--', open) ? '-->' : part === null ? '>' : `</${part}`;
  const end = lower.indexOf(ending, open + 1);
  return end === -1 ? lower.length : end + (part === null ? ending.length : 0);
}

const named: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  ndash: '–',
  mdash: '—',
  hellip: '…',
  euro: '€',
  copy: '©',
};

function unescaped(text: string): string {
  return text.replace(
    /&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,8}));/gi,
    (whole, figure?: string, hex?: string, name = '') => {
      if (figure === undefined && hex === undefined) return named[String(name)] ?? whole;
      const point = figure === undefined ? parseInt(hex ?? '', 16) : Number(figure);
      const isSign = point > 0 && point <= 0x10_ffff && (point < 0xd800 || point > 0xdfff);
      return isSign ? String.fromCodePoint(point) : whole;
    },
  );
}
