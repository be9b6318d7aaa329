import type { Budget, CallFault, Log } from '../../app/ports/outside.ts';
import type { Drawn } from '../../domain/shown.ts';
import type { TelegramApi } from '../api.ts';
import { type Answered, isTokenRefused } from '../errors.ts';
import { type Call, editCall as edit, type Edited, setButtons, type Spot, idsOf } from './calls.ts';
import { otherForm } from './refusals.ts';

/** What an edit with the content of a part says about a message. */
export type Probed =
  /** It has that content already. */
  | { readonly is: 'same' }
  /** It was ours with other content, and has this one now. */
  | { readonly is: 'rewritten'; readonly topic: number | null }
  | { readonly is: 'foreign' }
  /** It is ours, but one has a file and the other has none. */
  | { readonly is: 'otherForm' }
  /** There is no such message, or none any more, or it is in another chat. */
  | { readonly is: 'missing' }
  | CallFault;

/** Edits that find something out. Each spends the budget of its chat, and nothing here throws for what was answered. */
export interface Probes {
  probe(spot: Spot, drawn: Drawn): Promise<Probed>;
  /** The topic of a message of ours whose content is known; undefined when that cannot be told now. */
  topicOf(spot: Spot, drawn: Drawn): Promise<number | null | undefined>;
  remove(spot: Spot): Promise<boolean>;
}

export interface ProbesDeps {
  readonly api: TelegramApi;
  readonly budget: Budget;
  readonly log: Log;
}

const writesMax = 3;

/** Stands for a moment below the buttons of a message that is asked for its topic. */
const waitButton = { text: '…', data: 'v1:wait' } as const;

export function createProbes(deps: ProbesDeps): Probes {
  const { log } = deps;
  return {
    probe: async (spot, drawn) => probedBy(await paid(deps, spot.address, edit(spot, drawn))),
    topicOf: async (spot, drawn) => {
      const { buttons = [] } = drawn;
      const answer = await paid(deps, spot.address, setButtons(spot, [...buttons, [waitButton]]));
      // Whatever was answered, the button may stand there by now. Where it stays, the next look rewrites the message.
      const isClean = await insist(deps, spot.address, setButtons(spot, buttons));
      if (!isClean) log.error('message_left_rewritten', { chat_id: spot.address, message_id: spot.messageId });
      return isClean && answer.is === 'ok' && answer.value !== true ? idsOf(answer.value).threadId : undefined;
    },
    remove: ({ address, messageId }) =>
      insist(deps, address, (raw, signal) => raw.deleteMessage({ chat_id: address, message_id: messageId }, signal)),
  };
}

async function paid<T>({ api, budget }: ProbesDeps, address: string, call: Call<T>): Promise<Answered<T>> {
  if (!(await budget.take(address))) return { is: 'unreached', error: 'the chat must be left alone for now' };
  const answer = await api.ask(call);
  if (answer.is === 'wait') await budget.hold(address, answer.ms);
  return answer;
}

/** True when it is done, or cannot be done any more. */
async function insist<T>(deps: ProbesDeps, address: string, call: Call<T>): Promise<boolean> {
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
  if (/message is not modified/i.test(error)) return { is: 'same' };
  if (/message can't be edited/i.test(error)) return { is: 'foreign' };
  if (otherForm.test(error)) return { is: 'otherForm' };
  if (/message to edit not found|MESSAGE_ID_INVALID/i.test(error)) return { is: 'missing' };
  return answer;
}
