import type { Handler } from './conversation.ts';
import { editButtons } from './edit/buttons.ts';
import { newTaskButtons } from './new-task/buttons.ts';
import { placeButtons } from './place/buttons.ts';
import { resultsButtons } from './results/buttons.ts';
import { settingsButtons } from './settings/settings.ts';
import { taskButtons } from './task/buttons.ts';

/** Every verb of every button that was ever sent: none is taken away, or used for something else. */
export const buttons: ReadonlyMap<string, Handler> = new Map<string, Handler>(
  [newTaskButtons, editButtons, placeButtons, resultsButtons, settingsButtons, taskButtons].flatMap((story) =>
    Object.entries(story),
  ),
);
