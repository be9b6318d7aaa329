import type { Log, Outgoing, Sent, SentIds } from '../../app/ports/outside.ts';
import type { Answered, Unanswered } from '../errors.ts';
import { unchanged, unsentBy, type Verb } from './refusals.ts';

/** Says once, until it is answered otherwise, that the token is not taken. */
export type Heed = (answer: Answered<unknown>) => void;

export function tokenWatch(log: Log): Heed {
  let isTold = false;
  return (answer) => {
    if (answer.is === 'token' && !isTold) log.error('telegram_token_refused', { error: answer.error });
    if (answer.is === 'token' || answer.is === 'ok') isTold = answer.is === 'token';
  };
}

interface Reading<T> {
  readonly part: Outgoing;
  readonly verb: Verb;
  readonly ids: (value: T) => SentIds;
  /** What is told when everything is already as it was asked for. */
  readonly asked?: SentIds;
  /** What the platform says then; that nothing was changed, unless told otherwise. */
  readonly already?: RegExp;
}

/** What an answer means for the part. */
export function sentBy<T>(heed: Heed, answer: Answered<T>, reading: Reading<T>): Sent {
  const { part, verb, ids, asked, already = unchanged } = reading;
  heed(answer);
  if (answer.is === 'ok') return { is: 'sent', ids: ids(answer.value) };
  if (asked !== undefined && isSaid(answer, already)) return { is: 'sent', ids: asked };
  const { address, topic } = part.route;
  return unsentBy(answer, { verb, address, topic });
}

function isSaid(answer: Unanswered, words: RegExp): boolean {
  return answer.is === 'refused' && words.test(answer.error);
}

export function askedIds({ route }: Outgoing, messageId: number): SentIds {
  return { chatId: route.address, threadId: route.topic, messageId };
}
