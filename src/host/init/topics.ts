import type { Bot, BotFacts } from '../ports.ts';
import type { Guide } from './guide.ts';
import { waitFor } from './waiting.ts';

/** `group` when the person will use a group instead of a private chat. */
export type Topics = 'on' | 'off' | 'group';

/** Each task has a topic of its own, so topics must be on somewhere. */
export async function seeToTopics({ ports, isGuided }: Guide, bot: Bot, me: BotFacts): Promise<Topics> {
  const { asking, telegram } = ports;
  if (me.hasTopics) {
    if (isGuided) asking.good('2/4  Topics in private chats are on');
    return 'on';
  }
  if (!isGuided) return 'off';
  asking.say(
    [
      '2/4  Topics in private chats are off',
      'Each task has a topic of its own. In Telegram, open @BotFather, press Open, then:',
      `@${me.username}, Bot Settings, Threads Settings, Threaded Mode: on`,
    ].join('\n'),
  );
  const waited = await waitFor(ports, {
    question: 'Waiting until they are on ...',
    options: [
      { value: 'group', label: 'I use a group instead' },
      { value: 'off', label: 'Later' },
    ] as const,
    look: async () => {
      const told = await bot.me();
      return told.is === 'ok' && told.value.hasTopics ? true : null;
    },
  });
  if (waited.is === 'found') {
    asking.good('Topics are on, thank you');
    return 'on';
  }
  if (waited.value === 'group') {
    asking.say(
      `Add it to a group whose topics are on; the rights that it needs are ticked:\n${telegram.groupLink(me.username)}`,
    );
    asking.say('Once the server runs, it looks there by itself and says what is missing.');
  }
  return waited.value;
}
