import type { Actor } from '../../domain/access.ts';
import type { Bell, Clock } from '../ports/outside.ts';
import type { AckStore, NotedDone } from '../ports/questions.ts';

/** What somebody said to a result: that it is done. */
interface DoneRequest {
  readonly taskId: string;
  readonly occurrenceId: string;
  readonly actor: Actor;
}

/** `isFirst` is false when somebody had said so before; then `by` and `at` tell who and when. */
export type Done = NotedDone;

/** Who has confirmed what. Who must be reminded of it is in nagging.ts. */
export interface Acks {
  done(request: DoneRequest): Promise<Done>;
  /** It was said by mistake. False when it is not done. */
  notDone(request: DoneRequest): Promise<boolean>;
}

interface Needs {
  readonly store: Pick<AckStore, 'noteDone' | 'takeBackDone'>;
  readonly clock: Clock;
  readonly bell: Bell;
}

export function createAcks({ store, clock, bell }: Needs): Acks {
  return {
    done: async (request) => {
      const done = await store.noteDone({ ...request, at: clock.now() });
      bell.ring('deliverer');
      return done;
    },
    notDone: async (request) => {
      const isBack = await store.takeBackDone({ ...request, at: clock.now() });
      bell.ring('acks');
      return isBack;
    },
  };
}
