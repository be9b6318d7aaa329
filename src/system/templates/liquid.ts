import { Liquid, TokenizationError, UndefinedVariableError, toValue, type Emitter, type Template } from 'liquidjs';
import { errorText } from '../../domain/errors.ts';
import * as limits from '../../domain/limits.ts';
import type { TemplateAnswer, TemplateAsk } from '../pool/child.ts';

/**
 * Liquid without a file system and without prototypes, within bounds. A variable that does not exist is a fault, not an
 * empty place: a reminder with a hole in it is worse than a message that says what is wrong. It runs in children of the
 * pool alone, because a filter can take more memory in one step than any bound foresees.
 */
const engine = new Liquid({
  strictVariables: true,
  // A condition and `default` are there to ask whether something exists.
  lenientIf: true,
  strictFilters: true,
  ownPropertyOnly: true,
  relativeReference: false,
  fs: noFiles(),
  parseLimit: limits.instructionsLengthMax,
  renderLimit: limits.templateRenderMs,
  memoryLimit: limits.templateMemoryMax,
});

/** Of the one evaluation at a time. */
let [steps, depth] = [0, 0];

/** Liquid hands each list of nodes to it: of the whole text, and of each turn of a loop, branch and capture inside. */
const renderNodes = engine.renderer.renderTemplates.bind(engine.renderer);
engine.renderer.renderTemplates = function* (nodes, context, emitter = boundedEmitter()) {
  steps += nodes.length + 1;
  depth += 1;
  if (steps > limits.templateStepsMax) throw new Error(`it takes more than ${limits.templateStepsMax} steps`);
  if (depth > limits.templateDepthMax) throw new Error(`it is nested deeper than ${limits.templateDepthMax} levels`);
  const made: unknown = yield* renderNodes(nodes, context, emitter);
  depth -= 1;
  return made;
};

/** Collects what is written, lists and objects as JSON, but no more than a result may hold. */
function boundedEmitter(): Emitter {
  const emitter: Emitter = {
    buffer: '',
    write: (written: unknown) => {
      const value: unknown = toValue(written);
      const text = typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);
      emitter.buffer += value === null || value === undefined ? '' : text;
      if (emitter.buffer.length > limits.renderedLengthMax)
        throw new Error(`it makes more than ${limits.renderedLengthMax} characters`);
    },
  };
  return emitter;
}

/**
 * Parses the text, and renders it with the variables. Liquid measures its time by the clock, so what the machine spent on
 * others is found out and tried again, until the parent ends it.
 */
export function evaluate(ask: TemplateAsk): TemplateAnswer {
  const [began, used] = [performance.now(), process.cpuUsage()];
  const answer = evaluateOnce(ask);
  const { user, system } = process.cpuUsage(used);
  const isOverdue = 'fault' in answer && performance.now() - began > limits.templateRenderMs;
  return isOverdue && (user + system) / 1000 < limits.templateRenderMs ? evaluate(ask) : answer;
}

function evaluateOnce({ text, variables, isTrial }: TemplateAsk): TemplateAnswer {
  [steps, depth] = [0, 0];
  try {
    const template = engine.parse(text);
    const strange = isTrial ? unknownIn(template, variables) : undefined;
    if (strange !== undefined) return { fault: `unknown variable: ${strange}` };
    return { text: String(engine.renderSync(template, inWords(variables))) };
  } catch (error) {
    if (isTrial && missingOf(error)?.startsWith('context.')) return { text: '' };
    // "Undefined" is a word of programs.
    const [fault = ''] = errorText(error)
      .replace(/^undefined/, 'unknown')
      .split('\n', 1);
    return { fault, ...(error instanceof TokenizationError ? { line: error.token.begin } : {}) };
  }
}

/** The first name that no run has, wherever it stands: conditions and `default` would never tell. What a context holds is up to its task. */
function unknownIn(template: Template[], variables: TemplateAsk['variables']): string | undefined {
  const isKnown = (path: readonly unknown[]): boolean => {
    let at: unknown = variables;
    for (const [index, name] of path.entries()) {
      if (typeof name !== 'string' || typeof at !== 'object' || at === null || (index > 0 && path[0] === 'context'))
        return true;
      if (!Object.hasOwn(at, name)) return false;
      at = (at as Record<string, unknown>)[name];
    }
    return true;
  };
  return engine
    .globalVariableSegmentsSync(template)
    .find((path) => !isKnown(path))
    ?.join('.');
}

/** Filters that make text of an object ask the object itself. */
function inWords<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  for (const one of Object.values(value)) inWords(one);
  if (Array.isArray(value) || Object.hasOwn(value, 'toString')) return value;
  return Object.defineProperty(value, 'toString', { value: () => JSON.stringify(value) });
}

/** The name of the variable that does not exist. The class that tells it is not exported. */
function missingOf(error: unknown): string | undefined {
  const cause = error instanceof UndefinedVariableError ? error.originalError : undefined;
  return cause !== undefined && 'variableName' in cause ? String(cause.variableName) : undefined;
}

function noFiles() {
  const missing = () => {
    throw new Error('templates cannot include files');
  };
  return {
    exists: async () => false,
    existsSync: () => false,
    readFile: async () => missing(),
    readFileSync: missing,
    resolve: (_root: string, file: string) => file,
  };
}
