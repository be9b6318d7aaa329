import { createRecent, type Recent } from '../../app/operations/recent.ts';
import type { BlobStore } from '../../app/ports/blobs.ts';
import type { ChatStore } from '../../app/ports/chats.ts';
import type { Budget, Log, Outgoing, Sent, Stopwatch, TopicMade, Transport } from '../../app/ports/outside.ts';
import { settingsOf } from '../../domain/chat-settings.ts';
import { uploadedAtOnceMax } from '../../domain/files/limits.ts';
import { type Drawn, messagesIn, printIn } from '../../domain/shown.ts';
import { asideApi, type AsideApi, type TelegramApi } from '../api.ts';
import { withLine } from '../chat/results/view.ts';
import { inLocale, type Locale, type LocaleOf, localeOf as offered, texts } from '../chat/texts.ts';
import type { Answered } from '../errors.ts';
import { createAlone } from './alone.ts';
import { editCall, sendCall, type Edited, idsOf, idsOfAll, whereOf } from './calls.ts';
import { act, askedIds, sentBy, takeBack, tokenWatch, type Heed } from './deeds.ts';
import { drawnOf, type DrawingDeps } from './drawing.ts';
import { createEvidence } from './evidence.ts';
import { badEntities, isPrivate, meaningOf, otherForm } from './refusals.ts';
import { createSpace, isFileRefused, loadedFor, named, uploadBytes, uploadMs, withoutFile } from './uploads.ts';

interface TransportDeps extends DrawingDeps {
  readonly api: TelegramApi;
  readonly store: DrawingDeps['store'] &
    Pick<ChatStore, 'lastMessageBefore' | 'explainedAfter' | 'unknownParts' | 'orphanTopics' | 'isTopicTaken'>;
  /** Files of results. */
  readonly blobs: Pick<BlobStore, 'readBlob'>;
  readonly budget: Budget;
  readonly stopwatch: Stopwatch;
  readonly log: Log;
  readonly localeOf?: LocaleOf;
}

/** Parts whose fate is not known are few; the oldest are forgotten first, and then drawn again. */
const leftMax = 1000;

interface Line extends TransportDeps {
  /** Parts that left without an answer, as they were drawn then: a view may be drawn otherwise by now. */
  readonly left: Recent<Drawn>;
  /** Draws a part in the language of its chat. */
  readonly drawn: (part: Outgoing) => Promise<Drawn | null>;
  readonly heed: Heed;
  readonly forums: ReturnType<typeof createForums>;
  readonly space: ReturnType<typeof createSpace>;
  readonly alone: ReturnType<typeof createAlone>;
}

/**
 * Telegram as the deliverer sees it, with honest ids for what it answered. Most calls here are one call of the Bot API; one that
 * is refused for its form or its place is made again in another one, and each further call takes from the budget.
 */
export function telegramTransport(deps: TransportDeps): Transport {
  const left = createRecent<Drawn>(leftMax);
  const { api, log } = deps;
  const alone = createAlone(deps);
  const line: Line = {
    ...deps,
    left,
    drawn: drawing(deps, alone),
    heed: tokenWatch(log),
    forums: createForums(asideApi(api, deps.budget)),
    space: createSpace(uploadedAtOnceMax),
    alone,
  };
  const drawn = async (part: Outgoing) => left.get(part.deliveryId) ?? (await line.drawn(part));
  const evidence = createEvidence({ ...deps, drawn });
  return {
    send: (part) => (part.edits === null ? sendNew(line, part) : edit(line, part, part.edits)),
    act: (part, deed) => act(line, part, deed),
    settle: (part, look) => evidence.settle(part, look),
    createTopic: ({ address }, name) => createTopic(line, address, name),
    findTopic: async ({ address }, name, askedAt) => {
      const found = await deps.store.orphanTopics(address, name, askedAt);
      // A younger one of the same name may be that of another task, whose answer was lost as well.
      return found[0]?.topicId ?? null;
    },
    remove: (ids) => takeBack(line, ids),
  };
}

/** Chats whose language is remembered, so that not each of several results is drawn with a look at its chat. Any process may change it. */
const localesMax = 1000;
const localeKeptMs = 1000;

