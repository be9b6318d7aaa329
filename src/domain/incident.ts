/** More of an error than this tells nothing new about what it is about. */
const readMax = 1000;
const causeMax = 200;

const blank = '#';
/** What follows the question mark of an address. */
const queries = /\?[^\s"'<>()]+/g;
/** An apostrophe within a word quotes nothing. */
const quotes = /"[^"]*"|“[^”]*”|«[^»]*»|`[^`]*`|(?<![\p{L}\p{N}])'[^']*'(?![\p{L}\p{N}])/gu;
/** Dates with names in them, as servers write them: "wed, 18 nov 2026". */
const dates = /\b(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6},? )?(?:\d{1,2} [a-z]{3,9}|[a-z]{3,9} \d{1,2},?) \d{4}\b/g;
const tokens = /[a-z0-9-]{6,}/g;
const numbers = /(\b(?:http|status|status code)[ :=]{1,2})?(\d+(?:[.,:/-]\d+)*)/g;

/**
 * What a failure is about. The same trouble must read the same from run to run, or it would be told each time, so whatever
 * belongs to one run alone is blanked: numbers, ids, times, and what is quoted. A status of HTTP stays, because a refusal
 * is other trouble than a server that is down; the faults of servers count as one, because they come and go in turn.
 */
export function causeOf(error: string): string {
  const words = error
    .slice(0, readMax)
    .toLowerCase()
    .replaceAll(quotes, '"…"')
    .replaceAll(queries, '?…')
    .replaceAll(dates, blank)
    .replaceAll(tokens, (token) => (isId(token) ? blank : token))
    .replaceAll(numbers, (_all, before: string | undefined, digits: string) =>
      before === undefined ? blank : before + statusOf(digits),
    )
    .replaceAll(/\s+/g, ' ')
    .trim();
  return words === '' ? 'no reason given' : words.slice(0, causeMax);
}

/** Long tokens with digits in them are names of one thing; so are short ones that are written in base 16. */
function isId(token: string): boolean {
  const digits = token.replaceAll(/\D/g, '').length;
  return digits >= 2 && (token.length >= 12 || /^(?:0x)?[0-9a-f]+$/.test(token));
}

function statusOf(digits: string): string {
  if (/^5\d\d$/.test(digits)) return '5xx';
  return /^[1-4]\d\d$/.test(digits) ? digits : blank;
}
