import { tokenScopes } from '../../domain/principal.ts';
import type { AnswerOf } from '../client.ts';
import { CliFault } from '../faults.ts';
import { sentence, type Column } from '../layout.ts';
import { threadNamed, wholeId } from '../naming.ts';
import { verb, type Session } from '../session.ts';
import { counted, hostZone, timesIn } from '../times.ts';
import { listTold, pageFlags, pageOf } from './looking.ts';
import { instantOf } from './moments.ts';

/** Named tokens of the API. */

type Token = AnswerOf<'listTokens'>['tokens'][number];

export const tokenVerbs = [
  verb({
    usage: 'list',
    summary: 'list the named tokens; none of them is told again',
    examples: ['cronogram token list'],
    flags: pageFlags,
    does: async (session, _args, page) => {
      const answer = await session.client.call('listTokens', { query: pageOf(page) });
      const now = session.clock.now();
      const times = timesIn(hostZone(), now);
      const columns: readonly Column<Token>[] = [
        { title: 'NAME', least: 8, of: (one) => one.name },
        { title: 'STATE', of: (one) => stateOf(one, now) },
        { title: 'SCOPES', of: (one) => one.scopes.join(' ') },
        { title: 'CHATS', least: 8, of: (one) => one.thread_keys?.join(' ') ?? 'all' },
        { title: times.titled('ENDS'), least: 8, of: ({ expires_at: at }) => (at === null ? 'never' : times.at(at)) },
        { title: 'USED', least: 8, of: ({ last_used_at: at }) => (at === null ? 'never' : times.about(at)) },
        { title: 'BEGINS', isExtra: true, of: ({ prefix }) => `cgm_${prefix}` },
        { title: 'TOKEN', isExtra: true, of: (one) => one.token_id },
      ];
      return listTold(session, { json: answer, none: 'There are no named tokens.', rows: answer.tokens, columns });
    },
  }),
  verb({
    usage: 'create <name>',
    summary: 'make a token for some scopes and chats, and tell it this once',
    about:
      'read looks; run also runs what is there and posts messages; manage also changes tasks; admin also does what concerns the server.',
    examples: [
      'cronogram token create ci-deploy --scope run --chat "The Lab"',
      'cronogram token create reports --scope read --expires "2027-12-31 00:00"',
    ],
    flags: [
      { flags: '--scope <scope>', about: 'what it may do (default: read)', choices: tokenScopes },
      { flags: '--chat <chat>', about: 'a chat that exists for it; several times for several', isList: true },
      { flags: '--expires <when>', about: 'from then on it is refused (default: never)' },
    ],
    does: async (session, [name = ''], { scope = 'read', chat = [], expires }) => {
      const keys: string[] = [];
      for (const one of chat) keys.push(await threadNamed(session.client, one));
      const expiresAt = expires === undefined ? undefined : await instantOf(session, expires, hostZone());
      const named = keys.length === 0 ? {} : { thread_keys: keys };
      const body = { name, scopes: [scope], expires_at: expiresAt, ...named };
      const answer = await session.client.call('createToken', { body });
      const note = 'Note it now: it is kept nowhere, and is not told again.';
      return { json: answer, text: `${answer.token}\n`, note };
    },
  }),
  verb({
    usage: 'revoke <name>',
    summary: 'revoke a token for good: it is refused from now on',
    about: 'By its name, or by its whole id. Tasks that it made belong to the owner of their chat, and go on.',
    examples: ['cronogram token revoke ci-deploy'],
    does: async (session, [name = '']) => {
      const id = wholeId.test(name) ? name : await tokenNamed(session, name);
      const answer = await session.client.call('revokeToken', { params: { token_id: id } });
      const words = answer.entry_id === null ? 'was revoked already' : 'is revoked';
      const left = answer.tasks === 0 ? '' : ` ${counted(answer.tasks, 'task')} that it made can still run.`;
      return { json: answer, text: await sentence(session.terminal, `Token ${name} ${words}.${left}`) };
    },
  }),
];

/** Names are those of tokens that hold; whoever means another one names its id. */
async function tokenNamed({ client }: Session, name: string): Promise<string> {
  for (let cursor: string | undefined; ;) {
    const { tokens, next_cursor: next } = await client.call('listTokens', { query: { limit: '200', cursor } });
    const found = tokens.find((one) => one.name === name && one.revoked_at === null);
    if (found !== undefined) return found.token_id;
    if (next === null)
      throw new CliFault('not_found', `No token that holds is called ${name}: see cronogram token list.`);
    cursor = next;
  }
}

function stateOf({ revoked_at: revoked, expires_at: expires }: Token, now: number): 'active' | 'revoked' | 'expired' {
  if (revoked !== null) return 'revoked';
  return expires !== null && Date.parse(expires) <= now ? 'expired' : 'active';
}
