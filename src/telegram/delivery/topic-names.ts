import { topicName } from '../../app/pipeline/topics.ts';
import type { Log } from '../../app/ports/outside.ts';
import type { Task } from '../../domain/task.ts';
import type { TelegramApi } from '../api.ts';

interface Needs {
  readonly api: TelegramApi;
  readonly log: Log;
}

/** A task with another title has its topic called so. When that fails, the topic keeps the name that it had. */
export function topicNames({ api, log }: Needs): (task: Pick<Task, 'home' | 'topicId' | 'title'>) => void {
  return ({ home, topicId, title }) => {
    if (home.provider !== 'telegram' || topicId === null) return;
    const named = { chat_id: home.address, message_thread_id: topicId, name: topicName(title) };
    void api
      .ask((raw, signal) => raw.editForumTopic(named, signal))
      .then((answer) => {
        if (answer.is !== 'ok') log.debug('topic_not_named', { kind: answer.is, error: answer.error });
      });
  };
}
