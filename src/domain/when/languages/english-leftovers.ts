import type { Leftovers } from './language.ts';

/** English words that look like time. The reader of time shares none of them, so that what it does not know is asked about. */

const DAY = '(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:days?)?';
const DAYS = '(?:mon|tues|wednes|thurs|fri|satur|sun)days?';
const MONTH =
  '(?:january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)';
const UNIT = '(?:min(?:ute)?|hour|hr|day|night|week|fortnight|month|quarter|year)s?';
const SPOKEN = '(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)';
/** "The other one tomorrow" tells no hour. */
const SPOKEN_HOUR = '(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)';
const HOUR = String.raw`(?:\d{1,2}(?:[:.]\d\d)?|noon|midday|midnight|${SPOKEN})`;
const SET = String.raw`(?:${DAYS}|week-?days?|week-?ends?|work(?:ing)?\s?days?|(?:public\s+|bank\s+|school\s+)?holidays?|vacations?|christmas|easter|new\s+year)`;
const WHEN = String.raw`(?:(?:the\s+)?\d|${SET}|${DAY}\b|${MONTH}\b|today|tonight|tomorrow|next|this|last|first|noon|midday|midnight|(?:the\s+)?end\b|(?:the\s+)?(?:summer|winter|spring|autumn))`;

const pattern = (source: string) =>
  new RegExp(String.raw`(?<![\p{L}\p{N}_'@#/])(?:${source})(?![\p{L}\p{N}_]|'\p{L})`, 'giu');

/** They look like time wherever they stand. */
const ANYWHERE: readonly RegExp[] = [
  pattern(String.raw`(?:on|every|each|this|next|until|till|from|since|by|before|after|coming)\s+(?:the\s+)?${SET}`),
  pattern(
    String.raw`(?:every|each)\s+(?:other\s+|second\s+|\d+\s*|few\s+)?(?:${UNIT}|morning|afternoon|evening|night|${DAY})`,
  ),
  pattern(
    String.raw`(?:at|@)\s*(?:about\s+|around\s+)?(?:\d{1,2}(?:[:.]\d\d)?|noon|midday|midnight)(?!\s*(?:[%°$€£]|percent|degrees|km|mph|people|${UNIT}|(?:[\p{L}'.]+\s+){1,2}(?:st(?:reet)?|r(?:oa)?d|ave(?:nue)?|lane|square|sq|drive|place|court|way|hill|park|row)\b))`,
  ),
  pattern(
    String.raw`20[2-9]\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])|\d{4}-\d\d-\d\d|\d{1,2}[/]\d{1,2}[/]\d{2,4}|\d{1,2}\.\d{1,2}\.(?:\d{2,4})?(?=\s|$)`,
  ),
  pattern(
    String.raw`(?:on\s+)?(?:the\s+)?\d{1,2}(?:st|nd|rd|th)?\s+(?:of\s+)?${MONTH}|${MONTH}\.?\s+(?:the\s+)?\d{1,2}(?:st|nd|rd|th)?`,
  ),
  pattern(String.raw`on\s+(?:the\s+)?(?:\d{1,2}[./-]\d{1,2}|\d{1,2}(?:st|nd|rd|th))`),
  pattern(
    String.raw`(?:until|till|'?til|through|up\s+to|starting|beginning|ending|as\s+of)\s+(?:on\s+|from\s+)?${WHEN}\S*`,
  ),
  pattern(String.raw`(?:last|first)\s+(?:time|run)\s+(?:on\s+)?${WHEN}\S*`),
  pattern(
    String.raw`(?:except|excluding|excepting|besides|apart\s+from|other\s+than|but\s+not|but\s+never|not|never|no|unless|without|skip(?:ping)?)\s+(?:for\s+|on\s+|in\s+|it(?:'s|\s+is)\s+|during\s+)?(?:the\s+|an?\s+)?(?:${SET}|${MONTH}|tomorrow|today|\d{1,2}(?:st|nd|rd|th))`,
  ),
  pattern(String.raw`(?:\d+|an?|half\s+an|${SPOKEN})\s*(?:${UNIT})\s+(?:before|after|prior\s+to|ahead\s+of)`),
  pattern(String.raw`(?:in|at)\s+(?:the\s+)?(?:early\s+|late\s+)?(?:morning|afternoon|evening|night)s?`),
  pattern(String.raw`on\s+the\s+(?:half[\s-]*)?hour`),
  pattern(String.raw`(?:from|to|through|thru|until|till|since)\s+(?:early\s+|late\s+|mid[\s-]+)?${MONTH}`),
  pattern(String.raw`(?:in|during|throughout)\s+(?:early\s+|late\s+|mid[\s-]+)?${MONTH}(?!\s+(?:and|or)\s+\p{L})`),
  pattern(String.raw`following\s+(?:${UNIT}|${DAYS})`),
  pattern(
    String.raw`(?:\d+|${SPOKEN})\s+(?:(?:consecutive|straight|successive)\s+${UNIT}|${UNIT}\s+(?:in\s+a\s+row|running))`,
  ),
  pattern(String.raw`(?:even|odd|alternate|alternating)\s+(?:numbered\s+)?(?:${UNIT}|${DAYS})`),
  pattern(String.raw`(?:by\s+)?(?:eod|cob|close\s+of\s+business)`),
  pattern(String.raw`weeknights?|at\s+(?:nin|foru?r|fiv|sevn|eigh|tne|elevn)|at\s+\p{L}+ish`),
  // "Dentist, and friday 10 haircut" is a second task.
  pattern(
    String.raw`(?:(?:and|then|&)\s+)?(?:on\s+)?(?:${DAYS}|${DAY}|tomorrow)\s*,?\s*(?:at\s+)?\d{1,2}(?![\d%]|[-/])`,
  ),
  pattern(String.raw`utc|gmt|(?:europe|america|asia|africa|australia|pacific|atlantic)\/[a-z_]+`),
  pattern(
    String.raw`(?:lunes|martes|mi[eé]rcoles|jueves|viernes|s[aá]bado|domingo|ma[nñ]ana|cada|todos\s+los|montags?|dienstags?|mittwochs?|donnerstags?|freitags?|samstags?|sonntags?|jede[nrs]?|morgen|t[aä]glich|lundis?|mardis?|mercredis?|jeudis?|vendredis?|samedis?|dimanches?|demain|tous\s+les|toutes\s+les|chaque|luned[iì]|marted[iì]|mercoled[iì]|gioved[iì]|venerd[iì]|domenica|domani|ogni|segunda|ter[cç]a|quarta|quinta|sexta|amanh[aã]|todos\s+os)`,
  ),
];

