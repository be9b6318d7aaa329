import { expect, it } from 'vitest';
import { buttons } from '../../../src/telegram/chat/chat.ts';
import { parsePress } from '../../../src/telegram/chat/kit/press.ts';
import { readTree } from '../../guard/source.ts';

/** Messages with these stand in chats. */
const sent = `agenda allow arrived cancel clean create delete deliver deny digest discard done edit editway editwhat error field fieldset grant grants history
  hours keep kept lasterror later list make makeonce missed notdone pause pauseto pick plain purge raise regrant renew renewall resend restore result
  resume retime retry revoke run seen set setup skip snooze task test topicdelete trial unblock undo weekly which why wizard zone zoneback
  zonemove zones zoneyes`;

it('answers every verb that was ever sent', () => {
  expect([...buttons.keys()].toSorted()).toEqual(sent.split(/\s+/));
});

it('makes no button with a verb that nothing answers', () => {
  const made = readTree('src/telegram').flatMap(({ text }) => [...text.matchAll(/\bdataOf\(\s*'(\w+)'/g)]);
  expect(made.length).toBeGreaterThan(50);
  expect(made.map(([, verb = '']) => verb).filter((verb) => !buttons.has(verb))).toEqual([]);
});

it.each([
  ['v1:run', { verb: 'run', args: [] }],
  ['v1:run:a::b', { verb: 'run', args: ['a', '', 'b'] }],
  ['v1:neverwas:a', { verb: 'neverwas', args: ['a'] }],
  ['v2:run:a', null],
  ['v1:RUN', null],
  ['v1:run:a\nb', null],
  [`v1:run:${'é'.repeat(29)}`, null],
])('reads %j', (data, press) => {
  expect(parsePress(data)).toEqual(press);
});
