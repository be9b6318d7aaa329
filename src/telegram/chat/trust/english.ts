import { englishForms } from '../../../domain/schedule/words/forms.ts';
import { bold, code, lines, oneLine, pre, say, shortened, type Rich } from '../kit/rich.ts';

const { number } = englishForms;

interface ContextFacts {
  /** Null where it is in the file of the message. */
  readonly text: string | null;
  readonly bytes: number;
  readonly number: number;
}

/** Characters of a context that a message shows; a longer one is a file. */
export const contextShownMax = 2500;

const json = (text: string | null): Rich | null => (text === null ? null : pre(shortened(text, contextShownMax)));

export const contextTexts = {
  none: (name: Rich, task: number): Rich =>
    lines(say`${name} has no context: its runs hand nothing on.`, code(`/context #${task} set city Oslo`)),
  is: (name: Rich, { text, bytes, number: task }: ContextFacts): Rich =>
    lines(
      say`${name} · context, ${number(bytes)} bytes`,
      json(text),
      say`${code(`/context #${task} set city Oslo`)} – ${code(`/context #${task} reset`)}`,
    ),
  was: (name: Rich, { text, bytes }: ContextFacts): Rich =>
    lines(say`${name} has an empty context now. Before, ${number(bytes)} bytes:`, json(text)),
  same: (name: Rich): Rich => say`Nothing to change: the context of ${name} is already like that.`,
  /** `field` is what the value was meant for. */
  notJson: (field: string, task: number): Rich =>
    lines(
      say`The value of ${code(shortened(field, 40))} begins like JSON and is none. A list or an object looks like this:`,
      code(`/context #${task} set ${shortened(field, 40)} {"city": "Oslo", "days": [1, 2]}`),
    ),
  how: (task: number): Rich =>
    lines(
      'What should I do with the context? For example:',
      code(`/context #${task}`),
      code(`/context #${task} set city Oslo`),
      code(`/context #${task} remove city`),
      code(`/context #${task} reset`),
    ),
} as const;

/** The rights under which tasks run. */
export const grantTexts = {
  none: 'No task here can run, so there is no right to give.',
  heading: (count: number): Rich => bold(`What tasks may do here (${count})`),
  row: (name: Rich, cells: readonly (string | null)[]): Rich =>
    say`${name}: ${shortened(cells.filter((cell) => cell !== null).join(' · '), 200)}`,
  title: (name: Rich, standing: string): Rich => say`${name} · ${standing}`,
  endless: 'no end',
  until: (at: string): string => `until ${at}`,
  expired: (at: string): string => `⚠️ ended ${at}`,
  revoked: (at: string): string => `⚠️ taken back ${at}`,
  missing: '⚠️ none',
  scopes: (scopes: readonly string[]): Rich => lines('It may:', ...scopes.map((scope) => code(shortened(scope, 300)))),
  unconfirmed: (scopes: readonly string[]): string =>
    `Named by no owner of the bot: ${oneLine(scopes.join(', '), 300)}. Secrets of the operator without hosts of their own are not sent by these, until an owner of the bot presses Renew.`,
  owner: (name: string, since: string | null): string =>
    since === null ? `Owner: ${name}` : `Owner: ${name}, since ${since}`,
  how: (number: number, holds: boolean): Rich =>
    lines(
      say`${code(`/grants #${number} allow host:api.example.com`)} – lets it do more`,
      holds ? say`${code(`/edit #${number} grant until 1 march`)} – gives it an end` : null,
    ),
  unread: (number: number): Rich =>
    lines(
      'What should I do with this right? For example:',
      code(`/grants #${number}`),
      code(`/grants #${number} renew`),
      code(`/grants #${number} revoke`),
      code(`/grants #${number} allow host:api.example.com`),
    ),
  allowHow: (number: number): Rich =>
    lines(
      'What should it be allowed? For example:',
      code(`/grants #${number} allow host:*.example.com`),
      code(`/grants #${number} allow secret:CUSTOMER_*`),
    ),
  revoke: 'Revoke',
  revokedWord: 'Taken back: I skip its runs from now on',
  revokedBefore: 'That right was taken back or replaced already',
} as const;
