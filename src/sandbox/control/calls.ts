import type { Call, World } from '../world/world.ts';

export interface BotCommand {
  readonly command: string;
  readonly description: string;
}

export interface CallTail {
  newest(limit: number): readonly Call[];
  /** The commands that the bot offers to everybody, as it told them last. */
  commands(): readonly BotCommand[];
}

const keptMax = 500;
const pageSize = 500;

/** Keeps the newest calls at hand: the world tells them from the oldest on. Reads only what is new since the last look. */
export function createCallTail(world: World): CallTail {
  let kept: readonly Call[] = [];
  let commands: readonly BotCommand[] = [];
  let last = 0;

  const readOn = () => {
    for (let page = world.calls(last, pageSize); page.length > 0; page = world.calls(last, pageSize)) {
      last = page.at(-1)?.seq ?? last;
      kept = [...kept, ...page].slice(-keptMax);
      const told = page.findLast(setsCommands);
      if (told !== undefined) commands = commandsOf(told.params['commands']);
    }
  };
  const catchUp = () => {
    // The world was put back to its beginning: what is remembered never happened.
    const newest = kept.at(-1);
    if (newest !== undefined && world.calls(newest.seq - 1, 1).at(0)?.at !== newest.at) {
      kept = [];
      last = 0;
      commands = [];
    }
    readOn();
  };
  return {
    newest: (limit) => {
      catchUp();
      return kept.slice(-limit);
    },
    commands: () => {
      catchUp();
      return commands;
    },
  };
}

/** Commands for a scope or a language are not for everybody. */
function setsCommands({ method, params, status }: Call): boolean {
  const language = params['language_code'];
  return method.toLowerCase() === 'setmycommands' && status === 200 && (language === undefined || language === '');
}

function commandsOf(value: unknown): readonly BotCommand[] {
  const list = typeof value === 'string' ? parsed(value) : value;
  return Array.isArray(list)
    ? list.filter(isCommand).map(({ command, description }) => ({ command, description }))
    : [];
}

function parsed(text: string): unknown {
  try {
    const list: unknown = JSON.parse(text);
    return list;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

function isCommand(value: unknown): value is BotCommand {
  if (typeof value !== 'object' || value === null) return false;
  const { command, description } = value as Partial<Record<keyof BotCommand, unknown>>;
  return typeof command === 'string' && typeof description === 'string';
}
