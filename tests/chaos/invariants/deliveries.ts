import { sharedTopicName } from '../../../src/domain/chat-settings.ts';
import { topicHealEveryMs } from '../../../src/domain/limits.ts';
import type { Shown } from '../../../src/domain/shown.ts';
import { isWord, toThread, type Part } from '../../invariants/deliveries.ts';
import { groupBy, tell, type Breach } from '../../invariants/rows.ts';
import { textOf as shownText } from '../../support/fakes.ts';
import type { Call, Message } from '../chat.ts';
import { nameOf } from '../moves.ts';
import type { Lived } from '../world.ts';

/**
 * Delivered means delivered, in the right place, and nothing is shown twice unless its record says why. The chat's own
 * memory of what was asked of it is the witness.
 */
export function proveDeliveries(account: Lived): Breach[] {
  const scene = sceneOf(account);
  return [
    deliveredMeansShown,
    placesAreRight,
    nothingSentTooSoon,
    nothingShownTwice,
    endsAreExplained,
    nightsAreTold,
    cardsAreRight,
  ].flatMap((prove) => prove(scene));
}

interface Scene extends Lived {
  readonly parts: ReadonlyMap<string, Part>;
  readonly shown: ReadonlyMap<string, readonly Message[]>;
  readonly callsFor: ReadonlyMap<string, readonly Call[]>;
}

const partCalls: ReadonlySet<Call['is']> = new Set(['send', 'pin', 'door', 'look']);

function sceneOf(account: Lived): Scene {
  const { rows, world } = account;
  const ofParts = world.chat.calls.filter(({ is }) => partCalls.has(is));
  return {
    ...account,
    parts: new Map(rows.deliveries.map((part) => [part.id, part])),
    shown: groupBy([...world.chat.messages], ({ deliveryId }) => deliveryId),
    callsFor: groupBy([...ofParts], ({ of }) => of),
  };
}

const textOf = (part: Part) => shownText(JSON.parse(part.content) as Shown);
const isSettledByHand = ({ evidence }: Part) => evidence?.includes('by_hand') === true;
/** The look for what else it became had no answer. */
const hasDoubt = ({ evidence }: Part) => evidence?.includes('"is":"undecided"') === true;
/** It goes when the next one comes, or when somebody has said Done. */
const isReminder = ({ content }: Part) => content.includes('"view":"nag"');
const isDecoration = ({ kind }: Part) =>
  ['card', 'pin', 'close', 'open', 'rename', 'remove', 'removeTopic'].includes(kind);

function deliveredMeansShown(scene: Scene): Breach[] {
  const { rows, shown, callsFor } = scene;
  const wrong = rows.deliveries.filter(
    (part) => part.status === 'delivered' && (isWord(part) ? !isShown(part, scene) : !isDone(part, scene)),
  );
  const detail = (part: Part) => ({
    part: part,
    shown: shown.get(part.id),
    calls: callsFor.get(part.id),
  });
  return tell('a part counts as delivered and was not shown so', wrong.map(detail));
}

function isShown(part: Part, { shown, world, address }: Scene): boolean {
  const message = (shown.get(part.id) ?? []).find(({ messageId }) => messageId === part.message_id);
  if (message === undefined || (message.gone === 'removed' && !isReminder(part)) || message.text !== textOf(part))
    return false;
  const isAsked = toThread(part) ? message.topic === part.to_topic : message.topic !== null;
  const chats = [message.chatId, part.platform_chat_id ?? '', address.get(part.chat_id) ?? ''];
  const isOneChat = new Set(chats.map((chatId) => world.chat.whereIs(chatId))).size === 1;
  return isAsked && isOneChat && message.topic === part.message_thread_id;
}

/** A card that is drawn anew, a pin, or a door: the platform said that it was done, to the message that was meant. */
function isDone(part: Part, { callsFor, world }: Scene): boolean {
  const done = (callsFor.get(part.id) ?? []).some(({ answer }) => answer === 'sent');
  if (!done || part.kind === 'remove') return done;
  if (part.kind === 'removeTopic') return world.chat.topics.every(({ id, deleted }) => id !== part.to_topic || deleted);
  if (part.kind === 'close' || part.kind === 'open' || part.kind === 'rename') return part.message_thread_id !== null;
  const message = world.chat.messages.find(({ messageId }) => messageId === part.message_id);
  const isMeant = message?.isCard === true || part.kind === 'notice' || part.lane.startsWith('standing:');
  return isMeant && (part.edits === null || part.edits === part.message_id);
}

