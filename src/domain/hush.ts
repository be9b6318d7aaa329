import type { ChatSettings } from './chat-settings.ts';
import { quietFor, quietUntil, type QuietInput } from './quiet.ts';

/** How what a task brought may come now: as always, without a sound, or not before the quiet hours end. */
export type Hush =
  | { readonly is: 'heard' }
  | { readonly is: 'silent' }
  | { readonly is: 'held'; readonly until: number };

/** Whose quiet hours they may be. A task's own ones are told by the clocks of its zone, those of its chat by the chat's. */
export interface HushSubject {
  readonly task: { readonly quiet: QuietInput | null; readonly timezone: string };
  readonly chat: Pick<ChatSettings, 'quiet'> & { readonly timezone: string | null };
}

export function hushOf({ task, chat }: HushSubject, now: number): Hush {
  const quiet = quietFor(task.quiet, chat.quiet);
  if (quiet === null) return { is: 'heard' };
  const until = quietUntil(quiet, task.quiet === null ? (chat.timezone ?? task.timezone) : task.timezone, now);
  if (until === null) return { is: 'heard' };
  return quiet.mode === 'silent' ? { is: 'silent' } : { is: 'held', until };
}
