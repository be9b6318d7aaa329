import { Composer } from 'grammy';
import { buttons } from './buttons.ts';
import { commands, plainText, unknownCommand } from './commands.ts';
import type { BotContext, Handler } from './conversation.ts';
import { answering } from './kit/answers.ts';
import { buttonPattern } from './kit/press.ts';
import { unknownButton } from './task/buttons.ts';

/** What people say and press, to the handler that answers it. */
export function createChat(): Composer<BotContext> {
  const chat = new Composer<BotContext>();
  // grammY's own commands are case-sensitive and not read from captions, so the command is looked up by its word.
  chat.on(['message', 'edited_message']).lazy(({ command }) => {
    if (command === null) return told(plainText);
    return told(commands.find(({ name }) => name === command)?.handle ?? unknownCommand);
  });
  chat.callbackQuery(buttonPattern).lazy(({ press }) => told(buttons.get(press?.verb ?? '') ?? unknownButton));
  chat.on('callback_query', told(unknownButton));
  return chat;
}

function told(handle: Handler) {
  return async (ctx: BotContext) => {
    ctx.answer = await answering(handle)(ctx);
  };
}
