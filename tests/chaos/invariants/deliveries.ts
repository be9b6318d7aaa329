import type { Call, Message } from '../chat.ts';
import type { Row } from '../journal.ts';
import { nameOf } from '../moves.ts';
import { brief, groupBy, tell, type Account } from './account.ts';

/**
 * Delivered means delivered, in the right place, and nothing is shown twice unless its record says why. The chat's own
 * memory of what was asked of it is the witness.
 */
export function proveDeliveries(account: Account): string[] {
  const scene = sceneOf(account);
  return [partsAreWhole, deliveredMeansShown, placesAreRight, nothingShownTwice, endsAreExplained, orderIsKept].flatMap(
    (prove) => prove(scene),
  );
}

interface Scene extends Account {
  readonly address: ReadonlyMap<string, string>;
  readonly tasks: ReadonlyMap<string, Row<'tasks'>>;
  readonly parts: ReadonlyMap<string, Row<'deliveries'>>;
  readonly partsOf: ReadonlyMap<string, readonly Row<'deliveries'>[]>;
  readonly shown: ReadonlyMap<string, readonly Message[]>;
  readonly callsFor: ReadonlyMap<string, readonly Call[]>;
}

function sceneOf(account: Account): Scene {
  const { rows, world } = account;
  const ofParts = world.chat.calls.filter(({ is }) => is === 'send' || is === 'look');
  return {
    ...account,
    address: new Map(rows.chats.map(({ id, address }) => [id, address])),
    tasks: new Map(rows.tasks.map((task) => [task.id, task])),
    parts: new Map(rows.deliveries.map((part) => [part.id, part])),
    partsOf: groupBy(rows.deliveries, ({ run_id }) => run_id),
    shown: groupBy([...world.chat.messages], ({ deliveryId }) => deliveryId),
    callsFor: groupBy([...ofParts], ({ of }) => of),
  };
}

const textOf = (part: Row<'deliveries'>) => (JSON.parse(part.content) as { text: string }).text;
const squeezed = (text: string) => text.replaceAll(/\s+/g, '');

function partsAreWhole({ rows, partsOf }: Scene): string[] {
  const torn = rows.runs.filter((run) => {
    const own = (partsOf.get(run.id) ?? []).toSorted((a, b) => a.part - b.part);
    const input = JSON.parse(run.input) as { delivers: boolean; instructions: string };
    if (run.status !== 'succeeded' || !input.delivers) return own.length > 0;
    const said = squeezed(own.map(textOf).join(''));
    const meant = squeezed(input.instructions);
    const numbered = own.length > 0 && own.every(({ part }, index) => part === index + 1);
    return !numbered || !(said === meant || said.startsWith(`${meant}Late:`));
  });
  return tell('a result has other parts than it should', torn.map(brief));
}

function deliveredMeansShown({ rows, shown, address, callsFor }: Scene): string[] {
  const wrong = rows.deliveries.filter((part) => {
    if (part.status !== 'delivered') return false;
    const message = (shown.get(part.id) ?? []).find(({ messageId }) => messageId === part.message_id);
    return (
      message === undefined ||
      message.gone === 'removed' ||
      message.topic === null ||
      message.topic !== part.message_thread_id ||
      message.chatId !== part.platform_chat_id ||
      message.chatId !== address.get(part.chat_id) ||
      message.text !== textOf(part)
    );
  });
  const detail = (part: Row<'deliveries'>) => ({
    part: brief(part),
    shown: shown.get(part.id),
    calls: callsFor.get(part.id),
  });
  return tell('a part counts as delivered and was not shown so', wrong.map(detail));
}

/** What people see stands in a topic of its own task; a topic is made only where there is none. */
function placesAreRight({ world, tasks, parts }: Scene): string[] {
  const { messages, topics, calls } = world.chat;
  const topicOf = new Map(topics.map((topic) => [topic.id, topic]));
  const astray = messages.filter((message) => {
    const task = tasks.get(parts.get(message.deliveryId)?.task_id ?? '');
    const topic = topicOf.get(message.topic ?? -1);
    if (message.topic === null && message.gone === 'removed') return false;
    return task === undefined || topic?.chatId !== message.chatId || nameOf(topic.name) !== nameOf(task.title);
  });
  const doubled = [...groupBy([...topics], ({ name, chatId }) => `${chatId} ${nameOf(name)}`).values()].flatMap(
    (own) => {
      const alive = own.filter(({ deleted }) => !deleted);
      const name = nameOf(own[0]?.name ?? '');
      const strayed = messages.filter(
        ({ topic, deliveryId }) =>
          topic === null && nameOf(tasks.get(parts.get(deliveryId)?.task_id ?? '')?.title ?? '') === name,
      );
      return alive.length > 1 + strayed.length
        ? [{ name, alive: alive.map(({ id }) => id), strayed: strayed.length }]
        : [];
    },
  );
  const asked = calls.filter(({ is }) => is === 'topic').length;
  return [
    ...tell('a message stands in a place that is not its own', astray),
    ...tell('a task has more than one topic', doubled),
    ...(asked < topics.length ? ['a topic exists for which nobody asked'] : []),
  ];
}

