import { dateStyles, settingsOf } from '../../../domain/chat-settings.ts';
import { isClock, type Quiet } from '../../../domain/quiet.ts';
import type { Drawn } from '../../../domain/shown.ts';
import type { Answer, Buttons, ChatContext } from '../conversation.ts';
import { answer, answerWith, forAsker, redrawn, Refused } from '../kit/answers.ts';
import { onChat } from '../kit/guards.ts';
import { arg } from '../kit/press.ts';
import { lines, type Rich } from '../kit/rich.ts';
import { adminsOf, mayManage } from '../kit/rights.ts';
import { zoneCommand } from '../place/buttons.ts';
import { texts } from '../texts.ts';
import { digestCommand, digestPressed, digestWords } from './digest.ts';
import { settingsDrawn, type SettingsFacts, dateStylesDrawn } from './view.ts';

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
    default:
      return changedByWords(ctx, calledSo[key.toLowerCase()] ?? key.toLowerCase(), value.toLowerCase());
  }
}

/** As the view calls them. */
const calledSo: Readonly<Record<string, string>> = { thumbs: 'reactions' };

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
  };
}

async function changedByWords(ctx: ChatContext, key: string, value: string): Promise<Answer> {
  // Where only one person is there is nobody else who could create anything.
  if (key === 'create' && ctx.place.chat.kind === 'private') return answer(texts.settings.createAlone);
  const change = readSetting(key, value, settingsOf(ctx.place.chat.settings).quiet);
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

/** A setting in words, or as a button carries it. */
function readSetting(key: string, value: string, quiet: Quiet | null): ReadSetting {
  const { settings } = texts;
  switch (key) {
    case 'create': {
      const who = /^(members?|everybody|all)$/.test(value) ? 'members' : /^admins?$/.test(value) ? 'admins' : null;
      return who === null ? { unread: settings.unread() } : { set: { create: who } };
    }
    case 'quiet':
      return readQuiet(value, quiet);
    case 'mode':
      return readMode(value, quiet);
    case 'reactions':
      return value === 'on' || value === 'off' ? { set: { reactions: value === 'on' } } : { unread: settings.unread() };
    case 'dates': {
      const style = dateStyles.find((one) => one === value || settings.styles[one].toLowerCase() === value);
      return style === undefined ? { unread: settings.unreadDates() } : { set: { dates: style } };
    }
    default:
      return { unread: settings.unread() };
  }
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
  if (key === 'open') {
    const facts = await settingsFacts(ctx);
    return redrawn(ctx, value === 'dates' ? dateStylesDrawn(facts) : settingsDrawn(facts));
  }
  const change = readSetting(key, value, settingsOf(ctx.place.chat.settings).quiet);
  if ('unread' in change) throw new Refused(texts.chat.oldButton);
  return redrawn(ctx, await changed(ctx, change.set), texts.settings.saved);
}

export const settingsButtons = { set: onChat('manage', setPressed), digest: digestPressed } satisfies Buttons;