/** What people see stands in a topic of its own task; a topic is made only where there is none. */
function placesAreRight({ world, tasks, parts, rows }: Scene): Breach[] {
  const letGo = new Set(
    rows.audit
      .filter(({ verb }) => verb === 'unbind')
      .map(({ before }) => (JSON.parse(before ?? '{}') as { topic_id?: number }).topic_id),
  );
  const isTakenBack = ({ topic, gone }: Message) => topic === null && gone === 'removed';
  // A card is simply sent again when a process has died over it, so nobody knows of one that strayed just then.
  const isLostCard = ({ topic, isCard }: Message) => topic === null && isCard && world.journal.dealt.kills > 0;
  // What a dead process had sent may stray after its part was found elsewhere, or had no place left to go to, when no look
  // could tell of it any more.
  const isUnheard = ({ topic, messageId, deliveryId }: Message) => {
    const part = parts.get(deliveryId);
    if (part === undefined || topic !== null || world.journal.dealt.kills === 0) return false;
    const isKnown = part.status === 'delivered' && part.message_id !== messageId;
    return (isKnown && hasDoubt(part)) || part.cause === 'topic_gone';
  };
  const { messages, topics, calls } = world.chat;
  const topicOf = new Map(topics.map((topic) => [topic.id, topic]));
  // A one-off that became a series, or left the chat, shares its topic no more.
  const changed = new Set(rows.audit.map((one) => (one.verb === 'create' ? null : one.task_id)));
  const hasShared = (id: string) => tasks.get(id)?.topic_shared === 1 || changed.has(id);
  // One-offs share one topic in each chat, and chats that became one bring their own.
  const ownersOf = (name: string) =>
    name === sharedTopicName
      ? rows.chats.slice(calls.some(({ answer }) => answer === 'moved') ? 0 : -1)
      : [...tasks.values()].filter(({ title }) => nameOf(title) === name);
  const astray = messages.filter((message) => {
    const part = parts.get(message.deliveryId);
    if (isTakenBack(message) || isLostCard(message) || isUnheard(message)) return false;
    if (part !== undefined && toThread(part)) return message.topic !== part.to_topic;
    const task = tasks.get(part?.task_id ?? '');
    const topic = topicOf.get(message.topic ?? -1);
    if (task === undefined || topic === undefined) return true;
    const isOwn = nameOf(topic.name) === nameOf(task.title) || (topic.name === sharedTopicName && hasShared(task.id));
    return topic.chatId !== world.chat.whereIs(message.chatId) || !isOwn;
  });
  const doubled = [...groupBy([...topics], ({ name, chatId }) => `${chatId} ${nameOf(name)}`).values()].flatMap(
    (own) => {
      // What a task has let go of may stand there still, if the platform did not remove it.
      const alive = own.filter(({ deleted, id }) => !deleted && !letGo.has(id));
      const name = nameOf(own[0]?.name ?? '');
      const strayed = messages.filter(({ topic, deliveryId }) => {
        const part = parts.get(deliveryId);
        // What was led astray twice may have gone where its task was asked for since.
        const isForTopic = part?.goes_to === 'task' || part?.lane?.startsWith('task:') === true;
        const task = tasks.get(part?.task_id ?? '');
        const isOfName = name === sharedTopicName ? task?.topic_shared === 1 : nameOf(task?.title ?? '') === name;
        return topic === null && isForTopic && isOfName;
      });
      return alive.length > ownersOf(name).length + strayed.length
        ? [{ name, alive: alive.map(({ id }) => id), strayed: strayed.length }]
        : [];
    },
  );
  const asked = calls.filter(({ is }) => is === 'topic').length;
  const attached = new Set(
    rows.audit.filter(({ verb }) => verb === 'attach' || verb === 'undo').map((one) => one.task_id),
  );
  // Whatever leads its messages astray, a task makes its topic anew once an hour; people may take it away more often.
  const hasty = [...groupBy([...topics], ({ name, chatId }) => `${chatId} ${nameOf(name)}`).values()].filter((own) => {
    const owners = [...tasks.values()].filter(({ title }) => nameOf(title) === nameOf(own[0]?.name ?? ''));
    if (owners.length !== 1 || attached.has(owners[0]?.id ?? '') || world.journal.setBack) return false;
    return own.some((first, index) => {
      const [second, third] = own.slice(index + 1);
      if (second === undefined || third === undefined) return false;
      const isTaken = [first, second].some(({ deleted, id }) => deleted || letGo.has(id));
      return !isTaken && third.madeAt - first.madeAt < topicHealEveryMs;
    });
  });
  return [
    ...tell('a topic was made anew too often', hasty),
    ...tell('a message stands in a place that is not its own', astray),
    ...tell('a task has more than one topic', doubled),
    ...tell('a topic exists for which nobody asked', asked < topics.length ? topics : []),
  ];
}

