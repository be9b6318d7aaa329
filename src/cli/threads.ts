import { tasksNamed } from '../app/tasks/named.ts';
import { type Client, pagesOf } from './client.ts';
import { CliFault, unclear } from './faults.ts';
import { flat } from './layout.ts';

type Asking = Pick<Client, 'call'>;

/**
 * The key of the thread that a name stands for: what looks like a key is one, a bare number is a chat of Telegram, and words
 * are the title of a chat, or the name of a person for their private one.
 */
export async function threadNamed(client: Asking, name: string): Promise<string> {
  if (name === '' || name.includes(':')) return name;
  if (/^-?\d{1,16}$/.test(name)) return keyOf(name);
  const named = tasksNamed(name, await chats(client));
  const [chat, ...others] = named?.rest === '' ? named.tasks : [];
  if (named === null || chat === undefined) {
    const advice = '"cronogram access list" lists them; a key looks like telegram:chat:-1001234 or cli:default.';
    throw new CliFault('thread_not_found', `No chat is called "${flat(name).slice(0, 60)}". ${advice}`);
  }
  if (others.length === 0 && !named.isGuess) return keyOf(chat.id);
  const lines = named.tasks.map(({ id, title }) => `  ${keyOf(id)}  ${flat(title)}`);
  const advice = 'Write the key of the one that is meant.';
  throw unclear({ what: 'chat', name, isGuess: named.isGuess, lines, advice });
}

function keyOf(id: string): string {
  return `telegram:chat:${id}`;
}

/** A name is looked for among two thousand chats and people; a key names every one of them. */
const pagesMax = 10;

interface Chat {
  readonly id: string;
  readonly title: string;
}

/** The people and the groups that are let in, in whose chats tasks can be. */
async function chats(client: Asking): Promise<readonly Chat[]> {
  const found: Chat[] = [];
  for await (const { access } of pagesOf((query) => client.call('listAccess', { query }), pagesMax))
    found.push(...access.flatMap(({ id, who }) => (who === null ? [] : [{ id, title: who }])));
  return found;
}
