import type { ActionForm } from './form.ts';
import { httpForm } from './http/form.ts';

const messageForm = {
  kind: 'message',
  words: {
    name: 'message',
    menu: 'Send a text on time: /new every weekday at 9:00 Stand up',
    ask: 'What should I say?',
    tries: ['Stand up'],
    when: 'When should I send it?',
    examples: [
      ['/new in 20 minutes Take the pizza out', 'once'],
      ['/new every weekday at 9:00 Stand up', 'from Monday to Friday'],
      ['/new every monday at 9 Week {{ "now" | date: "%V" }}', 'a text with a template in it'],
    ],
    notes: [],
  },
  fields: [
    { name: 'plain', is: 'any', does: 'true: braces in the text are no template.', example: true },
    {
      name: 'media',
      is: 'object',
      does: 'A file that this bot was sent: {kind, file_id}.',
      example: { kind: 'photo', file_id: 'AgACAgIAAxkBAAI' },
    },
  ],
  text: 'needed',
  example: { kind: 'message' },
} as const satisfies ActionForm;

const digestForm = {
  kind: 'digest',
  words: {
    name: 'digest',
    menu: 'What is coming and what failed, in one message: /digest daily 8:00',
    ask: 'When should it come?',
    tries: ['daily 8:00'],
    when: 'When should it come?',
    examples: [
      ['/digest daily 8:00', 'what is coming and what failed, each morning'],
      ['/digest weekly monday 9:00', 'once a week'],
      ['/digest now', 'now'],
    ],
    notes: [],
  },
  fields: [],
  text: 'note',
  example: { kind: 'digest' },
} as const satisfies ActionForm;

/** Every kind that people choose, in the order in which they are told of them; how each is made stands in the registry. */
export const forms = { message: messageForm, digest: digestForm, http: httpForm } as const satisfies Readonly<
  Record<string, ActionForm>
>;