/** A part is sent again only when it is known not to be there, or when no trace of it was found in time. */
function nothingShownTwice({ callsFor, parts, shown, world }: Scene): string[] {
  const hasty: unknown[] = [];
  for (const [of, calls] of callsFor) {
    for (const [index, call] of calls.entries()) {
      const sentBefore = calls.slice(0, index).findLastIndex(({ is }) => is === 'send');
      if (call.is !== 'send' || sentBefore < 0) continue;
      const since = calls.slice(sentBefore, index);
      if (!mayFollow(since, parts.get(of)?.unknown_policy ?? '', shown.get(of) ?? []))
        hasty.push({ of, since, part: brief(parts.get(of) ?? {}) });
    }
  }
  const strange = world.chat.messages.filter(({ deliveryId }) => !parts.has(deliveryId));
  return [...tell('a part was sent again too soon', hasty), ...tell('a message was sent by no part', strange)];
}

const known = new Set(['notSent', 'topicGone', 'blocked']);

function mayFollow(since: readonly Call[], policy: string, shown: readonly Message[]): boolean {
  const [sent, ...looks] = since;
  if (known.has(sent?.answer ?? '')) return true;
  if (looks.some(({ answer }) => answer === 'absent')) return true;
  // What landed astray is taken back before it is sent again, and what was seen astray as well.
  if (shown.some(({ messageId, gone }) => messageId === sent?.messageId && gone === 'removed')) return true;
  const undecided = looks.filter(({ answer }) => answer === 'undecided').length;
  return policy === 'resend' && looks.length >= 3 && undecided > 0;
}

/** What was not delivered says why, and what is open at the end waits for a person. */
function endsAreExplained({ rows, callsFor, world, tasks }: Scene): string[] {
  const answers = (part: Row<'deliveries'>, answer: string) =>
    (callsFor.get(part.id) ?? []).some((call) => call.answer === answer);
  const unexplained = rows.deliveries.filter((part) => part.status === 'failed' && !isExplained(part));
  function isExplained(part: Row<'deliveries'>): boolean {
    if (part.error === 'the task was deleted') return wasDeleted(part.task_id ?? '');
    if (part.error?.startsWith('too old') === true) return part.expires_at !== null;
    return answers(part, 'refused') || (part.error !== null && part.sends >= 5);
  }
  function wasDeleted(taskId: string): boolean {
    return (world.journal.turns.get(taskId) ?? []).some(({ state }) => state === 'deleted');
  }
  const lostTopics = new Set(
    world.chat.calls.filter(({ is, answer }) => is === 'find' && answer === 'nothing').map(({ of }) => nameOf(of)),
  );
  const stuck = rows.deliveries.filter((part) => {
    if (part.status === 'delivered' || part.status === 'failed') return false;
    if (part.status === 'unknown') return part.unknown_policy !== 'ask' || part.ready_at !== null;
    if (part.status === 'pending') return !isHeld(part, rows.deliveries);
    const name = nameOf(tasks.get(part.task_id ?? '')?.title ?? '');
    return part.status !== 'blocked' || part.cause !== 'topic_in_doubt' || !lostTopics.has(name);
  });
  return [
    ...tell('a part failed without a reason', unexplained.map(brief)),
    ...tell('a part never ends', stuck.map(brief)),
  ];
}

/** Behind a part that waits for a person to make the topic, every later one of its topic waits as well. */
function isHeld(part: Row<'deliveries'>, all: readonly Row<'deliveries'>[]): boolean {
  return all.some(({ lane, id, status }) => lane === part.lane && id < part.id && status === 'blocked');
}

/** Within a topic, whoever was made first is shown first, but for one whose fate was not known for a while. */
function orderIsKept({ rows }: Scene): string[] {
  const certain = rows.deliveries.filter(({ status, evidence }) => status === 'delivered' && evidence === null);
  const swapped = [...groupBy(certain, ({ lane }) => lane).values()].flatMap((parts) => {
    const sorted = parts.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    return sorted.flatMap((part, index) => {
      const next = sorted[index + 1];
      return next !== undefined && (next.message_id ?? 0) < (part.message_id ?? 0) ? [[brief(part), brief(next)]] : [];
    });
  });
  return tell('the parts of a topic came in another order', swapped);
}
