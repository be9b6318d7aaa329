import { AppError } from '../../domain/errors.ts';
import type { Reach } from '../../domain/principal.ts';
import type { Engine, Script } from './engine.ts';
import { list, sql, type Sql } from './sql.ts';

/**
 * The reach of a caller: the chats in which anything exists for it. A script asks for it where it looks for rows, so that no
 * room above has to compare chats. The pipeline, people in chats and the API_TOKEN reach all of them.
 */
export function* reach(): Script<Reach> {
  return yield { does: 'reach' };
}

/** What a row must fulfil to exist for the caller: its chat is one of theirs. Nothing, where they reach all of them. */
export function* seen(chatId: Sql): Script<Sql | undefined> {
  const chats = yield* reach();
  return chats === null ? undefined : sql`${chatId} in ${list(chats)}`;
}

/** The same for rows that know their task alone. */
export function* seenTask(taskId: Sql): Script<Sql | undefined> {
  const chats = yield* reach();
  return chats === null ? undefined : sql`${taskId} in (select id from tasks where chat_id in ${list(chats)})`;
}

/** The engine for a caller who does not reach all chats. A script that does not ask for the reach is a fault of ours, and answers nothing. */
export function confined(engine: Engine, chats: readonly string[]): Engine {
  return {
    ...engine,
    read: (script) => engine.read(() => answering(chats, script())),
    transact: (script) => engine.transact(() => answering(chats, script())),
    transactLightly: (script) => engine.transactLightly(() => answering(chats, script())),
  };
}

function* answering<T>(chats: readonly string[], script: Script<T>): Script<T> {
  let isAsked = false;
  yield { does: 'confine', chats };
  let step = script.next();
  while (step.done !== true) {
    if (step.value.does === 'reach') {
      isAsked = true;
      step = script.next(chats as never);
    } else step = script.next(yield step.value);
  }
  if (!isAsked) throw new AppError('internal', 'A script for a caller of some chats did not ask which.');
  return step.value;
}
