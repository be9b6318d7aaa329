/** Comments, and parts of a page that nobody reads up to where their own end begins; what is left open goes to the end. Other tags are kept. */
const unseen =
  /<!--[^]*?(?:-->|$)|<(head|title|script|style|noscript|template|svg)(?![a-z\d-])[^]*?(?:(?=<\/\1)|$)|(<[a-z/][^>]*(?:>|$))/gi;
/** Tags that stand within a line. */
const inline =
  /<\/?(?:a|abbr|b|bdi|bdo|cite|code|data|dfn|em|font|i|img|kbd|label|mark|q|s|samp|small|span|strong|sub|sup|time|u|var|wbr)(?![a-z\d-])[^>]*(?:>|$)/gi;
const marks = /<[!?][^>]*(?:>|$)/g;
const tags = /<[a-z/][^>]*(?:>|$)/gi;
/** White space within a line, but for the single spaces that may stay. */
const gaps = /[^\S\n ][^\S\n]*| [^\S\n]+/g;

/**
 * The words of a page as people read them, a line for each of its blocks, however it is nested or broken. Each pass goes over the page
 * once and keeps no list of its tags, so a page that holds nothing else is read in some milliseconds too.
 */
export function wordsOfPage(html: string): string {
  const text = html.replace(unseen, '$2').replace(marks, '').replace(inline, '').replace(tags, '\n');
  return unescaped(text)
    .replace(gaps, ' ')
    .replace(/ ?\n[\n ]*/g, '\n')
    .trim();
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
  const signs = new Map<string, string>();
  return text.replace(/&(?:#\d{1,7}|#x[\da-f]{1,6}|[a-z]{2,8});/gi, (whole) => {
    const known = signs.get(whole);
    if (known !== undefined) return known;
    const sign = signOf(whole.slice(1, -1)) ?? whole;
    signs.set(whole, sign);
    return sign;
  });
}

function signOf(reference: string): string | null {
  if (!reference.startsWith('#')) return named[reference] ?? null;
  const point = /^#x/i.test(reference) ? parseInt(reference.slice(2), 16) : Number(reference.slice(1));
  const isSign = point > 0 && point <= 0x10_ffff && (point < 0xd800 || point > 0xdfff);
  return isSign ? String.fromCodePoint(point) : null;
}
