import { any, compiled, words } from '../languages/compiled.ts';
import type { Language } from '../languages/language.ts';

/** Only an abbreviation has a dot of its own; the one behind "monday" ends the time. */
const DOT = String.raw`(?:(?<=(?<![a-z])[a-z]{3,5})\.)?`;
/** Two figures are a year where no hour or day of the month can be meant: "15 june 27". */
const YEAR = String.raw`(?:,?\s+(?<year>(?:19|20|21)\d\d)(?!\s*[:.h]\d)|\s+'?(?<short>2[5-9]|3\d)(?=\s*$|\s+(?:at\s|@|\d{1,2}(?:[:.]\d\d|\s?[ap]m))))?`;

/** The words of days, as parts of patterns. */
function sourcesOf(language: Language) {
  const {
    numbers,
    ordinals,
    ordinalEnd,
    months,
    weekdays,
    weekdayLetters,
    plural,
    words: w,
    units,
    holidays,
  } = language;
  const weekday = any(weekdays);
  const month = any(months);
  const figure = String.raw`\d{1,2}(?:${ordinalEnd})`;
  const ordinal = any([...Object.keys(ordinals), figure]);
  const day = String.raw`(?<day>\d{1,2}(?:${ordinalEnd})?|${any(Object.keys(ordinals).filter((word) => (ordinals[word] ?? 0) > 0))})`;
  const on = String.raw`(?<on>(?:${w.on})\s+)?`;
  return {
    numbers,
    ordinals,
    ordinalEnd,
    plural,
    w,
    units,
    holidays,
    weekdayLetters,
    weekday,
    month,
    figure,
    ordinal,
    day,
    on,
  };
}

const weekPatterns = compiled((language) => {
  const { plural, w, weekday, weekdayLetters, units } = sourcesOf(language);
  return {
    ahead: words(
      String.raw`(?:(?:${w.on})\s+)?(?:(?<two>${w.dayAfterTomorrow})|(?<one>${w.tomorrow})(?<dark>\s+(?:${language.parts.night}))?|(?<night>${w.tonight})|(?<zero>${w.today}|this(?=\s+(?:${Object.values(language.parts).join('|')}))))`,
    ),
    later: new RegExp(
      String.raw`\s*(?:in\s+)?(?<count>\d{1,2}|${any(Object.keys(language.numbers))})\s+(?:(?:(?<days>days?)|(?<months>months?))\s+from|(?:weeks?|(?<fortnights>${w.fortnight}s?))(?:'s?)?(?:\s+time)?(?:\s+(?:on|from))?)(?=\s+(?:${w.today}|${w.tomorrow}|${weekday})(?![\p{L}']))`,
      'yu',
    ),
    fromNow: new RegExp(
      String.raw`\s*(?<count>[2-9]|${any(Object.keys(language.numbers))})\s+(?<name>${weekday})${plural}\s+from\s+now(?![\p{L}'])`,
      'yu',
    ),
    weekLater: words(String.raw`(?<week>week)(?=\s*$|\s+(?:at|@|\d))|(?<fortnight>${w.fortnight})`),
    on: words(
      String.raw`(?:${w.only}\s+)?(?:${w.on})(?:\s+a(?=\s+${weekday}))?|${w.only}(?=\s+(?:${weekday}|${w.weekday}|${w.weekend}))|(?:on\s+)?all(?=\s+(?:${weekday}|${w.weekday}|${w.weekend})s)`,
    ),
    alone: words(w.only),
    fortnight: words(w.fortnight),
    week: words(units.week),
    theAfterNext: new RegExp(String.raw`\s*the(?=\s+(?:${weekday}|${w.weekend})\s+after\s+next)`, 'yu'),
    afterNext: words(String.raw`after\s+next(?!\s+(?:week|month|year|${weekday}))`),
    only: words(String.raw`${w.only}(?=\s*$|\s+(?:at|@|\d))`),
    workWeek: words(String.raw`(?:${language.workWeek})|(?:${w.weekday})(?<plural>s)?`),
    weekend: words(
      String.raw`(?:(?:at|on|over)\s+)?(?:(?<which>${w.this}|${w.next})\s+|the\s+)?(?:${w.weekend})(?<plural>s)?`,
    ),
    weekdays: words(
      String.raw`(?:(?<which>(?:${w.the}\s+)?(?:${w.next}|${w.this}))\s+)?(?<name>${weekday})(?<plural>${plural})?${DOT}`,
    ),
    weekday: words(String.raw`(?<name>${weekday})(?<plural>${plural})?${DOT}`),
    letters: words(
      String.raw`(?<from>mo?|tu|we)-(?<to>we|th|fr|sa|su)|${any(weekdayLetters)}(?:(?:[\s,/]+|\s+and\s+)${any(weekdayLetters)})+|mwf|tth|m\/w\/f|t\/th|m\s+w\s+f(?=\s)`,
    ),
    afterWeek: words(String.raw`(?:in\s+)?(?:${w.nextWeek})`),
    nextWeek: words(String.raw`(?:${w.on}\s+)?next\s+week,?(?=\s+(?:${w.on}\s+)?${weekday})`),
    link: new RegExp(String.raw`\s*(?:,\s*(?:(?:${w.and})\s+)?(?:on\s+)?|(?:${w.and})\s+(?:on\s+)?|[&/+]\s*)`, 'yu'),
    space: new RegExp(String.raw`\s+(?=${weekday}(?![a-z']))`, 'yu'),
    range: new RegExp(String.raw`\s*(?:to|-|through|thru|until|till)\s*`, 'yu'),
  };
});

