import { firstSettings } from './first-world.ts';
import { kindOf } from '../bot-api/media.ts';
import type { CallbackRow, ChatRow, MessageRow, SettingsRow } from './rows.ts';

/** The file outlives the program: rows that an earlier version wrote get what they do not have yet. */
const newOfChat = { lastEphemeralId: 0 } satisfies Partial<ChatRow>;
const newOfMessage = { isSilent: false, ephemeral: null } satisfies Partial<MessageRow>;
const newOfCallback = { ephemeralId: null } satisfies Partial<CallbackRow>;

export function completeChat(row: ChatRow): ChatRow {
  return { ...newOfChat, ...row };
}

export function completeMessage(row: MessageRow): MessageRow {
  const { document } = row;
  // The id of a file has always told its kind.
  const whole = document === null ? null : { ...document, kind: kindOf(document.fileId) };
  return { ...newOfMessage, ...row, document: whole };
}

export function completeCallback(row: CallbackRow): CallbackRow {
  return { ...newOfCallback, ...row };
}

export function completeSettings(row: SettingsRow): SettingsRow {
  return { ...firstSettings, ...row };
}
