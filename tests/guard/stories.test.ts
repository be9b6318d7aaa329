import { expect, it } from 'vitest';
import { type SourceFile, importsOf, readTree } from './source.ts';

interface StoryReport {
  /** Imports from one story of the chat to another. */
  readonly shared: readonly string[];
  readonly faults: readonly string[];
}

/**
 * The order inside telegram: intake -> chat -> stories -> kit, and delivery -> kit and the view of a result. Words are said
 * by everybody: `chat/texts.ts` collects them from the stories, and `chat/context.ts` has the types.
 */
function checkStories(files: readonly SourceFile[]): StoryReport {
  const shared: string[] = [];
  const faults: string[] = [];
  for (const { file, target } of files.flatMap(importsOf)) {
    const [from, to] = [partOf(file), partOf(target ?? '')];
    if (from === null || to === null || from === to || to === everybodys) continue;
    if (isStory(from) && isStory(to)) shared.push(`${file} -> ${target}`);
    else if (mayNot(from, to)) faults.push(`${file} -> ${target}: ${from} must not import ${to}`);
  }
  return { shared, faults };
}

const everybodys = 'texts and types';
const outside = new Set(['intake', 'delivery', 'chat', 'kit', everybodys]);

function partOf(path: string): string | null {
  const [, inside] = /^src\/telegram\/(.+)$/.exec(path) ?? [];
  if (inside === undefined) return null;
  if (/^chat\/(?:texts|context)\.ts$/.test(inside)) return everybodys;
  const [, folder, story] = /^([^/]+)\/(?:([^/]+)\/)?/.exec(inside) ?? [];
  return story ?? folder ?? null;
}

function isStory(part: string): boolean {
  return !outside.has(part);
}

function mayNot(from: string, to: string): boolean {
  switch (from) {
    case 'kit':
      return true;
    case 'intake':
      return to === 'delivery';
    case 'delivery':
      return to !== 'kit' && to !== 'results';
    case 'chat':
    case everybodys:
      return to === 'intake' || to === 'delivery';
    default:
      return to !== 'kit';
  }
}

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
