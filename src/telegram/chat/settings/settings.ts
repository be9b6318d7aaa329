import {
  dateStyles,
  grantDaysMax,
  keepIn,
  settingsOf,
  type ChatSettings,
  type DateStyle,
} from '../../../domain/chat-settings.ts';
import { isClock, type Quiet } from '../../../domain/pacing/quiet.ts';
import { clockText } from '../../../domain/schedule/time/calendar.ts';
import type { Drawn } from '../../../domain/shown.ts';
import type { Thread } from '../../../domain/thread.ts';
import { hourOfPart, isHourOf, settableParts, type SettablePart } from '../../../domain/when/setting.ts';
import type { Answer, Buttons, ChatContext } from '../context.ts';
import { answer, answerWith, forAsker, redrawn, Refused } from '../kit/answers.ts';
import { aboutMoment, clockIn } from '../kit/clock.ts';
import { onChat, threadOf } from '../kit/guards.ts';
import { chatHostsMax, grantDaysRead, hostsRead, keepRead, keepWords } from '../kit/policy.ts';
import { arg, button, dataOf, type Rows, inRows } from '../kit/press.ts';
import { lines, type Rich, blocks, drawn } from '../kit/rich.ts';
import { adminsOf, mayManage } from '../kit/rights.ts';
import { zoneCommand } from '../place/buttons.ts';
import { texts } from '../texts.ts';
import { budgetCommand } from './budgets.ts';
import { digestCommand, digestPressed, digestWords } from './digest.ts';

/** Settings of a chat: shown to everybody, changed by its admins, with buttons or in words. */

export async function settingsCommand(ctx: ChatContext): Promise<Answer> {
  const [key = '', ...rest] = ctx.args.trim().split(/\s+/);
  const value = rest.join(' ');
  switch (key.toLowerCase()) {
    case '':
      return forAsker(answerWith(settingsDrawn(await settingsFacts(ctx))));
    case 'zone':
    case 'tz':
      return zoneCommand({ ...ctx, args: value });
    case 'digest':
      return digestCommand({ ...ctx, args: value });
    case 'budget':
      return budgetCommand(ctx, value);
    case 'alarms':
      return answerWith(await alarmsSet(ctx, value.toLowerCase()));
    default:
      return changedByWords(ctx, calledSo[key.toLowerCase()] ?? key.toLowerCase(), value.toLowerCase());
  }
}

/** Names that people may write for a setting, and what the view calls it. */
const calledSo: Readonly<Record<string, string>> = {
  thumbs: 'reactions',
  history: 'keep',
  'one-offs': 'oneoffs',
  grant: 'grants',
};

async function settingsFacts(ctx: ChatContext): Promise<SettingsFacts> {
  const { place } = ctx;
  return {
    settings: settingsOf(place.chat.settings),
    timezone: place.timezone,
    now: ctx.clock.now(),
    isPrivate: place.chat.kind === 'private',
    mayChange: mayManage(ctx),
    admins: await adminsOf(place, ctx),
    digest: await digestWords(ctx),
    alarms: ctx.person.isOwner ? await alarmWords(ctx) : null,
  };
}

/* ---- where an owner hears of trouble with the server ---- */

async function alarmWords({ alarms, person, place: { chat } }: ChatContext): Promise<AlarmWords> {
  const at = await alarms.placeOf(person.actor);
  if (typeof at === 'string') return at;
  return at.address === chat.address ? 'chat' : 'other';
}

/** The setting belongs to the owner, whatever chat it is said in. */
async function alarmsSet(ctx: ChatContext, value: string): Promise<Drawn> {
  const { alarms, person, place, log } = ctx;
  if (!person.isOwner) throw new Refused(texts.settings.ownersOnly);
  const isPrivate = place.chat.kind === 'private';
  if (value !== 'private' && value !== 'off' && value !== 'chat') throw new Refused(texts.settings.unreadAlarms());
  await alarms.setPlace(person.actor, value === 'chat' ? (isPrivate ? 'private' : threadHere(ctx)) : value);
  log.info('alarms_set', { by: person.actor, to: value });
  return settingsDrawn(await settingsFacts(ctx));
}

/** A topic of a task is for its results. */
function threadHere({ place }: ChatContext): Thread {
  return { ...threadOf(place), topic: place.topicTask === null ? place.topic : null };
}