const CLOCK = String.raw`\d{1,2}[:h][0-5]\d(?:\s*[ap]\.?m)?|\d{1,2}\s*[ap]\.?m|\d{1,2}\s*o'?\s?clock`;
/** Beside an hour, "the 8:15 train" has its name; where none is said, it may be the hour that is meant. */
const HOURS: readonly RegExp[] = [pattern(CLOCK)];
const UNNAMED_HOURS: readonly RegExp[] = [
  pattern(String.raw`(?<!(?:^|\s)(?:the|an?|my|our|your|his|her|their)\s)(?:${CLOCK})|(?:${CLOCK})\s*$`),
];

/** They are text beside a series, which they cannot change: "every day at 9 plan tomorrow". */
const ONCE: readonly RegExp[] = [
  pattern(String.raw`today|tonight|tomorrow|tmrw|yesterday|last\s+(?:night|week|month|year)`),
];
/** They look like an end of a series. */
const SERIES: readonly RegExp[] = [
  pattern(
    String.raw`for\s+(?:the\s+next\s+)?(?:\d+|an?|${SPOKEN})\s+(?:day|week|month|year)s?|(?:\d+|${SPOKEN})\s+times`,
  ),
];
/** They move with the moon or the week, so their date is asked for where no other day is said. */
const FEASTS: readonly RegExp[] = [
  pattern(
    String.raw`easter(?:\s+(?:sunday|monday))?|good\s+friday|thanksgiving|(?:mother|father)'?s'?\s+day|pentecost|ramadan|eid|diwali|passover|hanukkah|(?:labou?r|memorial|presidents'?)\s+day|chinese\s+new\s+year`,
  ),
];
const LAST: readonly RegExp[] = [pattern(String.raw`${DAYS}[\s.!?]*$`)];

const at = (source: string) => new RegExp(String.raw`^\s*(?:${source})(?![\p{L}\p{N}_]|'\p{L})`, 'iu');

