import { importsOf } from './source.ts';
import type { SourceFile } from './source.ts';

export interface StoryReport {
  /** Imports from one story of the chat to another. */
  readonly shared: readonly string[];
  readonly faults: readonly string[];
}

/**
 * The order inside telegram: intake -> chat -> stories -> kit, and delivery -> kit and the view of a result. Words are said
 * by everybody: `chat/texts.ts` collects them from the stories, and `chat/conversation.ts` has the types.
 */
export function checkStories(files: readonly SourceFile[]): StoryReport {
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
  if (/^chat\/(?:texts|conversation)\.ts$/.test(inside)) return everybodys;
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
