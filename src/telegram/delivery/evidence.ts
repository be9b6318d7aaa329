import { createRecent, type Recent } from '../../app/operations/recent.ts';
import type { ChatStore } from '../../app/ports/chats.ts';
import type { Budget, CallFault, Evidence, Log, Look, Outgoing } from '../../app/ports/outside.ts';
import { captionLengthMax } from '../../domain/limits.ts';
import type { Album, Drawn } from '../../domain/shown.ts';
import type { TelegramApi } from '../api.ts';
import { type Answered, isTokenRefused } from '../errors.ts';
import { type Call, editCall, type Edited, idsOf, setButtons, type Spot } from './calls.ts';
import { otherForm, sharesMailbox, unchanged } from './refusals.ts';

interface EvidenceDeps {
  readonly api: TelegramApi;
  readonly budget: Budget;
  readonly log: Log;
  readonly store: Pick<ChatStore, 'lastMessageBefore' | 'explainedAfter' | 'unknownParts'>;
  /** The content of a part when it left, or else now; null when there is nothing to show. */
  readonly drawn: (part: Outgoing) => Promise<Drawn | null>;
}

/** Edits of one look, so that the results that wait behind it keep most of the chat's budget. */
const probesMax = 10;
/** Ids in a mailbox that many chats share; more of them would be probed for the sake of others. */
const mailboxRangeMax = 10;
/** Ids looked at above the highest that is known: the part may be the newest message. */
const beyond = 3;
/** Ids that a look reads; a chat in which more was said since is looked at no further. */
const explainedMax = 500;
const metMax = 10_000;

/** A lasting finding about a message that nothing in the store explains. A missing one may have been ours. */
type Met = 'other' | 'missing';

interface Finder extends EvidenceDeps {
  readonly met: Recent<Met>;
  /** Messages that a probe may have rewritten, because its answer was lost; by the part whose content it was. */
  readonly tried: Recent<string>;
}

/** One look at one part. */
interface Search {
  readonly part: Outgoing;
  readonly drawn: Drawn;
  readonly range: Range;
  /** The finding about each probed message, for the record. */
  readonly said: Record<string, string>;
}

/** The messages that may be the part. */
interface Range {
  /** The last that was there before the part left. */
  readonly after: number;
  readonly explained: ReadonlySet<number>;
  /** The highest that is known to exist, which a probe may raise. What is missing below it will not come any more. */
  highest: number;
  /** Null while anything new may be it; otherwise the message that a later send became. */
  readonly resentAs: number | null;
  /** Above this, nothing is known of what is explained. */
  readonly readTo: number;
}

function lastOf({ highest, resentAs, readTo }: Range): number {
  return Math.min(resentAs === null ? highest + beyond : resentAs - 1, readTo);
}

/**
 * Finds out whether a message without an answer arrived. Telegram has no method that reads a chat, but an edit tells:
 * the identical content is refused as no change exactly where it stands already. Ids count up, so few messages can be it.
 * Only one part of a chat is looked for: while there is a doubt nothing but answers leaves. Where two are in doubt all the
 * same, a look for one could overwrite the other, so none is made.
 */
export function createEvidence(deps: EvidenceDeps) {
  const finder: Finder = { ...deps, met: createRecent<Met>(metMax), tried: createRecent<string>(metMax) };
  return {
    settle: async (part: Outgoing, look: Look): Promise<Evidence> => {
      const { address } = part.route;
      const drawn = await finder.drawn(part);
      if (drawn === null) return undecided({}, 'there is nothing to show any more');
      if (part.edits !== null) return undecided({}, 'a change is looked for by making it again');
      const range = await rangeOf(finder, address, look);
      if (range === null) return undecided({}, 'no message of the chat is known from before');
      const others = await finder.store.unknownParts(address, part.deliveryId);
      if (others.length > 0) return undecided({}, 'another part of the chat is in doubt as well');
      return search(finder, { part, drawn, range, said: {} });
    },
  };
}

function undecided(facts: object, why: string): Extract<Evidence, { is: 'undecided' }> {
  return { is: 'undecided', evidence: JSON.stringify({ ...facts, why }) };
}