/** They belong to the time right before them, or to nothing. */
const BEHIND: readonly RegExp[] = [
  at(String.raw`,?\s*(?:every|each)(?:\s+\p{L}+(?:\s+days?)?)?`),
  at(String.raw`(?:at|@|on|by)\s*$`),
  at(String.raw`,\s*\d{1,2}\s*$`),
  at(
    String.raw`,?\s*(?:or|and|to|plus|-|–|&|\/|but)\s*(?:maybe\s+|perhaps\s+|possibly\s+|also\s+|then\s+)?(?:at\s+|on\s+)?(?:${HOUR}|${SET}|${DAY})(?:\s*[ap]\.?m)?`,
  ),
  at(String.raw`,?\s*(?:(?:on|and|or)\s+)?${DAYS}`),
  at(String.raw`${DAY}\s*,?\s*(?:at\s+)?\d`),
  at(
    String.raw`(?:ish|or\s+so|ago|later|past|sharp|(?:pacific|eastern|central|mountain|local|my|our|your)\s+time|time)`,
  ),
  at(
    String.raw`(?:in|of|during)\s+(?:${MONTH}|(?:the\s+)?(?:summer|winter|spring|autumn|fall|weekend|week)|advent|lent|term(?:[\s-]?time)?|(?:the\s+|school\s+)?holidays|(?:working|office|business)\s+hours)`,
  ),
  at(String.raw`(?:us\s+)?(?:eastern|pacific)(?=\s|$)`),
  at(String.raw`(?:next|last|this)\s+(?:week|month|year|${DAY})`),
  at(String.raw`(?:19|20)\d\d`),
  at(String.raw`(?:in|after)\s+(?:\d+|an?|half|${SPOKEN})\s*-?(?:${UNIT}|h|m|min)`),
  at(String.raw`(?:before|after|around|about|by|between|from)\s+${HOUR}(?:\s*[ap]\.?m)?`),
  at(String.raw`(?:hours?|hrs?|minutes?|mins?)`),
  at(String.raw`(?!1:1(?!\d))\d{1,2}[:.]\d(?!\s?(?:[%°$€£k]|mi|m|kg|lb|l)\b)`),
  at(String.raw`\d+\s*$`),
  at(String.raw`@?\s*\d{1,2}[ap]`),
  at(String.raw`(?:week|fortnight|after\s+next|from\s+now|of\s+(?:this|next)\s+(?:week|month|year))`),
  at(String.raw`-\s*(?:ish|time)`),
  at(String.raw`(?:during|throughout)\s+(?:the\s+)?\p{L}+(?:\s+time)?`),
  at(String.raw`,?\s*and\s+(?:a\s+half|a\s+quarter|(?:the\s+)?(?:public\s+|bank\s+|school\s+)?holidays)`),
  at(String.raw`[+-]\d{1,2}(?::?\d\d)?`),
  at(String.raw`,?\s*(?:instead|(?:minus|plus|less)\s+\d+|for\s+the\s+(?:next|rest)|of\s+the\s+(?:year|quarter|term))`),
];
const EVERY_BEFORE = /(?<![\p{L}\p{N}_'])(?:every|each)(?:\s+\S+){0,5}\s*$/iu;
const PARTS = at(String.raw`(?:mornings?|afternoons?|evenings?|nights?|noon|midnight|early|late)`);
const FIGURES = at(String.raw`[0-5]\d`);
const CLOCK_FIGURES = at(String.raw`[0-2]?\d[0-5]\d`);
/** Behind a series it takes days from it, and whatever is behind "except" is one of them. */
const EXCEPT = at(
  String.raw`,?\s*(?:until|till|'?til)\s+\S+(?:\s+\S+)?|,?\s*\(?(?:except(?:ing)?|excluding|apart\s+from|other\s+than|but\s+not)\s+(?:(?:the|on|at|for|in|during|every|each|from|public|bank|school|first|last|next)\s+){0,3}\S+|x\s?\d+`,
);
/** "Shift starts 2200 tomorrow", "call ana before 9 tomorrow": figures of a clock before a day without an hour; 2027 is a year. */
const CLOCK_BEFORE = new RegExp(
  String.raw`(?<=^|\s)(?!20[2-5]\d)(?:(?:[01]\d|2[0-3])[0-5]\d|(?:before|after|by|around|about|past)\s+${HOUR}(?:\s*[ap]\.?m)?)\s*$`,
);
/** Nouns that a number behind them names. */
const NUMBERED =
  'act|aisle|area|bay|bed|book|building|bus|chapter|channel|class|day|episode|exercise|exit|flat|floor|form|gate|grade|group|hall|house|invoice|issue|item|kit|lane|lap|lesson|level|line|model|module|no|number|option|order|page|part|period|phase|pier|platform|question|room|round|route|row|season|seat|section|set|size|sprint|stage|step|stop|studio|suite|table|task|team|terminal|ticket|track|type|unit|version|volume|ward|week|year|zone';
/** "The pill 9 every night": a figure that no word before it names. */
const FIGURE_BEFORE = new RegExp(
  String.raw`(?<=(?:^|\s)(?!(?:${NUMBERED})s?\s)\p{L}+,?\s)(?:[1-9]|1\d|2[0-3]|${SPOKEN_HOUR})(?:\s+(?:sharp|exactly|ish))?\s*$`,
  'u',
);
/** Nothing but an hour before the time: "8 30 tomorrow", "seven tomorrow". */
const LONE_FIGURES = new RegExp(
  String.raw`^\s*(?:no,?\s+)?(?:\d{1,2}(?:\s[0-5]\d)?|${SPOKEN})(?:\s+(?:sharp|exactly|ish))?\s*$`,
);
/** Such words change the time that follows them. */
const BEFORE =
  /(?:^|\s)(?:this\s+(?:same\s+)?time|nxt|nex|all\s+day|[ap]\.m\.|early|late|alt|[\p{L}]+\s+(?:and\s*\/\s*or|and\/or)|(?:the\s+)?following|half|once|penultimate|(?:first|last)\s+thing|easter|good|black|cyber|whit|shrove|ash|palm|maundy|\d{1,2},\d{1,2}|bank\s+holiday|(?:a\s+)?quarter\s+(?:of|to|past)\s+\p{L}+|\d{1,2}(?:st|nd|rd|th)?\s*(?:and|&|-|,)|\d{1,2}\s*(?:-|to)\s*\d{1,2}|(?:the\s+)?next\s+(?:\d+|\p{L}+)|before|after|since|between|not|no|except|than|or|around|about|for|to|of|until|(?<!\bthe\s)till|from|within|past|every|each|next|last|of)\s*$/iu;
/** Words that mean something else with what follows them: nights of school, and figures of a length. */
const JOINED: readonly (readonly [own: RegExp, next: RegExp])[] = [
  [/(?:^|\s)(?:school|work)\s*$/iu, /^\s*nights?\b/iu],
  [/(?:^|\s)(?:\d+|two|three|four|five)\s*$/iu, /^\s*(?:mon|tues|wednes|thurs|fri|satur|sun)days(?!\p{L})/iu],
  [
    /(?:^|\s)(?:the|an?|my|our|your|his|her|their)\s*$/iu,
    /^\s*(?:\d{1,2}(?:[:.h]\d\d|\s*[ap]\.?m|\s*o'?\s?clock)|noon|midday|midnight)/iu,
  ],
  [/^\s*(?:in|for|(?:set\s+)?(?:a\s+)?timer(?:\s+for)?)\s*$/iu, /^\s*\d/u],
];
/** Beside a series they are redundant, and so they are text: "every friday at 16 weekly report". */
const ADVERB = at(String.raw`(?:daily|weekly|monthly|yearly|annually|hourly|fortnightly|bi-?weekly)`);

export const englishLeftovers: Leftovers = {
  anywhere: ANYWHERE,
  hours: HOURS,
  unnamedHours: UNNAMED_HOURS,
  once: ONCE,
  series: SERIES,
  feasts: FEASTS,
  last: LAST,
  behind: BEHIND,
  everyBefore: EVERY_BEFORE,
  parts: PARTS,
  figures: FIGURES,
  clockFigures: CLOCK_FIGURES,
  except: EXCEPT,
  clockBefore: CLOCK_BEFORE,
  figureBefore: FIGURE_BEFORE,
  loneFigures: LONE_FIGURES,
  before: BEFORE,
  joined: JOINED,
  adverb: ADVERB,
};
