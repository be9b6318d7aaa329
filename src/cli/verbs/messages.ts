import type { Command } from 'commander';
import { usage } from '../faults.ts';
import { sentence } from '../layout.ts';
import { given } from '../options.ts';
import type { AddVerb } from '../verb.ts';
import { keyFlag, keyHeader, type KeyOptions } from './doing.ts';

interface SendOptions extends KeyOptions {
  readonly mode?: 'normal' | 'silent' | 'urgent';
  readonly source?: string;
  readonly user?: string;
}

export function addMessageVerbs(message: Command, add: AddVerb): void {
  add<SendOptions>(message, {
    usage: 'send [text]',
    summary: 'put a text into the thread that --thread-key names',
    about: 'The text is shown as it stands. Without one, or with -, it is read from the input.',
    examples: [
      'cronogram message send "Backup done" --thread-key telegram:chat:-1001234',
      'df -h | cronogram message send --thread-key telegram:chat:-1001234',
    ],
    flags: [
      { flags: '--mode <mode>', about: 'how it is heard', choices: ['normal', 'silent', 'urgent'] },
      { flags: '--source <name>', about: 'what sends it, in lower case (default: cli)' },
      { flags: '--user <key>', about: 'for whom it is; kept with the run' },
      keyFlag,
    ],
    does: async (session, [typed], { mode, source, user, ...key }) => {
      const isPiped = typed === undefined && !session.terminal.canAsk;
      const text = typed === '-' || isPiped ? (await session.terminal.read()).trimEnd() : typed;
      if (text === undefined || text === '')
        throw usage('Say what is to be sent: as the last word, or - to read it from the input.');
      const body = {
        thread_key: session.threadKey,
        text,
        source: source ?? 'cli',
        ...given({ user_key: user, delivery_mode: mode }),
      };
      const answer = await session.client.call('postMessage', { body, ...keyHeader(key) });
      const words = `Taken up for ${session.threadKey}: run ${answer.run_id} (${answer.status}).`;
      return {
        json: answer,
        text: await sentence(session.terminal, words),
        note: session.isOffline
          ? 'It is sent when the server is started.'
          : `Wait for it with:\n  cronogram run wait ${answer.run_id}`,
      };
    },
  });
}
