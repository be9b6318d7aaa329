import type { Policies } from '../../src/domain/policy.ts';
import type { Account } from './account.ts';
import { groupBy, repeated, tell, type Breach, type Row } from './rows.ts';

/** What the rows alone tell of deliveries; whether it was shown so is asked of the chats. */
export function proveParts(account: Account): Breach[] {
  return [partsAreWhole, partsAreOne, orderIsKept].flatMap((prove) => prove(account));
}

export type Part = Row<'deliveries'>;

export const isResult = ({ kind }: Part) => kind === 'result';
export const isOpen = ({ status }: Part) => status !== 'delivered' && status !== 'failed';
export const toThread = ({ goes_to: goesTo }: Part) => goesTo === 'thread';
/** What a run has to say, or somebody is told about it: sent as a new message, and shown once. */
export const isWord = ({ kind, edits }: Part) => edits === null && ['result', 'notice', 'answer'].includes(kind);
export const textOf = ({ content }: Pick<Part, 'content'>) => (JSON.parse(content) as { text?: string }).text ?? '';
const squeezed = (text: string) => text.replaceAll(/\s+/g, '');

interface Input {
  readonly delivers: boolean;
  readonly late: boolean;
  readonly policies?: Policies;
}

/** The parts are numbered 1..n, fit into a message each, and together say what the run brought back. */
function partsAreWhole({ rows, partsOf, occurrences, runsOf }: Account): Breach[] {
  const isRepeat = ({ id, task_id: task, output }: Row<'runs'>) =>
    (runsOf.get(task ?? '') ?? []).some((other) => other.id !== id && other.output === output);
  const torn = rows.runs.filter((run) => {
    const own = (partsOf.get(run.id) ?? []).filter(isResult).toSorted((a, b) => a.part - b.part);
    const input = JSON.parse(run.input) as Input;
    if (run.status !== 'succeeded' || !input.delivers) return own.length > 0;
    const isUnchanged = occurrences.get(run.occurrence_id ?? '')?.reason === 'unchanged';
    if (isUnchanged && !isRepeat(run)) return true;
    if (isUnchanged && input.policies?.skip_if_unchanged === 'skip') return own.length > 0;
    return !isWhole(own, run, input.late) || (isUnchanged && own.some(({ silent }) => silent !== 1));
  });
  return tell('a result has other parts than it should', torn);
}

function isWhole(parts: readonly Part[], { output }: Row<'runs'>, late: boolean): boolean {
  const isNumbered = parts.length > 0 && parts.every(({ part }, index) => part === index + 1);
  const fits = parts.every((part) => textOf(part).length <= 4096);
  const said = squeezed(parts.map(textOf).join(''));
  // A late result says so below what the run brought back.
  const brought = late ? said.replace(/Late:due\S*$/, '') : said;
  const meant = squeezed(textOf({ content: output ?? '{}' }));
  // A text that is too long for a message is a file, and its beginning stands above it.
  const [head = '', rest] = brought.split('…Allofitisinthefile');
  const isInFile = rest !== undefined && (output ?? '').includes('"sha256"') && meant.startsWith(head);
  return isNumbered && fits && (brought === meant || isInFile);
}

function partsAreOne({ rows }: Account): Breach[] {
  const shown = rows.deliveries.filter((part) => part.status === 'delivered' && (isWord(part) || part.kind === 'card'));
  const keyOf = ({ edits, platform_chat_id: chat, message_id: message }: Part) =>
    edits === null && message !== null ? `${chat} ${message}` : null;
  return tell('two parts became one message', repeated(shown, keyOf));
}

/** Within a topic, whoever was made first is shown first. What waits for quiet hours keeps its order among its own. */
function orderIsKept({ rows, isInTurn, cameLater }: Account): Breach[] {
  const certain = rows.deliveries.filter(
    (part) => part.status === 'delivered' && isWord(part) && !toThread(part) && isInTurn(part),
  );
  const lanes = groupBy(certain, ({ lane, held_until: until }) => `${lane} ${until ?? ''}`);
  const swapped = [...lanes.values()].flatMap((parts) => {
    const sorted = parts.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    return sorted.flatMap((part, index) => {
      const next = sorted[index + 1];
      const isSwapped = next !== undefined && (next.message_id ?? 0) < (part.message_id ?? 0) && !cameLater(part, next);
      return isSwapped ? [[part, next]] : [];
    });
  });
  return tell('the parts of a topic came in another order', swapped);
}
