import type { CallFault } from '../../app/ports/outside.ts';
import type { BlockedCause } from '../../domain/shown.ts';
import { isTokenRefused, noTopicHere, topicGone } from '../errors.ts';

/** The kind of call: the same words of Telegram can mean something else for another one. */
export type Verb = 'send' | 'edit' | 'pin' | 'setTopic' | 'rename' | 'createTopic' | 'remove';

/**
 * Telegram tells its refusals apart by their text alone. Each row names what was seen to be answered; what no row knows
 * is refused for good, because repeating it would bring the same answer.
 */
const blocking: readonly (readonly [RegExp, BlockedCause])[] = [
  [/TOPIC_CLOSED/, 'topic_closed'],
  [/not enough rights to \w+ (?:a|the) topic|not enough rights to manage topics/i, 'no_topic_right'],
  [noTopicHere, 'topics_off'],
  [/chat not found|PEER_ID_INVALID|CHANNEL_PRIVATE/i, 'chat_gone'],
  [
    /bot was (?:kicked|blocked)|bot is not a member|can't initiate conversation|can't send messages to bots/i,
    'chat_gone',
  ],
  [/(?:user|group chat) (?:is|was) (?:deactivated|deleted)|USER_IS_BLOCKED|INPUT_USER_DEACTIVATED/i, 'chat_gone'],
  [/not enough rights to send|have no rights to send|CHAT_WRITE_FORBIDDEN|CHAT_RESTRICTED/i, 'no_write_right'],
  [/CHAT_SEND_\w+_FORBIDDEN|need administrator rights/i, 'no_write_right'],
];

const messageGone = /message to (?:edit|pin) not found|message can't be (?:edited|pinned)|MESSAGE_ID_INVALID/i;

/** A message that was to be removed is not there. */
export const messageAway = /message to delete not found|MESSAGE_ID_INVALID/i;
/** The words of a message stand below a file, or do not. */
export const otherForm = /there is no (?:text|caption) in the message to edit/i;
/** A message or a topic looks already as it was asked to look. */
export const unchanged = /message is not modified|TOPIC_NOT_MODIFIED/i;
/** The formatting is at fault, so that the bare words would be taken. */
export const badEntities = /entit(?:y|ies)/i;

/** The call and its place: only a part for a topic can find that gone. */
export interface AskedCall {
  readonly verb: Verb;
  readonly address: string;
  readonly topic: number | null;
}

/** The meaning of a refusal depends on the call; every other fault means the same for all. */
export function meaningOf(fault: CallFault, asked: AskedCall): CallFault {
  if (fault.is !== 'refused') return fault;
  const { error } = fault;
  // Nothing in the chat is at fault, and nobody there could mend it: it goes on by itself when the token is taken again.
  if (isTokenRefused(fault)) return { is: 'unreached', error: `Telegram does not take the bot's token: ${error}` };
  if (isMoot(error, asked.verb)) return { is: 'moot', error };
  if (asked.topic !== null && topicGone.test(error)) return { is: 'topicGone', error };
  const cause = blocking.find(([words]) => words.test(error))?.[1];
  // For a topic that was not made there is no case of being refused: a person must look at it.
  if (cause === undefined) return asked.verb === 'createTopic' ? { is: 'blocked', cause: 'other', error } : fault;
  const isSwitchElsewhere = cause === 'topics_off' && isPrivate(asked.address);
  return { is: 'blocked', cause, error: isSwitchElsewhere ? inPrivate(error) : error };
}

/** The message or topic to change is not there, so that nothing is left to do. */
function isMoot(error: string, verb: Verb): boolean {
  if (verb === 'edit' || verb === 'pin') return messageGone.test(error);
  return verb === 'setTopic' && (noTopicHere.test(error) || topicGone.test(error));
}

/** The switch for private chats is not in the chat but with whoever made the bot. */
function inPrivate(error: string): string {
  return `${error}: whoever made the bot switches on Threaded Mode for it in @BotFather`;
}

/** Ids of people are positive; their private chats have the same. */
export function isPrivate(address: string): boolean {
  return !address.startsWith('-');
}

/** Ids of supergroups lie below this, those of plain groups above. */
const supergroupsBelow = -1_000_000_000_000;

/** Private chats and plain groups take their message ids from one mailbox of the bot; a supergroup counts its own. */
export function sharesMailbox(address: string): boolean {
  return Number(address) > supergroupsBelow;
}
