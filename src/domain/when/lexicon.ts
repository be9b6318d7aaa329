/** The words of the grammar as parts of patterns, and what they stand for. */

export const WEEKDAY =
  '(?:mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:r(?:s(?:day)?)?)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?)';
export const MONTH =
  '(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)';
export const WORKDAYS = String.raw`(?:weekday|work(?:ing)?[\s-]*day|business[\s-]*day)`;

const WEEKDAY_STARTS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const MONTH_STARTS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/** 0 is Sunday. */
export function weekdayOf(word: string): number {
  return WEEKDAY_STARTS.indexOf(word.slice(0, 3));
}

/** 1 is January. */
export function monthOf(word: string): number {
  return MONTH_STARTS.indexOf(word.slice(0, 3)) + 1;
}

const NUMBERS = new Map([
  ['a', 1],
  ['an', 1],
  ['one', 1],
  ['two', 2],
  ['three', 3],
  ['four', 4],
  ['five', 5],
  ['six', 6],
  ['seven', 7],
  ['eight', 8],
  ['nine', 9],
  ['ten', 10],
  ['eleven', 11],
  ['twelve', 12],
  ['fifteen', 15],
  ['twenty', 20],
  ['thirty', 30],
  ['forty', 40],
  ['fifty', 50],
  ['sixty', 60],
  ['ninety', 90],
]);
export const NUMBER_WORD = [...NUMBERS.keys()].filter((word) => word.length > 2).join('|');
export const HOUR_WORD = [...NUMBERS]
  .filter(([word, value]) => word.length > 2 && value <= 12)
  .map(([word]) => word)
  .join('|');

export function numberOf(word: string): number {
  return NUMBERS.get(word) ?? Number(word);
}

const ORDINALS = new Map([
  ['first', 1],
  ['second', 2],
  ['third', 3],
  ['fourth', 4],
  ['fifth', 5],
  ['sixth', 6],
  ['last', -1],
]);
export const ORDINAL_WORD = [...ORDINALS.keys()].join('|');
export const ORDINAL_NUMBER = String.raw`\d{1,2}(?:st|nd|rd|th)`;

/** `third`, `3rd` or `last`, which is -1. */
export function ordinalOf(word: string): number {
  return ORDINALS.get(word) ?? Number.parseInt(word, 10);
}