function drawing(deps: TransportDeps, alone: Line['alone']): Line['drawn'] {
  const { store, stopwatch, localeOf = offered } = deps;
  const known = createRecent<Locale>(localesMax, { ms: localeKeptMs, stopwatch });
  const localeAt = async (address: string): Promise<Locale> => {
    const kept = known.get(address);
    if (kept !== undefined) return kept;
    const locale = localeOf(settingsOf((await store.findChat(address))?.settings ?? {}));
    known.put(address, locale);
    return locale;
  };
  const drawn = async (part: Outgoing) => {
    const shown = await drawnOf(deps, part);
    // The one who asked is told why all can read the answer.
    return shown !== null && alone.reachOf(part) === 'late' ? (withLine(shown, texts.out.shownToAll) ?? shown) : shown;
  };
  return async (part) => inLocale(await localeAt(part.route.address), () => drawn(part));
}

const nothingToShow: Sent = { is: 'moot', error: 'there is nothing to show any more' };

async function sendNew(line: Line, part: Outgoing): Promise<Sent> {
  const drawn = await line.drawn(part);
  if (drawn === null) return nothingToShow;
  if (line.alone.reachOf(part) !== 'alone') return printed(await sendToAll(line, part, drawn), drawn);
  const sent = await line.alone.send(part, named(drawn));
  if (sent !== null) return sent;
  // Content that Telegram does not show to one person alone is shown to all of them, rather than to nobody.
  if (!(await mayCallAgain(line, part))) return unpaid;
  return sendToAll(line, part, (await line.drawn(tooLate(part))) ?? drawn);
}

/** The same part, when the time to tell one person alone is over. */
function tooLate(part: Outgoing): Outgoing {
  const { onlyFor } = part;
  return onlyFor === null ? part : { ...part, onlyFor: { userId: onlyFor.userId, until: 0 } };
}

function printed(sent: Sent, { print }: Drawn): Sent {
  return sent.is === 'sent' && print !== undefined ? { ...sent, print } : sent;
}

/** The one call was paid for; every further one is not. */
function mayCallAgain({ budget }: Line, { route }: Outgoing, drawn?: Drawn): Promise<boolean> {
  return budget.take(route.address, drawn === undefined ? 1 : messagesIn(drawn));
}

const unpaid: Sent = {
  is: 'unreached',
  error: 'it was refused as it was, and the chat must be left alone for now',
};

/** Words may be refused for their looks, and more often for their files: each of these as what it is and as a document. */
const plainerMax = 2;

async function sendToAll(line: Line, part: Outgoing, asDrawn: Drawn): Promise<Sent> {
  let drawn = asDrawn;
  let sent = await post(line, part, drawn);
  for (let tries = 0; tries < plainerMax + messagesIn(asDrawn); tries += 1) {
    const plainer = plainerThan(line, part, { drawn, sent });
    if (plainer === null) return sent;
    if (!(await mayCallAgain(line, part, plainer))) return unpaid;
    drawn = plainer;
    sent = await post(line, part, drawn);
  }
  return sent;
}

/** The words matter more than how they look, and more than the file above them; null when nothing can be left out. */
function plainerThan(
  { log }: Line,
  part: Outgoing,
  { drawn, sent }: { readonly drawn: Drawn; readonly sent: Sent },
): Drawn | null {
  if (sent.is === 'refused' && badEntities.test(sent.error) && (drawn.entities ?? []).length > 0) {
    log.warn('entities_refused', { delivery_id: part.deliveryId, error: sent.error });
    return { ...drawn, entities: [] };
  }
  if (!isFileRefused(sent, drawn)) return null;
  const { error } = sent;
  log.warn('file_refused', { delivery_id: part.deliveryId, kind: drawn.media?.kind ?? 'album', error });
  return withoutFile(drawn, error);
}

async function post(line: Line, part: Outgoing, drawn: Drawn): Promise<Sent> {
  const { address, topic } = part.route;
  if (topic !== null && (await line.forums.areStillOff(address))) return topicsOff;
  const sent = await line.space(uploadBytes(drawn), () => leave(line, part, drawn));
  const isOutside = sent.is === 'sent' && topic !== null && sent.ids.threadId === null;
  if (!isOutside || !(await line.forums.areOff(address))) return sent;
  await takeBack(line, sent.ids);
  return topicsOff;
}