async function rangeOf({ store }: Finder, address: string, { sentAt, resentAs, besides }: Look): Promise<Range | null> {
  const after = await store.lastMessageBefore(address, sentAt);
  if (after === null) return null;
  const known = await store.explainedAfter(address, after, explainedMax);
  const apart = besides === undefined ? [] : [besides.messageId, ...(besides.more ?? [])];
  const explained = new Set([...known, ...apart]);
  const highest = Math.max(after, ...explained);
  return {
    after,
    explained,
    highest,
    resentAs: resentAs?.messageId ?? null,
    // Above the last of a full page there are more that are explained, and those must not be touched.
    readTo: known.length < explainedMax ? Infinity : highest,
  };
}

async function search(finder: Finder, found: Search): Promise<Evidence> {
  const { part, range, said } = found;
  const { address } = part.route;
  const facts = { after: range.after, said };
  if (sharesMailbox(address) && unexplained(range) > mailboxRangeMax) {
    return { ...undecided(facts, `${unexplained(range)} messages of all chats of this bot could be it`), asks: true };
  }
  let probed = 0;
  let isProof = range.resentAs !== null && range.readTo >= range.resentAs;
  for (let messageId = range.after + 1; messageId <= lastOf(range); messageId += 1) {
    const spot = { address, messageId };
    const step = await nextStep(finder, found, spot, probed < probesMax);
    if (step.is === 'arrived') return { ...step, evidence: JSON.stringify({ ...facts, found: messageId }) };
    if (step.is === 'stop') return { ...undecided(facts, step.why), ...(step.isAway ? { isAway: true } : {}) };
    if (step.probed) probed += 1;
    if (step.isThere) range.highest = Math.max(range.highest, messageId);
    else isProof = false;
  }
  if (!isProof) return undecided(facts, 'no trace of it');
  const why = 'every message up to the one that it was sent again as is another one';
  return { is: 'absent', evidence: JSON.stringify({ ...facts, why }) };
}

function unexplained(range: Range): number {
  const last = lastOf(range);
  return last - range.after - [...range.explained].filter((messageId) => messageId <= last).length;
}

/** The answer to an edit with the content of a part, as far as it tells something about the message. */
type Probed =
  /** The message has that content already. */
  | { readonly is: 'same' }
  /** The message was ours with other content, and has this one now. */
  | { readonly is: 'rewritten'; readonly topic: number | null }
  | { readonly is: 'foreign' }
  /** The message is ours, but it has a file and the part has none, or the other way round. */
  | { readonly is: 'otherForm' }
  /** No such message exists, or not any more, or it is in another chat. */
  | { readonly is: 'missing' }
  | CallFault;

async function nextStep(finder: Finder, found: Search, spot: Spot, mayProbe: boolean): Promise<Step> {
  if (found.range.explained.has(spot.messageId)) return { is: 'on', isThere: true, probed: false };
  const met = finder.met.get(keyOf(spot));
  if (met !== undefined) return { is: 'on', isThere: met === 'other', probed: false };
  if (!mayProbe) return { is: 'stop', why: `more than ${probesMax} messages to look at` };
  return lookAt(finder, found, spot);
}

type Step =
  | Extract<Evidence, { is: 'arrived' }>
  /** The part is not here. Whether there is a message at all tells how far the chat has come. */
  | { readonly is: 'on'; readonly isThere: boolean; readonly probed: boolean }
  | { readonly is: 'stop'; readonly why: string; readonly isAway?: boolean };

/** Faults that say nothing about the message that was asked about. */
const away: ReadonlySet<string> = new Set(['lost', 'unreached', 'wait']);

const another: Step = { is: 'on', isThere: true, probed: true };

