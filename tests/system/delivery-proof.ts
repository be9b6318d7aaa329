import { groupBy, type Breach, type Row, type Rows } from './rows.ts';
import type { History } from './work-proof.ts';

/**
 * "Delivered" means delivered: the parts of each result are there, none is lost, and each one that counts as delivered was
 * really shown, in its own topic and under the id that its row says.
 */
export function proveDeliveries(rows: Rows, history: History): Breach[] {
  return [...partsAreWhole(rows), ...deliveredMeansShown(rows, history), ...orderIsKept(rows)];
}

const breachesOf = <T>(promise: string, found: readonly T[]): Breach[] =>
  found.length === 0 ? [] : [{ promise: `${promise} (${found.length})`, rows: found.slice(0, 5) }];

const squeezed = (text: string) => text.replaceAll(/\s+/g, '');
const textOf = (part: Row<'deliveries'>) => (JSON.parse(part.content) as { text: string }).text;
const brief = ({ content: _content, ...part }: Row<'deliveries'>) => part;

function partsAreWhole(rows: Rows): Breach[] {
  const providers = new Map(rows.chats.map(({ id, provider }) => [id, provider]));
  const parts = groupBy(rows.deliveries, (part) => part.run_id);
  const delivers = (run: Row<'runs'>) => run.status === 'succeeded' && providers.get(run.chat_id ?? '') === 'telegram';
  const torn = rows.runs.filter((run) => delivers(run) && !isWhole(run, parts.get(run.id) ?? []));
  const needless = rows.runs.filter((run) => !delivers(run) && parts.has(run.id));
  const lost = rows.deliveries.filter(({ status }) => status === 'failed').map(brief);
  return [
    ...breachesOf('a result has not all of its parts', torn),
    ...breachesOf('a part was made where nothing is to be delivered', needless),
    ...breachesOf('a part was given up', lost),
  ];
}

/** The parts are numbered 1..n, fit into a message each, and together say what the run brought back. */
function isWhole(run: Row<'runs'>, parts: readonly Row<'deliveries'>[]): boolean {
  const own = parts.toSorted((a, b) => a.part - b.part);
  const { text } = JSON.parse(run.output ?? '{"text":""}') as { text: string };
  const numbered = own.every(({ part }, index) => part === index + 1);
  const fits = own.every((part) => textOf(part).length <= 4096);
  return own.length > 0 && numbered && fits && squeezed(own.map(textOf).join('')) === squeezed(text);
}

function deliveredMeansShown(rows: Rows, { log, kills }: History): Breach[] {
  const addresses = new Map(rows.chats.map(({ id, address }) => [id, address]));
  const topics = new Map(rows.tasks.map(({ id, topic_id }) => [id, topic_id]));
  const shown = groupBy(
    log.filter(({ event }) => event === 'message_shown'),
    (line) => String(line['delivery_id']),
  );
  const delivered = rows.deliveries.filter(({ status }) => status === 'delivered');
  const unshown = delivered.filter((part) => {
    const lines = shown.get(part.id) ?? [];
    const isThere = lines.some(
      (line) =>
        line['message_id'] === part.message_id &&
        line['topic'] === part.message_thread_id &&
        line['chat_id'] === part.platform_chat_id,
    );
    return !isThere;
  });
  const misplaced = delivered.filter(
    (part) =>
      part.platform_chat_id !== addresses.get(part.chat_id) ||
      part.message_thread_id !== topics.get(part.task_id ?? ''),
  );
  const alike = [...groupBy(delivered, (part) => `${part.platform_chat_id} ${part.message_id}`).values()].filter(
    (group) => group.length > 1,
  );
  const twice = [...shown.values()].filter((lines) => lines.length > 1 && !isExplained(lines, kills));
  return [
    ...breachesOf('a part counts as delivered and was not shown', unshown.map(brief)),
    ...breachesOf('a part landed in another place than asked for', misplaced.map(brief)),
    ...breachesOf(
      'two messages of a chat have one id',
      alike.map((group) => group.map(brief)),
    ),
    ...breachesOf('a part was shown twice although nothing was killed in between', twice),
  ];
}

function isExplained(lines: readonly { readonly [fact: string]: unknown }[], kills: readonly number[]): boolean {
  const times = lines.map((line) => Date.parse(String(line['time'])));
  return kills.some((kill) => kill >= Math.min(...times) && kill <= Math.max(...times));
}

/** Within a topic, whoever was made first was shown first. */
function orderIsKept(rows: Rows): Breach[] {
  const lanes = groupBy(
    rows.deliveries.filter(({ status }) => status === 'delivered'),
    (part) => part.lane,
  );
  const swapped = [...lanes.values()].flatMap((parts) => {
    const sorted = parts.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    return sorted.flatMap((part, index) => {
      const next = sorted[index + 1];
      return next !== undefined && (next.message_id ?? 0) < (part.message_id ?? 0) ? [[brief(part), brief(next)]] : [];
    });
  });
  return breachesOf('the parts of a topic came in another order', swapped);
}