/** A part is sent again only when it is known not to be there, or when no trace of it was found in time. */
function nothingSentTooSoon({ callsFor, parts, shown, world }: Scene): Breach[] {
  const hasty: unknown[] = [];
  for (const [of, calls] of callsFor) {
    const part = parts.get(of);
    if (part === undefined || part.edits !== null || isDecoration(part) || isSettledByHand(part)) continue;
    for (const [index, call] of calls.entries()) {
      const sentBefore = calls.slice(0, index).findLastIndex(({ is }) => is === 'send');
      if (call.is !== 'send' || sentBefore < 0) continue;
      const since = calls.slice(sentBefore, index);
      if (!mayFollow(since, part.unknown_policy, shown.get(of) ?? [])) hasty.push({ of, since, part: part });
    }
  }
  const strange = world.chat.messages.filter(({ deliveryId }) => !parts.has(deliveryId));
  return [...tell('a part was sent again too soon', hasty), ...tell('a message was sent by no part', strange)];
}

/**
 * However often it was sent, one message of it stands there in the end. Two do only where the look that follows the second
 * could not tell, or where the process died before it had looked.
 */
function nothingShownTwice({ rows, shown, callsFor }: Scene): Breach[] {
  const doubled = rows.deliveries.filter((part) => {
    const seen = (shown.get(part.id) ?? []).filter(({ gone }) => gone === null);
    if (!isWord(part) || seen.length < 2) return false;
    const calls = callsFor.get(part.id) ?? [];
    const since = calls.slice(calls.findLastIndex(({ is }) => is === 'send'));
    const last = since.findLast(({ is }) => is === 'look')?.answer;
    return last === 'absent' || last === 'arrived';
  });
  return tell(
    'a message is shown twice',
    doubled.map((part) => ({ part: part, shown: shown.get(part.id), calls: callsFor.get(part.id) })),
  );
}

const known = new Set(['unreached', 'wait', 'topicGone', 'blocked', 'moved']);

function mayFollow(since: readonly Call[], policy: string, shown: readonly Message[]): boolean {
  const [sent, ...looks] = since;
  if (known.has(sent?.answer ?? '')) return true;
  if (looks.some(({ answer }) => answer === 'absent')) return true;
  // What landed astray is taken back before it is sent again, and what was seen astray as well.
  if (shown.some(({ messageId, gone }) => messageId === sent?.messageId && gone === 'removed')) return true;
  const undecided = looks.filter(({ answer }) => answer === 'undecided').length;
  return policy === 'resend' && looks.length >= 3 && undecided > 0;
}

/** Somebody has discarded it, nobody has approved it in time, or nobody has to be reminded any more. */
function isKeptFromPeople(part: Part, error: string): boolean {
  if (error === 'discarded') return part.decision?.includes('discarded_by') === true;
  if (error.startsWith('nobody approved')) return part.cause === 'approval';
  return error.startsWith('moot: nobody has to be reminded') && isReminder(part);
}

