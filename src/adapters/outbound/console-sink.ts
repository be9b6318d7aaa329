import type { Log, Transport } from '../../app/ports.ts';

const firstTopicAt = Date.UTC(2020, 0, 1);

/**
 * Shows deliveries in the log instead of a chat. It hands out ids like a platform does, so that everything around a
 * delivery is real: topics are made, parts are numbered, and `delivered` has its proof. Numbers start at the time of the
 * start, counted finely enough that no life of the process uses up more of them than its time: a thousand messages a
 * second, and ten topics a second in each chat. So they go on counting up after a restart, and no number is given twice.
 */
export function consoleSink(log: Log, startedAt: number): Transport {
  let lastMessage = startedAt;
  // A thread key has room for ten digits.
  const firstTopic = Math.floor((startedAt - firstTopicAt) / 100);
  const lastTopics = new Map<string, number>();
  const nextTopic = (address: string): number => {
    const topicId = (lastTopics.get(address) ?? firstTopic) + 1;
    lastTopics.set(address, topicId);
    return topicId;
  };
  return {
    send: async ({ deliveryId, route, text }) => {
      const messageId = (lastMessage += 1);
      log.info('message_shown', {
        delivery_id: deliveryId,
        chat_id: route.address,
        topic: route.topic,
        message_id: messageId,
        length: text.length,
      });
      return { is: 'sent', ids: { chatId: route.address, threadId: route.topic, messageId } };
    },
    // Nothing is ever lost on the way to a log, so what got no answer was never written.
    settle: async () => ({ is: 'absent', evidence: 'the log keeps no message of this send' }),
    createTopic: async (route, name) => {
      const topicId = nextTopic(route.address);
      log.info('topic_shown', { chat_id: route.address, topic: topicId, name_length: name.length });
      return { is: 'made', topicId };
    },
    // A topic in a log is nothing but its number, so a new number is as good as the one whose answer was lost.
    findTopic: async (route) => nextTopic(route.address),
    remove: async () => undefined,
  };
}