async function lookAt(finder: Finder, found: Search, spot: Spot): Promise<Step> {
  const { album } = found.drawn;
  const probed = await probe(finder, found, spot, itemOf(found.drawn, 0));
  switch (probed.is) {
    case 'same':
      return album === undefined ? sameThere(finder, found, spot) : albumThere(finder, found, { spot, album });
    case 'rewritten':
      if (album !== undefined) return { is: 'stop', why: `message ${spot.messageId} is ours, and not the album` };
      return rewrittenThere(finder, found, { spot, topic: probed.topic });
    case 'foreign':
      finder.met.put(keyOf(spot), 'other');
      return another;
    case 'otherForm':
      // The message may be another part that somebody asks for later, so it is not put down as nobody's.
      return another;
    case 'missing':
      if (spot.messageId < found.range.highest) finder.met.put(keyOf(spot), 'missing');
      return { is: 'on', isThere: false, probed: true };
    default:
      finder.tried.put(keyOf(spot), found.part.deliveryId);
      return { is: 'stop', why: probed.error, isAway: away.has(probed.is) };
  }
}

async function probe(finder: Finder, { said }: Search, spot: Spot, drawn: Drawn): Promise<Probed> {
  const probed = probedBy(await paid(finder, spot.address, editCall(spot, drawn)));
  said[spot.messageId] = wordsOf(probed);
  return probed;
}

/** A message of an album, as one by itself; of anything else the whole. */
function itemOf(drawn: Drawn, index: number): Drawn {
  const item = drawn.album?.[index];
  return item === undefined ? drawn : { text: item.caption, media: item };
}

interface AlbumAt {
  /** Where its first message seems to be. */
  readonly spot: Spot;
  readonly album: Album;
}

/** Telegram takes an album as a whole, so it is there when each of its messages stands behind the first one with its own words. */
async function albumThere(finder: Finder, found: Search, { spot, album }: AlbumAt): Promise<Step> {
  const { address } = spot;
  const ids = [spot.messageId];
  for (
    let messageId = spot.messageId + 1;
    ids.length < album.length && messageId <= found.range.readTo;
    messageId += 1
  ) {
    if (found.range.explained.has(messageId)) continue;
    const probed = await probe(finder, found, { address, messageId }, itemOf(found.drawn, ids.length));
    if ('error' in probed) return { is: 'stop', why: probed.error, isAway: away.has(probed.is) };
    if (probed.is !== 'same') return another;
    ids.push(messageId);
  }
  if (ids.length < album.length) return another;
  const stands = await topicOf(finder, spot, found.drawn);
  if (stands === undefined) return { is: 'stop', why: `message ${spot.messageId} did not tell its topic` };
  const [messageId = 0, ...more] = ids;
  return { is: 'arrived', ids: { chatId: address, threadId: stands, messageId, more }, evidence: '' };
}

/**
 * The same content alone does not tell in which topic it stands: an older message may say the same, or a look that was cut
 * off may have written the words onto it. Only buttons that do something are a part's own. So a message without them, and
 * one that an earlier probe may have rewritten, is asked for its topic.
 */
async function sameThere(finder: Finder, found: Search, spot: Spot): Promise<Step> {
  const { part, drawn, said } = found;
  const { topic } = part.route;
  const wasTried = finder.tried.get(keyOf(spot)) === part.deliveryId;
  if (isOwn(drawn) && !wasTried) return arrived(spot, topic);
  const stands = await topicOf(finder, spot, drawn);
  if (stands === undefined) return { is: 'stop', why: `message ${spot.messageId} did not tell its topic` };
  said[spot.messageId] = `the same, in ${placeOf(stands)}`;
  // Outside of every topic it may be this part astray; in another topic it is what nobody asks for any more.
  if (stands === topic || stands === null) return arrived(spot, stands);
  if (wasTried) return rewrittenThere(finder, found, { spot, topic: stands });
  finder.met.put(keyOf(spot), 'other');
  return another;
}

function isOwn({ buttons = [] }: Drawn): boolean {
  return buttons.flat().some((button) => 'data' in button);
}

/** A message of ours that nothing explains has been overwritten: in the right place it is this part now, elsewhere it must not stay. */
async function rewrittenThere(
  finder: Finder,
  { part, said }: Search,
  { spot, topic }: { readonly spot: Spot; readonly topic: number | null },
): Promise<Step> {
  const { address, messageId } = spot;
  finder.log.warn('message_rewritten', { delivery_id: part.deliveryId, chat_id: address, message_id: messageId });
  if (topic === part.route.topic) return arrived(spot, topic);
  const isGone = await insist(finder, address, (raw, signal) =>
    raw.deleteMessage({ chat_id: address, message_id: messageId }, signal),
  );
  said[messageId] = `ours and unknown, in ${placeOf(topic)}: ${isGone ? 'removed' : 'to be removed'}`;
  return isGone ? another : { is: 'stop', why: 'the chat must be left alone for now' };
}