async function changedByWords(ctx: ChatContext, key: string, value: string): Promise<Answer> {
  if (key === 'silent' || key === 'hold') return changedByWords(ctx, 'quiet', `${value} ${key}`.trim());
  // In a private chat there is only one person who could create anything.
  if (key === 'create' && ctx.place.chat.kind === 'private') return answer(texts.settings.createAlone);
  const change = readSetting(key, value, settingsOf(ctx.place.chat.settings));
  if ('unread' in change) return answer(change.unread);
  if (!mayManage(ctx)) throw new Refused(await refusedWords(ctx, key));
  return answerWith(await changed(ctx, change.set));
}

/** Names of those who may, and what everybody can do with tasks of their own. */
async function refusedWords(ctx: ChatContext, key: string): Promise<Rich> {
  const { adminsOnly, ownQuiet } = texts.settings;
  const isQuiet = key === 'quiet' || key === 'mode';
  return lines(adminsOnly(await adminsOf(ctx.place, ctx)), isQuiet ? ownQuiet() : null);
}

type Setting = Readonly<Record<string, unknown>>;

/** Writes what was chosen beside everything else that is kept there, and answers how it all stands now. */
async function changed(ctx: ChatContext, set: Setting): Promise<Drawn> {
  const { store, clock, log } = ctx;
  const { chat } = ctx.place;
  // Another admin may have chosen something since the chat was read.
  const before = (await store.findChat(chat.address))?.settings ?? chat.settings;
  const settings = { ...before, ...set };
  await store.changeChat(chat.id, { settings }, clock.now());
  log.info('chat_settings_changed', { chat_id: chat.id, by: ctx.person.actor, keys: Object.keys(set) });
  return settingsDrawn(await settingsFacts({ ...ctx, place: { ...ctx.place, chat: { ...chat, settings } } }));
}

type ReadSetting = { readonly set: Setting } | { readonly unread: Rich };

const creatorWords: ReadonlyMap<string, ChatSettings['create']> = new Map([
  ['member', 'members'],
  ['members', 'members'],
  ['everybody', 'members'],
  ['all', 'members'],
  ['admin', 'admins'],
  ['admins', 'admins'],
]);

const oneOffWords: ReadonlyMap<string, ChatSettings['oneOffs']> = new Map([
  ['together', 'together'],
  ['together in reminders', 'together'],
  ['apart', 'apart'],
  ['a topic each', 'apart'],
]);

const onOrOff: ReadonlyMap<string, boolean> = new Map([
  ['on', true],
  ['off', false],
]);

/** A setting in words, or as a button carries it. */
function readSetting(key: string, value: string, before: ChatSettings): ReadSetting {
  const { settings } = texts;
  const { quiet } = before;
  const part = settableParts.find((each) => each === key);
  if (part !== undefined) return readHour(part, value, before);
  switch (key) {
    case 'create':
      return chosen('create', creatorWords.get(value));
    case 'quiet':
      return readQuiet(value, quiet);
    case 'mode':
      return readMode(value, quiet);
    case 'reactions':
      return chosen('reactions', onOrOff.get(value));
    case 'oneoffs':
      return chosen('oneOffs', oneOffWords.get(value));
    case 'keep':
      return chosen('keep', keepRead(value), settings.unreadKeep());
    case 'hosts':
      return chosen('hosts', hostsRead(value), settings.unreadHosts(chatHostsMax));
    case 'grants':
      return chosen('grantDays', grantDaysRead(value), settings.unreadGrants(grantDaysMax));
    case 'dates': {
      const style = dateStyles.find((one) => one === value || settings.styles[one].toLowerCase() === value);
      return style === undefined ? { unread: settings.unreadDates() } : { set: { dates: style } };
    }
    default:
      return { unread: settings.unread() };
  }
}

function chosen(name: keyof ChatSettings, value: unknown, unread = texts.settings.unread()): ReadSetting {
  return value === undefined ? { unread } : { set: { [name]: value } };
}

/** The hour of a part of the day; without a word about it the usual one. */
function readHour(part: SettablePart, value: string, { hours }: ChatSettings): ReadSetting {
  const { [part]: _before, ...others } = hours;
  if (/^(?:off|default|usual|reset)$/.test(value)) return { set: { hours: others } };
  const [hour = NaN, minutes = 0] = (clockOf(value) ?? '').split(':').map(Number);
  const said = hour * 60 + minutes;
  // "Evening 6:30" names its half of the day by itself.
  const minute = [said, said + 720].find((each) => isHourOf(part, each));
  return minute === undefined
    ? { unread: texts.settings.unreadHour(part) }
    : { set: { hours: { ...others, [part]: minute } } };
}