/** What was not delivered says why, and what is open at the end waits for a person. */
function endsAreExplained({ rows, callsFor, world, tasks }: Scene): Breach[] {
  const answers = (part: Part, answer: string) => (callsFor.get(part.id) ?? []).some((call) => call.answer === answer);
  const unexplained = rows.deliveries.filter((part) => part.status === 'failed' && !isExplained(part));
  function isExplained(part: Part): boolean {
    const error = part.error ?? '';
    if (error === 'the task was deleted') return wasDeleted(part.task_id ?? '');
    if (error === 'the task has moved to another chat') return wasMoved(part.task_id ?? '');
    if (error.startsWith('too old')) return part.expires_at !== null;
    if (error.startsWith('unconfirmed')) return isSettledByHand(part);
    if (isKeptFromPeople(part, error) || isRefused(part, error)) return true;
    return isDecoration(part) ? error.startsWith('moot') || isVain(part) : isWithoutTopic(part, error);
  }
  /** For good, or too often, or because what was to be changed is gone. */
  function isRefused(part: Part, error: string): boolean {
    if (answers(part, 'refused') || (part.edits !== null && answers(part, 'moot'))) return true;
    return error !== '' && part.sends >= 5;
  }
  /** An answer is not kept for later, a word in a thread is not sent elsewhere, and a topic is made again once for each part. */
  function isWithoutTopic(part: Part, error: string): boolean {
    if (part.kind === 'answer' && answers(part, 'blocked')) return true;
    if (toThread(part) && error.startsWith('misrouted')) return true;
    return answers(part, 'topicGone') && (toThread(part) || error.includes('gone again'));
  }
  /** A card, a pin or a door is not tried again where the topic, the right or the message is missing. */
  function isVain(part: Part): boolean {
    const strayed = world.chat.messages.some(({ deliveryId, gone }) => deliveryId === part.id && gone === 'removed');
    return strayed || ['topicGone', 'blocked', 'moot'].some((answer) => answers(part, answer));
  }
  function wasDeleted(taskId: string): boolean {
    return (world.journal.turns.get(taskId) ?? []).some(({ state }) => state === 'deleted');
  }
  function wasMoved(taskId: string): boolean {
    return rows.audit.some(({ verb, task_id: id }) => verb === 'attach' && id === taskId);
  }
  const lostTopics = new Set(
    world.chat.calls.filter(({ is, answer }) => is === 'find' && answer === 'nothing').map(({ of }) => nameOf(of)),
  );
  const stuck = rows.deliveries.filter((part) => {
    if (part.status === 'delivered' || part.status === 'failed') return false;
    if (part.status === 'unknown') return part.unknown_policy !== 'ask' || part.ready_at !== null;
    if (part.status === 'pending') return !isHeld(part, rows.deliveries);
    const task = tasks.get(part.task_id ?? '');
    const name = task?.topic_shared === 1 ? sharedTopicName : nameOf(task?.title ?? '');
    return part.status !== 'blocked' || part.cause !== 'topic_in_doubt' || !lostTopics.has(name);
  });
  return [...tell('a part failed without a reason', unexplained), ...tell('a part never ends', stuck)];
}

/** Behind a part that waits for a person to make the topic, every later one of its topic waits as well. */
function isHeld(part: Part, all: readonly Part[]): boolean {
  return all.some(({ lane, id, status }) => lane === part.lane && id < part.id && status === 'blocked');
}

/** What waited for the end of quiet hours and was shown is told of by a word that comes after it, where nothing held it up. */
function nightsAreTold({ rows, callsFor }: Scene): Breach[] {
  // It was claimed once, or once more for its topic.
  const isSmooth = (part: Part) =>
    part.status === 'delivered' &&
    part.evidence === null &&
    part.decision === null &&
    part.fence <= 2 &&
    (callsFor.get(part.id) ?? []).length === 1;
  const held = rows.deliveries.filter((part) => part.held_until !== null && part.put_offs === 0 && isSmooth(part));
  const words = groupBy(
    rows.deliveries.filter(({ content }) => content.includes('"view":"bundle"')),
    ({ chat_id: chatId, content }) => `${chatId} ${(JSON.parse(content) as { until: number }).until}`,
  );
  // What stands behind a part in trouble may come after the word, which tells of it all the same.
  const isBehind = (part: Part) =>
    rows.deliveries.some(
      (one) => one.lane === part.lane && one.held_until === part.held_until && one.id < part.id && !isSmooth(one),
    );
  const untold = held.filter((part) => {
    if (isBehind(part)) return false;
    const own = words.get(`${part.chat_id} ${part.held_until}`) ?? [];
    const isLater = (word: Part) => word.status !== 'delivered' || (word.message_id ?? 0) > (part.message_id ?? 0);
    return !own.some(isLater);
  });
  // Later than that nobody is told of the night any more, and what comes then must be heard.
  const toldMs = 12 * 60 * 60_000;
  const loud = held.filter(
    ({ silent, held_until: until, delivered_at: at }) => silent !== 1 && (at ?? 0) < (until ?? 0) + toldMs,
  );
  return [
    ...tell('what came in the night is told of by nobody', untold),
    ...tell('what came in the night came with a sound', loud),
  ];
}

