import { isObject } from '../bot-api/keyboard.ts';
import { type Arguments, badRequest } from '../bot-api/request.ts';
import type { BotCommand } from '../world/world.ts';
import { chatOf, type Api, type Method } from './access.ts';

const commandsMax = 100;
const commandMax = 32;
const commandDescriptionMax = 256;

function scopeKey(api: Api, args: Arguments): string {
  const language = args.text('language_code');
  if (language !== '' && !/^[a-z]{2}$/.test(language)) throw badRequest('invalid language code specified');
  if (args.text('scope') === '') return `default ${language}`;
  const scope = args.json('scope');
  if (scope === undefined) throw badRequest("can't parse BotCommandScope JSON object");
  if (!isObject(scope)) throw badRequest("can't parse BotCommandScope: BotCommandScope must be an Object");
  return `${scopeName(api, scope)} ${language}`;
}

const wideScopes = ['default', 'all_private_chats', 'all_group_chats', 'all_chat_administrators'];
const chatScopes = ['chat', 'chat_administrators', 'chat_member'];

function scopeName(api: Api, scope: Readonly<Record<string, unknown>>): string {
  const type = scope['type'];
  if (typeof type !== 'string') throw badRequest('can\'t parse BotCommandScope: Can\'t find field "type"');
  if (wideScopes.includes(type)) return type;
  if (!chatScopes.includes(type)) throw badRequest("can't parse BotCommandScope: Unsupported type specified");
  return chatScopeName(api, type, scope);
}

function chatScopeName(api: Api, type: string, scope: Readonly<Record<string, unknown>>): string {
  const chat = scope['chat_id'];
  const chatId = typeof chat === 'string' || typeof chat === 'number' ? String(chat) : '';
  if (chatId === '') throw badRequest("can't parse BotCommandScope: Empty chat_id specified");
  const user = Number(scope['user_id'] ?? 0);
  if (type === 'chat_member' && !(user > 0)) {
    throw badRequest("can't parse BotCommandScope: Invalid user_id specified");
  }
  const { id, kind } = chatOf(api, chatId, 'members');
  if (kind === 'private' && type !== 'chat') throw badRequest("can't change commands in private chats");
  return type === 'chat_member' ? `${type} ${id} ${user}` : `${type} ${id}`;
}

function readCommands(args: Arguments): readonly BotCommand[] {
  if (args.text('commands') === '') return [];
  const value = args.json('commands');
  if (value === undefined) throw badRequest("can't parse commands JSON object");
  if (!Array.isArray(value)) throw badRequest('expected an Array of BotCommand');
  if (value.length > commandsMax) throw badRequest('BOT_COMMANDS_TOO_MUCH');
  return value.map((each: unknown) => readCommand(each));
}

function readCommand(value: unknown): BotCommand {
  if (!isObject(value)) throw badRequest("can't parse BotCommand: expected an Object");
  const { command, description } = { command: value['command'], description: value['description'] };
  if (typeof command !== 'string') throw badRequest('can\'t parse BotCommand: Can\'t find field "command"');
  if (typeof description !== 'string') throw badRequest('can\'t parse BotCommand: Can\'t find field "description"');
  const name = command.replace(/^\//, '').trim();
  const words = description.trim();
  if (name === '') throw badRequest('command must be non-empty');
  if ([...name].length > commandMax) throw badRequest(`command length must not exceed ${commandMax}`);
  if (words === '') throw badRequest('command description must be non-empty');
  if ([...words].length > commandDescriptionMax) {
    throw badRequest(`command description length must not exceed ${commandDescriptionMax}`);
  }
  if (!/^[a-z0-9_]+$/.test(name)) throw badRequest('BOT_COMMAND_INVALID');
  return { command: name, description: words, ...(value['is_ephemeral'] === true ? { is_ephemeral: true } : {}) };
}

const setMyCommands: Method = (api, args) => {
  const commands = readCommands(args);
  const key = scopeKey(api, args);
  api.state.set({ commands: { ...api.state.settings.commands, [key]: commands } });
  return true;
};

const getMyCommands: Method = (api, args) => api.state.settings.commands[scopeKey(api, args)] ?? [];

export const settingMethods: Readonly<Record<string, Method>> = {
  setMyCommands,
  getMyCommands,
};