function arrived({ address, messageId }: Spot, threadId: number | null): Step {
  return { is: 'arrived', ids: { chatId: address, threadId, messageId }, evidence: '' };
}

function keyOf({ address, messageId }: Spot): string {
  return `${address}:${messageId}`;
}

function placeOf(topic: number | null): string {
  return topic === null ? 'no topic' : `topic ${topic}`;
}

const words: Readonly<Partial<Record<Probed['is'], string>>> = {
  same: 'the same',
  foreign: "someone else's",
  otherForm: 'ours, and with a file where this has none, or the other way round',
  missing: 'not found',
};

function wordsOf(probed: Probed): string {
  if (probed.is === 'rewritten') return `ours, rewritten in ${placeOf(probed.topic)}`;
  return 'error' in probed ? probed.error : (words[probed.is] ?? probed.is);
}

/* ---- edits that find something out; each spends the budget of its chat ---- */

const writesMax = 3;

/** Stands for a moment below the buttons of a message that is asked for its topic. */
const waitButton = { text: '…', data: 'v1:wait' } as const;

/** The topic of a message of ours whose content is known; undefined when that cannot be told now. */
async function topicOf(finder: Finder, spot: Spot, drawn: Drawn): Promise<number | null | undefined> {
  const { address, messageId } = spot;
  const { marked, clean } = marking(spot, drawn);
  const answer = await paid(finder, address, marked);
  // The mark may stand there by now, whatever was answered. If it stays, the next look rewrites the message.
  const isClean = await insist(finder, address, clean);
  if (!isClean) finder.log.error('message_left_rewritten', { chat_id: address, message_id: messageId });
  return isClean && answer.is === 'ok' && answer.value !== true ? idsOf(answer.value).threadId : undefined;
}

/** A change that is seen for a moment, and the one that takes it back. A message of an album bears no buttons, but words. */
function marking(spot: Spot, drawn: Drawn): { readonly marked: Call<Edited>; readonly clean: Call<Edited> } {
  const { buttons = [], album } = drawn;
  if (album === undefined)
    return { marked: setButtons(spot, [...buttons, [waitButton]]), clean: setButtons(spot, buttons) };
  const first = itemOf(drawn, 0);
  const text = `${first.text.slice(0, captionLengthMax - 2)} …`.trim();
  return { marked: editCall(spot, { ...first, text }), clean: editCall(spot, first) };
}

async function paid<T>({ api, budget }: EvidenceDeps, address: string, call: Call<T>): Promise<Answered<T>> {
  if (!(await budget.take(address))) return { is: 'unreached', error: 'the chat must be left alone for now' };
  const answer = await api.ask(call);
  if (answer.is === 'wait') await budget.hold(address, answer.ms);
  return answer;
}

/** True when it is done, or cannot be done any more. */
async function insist<T>(deps: EvidenceDeps, address: string, call: Call<T>): Promise<boolean> {
  for (let tries = 0; tries < writesMax; tries += 1) {
    const answer = await paid(deps, address, call);
    if (answer.is !== 'ok' && isTokenRefused(answer)) return false;
    if (answer.is === 'ok' || answer.is === 'refused' || answer.is === 'moved') return true;
  }
  return false;
}

function probedBy(answer: Answered<Edited>): Probed {
  if (answer.is === 'ok') {
    return answer.value === true ? { is: 'same' } : { is: 'rewritten', topic: idsOf(answer.value).threadId };
  }
  const { error } = answer;
  if (answer.is !== 'refused') return answer;
  if (unchanged.test(error)) return { is: 'same' };
  if (/message can't be edited/i.test(error)) return { is: 'foreign' };
  if (otherForm.test(error)) return { is: 'otherForm' };
  if (/message to edit not found|MESSAGE_ID_INVALID/i.test(error)) return { is: 'missing' };
  return answer;
}