function readMode(mode: string, quiet: Quiet | null): ReadSetting {
  if (mode !== 'hold' && mode !== 'silent') return { unread: texts.settings.unreadQuiet() };
  return quiet === null ? { unread: texts.settings.noQuiet() } : { set: { quiet: { ...quiet, mode } } };
}

/** Hours alone keep the mode, a mode alone keeps the hours. */
function readQuiet(value: string, quiet: Quiet | null): ReadSetting {
  if (/^(off|none|no)$/.test(value)) return { set: { quiet: null } };
  if (/^(hold|silent)$/.test(value)) return readMode(value, quiet);
  const match = /^(?:from )?(\S+?)\s*(?:-|–|to|until)\s*(\S+?)(?:\s+(hold|silent))?$/.exec(value);
  const [, begin = '', end = '', mode = quiet?.mode ?? 'hold'] = match ?? [];
  const [from, to] = [clockOf(begin), clockOf(end)];
  if (from === null || to === null || from === to) return { unread: texts.settings.unreadQuiet() };
  return { set: { quiet: { from, to, mode } } };
}

/** `22:30`, `22.30`, `2230`, `22`, `10pm`. */
function clockOf(text: string): string | null {
  const [, hours = '', minutes = '00', half] = /^(\d{1,2})(?:[:.]?(\d\d))?\s*(am|pm)?$/.exec(text) ?? [];
  if (hours === '') return null;
  const hour = Number(hours);
  if (half !== undefined && (hour < 1 || hour > 12)) return null;
  const of24 = half === undefined ? hour : (hour % 12) + (half === 'pm' ? 12 : 0);
  const clock = `${String(of24).padStart(2, '0')}:${minutes}`;
  return isClock(clock) ? clock : null;
}

/** Each button says what a setting is to be, so that a second press changes nothing. */
async function setPressed(ctx: ChatContext): Promise<Answer> {
  const [key, value] = [arg(ctx, 0), arg(ctx, 1)];
  if (key === 'alarms') return redrawn(ctx, await alarmsSet(ctx, value), texts.settings.saved);
  if (key === 'open') {
    const facts = await settingsFacts(ctx);
    return redrawn(ctx, value === 'dates' ? dateStylesDrawn(facts) : settingsDrawn(facts));
  }
  const change = readSetting(key, value, settingsOf(ctx.place.chat.settings));
  if ('unread' in change) throw new Refused(texts.chat.oldButton);
  const settings = await changed(ctx, change.set);
  // The message that offers it says what was chosen.
  const isOffer = key === 'oneoffs' && arg(ctx, 2) !== '';
  const shown = isOffer ? drawn(texts.settings.oneOffsNow(value === 'together' ? 'together' : 'apart')) : settings;
  return redrawn(ctx, shown, texts.settings.saved);
}

export const settingsButtons = { set: onChat('manage', setPressed), digest: digestPressed } satisfies Buttons;

/* ---- one message, with everything that can be changed on its buttons ---- */

interface SettingsFacts {
  readonly settings: ChatSettings;
  readonly timezone: string;
  readonly now: number;
  /** In a private chat there is nobody else who could create anything. */
  readonly isPrivate: boolean;
  readonly mayChange: boolean;
  /** Admins to ask, for somebody who may not. */
  readonly admins: readonly string[];
  /** When the digest comes; null when none does. */
  readonly digest: string | null;
  /** Where the owner who looks hears of trouble; null for everybody else. */
  readonly alarms: AlarmWords | null;
}

/** `other`: in a chat that is not this one. */
export type AlarmWords = 'private' | 'chat' | 'other' | 'off';

function settingsDrawn(facts: SettingsFacts): Drawn {
  const { settings, timezone, now, isPrivate, mayChange, admins, digest, alarms } = facts;
  const { create, quiet, reactions, dates, keep, oneOffs, hosts, grantDays } = settings;
  const words = texts.settings;
  return drawn(
    blocks(
      words.title(),
      lines(
        isPrivate ? null : words.create(create),
        words.quiet(quiet, timezone),
        words.reactions(reactions),
        words.oneOffs(oneOffs),
        words.hours(hourWords(settings)),
        words.dates(example(dates, facts)),
        words.zone(timezone, clockIn(timezone, now)),
        words.keep(keep === null ? null : keepWords(keep)),
        hosts === null ? null : words.hosts(hosts),
        grantDays === null ? null : words.grants(grantDays),
        words.digest(digest),
        alarms === null ? null : words.alarms(alarms),
      ),
      mayChange ? words.ownHours() : lines(words.adminsOnly(admins), words.ownQuiet()),
    ),
    mayChange ? settingsRows(facts) : [],
  );
}

