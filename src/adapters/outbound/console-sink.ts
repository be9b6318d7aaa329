import type { Log, Transport } from '../../app/ports.ts';

/**
 * Shows deliveries in the log instead of a chat. It hands out ids like a platform does, so that everything around a
 * delivery is real: topics are made, parts are numbered, and `delivered` has its proof. Numbers start at the time of the
 * start, so they go on counting up after a restart.
 */
export function consoleSink(log: Log, startedAt: number): Transport {
  let last = Math.floor(startedAt / 1000);
  const next = () => (last += 1);
  return {
    send: async ({ deliveryId, route, text }) => {
      const messageId = next();
      log.info('message_shown', { delivery_id: deliveryId, chat_id: route.address, topic: route.topic, message_id: messageId, length: text.length });
      return { is: 'sent', ids: { chatId: route.address, threadId: route.topic, messageId } };
    },
    // Nothing is ever lost on the way to a log, so what got no answer was never written.
    settle: async () => ({ is: 'absent', evidence: 'the log keeps no message of this send' }),
    createTopic: async (route, name) => {
      const topicId = next();
      log.info('topic_shown', { chat_id: route.address, topic: topicId, name_length: name.length });
      return { is: 'made', topicId };
    },
    findTopic: async () => null,
    remove: async () => undefined,
  };
}
