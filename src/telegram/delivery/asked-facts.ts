import type { AckStore } from '../../app/ports/acks.ts';
import type { QuestionStore } from '../../app/ports/questions.ts';
import type { Route } from '../../app/ports/outside.ts';
import type { View } from '../../domain/shown.ts';
import type { Asked } from '../chat/results/reminder.ts';

export type AskedStore = Pick<AckStore, 'readAck'> & Pick<QuestionStore, 'readQuestion'>;

interface Place {
  readonly taskId: string | null;
  readonly route: Route;
}

/** How that stands which a message asks people about; read for those messages alone. */
export async function askedFacts(store: AskedStore, view: View, { taskId, route }: Place): Promise<Asked> {
  const { address, topic } = route;
  const isAboutAck = view.view === 'nag' || view.view === 'escalated';
  return {
    address,
    topic,
    ack: isAboutAck ? await store.readAck(view.occurrenceId) : null,
    question: view.view === 'missed' && taskId !== null ? await store.readQuestion(taskId) : null,
  };
}
