import type { Budget, CallFault, Log } from '../../app/ports/outside.ts';
import type { Drawn } from '../../domain/shown.ts';
import type { TelegramApi } from '../api.ts';
import { type Answered, isTokenRefused } from '../errors.ts';
import { type Call, editCall as edit, type Edited, setButtons, type Spot, idsOf, createRing } from './calls.ts';
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
  /** Writes content onto a message of ours. False when that was not possible now: then `mend` does it. */
  write(spot: Spot, drawn: Drawn): Promise<boolean>;
  /** Writes what is still owed to messages of the chat; false while something stays owed. */
  mend(address: string): Promise<boolean>;
  remove(spot: Spot): Promise<boolean>;
}

export interface ProbesNeeds {
  readonly api: TelegramApi;
  readonly budget: Budget;
  readonly log: Log;
}

const owedMax = 1000;
const writesMax = 3;

/** Stands for a moment below the buttons of a message that is asked for its topic. */
const waitButton = { text: '…', data: 'v1:wait' } as const;

export function createProbes(needs: ProbesNeeds): Probes {
  const owed = createRing<{ readonly spot: Spot; readonly drawn: Drawn }>(owedMax);
  const putBack = async (spot: Spot, drawn: Drawn, call: Call<Edited>): Promise<boolean> => {
    const key = `${spot.address}:${spot.messageId}`;
    owed.put(key, { spot, drawn });
    const isDone = await insist(needs, spot.address, call);
    if (isDone) owed.drop(key);
    else needs.log.error('message_left_rewritten', { chat_id: spot.address, message_id: spot.messageId });
    return isDone;
  };
  const write = (spot: Spot, drawn: Drawn) => putBack(spot, drawn, edit(spot, drawn));
  return {
    probe: async (spot, drawn) => probedBy(await paid(needs, spot.address, edit(spot, drawn))),
    topicOf: async (spot, drawn) => {
      const { buttons = [] } = drawn;
      const answer = await paid(needs, spot.address, setButtons(spot, [...buttons, [waitButton]]));
      // Whatever was answered, the button may stand there by now.
      const isClean = await putBack(spot, drawn, setButtons(spot, buttons));
      return isClean && answer.is === 'ok' && answer.value !== true ? idsOf(answer.value).threadId : undefined;
    },
    write,
    mend: async (address) => {
      let isClean = true;
      for (const [, { spot, drawn }] of owed.entries()) {
        if (isClean && spot.address === address) isClean = await write(spot, drawn);
      }
      return isClean;
    },
    remove: ({ address, messageId }) =>
      insist(needs, address, (raw, signal) => raw.deleteMessage({ chat_id: address, message_id: messageId }, signal)),
  };
}

async function paid<T>({ api, budget }: ProbesNeeds, address: string, call: Call<T>): Promise<Answered<T>> {
  if (!(await budget.take(address))) return { is: 'unreached', error: 'the chat must be left alone for now' };
  const answer = await api.ask(call);
  if (answer.is === 'wait') await budget.hold(address, answer.ms);
  return answer;
}

/** True when it is done, or cannot be done any more. */
async function insist<T>(needs: ProbesNeeds, address: string, call: Call<T>): Promise<boolean> {
  for (let tries = 0; tries < writesMax; tries += 1) {
    const answer = await paid(needs, address, call);
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
