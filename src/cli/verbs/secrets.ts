import type { AnswerOf } from '../client.ts';
import { CliFault, usage } from '../faults.ts';
import { sentence, type Column } from '../layout.ts';
import { verb, type Session } from '../session.ts';
import { counted, hostZone, timesIn } from '../times.ts';
import { listTold } from './looking.ts';

type Secret = AnswerOf<'listSecrets'>['secrets'][number];

const operatorFlag = { flags: '--operator', about: 'those of the operator, instead of those of the thread' } as const;

export const secretVerbs = [
  verb({
    usage: 'list',
    summary: 'list the names of secrets, never their values',
    about: 'Those of the thread; with --operator those of the operator.',
    examples: ['cronogram secret list --operator'],
    flags: [operatorFlag],
    does: async (session, _args, { operator }) => {
      const answer = await session.client.call('listSecrets', { query: placeOf(session, operator) });
      const times = timesIn(hostZone(), session.clock.now());
      const at = (instant: string | null) => (instant === null ? null : times.about(instant));
      const columns: readonly Column<Secret>[] = [
        { title: 'NAME', isWhole: true, of: (one) => one.name },
        { title: 'HOSTS', least: 8, of: (one) => one.hosts.join(' ') },
        { title: 'BY', least: 8, of: (one) => one.set_by ?? one.from },
        { title: times.titled('SET'), least: 8, of: (one) => at(one.updated_at) },
        { title: 'USED', least: 8, of: (one) => at(one.last_used_at) },
        { title: 'CHATS', isExtra: true, of: (one) => one.chats.join(' ') },
      ];
      return listTold(session, { json: answer, none: 'No secrets.', rows: answer.secrets, columns });
    },
  }),
  verb({
    usage: 'set <name>',
    summary: 'set a secret; its value is asked for, or read from the standard input',
    about: 'The value is never an argument: those are seen by other programs, and kept by the shell.',
    examples: [
      'cronogram secret set WEATHER_KEY --host api.example.com',
      'cronogram secret set SIGNING_KEY --operator',
    ],
    flags: [
      operatorFlag,
      {
        flags: '--host <host>',
        about: 'where it may go, such as api.example.com or *.example.com; may be given several times',
        isList: true,
      },
      {
        flags: '--chat <chat>',
        about: 'of the operator: a chat whose tasks may use it; may be given several times',
        isList: true,
      },
    ],
    does: async (session, [name = ''], { operator, host, chat }) => {
      const value = await valueFrom(session, name);
      const body = { value, hosts: host?.slice(), chats: chat?.slice() };
      const query = placeOf(session, operator);
      const answer = await session.client.call('setSecret', { params: { name }, query, body });
      return { json: answer, text: await sentence(session.terminal, `${name} is set.`) };
    },
  }),
  verb({
    usage: 'delete <name>',
    summary: 'delete a secret; tasks that use it are skipped until it is set again',
    examples: ['cronogram secret delete WEATHER_KEY'],
    flags: [operatorFlag],
    does: async (session, [name = ''], { operator }) => {
      const asked = { params: { name }, query: placeOf(session, operator) };
      const answer = await session.client.call('deleteSecret', asked);
      return { json: answer, text: await sentence(session.terminal, `${name} is deleted.`) };
    },
  }),
  verb({
    usage: 'rotate',
    summary: 'seal all secrets under a new key',
    about: 'When it is interrupted, at whatever point, run it again: it goes on where it was.',
    examples: ['cronogram secret rotate'],
    does: async (session) => {
      let sealed = 0;
      let after: string | undefined;
      for (;;) {
        const step = await session.client.call('rotateSecrets', { query: { after } });
        sealed += step.sealed;
        session.progress(`${counted(sealed, 'secret')} sealed anew, ${step.left} to go`);
        if (step.next === null) return rotated(session, sealed, step);
        after = step.next;
      }
    },
  }),
];

async function rotated(session: Session, sealed: number, { left, unreadable }: AnswerOf<'rotateSecrets'>) {
  session.progress('');
  if (left > 0)
    throw new CliFault(
      'failed',
      `${counted(left, 'secret')} could not be opened, so the former key is kept. Set them again, then rotate.`,
    );
  const lost = unreadable === 0 ? '' : ` ${counted(unreadable, 'secret')} cannot be opened: their key is not there.`;
  const words = `${counted(sealed, 'secret')} sealed under the new key; the former one is forgotten.${lost}`;
  return { json: { sealed, left, unreadable }, text: await sentence(session.terminal, words) };
}

function placeOf({ threadKey }: Session, operator: true | undefined) {
  return operator === true ? {} : { thread_key: threadKey };
}

/** One end of line at the end belongs to the program that wrote it. */
async function valueFrom({ terminal }: Session, name: string): Promise<string> {
  const value = terminal.canAsk ? await terminal.askHidden(`Value of ${name}: `) : await terminal.read();
  if (terminal.canAsk && value.includes('\n'))
    throw usage(`A value of several lines is read from its file: cat key.pem | cronogram secret set ${name}`);
  if (value !== '') return value.replace(/\r?\n$/, '');
  throw usage(
    `Nothing was given as the value of ${name}. For example: printf %s "$KEY" | cronogram secret set ${name}`,
  );
}
