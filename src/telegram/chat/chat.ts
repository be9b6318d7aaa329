import { Composer } from 'grammy';
import type { ActionForm } from '../../app/actions/form.ts';
import { commandsFor, plainText, unknownCommand } from './commands.ts';
import type { BotContext, Handler } from './context.ts';
import { editButtons } from './edit/buttons.ts';
import { answered } from './kit/answers.ts';
import { buttonPattern } from './kit/press.ts';
import { newTaskButtons } from './new-task/buttons.ts';
import { mended } from './new-task/words.ts';
import { placeButtons } from './place/buttons.ts';
import { resultsButtons } from './results/buttons.ts';
import { budgetButtons } from './settings/budgets.ts';
import { settingsButtons } from './settings/settings.ts';
import { taskButtons, unknownButton } from './task/buttons.ts';
import { grantButtons } from './trust/grants.ts';

/** Every verb of every button that was ever sent: none is taken away, or used for something else. */
export const buttons: ReadonlyMap<string, Handler> = new Map<string, Handler>(
  [
    newTaskButtons,
    editButtons,
    placeButtons,
    resultsButtons,
    settingsButtons,
    taskButtons,
    grantButtons,
    budgetButtons,
  ].flatMap((story) => Object.entries(story)),
);

/** Routes words and callbacks to the handlers that answer them; actions with a command of their own bring that along. */
export function createChat(forms: readonly ActionForm[]): Composer<BotContext> {
  const chat = new Composer<BotContext>();
  const commands = commandsFor(forms);
  // grammY's own commands are case-sensitive and not read from captions, so the command is looked up by its word.
  chat.on(['message', 'edited_message'], async (ctx) => {
    const named = commands.find(({ name }) => name === ctx.command)?.handle ?? unknownCommand;
    const handle = ctx.command === null ? plainText : named;
    ctx.answer = await answered(ctx.mends === undefined ? handle : (told) => mended(told, handle), ctx);
  });
  chat.callbackQuery(buttonPattern, async (ctx) => {
    ctx.answer = await answered(buttons.get(ctx.press?.verb ?? '') ?? unknownButton, ctx);
  });
  chat.on('callback_query', async (ctx) => {
    ctx.answer = await answered(unknownButton, ctx);
  });
  return chat;
}
