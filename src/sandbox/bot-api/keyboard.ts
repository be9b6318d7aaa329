import type { ButtonRow, Keyboard } from '../world/rows.ts';
import { type Arguments, badRequest } from './request.ts';

/** A `reply_markup` comes to buttons below the message, or another keyboard, which forbids edits. */
export interface Markup {
  readonly keyboard: Keyboard | null;
  readonly hasReplyKeyboard: boolean;
}

const buttonsMax = 100;
const dataBytesMax = 64;
const noMarkup: Markup = { keyboard: null, hasReplyKeyboard: false };

/** Kinds of buttons that are kept as they came, without being understood. */
const otherKinds = [
  'web_app',
  'login_url',
  'copy_text',
  'switch_inline_query',
  'switch_inline_query_current_chat',
  'switch_inline_query_chosen_chat',
  'callback_game',
  'pay',
];

export function readMarkup(args: Arguments): Markup {
  if (args.text('reply_markup') === '') return noMarkup;
  const value = args.json('reply_markup');
  if (value === undefined) throw badRequest("can't parse reply keyboard markup JSON object");
  if (!isObject(value)) throw badRequest('object expected as reply markup');
  const rows = listOf(value, 'keyboard');
  const inlineRows = listOf(value, 'inline_keyboard');
  if (rows.length > 0) return { keyboard: null, hasReplyKeyboard: true };
  const keyboard = inlineRows.map((row) => {
    if (!Array.isArray(row)) {
      throw badRequest('field "inline_keyboard" of the InlineKeyboardMarkup must be an Array of Arrays');
    }
    return row.map((button: unknown) => readButton(button));
  });
  if (keyboard.length > 0) return { keyboard: shownRows(keyboard), hasReplyKeyboard: false };
  const other = ['remove_keyboard', 'hide_keyboard', 'force_reply', 'force_reply_keyboard'];
  return { keyboard: null, hasReplyKeyboard: other.some((name) => value[name] === true) };
}

function shownRows(rows: Keyboard): Keyboard | null {
  const shown = rows.map((row) => row.filter(({ text }) => text !== '')).filter((row) => row.length > 0);
  return shown.length === 0 ? null : shown;
}

function listOf(value: Readonly<Record<string, unknown>>, name: string): readonly unknown[] {
  const list = value[name];
  if (list === undefined || list === null) return [];
  if (!Array.isArray(list)) throw badRequest(`field "${name}" must be of type Array`);
  return list;
}

function readButton(value: unknown): ButtonRow {
  if (typeof value === 'string') throw badButton('Text buttons are unallowed in the inline keyboard');
  if (!isObject(value)) throw badButton('InlineKeyboardButton must be an Object');
  const text = stringOf(value, 'text');
  if (text === null) throw badButton('Can\'t find field "text"');
  const url = stringOf(value, 'url');
  if (url !== null && url !== '') return { text, url };
  const data = stringOf(value, 'callback_data');
  if (data !== null && data !== '') return { text, callback_data: data };
  const kind = otherKinds.find((name) => value[name] !== undefined);
  if (kind === undefined) throw badButton('Text buttons are unallowed in the inline keyboard');
  return { text, [kind]: value[kind] };
}

function stringOf(value: Readonly<Record<string, unknown>>, name: string): string | null {
  const field = value[name];
  if (field === undefined || field === null) return null;
  if (typeof field === 'number') return String(field);
  if (typeof field !== 'string') throw badButton(`Field "${name}" must be of type String`);
  return field;
}

function badButton(text: string): Error {
  return badRequest(`can't parse inline keyboard button: ${text}`);
}

/** Checks of the server behind the Bot API, which come last. */
export function checkKeyboard(keyboard: Keyboard | null): void {
  const buttons = (keyboard ?? []).flat();
  if (buttons.length > buttonsMax) throw badRequest('reply markup is too long');
  for (const { callback_data: data, url } of buttons) {
    if (typeof data === 'string' && Buffer.byteLength(data) > dataBytesMax) throw badRequest('BUTTON_DATA_INVALID');
    if (typeof url === 'string' && !isLink(url)) {
      throw badRequest(`inline keyboard button URL '${url}' is invalid: Wrong HTTP URL`);
    }
  }
}

function isLink(url: string): boolean {
  const whole = /^[a-z][a-z+.-]*:/i.test(url) ? url : `http://${url}`;
  if (!URL.canParse(whole)) return false;
  const { protocol, hostname } = new URL(whole);
  return protocol === 'tg:' || (/^https?:$/.test(protocol) && hostname.includes('.'));
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
