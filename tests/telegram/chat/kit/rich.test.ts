import { expect, test } from 'vitest';
import { oneLine } from '../../../../src/telegram/chat/kit/rich.ts';

test.each([
  ['a line\nand another', 'a line and another'],
  ['\u202Eabc', 'abc'],
  ['\u2067abc\u2069 def', 'abc def'],
  ['مرحبا بالعالم', 'مرحبا بالعالم'],
  ['🤡🤡', '🤡🤡'],
])('%j is shown within a line as %j', (text, shown) => {
  expect(oneLine(text, 60)).toBe(shown);
});