const edgePatterns = compiled((language) => {
  const { w, month, ordinal } = sourcesOf(language);
  return {
    lastDay: words(
      String.raw`(?:(?:${w.on}|${w.at})\s+)?(?:(?:${w.the})\s+)?(?:${w.lastDay})(?=\s+(?:${w.of})\s+(?:(?:the|each|every|a|this|next)\s+)?(?:month|${w.quarterYear}|${month}))`,
    ),
    lastOfYear: words(String.raw`(?:(?:${w.on})\s+)?(?:(?:${w.the})\s+)?last\s+day\s+of\s+(?:this|the)\s+year`),
    lastDayAlone: words(String.raw`(?:(?:${w.the})\s+)?last\s+day|(?:${w.the})\s+last(?=\s+of)`),
    firstDay: words(
      String.raw`(?:(?:${w.the})\s+)?(?:${w.beginning})(?=\s+(?:${w.of})\s+(?:(?:the|each|every|a|this|next)\s+)?(?:month|${w.quarterYear}))`,
    ),
    toLast: words(String.raw`(?:(?:${w.the})\s+)?(?<count>${ordinal})[\s-]to[\s-]last\s+day`),
    monthEnd: words(
      String.raw`(?:(?:${w.on}|${w.at})\s+)?(?:(?:the|every|each)\s+)?(?:month(?:'s)?[\s-]end|eom)|(?:${w.the})\s+end(?=\s+(?:every|each)\s+month)|(?<=before\s+)(?:${w.the})\s+end(?!\s+of)`,
    ),
  };
});

