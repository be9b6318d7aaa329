import type { Answer } from '../../../app/why/answers.ts';
import { capital } from '../kit/clock.ts';
import { link, oneLine, say, type Rich } from '../kit/rich.ts';

/** One line of the truth as a chat shows it: people by their names, and the way to the message that it tells of. */

const lineLengthMax = 280;
const deliveredWords = /[;,] delivered(?=[;.]| in \d)/;

/** How people are called whom the records know by their ids. */
export type Names = ReadonlyMap<string, string>;

export function whyLine({ line, evidence }: Answer, names: Names): Rich {
  const text = capital(named(line, names));
  const url = urlOf(evidence.deliveries ?? []);
  const match = deliveredWords.exec(line);
  if (url === null || match === null || text.length > lineLengthMax) {
    return { text: oneLine(text, lineLengthMax), entities: [] };
  }
  const sign = match[0].slice(0, 2);
  const [before, after] = [line.slice(0, match.index), line.slice(match.index + match[0].length)];
  return say`${capital(named(before, names))}${sign}${link('delivered', url)}${named(after, names)}`;
}

export function idsIn(answers: readonly Answer[]): ReadonlySet<string> {
  return new Set(answers.flatMap(({ line }) => line.match(/telegram:user:\d+/g) ?? []));
}

function named(text: string, names: Names): string {
  return text.replaceAll(/telegram:user:\d+/g, (id) => names.get(id) ?? id);
}

type Sent = NonNullable<Answer['evidence']['deliveries']>[number];

/** Only messages of supergroups have links that everybody there can open. */
function urlOf(deliveries: readonly Sent[]): string | null {
  const first = deliveries.find(({ status, messageId }) => status === 'delivered' && messageId !== null);
  const group = /^-100(\d+)$/.exec(first?.thread.address ?? '')?.[1];
  if (first === undefined || group === undefined) return null;
  const topic = first.thread.topic === null ? '' : `${first.thread.topic}/`;
  return `https://t.me/c/${group}/${topic}${first.messageId}`;
}
