import { Liquid, TokenizationError, type Template } from 'liquidjs';
import type { Templates } from '../app/ports/outside.ts';
import { AppError } from '../domain/errors.ts';

/** Bounds on what one template may cost; a text that needs more is a program. */
const limits = { parseLimit: 100_000, renderLimit: 200, memoryLimit: 1_000_000 };

/**
 * Liquid without a file system and without prototypes. A variable that does not exist is a fault, not an empty place: a
 * reminder with a hole in it is worse than a message that says what is wrong.
 */
export function createTemplates(): Templates {
  const engine = new Liquid({
    strictVariables: true,
    strictFilters: true,
    ownPropertyOnly: true,
    relativeReference: false,
    fs: noFiles,
    ...limits,
  });
  const parse = (text: string): Template[] => {
    try {
      return engine.parse(text);
    } catch (error) {
      throw fault(error);
    }
  };
  return {
    check: (text) => {
      parse(text);
    },
    render: (text, variables) => {
      const template = parse(text);
      try {
        return String(engine.renderSync(template, variables));
      } catch (error) {
        throw fault(error);
      }
    },
  };
}

const missing = () => {
  throw new Error('templates cannot include files');
};

const noFiles = {
  exists: async () => false,
  existsSync: () => false,
  readFile: async () => missing(),
  readFileSync: missing,
  resolve: (_root: string, file: string) => file,
};

function fault(error: unknown): AppError {
  const message = error instanceof Error ? error.message.split('\n', 1)[0] : String(error);
  const where = error instanceof TokenizationError ? { line: error.token.begin } : {};
  return new AppError(
    'invalid_template',
    `The text looks like a template and cannot be read as one: ${message ?? ''}. Mend it, or set action.plain to true to send it as plain text.`,
    { details: { field: 'instructions', ...where }, cause: error },
  );
}