async function leave({ api, blobs, left, heed }: Line, part: Outgoing, drawn: Drawn): Promise<Sent> {
  const loaded = await loadedFor(blobs, part, drawn);
  if ('is' in loaded) return loaded;
  const call = sendCall({ ...whereOf(part), ...replyOf(drawn) }, drawn, loaded);
  const answer = await api.ask(call, api.timeoutMs + uploadMs(drawn));
  if (answer.is === 'lost') left.put(part.deliveryId, drawn);
  return sentBy(heed, answer, { part, verb: 'send', ids: idsOfAll });
}

/** Without the message that it answers, an answer is still worth more than none. */
function replyOf({ replyTo }: Drawn) {
  return replyTo === undefined ? {} : { reply_parameters: { message_id: replyTo, allow_sending_without_reply: true } };
}

async function edit(line: Line, part: Outgoing, messageId: number): Promise<Sent> {
  const drawn = await line.drawn(part);
  if (drawn === null) return nothingToShow;
  const asked = askedIds(part, messageId);
  if (drawn.print !== undefined && drawn.print === printIn(part.shown))
    return printed({ is: 'sent', ids: asked }, drawn);
  const spot = { address: part.route.address, messageId };
  let answer = await line.api.ask(editCall(spot, drawn));
  if (isOtherForm(answer)) {
    // The writer of the change did not know whether the words stand below a file.
    if (!(await mayCallAgain(line, part))) return unpaid;
    answer = await line.api.ask(editCall(spot, drawn, drawn.media === undefined));
  }
  const ids = (message: Edited) => (message === true ? asked : idsOf(message));
  return printed(sentBy<Edited>(line.heed, answer, { part, verb: 'edit', ids, asked }), drawn);
}

function isOtherForm(answer: Answered<Edited>): boolean {
  return answer.is === 'refused' && otherForm.test(answer.error);
}

async function createTopic(line: Line, address: string, name: string): Promise<TopicMade> {
  const answer = await line.api.ask((raw, signal) => raw.createForumTopic({ chat_id: address, name }, signal));
  line.heed(answer);
  if (answer.is !== 'ok') return meaningOf(answer, { verb: 'createTopic', address, topic: null });
  const { message_thread_id: topicId } = answer.value;
  if (!(await line.store.isTopicTaken(address, topicId))) return { is: 'made', topicId };
  // The number of the new one is not known then, and it is looked for as after no answer at all.
  return { is: 'lost', error: 'Telegram answered with the topic of another task' };
}

const topicsOff: Sent = {
  is: 'blocked',
  cause: 'topics_off',
  error: 'topics are switched off: the message could only stand outside of its topic',
};

const keptMax = 1000;

/**
 * Chats whose topics are switched off. Telegram takes a message for a topic there, and shows it outside of every topic.
 * The topics are still there when they are switched on again, so none of them is to blame, and none must be made anew.
 */
function createForums(api: AsideApi) {
  const known = createRecent<true>(keptMax);
  const areOff = async (address: string) => {
    const isOff = isPrivate(address) ? await isOffForAll(api) : await isOffIn(api, address);
    if (isOff) known.put(address, true);
    else known.drop(address);
    return isOff;
  };
  return {
    /** Asks Telegram; without an answer nothing is known to be off. */
    areOff,
    /** Asks anew about a chat in which they were off when it was last asked; nothing is asked about any other. */
    areStillOff: async (address: string) => known.has(address) && (await areOff(address)),
  };
}

/** For private chats whoever made the bot has the switch, for all of them together. */
async function isOffForAll(api: AsideApi): Promise<boolean> {
  const answer = await api.ask((raw, signal) => raw.getMe(signal));
  return answer.is === 'ok' && answer.value.has_topics_enabled === false;
}

async function isOffIn(api: AsideApi, address: string): Promise<boolean> {
  const answer = await api.ask((raw, signal) => raw.getChat({ chat_id: address }, signal));
  return answer.is === 'ok' && answer.value.is_forum !== true;
}