function hourWords({ hours }: ChatSettings): readonly string[] {
  return settableParts.map((part) => texts.settings.hour(part, clockText(hourOfPart(part, { parts: hours }) * 60)));
}

function example(dates: DateStyle, { timezone, now }: Pick<SettingsFacts, 'timezone' | 'now'>): string {
  return aboutMoment(now, { timezone, now, dates });
}

/** The hours that most people sleep. */
const presets: readonly Pick<Quiet, 'from' | 'to'>[] = [
  { from: '22:00', to: '07:00' },
  { from: '23:00', to: '08:00' },
];

function settingsRows({ settings, isPrivate, alarms }: SettingsFacts): Rows {
  const { create, quiet, reactions, keep, oneOffs } = settings;
  const words = texts.settings;
  return [
    isPrivate
      ? []
      : [
          choice(words.membersCreate, ['create', 'members'], create === 'members'),
          choice(words.adminsCreate, ['create', 'admins'], create === 'admins'),
        ],
    quietRow(quiet),
    quiet === null
      ? []
      : [
          choice(words.hold, ['mode', 'hold'], quiet.mode === 'hold'),
          choice(words.silent, ['mode', 'silent'], quiet.mode === 'silent'),
        ],
    [
      choice(words.reactionsOn, ['reactions', 'on'], reactions),
      choice(words.reactionsOff, ['reactions', 'off'], !reactions),
    ],
    [
      choice(words.oneOffsApart, ['oneoffs', 'apart'], oneOffs === 'apart'),
      choice(words.oneOffsTogether, ['oneoffs', 'together'], oneOffs === 'together'),
    ],
    Object.entries(words.keepChoices).map(([value, label]) =>
      choice(label, ['keep', value], JSON.stringify(keepIn(keepRead(value))) === JSON.stringify(keep)),
    ),
    [
      button(words.datesButton, dataOf('set', 'open', 'dates')),
      button(words.zoneButton, dataOf('zones')),
      button(words.digestButton, dataOf('digest', 'open')),
    ],
    // The buttons of a group are everybody's, and these would be one person's.
    !isPrivate || alarms === null
      ? []
      : [
          choice(words.alarmsPrivate, ['alarms', 'private'], alarms === 'private'),
          choice(words.alarmsOff, ['alarms', 'off'], alarms === 'off'),
        ],
  ];
}

/** Own hours stand beside the usual ones, so that they can be seen to hold. */
function quietRow(quiet: Quiet | null): Rows[number] {
  const isOwn = quiet !== null && !presets.some((one) => isSame(one, quiet));
  const all = isOwn ? [...presets, quiet] : presets;
  return [
    choice(texts.settings.quietOff, ['quiet', 'off'], quiet === null),
    ...all.map((one) => choice(hours(one), ['quiet', dense(one)], quiet !== null && isSame(one, quiet))),
  ];
}

type Hours = Pick<Quiet, 'from' | 'to'>;

function isSame(one: Hours, other: Hours): boolean {
  return one.from === other.from && one.to === other.to;
}

function hours({ from, to }: Hours): string {
  const short = (clock: string) => clock.replace(/^0/, '').replace(/:00$/, '');
  return `${short(from)}–${short(to)}`;
}

/** A colon separates what a button carries. */
function dense({ from, to }: Hours): string {
  return `${from}-${to}`.replaceAll(':', '');
}

function choice(label: string, [key, value]: readonly [string, string], isCurrent: boolean) {
  return button(isCurrent ? texts.settings.current(label) : label, dataOf('set', key, value));
}

/** Every way to write a date, each with what it makes of now. */
function dateStylesDrawn({ settings, timezone, now }: SettingsFacts): Drawn {
  const { styles, pickDates } = texts.settings;
  const all = dateStyles.map((style) => choice(styles[style], ['dates', style], style === settings.dates));
  const examples = dateStyles.map((style) => `${styles[style]}: ${example(style, { timezone, now })}`);
  return drawn(blocks(pickDates, lines(...examples)), [
    ...inRows(all, 3),
    [button(texts.button.back, dataOf('set', 'open', 'all'))],
  ]);
}