/**
 * Whether a part stood in the outbox when a message left. A result bears the time at which its run ended; where the store
 * fails, its row may come later, and then the order of the events tells: the end of a run before what the chat got last.
 */
function presenceIn({ database, journal, chat }: Scene['world']) {
  if (journal.dealt.thrown + journal.dealt.lost === 0) return () => true;
  const eventOf = (kinds: string) => {
    const found = database.prepare(`select min(id) from events where ref = ? and kind in (${kinds})`).pluck();
    return (ref: string) => found.get(ref) as number | null;
  };
  const endOf = eventOf(`'run.succeeded', 'run.failed'`);
  const arrivalOf = eventOf(`'delivery.delivered'`);
  return (part: Part, message: Message): boolean => {
    const last = chat.messages.findLast(
      ({ chatId, messageId }) => chatId === message.chatId && messageId < message.messageId,
    );
    const ended = endOf(part.run_id ?? '');
    const told = last === undefined ? null : arrivalOf(last.deliveryId);
    return ended !== null && told !== null && ended < told;
  };
}

/** The card comes after what was there to be said before it, what is pinned is a card of the topic, and few topics have two. */
function cardsAreRight({ rows, world, parts, callsFor }: Scene): Breach[] {
  const cards = world.chat.messages.filter(({ isCard, topic }) => isCard && topic !== null);
  const certain = rows.deliveries.filter(
    (part) =>
      part.status === 'delivered' &&
      part.evidence === null &&
      part.decision === null &&
      isWord(part) &&
      !toThread(part),
  );
  const wasThere = presenceIn(world);
  // A result that waits for a person to mend something holds back no card.
  const wasBlocked = (part: Part, card: Message) => {
    const shownBy = world.chat.calls.find(({ messageId, is }) => is === 'send' && messageId === card.messageId);
    const before = (callsFor.get(part.id) ?? []).filter(({ order }) => order < (shownBy?.order ?? 0));
    return before.at(-1)?.answer === 'blocked';
  };
  const hasty = cards.filter((card) =>
    certain.some(
      (part) =>
        part.message_thread_id === card.topic &&
        part.id < card.deliveryId &&
        (part.message_id ?? 0) > card.messageId &&
        part.created_at <= (parts.get(card.deliveryId)?.created_at ?? 0) &&
        part.held_until === null &&
        wasThere(part, card) &&
        !wasBlocked(part, card),
    ),
  );
  const strange = world.chat.pins.filter((pinned) => !cards.some(({ messageId }) => messageId === pinned));
  const standing = cards.filter(({ gone }) => gone === null);
  const doubled = [...groupBy(standing, ({ topic }) => String(topic)).values()].filter((own) => {
    // A card whose answer was lost is simply sent again.
    const lost = own.some(({ deliveryId }) => (callsFor.get(deliveryId) ?? []).length > 1);
    // A topic that was thought to be lost, and was found again when another one was asked for, has a card already.
    const { name } = world.chat.topics.find(({ id }) => id === own[0]?.topic) ?? { name: '' };
    const found = world.chat.calls.some(({ is, of, answer }) => is === 'find' && of === name && answer === 'found');
    return own.length > 1 && !lost && !found;
  });
  return [
    ...tell('a card came before a result', hasty),
    ...tell('something is pinned that is no card', strange),
    ...tell('a topic has two cards', doubled),
  ];
}
