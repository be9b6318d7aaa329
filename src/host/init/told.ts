import { listed, toned, wrapped, type Screen } from '../screen.ts';
import type { InitDone } from './init.ts';

const topicWords = { on: 'on', off: 'off: results wait until they are on', group: 'in a group' } as const;

export function initText(done: InitDone, screen: Screen): string {
  const { env_file: file, bot, topics, owners, timezone, warnings, next } = done;
  const facts = listed(
    [
      ['wrote', `${file} (mode 600)`],
      ['bot', bot === null ? 'none; it starts in the sandbox' : `@${bot.username}`],
      ...(bot === null ? [] : [['topics', topicWords[topics]] as const]),
      ...(bot === null ? [] : [['owner', owners.length === 0 ? 'nobody yet' : owners.join(', ')] as const]),
      ['time zone', timezone],
    ],
    screen,
  );
  const line = (text: string) => `  ${wrapped(text, { columns: screen.columns, indent: 4 })}\n`;
  const faults = warnings.map((warning) => line(toned(`! ${warning}`, 'warn', screen))).join('');
  return `\n${facts}\n${faults === '' ? '' : `${faults}\n`}  Next\n${next.map((step) => line(`- ${step}`)).join('')}\n`;
}
