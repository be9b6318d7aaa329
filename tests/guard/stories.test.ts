import { expect, it } from 'vitest';
import { readTree } from './source.ts';
import { checkStories } from './stories.ts';

/** Steps that two stories share. A step that more of them need belongs to the kit. */
const sharedMax = 18;

it('keeps the stories of the chat apart, but for few shared steps', () => {
  const files = readTree('src/telegram');
  const { shared, faults } = checkStories(files);
  expect(faults).toEqual([]);
  expect(shared.length).toBeLessThanOrEqual(sharedMax);
  // A guard that reads nothing finds nothing.
  expect(files.length).toBeGreaterThanOrEqual(75);
  expect(shared.length).toBeGreaterThan(0);
});

it.each([
  ['the kit knows a story', 'src/telegram/chat/kit/x.ts', "import '../task/list.ts';", 'kit must not import task'],
  ['a story reaches the way in', 'src/telegram/chat/task/x.ts', "import '../../intake/door.ts';", 'import intake'],
  ['a story reaches the way out', 'src/telegram/chat/task/x.ts', "import '../../delivery/draw.ts';", 'import delivery'],
  ['the way out knows a story', 'src/telegram/delivery/x.ts', "import '../chat/task/list.ts';", 'import task'],
  ['the way out knows the way in', 'src/telegram/delivery/x.ts', "import '../intake/door.ts';", 'import intake'],
  ['the way in knows the way out', 'src/telegram/intake/x.ts', "import '../delivery/draw.ts';", 'import delivery'],
  [
    'a story knows all commands',
    'src/telegram/chat/task/x.ts',
    "import '../commands.ts';",
    'task must not import chat',
  ],
])('bites when %s', (_name, path, text, fault) => {
  expect(checkStories([{ path, text }]).faults.join()).toContain(fault);
});

it('counts what one story takes from another, and lets everybody speak', () => {
  const path = 'src/telegram/chat/task/x.ts';
  const text = "import '../edit/view.ts'; import '../kit/card.ts'; import '../texts.ts'; import '../../api.ts';";
  expect(checkStories([{ path, text }])).toEqual({ shared: [`${path} -> src/telegram/chat/edit/view.ts`], faults: [] });
});
