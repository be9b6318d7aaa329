import { compiled } from './languages/compiled.ts';
import type { Language } from './languages/language.ts';

const patterns = compiled(({ manners }) => ({
  before: new RegExp(String.raw`[\s,]*(?:${manners.before})(?![\p{L}\p{N}'])[\s,]*`, 'iuy'),
  reminds: new RegExp(String.raw`[\s,]*(?:${manners.reminds})(?![\p{L}\p{N}'])[\s,:]*`, 'iuy'),
  to: new RegExp(String.raw`\s*(?:${manners.to})\s+(?=[\p{L}\p{N}])`, 'iuy'),
  after: new RegExp(String.raw`[\s,]+(?:${manners.after})\s*[.!]*$`, 'iu'),
}));

const WHOM =
  /[\s,]*(?<name>@[a-z][a-z0-9_]{2,31}(?:(?:\s*,\s*|\s+(?:and|&)\s+)@[a-z][a-z0-9_]{2,31}){0,9})(?=[\s,:]|$)[\s,:]*(?:to\s+(?=\p{L}))?/iuy;
/** Names of cron's own. */
const NICKNAME = /^@(?:reboot|yearly|annually|monthly|weekly|daily|midnight|hourly|every\w*)$/i;

export interface Manners {
  /** Where the time and the text begin. */
  readonly end: number;
  /** "Remind me" stands before a "to" that may follow the time. */
  readonly reminds: boolean;
  /** `@ben`, for whom it is. */
  readonly forWhom: string | null;
}

function taken(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0].length ?? 0;
}

/** Words that ask for a reminder, and are no part of it. */
export function mannersAt(text: string, from: number, language: Language): Manners {
  const { before, reminds, to } = patterns(language);
  let [end, isAsked, forWhom]: [number, boolean, string | null] = [from, false, null];
  for (;;) {
    const polite = taken(before, text, end);
    const asks = isAsked || polite > 0 ? 0 : taken(reminds, text, end);
    WHOM.lastIndex = end;
    const name: RegExpExecArray | null = forWhom === null ? WHOM.exec(text) : null;
    const whom: string = name?.groups?.['name'] ?? '';
    const isName = name !== null && !NICKNAME.test(whom);
    const length = Math.max(polite, asks, isName ? name[0].length : 0);
    if (length === 0) return { end, reminds: isAsked, forWhom };
    end += length;
    if (asks > 0) {
      isAsked = true;
      end += taken(to, text, end);
    } else if (isName && polite === 0) forWhom = whom;
  }
}

const JOINER = /^\s*(?:,+(?=\p{L})|[:;,.!?]+(?![\p{L}\p{N}])|[-\u2010-\u2015]+(?=\s|$)|[)\]]+)?\s*/u;

/** The text behind a time without the mark that joins it, and without what asks for a reminder. */
export function politeless(text: string, isReminded: boolean, language: Language): string {
  const [line = '', ...more] = text.split('\n');
  const stripped = line.replace(JOINER, '');
  const { before, reminds, to, after } = patterns(language);
  let end = taken(before, stripped, 0);
  const asks = taken(reminds, stripped, end);
  end += asks;
  if (isReminded || asks > 0) end += taken(TO, stripped, end);
  if (asks > 0) end += taken(to, stripped, end);
  const first = stripped.slice(end).trim() === '' && end > 0 && asks === 0 ? stripped : stripped.slice(end);
  const whole = [first, ...more].join('\n').trim();
  return whole.length > 400 ? whole : whole.replace(after, '');
}

const TO = /\s*(?:to|that)\s+(?=\p{L})/iuy;