const datePatterns = compiled((language) => {
  const { numbers, ordinals, ordinalEnd, plural, w, units, holidays, weekday, month, figure, ordinal, day, on } =
    sourcesOf(language);
  const list = String.raw`(?<list>\d{1,2}(?:${ordinalEnd})?(?:(?:\s*,\s*(?:(?:${w.and})\s+)?|\s+(?:${w.and})\s+)(?:the\s+)?\d{1,2}(?:${ordinalEnd})?){1,30})`;
  return {
    listFirst: words(String.raw`${on}(?:(?:${w.the})\s+)?${list}\s+(?:of\s+)?(?<month>${month})${DOT}${YEAR}`),
    listBehind: words(
      String.raw`${on}(?<month>${month})${DOT}\s+(?:(?:${w.the})\s+)?${list}(?=\s*$|\s+(?:${w.at})\s|\s+\d{1,2}(?::\d|\s?[ap]m))${YEAR}`,
    ),
    inMonth: words(String.raw`(?:in|during)\s+(?<month>${month})${DOT},?\s+(?:on|the)(?=\s)`),
    ofMonth: words(
      String.raw`(?:${w.of})\s+(?:(?<this>this|current)\s+|(?<next>next)\s+|(?:the|each|every|a)\s+)?(?:(?<month>month)|(?<quarter>${w.quarterYear}))|(?<soon>next\s+month)`,
    ),
    nextMonth: /\s*(?:in\s+)?next\s+month,?\s+(?:on\s+)?(?=the\s)/uy,
    everyMonth: words(String.raw`(?:every|each)\s+month`),
    ofNamed: words(String.raw`(?:${w.of})\s+(?:(?:each|every)\s+)?(?<month>${month})`),
    nth: words(
      String.raw`(?:on\s+)?(?:(?:${w.the})\s+)?(?<ordinal>${ordinal})(?:\s*(?:,|${w.and})\s*(?:the\s+)?(?<other>${ordinal}))?\s+(?:(?<work>${w.weekday})|(?<weekday>${weekday}))${plural}?`,
    ),
    monthDay: words(
      String.raw`(?:(?<the>${w.the})\s+)?(?<day>${figure}|${any(Object.keys(ordinals).filter((word) => (ordinals[word] ?? 0) > 0))})(?:\s+day)?`,
    ),
    numberDay: words(String.raw`(?<=\bon\s+)day\s+(?<day>\d{1,2})`),
    dayFirst: words(String.raw`${on}(?:(?:${w.the})\s+)?${day}(?:\s+(?:of|de))?\s*(?<month>${month})${DOT}${YEAR}`),
    monthFirst: words(
      String.raw`${on}(?<month>${month})${DOT}\s*(?:(?:${w.the})\s+)?${day}(?!\s*(?:[:h]\d|[ap]\.?m\b|${w.oClock}))${YEAR}`,
    ),
    yearFirst: words(
      String.raw`${on}(?<year>(?:19|20|21)\d\d)(?:\s+|-)(?<month>${month})${DOT}(?:\s+|-)(?<day>\d{1,2})(?:${ordinalEnd})?`,
    ),
    hyphened: words(String.raw`${on}(?<day>\d{1,2})-(?<month>${month})(?:-(?<year>(?:19|20|21)\d\d))?`),
    iso: words(String.raw`${on}(?<year>\d{4})([-/.])(?<month>\d{1,2})\3(?<day>\d{1,2})`),
    dotted:
      /\s*(?<on>(?:on|by|until|till)\s+)?(?<day>\d{1,2})\.\s?(?<month>\d{1,2})(?:\.(?!\d)|\.\s?(?<year>\d{4}|\d\d)(?![\d.]|\s*:))(?![\p{L}\p{N}])/uy,
    halfDotted: words(
      String.raw`(?<on>(?:on|by|until|till)\s+)?(?<day>\d{1,2})\.(?<month>\d{1,2})(?!\s*(?:[%\p{Sc}°]|(?:${any(Object.values(units))}|eur|euros?|usd|dollars?|pounds?|k?g|kilos?|lbs?|k?m|cm|mm|miles?|l|lit(?:re|er)s?|ml|times|x|gb|mb|million|points?)(?![\p{L}\p{N}])))`,
    ),
    slashed: words(String.raw`${on}(?<one>\d{1,2})(?<mark>[/-])(?<two>\d{1,2})(?:\k<mark>(?<year>\d{4}|\d\d))?`),
    holiday: words(
      String.raw`(?<on>(?:${w.on}|${w.at})\s+)?(?:the\s+)?(?:${holidays.map(({ words: name }, index) => `(?<h${index}>${name})`).join('|')})`,
    ),
    theDay: words(
      String.raw`,?\s*(?:the\s+)?(?<day>${figure}|[1-9]\d?(?=\s+(?:at\s+|@\s*)?\d{1,2}(?:[:.]\d\d|\s?[ap]m))|(?:2[4-9]|3[01])(?=\s*$))`,
    ),
    dateBehind: words(
      String.raw`(?:on\s+)?(?<name>${weekday})${DOT},?(?=\s+(?:on\s+)?(?:the\s+)?(?:\d|${month}|${any(Object.keys(ordinals))}))`,
    ),
    weekdayBehind: words(String.raw`,?\s*\(?(?<name>${weekday})\)?(?!\s+(?:and|&|at\s+\d+\s+and)\s)`),
    early: words(
      String.raw`(?:(?<count>\d{1,3}|${any(Object.keys(numbers))})\s+(?:(?<days>${units.day})|(?<weeks>${units.week})|(?<fortnights>${w.fortnight})s?)\s+(?:${w.before}|ahead\s+of|(?<after>after))|(?<one>${w.dayBefore})|(?<next>the\s+day\s+after))`,
    ),
  };
});

export const dayPatterns = compiled((language) => ({
  ...weekPatterns(language),
  ...edgePatterns(language),
  ...datePatterns(language),
}));
